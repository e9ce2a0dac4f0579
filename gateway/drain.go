package gateway

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// drainRetry is when an agent that is turned away by a shutdown may look again.
const drainRetry = 5 * time.Second

// errCancelled is why a request ends that a person cancelled.
var errCancelled = errors.New("a person ended this request at the gateway")

// errShut is why a request ends that the process does not wait for any more.
var errShut = errors.New("magpie was shut down before this request was over")

// call is one request under way, as far as others may touch it.
type call struct {
	cancelled atomic.Bool
	mu        sync.Mutex
	stop      context.CancelCauseFunc // of the try that is made or waited for, nil before the first
}

func (c *call) trying(stop context.CancelCauseFunc) {
	c.mu.Lock()
	c.stop = stop
	c.mu.Unlock()
	if c.cancelled.Load() { // between two tries, when there was nothing to stop
		stop(errCancelled)
	}
}

func (c *call) cancel() {
	c.cancelled.Store(true)
	c.mu.Lock()
	stop := c.stop
	c.mu.Unlock()
	if stop != nil {
		stop(errCancelled)
	}
}

// calls are the requests under way, for cancelling and for a clean end.
type calls struct {
	mu   sync.Mutex
	by   map[int64]*call
	shut bool          // no more are taken
	idle chan struct{} // closed when the last one ends, nil while nobody waits
}

// begin notes a request, and says whether it is taken at all.
func (c *calls) begin(id int64, one *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut {
		return false
	}
	if c.by == nil {
		c.by = map[int64]*call{}
	}
	c.by[id] = one
	return true
}

func (c *calls) end(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, id)
	if len(c.by) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

func (c *calls) cancel(id int64) bool {
	c.mu.Lock()
	one := c.by[id]
	c.mu.Unlock()
	if one == nil {
		return false
	}
	one.cancel()
	return true
}

// close takes no more, and returns a channel that is closed once none is under way.
func (c *calls) close() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = true
	if len(c.by) == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	return c.idle
}

// InFlight counts the requests under way.
func (g *Gateway) InFlight() int {
	g.calls.mu.Lock()
	defer g.calls.mu.Unlock()
	return len(g.calls.by)
}

// Drain turns new requests away and waits until those under way have ended, or ctx has.
func (g *Gateway) Drain(ctx context.Context) error {
	g.draining.Store(true)
	g.tellStatus()
	select {
	case <-g.calls.close():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Break ends the requests under way, each with an error that its agent can read: a reply that only
// stopped would read as a finished one. It waits until all are over, or ctx is.
func (g *Gateway) Break(ctx context.Context) error {
	g.draining.Store(true)
	idle := g.calls.close()
	g.calls.mu.Lock()
	under := make([]*call, 0, len(g.calls.by))
	for _, one := range g.calls.by {
		under = append(under, one)
	}
	g.calls.mu.Unlock()
	for _, one := range under {
		one.cancel()
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
