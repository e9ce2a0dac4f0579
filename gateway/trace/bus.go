package trace

import (
	"context"
	"time"
)

// Batch is what changed since the last one, oldest first, each value whole and at
// its newest. Lost counts values that were replaced or dropped unseen.
type Batch struct {
	Seq      uint64
	Routes   []Route
	Accounts []Account
	Groups   []Group
	Logs     []Log
	Status   *Status // without accounts and groups; nil when unchanged
	Lost     int
	Behind   bool // routes fell out of memory unseen: read the view again
}

// View is everything as told at one sequence number.
type View struct {
	Seq    uint64
	Status Status  // with accounts and groups
	Routes []Route // oldest first, at most 500
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
