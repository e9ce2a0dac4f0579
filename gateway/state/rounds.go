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

// desk is room for a plan, and for the snapshot that it is made on.
type desk struct {
	route.Desk
	snap route.Snapshot
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
	k, _ := s.rounds.desks.Get().(*desk)
	if k == nil {
		k = new(desk)
	}
	own := &k.snap
	*own = *snap
	defer func() {
		*own = route.Snapshot{}
		s.rounds.desks.Put(k)
	}()
	for {
		was := s.rounds.now.Load()
		own.Rounds = nil
		if was != nil {
			own.Rounds = *was
		}
		plan, fx := k.Decide(own, c)
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

// served counts the tokens that accounts served, in this run. It stands beside the facts: it
// changes with every reply. Only plans go by it, so nobody is told of it.
type served struct {
	mu sync.Mutex
	by map[provider.AccountID]route.Lately // another with each reply: snapshots have the one before
}

func (l *served) load() map[provider.AccountID]route.Lately {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.by
}

// Served counts tokens that an account served.
func (s *Store) Served(id provider.AccountID, tokens int64, at time.Time) {
	l := &s.served
	l.mu.Lock()
	defer l.mu.Unlock()
	next := make(map[provider.AccountID]route.Lately, len(l.by)+1)
	maps.Copy(next, l.by)
	next[id] = next[id].Add(tokens, at)
	l.by = next
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
