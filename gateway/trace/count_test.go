package trace_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/trace"
)

func TestRouteIDsGoOnFromTheStart(t *testing.T) {
	b := trace.NewBus(trace.Options{Start: start})
	for i := range int64(3) {
		if id := b.NextID(); id != start.UnixMilli()+i {
			t.Errorf("id %d, want %d", id, start.UnixMilli()+i)
		}
	}
}

func TestTotals(t *testing.T) {
	b := newBus()
	rest := &trace.Rest{Why: trace.Rate}
	routes := []trace.Route{
		{ID: 1, Status: 200, Tries: []trace.Try{{Rest: rest}, {Status: 200}}},
		{ID: 2, Status: 200, Tries: []trace.Try{{Status: 200}}},
		{ID: 3, Status: 429, Tries: []trace.Try{{Rest: rest}, {Rest: rest}, {Rest: rest}}},
		{ID: 4, Status: 404},
		{ID: 5, Status: trace.Gone, Tries: []trace.Try{{}}},
	}
	for _, r := range routes {
		r.Time = start
		b.Publish(r) // begun
	}
	if got := b.Status().Totals; got != (trace.Totals{InFlight: 5}) {
		t.Errorf("under way: %+v", got)
	}
	for _, r := range routes {
		r.Time, r.Done = start, true
		b.Publish(r)
	}
	b.Publish(trace.Route{ID: 6, Time: start, Done: true, Status: 200}) // told once, at its end
	want := trace.Totals{Requests: 6, Rerouted: 1 + 2, Errors: 3}
	if got := b.Status().Totals; got != want {
		t.Errorf("done: %+v, want %+v", got, want)
	}
}

func TestTodayBeginsAnewAtLocalMidnight(t *testing.T) {
	zone := time.FixedZone("east", 3*3600)
	at := time.Date(2026, 11, 29, 23, 50, 0, 0, zone)
	b := trace.NewBus(trace.Options{Start: at, Location: zone})
	publish := func(begun time.Time, cost string, status int) {
		b.Publish(trace.Route{
			ID: b.NextID(), Time: begun.UTC(), Done: true, Status: status, Cost: cost,
			Tokens: trace.Tokens{Input: 100, Output: 10, CacheRead: 90},
		})
	}
	b.Seed(trace.Today{Day: "2026-11-29", Requests: 400, Input: 1000, CostUSD: 11})
	publish(at, "0.25", 200)
	publish(at.Add(time.Minute), "", 200)
	publish(at.Add(2*time.Minute), "", 503) // no answer, no price to know
	want := trace.Today{
		Day: "2026-11-29", Requests: 403, Input: 1300, Output: 30, CacheRead: 270, CostUSD: 11.25, Unpriced: 1,
	}
	if d := cmp.Diff(want, b.Status().Today); d != "" {
		t.Error("before midnight:", d)
	}

	publish(at.Add(15*time.Minute), "1", 200)
	want = trace.Today{Day: "2026-11-30", Requests: 1, Input: 100, Output: 10, CacheRead: 90, CostUSD: 1}
	if d := cmp.Diff(want, b.Status().Today); d != "" {
		t.Error("after midnight:", d)
	}
	publish(at, "5", 200) // begun yesterday, ended today
	b.Seed(trace.Today{Day: "2026-11-29", Requests: 400})
	if d := cmp.Diff(want, b.Status().Today); d != "" {
		t.Error("yesterday's is not today's:", d)
	}
	b.PublishStatus(at.AddDate(0, 0, 2), trace.Status{Today: trace.Today{Requests: 99}})
	if d := cmp.Diff(trace.Today{Day: "2026-12-01"}, b.Status().Today); d != "" {
		t.Error("a quiet day begins with the status:", d)
	}
}

func TestOutcomes(t *testing.T) {
	one, two := []trace.Try{{ID: "a"}}, []trace.Try{{ID: "a"}, {ID: "b"}}
	paused, full := trace.Try{ID: "c", Row: trace.RowPausedSince}, trace.Try{ID: "d", Row: trace.RowFull}
	for _, c := range []struct {
		name     string
		r        trace.Route
		want     trace.Outcome
		answerer string
	}{
		{"under way", trace.Route{Tries: one}, trace.Live, "a"},
		{"the first answered", trace.Route{Done: true, Status: 200, Tries: one}, trace.Answered, "a"},
		{"the second answered", trace.Route{Done: true, Status: 200, Tries: two}, trace.Later, "b"},
		{"all failed", trace.Route{Done: true, Status: 503, Tries: two}, trace.Failed, "b"},
		{"the last two were not asked", trace.Route{Done: true, Status: 503, Tries: append(slices.Clone(two), paused, full)}, trace.Failed, "b"},
		{"none was asked", trace.Route{Done: true, Status: 429, Tries: []trace.Try{paused, full}}, trace.Failed, "d"},
		{"nobody was asked", trace.Route{Done: true, Status: 503}, trace.Declined, ""},
		{"the agent left", trace.Route{Done: true, Status: 499, Tries: one}, trace.Left, "a"},
	} {
		if got := c.r.Outcome(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := c.r.Answerer(); got != c.answerer {
			t.Errorf("%s: by %q, want %q", c.name, got, c.answerer)
		}
	}
}
