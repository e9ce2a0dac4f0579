package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver

	"dev.magpie/gateway/trace"
)

const (
	queueLimit = 4096
	batchRows  = 256
	batchWait  = 250 * time.Millisecond
	retryWait  = time.Second      // after a batch that could not be written
	openEvery  = 30 * time.Second // until the file can be opened: a full disk is made room on, a bad file put away
	keepDays   = 400
	pruneRows  = 500 // deleted in one go
)

// ErrClosed says that the history was closed.
var ErrClosed = errors.New("the history is closed")

// History keeps requests on disk. Make it with Open, end it with Close.
type History struct {
	path string

	mu       sync.Mutex
	queue    []trace.Route
	spare    []trace.Route
	held     int             // queued, or taken and not written yet
	readings []trace.Reading // queued
	closed   bool
	bell     chan struct{}      // something was added
	flush    chan chan struct{} // write now, then close what was sent

	opened chan struct{} // closed after the first try to open the file
	file   atomic.Pointer[file]

	written atomic.Int64
	dropped atomic.Int64
	trouble atomic.Pointer[string]

	cancel context.CancelFunc
	ended  chan struct{}
}

// file is what came of opening it: one of the two.
type file struct {
	db  *sql.DB
	err error
}

// Open begins to open the file and returns at once. What goes wrong with the file is
// told by Stat and by the reading methods.
func Open(path string) (*History, error) {
	if path == "" {
		return nil, errors.New("the history needs a path")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &History{
		path:   abs,
		bell:   make(chan struct{}, 1),
		flush:  make(chan chan struct{}),
		opened: make(chan struct{}),
		cancel: cancel,
		ended:  make(chan struct{}),
	}
	go h.run(ctx)
	return h, nil
}

// Add has a request written. It never waits: when the queue is full, or the file could
// not be opened, the request is dropped and counted.
func (h *History) Add(r trace.Route) {
	h.mu.Lock()
	full := h.closed || h.held >= queueLimit
	if !full {
		h.held++
		h.queue = append(h.queue, r)
	}
	h.mu.Unlock()
	if full {
		h.dropped.Add(1)
		return
	}
	h.ring()
}

// ring tells the writer that there is something to write.
func (h *History) ring() {
	select {
	case h.bell <- struct{}{}:
	default:
	}
}

// Stat says how the history keeps up.
func (h *History) Stat() trace.HistoryStat {
	s := trace.HistoryStat{Written: h.written.Load(), Dropped: h.dropped.Load()}
	if t := h.trouble.Load(); t != nil {
		s.Error = *t
	}
	return s
}

// Close writes what is queued and closes the file.
func (h *History) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	<-h.ended
	f := h.file.Load()
	if f == nil || f.db == nil {
		return nil
	}
	if err := f.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", h.path, err)
	}
	return nil
}

// run opens the file, then writes until the context ends, and then what is left. While the file can't be opened,
// what comes is dropped and counted.
func (h *History) run(ctx context.Context) {
	defer close(h.ended)
	for {
		db, err := open(context.WithoutCancel(ctx), h.path)
		if err != nil {
			err = fmt.Errorf("open %s: %w", h.path, err)
		}
		first := h.file.Swap(&file{db, err}) == nil
		h.tell(err)
		if first {
			close(h.opened)
		}
		if err == nil {
			w := writer{h: h, db: db, old: time.Now().AddDate(0, 0, -keepDays)}
			w.work(ctx)
			return
		}
		if !h.discard(ctx) {
			return
		}
	}
}

func (h *History) tell(err error) {
	if err == nil {
		h.trouble.Store(nil)
		return
	}
	s := err.Error()
	h.trouble.Store(&s)
}

// discard takes the place of the writer where there is no file to write to, and says whether it is time for
// another try to open it.
func (h *History) discard(ctx context.Context) bool {
	again := time.NewTimer(openEvery)
	defer again.Stop()
	for {
		h.drop(len(h.take()))
		h.takeReadings()
		select {
		case <-again.C:
			return true
		case <-h.bell:
		case done := <-h.flush:
			close(done)
		case <-ctx.Done():
			h.drop(len(h.take()))
			return false
		}
	}
}

// take hands over the queue and begins another with the space of the one before.
func (h *History) take() []trace.Route {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.queue
	h.queue, h.spare = h.spare[:0], nil
	return q
}

// give returns a queue's space.
func (h *History) give(q []trace.Route) {
	clear(q)
	h.mu.Lock()
	defer h.mu.Unlock()
	if cap(q) > 0 && cap(q) <= batchRows {
		h.spare = q[:0]
	}
}

// drop counts requests that will not be written.
func (h *History) drop(n int) {
	h.dropped.Add(int64(n))
	h.settle(n)
}

// wrote counts requests that were written.
func (h *History) wrote(n int) {
	h.written.Add(int64(n))
	h.settle(n)
}

func (h *History) settle(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held -= n
}

// queued counts what waits.
func (h *History) queued() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.queue)
}

// open makes the file where there is none, readable by its owner alone, and brings it
// to the newest schema.
func open(ctx context.Context, path string) (*sql.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make its folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = errors.Join(f.Chmod(0o600), f.Close())
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	// Only now: the mode is written into the file, and it is known to be ours.
	if _, err := db.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return nil, errors.Join(fmt.Errorf("set the journal: %w", err), db.Close())
	}
	return db, nil
}

// source names the file and what each connection is set to.
func source(path string) string {
	q := url.Values{}
	q.Add("_pragma", "busy_timeout(5000)")
	q.Add("_pragma", "synchronous(NORMAL)")
	q.Add("_pragma", "cache_size(-256)")
	q.Add("_pragma", "journal_size_limit(4194304)")
	q.Add("_txlock", "immediate")
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	return u.String()
}
