package trace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"dev.magpie/gateway/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC)

func newBus() *trace.Bus { return trace.NewBus(trace.Options{Location: time.UTC}) }

func watch(t *testing.T, s trace.Source) (trace.View, trace.Feed) {
	t.Helper()
	v, f, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return v, f
}

// next is a batch that must be there at once.
func next(t *testing.T, f trace.Feed) trace.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := f.Next(ctx, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ids(rs []trace.Route) []int64 {
	out := []int64{}
	for _, r := range rs {
		out = append(out, r.ID)
	}
	return out
}

func TestAViewHoldsEverythingAtOneNumber(t *testing.T) {
	b := newBus()
	b.PublishStatus(start, trace.Status{Name: "magpie", PID: 7, Accounts: []trace.Account{{ID: "ignored"}}})
	b.PublishAccount(trace.Account{ID: "b/two", Place: 1, State: trace.Fine})
	b.PublishAccount(trace.Account{ID: "a/one", Place: 0, State: trace.Fine})
	b.PublishAccount(trace.Account{ID: "gone", Place: 2, Removed: true})
	b.PublishGroup(trace.Group{ID: "zoo", Place: 0})
	b.PublishGroup(trace.Group{ID: "all", Place: 1})
	b.PublishLog(trace.Log{Text: "listening"})
	b.Publish(trace.Route{ID: 2, Time: start})
	b.Publish(trace.Route{ID: 1, Time: start})
	b.PublishAccount(trace.Account{ID: "b/two", Place: 1, State: trace.Low})

	v, _ := watch(t, b)
	if v.Seq != 10 {
		t.Errorf("the view stands at %d, want the number of the last of 10 changes", v.Seq)
	}
	want := trace.Status{
		Seq: 9, Name: "magpie", PID: 7, Totals: trace.Totals{InFlight: 2}, Today: trace.Today{Day: "2026-11-29"},
		Accounts: []trace.Account{
			{Seq: 3, ID: "a/one", State: trace.Fine},
			{Seq: 10, ID: "b/two", Place: 1, State: trace.Low},
		},
		Groups: []trace.Group{{Seq: 5, ID: "zoo"}, {Seq: 6, ID: "all", Place: 1}},
	}
	if d := cmp.Diff(want, v.Status); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, b.Status()); d != "" {
		t.Error("status alone:", d)
	}
	if got := ids(v.Routes); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("routes %v, want the oldest first", got)
	}
	if len(v.Logs) != 1 || v.Logs[0].Text != "listening" || v.Logs[0].Seq != 7 {
		t.Errorf("logs %+v", v.Logs)
	}
}

func TestABatchHasTheNewestOfEachOldestChangeFirst(t *testing.T) {
	b := newBus()
	b.PublishStatus(start, trace.Status{Name: "magpie"})
	_, f := watch(t, b)
	b.Publish(trace.Route{ID: 1, Time: start, Asked: "old"})
	b.Publish(trace.Route{ID: 2, Time: start})
	b.PublishAccount(trace.Account{ID: "a"})
	b.PublishLog(trace.Log{Text: "one"})
	b.Publish(trace.Route{ID: 1, Time: start, Asked: "new"})
	b.PublishGroup(trace.Group{ID: "g"})
	b.PublishLog(trace.Log{Text: "two"})

	got := next(t, f)
	if want := []int64{2, 1}; !slices.Equal(ids(got.Routes), want) || got.Routes[1].Asked != "new" {
		t.Errorf("routes %+v, want 2 and the newest of 1", got.Routes)
	}
	if got.Merged != 1 || got.Lost != 0 || got.Behind {
		t.Errorf("merged %d, lost %d, behind %v; want 1, 0, false", got.Merged, got.Lost, got.Behind)
	}
	if got.Status == nil || got.Status.Totals.InFlight != 2 || got.Status.Accounts != nil {
		t.Errorf("status %+v, want the totals without accounts", got.Status)
	}
	if len(got.Logs) != 2 || len(got.Accounts) != 1 || len(got.Groups) != 1 || got.Seq != 8 {
		t.Errorf("%+v", got)
	}

	var order []string
	for _, e := range got.Events() {
		order = append(order, fmt.Sprintf("%d %s", e.Seq, e.Name))
	}
	want := []string{"3 route", "3 status", "4 account", "5 log", "6 route", "7 group", "8 log"}
	if d := cmp.Diff(want, order); d != "" {
		t.Error(d)
	}
}

func TestNothingChangedMeansWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus()
		_, f, err := b.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got trace.Batch
		done := false
		go func() {
			got, err = f.Next(t.Context(), time.Time{})
			done = true
		}()
		synctest.Wait()
		if done {
			t.Error("a batch without a change")
		}
		b.Publish(trace.Route{ID: 1})
		synctest.Wait()
		if !done || err != nil || len(got.Routes) != 1 {
			t.Errorf("done %v, err %v, batch %+v after a change", done, err, got)
		}
		f.Close()
	})
}

func TestTheGapIsKeptAndGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus()
		_, f, err := b.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		begin := time.Now()
		published := make(chan struct{})
		defer func() { <-published }()
		go func() {
			defer close(published)
			for i := range 10 {
				b.Publish(trace.Route{ID: 1, MS: int64(i)})
				<-time.After(10 * time.Millisecond)
			}
		}()
		got, err := f.Next(t.Context(), begin.Add(66*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 66*time.Millisecond {
			t.Errorf("the batch came after %s", took)
		}
		if len(got.Routes) != 1 || got.Routes[0].MS != 6 || got.Merged != 6 {
			t.Errorf("got %+v, want the seventh state and six merged", got)
		}
	})
}

func TestAContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus()
		watchCtx, endWatch := context.WithCancel(t.Context())
		_, f, err := b.Watch(watchCtx)
		if err != nil {
			t.Fatal(err)
		}
		for name, until := range map[string]time.Time{"waiting": {}, "in the gap": time.Now().Add(time.Hour)} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := f.Next(ctx, until); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
		}
		var late error
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, late = f.Next(t.Context(), time.Time{})
		}()
		synctest.Wait()
		endWatch()
		<-done
		if !errors.Is(late, trace.ErrClosed) {
			t.Errorf("the watch's end gives %v", late)
		}
		if _, err := f.Next(t.Context(), time.Time{}); !errors.Is(err, trace.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
		f.Close()
		if _, _, err := b.Watch(watchCtx); !errors.Is(err, context.Canceled) {
			t.Errorf("watching with an ended context: %v", err)
		}
	})
}

func TestASlowReaderLosesStatesNeverTheLast(t *testing.T) {
	b := newBus()
	_, f := watch(t, b)
	for ms := range int64(1000) {
		for id := range int64(20) {
			b.Publish(trace.Route{ID: id, Time: start, MS: ms, Done: ms == 999, Status: 200})
		}
	}
	got := next(t, f)
	if len(got.Routes) != 20 || got.Lost != 0 || got.Behind {
		t.Fatalf("%d routes, %d lost", len(got.Routes), got.Lost)
	}
	for _, r := range got.Routes {
		if !r.Done || r.MS != 999 {
			t.Errorf("route %d at %d ms", r.ID, r.MS)
		}
	}
	if got.Merged != 20*999 {
		t.Errorf("%d merged, want %d", got.Merged, 20*999)
	}
}

func TestRoutesThatLeftUnseenAreCountedAndTheViewComesAnew(t *testing.T) {
	b := newBus()
	b.PublishAccount(trace.Account{ID: "a"})
	for id := range int64(600) {
		b.Publish(trace.Route{ID: id, Time: start, Done: true, Status: 200})
	}
	seen, f := watch(t, b)
	if len(seen.Routes) != 500 || seen.Routes[0].ID != 100 {
		t.Fatalf("%d routes from %d, want the newest 500", len(seen.Routes), seen.Routes[0].ID)
	}
	for id := int64(600); id < 700; id++ {
		b.Publish(trace.Route{ID: id, Time: start, Done: true, Status: 200})
	}
	if got := next(t, f); got.Behind || got.Lost != 0 || len(got.Routes) != 100 {
		t.Errorf("routes left that had been seen: %d lost, behind %v", got.Lost, got.Behind)
	}
	for id := int64(700); id < 1300; id++ {
		b.Publish(trace.Route{ID: id, Time: start, Done: true, Status: 200})
	}
	got := next(t, f)
	if got.Lost != 100 || !got.Behind {
		t.Errorf("%d lost, behind %v; want 100 and true", got.Lost, got.Behind)
	}
	if got.View == nil || len(got.View.Routes) != 500 || len(got.View.Status.Accounts) != 1 || got.View.Seq != got.Seq {
		t.Errorf("the view is not whole: %+v", got.View)
	}
	b.Publish(trace.Route{ID: 2000})
	if got := next(t, f); got.Behind || got.Lost != 0 || got.View != nil || len(got.Routes) != 1 {
		t.Errorf("it is still behind: %+v", got)
	}
}

func TestLogLinesThatLeftUnseenAreCounted(t *testing.T) {
	b := newBus()
	b.PublishLog(trace.Log{Text: "seen"})
	_, f := watch(t, b)
	for i := range 1010 {
		b.PublishLog(trace.Log{Text: fmt.Sprint(i)})
	}
	got := next(t, f)
	if len(got.Logs) != 1000 || got.Logs[0].Text != "10" || got.Lost != 10 || got.Behind {
		t.Errorf("%d lines from %q, %d lost, behind %v", len(got.Logs), got.Logs[0].Text, got.Lost, got.Behind)
	}
}

func TestALiveRouteNeverLeaves(t *testing.T) {
	b := newBus()
	for id := range int64(700) { // under way at once
		b.Publish(trace.Route{ID: id, Time: start})
	}
	if n := len(b.View().Routes); n != 700 {
		t.Errorf("%d of 700 live routes are in memory", n)
	}
	b.Publish(trace.Route{ID: 0, Time: start, Done: true, Status: 200})
	if _, ok := b.Route(0); !ok {
		t.Error("so many are live that nobody sees how one ended")
	}
	for id := range int64(650) {
		b.Publish(trace.Route{ID: id, Time: start, Done: true, Status: 200})
	}
	v := b.View()
	if len(v.Routes) != 500 || v.Status.Totals.InFlight != 50 {
		t.Errorf("%d routes, %d in flight; want 500 and 50", len(v.Routes), v.Status.Totals.InFlight)
	}
	if first := v.Routes[0].ID; first != 200 {
		t.Errorf("the oldest is %d, want those that ended first to have left", first)
	}
	for id := int64(650); id < 700; id++ {
		if _, ok := b.Route(id); !ok {
			t.Errorf("live route %d left", id)
		}
	}
}

func TestDoneStaysDone(t *testing.T) {
	b := newBus()
	b.Publish(trace.Route{ID: 1, Time: start, Done: true, Status: 200, MS: 9})
	b.Publish(trace.Route{ID: 1, Time: start, MS: 5}) // progress that came late
	if r, _ := b.Route(1); !r.Done || r.MS != 9 {
		t.Errorf("%+v", r)
	}
	b.Publish(trace.Route{ID: 1, Time: start, Done: true, Status: 200, MS: 9, Cost: "1"}) // its price came late
	if r, _ := b.Route(1); r.Cost != "1" {
		t.Error("a later state of a done route is not taken")
	}
	if n := b.Status().Totals.Requests; n != 1 {
		t.Errorf("counted %d times", n)
	}
}

func TestNoHoleBetweenViewAndFeedConcurrentSafe(t *testing.T) {
	b := newBus()
	const publishers, watchers, each = 4, 6, 400
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := make(chan struct{})
	for w := range watchers {
		wg.Go(func() {
			v, f, err := b.Watch(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			last := map[int64]int64{}
			for _, r := range v.Routes {
				last[r.ID] = r.MS
			}
			at := v.Seq
			for len(last) < publishers || slices.ContainsFunc([]int64{0, 1, 2, 3}, func(id int64) bool { return last[id] != each }) {
				got, err := f.Next(ctx, time.Now().Add(time.Duration(w)*100*time.Microsecond))
				if err != nil {
					t.Errorf("watcher %d at %d of %v: %v", w, at, last, err)
					return
				}
				for _, r := range got.Routes {
					if r.Seq <= at {
						t.Errorf("watcher %d: number %d again", w, r.Seq)
					}
					if r.MS <= last[r.ID] && last[r.ID] != 0 {
						t.Errorf("watcher %d: route %d went from %d to %d", w, r.ID, last[r.ID], r.MS)
					}
					last[r.ID] = r.MS
				}
				at = got.Seq
			}
		})
	}
	for p := range int64(publishers) {
		wg.Go(func() {
			for i := range int64(each) {
				b.Publish(trace.Route{ID: p, MS: i + 1})
				b.PublishLog(trace.Log{Text: "x"})
			}
		})
	}
	go func() { wg.Wait(); close(stop) }()
	select {
	case <-stop:
	case <-time.After(time.Minute):
		t.Error("a watcher never saw the last states")
		cancel()
		<-stop
	}
}

// Readers that come, wait, give up and leave must never keep another from being woken.
func TestWakingSurvivesReadersThatLeaveConcurrentSafe(t *testing.T) {
	b := newBus()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	quit := make(chan struct{})
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-quit:
					return
				default:
				}
				short, end := context.WithTimeout(ctx, time.Duration(i%50)*time.Microsecond)
				switch i % 3 {
				case 0:
					if _, f, err := b.Watch(short); err == nil {
						_, _ = f.Next(ctx, time.Time{})
						f.Close()
					}
				case 1:
					b.RoutesAfter(short, 1<<62, time.Second)
				case 2:
					if _, f, err := b.Watch(ctx); err == nil {
						_, _ = f.Next(short, time.Time{})
						f.Close()
					}
				}
				end()
			}
		})
	}
	_, f := watch(t, b)
	for i := range int64(300) {
		go b.Publish(trace.Route{ID: 1, MS: i})
		if _, err := f.Next(ctx, time.Time{}); err != nil {
			t.Fatalf("change %d woke nobody: %v", i, err)
		}
	}
	close(quit)
	wg.Wait()
}

func TestResuming(t *testing.T) {
	o := trace.Options{Start: start, Location: time.UTC, Keep: 10}
	b := trace.NewBus(o)
	base := uint64(start.UnixMilli())
	b.PublishLog(trace.Log{Text: "one"})
	b.Publish(trace.Route{ID: 1, Time: start})
	b.PublishLog(trace.Log{Text: "two"})
	b.PublishAccount(trace.Account{ID: "a"})

	resume := func(seq uint64) (trace.Batch, bool) {
		f, ok := b.Since(t.Context(), seq)
		if !ok {
			return trace.Batch{}, false
		}
		defer f.Close()
		return next(t, f), true
	}
	got, ok := resume(base + 1)
	if !ok || len(got.Routes) != 1 || len(got.Logs) != 1 || got.Logs[0].Text != "two" || len(got.Accounts) != 1 {
		t.Errorf("after the first: %v %+v", ok, got)
	}
	got, ok = resume(base + 3)
	if !ok || len(got.Routes) != 0 || len(got.Logs) != 0 || len(got.Accounts) != 1 || got.Status != nil {
		t.Errorf("after the third: %v %+v", ok, got)
	}
	if got, ok := resume(base + 2); !ok || got.Status == nil {
		t.Errorf("who has the route but maybe not the status that it changed: %v %+v", ok, got)
	}
	for name, seq := range map[string]uint64{
		"of an earlier run": base - 5000, "of no run": 0, "of a later run": base + 5,
	} {
		if _, ok := resume(seq); ok {
			t.Errorf("a number %s is resumed", name)
		}
	}
	for id := range int64(30) {
		b.Publish(trace.Route{ID: 100 + id, Time: start, Done: true})
	}
	if _, ok := resume(base + 4); ok {
		t.Error("resumed over routes that have left")
	}
	if got, ok := resume(base + 30); !ok || len(got.Routes) == 0 {
		t.Error("not resumed after the last that left")
	}
}

func TestTheAllocationsOfPublishing(t *testing.T) {
	b := trace.NewBus(trace.Options{Location: time.UTC})
	b.PublishStatus(start, trace.Status{})
	for range 10 {
		watch(t, b)
	}
	tries := []trace.Try{{ID: "a"}}
	id := int64(0)
	publish := func() {
		id++
		r := trace.Route{ID: id, Time: start, Tries: tries}
		b.Publish(r)
		r.Done, r.Status, r.Cost = true, 200, "0.031"
		b.Publish(r)
		b.PublishAccount(trace.Account{ID: "a"})
		b.PublishGroup(trace.Group{ID: "g"})
		b.PublishLog(trace.Log{Text: "line"})
	}
	for range 3000 {
		publish()
	}
	if n := testing.AllocsPerRun(5000, publish); n != 0 {
		t.Errorf("%v allocations for five publishes with ten subscribers, want none", n)
	}
}

func TestTheAllocationsOfWakingReaders(t *testing.T) {
	b := newBus()
	defer subscribe(b, 10, 0)()
	for i := range int64(2000) {
		b.Publish(trace.Route{ID: i % 8})
	}
	// A reader's batch is its own: one slice of routes at most, and the status.
	if n := testing.AllocsPerRun(2000, func() { b.Publish(trace.Route{ID: 1}) }); n > 20 {
		t.Errorf("%v allocations a publish with ten readers, want at most two each", n)
	}
}
