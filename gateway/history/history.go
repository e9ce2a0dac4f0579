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

	reading sync.RWMutex // held by readers while they read, and for a change of the file

	written atomic.Int64
	dropped atomic.Int64
	begun   atomic.Pointer[time.Time] // when another file was begun, for the one in use was gone

	telling sync.Mutex // for the two below
	trouble string     // "" = none
	hook    func(trace.Log)

	cancel context.CancelFunc
	ended  chan struct{}
}

// file is what came of opening it: one of the two.
type file struct {
	db  *sql.DB
	as  os.FileInfo // what lay at the path then
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
	h.telling.Lock()
	defer h.telling.Unlock()
	return trace.HistoryStat{Written: h.written.Load(), Dropped: h.dropped.Load(), Error: h.trouble, Begun: h.begun.Load()}
}

// OnTold has fn called with what the person should hear of: trouble when it begins and when it is
// over, and a file that was begun anew. Trouble that is there already is told at once, the rest
// beside the requests. Nil ends that.
func (h *History) OnTold(fn func(trace.Log)) {
	h.telling.Lock()
	h.hook = fn
	trouble := h.trouble
	h.telling.Unlock()
	if fn != nil && trouble != "" {
		fn(unkept(trouble))
	}
}

// Close writes what is queued and closes the file.
func (h *History) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	<-h.ended
	return h.shut()
}

// shut closes the file.
func (h *History) shut() error {
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
		f := h.open(ctx)
		first := h.file.Swap(f) == nil
		h.tell(f.err)
		if first {
			close(h.opened)
		}
		if f.err == nil {
			w := writer{h: h, file: f, old: time.Now().AddDate(0, 0, -keepDays)}
			w.work(ctx)
			return
		}
		if !h.discard(ctx) {
			return
		}
	}
}

// open opens the file that lies at the path, or makes it.
func (h *History) open(ctx context.Context) *file {
	db, as, err := open(context.WithoutCancel(ctx), h.path)
	if err != nil {
		err = fmt.Errorf("open %s: %w", h.path, err)
	}
	return &file{db, as, err}
}

// tell notes what does not work, nil that all does. What is news is told.
func (h *History) tell(err error) {
	var now string
	if err != nil {
		now = err.Error()
	}
	h.telling.Lock()
	was, fn := h.trouble, h.hook
	h.trouble = now
	h.telling.Unlock()
	switch {
	case fn == nil || was == now:
	case now != "":
		fn(unkept(now))
	default:
		fn(trace.Log{Time: time.Now(), Level: "info", Text: "the history is kept again"})
	}
}

func unkept(why string) trace.Log {
	return trace.Log{Time: time.Now(), Level: "warn", Text: "the history is not kept: " + why}
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
func open(ctx context.Context, path string) (*sql.DB, os.FileInfo, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("make its folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	as, err := f.Stat()
	err = errors.Join(err, f.Chmod(0o600), f.Close())
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	// Only now: the mode is written into the file, and it is known to be ours.
	if _, err := db.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("set the journal: %w", err), db.Close())
	}
	return db, as, nil
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
