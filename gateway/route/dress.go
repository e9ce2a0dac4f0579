package route

import (
	"strings"

	"dev.magpie/gateway/trace"
)

// dress turns the seats into candidates as they are told, each with its reason.
func dress(d *draft) {
	if len(d.in) > 0 {
		d.plan.Order = make([]trace.Candidate, len(d.in))
		for i := range d.in {
			d.tell(&d.plan.Order[i], &d.in[i])
		}
	}
	if len(d.out) == 0 {
		return
	}
	d.plan.Left = make([]trace.Candidate, len(d.out))
	for i := range d.out {
		t := &d.out[i]
		t.rest = d.restOf(t)
		d.weigh(t)
		d.tell(&d.plan.Left[i], t)
		d.plan.Left[i].Out = string(t.why)
	}
}

// tell fills in one candidate.
func (d *draft) tell(c *trace.Candidate, t *seat) {
	c.ID = string(t.who.ID)
	c.Provider = t.of.ID
	c.Name = t.of.Name
	c.Who = t.who.Name
	c.Kind = string(t.who.Kind)
	c.Model = t.model
	c.Effort = t.effort
	c.Routing = d.s.routingOf(t.of)
	c.Rest = t.rest
	c.Fallback = t.place.fallback
	c.Aside, c.Sunk = t.aside, t.sunk
	c.Capped, c.CapBack, c.NoCredits = t.held.at, t.held.back, t.held.credits
	c.Why = d.reason(t)
	tellReading(c, t)
}

// reason says why a seat stands where it stands.
func (d *draft) reason(t *seat) trace.Reason {
	r := trace.Reason{Code: trace.WhyListed, N: t.place.n, Of: t.place.of, By: t.place.by}
	switch {
	case t.why != "":
		r.Code, r.Text = t.why, t.text
		if p := t.standing.PausedAt(d.s.Now); p != nil && t.why == trace.WhyPaused {
			r.Until = p.Until
		}
		t.held.say(&r)
	case t.rest != nil:
		r.Code, r.Kind, r.Until = trace.WhyResting, t.rest.Why, t.rest.Until
		if len(d.in) == 1 {
			r.Code = trace.WhyRestOnly
		}
	case d.c.Only != "", d.c.Target.Who != "":
		r.Code = trace.WhyNamed
	case d.c.Made != "":
		r.Code = trace.WhyMade
	case t.pin != nil:
		r.Code, r.Until = trace.WhyPinned, t.pin.Until
	case t.lead:
		r.Code, r.Count, r.Text = t.because.Code, t.because.Count, t.because.Text
	case t.place.fallback:
		r.Code = trace.WhyFallback
	case len(d.in)+len(d.out) == 1:
		r.Code = trace.WhyOnly
	case t.because.Code != "":
		b := &t.because
		r.Code, r.Share, r.Limit, r.Count, r.At, r.Text = b.Code, b.Share, b.Limit, b.Count, b.At, b.Text
		if b.By != "" {
			r.By = b.By
		}
	}
	if r.Code == trace.WhyListed && r.By != "" {
		r.Count = int64(t.place.mate)
	}
	if g := d.c.Target.Guessed; g != "" && (r.Code == trace.WhyListed || r.Code == trace.WhyOnly) {
		r.Text = "guessed, for the name begins with " + g
	}
	if others := d.c.Target.Others; len(others) > 0 && (r.Code == trace.WhyListed || r.Code == trace.WhyOnly) {
		r.Text = "first of those that have it; also " + strings.Join(others, ", ")
	}
	return r
}
