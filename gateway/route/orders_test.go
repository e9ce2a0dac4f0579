package route_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// turns carries out n plans and writes who went first in each.
func (b *board) turns(c route.Call, n int) string {
	var firsts []string
	for range n {
		p, fx := route.Decide(&b.snap, c)
		for key, r := range fx.Rounds {
			if b.snap.Rounds == nil {
				b.snap.Rounds = map[string]route.Round{}
			}
			b.snap.Rounds[key] = r
		}
		firsts = append(firsts, p.Order[0].Who)
	}
	return strings.Join(firsts, " ")
}

func TestRouting(t *testing.T) {
	for _, tt := range []struct{ name, routing, board, want string }{
		{"smart keeps the order of those that are alike", "smart", "a fine, b fine, c fine", "a a a a"},
		{"in turn", "rotate", "a fine, b fine, c fine", "a b c a"},
		{"in order, however much is used", "order", "a ?=99, b fine, c fine", "a a a a"},
		{"least used, alike in their windows: by the tokens served", "usage", "a tokens=5000, b fine, c tokens=10", "b b b b"},
		{"by weight, evenly spread", "weight", "a weighs-3, b fine", "a a b a a a b a"},
		{"by weight, ties to the first", "weight", "a fine, b fine", "a b a b"},
		{"one that rests has no part in it", "weight", "a weighs-3 rests, b fine, c fine", "b c b c"},
		{"all rest: as listed", "weight", "a rests, b weighs-2 rests", "a a a a"},
		{"one that is paused is not counted in turns", "rotate", "a fine, b paused, c fine", "a c a c"},
		{"one that rests is passed over in its turn", "rotate", "a fine, b rests, c fine", "a c c a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := drawAs(t, `routing = "`+tt.routing+`"`, tt.board)
			before := slices.Clone(b.cat.Provider("own").Accounts)
			if got := b.turns(b.call(), len(strings.Fields(tt.want))); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.board, got, tt.want)
			}
			if !slices.Equal(before, b.cat.Provider("own").Accounts) {
				t.Error("the list given was changed")
			}
		})
	}
}

func TestOrdersOfAllowance(t *testing.T) {
	for _, tt := range []struct{ name, routing, board, want string }{
		{"usage: by the fullest window", "usage", "a 7d=60, b 7d=70 5h=1, c 7d=20 5h=30", "c a b"},
		{"usage: ties by tokens, then as listed", "usage", "a 7d=60 tokens=9, b 7d=60 tokens=3, c 7d=10, d 7d=60 tokens=3", "c b d a"},
		{"usage has no tiers", "usage", "a 7d=99, b 7d=95, c 7d=40", "c b a"},
		{"tokens in full: a b c by 5000, 0 and 10", "usage", "a tokens=5000, b fine, c tokens=10", "b c a"},
		{"pace: the most to spend an hour", "pace", "b 7d=0, a 7d=10@20h, c 7d=99@1h", "a b c"},
		{"pace: spent ones last, low ones before them", "pace", "a 7d=98@1h, b 7d=90@1h, c 7d=95@1h, d 7d=0@7d", "d b c a"},
		{"pace: paces of 10, 9.5 and 9.1 are one band, 8.9 is the next", "pace", "w 7d=11@10h, x 7d=9@10h, y 7d=5@10h, z 7d=0@10h", "x y z w"},
		{"pace: nine tenths of the best is its band still", "pace", "y 7d=10@10h, x 7d=0@10h", "y x"},
		{"pace: bands are drawn among those with room", "pace", "b 7d=40@110h, c 7d=16@140h, l 7d=92@13h", "b c l"},
		{"pace: within a band by tokens", "pace", "x 7d=9@10h tokens=5, y 7d=5@10h tokens=3, z 7d=0@10h tokens=4", "y z x"},
		{"pace: a key without windows has no haste, an account without has a week's", "pace", "k fine, u account, v account 7d=50@7d", "u v k"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := drawAs(t, `routing = "`+tt.routing+`"`, tt.board)
			if got := line(route.Plan(&b.snap, b.call())); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.board, got, tt.want)
			}
		})
	}
}

func TestWhoIsToLearnOfDrawsNoBand(t *testing.T) {
	b := drawAs(t, "preset = \"anthropic\"\nrouting = \"pace\"", "b account 7d=13@168h, c account 7d=8@168h, u account")
	if got := line(route.Plan(&b.snap, b.call())); got != "u b c" {
		t.Error(got)
	}
}

func TestTokensServedCountHalfAfterAnHour(t *testing.T) {
	l := route.Lately{}.Add(1000, now)
	if got := l.Since(now.Add(time.Hour)); got != 500 {
		t.Errorf("after an hour: %v", got)
	}
	l = l.Add(100, now.Add(2*time.Hour))
	if got := l.Since(now.Add(2 * time.Hour)); got != 350 {
		t.Errorf("a quarter and 100 more: %v", got)
	}
	if got := (route.Lately{}).Add(0, now).Since(now); got != 1 {
		t.Errorf("an answer without a count: %v", got)
	}
}

func TestALookTakesNoTurn(t *testing.T) {
	b := drawAs(t, `routing = "rotate"`, "a fine, b fine")
	for range 3 {
		if p := route.Plan(&b.snap, b.call()); p.Order[0].Who != "a" {
			t.Fatal(line(p))
		}
	}
	if p, fx := route.Decide(&b.snap, b.call()); p.Order[0].Who != "a" || fx.Rounds["own"].Turn != 1 {
		t.Errorf("%s, %+v", line(p), fx)
	}
}

func TestTurnsAreCountedByProviderNotByModel(t *testing.T) {
	b := drawAs(t, `routing = "rotate"`, "a fine, b fine, c fine")
	other := b.call()
	other.Target.Model = "n"
	if got := b.turns(b.call(), 1) + " " + b.turns(other, 1) + " " + b.turns(b.call(), 1); got != "a b c" {
		t.Error(got)
	}
}

func TestAFallbacksPoolHasItsProvidersRouting(t *testing.T) {
	b := drawAs(t, `routing = "order"`, "a fine, b fine; x 7d=40@3d, y 7d=40@1d")
	if got := line(route.Plan(&b.snap, b.call())); got != "a b y x" {
		t.Error(got)
	}
}

func TestWhoWasSetFirstAtRunTime(t *testing.T) {
	b := drawAs(t, `routing = "order"`, "a fine, b fine, c fine; x fine, y fine")
	b.snap.Choices.Order = map[string][]provider.AccountID{"own": {"own/c", "own/gone", "own/a"}}
	p := route.Plan(&b.snap, b.call())
	if got := line(p); got != "c a b x y" || p.Order[0].Why.N != 1 {
		t.Errorf("%s, %+v", got, p.Order[0].Why)
	}
	b.snap.Choices.Routing = map[string]string{"own": "rotate"}
	if got := b.turns(b.call(), 3); got != "c a b" {
		t.Errorf("in turn: %s", got)
	}
}

func TestTheOrdersSayWhy(t *testing.T) {
	for _, tt := range []struct {
		routing, board string
		want           map[string]trace.Reason
	}{
		{"rotate", "a fine, b fine, c fine", map[string]trace.Reason{
			"a": {Code: trace.WhyTurn}, "b": {Code: trace.WhyTurn, Count: 1}, "c": {Code: trace.WhyTurn, Count: 2},
		}},
		{"usage", "a 7d=60, b 7d=12", map[string]trace.Reason{
			"a": {Code: trace.WhyMoreUsed, Share: 60}, "b": {Code: trace.WhyLeastUsed, Share: 12},
		}},
		{"usage", "a tokens=60, b tokens=5", map[string]trace.Reason{
			"a": {Code: trace.WhyMoreTokens, Count: 60}, "b": {Code: trace.WhyFewestTokens, Count: 5},
		}},
		{"pace", "a 7d=40@20h, b 7d=40@60h, c 7d=99@1h", map[string]trace.Reason{
			"a": {Code: trace.WhyPace, Share: 3, At: now.Add(20 * time.Hour)},
			"b": {Code: trace.WhyLessPace, Share: 1, At: now.Add(60 * time.Hour)},
			"c": {Code: trace.WhySpent, Share: 99},
		}},
		{"weight", "a weighs-3, b fine", map[string]trace.Reason{
			"a": {Code: trace.WhyWeight, Count: 3, Limit: 4}, "b": {Code: trace.WhyWeighed, Count: 1, Limit: 4},
		}},
		{"order", "a fine, b fine", map[string]trace.Reason{"a": {Code: trace.WhyListed}, "b": {Code: trace.WhyListed}}},
	} {
		t.Run(tt.routing, func(t *testing.T) {
			b := drawAs(t, `routing = "`+tt.routing+`"`, tt.board)
			for who, got := range why(route.Plan(&b.snap, b.call())) {
				if got.N, got.Of = 0, 0; got != tt.want[who] {
					t.Errorf("%s\n got %+v\nwant %+v", who, got, tt.want[who])
				}
			}
		})
	}
}
