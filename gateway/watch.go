package gateway

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"dev.magpie/gateway/wire"
)

// What ends a try from our side.
var (
	errHeaders = errors.New("no answer came in time")
	errSlow    = errors.New("no first content came in the group's time")
	errStalled = errors.New("nothing more came from the vendor for too long")
)

// Times of the field.
const (
	keepaliveEvery = 15 * time.Second
	stallAfter     = 5 * time.Minute
	headersNext    = 3 * time.Minute  // another candidate is left
	headersLast    = 10 * time.Minute // nobody is
)

// watched is one try as its watcher sees it. Fields without a note are guarded by reply.mu.
type watched struct {
	cancel  context.CancelCauseFunc
	start   time.Time
	events  bool          // the agent reads a stream: it may be kept alive
	headers time.Duration // how long the vendor may take to answer
	stall   time.Duration // how long it may be silent after that
	slow    time.Duration // a group's first_token, 0 = none
	heard   atomic.Int64  // unix nanoseconds of the last byte, 0 = none yet
	hold    *hold         // set once the reply is a stream
	kept    time.Time     // the last keepalive before anything passed
	queued  bool          // nobody is asked yet: the request waits for a slot
}

// watch begins to watch a try: one timer a request, armed for the next thing that is due.
func (r *reply) watch(w *watched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched = w
	d := r.next(w, w.start)
	if r.timer == nil {
		r.timer = time.AfterFunc(d, r.tick)
		return
	}
	r.timer.Reset(d)
}

// rearm sets the timer again when something nearer than it knows is due; the lock is held.
func (r *reply) rearm(w *watched, now time.Time) {
	if r.timer != nil && !r.stopped {
		r.timer.Reset(max(r.next(w, now), time.Millisecond))
	}
}

// unwatch ends the watch over one try.
func (r *reply) unwatch() {
	r.mu.Lock()
	r.watched = nil
	r.mu.Unlock()
}

// stop ends the watcher with the request.
func (r *reply) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// tick does what is due and arms the timer for the next.
func (r *reply) tick() {
	if !r.mu.TryLock() { // something is being sent, and an agent may take its time to read it
		time.AfterFunc(time.Second, r.tick)
		return
	}
	defer r.mu.Unlock()
	w := r.watched
	if r.stopped || w == nil {
		return
	}
	now := time.Now()
	r.expire(w, now)
	r.alive(w, now)
	if h := w.hold; h != nil && h.state == holding && !now.Before(h.due) {
		h.pass(now)
	}
	r.timer.Reset(max(r.next(w, now), time.Millisecond))
}

// expire ends a try that took too long.
func (r *reply) expire(w *watched, now time.Time) {
	heard := w.last()
	switch {
	case heard.IsZero() && !now.Before(w.start.Add(w.headers)):
		w.cancel(errHeaders)
	case !heard.IsZero() && !now.Before(heard.Add(w.stall)):
		w.cancel(errStalled)
	case w.slow > 0 && !r.passed && !now.Before(w.start.Add(w.slow)):
		w.cancel(errSlow)
	}
}

// alive sends a comment where the agent has read nothing for a while.
func (r *reply) alive(w *watched, now time.Time) {
	if !w.events || r.api == wire.Gemini || r.err != nil {
		return
	}
	due := r.aliveAt(w)
	if due.IsZero() || now.Before(due) {
		return
	}
	r.beginStream()
	r.write(r.still(w), true)
	r.wrote, w.kept = now, now
}

// still is what an agent is sent that is to wait on: a comment, or of a translated reply
// that has begun the word that its API has for it.
func (r *reply) still(w *watched) []byte {
	if r.passed && w.hold != nil && w.hold.x != nil {
		return w.hold.x.ping()
	}
	return keepalive
}

// aliveAt is when the next comment is due, zero for never: not in the middle of a line, and
// no longer than the vendor may be silent.
func (r *reply) aliveAt(w *watched) time.Time {
	if !w.events || r.api == wire.Gemini {
		return time.Time{}
	}
	heard := w.last()
	if heard.IsZero() {
		heard = w.start
	}
	var due time.Time
	switch {
	case r.passed && (!r.line || w.hold == nil || w.hold.reply.Whole):
		return time.Time{}
	case r.passed:
		due = r.wrote.Add(keepaliveEvery)
	case w.hold != nil && w.hold.state == dropped:
		return time.Time{}
	case w.kept.IsZero():
		due = w.start.Add(keepaliveEvery)
	default:
		due = w.kept.Add(keepaliveEvery)
	}
	if !w.queued && due.After(heard.Add(stallAfter)) {
		return time.Time{}
	}
	return due
}

// next is how long until anything is due.
func (r *reply) next(w *watched, now time.Time) time.Duration {
	at := w.start.Add(w.headers)
	if heard := w.last(); !heard.IsZero() {
		at = heard.Add(w.stall)
	}
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if w.slow > 0 && !r.passed {
		sooner(w.start.Add(w.slow))
	}
	sooner(r.aliveAt(w))
	if w.hold != nil && w.hold.state == holding {
		sooner(w.hold.due)
	}
	return at.Sub(now)
}

func (w *watched) hear(now time.Time) { w.heard.Store(now.UnixNano()) }

// waited keeps a time in which the agent did not read from counting as the vendor's silence.
func (w *watched) waited(since time.Time) {
	if now := time.Now(); now.Sub(since) > time.Second && w.heard.Load() != 0 {
		w.hear(now)
	}
}

func (w *watched) last() time.Time {
	n := w.heard.Load()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}
