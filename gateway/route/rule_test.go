package route_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// ruled is a group of four members with the rules that are given, and a group around it.
func ruled(t *testing.T, rules string) (*provider.Catalog, func(set func(*route.Snapshot, *route.Call)) (trace.Plan, route.Effects)) {
	t.Helper()
	toml := ""
	for _, p := range []string{"a", "b", "c", "d"} {
		toml += "[providers." + p + "]\nchat = \"http://" + p + ".example/v1\"\nkeys = [{ name = \"k\", value = \"sk-" + p + "\" }]\n" +
			"models = [{ id = \"m\", context = " + map[string]string{"a": "100000", "b": "200000", "c": "400000", "d": "100000"}[p] + ` }, "only-` + p + `"]` + "\n"
	}
	toml += "[groups.g]\nrouting = \"order\"\naffinity = \"auto\"\nmembers = [\"a/m\", \"b/m\", \"c/m\", \"d/m\"]\n" + rules
	cat := catalog(t, toml)
	return cat, func(set func(*route.Snapshot, *route.Call)) (trace.Plan, route.Effects) {
		s := &route.Snapshot{Now: now, Catalog: cat, Rests: map[string]trace.Rest{}, Standing: map[provider.AccountID]route.Standing{}}
		c := route.Call{Target: provider.Target{Asked: "g", Group: cat.Group("g")}, Agent: "claude", Protocol: "chat", Turn: 3}
		if set != nil {
			set(s, &c)
		}
		return route.Decide(s, c)
	}
}

func firsts(p trace.Plan) string {
	all := make([]string, len(p.Order))
	for i := range p.Order {
		all[i] = p.Order[i].Provider
	}
	return strings.Join(all, " ")
}

func rests(s *route.Snapshot, who string) {
	s.Rests[who] = trace.Rest{Key: who, Why: trace.Rate, Since: now, Until: now.Add(time.Hour)}
}

func TestTheFirstRuleThatHoldsSendsTheTurn(t *testing.T) {
	rules := `rules = [
  { use = "b/m", tokens = 50000 },
  { use = "c/m", images = true },
  { use = "d/m", effort = "high" },
  { use = "c/m", effort = "on", agents = ["codex"] },
  { use = "b/m", agents = ["opencode", "Crush"] },
  { use = "d/m", compact = true },
]`
	_, plan := ruled(t, rules)
	for _, c := range []struct {
		name string
		set  func(*route.Snapshot, *route.Call)
		n    int
		want string
	}{
		{"none holds", func(*route.Snapshot, *route.Call) {}, 0, "a b c d"},
		{"so many tokens", func(_ *route.Snapshot, c *route.Call) { c.Tokens = 50000 }, 1, "b a c d"},
		{"so many as the vendor counted of the last request", func(_ *route.Snapshot, c *route.Call) { c.Tokens, c.Counted = 10, 60000 }, 1, "b a c d"},
		{"too few", func(_ *route.Snapshot, c *route.Call) { c.Tokens = 49999 }, 0, "a b c d"},
		{"an image", func(_ *route.Snapshot, c *route.Call) { c.Images = true }, 2, "c a b d"},
		{"as much effort", func(_ *route.Snapshot, c *route.Call) { c.Effort = "high" }, 3, "d a b c"},
		{"more effort", func(_ *route.Snapshot, c *route.Call) { c.Effort = "max" }, 3, "d a b c"},
		{"less effort", func(_ *route.Snapshot, c *route.Call) { c.Effort = "medium" }, 0, "a b c d"},
		{"any effort, of one agent", func(_ *route.Snapshot, c *route.Call) { c.Effort, c.Agent = "on", "codex" }, 4, "c a b d"},
		{"no effort", func(_ *route.Snapshot, c *route.Call) { c.Effort, c.Agent = "none", "codex" }, 0, "a b c d"},
		{"an agent, whatever its case", func(_ *route.Snapshot, c *route.Call) { c.Agent = "crush" }, 5, "b a c d"},
		{"a compaction", func(_ *route.Snapshot, c *route.Call) { c.Compact = true }, 6, "d a b c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, e := plan(c.set)
			n := 0
			if p.Rule != nil {
				n = p.Rule.N
			}
			if n != c.n || firsts(p) != c.want {
				t.Errorf("rule %d, order %s; want %d, %s", n, firsts(p), c.n, c.want)
			}
			if got := e.Decided["g"]; got.N != c.n || got.Turn != 3 {
				t.Errorf("decided %+v", got)
			}
			if c.n > 0 && (p.Order[0].Why.Code != trace.WhyRule || p.Order[0].Why.Count != int64(c.n) || p.Order[0].Why.By != "g") {
				t.Errorf("why %+v", p.Order[0].Why)
			}
		})
	}
}

func TestLaterRulesThatHoldGiveTheOrderOfFailover(t *testing.T) {
	_, plan := ruled(t, `rules = [{ use = "c/m", tokens = 10 }, { use = "b/m", tokens = 99 }, { use = "d/m", tokens = 20 }, { use = "c/m", tokens = 5 }]`)
	p, _ := plan(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 30 })
	if firsts(p) != "c d a b" || p.Rule.N != 1 || strings.Join(p.Rule.Then, " ") != "d/m" || p.Order[1].Why.Code != trace.WhyRuleNext {
		t.Errorf("%s %+v", firsts(p), p.Rule)
	}
	t.Run("the named one rests", func(t *testing.T) {
		p, _ := plan(func(s *route.Snapshot, c *route.Call) { c.Tokens = 30; rests(s, "c/k") })
		if firsts(p) != "d a b c" || !p.Rule.Unready || p.Rule.Instead != "d/m" || p.Rule.Use != "c/m" || p.Order[0].Why.Text != "c/m" {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	t.Run("all that rules name rest", func(t *testing.T) {
		p, _ := plan(func(s *route.Snapshot, c *route.Call) { c.Tokens = 30; rests(s, "c/k"); rests(s, "d/k") })
		if firsts(p) != "a b c d" || !p.Rule.Unready || p.Rule.Instead != "" {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	t.Run("the named one is paused", func(t *testing.T) {
		p, _ := plan(func(s *route.Snapshot, c *route.Call) {
			c.Tokens = 30
			s.Standing["c/k"] = route.Standing{Paused: &trace.Paused{Since: now}}
		})
		if firsts(p) != "d a b" || !p.Rule.Unready || p.Rule.Instead != "d/m" {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
}

func TestRulesAreLookedAtOnlyAsATurnBegins(t *testing.T) {
	const rules = `rules = [{ use = "b/m", tokens = 1000 }]`
	_, plan := ruled(t, rules)
	_, begun := plan(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 2000 })
	_, bare := plan(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 10 })
	within := func(d map[string]route.Decided, tokens, turn int) func(*route.Snapshot, *route.Call) {
		return func(_ *route.Snapshot, c *route.Call) {
			c.Within, c.Decided, c.Tokens, c.Turn = true, d, tokens, turn
		}
	}
	t.Run("a tool's result keeps to it", func(t *testing.T) {
		p, e := plan(within(begun.Decided, 10, 3))
		if firsts(p) != "b a c d" || !p.Rule.Held || p.Rule.N != 1 || e.Decided != nil {
			t.Errorf("%s %+v %+v", firsts(p), p.Rule, e)
		}
	})
	t.Run("also to no rule at all", func(t *testing.T) {
		if p, _ := plan(within(bare.Decided, 5000, 3)); firsts(p) != "a b c d" || p.Rule != nil {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	t.Run("a turn that is met in its middle waits", func(t *testing.T) {
		for _, d := range []map[string]route.Decided{nil, {"g": {Turn: 2, N: 1}}} {
			if p, _ := plan(within(d, 5000, 3)); firsts(p) != "a b c d" || !p.Rule.Waits || p.Rule.N != 0 || !p.Rule.Bare {
				t.Errorf("%s %+v", firsts(p), p.Rule)
			}
		}
	})
	t.Run("so does one of which only the turn before was decided", func(t *testing.T) {
		if p, _ := plan(within(begun.Decided, 5000, 4)); firsts(p) != "a b c d" || !p.Rule.Waits || p.Rule.Held {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	t.Run("so does one whose rule is another by now", func(t *testing.T) {
		_, other := ruled(t, `rules = [{ use = "c/m", tokens = 1000 }]`)
		if p, _ := other(within(begun.Decided, 5000, 3)); firsts(p) != "a b c d" || !p.Rule.Waits {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
		_, gone := ruled(t, `effort = "high"`)
		if p, _ := gone(within(begun.Decided, 5000, 3)); !p.Rule.Waits {
			t.Errorf("%+v", p.Rule)
		}
	})
	t.Run("the next turn is looked at anew", func(t *testing.T) {
		if p, _ := plan(func(_ *route.Snapshot, c *route.Call) { c.Decided, c.Turn = begun.Decided, 4 }); firsts(p) != "a b c d" {
			t.Error(firsts(p))
		}
	})
}

func TestATurnThatStaysWithWhoAnsweredIsToldToGoToNobodyElse(t *testing.T) {
	_, plan := ruled(t, `rules = [{ use = "b/m", tokens = 1000 }, { use = "d/m", tokens = 10 }]`)
	_, begun := plan(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 2000 })
	for by, instead := range map[provider.AccountID]string{"c/k": "", "gone/k": "d/m"} {
		p, _ := plan(func(s *route.Snapshot, c *route.Call) {
			c.Tokens, c.Within, c.Decided = 2000, true, begun.Decided
			c.Keep = &route.Keep{Who: route.Who{ID: by, Model: "m"}, Turn: 3, At: now.Unix() - 10, CacheRead: 5000}
			rests(s, "b/k")
		})
		if p.Rule.Instead != instead || !p.Rule.Unready || !p.Rule.Held || p.Affinity.Kept != (instead == "") {
			t.Errorf("answered by %s: %s first, %+v", by, p.Order[0].ID, p.Rule)
		}
	}
}

func TestARuleAndWhoAnsweredTheConversation(t *testing.T) {
	_, plan := ruled(t, `rules = [{ use = "b/m", tokens = 1000 }]`)
	keep := &route.Keep{Who: route.Who{ID: "c/k", Model: "m"}, Turn: 2, At: now.Unix() - 10, CacheRead: 5000}
	_, begun := plan(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 2000 })
	t.Run("a rule goes before it as a turn begins", func(t *testing.T) {
		p, _ := plan(func(_ *route.Snapshot, c *route.Call) { c.Tokens, c.Keep = 2000, keep })
		if firsts(p) != "b c a d" || p.Affinity.Kept || p.Affinity.Why != trace.KeepRule {
			t.Errorf("%s %+v", firsts(p), p.Affinity)
		}
	})
	t.Run("within the turn it stays with whoever answered", func(t *testing.T) {
		p, _ := plan(func(_ *route.Snapshot, c *route.Call) {
			c.Tokens, c.Keep, c.Within, c.Decided = 2000, keep, true, begun.Decided
		})
		if firsts(p) != "c a b d" || !p.Affinity.Kept || !p.Rule.Held {
			t.Errorf("%s %+v %+v", firsts(p), p.Affinity, p.Rule)
		}
	})
	t.Run("where nobody is kept the rule holds", func(t *testing.T) {
		p, _ := plan(func(s *route.Snapshot, c *route.Call) {
			c.Tokens, c.Keep, c.Within, c.Decided = 2000, keep, true, begun.Decided
			rests(s, "c/k")
		})
		if firsts(p) != "b a d c" {
			t.Error(firsts(p))
		}
	})
	t.Run("a rule that names who answered keeps it there", func(t *testing.T) {
		p, _ := plan(func(_ *route.Snapshot, c *route.Call) {
			c.Tokens, c.Keep = 2000, &route.Keep{Who: route.Who{ID: "b/k", Model: "m"}, At: now.Unix() - 10, CacheRead: 5000}
		})
		if firsts(p) != "b a c d" || !p.Affinity.Kept {
			t.Errorf("%s %+v", firsts(p), p.Affinity)
		}
	})
	t.Run("a pin goes before both", func(t *testing.T) {
		p, _ := plan(func(s *route.Snapshot, c *route.Call) {
			c.Tokens, c.Keep = 2000, keep
			s.Standing["d/k"] = route.Standing{Pinned: &trace.Pinned{Since: now.Add(-time.Hour)}}
		})
		if firsts(p) != "d b c a" {
			t.Error(firsts(p))
		}
	})
}

func TestATurnThatOutgrowsItsModelIsMovedOnce(t *testing.T) {
	_, plan := ruled(t, `rules = [{ use = "b/m", tokens = 1000, agents = ["claude"] }, { use = "c/m", tokens = 90000 }]`)
	_, big := ruled(t, `rules = [{ use = "c/m", tokens = 90000 }, { use = "b/m", tokens = 1000 }]`)
	_, begun := big(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 2000 })
	if begun.Decided["g"].N != 2 {
		t.Fatalf("%+v", begun.Decided)
	}
	keep := &route.Keep{Who: route.Who{ID: "b/k", Model: "m"}, At: now.Unix() - 10, CacheRead: 5000}
	within := func(d map[string]route.Decided, tokens int) func(*route.Snapshot, *route.Call) {
		return func(_ *route.Snapshot, c *route.Call) {
			c.Within, c.Decided, c.Tokens, c.Keep = true, d, tokens, keep
		}
	}
	t.Run("not before 95 percent of its window", func(t *testing.T) {
		if p, _ := big(within(begun.Decided, 189_999)); firsts(p) != "b a c d" || p.Rule.Grown {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	p, grown := big(within(begun.Decided, 190_000))
	if firsts(p) != "c b a d" || !p.Rule.Grown || p.Rule.Held || p.Affinity.Kept || !grown.Decided["g"].Grown || grown.Decided["g"].N != 1 {
		t.Errorf("%s %+v %+v", firsts(p), p.Rule, grown.Decided)
	}
	t.Run("once", func(t *testing.T) {
		keep.ID = "c/k"
		if p, e := big(within(grown.Decided, 399_000)); firsts(p) != "c a b d" || p.Rule.Grown || !p.Rule.Held || e.Decided != nil {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
		keep.ID = "b/k"
	})
	t.Run("also where a rule sends to one that takes still more", func(t *testing.T) {
		was := begun.Decided["g"]
		was.Grown = true
		if p, e := big(within(map[string]route.Decided{"g": was}, 190_000)); firsts(p) != "b a c d" || p.Rule.Grown || p.Rule.N != 2 || e.Decided != nil {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	t.Run("not to one that takes no more", func(t *testing.T) {
		_, small := ruled(t, `rules = [{ use = "d/m", tokens = 90000 }, { use = "b/m", tokens = 1000 }]`)
		_, begun := small(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 2000 })
		if p, _ := small(within(begun.Decided, 199_000)); firsts(p) != "b a c d" || p.Rule.Grown || p.Rule.N != 2 {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	t.Run("without a rule in force, of the smallest member", func(t *testing.T) {
		_, begun := big(func(_ *route.Snapshot, c *route.Call) { c.Tokens = 10 })
		keep := &route.Keep{Who: route.Who{ID: "a/k", Model: "m"}, At: now.Unix() - 10}
		set := func(tokens int) func(*route.Snapshot, *route.Call) {
			return func(_ *route.Snapshot, c *route.Call) {
				c.Within, c.Decided, c.Tokens, c.Keep = true, begun.Decided, tokens, keep
			}
		}
		if p, _ := big(set(94_999)); firsts(p) != "a b c d" || p.Rule != nil {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
		if p, _ := big(set(95_000)); firsts(p) != "c b a d" || !p.Rule.Grown {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
	t.Run("a turn that waits is not moved", func(t *testing.T) {
		if p, _ := plan(within(nil, 199_000)); firsts(p) != "b a c d" || !p.Rule.Waits {
			t.Errorf("%s %+v", firsts(p), p.Rule)
		}
	})
}

func TestAClassifierIsAskedOnlyWhereAnIntentCouldDecide(t *testing.T) {
	const rules = `classifier = "a/m"
rules = [
  { use = "b/m", intent = "a review", agents = ["codex"] },
  { use = "b/m", tokens = 1000 },
  { use = "c/m", intent = "a plan" },
  { use = "d/m", intent = "a test" },
]`
	_, plan := ruled(t, rules)
	for _, c := range []struct {
		name string
		set  func(*route.Snapshot, *route.Call)
		asks string
	}{
		{"one holds outright before any intent", func(_ *route.Snapshot, c *route.Call) { c.Tokens = 2000 }, ""},
		{"only rules that hold otherwise are offered", func(*route.Snapshot, *route.Call) {}, "a plan, a test"},
		{"up to the first that holds outright", func(_ *route.Snapshot, c *route.Call) { c.Tokens, c.Agent = 2000, "codex" }, "a review"},
		{"within a turn nobody is asked", func(_ *route.Snapshot, c *route.Call) { c.Within = true }, ""},
		{"it was asked", func(_ *route.Snapshot, c *route.Call) { c.Judged = map[string]trace.Classified{"g": {}} }, ""},
	} {
		_, e := plan(c.set)
		asks := ""
		if e.Ask != nil {
			asks = strings.Join(e.Ask.Intents, ", ")
		}
		if asks != c.asks {
			t.Errorf("%s: asks %q, want %q", c.name, asks, c.asks)
		}
	}
	said := func(j trace.Classified) func(*route.Snapshot, *route.Call) {
		return func(_ *route.Snapshot, c *route.Call) { c.Judged = map[string]trace.Classified{"g": j} }
	}
	if p, e := plan(said(trace.Classified{By: "a/m", Intent: "a test"})); firsts(p) != "d a b c" || p.Rule.N != 4 || p.Rule.Classified.By != "a/m" || e.Decided["g"].Intent != "a test" {
		t.Errorf("%s %+v", firsts(p), p.Rule)
	}
	if p, _ := plan(said(trace.Classified{By: "a/m", Error: "no answer"})); firsts(p) != "a b c d" || p.Rule.N != 0 || !p.Rule.Bare || p.Rule.Classified.Error == "" {
		t.Errorf("%s %+v", firsts(p), p.Rule)
	}
	t.Run("without a classifier no intent holds", func(t *testing.T) {
		_, plan := ruled(t, `rules = [{ use = "c/m", intent = "a plan" }]`)
		if p, e := plan(nil); e.Ask != nil || firsts(p) != "a b c d" {
			t.Errorf("%+v %s", e.Ask, firsts(p))
		}
	})
}

func TestEffortAutoIsPickedForTurnsThatReason(t *testing.T) {
	_, plan := ruled(t, "classifier = \"a/m\"\neffort = \"auto\"")
	for effort, asks := range map[string]bool{"": false, "none": false, "on": true, "low": true} {
		_, e := plan(func(_ *route.Snapshot, c *route.Call) { c.Effort = effort })
		if (e.Ask != nil && e.Ask.Effort) != asks {
			t.Errorf("effort %q: %+v", effort, e.Ask)
		}
	}
	p, e := plan(func(_ *route.Snapshot, c *route.Call) {
		c.Effort, c.Judged = "low", map[string]trace.Classified{"g": {By: "a/m", Effort: "high"}}
	})
	if p.Rule.Pick != "high" || e.Decided["g"].Pick != "high" {
		t.Errorf("%+v", p.Rule)
	}
	if p, _ := plan(func(_ *route.Snapshot, c *route.Call) { c.Effort, c.Within, c.Decided = "low", true, e.Decided }); p.Rule.Pick != "high" {
		t.Errorf("%+v", p.Rule)
	}
	_, fixed := ruled(t, `effort = "medium"`)
	if p, e := fixed(nil); p.Rule.Pick != "medium" || e.Ask != nil {
		t.Errorf("%+v", p.Rule)
	}
}

func TestAManualGroupsRulesWait(t *testing.T) {
	_, plan := ruled(t, `rules = [{ use = "c/m", tokens = 1 }]`)
	p, e := plan(func(s *route.Snapshot, c *route.Call) {
		c.Tokens = 10
		s.Choices.Routing = map[string]string{"group/g": "manual"}
	})
	if p.Rule != nil || e.Decided != nil || p.Order[0].Provider != "a" {
		t.Errorf("%s %+v", firsts(p), p.Rule)
	}
}

func TestRulesOfGroupsInGroupsHoldDownTheChain(t *testing.T) {
	toml := ""
	for _, p := range []string{"a", "b", "c", "d", "e"} {
		toml += "[providers." + p + "]\nchat = \"http://" + p + ".example/v1\"\nkeys = [{ name = \"k\", value = \"sk-" + p + "\" }]\nmodels = [\"m\"]\n"
	}
	toml += `[groups.in]
routing = "order"
members = ["b/m", "c/m", "group/deep"]
rules = [{ use = "group/deep", tokens = 10 }]
[groups.deep]
routing = "order"
members = ["d/m", "e/m"]
rules = [{ use = "e/m", tokens = 10 }]
[groups.g]
routing = "order"
members = ["a/m", "group/in"]
rules = [{ use = "group/in", tokens = 10 }]
`
	cat := catalog(t, toml)
	plan := func(tokens int) (trace.Plan, route.Effects) {
		return route.Decide(&route.Snapshot{Now: now, Catalog: cat}, route.Call{Target: provider.Target{Group: cat.Group("g")}, Turn: 1, Tokens: tokens})
	}
	p, e := plan(20)
	if firsts(p) != "e d b c a" {
		t.Error(firsts(p))
	}
	for r, at := p.Rule, 0; at < 3; r, at = r.Inner, at+1 {
		if want := []string{"g", "in", "deep"}[at]; r == nil || r.Group != want || r.N != 1 {
			t.Fatalf("%d: %+v", at, r)
		}
	}
	if len(e.Decided) != 3 {
		t.Errorf("%+v", e.Decided)
	}
	if p, e := plan(5); firsts(p) != "a b c d e" || p.Rule != nil || len(e.Decided) != 1 {
		t.Errorf("%s %+v %+v", firsts(p), p.Rule, e.Decided)
	}
}

func TestARuleIsToldAsItsGroupsWhereTheConversationIsKept(t *testing.T) {
	cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
models = ["m", "n"]
keys = [{ name = "k", value = "sk-p" }]
[groups.g]
routing = "order"
members = ["p/m", "group/in"]
rules = [{ use = "group/in", tokens = 10 }]
[groups.in]
members = ["p/n"]
`)
	p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, route.Call{
		Target: provider.Target{Group: cat.Group("g")}, Turn: 2, Tokens: 20,
		Keep: &route.Keep{Who: route.Who{ID: "p/k", Model: "n"}, At: now.Unix(), CacheRead: 5000},
	})
	if why := p.Order[0].Why; p.Order[0].Model != "n" || !p.Affinity.Kept || why.Code != trace.WhyRule || why.By != "g" || why.Count != 1 {
		t.Errorf("%+v", why)
	}
}
