package trace

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrClosed says that a feed was closed.
var ErrClosed = errors.New("the feed is closed")

// Batch is what changed since the last one, oldest change first, each value whole and
// at its newest.
type Batch struct {
	Seq      uint64
	Routes   []Route
	Accounts []Account
	Groups   []Group
	Logs     []Log
	Status   *Status // without accounts and groups; nil when unchanged
	Link     *Link   // the way to the gateway, when that changed; nil in its own process
	Merged   int     // changes that were replaced before this batch was taken
	Lost     int     // routes and log lines that left the memory unseen
	Behind   bool    // routes left unseen: View replaces all that was known
	View     *View   // everything anew, when Behind
}

// Link says how a watcher in another process is connected to the gateway.
type Link struct {
	Lost    bool          // what is known is as it was at Since
	Since   time.Time     // when the connection was lost, or came back
	RetryIn time.Duration // from the time of the batch
	Error   string        // why, in short
}

// View is everything as told at one sequence number.
type View struct {
	Seq    uint64
	Status Status  // with accounts and groups, each in the config's order
	Routes []Route // oldest first; more than 500 only while more are live
	Logs   []Log
}

// Source is what a watcher sees of a bus: Bus in the process, the client outside it.
type Source interface {
	// Watch returns the view as told and a feed of all after it, with no hole between.
	Watch(ctx context.Context) (View, Feed, error)
}

// Feed hands on batches. One goroutine may use it.
type Feed interface {
	// Next waits until something changed and notBefore has passed, then returns all of it as one batch.
	Next(ctx context.Context, notBefore time.Time) (Batch, error)
	Close()
}

// feed is one reader's cursors. seq, logsAt and linkAt belong to its reader; what
// shed writes is under the bus's lock.
type feed struct {
	waiter
	bus  *Bus
	stop func() bool
	gone chan struct{}

	seq      uint64 // everything but the routes is handed on up to here
	routesAt uint64 // and the routes up to here
	logsAt   uint64
	lost     int
	behind   bool
	closed   bool
}

func newFeed(b *Bus) *feed {
	return &feed{bus: b, waiter: newWaiter(), gone: make(chan struct{})}
}

// from sets the cursors; the lock is held.
func (f *feed) from(seq uint64) {
	f.seq, f.routesAt, f.logsAt = seq, seq, f.bus.logs.n
}

// follow ends the feed with ctx.
func (f *feed) follow(ctx context.Context) {
	f.stop = context.AfterFunc(ctx, f.leave)
}

// Close ends the feed; a Next under way returns ErrClosed.
func (f *feed) Close() {
	f.stop()
	f.leave()
}

func (f *feed) leave() {
	b := f.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	close(f.gone)
	b.forget(&f.waiter)
	if i := slices.Index(b.feeds, f); i >= 0 {
		b.feeds = slices.Delete(b.feeds, i, i+1)
	}
}

// Next waits until something changed and notBefore has passed, then returns all of it.
func (f *feed) Next(ctx context.Context, notBefore time.Time) (Batch, error) {
	if err := f.rest(ctx, notBefore); err != nil {
		return Batch{}, err
	}
	for {
		if b, ok := f.take(); ok {
			return b, nil
		}
		select {
		case <-f.bell:
		case <-f.gone:
			f.bus.unpark(&f.waiter) // it may have been closed before it was parked
			return Batch{}, ErrClosed
		case <-ctx.Done():
			f.bus.unpark(&f.waiter)
			return Batch{}, ctx.Err()
		}
	}
}

// rest keeps the gap between two batches; meanwhile a publish has nobody to wake.
func (f *feed) rest(ctx context.Context, until time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-f.gone:
		return ErrClosed
	default:
	}
	d := time.Until(until)
	if until.IsZero() || d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-f.gone:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take collects what changed since the cursors, or parks the feed when nothing did.
func (f *feed) take() (Batch, bool) {
	b := f.bus
	b.mu.Lock()
	b.pass(&f.waiter)
	if b.seq == f.seq {
		b.park(&f.waiter)
		b.mu.Unlock()
		return Batch{}, false
	}
	out := Batch{
		Seq:      b.seq,
		Accounts: b.accounts.since(f.seq),
		Groups:   b.groups.since(f.seq),
		Logs:     b.logs.after(f.logsAt),
	}
	logs := int(b.logs.n - f.logsAt)
	if b.status.Seq > f.seq {
		s := b.status
		out.Status = &s
	}
	if b.linkSeq > f.seq {
		out.Link = b.link
	}
	_, n := b.routes.after(f.routesAt)
	was := f.seq
	f.seq, f.logsAt = b.seq, b.logs.n
	b.mu.Unlock()

	out.Routes = b.copyRoutes(&f.routesAt, out.Seq, n)
	lost, view := f.missed()
	out.Lost = lost + logs - len(out.Logs)
	if view != nil {
		out.Seq, out.Behind, out.View = view.Seq, true, view
	}
	out.Merged = max(0, int(out.Seq-was)-out.values()-out.Lost)
	return out, true
}

func (b *Batch) values() int {
	n := len(b.Routes) + len(b.Accounts) + len(b.Groups) + len(b.Logs)
	return n
}

// missed tells how many routes left unseen, and in that case everything anew.
func (f *feed) missed() (int, *View) {
	b := f.bus
	b.mu.Lock()
	lost := f.lost
	f.lost = 0
	if !f.behind {
		b.mu.Unlock()
		return lost, nil
	}
	f.behind = false
	v := b.view(nil)
	f.from(v.Seq)
	b.mu.Unlock()
	v = sorted(v)
	return lost, &v
}

// copyRoutes copies the routes changed after *at and up to upto, a chunk in each hold
// of the lock, and moves *at along. One that changes meanwhile comes with the next call.
func (b *Bus) copyRoutes(at *uint64, upto uint64, room int) []Route {
	var out []Route
	if room > 0 {
		out = make([]Route, 0, room)
	}
	for more := true; more; {
		b.mu.Lock()
		e, _ := b.routes.after(*at)
		for n := 0; e != nil && e.seq <= upto && n < chunk; n++ {
			out = append(out, e.value)
			*at = e.seq
			e = e.next
		}
		more = e != nil && e.seq <= upto
		if !more {
			*at = upto
		}
		b.mu.Unlock()
	}
	return out
}
