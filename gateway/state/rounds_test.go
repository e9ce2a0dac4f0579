package state_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// pool is a catalogue with one provider of n keys.
func pool(t *testing.T, routing string, n int) (*provider.Catalog, route.Call) {
	t.Helper()
	text := "[providers.p]\nchat = \"http://p.example/v1\"\nrouting = \"" + routing + "\"\nkeys = ["
	for i := range n {
		text += fmt.Sprintf("{ name = \"k%d\", value = \"sk-x\" },", i)
	}
	cfg, err := config.Parse("config.toml", []byte(text+"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	cat, problems := provider.Build(cfg)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cat, route.Call{Target: provider.Target{Asked: "p/m", Provider: cat.Provider("p"), Model: "m"}}
}

func TestPlansAtOnceNeverGetTheSameTurnConcurrentSafe(t *testing.T) {
	for _, routing := range []string{"rotate", "weight"} {
		cat, call := pool(t, routing, 4)
		s := open(t, state.Options{})
		var mu sync.Mutex
		count := map[string]int{}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 50 {
					p, _ := s.Decide(s.Snapshot(cat, now), call)
					mu.Lock()
					count[p.Order[0].ID]++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		for id, n := range count {
			if n != 100 {
				t.Errorf("%s: %s went first %d times of 400", routing, id, n)
			}
		}
		if r := s.Snapshot(cat, now).Rounds["p"]; routing == "rotate" && r.Turn != 400 {
			t.Errorf("%d turns", r.Turn)
		}
	}
}

func TestASnapshotIsWhatItWasWhenTurnsGoOn(t *testing.T) {
	cat, call := pool(t, "rotate", 3)
	s := open(t, state.Options{})
	s.Decide(s.Snapshot(cat, now), call)
	before := s.Snapshot(cat, now)
	s.Decide(before, call)
	if before.Rounds["p"].Turn != 1 || s.Snapshot(cat, now).Rounds["p"].Turn != 2 {
		t.Errorf("%v, %v", before.Rounds, s.Snapshot(cat, now).Rounds)
	}
	if got := route.Plan(before, call).Order[0].ID; got != "p/k1" {
		t.Errorf("a look at it begins with %s", got)
	}
}

func TestTokensServedAreCountedAndTellNobody(t *testing.T) {
	s := open(t, state.Options{})
	told := 0
	s.OnChange(func([]provider.AccountID) { told++ })
	before := s.Snapshot(nil, now)
	s.Served("codex/me", 1000, now)
	s.Served("codex/me", 500, now.Add(time.Hour))
	s.Served("codex/third", 0, now)
	served := s.Snapshot(nil, now).Served
	if got := served["codex/me"].Since(now.Add(time.Hour)); got != 1000 {
		t.Errorf("half of 1000 and 500: %v", got)
	}
	if got := served["codex/third"].Tokens; got != 1 {
		t.Errorf("an answer that tells no count: %v", got)
	}
	if before.Served["codex/me"].Tokens != 0 || told != 0 {
		t.Errorf("an older snapshot changed, or somebody was told %d times", told)
	}
}

func TestWhoSankLaterStandsFurtherBack(t *testing.T) {
	s := open(t, state.Options{})
	var told []provider.AccountID
	s.OnChange(func(ids []provider.AccountID) { told = append(told, ids...) })
	s.Sink("codex/me", now)
	s.Sink("codex/third", now.Add(time.Minute))
	s.Sink("codex/me", now.Add(2*time.Minute))
	st := s.Snapshot(nil, now).Standing
	if me, third := st["codex/me"].Sunk, st["codex/third"].Sunk; me.Seq <= third.Seq || third.Seq == 0 || !me.At.Equal(now.Add(2*time.Minute)) {
		t.Errorf("me %+v, third %+v", me, third)
	}
	if len(told) != 3 {
		t.Errorf("told of %v", told)
	}
}

// Keys a and b are out of their week, c rests by backoff. The limits of a and c are raised:
// a is back at once, b goes by its window still, c by its backoff.
func TestKeyBackOnceItsWindowIsNotFull(t *testing.T) {
	s := open(t, state.Options{})
	spent := func(limit float64) []provider.Window {
		w := window("7 days", 100*800/limit, 72*time.Hour)
		w.Amount, w.Limit, w.Unit = 800, limit, "USD"
		return []provider.Window{w}
	}
	for _, key := range []provider.AccountID{"relay/a", "relay/b", "relay/c"} {
		s.Read(key, spent(800), now)
	}
	put(t, s, rest("relay/a", trace.Quota, trace.ByWindow, 72*time.Hour))
	put(t, s, rest("relay/b", trace.Quota, trace.ByWindow, 72*time.Hour))
	put(t, s, rest("relay/c", trace.Other, trace.ByBackoff, time.Hour))
	s.Read("relay/a", spent(1000), now.Add(time.Minute))
	s.Read("relay/c", spent(1000), now.Add(time.Minute))
	rests := s.Snapshot(nil, now).Rests
	if _, still := rests["relay/a"]; still || rests["relay/b"].By != trace.ByWindow || rests["relay/c"].By != trace.ByBackoff {
		t.Errorf("%+v", rests)
	}
}
