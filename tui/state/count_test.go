package state

import (
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

func TestTheRateIsThatOfTheLastMinute(t *testing.T) {
	s := New(trace.View{Routes: []trace.Route{
		{ID: 1, Time: noon.Add(-2 * time.Minute), Done: true, Status: 500},
		{ID: 2, Time: noon.Add(-50 * time.Second), Done: true, Status: 429},
		{ID: 3, Time: noon.Add(-40 * time.Second), Done: true, Status: 499},
		{ID: 4, Time: noon.Add(-3 * time.Minute)},
		{ID: 5, Time: noon.Add(-30 * time.Second)},
	}}, noon, false)
	c := At(noon)
	requests, errors := s.PerMinute(c)
	if requests != 3 || errors != 1 {
		t.Errorf("%d requests and %d errors a minute, want 3 and 1", requests, errors)
	}
	if want := noon.Add(10 * time.Second); !c.Next().Equal(want) {
		t.Errorf("it is told to change at %v, want %v", c.Next(), want)
	}
}

func TestAnAccountsDayIsSummed(t *testing.T) {
	route := func(id int64, ago time.Duration, edit func(*trace.Route)) trace.Route {
		r := trace.Route{
			ID: id, Time: noon.Add(-ago), Done: true, Status: 200, MS: 1000, Cost: "0.50",
			Tokens: trace.Tokens{Input: 100, Output: 10, CacheRead: 90}, Tries: []trace.Try{{ID: "p/a", TTFTMS: id * 100}},
		}
		edit(&r)
		return r
	}
	s := New(trace.View{Routes: []trace.Route{
		route(1, 13*time.Hour, func(*trace.Route) {}), // yesterday
		route(2, 3*time.Hour, func(*trace.Route) {}),
		route(3, 2*time.Hour, func(r *trace.Route) { r.Cost = "" }),
		route(4, time.Hour, func(r *trace.Route) {
			r.Tries = []trace.Try{{ID: "p/a", Fail: trace.Rate, Rest: &trace.Rest{Why: trace.Rate, Since: noon.Add(-time.Hour)}}, {ID: "p/b"}}
		}),
		route(6, 2*time.Minute, func(r *trace.Route) {
			r.Status = 500
			r.Tries = []trace.Try{{ID: "p/b", Fail: trace.Other}, {ID: "p/a", Fail: trace.Other, Row: trace.RowPausedSince}}
		}), // it was not asked
		route(5, time.Minute, func(r *trace.Route) { r.Tries = []trace.Try{{ID: "p/b"}} }),
	}}, noon, false)
	sum := s.Today("p/a", At(noon))
	if sum.Requests != 3 || sum.Failed != 1 || sum.Tokens.Input != 200 || sum.CostUSD != 0.5 || sum.Unpriced != 1 {
		t.Errorf("the day is %+v", sum)
	}
	if len(sum.Rests) != 1 || sum.Rests[0].Kind != trace.Rate {
		t.Errorf("its rests are %+v", sum.Rests)
	}
	if len(sum.Last) != 2 || sum.Last[0].ID != 3 {
		t.Errorf("its last answers are %v", sum.Last)
	}
	if sum.Median != 300*time.Millisecond || sum.Slow != 300*time.Millisecond {
		t.Errorf("first byte: middle %v, slow %v", sum.Median, sum.Slow)
	}
}

func TestNextIsThatOfTheFirstGroupThatHasSomebody(t *testing.T) {
	groups := []trace.Group{{ID: "off", Next: "p/z", Off: true}, {ID: "a"}, {ID: "b", Next: "p/b"}, {ID: "c", Next: "p/c"}}
	if id, _ := New(trace.View{Status: trace.Status{Groups: groups}}, noon, false).Next(); id != "p/b" {
		t.Errorf("the next is %s", id)
	}
	if _, known := New(trace.View{}, noon, false).Next(); known {
		t.Error("without groups somebody is next")
	}
}

func TestConversationsAreWhatTheirRequestsSay(t *testing.T) {
	at := func(id int64, session string, ago time.Duration, who string, done bool) trace.Route {
		return trace.Route{
			ID: id, Session: session, Agent: "claude", Time: noon.Add(-ago), Done: done, MS: 1000,
			Tokens: trace.Tokens{Input: 100, CacheRead: id * 10}, Tries: []trace.Try{{ID: who, Model: "m"}},
		}
	}
	s := New(trace.View{Routes: []trace.Route{
		at(1, "old", time.Hour, "p/a", true),
		at(2, "moved", 4*time.Minute, "p/a", true),
		at(3, "", time.Minute, "p/a", true),
		at(4, "moved", 3*time.Minute, "p/b", true),
		at(5, "live", 10*time.Minute, "p/a", false),
	}}, noon, false)
	talks := s.Talks()
	if len(talks) != 3 || talks[0].Session != "live" || talks[1].Session != "moved" || talks[2].Session != "old" {
		t.Fatalf("the conversations are %+v", talks)
	}
	moved := talks[1]
	if moved.Account != "p/b" || moved.Before != "p/a" || moved.Turns() != 2 || moved.Cached != 40 {
		t.Errorf("the one that moved is %+v", moved)
	}
	c := At(noon)
	if got := s.Warm(c); got != 2 {
		t.Errorf("%d conversations are warm, want the live one and the recent one", got)
	}
	if want := noon.Add(2*time.Minute + time.Second); !c.Next().Equal(want) {
		t.Errorf("the warm one goes cold at %v, want %v", c.Next(), want)
	}
	s.Apply(trace.Batch{Routes: []trace.Route{{ID: 9, Session: "new", Time: noon, Affinity: &trace.Affinity{Turn: 12}}}}, noon)
	if talk, found := s.Talk("new"); !found || talk.Turns() != 12 {
		t.Errorf("a new conversation is %+v", talk)
	}
}
