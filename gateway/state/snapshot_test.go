package state_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// copied is a snapshot's content, copied to the last pointer.
type copied struct {
	standing map[provider.AccountID]route.Standing
	rests    map[string]trace.Rest
}

func copyOf(s *route.Snapshot) copied {
	c := copied{standing: map[provider.AccountID]route.Standing{}, rests: maps.Clone(s.Rests)}
	for id, st := range s.Standing {
		if st.Paused != nil {
			p := *st.Paused
			st.Paused = &p
		}
		if st.Pinned != nil {
			p := *st.Pinned
			st.Pinned = &p
		}
		st.Windows, st.Told = slices.Clone(st.Windows), slices.Clone(st.Told)
		for i := range st.Told {
			if r := st.Told[i].Resets; r != nil {
				at := *r
				st.Told[i].Resets = &at
			}
		}
		c.standing[id] = st
	}
	return c
}

func TestASnapshotNeverChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := state.Open(state.Options{}, now)
		if err != nil {
			t.Fatal(err)
		}
		var taken []*route.Snapshot
		var were []copied
		at := now
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
			do(t, s, at)
			snap := s.Snapshot(nil, at)
			taken, were = append(taken, snap), append(were, copyOf(snap))
		}
		for i, snap := range taken {
			if diff := cmp.Diff(were[i].standing, copyOf(snap).standing) + cmp.Diff(were[i].rests, snap.Rests); diff != "" {
				t.Fatalf("snapshot %d changed after it was taken\n%s", i, diff)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// do makes one change of any kind.
func do(t *rapid.T, s *state.Store, at time.Time) {
	id := rapid.SampledFrom(ids{"codex/me", "codex/team", "codex/third", "ollama"}).Draw(t, "id")
	until := at.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "until")) * time.Second)
	key := string(id)
	if rapid.Bool().Draw(t, "of a model") {
		key += "/m"
	}
	by := rapid.SampledFrom([]trace.RestBy{trace.ByQuota, trace.ByWindow, trace.ByBackoff}).Draw(t, "by")
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1:
		s.PutRest(trace.Rest{Key: key, Why: trace.Quota, By: by, Since: at, Until: until}, s.Past(key).Gen)
	case 2:
		s.Answered(string(id), string(id)+"/m", at)
	case 3:
		s.Wake(ids{id}, at)
	case 4:
		s.Pause(ids{id}, until, at)
	case 5:
		s.Resume(ids{id}, at)
	case 6:
		s.Pin(id, trace.Pinned{Until: until}, at)
	case 7:
		s.Undo(at)
	case 8:
		used := rapid.SampledFrom([]float64{0, 50, 100}).Draw(t, "used")
		s.Read(id, []provider.Window{{Name: "7 days", Used: used, Resets: until, Partial: rapid.Bool().Draw(t, "partial"), Read: at}}, at)
	case 9:
		s.SetPrint(id, rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "print"))
	}
}

func TestARestIsRememberedAsItStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := state.Open(state.Options{}, now)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		at := now
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			do(t, s, at)
		}
		snap := s.Snapshot(nil, at)
		for key, r := range snap.Rests {
			past := s.Past(key)
			if past.Gen == 0 || !past.Until.Equal(r.Until) || past.Kind != r.Why {
				t.Fatalf("a rest %+v stands beside what is remembered of it %+v", r, past)
			}
		}
	})
}

func TestWhatTheRequestPathCosts(t *testing.T) {
	s := open(t, state.Options{})
	cat := catalog(t)
	for i := range 100 {
		put(t, s, rest(time.Duration(i).String(), trace.Quota, trace.ByQuota, time.Hour))
	}
	s.Answered("codex/me", "codex/me/m", now)
	if n := testing.AllocsPerRun(100, func() { s.Snapshot(cat, now) }); n > 1 {
		t.Errorf("a snapshot: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { s.Answered("codex/me", "codex/me/m", now) }); n > 0 {
		t.Errorf("an answer of one that nothing is held against: %v allocations", n)
	}
	for i := range 50 {
		s.Served(provider.AccountID(fmt.Sprint("codex/", i)), 10, now)
	}
	if n := testing.AllocsPerRun(100, func() { s.Served("codex/me", 10, now) }); n > 5 {
		t.Errorf("tokens that one of fifty accounts served: %v allocations", n)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s := open(b, state.Options{})
	b.ReportAllocs()
	for b.Loop() {
		s.Snapshot(nil, now)
	}
}

func BenchmarkAnswered(b *testing.B) {
	s := open(b, state.Options{})
	b.ReportAllocs()
	for b.Loop() {
		s.Answered("codex/me", "codex/me/m", now)
	}
}

func BenchmarkRead(b *testing.B) {
	s := open(b, state.Options{})
	w := []provider.Window{window("5 hours", 10, time.Hour), window("7 days", 20, time.Hour)}
	b.ReportAllocs()
	for b.Loop() {
		s.Read("codex/me", w, now)
	}
}
