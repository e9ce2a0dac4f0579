package trace_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/trace"
)

func TestAskingForRoutesAfterANumber(t *testing.T) {
	b := newBus()
	for id := int64(1); id <= 3; id++ {
		b.Publish(trace.Route{ID: id, Time: start})
	}
	b.Publish(trace.Route{ID: 1, Time: start, Done: true, Status: 200})
	for name, c := range map[string]struct {
		after uint64
		want  []int64
	}{
		"from 0 all, oldest change first":       {0, []int64{2, 3, 1}},
		"only what changed since":               {3, []int64{1}},
		"a number ahead is from another run":    {99, []int64{2, 3, 1}},
		"nothing new and no wait gives nothing": {4, []int64{}},
	} {
		rs, seq, totals := b.RoutesAfter(t.Context(), c.after, 0)
		if !slices.Equal(ids(rs), c.want) {
			t.Errorf("%s: %v, want %v", name, ids(rs), c.want)
		}
		if seq != 4 || totals != (trace.Totals{Requests: 1, InFlight: 2}) {
			t.Errorf("%s: seq %d, totals %+v", name, seq, totals)
		}
	}
}

func TestALongPollWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus()
		b.Publish(trace.Route{ID: 1, Session: "s"})
		begin := time.Now()
		go func() {
			<-time.After(time.Second)
			b.PublishAccount(trace.Account{ID: "a"}) // is no route
			<-time.After(time.Second)
			b.Publish(trace.Route{ID: 2, Session: "t"})
			<-time.After(time.Second)
			b.Publish(trace.Route{ID: 1, Session: "s", MS: 7})
		}()
		rs, seq, _ := b.RoutesAfter(t.Context(), 1, time.Minute)
		if took := time.Since(begin); took != 2*time.Second || len(rs) != 1 || rs[0].ID != 2 || seq != 3 {
			t.Errorf("after %s: %v at %d", took, ids(rs), seq)
		}
		r, ok := b.SessionAfter(t.Context(), "s", 1, time.Minute)
		if took := time.Since(begin); took != 3*time.Second || !ok || r.MS != 7 {
			t.Errorf("the conversation after %s: %v %+v", took, ok, r)
		}
		rs, seq, _ = b.RoutesAfter(t.Context(), 4, 5*time.Second)
		if took := time.Since(begin); took != 8*time.Second || len(rs) != 0 || seq != 4 {
			t.Errorf("nothing came: after %s %v at %d", took, ids(rs), seq)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		b.RoutesAfter(ctx, 4, time.Hour)
		if took := time.Since(begin); took != 9*time.Second {
			t.Errorf("a context ended it after %s", took)
		}
	})
}

func TestAConversationsNewestRoute(t *testing.T) {
	b := newBus()
	b.Publish(trace.Route{ID: 1, Session: "s"})
	b.Publish(trace.Route{ID: 2, Session: "s"})
	b.Publish(trace.Route{ID: 3, Session: "other"})
	b.Publish(trace.Route{ID: 4})
	b.Publish(trace.Route{ID: 1, Session: "s", Done: true})
	if r, ok := b.BySession("s"); !ok || r.ID != 2 {
		t.Errorf("%v %d, want the one that began last", ok, r.ID)
	}
	for _, none := range []string{"nobody", ""} {
		if r, ok := b.BySession(none); ok {
			t.Errorf("%q has route %d", none, r.ID)
		}
	}
	if _, ok := b.Route(9); ok {
		t.Error("a route that was never told")
	}
}

// A route that changes between the look and the copy must not make a long poll end with nothing.
func TestALongPollNeverEndsEarlyWithNothingConcurrentSafe(t *testing.T) {
	b := trace.NewBus(trace.Options{Start: time.Now()})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for r := (trace.Route{ID: b.NextID()}); ; {
			select {
			case <-stop:
				return
			default:
				b.Publish(r)
				runtime.Gosched() // on one processor the polls have their turns too
			}
		}
	})
	var after uint64
	for range 2000 {
		routes, seq, _ := b.RoutesAfter(t.Context(), after, time.Minute)
		if len(routes) == 0 {
			t.Error("a poll ended with nothing, long before its time")
			break
		}
		after = seq
	}
	close(stop)
	writer.Wait()
}
