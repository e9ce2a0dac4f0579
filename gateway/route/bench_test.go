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

// large is fifty candidates in ten groups inside one, all with readings, some resting.
func large(tb testing.TB) (route.Snapshot, route.Call) {
	var text strings.Builder
	var members []string
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
	s := route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{}, Rests: map[string]trace.Rest{}}
	for i, a := range cat.AllAccounts() {
		windows := []provider.Window{{Name: "7 days", Used: float64(i), Resets: now.AddDate(0, 0, 3), Read: now}}
		s.Standing[a.ID] = route.Standing{Windows: windows, Told: route.Told(windows), Read: now}
		if i%10 == 0 {
			s.Rests[route.RestKey(a)] = trace.Rest{Key: route.RestKey(a), Why: trace.Rate, Until: now.AddDate(0, 0, 1)}
		}
	}
	return s, route.Call{Target: provider.Target{Asked: "all", Group: cat.Group("all")}, Agent: "codex", Protocol: wire.Chat}
}

func BenchmarkPlanFiftyInTenGroups(b *testing.B) {
	s, c := large(b)
	if n := len(route.Plan(&s, c).Order); n != 50 {
		b.Fatalf("%d candidates", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		route.Plan(&s, c)
	}
}

func TestAPlanCostsFewAllocations(t *testing.T) {
	d := draw(t, "a fine")
	one := d.call()
	if n := testing.AllocsPerRun(100, func() { route.Plan(&d.snap, one) }); n > 3 {
		t.Errorf("one candidate: %v allocations, want 3 at most", n)
	}
	s, c := large(t)
	if n := testing.AllocsPerRun(100, func() { route.Plan(&s, c) }); n > 200 {
		t.Errorf("fifty candidates: %v allocations, want 200 at most", n)
	}
}
