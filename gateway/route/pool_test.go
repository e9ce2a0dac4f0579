package route_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// reading gives an account one window of a week.
func (b *board) reading(id provider.AccountID, used float64, renews time.Duration) {
	b.snap.Standing[id] = route.Standing{Read: now, Windows: []provider.Window{{Name: "7 days", Used: used, Resets: now.Add(renews), Span: 7 * 24 * time.Hour}}}
}

// group draws a board of a house and the group g.
func group(t *testing.T, text string) (board, route.Call) {
	t.Helper()
	cat := catalog(t, house+text)
	b := board{cat: cat, snap: route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{}, Rests: map[string]trace.Rest{}, Served: map[provider.AccountID]route.Lately{}}}
	return b, route.Call{Target: provider.Target{Asked: "group/g", Group: cat.Group("g")}}
}

const day = 24 * time.Hour

func TestAnOrderedGroupGoesMemberByMemberEachByItsProvidersRouting(t *testing.T) {
	b, c := group(t, "[groups.g]\nrouting = \"order\"\nmembers = [\"a/x\", \"b/m1\"]")
	b.reading("a/k1", 10, 5*day)
	b.reading("a/k2", 10, 4*day)
	b.reading("b/k2", 10, day)
	if got := full(route.Plan(&b.snap, c)); got != "a/k2/x a/k1/x b/k2/m1 b/k1/m1" {
		t.Error(got)
	}
	b.cat.Provider("a").Routing = "rotate"
	if got := b.turns(c, 3); got != "k1 k2 k1" {
		t.Errorf("in turn within the first: %s", got)
	}
	if r := b.snap.Rounds["a"]; r.Turn != 3 || len(b.snap.Rounds) != 1 {
		t.Errorf("%+v", b.snap.Rounds)
	}
}

func TestAnyOtherGroupIsOnePool(t *testing.T) {
	b, c := group(t, "[groups.g]\nmembers = [\"a/x\", \"b/m1\", \"c/y\"]")
	b.reading("b/k2", 40, day)
	b.reading("a/k2", 40, 3*day)
	b.reading("a/k1", 95, day)
	if got := full(route.Plan(&b.snap, c)); got != "b/k2/m1 a/k2/x b/k1/m1 c/k1/y a/k1/x" {
		t.Errorf("smart: %s", got)
	}
	c.Target.Group.Routing = "rotate"
	if got := b.turns(c, 6); got != "k1 k2 k1 k2 k1 k1" {
		t.Errorf("in turn: %s", got)
	}
	if r := b.snap.Rounds["group/g"]; r.Turn != 6 || len(b.snap.Rounds) != 1 {
		t.Errorf("the group's turns are counted under its name: %+v", b.snap.Rounds)
	}
}

func TestARotatingGroupMayGiveSeveralRequestsInATurn(t *testing.T) {
	b, c := group(t, "[groups.g]\nrouting = \"rotate\"\nsticky = 3\nmembers = [\"a@k1/x\", \"b@k2/m1\"]")
	if got := b.turns(c, 7); got != "k1 k1 k1 k2 k2 k2 k1" {
		t.Error(got)
	}
}

// A group within a pool is weighed by the first of its own order that does not rest, and
// stays whole.
func TestANestedGroupIsOneUnitOfThePool(t *testing.T) {
	b, c := group(t, "[groups.g]\nmembers = [\"c/y\", \"group/in\", \"b@k2/m2\"]\n[groups.in]\nrouting = \"order\"\nmembers = [\"a/x\", \"b@k1/m1\"]")
	b.reading("c/k1", 10, 3*day)
	b.reading("a/k1", 10, 2*day)
	b.reading("a/k2", 10, 5*day)
	b.reading("b/k2", 10, day)
	b.cat.Provider("a").Routing = "order"
	if got := full(route.Plan(&b.snap, c)); got != "b/k2/m2 a/k1/x a/k2/x b/k1/m1 c/k1/y" {
		t.Errorf("got %s", got)
	}
	b.snap.Rests["a/k1"] = trace.Rest{Key: "a/k1", Why: trace.Rate, Until: now.Add(time.Minute)}
	if got := full(route.Plan(&b.snap, c)); got != "b/k2/m2 c/k1/y a/k2/x b/k1/m1 a/k1/x" {
		t.Errorf("its first rests: got %s", got)
	}
}

func TestANestedGroupKeepsItsRoutingInAnOrderedOne(t *testing.T) {
	b, c := group(t, "[groups.g]\nrouting = \"order\"\nmembers = [\"c/y\", \"group/in\", \"b@k2/m2\"]\n[groups.in]\nrouting = \"usage\"\nmembers = [\"a@k1/x\", \"b@k1/m1\"]")
	b.reading("a/k1", 50, day)
	b.reading("b/k1", 10, day)
	if got := full(route.Plan(&b.snap, c)); got != "c/k1/y b/k1/m1 a/k1/x b/k2/m2" {
		t.Error(got)
	}
}

func TestAManualGroupUsesTheMemberThatIsPicked(t *testing.T) {
	text := "[groups.g]\nrouting = \"manual\"\nmembers = [\"c/y\", \"a/x\", \"group/in\"]\n[groups.in]\nrouting = \"order\"\nmembers = [\"b@k2/m2\", \"c/y\"]\n"
	b, c := group(t, text)
	p := route.Plan(&b.snap, c)
	if got := full(p); got != "c/k1/y | a/k1/x(not-picked) a/k2/x(not-picked) b/k2/m2(not-picked)" || p.Order[0].Why.Code != trace.WhyPicked {
		t.Errorf("the first where none is picked: %s, %+v", got, p.Order[0].Why)
	}
	b, c = group(t, strings.Replace(text, "\n[groups.in]", "\npick = \"a/x\"\n[groups.in]", 1))
	b.reading("a/k1", 10, 5*day)
	b.reading("a/k2", 10, 4*day)
	b.cat.Provider("a").Routing = "order"
	if got := full(route.Plan(&b.snap, c)); got != "a/k2/x a/k1/x | c/k1/y(not-picked) b/k2/m2(not-picked)" {
		t.Errorf("picked in the config, smart among its keys: %s", got)
	}
	b.snap.Choices.Pick = map[string]string{"g": "group/in"}
	if got := full(route.Plan(&b.snap, c)); got != "b/k2/m2 c/k1/y | a/k1/x(not-picked) a/k2/x(not-picked)" {
		t.Errorf("picked at run time: %s", got)
	}
	pin := b.snap.Standing["c/k1"]
	pin.Pinned = &trace.Pinned{Since: now, Only: true}
	b.snap.Standing["c/k1"] = pin
	b.snap.Choices.Pick = map[string]string{"g": "a/x"}
	if p := route.Plan(&b.snap, c); full(p) != "a/k2/x a/k1/x | c/k1/y(not-picked) b/k2/m2(not-picked)" || p.Pinned != "" || route.Refuse(p, c) != nil {
		t.Errorf("a pin on what it does not use holds nothing: %s", full(p))
	}
	b.snap.Choices.Pick = map[string]string{"g": "gone/x"}
	if got := full(route.Plan(&b.snap, c)); !strings.HasPrefix(got, "a/k2/x") {
		t.Errorf("what is no member any more is not picked: %s", got)
	}
}

func TestKeysWeighedByTheirWindows(t *testing.T) {
	for _, tt := range []struct{ name, routing, board, want string }{
		{"smart", "smart", "a 7d=10@6d, b 7d=40@1d, c 7d=99@2d", "b a c"},
		{"least used", "usage", "a 7d=60, b 7d=70, c 7d=20", "c a b"},
		{"pace", "pace", "a 7d=10@20h, b 7d=0@7d, c 7d=99@1h", "a b c"},
	} {
		b := drawAs(t, `routing = "`+tt.routing+`"`, tt.board)
		if got := line(route.Plan(&b.snap, b.call())); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	b := draw(t, "a 7d=10@6d, b 7d=40@1d")
	st := b.snap.Standing["own/b"]
	st.Windows[0].Amount, st.Windows[0].Limit, st.Windows[0].Unit = 320, 800, "USD"
	c := route.Plan(&b.snap, b.call()).Order[0]
	if c.Who != "b" || !c.Known || c.Used != 40 || c.Windows[0].Limit != 800 || c.Windows[0].Unit != "USD" || len(c.Renews) != 1 || c.Kind != "key" {
		t.Errorf("%+v", c)
	}
}

func TestGroupWeighsKeyWindows(t *testing.T) {
	cat := catalog(t, `
[providers.sub]
responses = "http://sub.example"
accounts = [{ name = "me" }]
[providers.relay]
chat = "http://relay.example/v1"
keys = [{ name = "k", value = "x" }]
[groups.g]
members = ["sub/m", "relay/m"]
`)
	signIn(cat)
	b := board{cat: cat, snap: route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{}, Served: map[provider.AccountID]route.Lately{}}}
	c := route.Call{Target: provider.Target{Group: cat.Group("g")}}
	b.reading("sub/me", 30, 5*day)
	b.reading("relay/k", 10, day)
	if p := route.Plan(&b.snap, c); p.Order[0].ID != "relay/k" || !p.Order[0].Known || p.Order[0].Used != 10 {
		t.Errorf("%s", full(p))
	}
	b.reading("relay/k", 99, day)
	if p := route.Plan(&b.snap, c); p.Order[0].ID != "sub/me" {
		t.Errorf("the key is spent: %s", full(p))
	}
}
