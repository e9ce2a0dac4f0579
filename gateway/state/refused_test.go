package state_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func refusedBy(id provider.AccountID, level string, at time.Time) state.Refused {
	return state.Refused{ID: id, Model: "gpt-5.4", Level: level, Takes: []string{"low", "high"}, At: at}
}

func TestALevelThatAPlanRefusedIsRememberedForADay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, folder(dir))
	if s.RefusesAny() {
		t.Error("something is remembered")
	}
	s.NoteRefused(refusedBy("codex/me", "xhigh", now))
	for _, c := range []struct {
		id           provider.AccountID
		model, level string
		at           time.Time
		want         bool
	}{
		{"codex/me", "gpt-5.4", "xhigh", now, true},
		{"codex/me", "gpt-5.4", "high", now, false},
		{"codex/me", "gpt-5.5", "xhigh", now, false},
		{"codex/team", "gpt-5.4", "xhigh", now, false},
		{"codex/me", "gpt-5.4", "xhigh", now.Add(24*time.Hour - time.Second), true},
		{"codex/me", "gpt-5.4", "xhigh", now.Add(24 * time.Hour), false},
	} {
		if r, ok := s.Refuses(c.id, c.model, c.level, c.at); ok != c.want || ok && strings.Join(r.Takes, " ") != "low high" {
			t.Errorf("%+v: %v %+v", c, ok, r)
		}
	}
	shut(t, s)

	t.Run("over a restart", func(t *testing.T) {
		again, err := state.Open(folder(dir), now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, again)
		if _, ok := again.Refuses("codex/me", "gpt-5.4", "xhigh", now); !ok {
			t.Error("it was forgotten")
		}
	})
	t.Run("not for longer, nor from a time to come", func(t *testing.T) {
		for _, at := range []time.Time{now.Add(25 * time.Hour), now.Add(-time.Hour)} {
			again, err := state.Open(folder(dir), at)
			if err != nil {
				t.Fatal(err)
			}
			if again.RefusesAny() {
				t.Errorf("at %s it is known", at)
			}
			shut(t, again)
		}
	})
}

func TestWakingAnAccountForgetsWhatItRefused(t *testing.T) {
	s := open(t, folder(t.TempDir()))
	defer shut(t, s)
	s.NoteRefused(refusedBy("codex/me", "xhigh", now))
	s.NoteRefused(refusedBy("codex/team", "xhigh", now))
	s.Wake(ids{"codex/me"}, now)
	if _, ok := s.Refuses("codex/me", "gpt-5.4", "xhigh", now); ok {
		t.Error("it is still known")
	}
	if _, ok := s.Refuses("codex/team", "gpt-5.4", "xhigh", now); !ok {
		t.Error("another's was forgotten")
	}
}

func TestRefusedLevelsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, folder(dir))
	for i := range 400 {
		s.NoteRefused(refusedBy(provider.AccountID(fmt.Sprintf("codex/a%d", i)), "xhigh", now.Add(time.Duration(i)*time.Second)))
	}
	if _, ok := s.Refuses("codex/a399", "gpt-5.4", "xhigh", now); !ok {
		t.Error("the newest is not known")
	}
	if _, ok := s.Refuses("codex/a0", "gpt-5.4", "xhigh", now); ok {
		t.Error("the oldest is known")
	}
	shut(t, s)
	data, err := os.ReadFile(dir + "/choices.json")
	if err != nil || strings.Count(string(data), `"level"`) != 256 {
		t.Errorf("%v, %d in the file", err, strings.Count(string(data), `"level"`))
	}
}

func TestTurnsAreForgottenAfterADayAndTheOldestFirst(t *testing.T) {
	s := open(t, folder(t.TempDir()))
	defer shut(t, s)
	note := func(key string, n int, at time.Time) {
		s.NoteTurn(key, at, func(u *state.Turn) { u.Decided = route.Decided{Turn: n, N: 1} })
	}
	note("group/g|s|w", 3, now)
	s.NoteTurn("group/g|s|w", now, func(u *state.Turn) {
		u.Counted, u.Judged = 500, trace.Classified{By: "c/m"}
	})
	if got, ok := s.Turn("group/g|s|w", now.Add(24*time.Hour-time.Second)); !ok || got.Turn != 3 || got.Counted != 500 || got.Judged.By != "c/m" {
		t.Errorf("%v %+v", ok, got)
	}
	if _, ok := s.Turn("group/g|s|w", now.Add(24*time.Hour)); ok {
		t.Error("it is known after a day")
	}
	for i := range 4096 {
		note(fmt.Sprintf("k%d", i), i, now)
	}
	note("k0", 7, now)
	note("one more", 1, now)
	if _, ok := s.Turn("k1", now); ok {
		t.Error("the oldest is known")
	}
	if got, ok := s.Turn("k0", now); !ok || got.Turn != 7 {
		t.Error("one that was changed lately was forgotten")
	}
}
