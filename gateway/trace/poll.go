package trace

import (
	"context"
	"time"
)

// RoutesAfter returns the routes changed after a number, oldest change first, with the
// number to ask with next and the totals. When there are none it waits until one
// changes, wait has passed or ctx ends. A number ahead of the bus counts as 0: it is
// from before a restart.
func (b *Bus) RoutesAfter(ctx context.Context, after uint64, wait time.Duration) ([]Route, uint64, Totals) {
	var (
		n      int
		seq    uint64
		totals Totals
	)
	for {
		b.poll(ctx, wait, func() bool {
			if after > b.seq {
				after = 0
			}
			_, n = b.routes.after(after)
			seq, totals = b.seq, b.status.Totals
			return n > 0
		})
		at := after
		routes := b.copyRoutes(&at, seq, n)
		if len(routes) > 0 || n == 0 || wait <= 0 || ctx.Err() != nil {
			return routes, seq, totals
		}
		// All that had changed by then has changed again since: that is there to be told.
	}
}

// Route returns a route that is still in memory.
func (b *Bus) Route(id int64) (Route, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.routes.at[id]; e != nil {
		return e.value, true
	}
	return Route{}, false
}

// BySession returns a conversation's newest route that is still in memory.
func (b *Bus) BySession(session string) (Route, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bySession(session, 0)
}

// SessionAfter is BySession for one that changed after a number, waiting for it as RoutesAfter does.
func (b *Bus) SessionAfter(ctx context.Context, session string, after uint64, wait time.Duration) (r Route, ok bool) {
	b.poll(ctx, wait, func() bool {
		if after > b.seq {
			after = 0
		}
		r, ok = b.bySession(session, after)
		return ok
	})
	return r, ok
}

func (b *Bus) bySession(session string, after uint64) (Route, bool) {
	var found *Route
	for e := b.routes.head; e != nil; e = e.next {
		if e.value.Session == session && (found == nil || e.key > found.ID) {
			found = &e.value
		}
	}
	if found == nil || session == "" || found.Seq <= after {
		return Route{}, false
	}
	return *found, true
}

// poll asks ready, with the lock held, at once and after each change until it says
// yes, wait has passed or ctx ends.
func (b *Bus) poll(ctx context.Context, wait time.Duration, ready func() bool) {
	b.mu.Lock()
	if ready() || wait <= 0 {
		b.mu.Unlock()
		return
	}
	w := newWaiter()
	b.park(&w)
	b.mu.Unlock()
	defer b.unpark(&w)
	t := time.NewTimer(wait)
	defer t.Stop()
	for {
		select {
		case <-w.bell:
		case <-t.C:
			return
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		b.pass(&w)
		if ready() {
			b.mu.Unlock()
			return
		}
		b.park(&w)
		b.mu.Unlock()
	}
}
