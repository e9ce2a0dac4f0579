package route

import (
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// RestKey names what rests when the whole key or account does.
func RestKey(a *provider.Account) string { return string(a.ID) }

// ModelRestID names what rests when the account does with one model only.
func ModelRestID(a *provider.Account, model string) string {
	return string(a.ID) + "/" + model
}

// RestID is the name under which a rest of that scope is kept, "" for a scope that rests nobody.
func RestID(a *provider.Account, model string, scope trace.Scope) string {
	switch scope {
	case trace.ScopeWhole:
		return RestKey(a)
	case trace.ScopeModel:
		return ModelRestID(a, model)
	case trace.ScopeNone:
		return ""
	}
	return ""
}

// Resting returns the rest that keeps the account from being asked for the model at
// the snapshot's time: its own or, when that lasts longer, the one with this model. A
// rest of another secret than the account's present one counts for nothing.
func (s *Snapshot) Resting(a *provider.Account, model string) (trace.Rest, bool) {
	return s.resting(a, model, s.Standing[a.ID].Print)
}

func (s *Snapshot) resting(a *provider.Account, model, fingerprint string) (trace.Rest, bool) {
	if len(s.Rests) == 0 {
		return trace.Rest{}, false
	}
	whole, found := s.Rests[string(a.ID)]
	found = found && InForce(whole, fingerprint, s.Now)
	var room [128]byte // keeps the id off the heap
	id := append(append(append(room[:0], a.ID...), '/'), model...)
	one, ok := s.Rests[string(id)]
	if ok && InForce(one, fingerprint, s.Now) && (!found || one.Until.After(whole.Until)) {
		return one, true
	}
	if !found {
		return trace.Rest{}, false
	}
	return whole, true
}

// InForce says whether a rest holds at now for a secret of that fingerprint; a
// fingerprint that is not known yet is taken for the same.
func InForce(r trace.Rest, fingerprint string, now time.Time) bool {
	return now.Before(r.Until) && (r.Print == "" || fingerprint == "" || r.Print == fingerprint)
}

// noteRests notes who rests: several of the steps that follow go by it.
func noteRests(d *draft) {
	if len(d.s.Rests) == 0 {
		return
	}
	for i := range d.in {
		d.in[i].rest = d.restOf(&d.in[i])
	}
}

// restLast moves those that rest behind those that do not; each part keeps its order.
func restLast(d *draft) {
	for i := range d.in {
		if d.in[i].rest != nil {
			d.split(func(t *seat) bool { return t.rest == nil })
			return
		}
	}
}

// restOf returns a seat's rest to be told, nil when it does not rest.
func (d *draft) restOf(t *seat) *trace.Rest {
	r, ok := d.s.resting(t.who, t.model, t.standing.Print)
	if !ok {
		return nil
	}
	kept := r // so that only a rest that is told costs memory
	return &kept
}
