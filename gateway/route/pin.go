package route

import (
	"slices"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// pinOn returns the standing pin that concerns this request, nil when none does. What
// the request itself names goes before any pin.
func (d *draft) pinOn(t *seat) *trace.Pinned {
	if t.standing.Pinned == nil || d.c.Only != "" || d.c.Target.Who != "" {
		return nil
	}
	pin := t.standing.PinnedAt(d.s.Now)
	if pin == nil || pin.Agent != "" && !strings.EqualFold(pin.Agent, d.c.Agent) {
		return nil
	}
	if pin.Model != "" && !d.means(pin.Model, t) {
		return nil
	}
	return pin
}

// means says whether a pin's model is the seat's: by the vendor's id, by
// provider/model, by the name that was asked for, or by the group that stands for.
func (d *draft) means(model string, t *seat) bool {
	if g := d.c.Target.Group; g != nil {
		id := model
		if len(id) > len(groupHead) && strings.EqualFold(id[:len(groupHead)], groupHead) {
			id = id[len(groupHead):]
		}
		if strings.EqualFold(id, g.ID) {
			return true
		}
	}
	bare := provider.Unmarked(t.model)
	switch {
	case strings.EqualFold(model, bare), strings.EqualFold(model, t.model), strings.EqualFold(model, d.c.Target.Asked):
		return true
	}
	p, id, found := strings.Cut(model, "/")
	return found && strings.EqualFold(p, t.of.ID) && (strings.EqualFold(id, bare) || strings.EqualFold(id, t.model))
}

// onlyPins says whether any seat is pinned as the only one, and notes whom the plan is held to. What a
// manual group does not use is no candidate of it: a pin there holds nothing.
func (d *draft) onlyPins() bool {
	if d.c.Only != "" {
		d.plan.Pinned = string(d.c.Only)
		return false
	}
	var newest *trace.Pinned
	for i := range d.in {
		if pin := d.in[i].pin; pin != nil && pin.Only && !d.in[i].place.unpicked && (newest == nil || pin.Since.After(newest.Since)) {
			newest = pin
			d.plan.Pinned = string(d.in[i].who.ID)
		}
	}
	return newest != nil
}

// pinFirst moves pinned ones to the front, the newest pin first.
func pinFirst(d *draft) {
	n := 0
	for i := range d.in {
		if d.in[i].pin != nil {
			n++
		}
	}
	if n == 0 || len(d.in) == 1 {
		return
	}
	d.split(func(t *seat) bool { return t.pin != nil })
	slices.SortStableFunc(d.in[:n], func(a, b seat) int { return b.pin.Since.Compare(a.pin.Since) })
}
