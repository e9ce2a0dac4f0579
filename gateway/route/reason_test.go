package route_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// why returns the reasons of a plan by who.
func why(p trace.Plan) map[string]trace.Reason {
	m := map[string]trace.Reason{}
	for _, c := range p.Order {
		m[c.Who] = c.Why
	}
	for _, c := range p.Left {
		m[c.Who] = c.Why
	}
	return m
}

func TestReasons(t *testing.T) {
	minute, hour := now.Add(time.Minute), now.Add(time.Hour)
	for _, tt := range []struct {
		name, board string
		want        map[string]trace.Reason
	}{
		{"the only one", "a fine", map[string]trace.Reason{
			"a": {Code: trace.WhyOnly, N: 1, Of: 1},
		}},
		{"listed, with the place", "a fine, b fine", map[string]trace.Reason{
			"a": {Code: trace.WhyListed, N: 1, Of: 2}, "b": {Code: trace.WhyListed, N: 2, Of: 2},
		}},
		{"one left of two is not the only one", "a fine, b off", map[string]trace.Reason{
			"a": {Code: trace.WhyListed, N: 1, Of: 2}, "b": {Code: trace.WhyOff, N: 2, Of: 2},
		}},
		{"resting, with kind and end", "a rests, b fine", map[string]trace.Reason{
			"a": {Code: trace.WhyResting, N: 1, Of: 2, Kind: trace.Rate, Until: minute}, "b": {Code: trace.WhyListed, N: 2, Of: 2},
		}},
		{"resting, and no other", "a rests, b paused-an-hour", map[string]trace.Reason{
			"a": {Code: trace.WhyRestOnly, N: 1, Of: 2, Kind: trace.Rate, Until: minute}, "b": {Code: trace.WhyPaused, N: 2, Of: 2, Until: hour},
		}},
		{"a fallback, and whose", "a fine; x fine", map[string]trace.Reason{
			"a": {Code: trace.WhyListed, N: 1, Of: 1}, "x": {Code: trace.WhyFallback, N: 1, Of: 1, By: "own"},
		}},
		{"pinned", "a fine, b pinned", map[string]trace.Reason{
			"a": {Code: trace.WhyListed, N: 1, Of: 2}, "b": {Code: trace.WhyPinned, N: 2, Of: 2},
		}},
		{"without secret, and which", "a unready, b fine", map[string]trace.Reason{
			"a": {Code: trace.WhyUnready, N: 1, Of: 2, Text: "OWN_KEY is not set"}, "b": {Code: trace.WhyListed, N: 2, Of: 2},
		}},
		{"made for an API that the provider has not", "a for-gemini, b fine", map[string]trace.Reason{
			"a": {Code: trace.WhyProtocol, N: 1, Of: 2}, "b": {Code: trace.WhyListed, N: 2, Of: 2},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := draw(t, tt.board)
			if diff := cmp.Diff(tt.want, why(route.Plan(&b.snap, b.call()))); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tt.board, diff)
			}
		})
	}
}

func TestAGroupsReasonsNameTheGroupAndTheMembersPlace(t *testing.T) {
	p, _ := askGroup(t, "[groups.g]\nmembers = [\"c/y\", \"group/in\"]\n[groups.in]\nmembers = [\"b@k1/m1\", \"b@k2/m1\", \"a@k1/x\"]", "g")
	want := []trace.Reason{
		{Code: trace.WhyListed, N: 1, Of: 2, By: "g"},
		{Code: trace.WhyListed, N: 1, Of: 3, By: "in"},
		{Code: trace.WhyListed, N: 2, Of: 3, By: "in"},
		{Code: trace.WhyListed, N: 3, Of: 3, By: "in"},
	}
	for i, c := range p.Order {
		if diff := cmp.Diff(want[i], c.Why); diff != "" {
			t.Errorf("%s (-want +got)\n%s", one(c), diff)
		}
	}
	if len(p.Order) != len(want) {
		t.Errorf("order has %d", len(p.Order))
	}
}

func TestABareIDThatSeveralHaveIsToldSo(t *testing.T) {
	b := draw(t, "a fine, b fine")
	c := b.call()
	c.Target.Others = []string{"relay", "spare"}
	if got, want := route.Plan(&b.snap, c).Order[0].Why.Text, "first of those that have it; also relay, spare"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACandidateTellsItsAllowance(t *testing.T) {
	b := draw(t, "a fine, b low")
	windows := []provider.Window{
		{Name: "5 hours", Used: 20, Resets: now.Add(time.Hour), Span: 5 * time.Hour, Read: now},
		{Name: "7 days", Used: 91, Resets: now.Add(50 * time.Hour), Span: 7 * 24 * time.Hour, Read: now},
		{Name: "7 days opus", Used: 100, Resets: now.Add(50 * time.Hour), Span: 7 * 24 * time.Hour, Model: "opus", Read: now},
		{Name: "extra", Used: 100, Aside: true, Read: now},
		{Name: "month", Used: 10, Read: now},
	}
	b.snap.Standing["own/a"] = route.Standing{Windows: windows, Read: now}
	p := route.Plan(&b.snap, b.call())
	got := p.Order[0]
	if !got.Known || got.Used != 91 || got.Tier != "low" {
		t.Errorf("known %v, used %v, tier %q", got.Known, got.Used, got.Tier)
	}
	if diff := cmp.Diff([]time.Time{now.Add(50 * time.Hour), now.Add(time.Hour)}, got.Renews); diff != "" {
		t.Errorf("renews, the biggest window first, unknown ones not at all (-want +got)\n%s", diff)
	}
	if len(got.Windows) != 5 || got.Windows[0].SpanS != 18000 || !got.Windows[0].Resets.Equal(now.Add(time.Hour)) || got.Windows[4].Resets != nil {
		t.Errorf("windows %+v", got.Windows)
	}
	b.snap.Standing["own/b"] = route.Standing{Windows: windows[2:4], Read: now}
	if other := route.Plan(&b.snap, b.call()).Order[0]; other.Who != "b" || other.Known || other.Tier != "" || other.Renews != nil || len(other.Windows) != 2 {
		t.Errorf("another model's window, and one that stops nothing, tell nothing of b: %+v", other)
	}
	b.snap.Standing["own/b"] = route.Standing{}
	if other := route.Plan(&b.snap, b.call()).Order[0]; other.Who != "b" || other.Known || other.Tier != "" || other.Windows != nil {
		t.Errorf("nothing is known of b: %+v", other)
	}

	c := b.call()
	c.Target.Model = "claude-Opus-5"
	if got := route.Plan(&b.snap, c).Order[1]; got.Used != 100 || got.Tier != "spent" {
		t.Errorf("opus has a window of its own: used %v, tier %q", got.Used, got.Tier)
	}
}

func TestACandidateIsToldWhole(t *testing.T) {
	b := draw(t, "a rests-model")
	c := b.call()
	c.Target.Effort = "high"
	rest := b.snap.Rests["own/a/m"]
	want := trace.Candidate{
		ID: "own/a", Provider: "own", Name: b.cat.Provider("own").Name, Who: "a", Kind: "key", Model: "m", Effort: "high",
		Routing: "smart", Rest: &rest,
		Why: trace.Reason{Code: trace.WhyRestOnly, N: 1, Of: 1, Kind: trace.Rate, Until: rest.Until},
	}
	p := route.Plan(&b.snap, c)
	if diff := cmp.Diff([]trace.Candidate{want}, p.Order); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if p.Routing != "smart" {
		t.Errorf("routing %q", p.Routing)
	}
}

func TestTheLongerOfTwoRestsIsShown(t *testing.T) {
	for _, board := range []string{"a rests rests-model, b fine", "a rests-model rests, b fine"} {
		b := draw(t, board)
		long := b.snap.Rests["own/a/m"]
		long.Until, long.Why = now.Add(time.Hour), trace.Model
		b.snap.Rests["own/a/m"] = long
		if got := route.Plan(&b.snap, b.call()).Order[1].Rest; !got.Until.Equal(long.Until) {
			t.Errorf("%s: until %v", board, got.Until)
		}
		whole := b.snap.Rests["own/a"]
		whole.Until = now.Add(2 * time.Hour)
		b.snap.Rests["own/a"] = whole
		if got := route.Plan(&b.snap, b.call()).Order[1].Rest; !got.Until.Equal(whole.Until) {
			t.Errorf("%s: until %v, want the whole one's", board, got.Until)
		}
	}
}

func TestOneNamedByTheRequest(t *testing.T) {
	b := draw(t, "a pinned, b fine, c off; x fine")
	for _, tt := range []struct {
		name   string
		change func(*route.Call)
		want   string
		code   trace.ReasonCode
	}{
		{"X-Magpie-Account is asked alone, whatever is pinned", func(c *route.Call) { c.Only = "own/b" }, "b | a:not-named c:off x:not-named", trace.WhyNamed},
		{"it may name a fallback's", func(c *route.Call) { c.Only = "spare/x" }, "x | a:not-named b:not-named c:off", trace.WhyNamed},
		{"provider@who is asked alone, case ignored", func(c *route.Call) { c.Target.Who = "B" }, "b | a:not-named c:off x:not-named", trace.WhyNamed},
		{"who made the earlier reply is asked alone", func(c *route.Call) { c.Made = "own/b" }, "b | a:not-made c:off x:not-made", trace.WhyMade},
		{"made by one, named another: nobody", func(c *route.Call) { c.Made = "own/b"; c.Only = "own/a" }, "| a:not-made b:not-named c:off x:not-named", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := b.call()
			tt.change(&c)
			p := route.Plan(&b.snap, c)
			if got := line(p); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if p.Pinned != string(c.Only) {
				t.Errorf("pinned %q", p.Pinned)
			}
			if tt.code != "" && p.Order[0].Why.Code != tt.code {
				t.Errorf("why %q, want %q", p.Order[0].Why.Code, tt.code)
			}
		})
	}
}

func TestAnOnlyPinIsToldOnThePlan(t *testing.T) {
	b := draw(t, "a fine, b pinned-only")
	if got := route.Plan(&b.snap, b.call()).Pinned; got != "own/b" {
		t.Errorf("pinned %q", got)
	}
	b = draw(t, "a fine, b pinned")
	if got := route.Plan(&b.snap, b.call()).Pinned; got != "" {
		t.Errorf("a pin that lets others take over holds the plan to nobody, but pinned is %q", got)
	}
}

func TestAnAPIThatTheModelIsNotServedOn(t *testing.T) {
	cat := catalog(t, `[providers.p]
chat = "http://p.example/v1"
messages = "http://p.example"
models = ["x", { id = "claude-y", apis = ["messages"] }]
keys = [{ name = "a", value = "sk-a" }]`)
	s := route.Snapshot{Now: now, Catalog: cat}
	for _, tt := range []struct {
		model string
		api   wire.Protocol
		own   bool
		want  string
	}{
		{"x", wire.Chat, true, "a"},
		{"x", wire.Responses, true, "| a:protocol"},
		{"x", wire.Responses, false, "a"},
		{"claude-y", wire.Messages, true, "a"},
		{"claude-y", wire.Chat, true, "| a:protocol"},
		{"claude-y", wire.Chat, false, "a"},
		{"claude-y", "", true, "a"},
	} {
		p := route.Plan(&s, route.Call{Target: provider.Target{Provider: cat.Provider("p"), Model: tt.model}, Protocol: tt.api, Own: tt.own})
		if got := line(p); got != tt.want {
			t.Errorf("%s over %q: got %s, want %s", tt.model, tt.api, got, tt.want)
		}
	}
	p := route.Plan(&s, route.Call{Target: provider.Target{Provider: cat.Provider("p"), Model: "x"}, Protocol: wire.Responses, Own: true})
	if got := p.Left[0].Why.Text; got != "chat, messages" {
		t.Errorf("it says which it has: %q", got)
	}
}
