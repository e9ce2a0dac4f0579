package route_test

import (
	"maps"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// current is how the weights of a round stand, by account.
func current(r route.Round) map[provider.AccountID]int {
	by := map[provider.AccountID]int{}
	for _, w := range r.Current {
		by[w.ID] = w.Has
	}
	return by
}

func TestTheSmoothWeightsOfEachRound(t *testing.T) {
	b := drawAs(t, `routing = "weight"`, "a weighs-3, b fine")
	for i, want := range []map[provider.AccountID]int{
		{"own/a": -1, "own/b": 1}, {"own/a": -2, "own/b": 2}, {"own/a": 1, "own/b": -1}, {"own/a": 0, "own/b": 0},
	} {
		b.turns(b.call(), 1)
		if got := current(b.snap.Rounds["own"]); !maps.Equal(got, want) {
			t.Errorf("after plan %d: %v, want %v", i+1, got, want)
		}
	}
}

func TestAKeyThatIsGoneIsDroppedFromTheRound(t *testing.T) {
	b := drawAs(t, `routing = "weight"`, "a fine, b paused, c rests")
	b.snap.Rounds = map[string]route.Round{"own": {Current: route.Weights{{ID: "own/gone", Has: 9}, {ID: "own/c", Has: -3}, {ID: "own/b", Has: 2}, {ID: "own/a", Has: 1}}}}
	b.turns(b.call(), 1)
	if got, want := current(b.snap.Rounds["own"]), (map[provider.AccountID]int{"own/a": 1, "own/c": -3}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v: who rests keeps its place", got, want)
	}
}

// Where a conversation stays with another key of the provider, that one pays for the round.
func TestTheChargeMovesToWhoeverKeepsTheConversation(t *testing.T) {
	b := drawAs(t, `routing = "weight"`, "a weighs-3, b fine; x fine")
	_, fx := route.DecideKeeping(&b.snap, b.call(), "own/b")
	if got, want := current(fx.Rounds["own"]), (map[provider.AccountID]int{"own/a": 3, "own/b": -3}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	_, fx = route.DecideKeeping(&b.snap, b.call(), "spare/x")
	if got, want := current(fx.Rounds["own"]), (map[provider.AccountID]int{"own/a": -1, "own/b": 1}); !maps.Equal(got, want) {
		t.Errorf("another provider's key pays nothing: %v, want %v", got, want)
	}
}

func TestAGroupsChargeStaysWithThePickedProvider(t *testing.T) {
	b, c := group(t, "[groups.g]\nrouting = \"weight\"\nmembers = [\"a/x\", \"c/y\"]")
	for kept, want := range map[provider.AccountID]map[provider.AccountID]int{
		"a/k2": {"a/k1": 1, "a/k2": -2, "c/k1": 1},
		"c/k1": {"a/k1": -2, "a/k2": 1, "c/k1": 1},
	} {
		_, fx := route.DecideKeeping(&b.snap, c, kept)
		if got := current(fx.Rounds["group/g"]); !maps.Equal(got, want) {
			t.Errorf("kept on %s: %v, want %v", kept, got, want)
		}
	}
}

// Whoever is picked for a round goes first in each pool that takes part in it, though another
// could be picked in one of them.
func TestARoundsPickHoldsInAllOfThePlan(t *testing.T) {
	b, c := group(t, "[groups.g]\nrouting = \"order\"\nmembers = [\"a/x\", \"a/z\"]")
	b.cat.Provider("a").Routing = "weight"
	key := route.ModelRestID(b.cat.Account("a/k1"), "x")
	b.snap.Rests = map[string]trace.Rest{key: {Key: key, Why: trace.Rate, Since: now, Until: now.Add(time.Minute)}}
	p, fx := route.Decide(&b.snap, c)
	if got := full(p); got != "a/k2/x a/k2/z a/k1/z a/k1/x" {
		t.Error(got)
	}
	if got, want := current(fx.Rounds["a"]), (map[provider.AccountID]int{"a/k1": 0, "a/k2": 0}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// One provider in two members of an ordered group has one round for both.
func TestARoundIsPlayedOnceInAPlan(t *testing.T) {
	b, c := group(t, "[groups.g]\nrouting = \"order\"\nmembers = [\"a/x\", \"a/z\"]")
	for routing, want := range map[string]string{"weight": "a/k1/x a/k2/x a/k1/z a/k2/z", "rotate": "a/k1/x a/k2/x a/k1/z a/k2/z"} {
		b.cat.Provider("a").Routing = routing
		b.snap.Rounds = nil
		p, fx := route.Decide(&b.snap, c)
		if got := full(p); got != want {
			t.Errorf("%s: %s", routing, got)
		}
		if r := fx.Rounds["a"]; routing == "rotate" && r.Turn != 1 || routing == "weight" && current(r)["a/k1"] != -1 {
			t.Errorf("%s: %+v", routing, r)
		}
	}
}
