package gateway

import (
	"net/http"
	"strconv"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/provider"
)

// What came since a plan was made: a request may be under way for minutes before it gets to a
// candidate, waiting for a slot or for those before.

// pausedSince makes an outcome of a candidate that the person paused meanwhile: nobody asks it.
func (s *service) pausedSince(c *trace.Candidate) (outcome, bool) {
	st := s.g.d.State.Standing(provider.AccountID(c.ID))
	if st.Paused == nil {
		return outcome{}, false
	}
	p := st.PausedAt(time.Now())
	if p == nil {
		return outcome{}, false
	}
	v := trace.Verdict{Row: trace.RowPausedSince, Kind: trace.Other, Status: http.StatusServiceUnavailable, Code: route.CodeAllPaused, Until: p.Until}
	return since(v, c.ID+" was paused before it was asked"), true
}

// changedSince makes an outcome of a candidate that, by the time it has a slot, is not to be
// asked any more, or not before another that is left.
func (s *service) changedSince(c *trace.Candidate) (outcome, bool) {
	if o, is := s.pausedSince(c); is {
		return o, true
	}
	now := time.Now()
	acct, snap := s.lv.cat.Account(provider.AccountID(c.ID)), s.g.snapshot(s.lv, now)
	if acct == nil {
		return outcome{}, false
	}
	if at, back := snap.Held(acct, c.Model); at > 0 {
		v := trace.Verdict{Row: trace.RowHeldSince, Kind: trace.Quota, Status: http.StatusTooManyRequests, Code: route.CodeHeld}
		if !back.IsZero() {
			v.Until = back.Add(time.Second)
		}
		return since(v, c.ID+" reached "+strconv.Itoa(at)+"% of its allowance while the request waited, and is held there"), true
	}
	rest, rests := snap.Resting(acct, c.Model)
	if !rests || c.Rest != nil || !s.othersReady(snap) {
		return outcome{}, false
	}
	v := trace.Verdict{Row: trace.RowRestsSince, Kind: rest.Why, Status: http.StatusTooManyRequests, Until: rest.Until}
	o := since(v, c.ID+" "+words.Rest(rest, now)+", since before the request had its slot")
	o.rests = &rest
	return o, true
}

// since makes an outcome of somebody who was not asked. Nobody rests for it.
func since(v trace.Verdict, said string) outcome {
	v.Scope, v.Next, v.Words = trace.ScopeNone, true, said
	return outcome{verdict: &v, words: said, status: v.Status, since: true, reply: vendorError{mine: true}}
}

// othersReady says whether one that is left behind this candidate does not rest.
func (s *service) othersReady(snap *route.Snapshot) bool {
	for i := s.at + 1; i < len(s.order); i++ {
		acct := s.lv.cat.Account(provider.AccountID(s.order[i].ID))
		if acct == nil || s.order[i].ID == s.order[s.at].ID {
			continue
		}
		if _, rests := snap.Resting(acct, s.order[i].Model); !rests {
			return true
		}
	}
	return false
}

// passedOver goes on to whoever is left; who only rests stands behind them now.
func (s *service) passedOver(o *outcome) decision {
	next := append([]trace.Candidate(nil), s.order...)
	if o.rests != nil {
		c := *o.of
		c.Rest = o.rests
		next = append(next, c)
	}
	if s.at == len(next)-1 {
		return decision{do: stepStop}
	}
	return decision{do: stepNext, order: next}
}
