package route_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/config"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// world is a made-up situation: any config that passes its checks, any standing, any call.
type world struct {
	snap route.Snapshot
	call route.Call
}

func drawWorld(t *rapid.T) world {
	cfg := drawConfig(t)
	cat, problems := provider.Build(cfg)
	for _, p := range problems {
		t.Fatalf("config: %v", p)
	}
	signIn(cat)
	w := world{snap: route.Snapshot{
		Now: now, Catalog: cat,
		Standing: map[provider.AccountID]route.Standing{}, Rests: map[string]trace.Rest{}, Served: map[provider.AccountID]route.Lately{},
	}}
	for _, a := range cat.AllAccounts() {
		w.snap.Standing[a.ID] = drawStanding(t, a)
		if chance(t, 3) {
			w.snap.Served[a.ID] = route.Lately{Tokens: float64(rapid.IntRange(0, 3).Draw(t, "tokens")), At: now}
		}
		for _, key := range []string{route.RestKey(a), route.ModelRestID(a, "m1"), route.ModelRestID(a, "m2")} {
			if chance(t, 4) {
				w.snap.Rests[key] = trace.Rest{
					Key: key, Why: trace.Rate, Since: now.Add(-time.Hour), Until: now.Add(time.Duration(rapid.IntRange(-2, 3).Draw(t, "until")) * time.Minute),
					Print: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "print"),
				}
			}
		}
	}
	w.snap.Choices = drawChoices(t, cat)
	if chance(t, 2) {
		w.snap.Rounds = map[string]route.Round{}
		for _, key := range []string{"p0", "p1", "group/g0", "group/g1"} {
			w.snap.Rounds[key] = route.Round{Turn: rapid.Uint64Range(0, 9).Draw(t, "turn"), Current: route.Weights{{ID: "p0/k0", Has: rapid.IntRange(-3, 3).Draw(t, "current")}}}
		}
	}
	w.call = drawCall(t, cat)
	if w.call.Within = chance(t, 3); w.call.Within { // what the rules decided as the turn began
		began := w.call
		began.Within = false
		_, fx := route.Decide(&w.snap, began)
		w.call.Decided = fx.Decided
		w.call.Tokens = rapid.SampledFrom([]int{0, 990, 5000}).Draw(t, "tokens by now")
	}
	return w
}

// routings are all that a config may hold, some of which this planner takes for smart.
var routings = []string{"", "smart", "order", "rotate", "usage", "pace", "weight", "best"}

func drawRouting(t *rapid.T) string { return rapid.SampledFrom(routings).Draw(t, "routing") }

func drawChoices(t *rapid.T, cat *provider.Catalog) route.Choices {
	var c route.Choices
	if chance(t, 3) {
		c.Routing = map[string]string{"p0": drawRouting(t), "group/g1": "manual"}
	}
	if chance(t, 3) {
		c.Sink = map[string]bool{"p0": true, "group/g0": true}
	}
	if chance(t, 3) {
		c.Order = map[string][]provider.AccountID{"p0": {"p0/k2", "p0/k1"}}
	}
	if chance(t, 3) {
		c.Caps = map[provider.AccountID]route.Cap{}
		for _, a := range cat.AllAccounts() {
			c.Caps[a.ID] = route.Cap{Percent: rapid.SampledFrom([]int{-1, 0, 50}).Draw(t, "cap")}
		}
	}
	return c
}

// chance is true once in n.
func chance(t *rapid.T, n int) bool { return rapid.IntRange(1, n).Draw(t, "chance") == n }

func drawConfig(t *rapid.T) *config.Config {
	cfg := config.Default()
	providers := rapid.IntRange(1, 4).Draw(t, "providers")
	for i := range providers {
		p := config.Provider{ID: fmt.Sprintf("p%d", i), NoPreset: true, Off: chance(t, 10), Routing: drawRouting(t), Bases: map[string]string{"chat": "http://p.example/v1"}}
		if chance(t, 2) {
			p.Bases["messages"] = "http://p.example"
		}
		for j := range rapid.IntRange(1, 4).Draw(t, "keys") {
			k := config.Key{Name: fmt.Sprintf("k%d", j), Value: "sk-x", Off: chance(t, 8)}
			if chance(t, 6) {
				k.Models = []string{"m1"}
			}
			if chance(t, 6) {
				k.Protocol = "messages"
			}
			p.Keys = append(p.Keys, k)
		}
		for j := range rapid.IntRange(0, 2).Draw(t, "accounts") {
			p.Accounts = append(p.Accounts, config.Account{Name: fmt.Sprintf("a%d", j), Cap: rapid.SampledFrom([]int{0, 0, 60}).Draw(t, "cap")})
		}
		if chance(t, 2) {
			p.Models = []config.Model{drawModel(t, "m1"), drawModel(t, "m2")}
		}
		for range rapid.IntRange(0, 3).Draw(t, "fallbacks") {
			p.Fallback = append(p.Fallback, drawRef(t, providers))
		}
		cfg.Providers = append(cfg.Providers, p)
	}
	groups := rapid.IntRange(0, 4).Draw(t, "groups")
	for i := range groups {
		g := config.Group{ID: fmt.Sprintf("g%d", i), Off: chance(t, 6), Routing: drawRouting(t), Sticky: rapid.IntRange(0, 3).Draw(t, "sticky")}
		if chance(t, 4) {
			g.Routing = "manual"
		}
		for range rapid.IntRange(1, 4).Draw(t, "members") {
			if i > 0 && chance(t, 3) { // of earlier ones only, so that none leads back
				g.Members = append(g.Members, fmt.Sprintf("group/g%d", rapid.IntRange(0, i-1).Draw(t, "group")))
				continue
			}
			g.Members = append(g.Members, drawRef(t, providers))
		}
		for range rapid.IntRange(0, 4).Draw(t, "rules") {
			g.Rules = append(g.Rules, config.Rule{
				Use: rapid.SampledFrom(g.Members).Draw(t, "use"), Tokens: rapid.SampledFrom([]int{1, 1, 500, 4000}).Draw(t, "at tokens"), Images: chance(t, 6),
				Effort: rapid.SampledFrom([]string{"", "", "", "on", "high"}).Draw(t, "of effort"), Compact: chance(t, 9),
			})
		}
		cfg.Groups = append(cfg.Groups, g)
	}
	return cfg
}

func drawModel(t *rapid.T, id string) config.Model {
	return config.Model{
		ID: id, Context: rapid.SampledFrom([]int{0, 1000, 4000}).Draw(t, "context"),
		Inputs: rapid.SampledFrom([][]string{nil, {"text"}, {"text", "image"}}).Draw(t, "inputs"),
	}
}

func drawRef(t *rapid.T, providers int) string {
	ref := fmt.Sprintf("p%d", rapid.IntRange(0, providers-1).Draw(t, "provider"))
	if chance(t, 4) {
		ref += "@k0"
	}
	return ref + rapid.SampledFrom([]string{"/m1", "/m2", "/m1:low", "/m1:high"}).Draw(t, "model")
}

func drawStanding(t *rapid.T, _ *provider.Account) route.Standing {
	st := route.Standing{Print: rapid.SampledFrom([]string{"", "x"}).Draw(t, "print")}
	until := func() time.Time {
		return rapid.SampledFrom([]time.Time{{}, now.Add(-time.Minute), now, now.Add(time.Minute)}).Draw(t, "until")
	}
	if chance(t, 6) {
		st.Unready = "not set"
	}
	if chance(t, 5) {
		st.Paused = &trace.Paused{Until: until()}
	}
	if chance(t, 5) {
		st.Pinned = &trace.Pinned{
			Since: now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "since")) * time.Minute), Until: until(),
			Agent: rapid.SampledFrom([]string{"", "claude", "codex"}).Draw(t, "agent"),
			Model: rapid.SampledFrom([]string{"", "m1", "p0/m2"}).Draw(t, "model"), Only: chance(t, 3),
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		w := provider.Window{Name: "7 days", Used: rapid.SampledFrom([]float64{0, 12, 55, 60, 93, 99, 100}).Draw(t, "used"), Read: now}
		w.Span = rapid.SampledFrom([]time.Duration{0, 5 * time.Hour, 7 * day}).Draw(t, "span")
		w.Model = rapid.SampledFrom([]string{"", "", "m2"}).Draw(t, "of model")
		if chance(t, 2) {
			w.Resets = now.Add(time.Duration(rapid.IntRange(-2, 50).Draw(t, "resets")) * time.Hour)
		}
		st.Windows, st.Read = append(st.Windows, w), now
	}
	st.Told = route.Told(st.Windows)
	if chance(t, 3) {
		st.Sunk = route.Sunk{Seq: rapid.Uint64Range(1, 4).Draw(t, "sunk"), At: now.Add(-time.Hour)}
	}
	return st
}

func drawCall(t *rapid.T, cat *provider.Catalog) route.Call {
	c := route.Call{
		Agent:    rapid.SampledFrom([]string{"claude", "codex"}).Draw(t, "agent"),
		Protocol: rapid.SampledFrom([]wire.Protocol{"", wire.Chat, wire.Messages}).Draw(t, "api"),
		Images:   chance(t, 4), Described: chance(t, 3), Compact: chance(t, 8), Turn: rapid.IntRange(0, 3).Draw(t, "turn"),
		Tokens: rapid.SampledFrom([]int{0, 600, 600, 5000}).Draw(t, "tokens"), Effort: rapid.SampledFrom([]string{"", "none", "low", "max"}).Draw(t, "effort"),
	}
	someone := func() provider.AccountID {
		return rapid.SampledFrom(cat.AllAccounts()).Draw(t, "who").ID
	}
	if chance(t, 8) {
		c.Only = someone()
	}
	if chance(t, 8) {
		c.Made = someone()
	}
	if len(cat.Groups) > 0 && chance(t, 2) {
		c.Target = provider.Target{Asked: "group", Group: rapid.SampledFrom(cat.Groups).Draw(t, "group")}
		return c
	}
	p := rapid.SampledFrom(cat.Providers).Draw(t, "provider")
	c.Target = provider.Target{Asked: p.ID + "/m1", Provider: p, Model: "m1"}
	if chance(t, 8) {
		c.Target.Who = "k0"
	}
	return c
}

// configured lists what the config names for a call, by another way than the planner's.
func configured(w world) map[string]bool {
	set := map[string]bool{}
	model := map[string]bool{} // account and model of what is there already
	seats := func(ref provider.Ref, fallback bool) {
		p := w.snap.Catalog.Provider(ref.Provider)
		for _, a := range p.Accounts {
			at := string(a.ID) + "/" + ref.Model
			if ref.Who != "" && !strings.EqualFold(ref.Who, a.Name) || fallback && model[at] {
				continue
			}
			model[at] = true
			set[at+":"+ref.Effort] = true
		}
	}
	var group func(g *provider.Group)
	group = func(g *provider.Group) {
		for _, ref := range g.Members {
			if ref.Group != "" {
				group(w.snap.Catalog.Group(ref.Group))
				continue
			}
			seats(ref, false)
		}
	}
	if g := w.call.Target.Group; g != nil {
		group(g)
		return set
	}
	p := w.call.Target.Provider
	seats(provider.Ref{Provider: p.ID, Model: w.call.Target.Model}, false)
	for _, ref := range p.Fallback {
		seats(ref, true)
	}
	return set
}

func key(c trace.Candidate) string { return c.ID + "/" + c.Model + ":" + c.Effort }

func TestLawEveryConfiguredCandidateIsInThePlanOnceWithAReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		p := route.Plan(&w.snap, w.call)
		seen := map[string]bool{}
		for _, c := range slices.Concat(p.Order, p.Left) {
			if seen[key(c)] {
				t.Fatalf("%s is there twice: %s", key(c), full(p))
			}
			seen[key(c)] = true
			if c.Why.Code == "" || c.Why.N < 1 || c.Why.N > c.Why.Of {
				t.Fatalf("%s has the reason %+v", key(c), c.Why)
			}
		}
		if want := configured(w); !maps.Equal(want, seen) {
			t.Fatalf("configured and planned differ (-configured +planned)\n%s", cmp.Diff(want, seen))
		}
		for _, c := range p.Order {
			if c.Out != "" {
				t.Fatalf("%s is in the order, and out as %s", key(c), c.Out)
			}
		}
		for _, c := range p.Left {
			if c.Out != string(c.Why.Code) {
				t.Fatalf("%s is out as %q because %q", key(c), c.Out, c.Why.Code)
			}
		}
	})
}

func TestLawWhoMustNotBeAskedIsNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for _, c := range route.Plan(&w.snap, w.call).Order {
			a := w.snap.Catalog.Account(provider.AccountID(c.ID))
			st := w.snap.Standing[a.ID]
			switch {
			case st.Paused != nil && (st.Paused.Until.IsZero() || st.Paused.Until.After(now)):
				t.Fatalf("%s is paused", c.ID)
			case st.Unready != "", a.Off, w.snap.Catalog.Provider(a.Provider).Off, !a.Serves(c.Model):
				t.Fatalf("%s can't serve", c.ID)
			case w.call.Only != "" && a.ID != w.call.Only, w.call.Made != "" && a.ID != w.call.Made:
				t.Fatalf("%s is not the one named", c.ID)
			case c.Capped != 0:
				t.Fatalf("%s is held", c.ID)
			case w.call.Images && !w.call.Described && blind(w, c):
				t.Fatalf("%s sees no images", c.Model)
			case w.call.Own && w.call.Protocol != "" && a.Protocol != "" && a.Protocol != w.call.Protocol:
				t.Fatalf("%s is made for another API", c.ID)
			}
		}
	})
}

func blind(w world, c trace.Candidate) bool {
	m := w.snap.Catalog.Provider(c.Provider).Model(c.Model, nil)
	return len(m.Inputs) > 0 && !slices.Contains(m.Inputs, "image")
}

// Resting goes behind, then pins go before, then own ones before fallbacks.
func TestLawOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		p := route.Plan(&w.snap, w.call)
		pinned := func(c trace.Candidate) bool { return c.Why.Code == trace.WhyPinned }
		for i := 1; i < len(p.Order); i++ {
			a, b := p.Order[i-1], p.Order[i]
			switch {
			case a.Rest != nil && b.Rest == nil:
				t.Fatalf("%s rests and stands before %s, which does not: %s", a.ID, b.ID, line(p))
			case a.Rest != nil || b.Rest != nil, w.call.Made != "": // of which who made the reply is told, not the pin
				continue
			case pinned(b) && !pinned(a):
				t.Fatalf("%s is pinned and stands behind %s, which is not: %s", b.ID, a.ID, line(p))
			case pinned(a) == pinned(b) && !pinned(a) && a.Fallback && !b.Fallback:
				t.Fatalf("fallback %s stands before own %s: %s", a.ID, b.ID, line(p))
			}
		}
		for _, c := range p.Order {
			st := w.snap.Standing[provider.AccountID(c.ID)]
			for _, id := range []string{c.ID, c.ID + "/" + c.Model} {
				r, ok := w.snap.Rests[id]
				if ok && r.Until.After(now) && (r.Print == "" || st.Print == "" || r.Print == st.Print) && c.Rest == nil {
					t.Fatalf("%s rests by %s and does not say so", c.ID, id)
				}
			}
		}
	})
}

func TestLawSameSnapshotSameAskSamePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		standing, rests := maps.Clone(w.snap.Standing), maps.Clone(w.snap.Rests)
		rounds := fmt.Sprint(w.snap.Rounds)
		first, second := route.Plan(&w.snap, w.call), route.Plan(&w.snap, w.call)
		carried, _ := route.Decide(&w.snap, w.call)
		if diff := cmp.Diff(first, carried); diff != "" {
			t.Fatalf("the look and the plan that is carried out differ\n%s", diff)
		}
		if got := fmt.Sprint(w.snap.Rounds); got != rounds {
			t.Fatalf("planning changed the rounds: %s", got)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("two plans differ\n%s", diff)
		}
		if diff := cmp.Diff(standing, w.snap.Standing) + cmp.Diff(rests, w.snap.Rests); diff != "" {
			t.Fatalf("planning changed the snapshot\n%s", diff)
		}
	})
}

func TestLawNobodyToAskIsRefusedInWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		p := route.Plan(&w.snap, w.call)
		r := route.Refuse(p, w.call)
		switch {
		case r == nil && len(p.Order) == 0:
			t.Fatal("nobody to ask, and no word about it")
		case r == nil:
			return
		case r.Status < 400 || r.Status > 599 || r.Code == "" || r.Words == "":
			t.Fatalf("refusal %+v", r)
		case !r.RetryAt.IsZero() && !r.RetryAt.After(now):
			t.Fatalf("retry at %v, which is past", r.RetryAt)
		case len(p.Order) > 0 && slices.ContainsFunc(p.Order, func(c trace.Candidate) bool { return c.Rest == nil }):
			t.Fatalf("%s could be asked: %+v", line(p), r)
		}
	})
}

// A desk is used again: a plan must not change under whoever has it while others are made there.
func TestLawWhatIsMadeOnADeskStays(t *testing.T) {
	var desk route.Desk
	rapid.Check(t, func(t *rapid.T) {
		one, other := drawWorld(t), drawWorld(t)
		want := fmt.Sprintf("%+v", route.Plan(&one.snap, one.call))
		got, _ := desk.Decide(&one.snap, one.call)
		desk.Decide(&other.snap, other.call)
		if diff := cmp.Diff(route.Plan(&one.snap, one.call), got); diff != "" || stripped(fmt.Sprintf("%+v", got)) != stripped(want) {
			t.Fatalf("the plan changed\n%s", diff)
		}
	})
}

var address = regexp.MustCompile(`0x[0-9a-f]+`)

// stripped takes the addresses of what is pointed to out of a printed value.
func stripped(s string) string { return address.ReplaceAllString(s, "") }
