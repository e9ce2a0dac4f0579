package route

import (
	"slices"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// leaveOut takes out those that must not be asked, each for the first reason that holds.
func leaveOut(d *draft) {
	for i := range d.in {
		t := &d.in[i]
		t.standing = d.s.Standing[t.who.ID]
		t.pin = d.pinOn(t)
	}
	pinnedOnly := d.onlyPins()
	for i := range d.in {
		t := &d.in[i]
		t.why, t.text = d.whyNot(t, pinnedOnly)
	}
	d.unlisted()
	left := 0
	for _, t := range d.in {
		if t.why != "" {
			left++
		}
	}
	if left == 0 {
		return
	}
	d.out = make([]seat, 0, left)
	stay := d.in[:0]
	for i := range d.in {
		if d.in[i].why != "" {
			d.out = append(d.out, d.in[i])
			continue
		}
		stay = append(stay, d.in[i])
	}
	d.in = stay
}

// whyNot says why a seat is left out, "" when it is not. What can't change during the
// request goes first: a paused key that the request does not name is not named.
func (d *draft) whyNot(t *seat, pinnedOnly bool) (code trace.ReasonCode, text string) {
	switch {
	case t.place.off:
		return trace.WhyOff, "group " + t.place.by
	case t.place.unpicked:
		return trace.WhyNotPicked, ""
	case t.of.Off:
		return trace.WhyOff, "provider " + t.of.ID
	case t.who.Off:
		return trace.WhyOff, ""
	case t.of.ReadOnly != "":
		return trace.WhyReadOnly, t.of.ReadOnly
	case d.c.Only != "" && t.who.ID != d.c.Only, t.place.tied:
		return trace.WhyNotNamed, ""
	case pinnedOnly && (t.pin == nil || !t.pin.Only):
		return trace.WhyOtherPin, ""
	case d.c.Made != "" && t.who.ID != d.c.Made:
		return trace.WhyNotMade, ""
	case !t.who.Serves(t.model):
		return trace.WhyBarred, ""
	case t.place.unlisted:
		return trace.WhyNotServed, ""
	}
	if ok, text := d.reaches(t); !ok {
		return trace.WhyProtocol, text
	}
	switch {
	case t.standing.Unready != "":
		return trace.WhyUnready, t.standing.Unready
	case t.who.Unready != "":
		return trace.WhyUnready, t.who.Unready
	case t.standing.PausedAt(d.s.Now) != nil:
		return trace.WhyPaused, ""
	}
	if t.held = d.s.held(t.who, t.model, t.standing.Windows); t.held.at == 0 {
		return "", ""
	}
	if t.held.credits {
		return trace.WhyNoCredits, ""
	}
	return trace.WhyCapped, ""
}

// unlisted marks those whose own plan does not list the model, where another of the same
// pool has it listed or has no list: its vendor would only say no.
func (d *draft) unlisted() {
	if len(d.s.Plans) == 0 {
		return
	}
	lists := func(t seat) bool {
		plan := d.s.Plans[t.who.ID]
		return plan == nil || plan.Has(t.model) || plan.Has(provider.Unmarked(t.model))
	}
	for _, t := range d.in {
		if t.why != "" || lists(t) {
			continue
		}
		if slices.ContainsFunc(d.in, func(o seat) bool { return o.unit == t.unit && d.settled(o.why) && lists(o) }) {
			t.why = trace.WhyUnlisted
		}
	}
}

// settled says whether one that is left out for that reason would be asked on another day, or by
// a request that does not name another account.
func (d *draft) settled(why trace.ReasonCode) bool {
	if why == trace.WhyNotNamed {
		return d.c.Only != ""
	}
	return why != trace.WhyOff && why != trace.WhyBarred && why != trace.WhyProtocol && why != trace.WhyReadOnly
}

// reaches says whether the account can be asked for the agent: on its own API, or on any
// when the request may be translated. When it can't, the text names the APIs on which it can.
func (d *draft) reaches(t *seat) (ok bool, text string) {
	asked, made := d.c.Protocol, t.who.Protocol
	switch {
	case made != "" && !t.of.Speaks(made):
		return false, ""
	case asked == "":
		return true, ""
	case made != "" && made != asked && d.c.Own && made != d.c.Also:
		return false, string(made)
	case made != "":
		_, ok = t.of.AskOn(asked, made, t.model, d.s.Lists[t.of.ID])
		return ok, string(made)
	case !d.speaks(t.of, t.model):
		return false, d.apis(t.of, t.model)
	}
	return true, ""
}

// speaks asks the provider once for all its keys.
func (d *draft) speaks(p *provider.Provider, model string) bool {
	if d.spoken.of != p || d.spoken.model != model {
		list := d.s.Lists[p.ID]
		ok := p.SpeaksFor(d.c.Protocol, model, list)
		if !ok && !d.c.Own {
			_, ok = p.AskOn(d.c.Protocol, "", model, list)
		}
		ok = ok || d.c.Also != "" && p.SpeaksFor(d.c.Also, model, list)
		d.spoken = spoken{of: p, model: model, ok: ok}
	}
	return d.spoken.ok
}

// spoken is the last answer of speaks.
type spoken struct {
	of    *provider.Provider
	model string
	ok    bool
}

// apis lists the APIs on which a provider serves the model.
func (d *draft) apis(p *provider.Provider, model string) string {
	var names []string
	for _, api := range wire.Protocols {
		if p.SpeaksFor(api, model, d.s.Lists[p.ID]) {
			names = append(names, string(api))
		}
	}
	return strings.Join(names, ", ")
}
