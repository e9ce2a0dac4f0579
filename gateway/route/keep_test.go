package route_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// remembered reads "b", "b cold uncached", "a/other:high" (of another model and effort): who answered
// last, a minute ago with 2,500 tokens from the cache unless it says otherwise.
func remembered(t testing.TB, text string) *route.Keep {
	t.Helper()
	if text == "" {
		return nil
	}
	words := strings.Fields(text)
	id, model, other := strings.Cut(words[0], "/")
	effort := ""
	if !other {
		model = "m"
	} else {
		model, effort, _ = strings.Cut(model, ":")
	}
	home := "own/"
	if id == "x" || id == "y" {
		home, model = "spare/", "s"
	}
	k := &route.Keep{Who: route.Who{ID: provider.AccountID(home + id), Model: model, Effort: effort}, Turn: 1, At: now.Unix() - 60, CacheRead: 2500}
	for _, word := range words[1:] {
		switch word {
		case "cold":
			k.At = now.Unix() - 301
		case "just-warm":
			k.At = now.Unix() - 300
		case "uncached":
			k.CacheRead = 1023
		case "just-cached":
			k.CacheRead = 1024
		case "moved":
			k.Moved = true
		default:
			t.Fatalf("no word %q", word)
		}
	}
	return k
}

func TestWhoKeepsAConversation(t *testing.T) {
	for _, tt := range []struct {
		name, board   string
		routing, mode string // "" = order, auto
		last          string // who answered; "" = nobody known
		within        bool
		want          string // the plan
		why           trace.KeepWhy
	}{
		{"off", "a fine, b fine", "", "off", "b", false, "a b", trace.KeepOff},
		{"off within a turn", "a fine, b fine", "", "off", "b", true, "a b", trace.KeepOff},
		{"nobody known", "a fine, b fine", "", "", "", false, "a b", trace.KeepFirst},
		{"nobody known within a turn", "a fine, b fine", "", "session", "", true, "a b", trace.KeepFirst},
		{"whoever answered is not there", "a fine, b fine", "", "", "z", false, "a b", trace.KeepGone},
		{"whoever answered is paused", "a fine, b paused, c fine", "", "session", "b", true, "a c | b:paused", trace.KeepGone},
		{"whoever answered rests", "a fine, b rests, c fine", "", "session", "b", true, "a c b*", trace.KeepResting},
		{"whoever answered rests with this model", "a fine, b rests-model", "", "", "b", false, "a b*", trace.KeepResting},
		{"used up under smart", "a fine, b at-98", "smart", "session", "b", true, "a b", trace.KeepSpent},
		{"low is not used up", "a fine, b at-97", "smart", "", "b", false, "b a", trace.KeepCache},
		{"order uses to the last", "a fine, b at-98", "order", "", "b", false, "b a", trace.KeepCache},
		{"used up under order", "a fine, b spent", "order", "", "b", false, "a b", trace.KeepSpent},
		{"used up, and the others rest", "a rests, b spent", "smart", "", "b", false, "b a*", trace.KeepCache},
		{"session keeps a new turn", "a fine, b fine", "", "session", "b cold uncached", false, "b a", trace.KeepSession},
		{"a turn goes on", "a fine, b fine", "", "", "b cold uncached", true, "b a", trace.KeepTurn},
		{"a turn goes on under turn", "a fine, b fine", "", "turn", "b cold uncached", true, "b a", trace.KeepTurn},
		{"a new turn under turn", "a fine, b fine", "", "turn", "b", false, "a b", trace.KeepNewTurn},
		{"next to nothing from a cache", "a fine, b fine", "", "", "b uncached", false, "a b", trace.KeepNoCache},
		{"no cache goes before cold", "a fine, b fine", "", "", "b cold uncached", false, "a b", trace.KeepNoCache},
		{"cold", "a fine, b fine", "", "", "b cold", false, "a b", trace.KeepCold},
		{"as little and as long ago as still counts", "a fine, b fine", "", "", "b just-warm just-cached", false, "b a", trace.KeepCache},
		{"a warm fallback", "a fine, b fine; x fine", "", "", "x", false, "x a b", trace.KeepCache},
		{"by who alone where the model is another", "a fine, b fine", "", "", "b/other:high", false, "b a", trace.KeepCache},

		{"rotate: a new turn goes to the next", "a fine, b fine, c fine", "rotate", "", "a", false, "b a c", trace.KeepNewTurn},
		{"rotate: and round", "a fine, b fine, c fine", "rotate", "", "c", false, "a b c", trace.KeepNewTurn},
		{"rotate: past who rests", "a fine, b rests, c fine", "rotate", "", "a", false, "c a b*", trace.KeepNewTurn},
		{"rotate: not to a fallback", "a fine, b fine; x fine", "rotate", "", "b", false, "a b x", trace.KeepNewTurn},
		{"rotate: not to a key aside", "a for-chat, b fine, c for-chat", "rotate", "", "c", false, "a c b", trace.KeepNewTurn},
		{"rotate: from a key aside", "a for-chat, b fine, c for-chat", "rotate", "", "b", false, "a c b", trace.KeepNewTurn},
		{"rotate: from a fallback", "a fine, b fine; x fine", "rotate", "", "x", false, "a b x", trace.KeepNewTurn},
		{"rotate: where there is no other", "a rests, b fine", "rotate", "", "b", false, "b a*", trace.KeepNewTurn},
		{"rotate: a turn goes on", "a fine, b fine, c fine", "rotate", "", "c", true, "c a b", trace.KeepTurn},
		{"rotate: a session", "a fine, b fine, c fine", "rotate", "session", "c", false, "c a b", trace.KeepSession},
		{"rotate: off", "a fine, b fine, c fine", "rotate", "off", "c", false, "a b c", trace.KeepOff},

		{"moved by hand", "a fine, b fine", "", "", "b cold uncached moved", false, "b a", trace.KeepMoved},
		{"moved by hand while affinity is off", "a fine, b fine", "", "off", "b moved", false, "b a", trace.KeepMoved},
		{"moved to whoever rests", "a fine, b rests", "", "", "b moved", false, "a b*", trace.KeepResting},
		{"a pin goes before", "a fine, b fine, c pinned", "", "session", "b", false, "c b a", trace.KeepPinned},
		{"a pin on whoever answered", "a fine, b pinned, c fine", "", "session", "b", false, "b a c", trace.KeepSession},
		{"a pin on who rests", "a fine, b fine, c pinned rests", "", "session", "b", false, "b a c*", trace.KeepSession},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := draw(t, tt.board)
			b.snap.Choices = route.Choices{Routing: map[string]string{"own": orElse(tt.routing, "order")}, Affinity: map[string]string{"own": orElse(tt.mode, "auto")}}
			c := b.call()
			c.Scope, c.Keep, c.Turn, c.Within = "own/m", remembered(t, tt.last), 2, tt.within
			p := route.Plan(&b.snap, c)
			if got := line(p); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			want := &trace.Affinity{Mode: orElse(tt.mode, "auto"), Scope: "own/m", Turn: 2, Within: tt.within, Why: tt.why}
			if c.Keep != nil {
				want.Last, want.CacheRead = string(c.Keep.ID), c.Keep.CacheRead
			}
			switch tt.why {
			case trace.KeepSession, trace.KeepTurn, trace.KeepCache, trace.KeepMoved:
				want.Kept = true
			}
			if diff := cmp.Diff(want, p.Affinity); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func TestOneCandidateHasNoAffinityToTell(t *testing.T) {
	b := draw(t, "a fine, b paused")
	c := b.call()
	c.Keep = remembered(t, "a")
	if p := route.Plan(&b.snap, c); p.Affinity != nil || line(p) != "a | b:paused" {
		t.Errorf("%s, %+v", line(p), p.Affinity)
	}
}

func TestOfOneAccountsModelsTheOneThatAnsweredIsKept(t *testing.T) {
	cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
keys = [{ name = "a", value = "sk-a" }, { name = "b", value = "sk-b" }]
[groups.g]
routing = "order"
members = ["p/m", "p/n:low", "p/n:high"]
`)
	s := route.Snapshot{Now: now, Catalog: cat}
	for who, want := range map[route.Who]string{
		{ID: "p/b", Model: "m"}:                 "p/b m ",
		{ID: "p/b", Model: "n", Effort: "high"}: "p/b n high",
		{ID: "p/b", Model: "n", Effort: "max"}:  "p/b n low",
		{ID: "p/b", Model: "another"}:           "p/b m ",
	} {
		c := route.Call{Target: provider.Target{Asked: "g", Group: cat.Group("g")}, Keep: &route.Keep{Who: who, At: now.Unix(), CacheRead: 5000}}
		p := route.Plan(&s, c)
		top := p.Order[0]
		if got := fmt.Sprintln(top.ID, top.Model, top.Effort); strings.TrimRight(got, "\n") != want || top.Why.Code != trace.WhyWarm {
			t.Errorf("%+v: first is %s, because %s; want %s", who, got, top.Why.Code, want)
		}
	}
}

func TestANewConversationUnderRotateGoesWhereTheFewestAre(t *testing.T) {
	for _, tt := range []struct{ name, board, held, want string }{
		{"to who has none", "a fine, b fine, c fine", "a 1, b 1", "c a b"},
		{"to who has the fewest", "a fine, b fine, c fine", "a 3, b 1, c 2", "b a c"},
		{"ties keep the routing's order", "a fine, b fine, c fine", "a 2, b 2, c 2", "a b c"},
		{"of the fewest the first", "a fine, b fine, c fine", "a 2, b 1, c 1", "b a c"},
		{"whoever rests takes none", "a fine, b rests, c fine", "a 1, c 1", "a c b*"},
		{"nor does a key aside", "a for-chat, b fine, c for-chat", "a 1, c 1", "a c b"},
		{"nor does a fallback", "a fine, b fine; x fine", "a 1, b 1", "a b x"},
		{"those with another model do not count", "a fine, b fine", "a/n 5, b 1", "a b"},
		{"nobody has any", "a fine, b fine", "", "a b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := draw(t, tt.board)
			b.snap.Choices.Routing = map[string]string{"own": "rotate"}
			c := b.call()
			c.Held = held(t, tt.held)
			p := route.Plan(&b.snap, c)
			if got := line(p); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if p.Affinity.Why != trace.KeepFirst || p.Affinity.Kept {
				t.Errorf("%+v", p.Affinity)
			}
		})
	}
}

func held(t testing.TB, text string) map[route.Who]int {
	t.Helper()
	if text == "" {
		return nil
	}
	all := map[route.Who]int{}
	for each := range strings.SplitSeq(text, ",") {
		var name string
		var n int
		if _, err := fmt.Sscan(each, &name, &n); err != nil {
			t.Fatal(err)
		}
		name, model, other := strings.Cut(name, "/")
		if !other {
			model = "m"
		}
		all[route.Who{ID: provider.AccountID("own/" + name), Model: model}] = n
	}
	return all
}

func TestAGroupWithGroupsInItKeepsItsTurns(t *testing.T) {
	cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
keys = [{ name = "a", value = "sk-a" }, { name = "b", value = "sk-b" }]
[groups.inner]
members = ["p/n"]
[groups.g]
routing = "rotate"
members = ["p/m", "group/inner"]
`)
	s := route.Snapshot{Now: now, Catalog: cat}
	c := route.Call{Target: provider.Target{Asked: "g", Group: cat.Group("g")}, Held: map[route.Who]int{{ID: "p/a", Model: "m"}: 7}}
	if got := line(route.Plan(&s, c)); got != "a b a b" {
		t.Errorf("got %s", got)
	}
}

func TestConversationsAtAnotherEffortAreAnothers(t *testing.T) {
	cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
keys = [{ name = "a", value = "sk-a" }]
[groups.g]
routing = "rotate"
members = ["p/m:low", "p/m:high"]
`)
	s := route.Snapshot{Now: now, Catalog: cat}
	for held, want := range map[string]string{"low": "high", "high": "low", "": "low", "max": "low"} {
		c := route.Call{Target: provider.Target{Asked: "g", Group: cat.Group("g")}, Held: map[route.Who]int{{ID: "p/a", Model: "m", Effort: held}: 3}}
		if top := route.Plan(&s, c).Order[0]; top.Effort != want {
			t.Errorf("conversations held at %q: first is %s", held, top.Effort)
		}
	}
}

func TestAGroupOfBestUsesWhoAnsweredToTheLast(t *testing.T) {
	cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
accounts = [{ name = "a" }, { name = "b" }]
[groups.g]
routing = "best"
members = ["p/m"]
`)
	signIn(cat)
	for used, why := range map[float64]trace.KeepWhy{98: trace.KeepCache, 99.5: trace.KeepCache, 100: trace.KeepSpent} {
		s := route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{
			"p/b": {Read: now, Windows: []provider.Window{{Name: "7 days", Used: used, Span: 7 * day, Resets: now.Add(day)}}},
			"p/a": {Read: now, Windows: []provider.Window{{Name: "7 days", Used: 10, Span: 7 * day, Resets: now.Add(day)}}},
		}}
		k := &route.Keep{Who: route.Who{ID: "p/b", Model: "m"}, At: now.Unix(), CacheRead: 5000}
		p := route.Plan(&s, route.Call{Target: provider.Target{Asked: "g", Group: cat.Group("g")}, Keep: k})
		if p.Affinity.Why != why || p.Affinity.Kept != (p.Order[0].Who == "b") {
			t.Errorf("%v used: %s, first is %s", used, p.Affinity.Why, p.Order[0].Who)
		}
	}
}

// The provider says how far its accounts are used, whatever the group's order.
func TestAnAccountOfAProviderOnBestIsUsedToTheLastInAnyGroup(t *testing.T) {
	for routing, why := range map[string]trace.KeepWhy{"best": trace.KeepCache, "order": trace.KeepCache, "smart": trace.KeepSpent, "pace": trace.KeepSpent} {
		cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
routing = "`+routing+`"
accounts = [{ name = "a" }, { name = "b" }]
[groups.g]
routing = "smart"
members = ["p/m"]
`)
		signIn(cat)
		s := route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{
			"p/b": {Read: now, Windows: []provider.Window{{Name: "7 days", Used: 99, Span: 7 * day, Resets: now.Add(day)}}},
			"p/a": {Read: now, Windows: []provider.Window{{Name: "7 days", Used: 10, Span: 7 * day, Resets: now.Add(day)}}},
		}}
		k := &route.Keep{Who: route.Who{ID: "p/b", Model: "m"}, At: now.Unix(), CacheRead: 5000}
		p := route.Plan(&s, route.Call{Target: provider.Target{Asked: "g", Group: cat.Group("g")}, Keep: k})
		if p.Affinity.Why != why || p.Affinity.Kept != (p.Order[0].Who == "b") {
			t.Errorf("provider on %s: %s, first is %s", routing, p.Affinity.Why, p.Order[0].Who)
		}
	}
}

func TestScopesOfConversations(t *testing.T) {
	cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
keys = [{ name = "a", value = "sk-a" }]
[groups.ruled]
members = ["p/m", "p/n"]
rules = [{ use = "p/n", tokens = 1000 }]
[groups.outer]
members = ["p/m", "group/middle"]
[groups.middle]
members = ["group/ruled"]
[groups.plain]
members = ["p/m"]
`)
	for want, target := range map[string]provider.Target{
		"p/m":         {Provider: cat.Provider("p"), Model: "m[1m]"},
		"group/plain": {Group: cat.Group("plain")},
	} {
		if got := route.ScopeOf(&target); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for id, want := range map[string]bool{"ruled": true, "middle": true, "outer": true, "plain": false} {
		if got := route.Ruled(cat, cat.Group(id)); got != want {
			t.Errorf("%s has rules: %v", id, got)
		}
	}
}

func TestTheChargeOfWeightsMovesToWhoKeepsTheConversation(t *testing.T) {
	b := draw(t, "a fine, b fine")
	b.snap.Choices.Routing = map[string]string{"own": "weight"}
	c := b.call()
	_, fx := route.Decide(&b.snap, c)
	if got := current(fx.Rounds["own"]); got["own/a"] != -1 || got["own/b"] != 1 {
		t.Fatalf("a new conversation: %v", got)
	}
	c.Keep = remembered(t, "b")
	p, fx := route.Decide(&b.snap, c)
	if got := current(fx.Rounds["own"]); line(p) != "b a" || got["own/a"] != 1 || got["own/b"] != -1 {
		t.Errorf("kept on b: %s, %v", line(p), got)
	}
}

// Pins go before the conversation, the conversation before the routing; none of them wakes anybody, nor
// adds or takes away a candidate.
func TestLawPinsThenTheConversationThenTheRouting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		routing := rapid.SampledFrom([]string{"smart", "order", "rotate", "usage", "pace", "weight"}).Draw(t, "routing")
		mode := rapid.SampledFrom([]string{"auto", "session", "turn", "off"}).Draw(t, "mode")
		w.snap.Choices = route.Choices{Routing: map[string]string{}, Affinity: map[string]string{}}
		for _, p := range w.snap.Catalog.Providers {
			w.snap.Choices.Routing[p.ID], w.snap.Choices.Affinity[p.ID] = routing, mode
		}
		for _, g := range w.snap.Catalog.Groups {
			w.snap.Choices.Routing["group/"+g.ID], w.snap.Choices.Affinity["group/"+g.ID] = routing, mode
		}
		plain := route.Plan(&w.snap, w.call)
		someone := rapid.SampledFrom(w.snap.Catalog.AllAccounts())
		if chance(t, 4) {
			w.call.Held = map[route.Who]int{{ID: someone.Draw(t, "holder").ID, Model: "m1"}: 3}
		} else {
			w.call.Keep = &route.Keep{
				Who:       route.Who{ID: someone.Draw(t, "last").ID, Model: rapid.SampledFrom([]string{"m1", "m2", "m9"}).Draw(t, "model")},
				At:        now.Unix() - int64(rapid.IntRange(0, 600).Draw(t, "ago")),
				CacheRead: int64(rapid.IntRange(0, 3000).Draw(t, "cached")), Moved: chance(t, 8),
			}
		}
		p := route.Plan(&w.snap, w.call)
		if len(p.Order) < 2 {
			if p.Affinity != nil {
				t.Fatalf("of one candidate it is told %+v", p.Affinity)
			}
			return
		}
		set := func(cs []trace.Candidate) map[string]bool {
			all := map[string]bool{}
			for i := range cs {
				all[key(cs[i])] = true
			}
			return all
		}
		if diff := cmp.Diff(set(plain.Order), set(p.Order)) + cmp.Diff(set(plain.Left), set(p.Left)); diff != "" {
			t.Fatalf("the conversation changes who may be asked\n%s", diff)
		}
		top, pinned := p.Order[0], p.Order[0].Why.Code == trace.WhyPinned
		switch a := p.Affinity; {
		case a == nil || a.Why == "":
			t.Fatal("no word about the conversation")
		case a.Kept && (top.ID != a.Last || top.Rest != nil):
			t.Fatalf("kept on %s, but %s is first (rest %v)", a.Last, top.ID, top.Rest)
		case a.Why == trace.KeepPinned && !pinned && top.Why.Code != trace.WhyMade: // which is told before a pin
			t.Fatalf("a pin is told of, and %s is first as %s", top.ID, top.Why.Code)
		case !a.Kept && a.Why != trace.KeepPinned && a.Why != trace.KeepRule && a.Why != trace.KeepNewTurn && a.Why != trace.KeepFirst:
			if diff := cmp.Diff(plain.Order, p.Order); diff != "" {
				t.Fatalf("%s, and the order is another\n%s", a.Why, diff)
			}
		}
		for i := 1; i < len(p.Order); i++ {
			x, y := p.Order[i-1], p.Order[i]
			if x.Rest != nil && y.Rest == nil || x.Rest == nil && y.Rest == nil && y.Why.Code == trace.WhyPinned && x.Why.Code != trace.WhyPinned {
				t.Fatalf("%s before %s: %s", x.ID, y.ID, line(p))
			}
		}
	})
}
