package route_test

import (
	"strings"
	"testing"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func TestKeysMadeForOneAPI(t *testing.T) {
	for _, tt := range []struct {
		name, board, model string
		api                wire.Protocol
		want               string
	}{
		{"the pool is those made for what the best is; the others stand aside", "a for-chat, b fine, c for-chat", "m", wire.Chat, "a c b"},
		{"a Claude model goes with the key for Messages", "o for-chat, a for-messages", "claude-opus-5", wire.Chat, "a o"},
		{"a Claude model of a relay, named with its maker", "o for-chat, a for-messages", "anthropic/claude-opus-5", wire.Chat, "a o"},
		{"a GPT model goes with the other", "a for-messages, o for-chat", "gpt-5.4", wire.Messages, "o a"},
		{"codex and o3 are OpenAI's too", "a for-messages, o for-chat", "o3-mini", wire.Messages, "o a"},
		{"any other model goes with the agent's own API", "a for-messages, o for-chat", "m", wire.Chat, "o a"},
		{"any other model goes with the agent's own API, be it Messages", "o for-chat, a for-messages", "m", wire.Messages, "a o"},
		{"a key of no API suits all", "b fine, o for-chat, a for-messages", "m", wire.Chat, "b o a"},
		{"nobody asks yet: as listed", "a for-messages, o for-chat", "m", "", "a o"},
		{"an aside one that does not rest goes before a resting one", "a for-chat rests, b fine", "m", wire.Chat, "b a*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, routing := range []string{"smart", "order", "usage"} {
				b := drawAs(t, `routing = "`+routing+`"`, tt.board)
				c := b.call()
				c.Target.Model, c.Protocol = tt.model, tt.api
				if got := line(route.Plan(&b.snap, c)); got != tt.want {
					t.Errorf("%s by %s\n got %s\nwant %s", tt.board, routing, got, tt.want)
				}
			}
		})
	}
}

func TestKeyPoolsByProtocolTakeTurnsWithoutThoseAside(t *testing.T) {
	b := drawAs(t, `routing = "rotate"`, "a for-chat, b fine, c for-chat")
	if got := b.turns(b.call(), 4); got != "a c a c" {
		t.Errorf("turns %s", got)
	}
	p := route.Plan(&b.snap, b.call())
	if last := p.Order[2]; last.Who != "b" || !last.Aside || last.Why.Code != trace.WhyAside || p.Order[0].Aside {
		t.Errorf("%+v", p.Order)
	}
}

// The aside keys of all members stand behind all others of the group.
func TestAGroupsAsideKeysGoLast(t *testing.T) {
	text := `
[providers.a]
chat = "http://a.example/v1"
messages = "http://a.example"
keys = [{ name = "o", value = "x", protocol = "chat" }, { name = "m", value = "y", protocol = "messages" }]
[providers.b]
chat = "http://b.example/v1"
keys = [{ name = "k", value = "z" }]
[groups.in]
members = ["a/x"]
[groups.g]
members = ["group/in", "b/x"]
routing = "%"
`
	for _, routing := range []string{"order", "smart", "rotate"} {
		cat := catalog(t, strings.Replace(text, "%", routing, 1))
		p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, route.Call{Target: provider.Target{Group: cat.Group("g")}, Protocol: wire.Chat})
		if got := full(p); got != "a/o/x b/k/x a/m/x" || !p.Order[2].Aside {
			t.Errorf("%s: %s", routing, got)
		}
	}
}

// In one pool, a key that has the agent's own API goes before one that has not.
func TestAPoolPrefersWhatNeedsNoTranslation(t *testing.T) {
	cat := catalog(t, `
[providers.a]
messages = "http://a.example"
keys = [{ name = "k", value = "x", protocol = "messages" }]
[providers.b]
chat = "http://b.example/v1"
keys = [{ name = "k", value = "y", protocol = "chat" }]
[groups.g]
members = ["a/x", "b/x"]
`)
	call := route.Call{Target: provider.Target{Group: cat.Group("g")}, Protocol: wire.Chat}
	s := route.Snapshot{Now: now, Catalog: cat}
	p := route.Plan(&s, call)
	if got := full(p); got != "b/k/x a/k/x" || p.Order[1].Why.Code != trace.WhyUnfit || p.Order[1].Why.Text != "messages" {
		t.Errorf("smart: %s, %+v", got, p.Order[1].Why)
	}
	cat.Group("g").Routing = "order"
	if got := full(route.Plan(&s, call)); got != "a/k/x b/k/x" {
		t.Errorf("in order: %s", got)
	}
}

// A plan that does not list the model is asked only when nobody's does.
func TestAnAccountWhosePlanDoesNotListTheModel(t *testing.T) {
	list := func(ids ...string) *provider.List {
		var models []provider.Model
		for _, id := range ids {
			models = append(models, provider.Model{ID: id})
		}
		return provider.NewList(models)
	}
	for _, tt := range []struct {
		name  string
		plans route.Plans
		want  string
	}{
		{"one lists it, one does not, of one nothing is known", route.Plans{"own/a": list("n"), "own/b": list("m")}, "b c | a:unlisted"},
		{"nobody lists it: all are asked", route.Plans{"own/a": list("n"), "own/b": list("n"), "own/c": list("n")}, "a b c"},
		{"the only one that lists it is switched off", route.Plans{"own/a": list("n"), "own/b": list("n"), "own/c": list("n"), "own/d": list("m")}, "a b c | d:off"},
	} {
		board := "a account, b account, c account"
		if strings.Contains(tt.want, "d:off") {
			board += ", d off"
		}
		b := draw(t, board)
		b.snap.Plans = tt.plans
		if d := b.cat.Account("own/d"); d != nil {
			b.snap.Plans["own/d"] = list("m")
		}
		if got := line(route.Plan(&b.snap, b.call())); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
	b := draw(t, "a account, b account; x account")
	b.snap.Plans = route.Plans{"own/a": list("n"), "own/b": list("m"), "spare/x": list("s", "m")}
	c := b.call()
	c.Only = "own/a"
	p := route.Plan(&b.snap, c)
	ref := route.Refuse(p, c)
	if line(p) != "| a:unlisted b:not-named x:not-named" || ref == nil || ref.Status != 400 || ref.Code != route.CodeNotAllowed || !strings.Contains(ref.Words, "the plan of own/a does not have m") {
		t.Errorf("named, and another's plan has it: %s, %+v", line(p), ref)
	}
	b.snap.Plans = route.Plans{"own/a": list("n"), "own/b": list("n"), "spare/x": list("s", "m")}
	if p := route.Plan(&b.snap, c); line(p) != "a | b:not-named x:not-named" {
		t.Errorf("named, and nobody's plan has it: %s", line(p))
	}
	if got := line(route.Plan(&b.snap, b.call())); got != "a b x" {
		t.Errorf("another provider's plan says nothing of these: %s", got)
	}
}
