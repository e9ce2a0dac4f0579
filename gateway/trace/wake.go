package trace

import "slices"

// waiter is someone who wants to know of the next change. All but the bell's ringing
// is under the bus's lock.
type waiter struct {
	bell   chan struct{}
	parked bool
}

func newWaiter() waiter { return waiter{bell: make(chan struct{}, 1)} }

// waiters are those who wait for a change, and those who are to be told of one. Only
// one bell is rung at a time, and whoever heard it has the next one rung: so a publish
// wakes one reader however many wait.
type waiters struct {
	waiting []*waiter
	due     []*waiter
	rung    *waiter // has the next bell rung when it wakes or leaves
}

// tell has everyone who waits woken.
func (ws *waiters) tell() {
	if len(ws.waiting) == 0 {
		return
	}
	ws.due = append(ws.due, ws.waiting...)
	clear(ws.waiting)
	ws.waiting = ws.waiting[:0]
	if ws.rung == nil {
		ws.next()
	}
}

func (ws *waiters) next() {
	last := len(ws.due) - 1
	if last < 0 {
		return
	}
	w := ws.due[last]
	ws.due[last] = nil
	ws.due = ws.due[:last]
	w.parked = false
	ws.rung = w
	select {
	case w.bell <- struct{}{}:
	default: // it has one ring to hear already
	}
}

// pass is called by a waiter that woke.
func (ws *waiters) pass(w *waiter) {
	if ws.rung == w {
		ws.rung = nil
		ws.next()
	}
}

// park has a waiter woken at the next change.
func (ws *waiters) park(w *waiter) {
	if !w.parked {
		w.parked = true
		ws.waiting = append(ws.waiting, w)
	}
}

// forget is called for a waiter that leaves.
func (ws *waiters) forget(w *waiter) {
	ws.pass(w)
	if !w.parked {
		return
	}
	w.parked = false
	if i := slices.Index(ws.waiting, w); i >= 0 {
		ws.waiting = slices.Delete(ws.waiting, i, i+1)
	}
	if i := slices.Index(ws.due, w); i >= 0 {
		ws.due = slices.Delete(ws.due, i, i+1)
	}
}

// unpark forgets a waiter that no longer waits.
func (b *Bus) unpark(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(w)
}
