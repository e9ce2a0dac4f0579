// Package meter asks vendors what is left behind their keys, behind the requests that want to
// know: nothing waits for it, and no key is asked more than once a minute however many want it.
//
//	wanted ──► older than a minute, and nobody asks? ──► ask ──► the reading is told, or why there is none
//	stale  ──► the next want asks whatever the age; one that is under way is followed by another
//	forget ──► as stale, and what is under way is dropped: it may be of another key
package meter

import (
	"context"
	"sync"
	"time"

	"dev.magpie/provider"
)

const (
	fresh   = time.Minute      // how long a reading is not asked for again
	plain   = 30 * time.Minute // of a key that turned out to have no windows
	patient = 30 * time.Second // how long a vendor may take
	most    = 4                // asked at once
)

// Options are what a meter needs of the outside.
type Options struct {
	// Ask asks one vendor; it ends with its context.
	Ask func(ctx context.Context, id provider.AccountID) (provider.Reading, error)
	// Told is called with each reading, or with why there was none, by whoever asked. Began is
	// when the vendor was asked: what was told of elsewhere since then is newer.
	Told func(id provider.AccountID, r provider.Reading, err error, began time.Time)
}

// Meter owns when each key was asked. Its methods may be called from any goroutine.
type Meter struct {
	o     Options
	ctx   context.Context
	stop  context.CancelFunc
	slots chan struct{}
	wg    sync.WaitGroup

	mu     sync.Mutex
	keys   map[provider.AccountID]*key
	closed bool
}

// key is what is known of one key.
type key struct {
	asked  time.Time     // when it was asked last, zero = never
	plain  bool          // it told no windows
	stale  bool          // the next want asks, whatever the age
	gen    uint64        // of the key; a reading that began with an earlier one is dropped
	busy   bool          // it is being asked
	follow bool          // wanted anew meanwhile
	over   chan struct{} // closed once what was asked last is told
}

// New starts a meter.
func New(o Options) *Meter {
	m := &Meter{o: o, slots: make(chan struct{}, most), keys: map[provider.AccountID]*key{}}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m
}

// Close ends what is asked and waits for it.
func (m *Meter) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stop()
	m.wg.Wait()
}

// Want has a key read again if its last reading is old. It never waits.
func (m *Meter) Want(id provider.AccountID, now time.Time) { m.want(id, now, false) }

// Refresh has a key read now, unless that is being done; a person asked for it.
func (m *Meter) Refresh(id provider.AccountID, now time.Time) { m.want(id, now, true) }

func (m *Meter) want(id provider.AccountID, now time.Time, force bool) {
	m.mu.Lock()
	k := m.keys[id]
	if k == nil {
		k = &key{}
		m.keys[id] = k
	}
	begin := !m.closed && !k.busy && (force || k.due(now))
	if begin {
		k.begin(now)
		k.over = make(chan struct{})
		m.wg.Add(1)
	}
	gen, over := k.gen, k.over
	m.mu.Unlock()
	if begin {
		go m.read(id, gen, over)
	}
}

// due says whether the key may be asked at now. A clock that went back asks again.
func (k *key) due(now time.Time) bool {
	if k.asked.IsZero() || k.stale || now.Before(k.asked) {
		return true
	}
	age := fresh
	if k.plain {
		age = plain
	}
	return now.Sub(k.asked) >= age
}

func (k *key) begin(now time.Time) {
	k.asked, k.busy, k.stale, k.follow = now, true, false, false
}

// Stale says that what is known of a key holds no more: the next want reads it, and a reading
// that is under way is followed by another at once.
func (m *Meter) Stale(id provider.AccountID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.keys[id]
	switch {
	case k == nil:
	case k.busy:
		k.follow = true
	default:
		k.stale = true
	}
}

// Forget says that an id stands for another key, or is told of elsewhere: what is under way is
// dropped, and the next want reads. What was read stands until then.
func (m *Meter) Forget(id provider.AccountID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.keys[id]; k != nil {
		k.gen++
		k.stale, k.plain = true, false
		k.follow = k.busy
	}
}

// Asked tells when a key was asked last, zero if never, and whether it is being asked.
func (m *Meter) Asked(id provider.AccountID) (at time.Time, busy bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.keys[id]; k != nil {
		return k.asked, k.busy
	}
	return time.Time{}, false
}

// Wait waits until what was last asked of a key is told, or ctx ends.
func (m *Meter) Wait(ctx context.Context, id provider.AccountID) {
	m.mu.Lock()
	var over chan struct{}
	if k := m.keys[id]; k != nil {
		over = k.over
	}
	m.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// read asks one key, and once more where that was wanted meanwhile.
func (m *Meter) read(id provider.AccountID, gen uint64, over chan struct{}) {
	defer m.wg.Done()
	defer close(over)
	for {
		began, r, err := m.ask(id)
		if m.ctx.Err() != nil {
			return
		}
		again, dropped := m.end(id, &gen, len(r.Windows) == 0 && !r.Held && err == nil, time.Now())
		if !dropped {
			m.o.Told(id, r, err, began)
		}
		if !again {
			return
		}
	}
}

func (m *Meter) ask(id provider.AccountID) (began time.Time, r provider.Reading, err error) {
	select {
	case m.slots <- struct{}{}:
	case <-m.ctx.Done():
		return began, r, m.ctx.Err()
	}
	defer func() { <-m.slots }()
	ctx, cancel := context.WithTimeout(m.ctx, patient)
	defer cancel()
	began = time.Now()
	r, err = m.o.Ask(ctx, id)
	return began, r, err
}

// end notes that a reading came, and says whether another follows it and whether it is to be dropped.
func (m *Meter) end(id provider.AccountID, gen *uint64, noWindows bool, at time.Time) (again, dropped bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.keys[id]
	dropped = k.gen != *gen
	if !dropped {
		k.plain = noWindows
	}
	again = k.follow
	k.busy, *gen = again, k.gen
	if again {
		k.begin(at)
	}
	return again, dropped
}
