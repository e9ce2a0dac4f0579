package route_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// house has three providers; a and b have two keys each.
const house = `
[providers.a]
chat = "http://a.example/v1"
keys = [{ name = "k1", value = "sk-1" }, { name = "k2", value = "sk-2" }]
fallback = ["c/rescue"]
[providers.b]
chat = "http://b.example/v1"
models = ["m1", "m2"]
keys = [{ name = "k1", value = "sk-3" }, { name = "k2", value = "sk-4" }]
[providers.c]
chat = "http://c.example/v1"
keys = [{ name = "k1", value = "sk-5" }]
`

// full writes candidates with all that tells them apart: "a/k1 m:high b/k1 m1 | c/k1 m(off)".
func full(p trace.Plan) string {
	var words []string
	for _, c := range p.Order {
		words = append(words, one(c))
	}
	if len(p.Left) > 0 {
		words = append(words, "|")
	}
	for _, c := range p.Left {
		words = append(words, one(c)+"("+c.Out+")")
	}
	return strings.Join(words, " ")
}

func one(c trace.Candidate) string {
	s := c.ID + "/" + c.Model
	if c.Effort != "" {
		s += ":" + c.Effort
	}
	return s
}

func askGroup(t *testing.T, text, group string) (trace.Plan, route.Call) {
	t.Helper()
	cat := catalog(t, house+text)
	call := route.Call{Target: provider.Target{Asked: "group/" + group, Group: cat.Group(group)}}
	return route.Plan(&route.Snapshot{Now: now, Catalog: cat}, call), call
}

func TestAPinForAGroupHoldsHoweverItIsAskedFor(t *testing.T) {
	cat := catalog(t, house+"[groups.g]\nrouting = \"order\"\nmembers = [\"a@k1/x\", \"b@k1/m1\"]\n[groups.h]\nmembers = [\"b@k1/m1\"]")
	for _, tt := range []struct {
		pin, asked string
		holds      bool
	}{
		{"group/g", "group/g", true},
		{"group/g", "g", true},
		{"g", "group/g", true},
		{"Group/G", "g:high", true},
		{"g", "g[1m]", true},
		{"h", "g", false},
		{"group/h", "group/g", false},
		{"group/", "g", false},
	} {
		target, refusal := cat.Resolve(tt.asked, nil)
		if refusal != nil {
			t.Fatal(refusal)
		}
		s := route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{
			"b/k1": {Pinned: &trace.Pinned{Since: now.Add(-time.Minute), Model: tt.pin}},
		}}
		if p := route.Plan(&s, route.Call{Target: target}); (p.Order[0].ID == "b/k1") != tt.holds {
			t.Errorf("pinned for %s, asked %s: %s", tt.pin, tt.asked, full(p))
		}
	}
}

func TestAGroupIsItsMembersInTheirPlaces(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{
			"member by member, each with its provider's keys",
			"[groups.g]\nmembers = [\"b/m1\", \"a/x\"]",
			"b/k1/m1 b/k2/m1 a/k1/x a/k2/x",
		},
		{
			"a member's fallback is not the group's",
			"[groups.g]\nmembers = [\"a/x\"]",
			"a/k1/x a/k2/x",
		},
		{
			"a member tied to a key is that key alone, case ignored",
			"[groups.g]\nmembers = [\"a@K2/x\", \"c/y\"]",
			"a/k2/x c/k1/y",
		},
		{
			"a tied one met again counts where it was first met",
			"[groups.g]\nmembers = [\"a@k2/x\", \"a/x\"]",
			"a/k2/x a/k1/x",
		},
		{
			"the same model at another effort is another member",
			"[groups.g]\nmembers = [\"a@k1/x:high\", \"a@k1/x:low\", \"a@k1/x\", \"a/x:high\"]",
			"a/k1/x:high a/k1/x:low a/k1/x a/k2/x:high",
		},
		{
			"a nested group stands in its place",
			"[groups.g]\nmembers = [\"c/first\", \"group/in\", \"a@k1/last\"]\n[groups.in]\nmembers = [\"b@k2/m1\", \"b@k2/m2\"]",
			"c/k1/first b/k2/m1 b/k2/m2 a/k1/last",
		},
		{
			"a nested group that is off is left out where it is met",
			"[groups.g]\nmembers = [\"group/in\", \"c/y\"]\n[groups.in]\noff = true\nmembers = [\"b@k1/m1\"]",
			"c/k1/y | b/k1/m1(off)",
		},
		{
			"what a group that is off shares with one that is on counts as on",
			"[groups.g]\nmembers = [\"group/in\", \"c/y\"]\n[groups.in]\noff = true\nmembers = [\"c/y\", \"c/z\"]",
			"c/k1/y | c/k1/z(off)",
		},
		{
			"groups met twice count once",
			"[groups.g]\nmembers = [\"group/in\", \"group/other\"]\n[groups.in]\nmembers = [\"c/y\"]\n[groups.other]\nmembers = [\"group/in\", \"c/z\"]",
			"c/k1/y c/k1/z",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := askGroup(t, tt.text, "g")
			if got := full(p); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestGroupsMayNestEightDeep(t *testing.T) {
	var text strings.Builder
	for i := 1; i < 8; i++ {
		fmt.Fprintf(&text, "[groups.g%d]\nmembers = [\"group/g%d\"]\n", i, i+1)
	}
	text.WriteString("[groups.g8]\nmembers = [\"c/deep\"]\n[groups.too]\nmembers = [\"c/deeper\"]\n")
	b, c := group(t, text.String())
	c.Target.Group = b.cat.Group("g1")
	if got := full(route.Plan(&b.snap, c)); got != "c/k1/deep" {
		t.Errorf("eight deep: %q", got)
	}
	last := b.cat.Group("g8")
	last.Members = append(last.Members, provider.Ref{Group: "too"}) // which the config refuses
	if got := full(route.Plan(&b.snap, c)); got != "c/k1/deep" {
		t.Errorf("nine deep: %q", got)
	}
}

// A loop and a ninth level are refused by the config; a catalogue that has them all the same must not hang or grow.
func TestGroupsThatLeadBackEnd(t *testing.T) {
	cat := catalog(t, house+"[groups.g]\nmembers = [\"c/y\"]")
	g := cat.Group("g")
	g.Members = append(g.Members, provider.Ref{Group: "g"}, provider.Ref{Provider: "gone", Model: "x"}, provider.Ref{Group: "gone"})
	p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, route.Call{Target: provider.Target{Group: g}})
	if got := full(p); got != "c/k1/y" {
		t.Errorf("got %q", got)
	}
	if route.Ruled(cat, g) || route.Ruled(cat, nil) {
		t.Error("it has no rules")
	}
	g.Rules = []provider.Rule{{Use: 1, Tokens: 1}}
	p = route.Plan(&route.Snapshot{Now: now, Catalog: cat}, route.Call{Target: provider.Target{Group: g}, Tokens: 2})
	if got := full(p); got != "c/k1/y" || p.Rule == nil || !route.Ruled(cat, g) {
		t.Errorf("got %q, %+v", got, p.Rule)
	}
}

func TestAMemberThatItsProviderDoesNotListIsLeftOut(t *testing.T) {
	cat := catalog(t, house+"[groups.g]\nmembers = [\"c/y\"]")
	g := cat.Group("g")
	g.Members = append(g.Members, provider.Ref{Provider: "b", Who: "k1", Model: "m3"}, provider.Ref{Provider: "b", Who: "k1", Model: "m1[1m]"})
	p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, route.Call{Target: provider.Target{Group: g}})
	if got, want := full(p), "c/k1/y b/k1/m1[1m] | b/k1/m3(not-served)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheEffortAskedForIsThatOfMembersWithoutOne(t *testing.T) {
	cat := catalog(t, house+"[groups.g]\nmembers = [\"c/y:low\", \"a@k1/x\"]")
	p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, route.Call{Target: provider.Target{Group: cat.Group("g"), Effort: "high"}})
	if got, want := full(p), "c/k1/y:low a/k1/x:high"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFallbacks(t *testing.T) {
	cat := catalog(t, house)
	var refs []provider.Ref
	for _, s := range []string{"gone/x", "b/m9", "a/m", "a/other", "c/rescue", "c/rescue:low", "c/second:low"} {
		r, err := provider.ParseRef(s)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, r)
	}
	cat.Provider("a").Fallback = refs
	call := route.Call{Target: provider.Target{Provider: cat.Provider("a"), Model: "m"}}
	p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, call)
	want := "a/k1/m a/k2/m a/k1/other a/k2/other c/k1/rescue c/k1/second:low | b/k1/m9(not-served) b/k2/m9(not-served)"
	if got := full(p); got != want {
		t.Errorf("what names nothing and repeats are passed over\n got %s\nwant %s", got, want)
	}
	for _, c := range p.Order {
		if c.Fallback != (c.Model != "m") {
			t.Errorf("%s: fallback = %v", one(c), c.Fallback)
		}
	}
}

func TestAProviderThatIsOffIsLeftOutOfFallbacksAndGroups(t *testing.T) {
	text := strings.Replace(house, "[providers.c]", "[providers.c]\noff = true", 1)
	cat := catalog(t, text+"[groups.g]\nmembers = [\"c/y\", \"a@k1/x\"]")
	s := route.Snapshot{Now: now, Catalog: cat}
	if got, want := full(route.Plan(&s, route.Call{Target: provider.Target{Group: cat.Group("g")}})), "a/k1/x | c/k1/y(off)"; got != want {
		t.Errorf("group: got %s, want %s", got, want)
	}
	if got, want := full(route.Plan(&s, route.Call{Target: provider.Target{Provider: cat.Provider("a"), Model: "m"}})), "a/k1/m a/k2/m | c/k1/rescue(off)"; got != want {
		t.Errorf("fallback: got %s, want %s", got, want)
	}
}
