package route_test

import (
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
)

func TestBest(t *testing.T) {
	for _, tt := range []struct{ name, board, want string }{
		{"what would end unused goes first, the most pressed before", "a account 7d=10@6d, b account 7d=70@20h, c account 7d=20@2d", "c b a"},
		{"also its last tenth", "a account 7d=10@6d, b account 7d=95@2h", "b a"},
		{"a whole week has time", "a account 7d=60@5d, b account 7d=0@7d", "a b"},
		{"of those with time whose short window is used least", "a account 7d=20@6d 5h=60, b account 7d=30@6d 5h=10, c account 7d=20@6d 5h=30", "b c a"},
		{"alike, whoever renews sooner", "a account 7d=30@6d 5h=10, b account 7d=30@5d 5h=10", "b a"},
		{"a short window that is nearly used up goes behind, however pressed", "a account 7d=20@1d 5h=92, b account 7d=20@6d 5h=60", "b a"},
		{"but before what costs money", "k fine, a account 7d=20@1d 5h=97", "a k"},
		{"what is used up goes behind that", "a account 7d=100@1d, k fine", "k a"},
		{"of nothing is known: behind those of whom it is", "u account, a account 7d=20@6d 5h=60, k fine", "a u k"},
		{"keys without windows as listed", "k fine, j fine tokens=9, a account 7d=97@9d", "a k j"},
		{"just as much as would end unused is enough", "a account 7d=10@6d 5h=10, b account 7d=1@110h 5h=20", "b a"},
		{"and a little less is not", "a account 7d=10@6d 5h=10, b account 7d=1@112h 5h=20", "a b"},
		{"90 % of a short window is nearly all of it, and 89 is not", "a account 7d=20@1d 5h=90, b account 7d=20@6d 5h=89", "b a"},
		{"a day is no short window", "a account 24h=95@2h, b account 7d=20@6d 5h=10", "a b"},
		{"one that rests goes last", "a account 7d=20@1d rests, b account 7d=20@6d", "b a*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := drawAs(t, `routing = "best"`, tt.board)
			if got := line(route.Plan(&b.snap, b.call())); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.board, got, tt.want)
			}
		})
	}
}

func TestBestLearnsFirst(t *testing.T) {
	b := drawAs(t, "preset = \"anthropic\"\nrouting = \"best\"", "h account 7d=20@1d, u account, k fine, r account rests")
	p := route.Plan(&b.snap, b.call())
	if first := p.Order[0]; line(p) != "u h k r*" || !first.Learns || first.Why.Code != trace.WhyLearns {
		t.Errorf("%s: %+v", line(p), first.Why)
	}
}

func TestBestMovesNoConversationForATrifle(t *testing.T) {
	for _, tt := range []struct{ name, board, want string }{
		{"a little more used", "a account 7d=20@6d 5h=20, b account 7d=20@6d 5h=24", "b a"},
		{"much more used", "a account 7d=20@6d 5h=20, b account 7d=20@6d 5h=26", "a b"},
		{"a little less pressed", "a account 7d=20@2d, b account 7d=30@2d", "b a"},
		{"much less pressed", "a account 7d=20@2d, b account 7d=50@2d", "a b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := drawAs(t, `routing = "best"`, tt.board)
			c := b.call()
			c.Turn = 2
			c.Keep = &route.Keep{Who: route.Who{ID: "own/b", Model: "m"}, Turn: 1, At: now.Add(-time.Hour).Unix()} // its cache is cold
			if got := line(route.Plan(&b.snap, c)); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.board, got, tt.want)
			}
		})
	}
}

func TestBestKeepsAConversationUntilNothingIsLeft(t *testing.T) {
	for _, tt := range []struct{ routing, board, want string }{
		{"smart", "a account 7d=20@6d, b account 7d=99@1d", "a b"},
		{"best", "a account 7d=20@6d, b account 7d=99@1d", "b a"},
		{"best", "a account 7d=20@6d, b account 7d=100@1d", "a b"},
	} {
		b := drawAs(t, `routing = "`+tt.routing+`"`, tt.board)
		c := b.call()
		c.Keep = &route.Keep{Who: route.Who{ID: "own/b", Model: "m"}, Turn: 1, At: now.Unix(), CacheRead: 5000}
		if got := line(route.Plan(&b.snap, c)); got != tt.want {
			t.Errorf("%s, %s\n got %s\nwant %s", tt.routing, tt.board, got, tt.want)
		}
	}
}

func TestBestSaysWhy(t *testing.T) {
	b := drawAs(t, `routing = "best"`, "k fine, u account, l account 7d=95@1d 5h=92, r account 7d=20@6d 5h=30, h account 7d=20@2d, f account 7d=100@1d")
	want := map[string]trace.ReasonCode{
		"h": trace.WhyHaste, "r": trace.WhyLevel, "u": trace.WhyUnknown, "l": trace.WhyLow, "k": trace.WhyByUse, "f": trace.WhySpent,
	}
	p := route.Plan(&b.snap, b.call())
	if got := line(p); got != "h r u l k f" {
		t.Error(got)
	}
	for _, c := range p.Order {
		if c.Why.Code != want[c.Who] {
			t.Errorf("%s: %+v", c.Who, c.Why)
		}
	}
	if low := p.Order[3].Why.Share; low != 92 {
		t.Errorf("it is low by its short window: %v", low)
	}
	if h, r := p.Order[0].Why, p.Order[1].Why; h.Share < 1.6 || h.Share > 1.7 || !h.At.Equal(now.Add(48*time.Hour)) || r.Share != 30 {
		t.Errorf("%+v, %+v", h, r)
	}
}
