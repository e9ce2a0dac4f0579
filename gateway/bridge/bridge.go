package bridge

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"dev.magpie/provider"
)

// How many runs there are, and how long one is kept that nobody asks to go on.
const (
	mostRuns  = 16
	mostIdle  = 8
	waitsFor  = 15 * time.Minute // for the results of tools
	endedFor  = 5 * time.Minute  // after a reply: as long as the vendor keeps its prompt cached
	stopGrace = 3 * time.Second  // to end by itself: it may just be renewing its sign-in
)

// Options say how the program is run. Zero values are the usual ones.
type Options struct {
	Program string   // "" = found on PATH and at its usual places
	Environ []string // nil = that of the process
	TempDir string   // "" = the system's
	Most    int      // runs at once, idle ones among them
	Idle    int      // idle runs
	Waits   time.Duration
	Ended   time.Duration
	Mask    func(string) string // takes secrets out of what the program says
	// Told is called with what a run tells of its account's windows.
	Told func(id provider.AccountID, ws []provider.Window, at time.Time)
}

// Bridge runs the program for requests. Make it with New, end it with Close.
type Bridge struct {
	o     Options
	mcp   server
	mu    sync.Mutex
	runs  map[*run]bool // all that have a place
	idle  []*run        // the longest idle first
	free  chan struct{} // closed when a place or an idle run may be there
	shut  bool
	homes homes
}

// New makes a bridge. Nothing runs before the first request.
func New(o Options) *Bridge {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Mask == nil {
		o.Mask = func(s string) string { return s }
	}
	if o.Told == nil {
		o.Told = func(provider.AccountID, []provider.Window, time.Time) {}
	}
	o.Most, o.Idle = orElse(o.Most, mostRuns), orElse(o.Idle, mostIdle)
	o.Waits, o.Ended = orElse(o.Waits, waitsFor), orElse(o.Ended, endedFor)
	return &Bridge{o: o, runs: map[*run]bool{}, free: make(chan struct{})}
}

func orElse[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// Ask is one request for one account.
type Ask struct {
	Account provider.AccountID
	Home    string // where the program keeps its sign-in, "" = its own place
	Proxy   string // as the config has it
	Model   string
	Body    []byte // of the Messages API
}

var errShut = errors.New("magpie is shutting down")

// Do serves a request: a reply in the events of the Messages API, or the vendor's refusal with
// its status. An *UnreadyError error says that the account can't be used as it is.
func (b *Bridge) Do(ctx context.Context, a *Ask) (*http.Response, error) {
	q, ref := readBody(a.Body)
	if ref != nil {
		return ref.response(nil), nil
	}
	q.key = q.settings(a)
	r := b.claim(q)
	if r != nil {
		if resp, ok, err := r.goOn(ctx, q); ok || err != nil {
			return resp, err
		}
	}
	return b.begin(ctx, a, q)
}

// begin starts a run with the whole conversation.
func (b *Bridge) begin(ctx context.Context, a *Ask, q *query) (*http.Response, error) {
	program, err := b.ready(ctx, a.Account, a.Home)
	if err != nil {
		return nil, err
	}
	r := newRun(b, a, q)
	if err := b.place(ctx, r); err != nil {
		return nil, err
	}
	if err := r.start(program, q); err != nil {
		return nil, err
	}
	return r.out.wait(ctx, r)
}

// place waits for a place for a run; an idle one makes way.
func (b *Bridge) place(ctx context.Context, r *run) error {
	for {
		b.mu.Lock()
		var old *run
		switch {
		case b.shut:
			b.mu.Unlock()
			return errShut
		case len(b.runs) < b.o.Most:
			b.runs[r] = true
			b.mu.Unlock()
			return nil
		case len(b.idle) > 0:
			old, b.idle = b.idle[0], b.idle[1:]
		}
		free := b.free
		b.mu.Unlock()
		if old != nil {
			old.stop(errMadeWay)
			continue
		}
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// gone takes a run off whose process has ended, or never began.
func (b *Bridge) gone(r *run) {
	b.mu.Lock()
	delete(b.runs, r)
	b.unlist(r)
	b.wake()
	b.mu.Unlock()
	b.mcp.forget(r)
	r.clean()
	close(r.over)
}

// rest puts a run among the idle ones, where a later request finds it.
func (b *Bridge) rest(r *run, d time.Duration) {
	b.mu.Lock()
	if b.shut || !b.runs[r] {
		b.mu.Unlock()
		return
	}
	b.idle = append(b.idle, r)
	r.alarm = time.AfterFunc(d, func() { b.expire(r) })
	var old *run
	if len(b.idle) > b.o.Idle {
		old = b.idle[0]
		b.unlist(old)
	}
	b.wake()
	b.mu.Unlock()
	if old != nil {
		go old.stop(errMadeWay)
	}
}

func (b *Bridge) wake() {
	close(b.free)
	b.free = make(chan struct{})
}

// unlist takes a run out of the idle ones; false when it was not among them.
func (b *Bridge) unlist(r *run) bool {
	i := slices.Index(b.idle, r)
	if i < 0 {
		return false
	}
	b.idle = slices.Delete(b.idle, i, i+1)
	if r.alarm != nil {
		r.alarm.Stop()
	}
	return true
}

func (b *Bridge) expire(r *run) {
	b.mu.Lock()
	was := b.unlist(r)
	b.mu.Unlock()
	if was {
		r.stop(errIdle)
	}
}

// claim takes the idle run that a request goes on from, nil when there is none.
func (b *Bridge) claim(q *query) *run {
	b.mu.Lock()
	defer b.mu.Unlock()
	var near []*run
	for i := len(b.idle) - 1; i >= 0; i-- { // of two alike the newer one
		r := b.idle[i]
		switch r.fits(q) {
		case exact:
			b.unlist(r)
			return r
		case alike:
			near = append(near, r)
		case never:
		}
	}
	if len(near) != 1 {
		return nil
	}
	b.unlist(near[0])
	return near[0]
}

// Runs tells how many runs there are, and how many of them are idle.
func (b *Bridge) Runs() (all, idle int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.runs), len(b.idle)
}

// Close ends every run and waits until the last process is gone.
func (b *Bridge) Close() {
	b.mu.Lock()
	b.shut = true
	all := make([]*run, 0, len(b.runs))
	for r := range b.runs {
		all = append(all, r)
	}
	for _, r := range slices.Clone(b.idle) {
		b.unlist(r)
	}
	b.wake()
	b.mu.Unlock()
	var wg sync.WaitGroup
	for _, r := range all {
		wg.Go(func() { r.stop(errShut) })
	}
	wg.Wait()
	b.mcp.close()
	b.homes.close()
}
