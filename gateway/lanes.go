package gateway

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"dev.magpie/gateway/lane"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// turnedRetry is when an agent that found every lane full may ask again.
const turnedRetry = time.Second

// limits are the lanes that a catalogue asks for.
func limits(cat *provider.Catalog) map[string]lane.Limit {
	all := map[string]lane.Limit{}
	for _, a := range cat.AllAccounts() {
		if l := a.Lane; l.Busy > 0 || l.RPM > 0 {
			all[string(a.ID)] = lane.Limit{Busy: l.Busy, RPM: l.RPM, Queue: l.Queue, Wait: l.Wait}
		}
	}
	return all
}

// slot takes a free slot of the next candidate. A full one gives way once to another of its
// provider or group that has one now: that goes first then, and full names who gave way.
func (s *service) slot() (slot lane.Slot, full string, free bool) {
	c := &s.order[s.at]
	if slot, free = s.g.lanes.Try(c.ID); free || s.repeats(c) || slices.Contains(s.gave, c.ID) {
		return slot, "", free
	}
	s.gave = append(s.gave, c.ID)
	for i := s.at + 1; i < len(s.order); i++ {
		m := &s.order[i]
		if m.Fallback || m.Rest != nil || m.ID == c.ID {
			continue
		}
		if _, refuses := s.refusesLevel(i); refuses {
			continue
		}
		if _, paused := s.pausedSince(m); paused {
			continue
		}
		if slot, free = s.g.lanes.Try(m.ID); free {
			s.first(i)
			return slot, c.ID, true
		}
	}
	return lane.Slot{}, "", false
}

// first moves the candidate at i to where the request has got to. The order was told: it is
// never written again.
func (s *service) first(i int) {
	order := make([]trace.Candidate, 0, len(s.order))
	order = append(append(order, s.order[:s.at]...), s.order[i])
	order = append(append(order, s.order[s.at:i]...), s.order[i+1:]...)
	s.order = order
}

// queue waits for a slot of the candidate. Its agent is kept alive meanwhile; one that leaves
// is never sent.
func (s *service) queue(c *trace.Candidate) (lane.Slot, *outcome) {
	s.rec.waits()
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.call.trying(cancel)
	done := s.keepAlive()
	slot, err := s.g.lanes.Enter(ctx, c.ID)
	done()
	s.rec.entered(time.Now())
	if err == nil {
		return slot, nil
	}
	o := left()
	if !s.gone() {
		o = s.busy(c, err)
	}
	return lane.Slot{}, &o
}

// keepAlive keeps the agent alive while nobody is asked yet, until done.
func (s *service) keepAlive() (done func()) {
	s.out.watch(&watched{
		cancel: func(error) {}, start: time.Now(), queued: true, headers: math.MaxInt64 / 4,
		events: s.a.stream && s.a.api != wire.Gemini,
	})
	return s.out.unwatch
}

// busy makes an outcome of a lane that has no slot for the request. Nobody rests for it.
func (s *service) busy(c *trace.Candidate, err error) outcome {
	words := c.ID + " takes no more requests at once"
	if acct := s.lv.cat.Account(provider.AccountID(c.ID)); acct != nil {
		switch {
		case errors.Is(err, lane.ErrFull):
			words = c.ID + " is busy, and " + strconv.Itoa(acct.Lane.Queue) + " requests wait for it already: raise its max_concurrency or queue_limit"
		case errors.Is(err, lane.ErrLate):
			words = c.ID + " had no slot within " + acct.Lane.Wait.String() + ": raise its max_concurrency or queue_wait"
		}
	}
	v := &trace.Verdict{
		Row: trace.RowFull, Kind: trace.Rate, Scope: trace.ScopeNone, Next: true,
		Status: http.StatusTooManyRequests, Until: time.Now().Add(turnedRetry), Words: words,
	}
	return outcome{verdict: v, words: words, status: v.Status, turned: true, reply: vendorError{mine: true}}
}

// turnedAway goes on without a rest to whoever is left. A fallback costs other money: it is
// not asked merely because all lanes before it are full.
func (s *service) turnedAway() decision {
	merely := s.asked() == 0
	next := slices.Clone(s.order[:s.at+1])
	for i := s.at + 1; i < len(s.order); i++ {
		if !merely || !s.order[i].Fallback {
			next = append(next, s.order[i])
		}
	}
	if len(next) == s.at+1 {
		return decision{do: stepStop}
	}
	return decision{do: stepNext, order: next}
}

// asked counts the tries of this request that were made and failed.
func (s *service) asked() int {
	n := 0
	for i := range s.fails {
		if !s.fails[i].unasked() {
			n++
		}
	}
	return n
}

// waits says whether a route waits for a slot: nobody answers it yet.
func waits(r *trace.Route) bool {
	n := len(r.Tries)
	return n > 0 && r.Tries[n-1].Queued
}

// Concurrency tells how many requests are under way and wait, by key and account: of those
// that are limited, and of others that are busy.
func (g *Gateway) Concurrency() map[string]lane.State {
	all := g.lanes.Look()
	for id, n := range g.busy() {
		if _, limited := all[id]; !limited && id != "" {
			all[id] = lane.State{Busy: n}
		}
	}
	return all
}

func (g *Gateway) handleConcurrency(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "concurrency", "data": g.Concurrency()})
}
