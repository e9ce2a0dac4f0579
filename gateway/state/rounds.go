package state

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// rounds are where the turns of providers and groups have got to, in this run. They stand
// beside the facts: they change with every plan of those that take turns.
type rounds struct {
	now   atomic.Pointer[map[string]route.Round]
	desks sync.Pool // on which plans are made
}

func (r *rounds) load() map[string]route.Round {
	if p := r.now.Load(); p != nil {
		return *p
	}
	return nil
}

// Decide makes a plan on a snapshot to be carried out. No two plans get the same turn: one
// that another went before is made again. One that first wants to know something takes none. The snapshot stays as it is.
func (s *Store) Decide(snap *route.Snapshot, c route.Call) (trace.Plan, route.Effects) {
	own := *snap
	desk, _ := s.rounds.desks.Get().(*route.Desk)
	if desk == nil {
		desk = new(route.Desk)
	}
	defer s.rounds.desks.Put(desk)
	for {
		was := s.rounds.now.Load()
		own.Rounds = nil
		if was != nil {
			own.Rounds = *was
		}
		plan, fx := desk.Decide(&own, c)
		if len(fx.Rounds) == 0 || fx.Ask != nil {
			return plan, fx
		}
		next := make(map[string]route.Round, len(own.Rounds)+len(fx.Rounds))
		maps.Copy(next, own.Rounds)
		maps.Copy(next, fx.Rounds)
		if s.rounds.now.CompareAndSwap(was, &next) {
			return plan, fx
		}
	}
}

// Served counts tokens that an account served.
func (s *Store) Served(id provider.AccountID, tokens int64, at time.Time) {
	s.change(func(e *edit) {
		st := e.standing[id]
		st.Lately = st.Lately.Add(tokens, at)
		e.set(id, st) // not told of: only plans go by it
	})
}

// Sink notes that an account was rate limited: it stands behind all that were before it.
func (s *Store) Sink(id provider.AccountID, at time.Time) {
	s.change(func(e *edit) {
		s.sunk++
		st := e.standing[id]
		st.Sunk = route.Sunk{Seq: s.sunk, At: at}
		e.stand(id, st)
	})
}
