package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"dev.magpie/gateway/trace"
)

const (
	silence  = 45 * time.Second // three of the gateway's pulses: then it is gone
	firstTry = 250 * time.Millisecond
	lastTry  = 8 * time.Second
	steady   = 5 * time.Second // a connection that lasted so long begins the tries anew
)

// Watch returns everything as told and a feed of all after it. When the connection is
// lost the feed tells so (Batch.Link), tries again, and resumes; what could not be
// resumed comes as a new view.
func (c *Client) Watch(ctx context.Context) (trace.View, trace.Feed, error) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	r := &reader{c: c}
	con, view, err := r.begin(ctx)
	if err != nil {
		stop()
		cancel()
		return trace.View{}, nil, err
	}
	r.mirror = trace.NewMirror(view)
	v, inner, err := r.mirror.Watch(ctx)
	if err != nil {
		con.close()
		stop()
		cancel()
		return trace.View{}, nil, err
	}
	f := &feed{Feed: inner, cancel: cancel, ended: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ctx.Err(); err != nil { // it was closed meanwhile
		con.close()
		stop()
		cancel()
		return trace.View{}, nil, err
	}
	c.wg.Go(func() {
		defer close(f.ended)
		defer stop()
		r.follow(ctx, con)
	})
	return v, f, nil
}

// feed is a mirror's feed that ends its reader.
type feed struct {
	trace.Feed
	cancel context.CancelFunc
	ended  chan struct{}
}

// Close ends the feed and waits for its reader.
func (f *feed) Close() {
	f.cancel()
	f.Feed.Close()
	<-f.ended
}

// reader is the one goroutine behind a Watch.
type reader struct {
	c      *Client
	mirror *trace.Mirror
	last   string      // id of the last event that was taken over
	fresh  *trace.View // a view on its way, nil between
}

// begin connects for the first time and reads the whole view.
func (r *reader) begin(ctx context.Context) (*connection, trace.View, error) {
	con, err := r.connect(ctx)
	if err != nil {
		return nil, trace.View{}, err
	}
	for {
		e, err := con.next()
		if err != nil {
			err = con.why(err)
			con.close()
			return nil, trace.View{}, fmt.Errorf("read the trace of %s: %w", r.c.base, err)
		}
		done, err := r.take(e)
		if err != nil {
			con.close()
			return nil, trace.View{}, err
		}
		if done != nil {
			return con, *done, nil
		}
	}
}

// follow reads until the context ends, and connects again when the connection is lost.
func (r *reader) follow(ctx context.Context, con *connection) {
	delay := firstTry
	for {
		began := time.Now()
		err := r.pump(con)
		con.close()
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) >= steady {
			delay = firstTry
		}
		if con = r.again(ctx, &delay, err); con == nil {
			return
		}
	}
}

// again tells that the connection is lost and tries until there is another, nil when the
// context ended before.
func (r *reader) again(ctx context.Context, delay *time.Duration, why error) *connection {
	since := time.Now()
	for {
		wait := *delay
		*delay = min(2*wait, lastTry)
		r.mirror.Tell(&trace.Link{Lost: true, Since: since, RetryIn: wait, Error: short(why)})
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		con, err := r.connect(ctx)
		if err == nil {
			r.mirror.Tell(&trace.Link{Since: time.Now()})
			return con
		}
		why = err
	}
}

func short(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrNoGateway):
		return ErrNoGateway.Error()
	}
	return err.Error()
}

// pump takes over events until the connection ends.
func (r *reader) pump(con *connection) error {
	for {
		e, err := con.next()
		if err != nil {
			return con.why(err)
		}
		view, err := r.take(e)
		if err != nil {
			r.last = "" // what can't be read must not be asked for again
			return err
		}
		if view != nil {
			r.mirror.Reset(*view)
		}
	}
}

// connect opens the stream after the last event taken over, or with a whole view.
func (r *reader) connect(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	con := &connection{ctx: ctx, cancel: cancel}
	con.alarm = time.AfterFunc(silence, func() { cancel(errSilent) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.c.base+"/v1/magpie/trace", http.NoBody)
	if err != nil {
		con.close()
		return nil, fmt.Errorf("ask %s: %w", r.c.base, err)
	}
	req.Header.Set("Accept", "text/event-stream")
	r.fresh = nil
	if r.last != "" {
		req.Header.Set("Last-Event-ID", r.last)
	} else {
		r.fresh = &trace.View{}
	}
	resp, err := r.c.http.Do(req) //nolint:bodyclose // the connection closes it
	if err != nil {
		err = con.why(err)
		con.close()
		return nil, r.c.unreached(err)
	}
	con.read(resp.Body)
	if resp.StatusCode != http.StatusOK {
		defer con.close()
		return nil, refusal(resp.StatusCode, con.rest())
	}
	return con, nil
}

// take takes over one event. It returns a view when one is complete.
func (r *reader) take(e event) (*trace.View, error) {
	switch e.name {
	case trace.EventReset:
		r.fresh = &trace.View{}
		return nil, nil
	case trace.EventReady:
		v := r.fresh
		r.fresh = nil
		r.taken(e)
		return v, nil
	}
	value := valueOf(e.name)
	if value == nil {
		return nil, nil // of a newer gateway
	}
	if err := json.Unmarshal(e.data, value); err != nil {
		return nil, fmt.Errorf("read a %s of the trace: %w", e.name, err)
	}
	if r.fresh == nil {
		r.mirror.Tell(value)
		r.taken(e)
		return nil, nil
	}
	r.gather(value)
	return nil, nil
}

func (r *reader) taken(e event) {
	if e.id != "" {
		r.last = e.id
	}
}

func valueOf(name string) any {
	switch name {
	case trace.EventRoute:
		return new(trace.Route)
	case trace.EventAccount:
		return new(trace.Account)
	case trace.EventGroup:
		return new(trace.Group)
	case trace.EventLog:
		return new(trace.Log)
	case trace.EventStatus:
		return new(trace.Status)
	}
	return nil
}

// gather puts a value into the view that is on its way.
func (r *reader) gather(value any) {
	switch v := value.(type) {
	case *trace.Route:
		r.fresh.Routes = append(r.fresh.Routes, *v)
	case *trace.Account:
		r.fresh.Status.Accounts = append(r.fresh.Status.Accounts, *v)
	case *trace.Group:
		r.fresh.Status.Groups = append(r.fresh.Status.Groups, *v)
	case *trace.Log:
		r.fresh.Logs = append(r.fresh.Logs, *v)
	case *trace.Status:
		r.fresh.Status = *v
	}
}
