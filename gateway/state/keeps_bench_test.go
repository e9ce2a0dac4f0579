package state_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/provider"
)

// crowd remembers n conversations of two scopes and eight accounts, with ids as agents make them.
func crowd(s *state.Store, n int) {
	for i := range n {
		id := fmt.Sprintf("0192f3aa-7b1c-7d0e-9a51-%012x", i)
		keep(s, talk([]string{"anthropic/claude-sonnet-5-5", "group/always-on"}[i%2], id), route.Keep{
			Who: route.Who{ID: provider.AccountID(fmt.Sprint("anthropic/account-", i%8)), Model: "claude-sonnet-5-5"}, Turn: i, At: now.Unix() + int64(i/1000), CacheRead: 5000,
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAHundredThousandConversationsTakeLittleMemory(t *testing.T) {
	before := heap()
	s := open(t, state.Options{})
	crowd(s, 100_000)
	used := heap() - before
	t.Logf("%.1f MB, %d bytes for each", float64(used)/1e6, used/100_000)
	if used > 60_000_000 {
		t.Errorf("100,000 conversations take %d bytes", used)
	}
	crowd(s, 150_000) // the latest are kept, and no more of them
	if more := heap() - before; more > 60_000_000 {
		t.Errorf("150,000 conversations take %d bytes", more)
	}
	if answerer(s, talk("group/always-on", fmt.Sprintf("0192f3aa-7b1c-7d0e-9a51-%012x", 149_999)), now) == "" ||
		answerer(s, talk("group/always-on", fmt.Sprintf("0192f3aa-7b1c-7d0e-9a51-%012x", 49_999)), now) != "" {
		t.Error("those kept are not the latest")
	}
}

func TestWhatARememberedConversationCostsARequest(t *testing.T) {
	s := open(t, state.Options{})
	crowd(s, 10_000)
	known := talk("group/always-on", fmt.Sprintf("0192f3aa-7b1c-7d0e-9a51-%012x", 9_999))
	at := now.Add(20 * time.Second)
	if n := testing.AllocsPerRun(100, func() { s.Kept(known, at) }); n > 1 {
		t.Errorf("looking one up: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { s.Kept(talk("group/always-on", "new"), at) }); n > 0 {
		t.Errorf("looking for one that is not known: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { keep(s, known, by("anthropic/account-1", at)) }); n > 0 {
		t.Errorf("remembering one: %v allocations", n)
	}
}

func BenchmarkConversations(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		s := open(b, state.Options{})
		crowd(s, n)
		known, at := talk("group/always-on", fmt.Sprintf("0192f3aa-7b1c-7d0e-9a51-%012x", n-1)), now.Add(100*time.Second)
		b.Run(fmt.Sprint("lookup of ", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Kept(known, at)
			}
		})
		b.Run(fmt.Sprint("count among ", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Held(known, at)
			}
		})
		b.Run(fmt.Sprint("remember one of ", n), func(b *testing.B) {
			k := by("anthropic/account-1", at)
			b.ReportAllocs()
			for b.Loop() {
				keep(s, known, k)
			}
		})
	}
}
