package state_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/provider"
)

func talk(scope, id string) state.Talk { return state.Talk{Scope: scope, ID: id} }

func by(id provider.AccountID, at time.Time) route.Keep {
	return route.Keep{Who: route.Who{ID: id, Model: "m"}, Turn: 1, At: at.Unix(), CacheRead: 2500}
}

func keep(s *state.Store, t state.Talk, k route.Keep) { s.Keep(t, t.ID, k) }

// answerer is who answered, "" for nobody known.
func answerer(s *state.Store, t state.Talk, at time.Time) provider.AccountID {
	if k := s.Kept(t, at); k != nil {
		return k.ID
	}
	return ""
}

func inFile(t *testing.T, path string) map[string]map[string]any {
	t.Helper()
	var all map[string]map[string]any
	read(t, path, &all)
	return all
}

func TestAConversationsAnswererSurvivesRestart(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	want := route.Keep{Who: route.Who{ID: "codex/me", Model: "m", Effort: "high"}, Turn: 3, At: now.Unix(), CacheRead: 2500}
	keep(s, talk("group/g", "s1"), want)
	shut(t, s)
	again := open(t, o)
	got := again.Kept(talk("group/g", "s1"), now.Add(time.Hour))
	if got == nil {
		t.Fatal("nobody is known")
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if again.Kept(talk("group/g", "s2"), now) != nil || again.Kept(talk("codex/m", "s1"), now) != nil {
		t.Error("another conversation, or that of another scope, is known")
	}
	shut(t, again)
	late, err := state.Open(o, now.Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, late)
	if late.Kept(talk("group/g", "s1"), now.Add(24*time.Hour)) != nil {
		t.Error("after 24 hours it is known still")
	}
}

func TestTheFileOfConversationsIsBounded(t *testing.T) {
	dir := t.TempDir()
	o := folder(dir)
	o.Affinity = filepath.Join(dir, "of its own", "affinity.json")
	s := open(t, o)
	at := now.Add(24*time.Hour + time.Minute)
	keep(s, talk("own/m", "old"), by("own/a", now))
	for i := range 562 {
		keep(s, talk("own/m", fmt.Sprint("s", i)), by("own/a", at.Add(time.Duration(i-562)*time.Second)))
	}
	shut(t, s)
	mode(t, o.Affinity, 0o600)
	mode(t, filepath.Dir(o.Affinity), 0o700|fs.ModeDir)
	all := inFile(t, o.Affinity)
	if len(all) != 512 || all["own/m|old"] != nil || all["own/m|s49"] != nil || all["own/m|s50"] == nil || all["own/m|s561"] == nil {
		t.Errorf("the file has %d conversations, of which the oldest ought to be s50", len(all))
	}
	again, err := state.Open(o, at)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, again)
	known := 0
	for i := range 562 {
		if again.Kept(talk("own/m", fmt.Sprint("s", i)), at) != nil {
			known++
		}
	}
	if known != 512 || again.Kept(talk("own/m", "old"), at) != nil {
		t.Errorf("%d are read back, want 512 without the old one", known)
	}
}

func TestTheFileOfConversationsKeepsALinkAndSwitchesItsTarget(t *testing.T) {
	dir := t.TempDir()
	o := folder(dir)
	seed(t, filepath.Join(dir, "elsewhere", "real"), "{}")
	link(t, "elsewhere/real", o.Affinity)
	s := open(t, o)
	keep(s, talk("own/m", "s1"), by("own/a", now))
	shut(t, s)
	mode(t, o.Affinity, 0o777|fs.ModeSymlink)
	if len(inFile(t, filepath.Join(dir, "elsewhere", "real"))) != 1 {
		t.Error("what the link leads to was not written")
	}
}

func TestAConversationIsWrittenWithinASecondOfItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := folder(t.TempDir())
		s, err := state.Open(o, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, s)
		for i := range 4 {
			keep(s, talk("own/m", fmt.Sprint("s", i)), by("own/a", time.Now()))
			<-time.After(900 * time.Millisecond)
			synctest.Wait()
			if n := len(inFile(t, o.Affinity)); n != i+1 {
				t.Errorf("%d conversations are written, want %d", n, i+1)
			}
		}
	})
}

func TestWhatAnotherProcessAnsweredIsReadWhenItIsAskedFor(t *testing.T) {
	o := folder(t.TempDir())
	old, young := open(t, o), open(t, o)
	keep(young, talk("own/m", "both"), by("own/b", now.Add(time.Minute)))
	keep(old, talk("own/m", "both"), by("own/a", now))
	keep(old, talk("own/m", "one"), by("own/a", now))
	if got := answerer(young, talk("own/m", "one"), now); got != "" {
		t.Fatalf("%s is known before anything was written", got)
	}
	shut(t, old)
	if got := answerer(young, talk("own/m", "both"), now); got != "own/b" {
		t.Errorf("what is in memory already: %s", got)
	}
	if got := answerer(young, talk("own/m", "one"), now); got != "own/a" {
		t.Errorf("what the other process answered: %q", got)
	}
	if got := answerer(young, talk("own/m", "both"), now); got != "own/b" {
		t.Errorf("an older entry of the file won: %s", got)
	}
	// The file as it is was looked into: nothing in it is looked for again.
	seed(t, o.Affinity+".new", strings.ReplaceAll(text(t, o.Affinity), "|one", "|two"))
	info, err := os.Stat(o.Affinity)
	if err != nil {
		t.Fatal(err)
	}
	if got := answerer(young, talk("own/m", "two"), now); got != "" {
		t.Errorf("%s is known", got)
	}
	if err := os.Rename(o.Affinity+".new", o.Affinity); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(o.Affinity, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := answerer(young, talk("own/m", "two"), now); got != "own/a" {
		t.Errorf("another file of the same size and time: %q", got)
	}
}

func TestWhatAnotherProcessWroteIsNotWrittenOver(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	seed(t, o.Affinity, `{"own/m|theirs": {"rest": "own/b", "who": "own/b", "at": "2026-03-04T11:59:00Z"}}`)
	keep(s, talk("own/m", "ours"), by("own/a", now))
	shut(t, s)
	if all := inFile(t, o.Affinity); len(all) != 2 {
		t.Errorf("the file has %v", all)
	}
}

func TestAFileOfConversationsThatCanNotBeReadIsToldOfAndLeft(t *testing.T) {
	for name, bad := range map[string]string{
		"cut short": `{"own/m|s1": {"who": "own/a"`, "a list": `[]`, "a number for a name": `{"own/m|s1": {"who": 5}}`,
		"too large": `{"x": "` + strings.Repeat("x", 5<<20) + `"}`,
	} {
		t.Run("at the start: "+name, func(t *testing.T) {
			o := folder(t.TempDir())
			seed(t, o.Affinity, bad)
			s := open(t, o)
			keep(s, talk("own/m", "s2"), by("own/a", now))
			if answerer(s, talk("own/m", "s2"), now) != "own/a" || len(s.Problems()) != 1 || !strings.Contains(s.Problems()[0], "affinity.json could not be read") {
				t.Errorf("problems: %q", s.Problems())
			}
			shut(t, s)
			holds(t, o.Affinity, bad)
		})
		t.Run("while it runs: "+name, func(t *testing.T) {
			o := folder(t.TempDir())
			s := open(t, o)
			keep(s, talk("own/m", "s2"), by("own/a", now))
			seed(t, o.Affinity, bad)
			if answerer(s, talk("own/m", "s1"), now) != "" || answerer(s, talk("own/m", "s2"), now) != "own/a" {
				t.Error("what is remembered is not as it was")
			}
			if len(s.Problems()) != 1 {
				t.Errorf("problems: %q", s.Problems())
			}
			shut(t, s)
			holds(t, o.Affinity, bad)
		})
	}
}

func TestTimesOfAWrongClockDoNotKeepAConversationForEver(t *testing.T) {
	o := folder(t.TempDir())
	seed(t, o.Affinity, `{"own/m|s1": {"rest": "own/a", "who": "own/a", "at": "2036-03-04T12:00:00Z"}}`)
	s := open(t, o)
	if k := s.Kept(talk("own/m", "s1"), now); k == nil || k.At != now.Unix() {
		t.Errorf("%+v", k)
	}
	if s.Kept(talk("own/m", "s1"), now.Add(24*time.Hour)) != nil {
		t.Error("it is known a day later")
	}
}

func TestABrokenReplyForgetsItsConversationAndNoOther(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	keep(s, talk("own/m", "s1"), by("own/a", now))
	keep(s, talk("own/n", "s1"), by("own/a", now))
	s.BrokeOff(talk("own/m", "s1"), "own/b")
	s.BrokeOff(talk("own/m", "s2"), "own/a")
	if answerer(s, talk("own/m", "s1"), now) != "own/a" {
		t.Error("the reply of another broke off, and it is forgotten")
	}
	other := by("own/a", now)
	other.Model, other.Effort = "another", "low" // who is all that counts
	keep(s, talk("own/m", "s1"), other)
	s.BrokeOff(talk("own/m", "s1"), "own/a")
	if answerer(s, talk("own/m", "s1"), now) != "" || answerer(s, talk("own/n", "s1"), now) != "own/a" {
		t.Error("the conversation is remembered, or that of another scope is not")
	}
	shut(t, s)
	if all := inFile(t, o.Affinity); len(all) != 1 {
		t.Errorf("the file has %v", all)
	}
}

func TestAPersonMovesAndForgetsAConversationAndTakesItBack(t *testing.T) {
	s := open(t, folder(t.TempDir()))
	main, small, ruled := talk("own/m", "s1"), talk("other/n", "s1"), talk("group/g", "0123|s1")
	for _, t := range []state.Talk{main, small, ruled} {
		s.Keep(t, "s1", by("own/a", now))
	}
	keep(s, talk("own/m", "s2"), by("own/a", now))
	if got := s.Scopes("s1"); len(got) != 3 {
		t.Errorf("it is remembered in %q", got)
	}
	if n := s.MoveTalk("s1", "own/b", []string{"own/m", "group/g"}); n != 2 {
		t.Errorf("%d moved", n)
	}
	if k := s.Kept(ruled, now); k == nil || k.ID != "own/b" || !k.Moved || k.Model != "m" || k.CacheRead != 2500 {
		t.Errorf("%+v", k)
	}
	if answerer(s, small, now) != "own/a" || answerer(s, talk("own/m", "s2"), now) != "own/a" {
		t.Error("one was moved that could not, or another conversation")
	}
	if n := s.ForgetTalk("s1"); n != 3 || answerer(s, main, now) != "" {
		t.Errorf("%d forgotten", n)
	}
	for _, unknown := range []string{"s9", "", "0123|s1"} {
		if n := s.ForgetTalk(unknown); n != 0 {
			t.Errorf("%d of %q, an unknown one, forgotten", n, unknown)
		}
	}
	s.Undo(now)
	if answerer(s, main, now) != "own/b" || answerer(s, small, now) != "own/a" {
		t.Error("forgetting was not taken back")
	}
	keep(s, main, by("own/c", now.Add(time.Second)))
	words, _, ok := s.Undo(now)
	if !ok || words != "took back the move of conversation s1" || answerer(s, ruled, now) != "own/a" || answerer(s, main, now) != "own/c" {
		t.Errorf("%q; an answer since then does not stand, or the move is not taken back", words)
	}
}

func TestConversationsHeldAreCountedAsIfAllWereLookedAt(t *testing.T) {
	type record struct {
		k  route.Keep
		at time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		s, err := state.Open(state.Options{}, now)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		model := map[state.Talk]record{}
		at := now
		scopes, ids := rapid.SampledFrom([]string{"own/m", "group/g"}), rapid.SampledFrom([]string{"s1", "s2", "s3", "s4"})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "seconds")) * time.Second)
			one := talk(scopes.Draw(t, "scope"), ids.Draw(t, "id"))
			who := rapid.SampledFrom([]provider.AccountID{"own/a", "own/b", "own/c"}).Draw(t, "who")
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1, 2:
				keep(s, one, by(who, at))
				model[one] = record{by(who, at), at}
			case 3:
				s.BrokeOff(one, who)
				if model[one].k.ID == who {
					delete(model, one)
				}
			case 4:
				s.MoveTalk(one.ID, who, []string{one.Scope})
				if r, ok := model[one]; ok && at.Sub(r.at) < 24*time.Hour {
					r.k.ID, r.k.Moved = who, true
					model[one] = r
				}
			case 5:
				s.Undo(at) // of a move, which changes what the model knows: begin anew
				s.ForgetTalk("s1")
				s.ForgetTalk("s2")
				s.ForgetTalk("s3")
				s.ForgetTalk("s4")
				model = map[state.Talk]record{}
			}
			maps.DeleteFunc(model, func(_ state.Talk, r record) bool { return at.Sub(r.at) >= 24*time.Hour })
			want := map[route.Who]int{}
			for other, r := range model {
				if other.Scope == one.Scope && other != one && at.Sub(r.at) < 30*time.Minute {
					want[r.k.Who]++
				}
			}
			got := s.Held(one, at)
			maps.DeleteFunc(got, func(_ route.Who, n int) bool { return n == 0 })
			if len(got)+len(want) > 0 && !maps.Equal(want, got) {
				t.Fatalf("held by others than %v: %v, want %v", one, got, want)
			}
			for id, r := range model {
				if k := s.Kept(id, at); k == nil || *k != r.k {
					t.Fatalf("%v is %+v, want %+v", id, k, r.k)
				}
			}
		}
	})
}

func FuzzConversationsFile(f *testing.F) {
	f.Add([]byte(`{"own/m|s1": {"rest": "own/a", "who": "own/a", "model": "m", "effort": "low", "turn": 2, "at": "2026-03-04T11:59:00Z", "cacheRead": 2500, "moved": true}}`))
	f.Add([]byte(`{"|": {}, "a": {"who": "x"}, "a|b": {"who": "x", "at": "9999-12-31T23:59:59Z", "turn": -1, "cacheRead": -5}, "c|d|e": null}`))
	f.Add([]byte(`{"a|b": {"at": "0001-01-01T00:00:00Z"}}{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := state.Options{Affinity: filepath.Join(t.TempDir(), "affinity.json")}
		seed(t, o.Affinity, string(data))
		s, err := state.Open(o, now)
		if err != nil {
			t.Fatal(err)
		}
		unread := len(s.Problems()) > 0
		keep(s, talk("own/m", "mine"), by("own/a", now))
		shut(t, s)
		if unread {
			holds(t, o.Affinity, string(data))
			return
		}
		written := text(t, o.Affinity)
		again, err := state.Open(o, now)
		if err != nil {
			t.Fatal(err)
		}
		if p := again.Problems(); len(p) > 0 || answerer(again, talk("own/m", "mine"), now) != "own/a" {
			t.Fatalf("what was written can't be read: %q, %s", p, written)
		}
		keep(again, talk("own/m", "mine"), by("own/a", now))
		shut(t, again)
		holds(t, o.Affinity, written)
		for key := range inFile(t, o.Affinity) {
			scope, id, _ := strings.Cut(key, "|")
			if scope == "" || id == "" || len(key) > 512 {
				t.Errorf("a conversation is called %q", key)
			}
		}
	})
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheFileOfConversationsIsPlainJSON(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	keep(s, talk("own/m", "s1"), by("own/a", now))
	shut(t, s)
	got := inFile(t, o.Affinity)["own/m|s1"]
	want := map[string]any{"rest": "own/a", "who": "own/a", "model": "m", "turn": 1.0, "at": "2026-03-04T12:00:00Z", "cacheRead": 2500.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !json.Valid([]byte(text(t, o.Affinity))) {
		t.Error("no JSON")
	}
}
