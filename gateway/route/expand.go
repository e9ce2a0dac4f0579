package route

import (
	"slices"
	"strings"

	"dev.magpie/provider"
)

// maxDepth is how deep groups may stand in groups, the first included.
const maxDepth = 8

// shutGroup is a group that is switched off, and where it was met.
type shutGroup struct {
	group *provider.Group
	place place
	depth int
}

// expand writes down every candidate of the target, each once, in the file's order: a
// provider's own keys and then its fallback models', or a group's members'.
func expand(d *draft) {
	t := &d.c.Target
	switch {
	case t.Group != nil:
		d.plan.Routing = t.Group.Routing
		d.in = make([]seat, 0, 2*len(t.Group.Members))
		d.group(t.Group, place{}, 1)
	case t.Provider != nil:
		d.plan.Routing = t.Provider.Routing
		d.own(t)
	}
	// A candidate that also stands in a group that is on was met there.
	for len(d.shut) > 0 {
		next := d.shut[0]
		d.shut = d.shut[1:]
		d.group(next.group, next.place, next.depth)
	}
}

// own expands a provider: its keys with the model asked for, then its fallback models.
func (d *draft) own(t *provider.Target) {
	p := t.Provider
	d.in = make([]seat, 0, len(p.Accounts)+2*len(p.Fallback))
	for i, a := range p.Accounts {
		tied := t.Who != "" && !strings.EqualFold(a.Name, t.Who)
		d.add(seat{who: a, of: p, model: t.Model, effort: t.Effort, place: place{n: i + 1, of: len(p.Accounts), tied: tied}})
	}
	for i, ref := range p.Fallback {
		d.ref(ref, place{n: i + 1, of: len(p.Fallback), by: p.ID, fallback: true, tied: t.Who != ""}, 1)
	}
}

// group expands a group's members where they stand; what a group that was met before holds was met there.
func (d *draft) group(g *provider.Group, at place, depth int) {
	if depth > maxDepth || slices.Contains(d.walked, g) {
		return
	}
	d.walked = append(d.walked, g)
	at.by, at.of = g.ID, len(g.Members)
	for i, ref := range g.Members {
		at.n = i + 1
		d.ref(ref, at, depth)
	}
}

// ref expands one member or fallback. One that names nothing is passed over: the config's check told of it.
func (d *draft) ref(ref provider.Ref, at place, depth int) {
	if ref.Group != "" {
		d.nested(ref.Group, at, depth+1)
		return
	}
	p := d.s.Catalog.Provider(ref.Provider)
	if p == nil {
		return
	}
	effort := ref.Effort
	if effort == "" && !at.fallback {
		effort = d.c.Target.Effort
	}
	at.unlisted = len(p.Models) > 0 && !lists(p.Models, ref.Model)
	for _, a := range p.Accounts {
		if ref.Who == "" || strings.EqualFold(a.Name, ref.Who) {
			d.add(seat{who: a, of: p, model: ref.Model, effort: effort, place: at})
		}
	}
}

func (d *draft) nested(id string, at place, depth int) {
	g := d.s.Catalog.Group(id)
	switch {
	case g == nil:
	case g.Off && !at.off:
		at.off = true
		d.shut = append(d.shut, shutGroup{group: g, place: at, depth: depth})
	default:
		d.group(g, at, depth)
	}
}

// add takes a seat unless the candidate has one: the same account, model and effort,
// of a fallback the same account and model.
func (d *draft) add(t seat) {
	for i := range d.in {
		o := &d.in[i]
		if o.who == t.who && o.model == t.model && (o.effort == t.effort || t.place.fallback) {
			return
		}
	}
	d.in = append(d.in, t)
}

// lists says whether a provider's own list has the model, with or without its mark.
func lists(models []provider.Model, id string) bool {
	bare := provider.Unmarked(id)
	return slices.ContainsFunc(models, func(m provider.Model) bool { return m.ID == id || m.ID == bare })
}
