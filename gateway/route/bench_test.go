package route_test

import (
	"fmt"
	"strings"
	"testing"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func BenchmarkPlanOne(b *testing.B) {
	d := draw(b, "a fine")
	c := d.call()
	b.ReportAllocs()
	for b.Loop() {
		route.Plan(&d.snap, c)
	}
}

func BenchmarkPlanFourWithOneResting(b *testing.B) {
	d := draw(b, "a fine, b rests, c fine; x fine")
	c := d.call()
	b.ReportAllocs()
	for b.Loop() {
		route.Plan(&d.snap, c)
	}
}

var everyOrder = []string{"smart", "order", "rotate", "usage", "pace", "weight", "best"}

// large is fifty candidates in ten groups inside one, all with readings, some resting.
func large(tb testing.TB, routing string) (route.Snapshot, route.Call) {
	var text strings.Builder
	var members []string
	fmt.Fprintf(&text, "routing = %q\nsink = true\n", routing)
	for i := range 10 {
		fmt.Fprintf(&text, "[providers.p%d]\nchat = \"http://p.example/v1\"\nkeys = [", i)
		for j := range 5 {
			fmt.Fprintf(&text, `{ name = "k%d", value = "sk-x" },`, j)
		}
		fmt.Fprintf(&text, "]\n[groups.g%d]\nmembers = [\"p%d/m\"]\n", i, i)
		members = append(members, fmt.Sprintf("%q", fmt.Sprintf("group/g%d", i)))
	}
	fmt.Fprintf(&text, "[groups.all]\nmembers = [%s]\n", strings.Join(members, ", "))
	cat := catalog(tb, text.String())
	s := route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{}, Rests: map[string]trace.Rest{}, Served: map[provider.AccountID]route.Lately{}}
	for i, a := range cat.AllAccounts() {
		windows := []provider.Window{{Name: "7 days", Used: float64(2 * i), Resets: now.AddDate(0, 0, 50-i), Read: now}}
		st := route.Standing{Windows: windows, Told: route.Told(windows), Read: now}
		s.Served[a.ID] = route.Lately{Tokens: float64(50 - i), At: now}
		if i%10 == 5 {
			st.Sunk = route.Sunk{Seq: uint64(60 - i), At: now}
		}
		s.Standing[a.ID] = st
		if i%10 == 0 {
			s.Rests[route.RestKey(a)] = trace.Rest{Key: route.RestKey(a), Why: trace.Rate, Until: now.AddDate(0, 0, 1)}
		}
	}
	return s, route.Call{Target: provider.Target{Asked: "all", Group: cat.Group("all")}, Agent: "codex", Protocol: wire.Chat}
}

func BenchmarkPlanFiftyInTenGroups(b *testing.B) {
	for _, routing := range everyOrder {
		b.Run(routing, func(b *testing.B) {
			s, c := large(b, routing)
			if p, _ := route.Decide(&s, c); len(p.Order) != 50 {
				b.Fatalf("%d candidates", len(p.Order))
			}
			var desk route.Desk
			b.ReportAllocs()
			for b.Loop() {
				desk.Decide(&s, c)
			}
		})
	}
}

func TestAPlanCostsFewAllocations(t *testing.T) {
	d := draw(t, "a fine")
	one := d.call()
	var desk route.Desk
	if n := testing.AllocsPerRun(100, func() { desk.Decide(&d.snap, one) }); n > 1 {
		t.Errorf("one candidate: %v allocations, want 1 at most", n)
	}
	for _, routing := range everyOrder {
		s, c := large(t, routing)
		if n := testing.AllocsPerRun(100, func() { route.Decide(&s, c) }); n > 200 {
			t.Errorf("fifty candidates by %s: %v allocations, want 200 at most", routing, n)
		}
		if n := testing.AllocsPerRun(100, func() { desk.Decide(&s, c) }); n > 60 {
			t.Errorf("fifty candidates by %s on a desk: %v allocations, want 60 at most", routing, n)
		}
	}
}
