// Package lane holds requests back where an account takes only so many at once or in a
// minute: each account has a lane with slots and a queue, first come, first served.
//
//	request ─► Try ─► a slot is free ────────────► Slot ─► Leave
//	             └──► Enter: waits in the queue ─────┘
//	                         └► no room, too long, the agent left: an error
//
// Who is not limited costs one look at a map that never changes, no lock.
package lane

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Why a request is turned away from a lane.
var (
	ErrFull = errors.New("as many wait as may wait")
	ErrLate = errors.New("it waited as long as it may")
)

// minute is the time over which RPM counts.
const minute = time.Minute

// Limit is what one account takes. Zero values limit nothing.
type Limit struct {
	Busy  int           // requests under way at once
	RPM   int           // requests begun within any minute
	Queue int           // requests that may wait
	Wait  time.Duration // how long each may
}

// State is how one lane stands.
type State struct {
	Busy    int `json:"busy"`
	Waiting int `json:"waiting"`
	Limit   int `json:"limit"`         // 0 = any number at once
	RPM     int `json:"rpm,omitempty"` // 0 = any number a minute
}

// Lanes are the lanes of all limited accounts. The zero value limits nobody.
type Lanes struct {
	limits atomic.Pointer[map[string]Limit] // of those that are limited; nil = nobody is

	mu sync.Mutex
	by map[string]*lane // those with slots taken or requests waiting, and what they begun lately
}

// lane is guarded by Lanes.mu.
type lane struct {
	id     string
	limit  Limit
	busy   int
	queue  []*waiter
	starts []time.Time // within the last minute, oldest first; kept only under an RPM
	timer  *time.Timer // for when the minute lets the first of the queue go
}

type waiter struct {
	ready   chan struct{} // closed once it has its slot
	granted bool
}

// Slot is the right to ask one account. The zero Slot is of one that is not limited.
type Slot struct {
	of *Lanes
	ln *lane
}

// Set puts limits in force. Whoever waits and may go by them goes at once.
func (l *Lanes) Set(limits map[string]Limit) {
	limits = maps.Clone(limits)
	maps.DeleteFunc(limits, func(_ string, m Limit) bool { return m.Busy <= 0 && m.RPM <= 0 })
	l.mu.Lock()
	if len(limits) == 0 {
		l.limits.Store(nil)
	} else {
		l.limits.Store(&limits)
	}
	now := time.Now()
	var free []*waiter
	for id, ln := range l.by {
		ln.limit = limits[id]
		free = append(free, ln.release(now)...)
		if _, ok := limits[id]; !ok && ln.busy == 0 {
			delete(l.by, id)
		}
	}
	l.mu.Unlock()
	wake(free)
}

// wake lets requests go that have their slots. No lock is held.
func wake(ws []*waiter) {
	for _, w := range ws {
		close(w.ready)
	}
}

// Limited says whether the account has a limit at all.
func (l *Lanes) Limited(id string) bool {
	m := l.limits.Load()
	if m == nil {
		return false
	}
	_, ok := (*m)[id]
	return ok
}

// Try takes a slot that is free now, without going before anyone who waits.
func (l *Lanes) Try(id string) (Slot, bool) {
	if !l.Limited(id) {
		return Slot{}, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ln := l.lane(id)
	if ln == nil {
		return Slot{}, true
	}
	now := time.Now()
	if len(ln.queue) > 0 || !ln.open(now) {
		return Slot{}, false
	}
	ln.take(now)
	return Slot{of: l, ln: ln}, true
}

// Enter takes a slot, waiting for one as long as it may. It fails with ErrFull, ErrLate or
// the cause of ctx; then nothing is to be sent, and there is nothing to leave.
func (l *Lanes) Enter(ctx context.Context, id string) (Slot, error) {
	if s, ok := l.Try(id); ok {
		return s, nil
	}
	l.mu.Lock()
	ln := l.lane(id)
	if ln == nil { // its limit was taken away just now
		l.mu.Unlock()
		return Slot{}, nil
	}
	if n := ln.limit.Queue; n > 0 && len(ln.queue) >= n {
		l.mu.Unlock()
		return Slot{}, ErrFull
	}
	w := &waiter{ready: make(chan struct{})}
	ln.queue = append(ln.queue, w)
	wait := ln.limit.Wait
	free := ln.release(time.Now())
	l.mu.Unlock()
	wake(free)

	var late <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		late = t.C
	}
	var err error
	select {
	case <-w.ready:
		if ctx.Err() == nil {
			return Slot{of: l, ln: ln}, nil
		}
		err = context.Cause(ctx)
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late:
		err = ErrLate
	}
	return l.giveUp(ln, w, err)
}

// giveUp takes a request out of the queue. A slot that came at the same moment is used, or
// passed on where the agent is gone.
func (l *Lanes) giveUp(ln *lane, w *waiter, err error) (Slot, error) {
	l.mu.Lock()
	now := time.Now()
	if w.granted && errors.Is(err, ErrLate) {
		l.mu.Unlock()
		return Slot{of: l, ln: ln}, nil
	}
	if w.granted {
		ln.untake()
	} else {
		ln.remove(w)
	}
	free := ln.release(now)
	l.mu.Unlock()
	wake(free)
	return Slot{}, err
}

// Leave gives the slot back, once.
func (s Slot) Leave() {
	if s.of == nil {
		return
	}
	s.of.mu.Lock()
	s.ln.busy--
	free := s.ln.release(time.Now())
	if s.ln.busy == 0 && !s.of.Limited(s.ln.id) {
		delete(s.of.by, s.ln.id)
	}
	s.of.mu.Unlock()
	wake(free)
}

// Unused gives back, once, a slot under which nothing was sent: it doesn't count for the minute.
func (s Slot) Unused() {
	if s.of == nil {
		return
	}
	s.of.mu.Lock()
	s.ln.untake()
	free := s.ln.release(time.Now())
	if s.ln.busy == 0 && !s.of.Limited(s.ln.id) {
		delete(s.of.by, s.ln.id)
	}
	s.of.mu.Unlock()
	wake(free)
}

// Look tells how every limited lane stands, and those that still have requests from before.
func (l *Lanes) Look() map[string]State {
	all := map[string]State{}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.limits.Load(); m != nil {
		for id, limit := range *m {
			all[id] = State{Limit: limit.Busy, RPM: limit.RPM}
		}
	}
	for id, ln := range l.by {
		s := all[id]
		s.Busy, s.Waiting = ln.busy, len(ln.queue)
		all[id] = s
	}
	return all
}

// lane finds or makes an account's lane, nil when it is not limited; the lock is held.
func (l *Lanes) lane(id string) *lane {
	m := l.limits.Load()
	if m == nil {
		return nil
	}
	limit, ok := (*m)[id]
	if !ok {
		return nil
	}
	ln := l.by[id]
	if ln == nil {
		if l.by == nil {
			l.by = map[string]*lane{}
		}
		ln = &lane{id: id, limit: limit}
		ln.timer = time.AfterFunc(minute, func() { l.again(ln) })
		ln.timer.Stop()
		l.by[id] = ln
	}
	return ln
}

// again looks at a queue once a minute has gone on.
func (l *Lanes) again(ln *lane) {
	l.mu.Lock()
	free := ln.release(time.Now())
	l.mu.Unlock()
	wake(free)
}

// open says whether a slot is free at now.
func (ln *lane) open(now time.Time) bool {
	if ln.limit.Busy > 0 && ln.busy >= ln.limit.Busy {
		return false
	}
	if ln.limit.RPM <= 0 {
		ln.starts = nil
		return true
	}
	old := 0
	for old < len(ln.starts) && now.Sub(ln.starts[old]) >= minute {
		old++
	}
	ln.starts = ln.starts[old:]
	return len(ln.starts) < ln.limit.RPM
}

func (ln *lane) take(now time.Time) {
	ln.busy++
	if ln.limit.RPM > 0 {
		ln.starts = append(ln.starts, now)
	}
}

// untake gives back a slot under which nothing was sent.
func (ln *lane) untake() {
	ln.busy--
	if n := len(ln.starts); n > 0 {
		ln.starts = ln.starts[:n-1]
	}
}

func (ln *lane) remove(w *waiter) {
	for i := range ln.queue {
		if ln.queue[i] == w {
			ln.queue = append(ln.queue[:i], ln.queue[i+1:]...)
			return
		}
	}
}

// release gives free slots to those who wait longest, and sets the timer for the next where
// only the minute holds it; whoever it returns is to be woken without the lock.
func (ln *lane) release(now time.Time) []*waiter {
	var free []*waiter
	for len(ln.queue) > 0 && ln.open(now) {
		w := ln.queue[0]
		ln.queue[0] = nil
		ln.queue = ln.queue[1:]
		ln.take(now)
		w.granted = true
		free = append(free, w)
	}
	if len(ln.queue) == 0 {
		ln.queue = nil
		ln.timer.Stop()
		return free
	}
	if m := ln.limit; m.RPM > 0 && len(ln.starts) >= m.RPM && (m.Busy <= 0 || ln.busy < m.Busy) {
		ln.timer.Reset(max(minute-now.Sub(ln.starts[len(ln.starts)-m.RPM]), 0))
	}
	return free
}
