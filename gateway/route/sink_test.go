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

// sink has an account rate limited, and its rest ended since.
func (b *board) sink(id provider.AccountID, seq uint64) {
	st := b.snap.Standing[id]
	st.Sunk = route.Sunk{Seq: seq, At: now.Add(-time.Hour + time.Duration(seq)*time.Minute)}
	b.snap.Standing[id] = st
}

func TestRateLimitedSinksToTheBack(t *testing.T) {
	for _, routing := range []string{"order", "smart", "usage", "pace"} {
		b := drawAs(t, "sink = true\nrouting = \""+routing+`"`, "a 7d=10, b 7d=10, c 7d=10")
		off := drawAs(t, `routing = "`+routing+`"`, "a 7d=10, b 7d=10, c 7d=10")
		for i, step := range []struct{ limit, want string }{{"a", "b c a"}, {"b", "c a b"}, {"c", "a b c"}, {"a", "b c a"}} {
			b.sink(provider.AccountID("own/"+step.limit), uint64(i+1))
			off.sink(provider.AccountID("own/"+step.limit), uint64(i+1))
			if got := line(route.Plan(&b.snap, b.call())); got != step.want {
				t.Errorf("%s: limit %s\n got %s\nwant %s", routing, step.limit, got, step.want)
			}
			if got := line(route.Plan(&off.snap, off.call())); got != "a b c" {
				t.Errorf("%s: without sink: %s", routing, got)
			}
		}
	}
}

func TestSunkAndReadyGoesBeforeResting(t *testing.T) {
	b := drawAs(t, `sink = true`, "a sunk=1, b rests, c fine")
	p := route.Plan(&b.snap, b.call())
	if got := line(p); got != "c a b*" {
		t.Error(got)
	}
	if a := p.Order[1]; a.Sunk == nil || !a.Sunk.Equal(now.Add(-time.Hour)) || a.Why.Code != trace.WhySunk || !a.Why.At.Equal(*a.Sunk) || p.Order[0].Sunk != nil {
		t.Errorf("%+v", p.Order)
	}
}

func TestWhoSinksNot(t *testing.T) {
	b := drawAs(t, "sink = true\nrouting = \"rotate\"", "a sunk=1, b fine")
	if p := route.Plan(&b.snap, b.call()); line(p) != "a b" || p.Order[0].Sunk != nil {
		t.Errorf("in turn: %s", line(p))
	}
	b = drawAs(t, `routing = "order"`, "a sunk=1, b fine")
	b.snap.Choices.Sink = map[string]bool{"own": true}
	if got := line(route.Plan(&b.snap, b.call())); got != "b a" {
		t.Errorf("set at run time: %s", got)
	}
	b = drawAs(t, `sink = true`, "a for-chat sunk=1, b fine, c for-chat")
	if got := line(route.Plan(&b.snap, b.call())); got != "c a b" {
		t.Errorf("an aside one goes last all the same: %s", got)
	}
	b = drawAs(t, `sink = true`, "a sunk=1, b fine; x fine")
	if got := line(route.Plan(&b.snap, b.call())); got != "b a x" {
		t.Errorf("own sunk ones go before a fallback: %s", got)
	}
}

func TestAPersonsPickSinksNot(t *testing.T) {
	b, c := group(t, "[groups.g]\nrouting = \"manual\"\nsink = true\nmembers = [\"a/x\", \"c/y\"]")
	b.sink("a/k1", 1)
	if p := route.Plan(&b.snap, c); full(p) != "a/k1/x a/k2/x | c/k1/y(not-picked)" || p.Order[0].Sunk != nil {
		t.Error(full(p))
	}
	b.cat.Group("g").Routing = "order"
	if p := route.Plan(&b.snap, c); full(p) != "a/k2/x c/k1/y a/k1/x" {
		t.Errorf("in order: %s", full(p))
	}
}

func TestGroupRateLimitedSinks(t *testing.T) {
	text := `
[providers.a]
chat = "http://a.example/v1"
keys = [{ value = "x" }]
[providers.b]
chat = "http://b.example/v1"
keys = [{ value = "y" }]
[providers.c]
chat = "http://c.example/v1"
keys = [{ value = "z" }]
[groups.g]
members = ["a/m", "b/m", "c/m"]
sink = %v
routing = "%s"
`
	for _, routing := range []string{"order", "smart"} {
		for sink, want := range map[bool]string{true: "b c a", false: "a b c"} {
			cat := catalog(t, fmt.Sprintf(text, sink, routing))
			b := board{cat: cat, snap: route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{}, Served: map[provider.AccountID]route.Lately{}}}
			b.sink("a/key1", 1)
			p := route.Plan(&b.snap, route.Call{Target: provider.Target{Group: cat.Group("g")}})
			var got []string
			for _, c := range p.Order {
				got = append(got, c.Provider)
				if (c.Sunk != nil) != (sink && c.Provider == "a") {
					t.Errorf("%s: sunk %v", c.ID, c.Sunk)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, sink %v: got %v, want %s", routing, sink, got, want)
			}
		}
	}
}
