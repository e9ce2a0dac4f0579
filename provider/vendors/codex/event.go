package codex

import (
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// LimitsEvent is the event that tells the windows ahead of a reply.
const LimitsEvent = "codex.rate_limits"

// wholeLimit is the limit that counts all models; an event may be of another one, such as a
// single model's.
const wholeLimit = "codex"

// ReadEvent returns what such an event tells, nothing of any other. As with the headers, the
// windows of single models are not among them.
func ReadEvent(data []byte, at time.Time) provider.Reading {
	var e struct {
		Type   loose.Text `json:"type"`
		Plan   loose.Text `json:"plan_type"`
		ID     loose.Text `json:"limit_id"`
		Meters loose.Text `json:"metered_limit_name"`
		Name   loose.Text `json:"limit_name"`
		Limits *struct {
			Primary   *eventWindow `json:"primary"`
			Secondary *eventWindow `json:"secondary"`
		} `json:"rate_limits"`
		Credits *struct {
			Has       loose.Bool `json:"has_credits"`
			Unlimited loose.Bool `json:"unlimited"`
			Balance   loose.Text `json:"balance"`
		} `json:"credits"`
	}
	if loose.Decode(data, &e) != nil || e.Type != LimitsEvent || e.Limits == nil {
		return provider.Reading{}
	}
	for _, of := range []loose.Text{e.ID, e.Meters, e.Name} {
		if of != "" && !strings.EqualFold(string(of), wholeLimit) {
			return provider.Reading{}
		}
	}
	r := provider.Reading{Plan: string(e.Plan)}
	for _, w := range []*eventWindow{e.Limits.Primary, e.Limits.Secondary} {
		if w == nil || !w.Used.Set {
			continue
		}
		if w.Minutes.Set && w.Minutes.V > 0 && w.Minutes.V < 1e6 {
			w.Seconds = loose.Number{V: w.Minutes.V * 60, Set: true}
		}
		add(&r, "", at, &w.usageWindow)
	}
	for i := range r.Windows {
		r.Windows[i].Partial = true
	}
	if c := e.Credits; c != nil {
		r.Credits = &provider.Credits{Has: c.Has.V, Unlimited: c.Unlimited.V, Balance: string(c.Balance)}
		r.Balance = creditWords(r.Credits)
	}
	return r
}

// eventWindow is a window as the event has it: its length is in minutes.
type eventWindow struct {
	usageWindow
	Minutes loose.Number `json:"window_minutes"`
}
