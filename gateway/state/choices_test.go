package state_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

type ids = []provider.AccountID

// stands writes who is paused, pinned or rests: "me paused, third pinned-only, me/m rests".
func stands(s *state.Store, at time.Time) string {
	snap := s.Snapshot(nil, at)
	var words []string
	for _, id := range (ids{"codex/me", "codex/team", "codex/third"}) {
		st := snap.Standing[id]
		who := strings.TrimPrefix(string(id), "codex/")
		if st.PausedAt(at) != nil {
			words = append(words, who+" paused")
		}
		if p := st.PinnedAt(at); p != nil {
			word := who + " pinned"
			if p.Only {
				word += "-only"
			}
			words = append(words, word)
		}
		for _, key := range []string{string(id), string(id) + "/m"} {
			if r, ok := snap.Rests[key]; ok && at.Before(r.Until) {
				words = append(words, strings.TrimPrefix(key, "codex/")+" rests")
			}
		}
	}
	return strings.Join(words, ", ")
}

func TestChoicesAndUndo(t *testing.T) {
	s := open(t, state.Options{})
	put(t, s, rest("codex/me", trace.Rate, trace.ByBackoff, time.Hour))
	put(t, s, rest("codex/me/m", trace.Quota, trace.ByQuota, 2*time.Hour))
	put(t, s, rest("codex/third", trace.Rate, trace.ByBackoff, time.Hour))
	expect := func(want string) {
		t.Helper()
		if got := stands(s, now); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	changed := func(got ids, want ...provider.AccountID) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changed (-want +got)\n%s", diff)
		}
	}
	undone := func(want string, who ...provider.AccountID) {
		t.Helper()
		words, ids, ok := s.Undo(now)
		if !ok || words != want {
			t.Errorf("undo says %q, want %q", words, want)
		}
		changed(ids, who...)
	}

	changed(s.Pause(ids{"codex/me", "codex/team"}, time.Time{}, now), "codex/me", "codex/team")
	changed(s.Pause(ids{"codex/me", "codex/third"}, time.Time{}, now), "codex/third")
	changed(s.Pause(ids{"codex/me"}, time.Time{}, now))
	changed(s.Resume(ids{"codex/team"}, now), "codex/team")
	changed(s.Resume(ids{"codex/team"}, now))
	changed(s.Pin("codex/team", trace.Pinned{}, now), "codex/team")
	changed(s.Pin("codex/team", trace.Pinned{}, now.Add(time.Second)))
	changed(s.Pin("codex/team", trace.Pinned{Only: true}, now), "codex/team")
	lifted := s.Wake(ids{"codex/me", "codex/team"}, now)
	if len(lifted) != 2 || lifted[0].Key != "codex/me" || lifted[1].Key != "codex/me/m" {
		t.Errorf("lifted %v", lifted)
	}
	if again := s.Wake(ids{"codex/me", "codex/team"}, now); len(again) != 0 {
		t.Errorf("lifted again %v", again)
	}
	changed(s.Unpin(ids{"codex/me", "codex/team"}, now), "codex/team")
	changed(s.Unpin(ids{"codex/team"}, now))

	expect("me paused, third paused, third rests")
	undone("took back the unpinning of codex/team", "codex/team")
	expect("me paused, team pinned-only, third paused, third rests")
	undone("took back the waking of codex/me", "codex/me")
	expect("me paused, me rests, me/m rests, team pinned-only, third paused, third rests")
	undone("took back the pin of codex/team", "codex/team")
	expect("me paused, me rests, me/m rests, team pinned, third paused, third rests")
	undone("took back the pin of codex/team", "codex/team")
	undone("took back the resuming of codex/team", "codex/team")
	expect("me paused, me rests, me/m rests, team paused, third paused, third rests")
	undone("took back the pause of codex/third", "codex/third")
	undone("took back the pause of 2 accounts", "codex/me", "codex/team")
	expect("me rests, me/m rests, third rests")
	if words, ids, ok := s.Undo(now); ok || words != "" || ids != nil {
		t.Errorf("there is nothing left, but %q", words)
	}
}

func TestOnlyTheLastTwentyCanBeTakenBack(t *testing.T) {
	s := open(t, state.Options{})
	for i := range 25 {
		s.Pause(ids{"codex/me"}, now.Add(time.Duration(i+1)*time.Minute), now)
	}
	n := 0
	for {
		if _, _, ok := s.Undo(now); !ok {
			break
		}
		n++
	}
	if n != 20 {
		t.Errorf("%d were taken back", n)
	}
	if p := s.Snapshot(nil, now).Standing["codex/me"].Paused; p == nil || !p.Until.Equal(now.Add(5*time.Minute)) {
		t.Errorf("what was before them stands: %+v", p)
	}
}

func TestPausesAndPinsEndByThemselves(t *testing.T) {
	s := open(t, state.Options{})
	s.Pause(ids{"codex/me"}, now.Add(time.Hour), now)
	s.Pin("codex/team", trace.Pinned{Until: now.Add(time.Hour)}, now)
	if got := stands(s, now.Add(59*time.Minute)); got != "me paused, team pinned" {
		t.Errorf("before: %q", got)
	}
	at := now.Add(time.Hour)
	if got := stands(s, at); got != "" {
		t.Errorf("after: %q", got)
	}
	if got := s.Resume(ids{"codex/me"}, at); got != nil {
		t.Errorf("one that is over can't be ended: %v", got)
	}
	if got := s.Pause(ids{"codex/third"}, time.Time{}, at); len(got) != 1 {
		t.Errorf("changed %v", got)
	}
	st := s.Snapshot(nil, at).Standing
	if st["codex/me"].Paused != nil || st["codex/team"].Pinned != nil {
		t.Error("those that are over are dropped with the next change")
	}
	if _, _, ok := s.Undo(at); !ok || stands(s, at) != "" {
		t.Errorf("after taking that back: %q", stands(s, at))
	}
	if _, _, ok := s.Undo(at); !ok || stands(s, at) != "" {
		t.Errorf("taking a pin back that is over: %q", stands(s, at))
	}
}

func TestTakingAWakingBackLeavesANewerRestAlone(t *testing.T) {
	s := open(t, state.Options{})
	put(t, s, rest("codex/me", trace.Quota, trace.ByQuota, time.Hour))
	s.Wake(ids{"codex/me"}, now)
	past := s.Past("codex/me")
	if past.Failures != 1 || !past.Until.Equal(now) {
		t.Errorf("what a woken one did before still counts, its rest is over: %+v", past)
	}
	newer := rest("codex/me", trace.Rate, trace.ByCooldown, time.Minute)
	put(t, s, newer)
	s.Undo(now)
	if got := s.Snapshot(nil, now).Rests["codex/me"]; got != newer {
		t.Errorf("rest %+v", got)
	}
}

func TestASecretThatChangedStartsFree(t *testing.T) {
	s := open(t, state.Options{})
	with := func(key, print string) trace.Rest {
		r := rest(key, trace.Auth, trace.ByAuth, time.Hour)
		r.Print = print
		return r
	}
	s.SetPrint("codex/me", "one")
	put(t, s, with("codex/me", "one"))
	put(t, s, with("codex/me/m", ""))
	put(t, s, with("codex/third", "other"))
	s.SetPrint("codex/me", "")
	if len(s.Snapshot(nil, now).Rests) != 3 {
		t.Error("a secret that is not known just now changes nothing")
	}
	s.SetPrint("codex/me", "one")
	if len(s.Snapshot(nil, now).Rests) != 3 {
		t.Error("the same secret changes nothing")
	}
	s.SetPrint("codex/me", "two")
	rests := s.Snapshot(nil, now).Rests
	if _, other := rests["codex/third"]; len(rests) != 1 || !other {
		t.Errorf("left %v", rests)
	}
	if s.Past("codex/me").Failures != 0 || s.Past("codex/me/m").Failures != 0 || s.Past("codex/third").Failures != 1 {
		t.Error("what was counted under the old one stays, or more than that went")
	}
	if s.Print("codex/me") != "two" {
		t.Errorf("print %q", s.Print("codex/me"))
	}
}
