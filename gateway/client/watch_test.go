package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
)

// gateway is one end of the wire: a bus behind the trace's address, on pipes.
type gateway struct {
	srv   *http.Server
	conns chan net.Conn
	done  chan struct{}

	mu    sync.Mutex
	bus   *trace.Bus
	down  error // what a dial gets
	ids   []string
	mute  bool // no pulse, no event
	cut   context.CancelFunc
	bad   bool // sends what can't be read
	calls int
}

func newGateway(t *testing.T, b *trace.Bus) *gateway {
	g := &gateway{conns: make(chan net.Conn), done: make(chan struct{}), bus: b}
	g.srv = &http.Server{Handler: g, ReadHeaderTimeout: time.Hour}
	go func() { _ = g.srv.Serve(g) }()
	t.Cleanup(g.end)
	return g
}

func (g *gateway) end() { _ = g.srv.Close() }

func (g *gateway) Accept() (net.Conn, error) {
	select {
	case c := <-g.conns:
		return c, nil
	case <-g.done:
		return nil, net.ErrClosed
	}
}

func (g *gateway) Close() error   { close(g.done); return nil }
func (g *gateway) Addr() net.Addr { return &net.IPAddr{} }

func (g *gateway) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	g.mu.Lock()
	down := g.down
	g.calls++
	g.mu.Unlock()
	if down != nil {
		return nil, down
	}
	ours, theirs := net.Pipe()
	select {
	case g.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// last is what the newest connection asked to go on from.
func (g *gateway) last() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ids[len(g.ids)-1]
}

// set changes the gateway; a connection under way ends when cut.
func (g *gateway) set(f func(), cut bool) {
	g.mu.Lock()
	f()
	end := g.cut
	g.mu.Unlock()
	if cut && end != nil {
		end()
	}
}

func (g *gateway) client(t *testing.T) *client.Client {
	c := client.New("127.0.0.1:3425", nil, &http.Client{Transport: &http.Transport{DialContext: g.dial, DisableKeepAlives: true}})
	t.Cleanup(c.Close)
	return c
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	last := r.Header.Get("Last-Event-ID")
	g.mu.Lock()
	b := g.bus
	g.ids = append(g.ids, last)
	g.cut = cancel
	g.mu.Unlock()
	send := func(name string, seq uint64, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
		if seq > 0 {
			_, _ = fmt.Fprintf(w, "id: %d\n", seq)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
	whole := func(v trace.View) {
		send("status", 0, v.Status)
		for _, x := range v.Routes {
			send("route", 0, x)
		}
		for _, x := range v.Logs {
			send("log", 0, x)
		}
		send("ready", v.Seq, struct{}{})
	}
	var feed trace.Feed
	if seq, err := strconv.ParseUint(last, 10, 64); err == nil {
		feed, _ = b.Since(ctx, seq)
	}
	if feed == nil {
		if last != "" {
			send("reset", 0, struct{}{})
		}
		v, f, err := b.Watch(ctx)
		if err != nil {
			return
		}
		whole(v)
		feed = f
	}
	defer feed.Close()
	g.stream(ctx, w, feed, send)
}

func (g *gateway) stream(ctx context.Context, w http.ResponseWriter, feed trace.Feed, send func(string, uint64, any)) {
	flush := http.NewResponseController(w).Flush
	for {
		if flush() != nil || ctx.Err() != nil {
			return
		}
		pulse, cancel := context.WithTimeout(ctx, 15*time.Second)
		b, err := feed.Next(pulse, time.Time{})
		cancel()
		g.mu.Lock()
		mute, bad := g.mute, g.bad
		g.mu.Unlock()
		switch {
		case mute:
			<-ctx.Done()
			return
		case ctx.Err() != nil:
			return
		case err != nil:
			_, _ = io.WriteString(w, ": still here\n\n")
		case bad:
			_, _ = io.WriteString(w, "event: route\nid: 99999999\ndata: {\"id\": nonsense}\n\n")
		default:
			send("of-a-newer-gateway", 0, map[string]int{"x": 1})
			for _, e := range b.Events() {
				send(e.Name, e.Seq, e.Value)
			}
		}
	}
}

// alike leaves out the numbers of a mirror and how times are zoned.
var alike = cmp.Options{cmp.FilterPath(func(p cmp.Path) bool {
	f, ok := p.Last().(cmp.StructField)
	return ok && f.Name() == "Seq"
}, cmp.Ignore())}

// bubble runs a test with a gateway and a client on pipes and fake time.
func bubble(t *testing.T, f func(t *testing.T, g *gateway, b *trace.Bus, c *client.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := trace.NewBus(trace.Options{Start: time.Now(), Location: time.UTC})
		b.PublishStatus(time.Now(), trace.Status{Name: "magpie", PID: 1})
		b.PublishAccount(trace.Account{ID: "a/one", State: trace.Fine, Windows: []trace.Window{}})
		b.PublishGroup(trace.Group{ID: "g", Members: []string{"a/m"}})
		b.PublishLog(trace.Log{Text: "listening", Time: time.Now()})
		b.Publish(trace.Route{ID: b.NextID(), Time: time.Now(), Order: []trace.Candidate{}, Left: []trace.Candidate{}, Tries: []trace.Try{}})
		g := newGateway(t, b)
		f(t, g, b, g.client(t))
	})
}

func watch(t *testing.T, c *client.Client) (trace.View, trace.Feed) {
	t.Helper()
	v, f, err := c.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return v, f
}

// next is the next batch, once everything that is under way has come.
func next(t *testing.T, f trace.Feed) trace.Batch {
	t.Helper()
	synctest.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	b, err := f.Next(ctx, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheViewAndWhatComesAfterItAreTheBuss(t *testing.T) {
	bubble(t, func(t *testing.T, _ *gateway, b *trace.Bus, c *client.Client) {
		v, f := watch(t, c)
		if d := cmp.Diff(b.View(), v, alike); d != "" {
			t.Error("the view:", d)
		}
		b.PublishAccount(trace.Account{ID: "a/one", State: trace.Resting, Windows: []trace.Window{}})
		b.Publish(trace.Route{ID: 9, Time: time.Now(), Done: true, Status: 200})
		b.PublishLog(trace.Log{Text: strings.Repeat("long ", 40_000)})
		got := next(t, f)
		if len(got.Accounts) != 1 || got.Accounts[0].State != trace.Resting || len(got.Routes) != 1 || len(got.Logs) != 1 {
			t.Errorf("%+v", got)
		}
		if got.Status == nil || got.Status.Totals != b.Status().Totals {
			t.Errorf("%+v, want the gateway's own totals", got.Status)
		}
		if len(got.Logs[0].Text) != 200_000 {
			t.Error("a long line was cut")
		}
	})
}

func TestALostConnectionIsToldTriedAgainAndResumed(t *testing.T) {
	bubble(t, func(t *testing.T, g *gateway, b *trace.Bus, c *client.Client) {
		_, f := watch(t, c)
		b.Publish(trace.Route{ID: 9, Time: time.Now(), Asked: "seen"})
		next(t, f)
		lost := time.Now()
		g.set(func() { g.down = errors.New("connection reset") }, true)

		var waits []time.Duration
		for range 7 {
			got := next(t, f)
			if got.Link == nil || !got.Link.Lost || !got.Link.Since.Equal(lost) || len(got.Routes) != 0 {
				t.Fatalf("%+v", got.Link)
			}
			waits = append(waits, got.Link.RetryIn)
		}
		want := []time.Duration{250, 500, 1000, 2000, 4000, 8000, 8000}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if d := cmp.Diff(want, waits); d != "" {
			t.Error("the waits:", d)
		}

		b.Publish(trace.Route{ID: 10, Time: time.Now(), Asked: "while it was away"})
		seq := b.View().Seq - 1
		g.set(func() { g.down = nil }, false)
		got := next(t, f)
		for got.Link == nil || got.Link.Lost || len(got.Routes) == 0 {
			more := next(t, f)
			got.Routes = append(got.Routes, more.Routes...)
			if more.Link != nil {
				got.Link = more.Link
			}
			if more.Behind {
				t.Fatal("it began anew instead of resuming")
			}
		}
		if r := got.Routes[len(got.Routes)-1]; r.Asked != "while it was away" {
			t.Errorf("%+v", r)
		}
		if last := g.last(); last != strconv.FormatUint(seq, 10) {
			t.Errorf("resumed after %s, want %d", last, seq)
		}
	})
}

func TestAConnectionThatLastedIsTriedSoonAgain(t *testing.T) {
	bubble(t, func(t *testing.T, g *gateway, _ *trace.Bus, c *client.Client) {
		_, f := watch(t, c)
		for _, c := range []struct{ lasted, want time.Duration }{
			{0, 250 * time.Millisecond},
			{time.Second, 500 * time.Millisecond}, // it did not last: something is wrong there
			{time.Minute, 250 * time.Millisecond},
		} {
			<-time.After(c.lasted)
			g.set(func() {}, true)
			got := next(t, f)
			if got.Link == nil || got.Link.RetryIn != c.want {
				t.Errorf("after a connection of %s: %+v, want to try in %s", c.lasted, got.Link, c.want)
			}
			for got.Link == nil || got.Link.Lost {
				got = next(t, f)
			}
		}
	})
}

func TestARestartedGatewayBringsANewView(t *testing.T) {
	bubble(t, func(t *testing.T, g *gateway, _ *trace.Bus, c *client.Client) {
		_, f := watch(t, c)
		<-time.After(time.Minute)
		again := trace.NewBus(trace.Options{Start: time.Now(), Location: time.UTC})
		again.PublishStatus(time.Now(), trace.Status{Name: "magpie", PID: 2})
		again.PublishAccount(trace.Account{ID: "b/two", Windows: []trace.Window{}})
		g.set(func() { g.bus = again }, true)
		for {
			got := next(t, f)
			if !got.Behind {
				continue
			}
			if d := cmp.Diff(again.View().Status, got.View.Status, alike); d != "" {
				t.Error(d)
			}
			if len(got.View.Routes) != 0 {
				t.Errorf("%+v are of the run before", got.View.Routes)
			}
			return
		}
	})
}

func TestAGatewayThatFallsSilentIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, g *gateway, _ *trace.Bus, c *client.Client) {
		_, f := watch(t, c)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		if b, err := f.Next(ctx, time.Time{}); err == nil {
			t.Errorf("an idle gateway: %+v", b)
		}
		cancel()
		if took := time.Since(begin); took != 10*time.Minute {
			t.Errorf("the wait ended after %s", took)
		}
		begin = time.Now()
		g.set(func() { g.mute = true }, false)
		got := next(t, f)
		took := time.Since(begin)
		if got.Link == nil || !got.Link.Lost || !strings.Contains(got.Link.Error, "nothing was heard") || took > time.Minute {
			t.Errorf("after %s: %+v", took, got.Link)
		}
		g.set(func() { g.mute = false }, false)
	})
}

func TestAnEventThatCannotBeReadIsNotAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T, g *gateway, b *trace.Bus, c *client.Client) {
		_, f := watch(t, c)
		g.set(func() { g.bad = true }, false)
		b.Publish(trace.Route{ID: 9})
		got := next(t, f)
		if got.Link == nil || !strings.Contains(got.Link.Error, "read a route") {
			t.Errorf("%+v", got.Link)
		}
		g.set(func() { g.bad = false }, false)
		for !got.Behind {
			got = next(t, f)
		}
		if last := g.last(); last != "" {
			t.Errorf("it resumed after %s", last)
		}
		if len(got.View.Routes) != 2 {
			t.Errorf("%d routes in the new view", len(got.View.Routes))
		}
	})
}

func TestTheEndOfAWatch(t *testing.T) {
	bubble(t, func(t *testing.T, g *gateway, _ *trace.Bus, c *client.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		_, first, err := c.Watch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		synctest.Wait()
		if _, err := first.Next(t.Context(), time.Time{}); !errors.Is(err, trace.ErrClosed) {
			t.Errorf("its context ended: %v", err)
		}
		first.Close()
		first.Close()

		_, second := watch(t, c)
		g.set(func() { g.down = errors.New("away") }, true)
		next(t, second)
		c.Close() // while it waits to try again
		if _, err := second.Next(t.Context(), time.Time{}); !errors.Is(err, trace.ErrClosed) {
			t.Errorf("the client ended: %v", err)
		}
		if _, _, err := c.Watch(t.Context()); err == nil {
			t.Error("a closed client watches")
		}
	})
}

func TestAWatchThatBeginsWhileTheClientClosesEndsWithIt(t *testing.T) {
	for range 20 {
		bubble(t, func(t *testing.T, _ *gateway, _ *trace.Bus, c *client.Client) {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					_, f, err := c.Watch(t.Context())
					if err != nil {
						return
					}
					for err == nil {
						_, err = f.Next(t.Context(), time.Time{})
					}
					if !errors.Is(err, trace.ErrClosed) {
						t.Errorf("it ended with %v", err)
					}
				})
			}
			c.Close()
			all.Wait()
		})
	}
}

func TestARefusalToWatchIsAnError(t *testing.T) {
	c, _ := serving(t, http.StatusForbidden, `{"error":{"code":"not_local","message":"this machine only"}}`)
	if _, _, err := c.Watch(t.Context()); err == nil || err.Error() != "this machine only" {
		t.Errorf("%v", err)
	}
}

func TestAViewThatBreaksOffIsAnError(t *testing.T) {
	c, _ := serving(t, http.StatusOK, "event: status\ndata: {\"name\":\"magpie\"}\n\n")
	if _, _, err := c.Watch(t.Context()); err == nil || !strings.Contains(err.Error(), "ended the connection") {
		t.Errorf("%v", err)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("event: status\ndata: {}\n\nevent: ready\nid: 4\ndata: {}\n\n")
	f.Add(": x\r\nevent:route\r\ndata: {\"id\":1}\r\n\r\nevent: reset\n\ndata: 1\ndata: 2\n\n")
	f.Add("event: status\ndata: {}\n\nevent: ready\ndata: {}\n\nevent: log\nid: 5\ndata: {\"text\":\"x\"}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		hc := &http.Client{Transport: canned(stream)}
		c := client.New("127.0.0.1:1", nil, hc)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, feed, err := c.Watch(ctx)
		if err != nil {
			return
		}
		defer feed.Close()
		if _, err := feed.Next(ctx, time.Time{}); err != nil {
			t.Errorf("neither a change nor the loss of the connection: %v", err)
		}
	})
}

// canned answers with a body once, then not at all.
type canned string

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(string(c))),
	}, nil
}
