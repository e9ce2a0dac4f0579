package state_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestARestartKeepsWhatHasAKnownEnd(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	kept := map[string]trace.Rest{}
	for _, by := range []trace.RestBy{trace.ByCredit, trace.ByResets, trace.ByWindow, trace.ByRetryAfter, trace.ByQuota} {
		r := rest("codex/"+string(by), trace.Quota, by, time.Hour)
		r.Failures, r.Status, r.Print, r.Text, r.Link = 3, 429, "fp", "usage limit reached", "https://vendor.example/usage"
		kept[r.Key] = r
		put(t, s, r)
	}
	for _, by := range []trace.RestBy{trace.ByCooldown, trace.ByBackoff, trace.ByVerify, trace.ByAuth, trace.ByModel} {
		put(t, s, rest("codex/"+string(by), trace.Other, by, time.Hour))
	}
	short := rest("codex/short", trace.Rate, trace.ByRetryAfter, time.Minute)
	put(t, s, short)
	wrong := rest("codex/wrong-clock", trace.Credit, trace.ByCredit, 10*365*24*time.Hour)
	put(t, s, wrong)
	wrong.Until = now.Add(time.Minute + 8*24*time.Hour)
	kept[wrong.Key] = wrong
	windows := []provider.Window{{Name: "7 days", Used: 40, Resets: now.Add(time.Hour), Span: 7 * 24 * time.Hour, Read: now}}
	s.Read("codex/me", windows, now)
	s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
	s.Pause([]provider.AccountID{"codex/third"}, now.Add(time.Second), now)
	s.Pin("ollama", trace.Pinned{Agent: "claude", Model: "qwen3", Only: true, Until: now.Add(time.Hour)}, now)
	shut(t, s)
	var file struct{ Rests []trace.Rest }
	read(t, o.Rests, &file)
	if len(file.Rests) != len(kept)+1 {
		t.Errorf("%d rests are written, want those with a known end alone", len(file.Rests))
	}

	again, err := state.Open(o, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, again) })
	snap := again.Snapshot(nil, now)
	if diff := cmp.Diff(kept, snap.Rests); diff != "" {
		t.Errorf("rests (-want +got)\n%s", diff)
	}
	if got := again.Past("codex/quota"); got.Failures != 3 || got.Kind != trace.Quota || !got.Until.Equal(now.Add(time.Hour)) || got.Gen == 0 {
		t.Errorf("what a rest carries is remembered with it: %+v", got)
	}
	if diff := cmp.Diff(windows, again.Windows("codex/me")); diff != "" {
		t.Errorf("windows (-want +got)\n%s", diff)
	}
	me := snap.Standing["codex/me"]
	if !me.Read.Equal(now) || len(me.Told) != 1 || me.Paused == nil || !me.Paused.Since.Equal(now) {
		t.Errorf("codex/me stands %+v", me)
	}
	if snap.Standing["codex/third"].Paused != nil {
		t.Error("a pause that ended meanwhile stands")
	}
	pin := &trace.Pinned{Since: now, Until: now.Add(time.Hour), Agent: "claude", Model: "qwen3", Only: true}
	if diff := cmp.Diff(pin, snap.Standing["ollama"].Pinned); diff != "" {
		t.Errorf("pin (-want +got)\n%s", diff)
	}
	if _, _, ok := again.Undo(now); ok {
		t.Error("what was done in an earlier run can be taken back")
	}
}

func TestOldReadingsAreNotTakenUp(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	s.Read("codex/me", []provider.Window{{Name: "7 days", Used: 40}}, now)
	shut(t, s)
	again, err := state.Open(o, now.AddDate(0, 0, 31))
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, again)
	if w := again.Windows("codex/me"); w != nil {
		t.Errorf("a reading of last month: %v", w)
	}
}

func TestTheFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir() + "/state"
	s := open(t, folder(dir))
	s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
	put(t, s, rest("codex/me", trace.Quota, trace.ByQuota, time.Hour))
	s.Read("codex/me", []provider.Window{{Name: "7 days"}}, now)
	shut(t, s)
	mode(t, dir, os.ModeDir|0o700)
	for _, name := range []string{"/choices.json", "/rests.json", "/quotas.json"} {
		mode(t, dir+name, 0o600)
	}
	onlyFiles(t, dir, "choices.json", "quotas.json", "rests.json")
}

func TestAFileThatCannotBeReadIsToldAndLeftAlone(t *testing.T) {
	use := map[string]func(*state.Store){
		"choices.json": func(s *state.Store) { s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now) },
		"rests.json":   func(s *state.Store) { s.PutRest(rest("codex/me", trace.Quota, trace.ByQuota, time.Hour), 0) },
		"quotas.json":  func(s *state.Store) { s.Read("codex/me", []provider.Window{{Name: "7 days", Used: 1}}, now) },
	}
	works := func(s *state.Store) bool {
		snap := s.Snapshot(nil, now)
		return snap.Standing["codex/me"].Paused != nil && len(snap.Rests) == 1 && len(s.Windows("codex/me")) == 1
	}
	for name := range use {
		for what, content := range map[string]string{
			"empty": "", "cut": `{"version":1,"re`, "another shape": `[1,2]`, "null": `null`, "a newer version": `{"version":2}`, "no version": `{}`,
			"a wrong type": `{"version":1,"rests":7,"paused":7,"accounts":7}`, "more after the end": `{"version":1}{}`,
		} {
			t.Run(name+" is "+what, func(t *testing.T) {
				dir := t.TempDir()
				seed(t, dir+"/"+name, content)
				s := open(t, folder(dir))
				p := s.Problems()
				if len(p) != 1 || !strings.Contains(p[0], dir+"/"+name) {
					t.Errorf("problems %q", p)
				}
				for _, do := range use {
					do(s)
				}
				if !works(s) {
					t.Error("the store does not work in memory")
				}
				shut(t, s)
				holds(t, dir+"/"+name, content)
				onlyFiles(t, dir, "choices.json", "quotas.json", "rests.json")
			})
		}
	}
	t.Run("a folder stands in its place", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(dir+"/rests.json", 0o700); err != nil {
			t.Fatal(err)
		}
		s := open(t, folder(dir))
		if p := s.Problems(); len(p) != 1 {
			t.Errorf("problems %q", p)
		}
		use["rests.json"](s)
		shut(t, s)
		mode(t, dir+"/rests.json", os.ModeDir|0o700)
	})
}

func TestTwoFilesOfOnePathAreRefused(t *testing.T) {
	if _, err := state.Open(state.Options{Rests: "x", Quotas: "x"}, now); err == nil {
		t.Error("no error")
	}
}

func TestChoicesThatAreNotOursStayInTheFile(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir+"/choices.json", `{"version":1,"order":{"codex":["team","me"]},"paused":{"codex/me":{"since":"2026-03-01T00:00:00Z"}},"pinned":null}`)
	s := open(t, folder(dir))
	s.Resume([]provider.AccountID{"codex/me"}, now)
	s.Pause([]provider.AccountID{"ollama"}, time.Time{}, now)
	shut(t, s)
	var got map[string]any
	read(t, dir+"/choices.json", &got)
	want := map[string]any{
		"version": 1.0, "pinned": map[string]any{},
		"paused": map[string]any{"ollama": map[string]any{"since": "2026-03-04T12:00:00Z"}},
		"order":  map[string]any{"codex": []any{"team", "me"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func there(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	return err == nil
}

func TestWhenFilesAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := folder(t.TempDir())
		s := open(t, o)
		synctest.Wait()
		if there(t, o.Rests) || there(t, o.Choices) || there(t, o.Quotas) {
			t.Fatal("a file is written though nothing happened")
		}

		put(t, s, rest("codex/me", trace.Rate, trace.ByBackoff, time.Hour))
		s.SetUnready("codex/me", "not set")
		synctest.Wait()
		if there(t, o.Rests) || there(t, o.Choices) {
			t.Error("what is not kept is written")
		}
		put(t, s, rest("codex/third", trace.Quota, trace.ByQuota, time.Hour))
		s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
		synctest.Wait()
		if !there(t, o.Rests) || !there(t, o.Choices) {
			t.Error("a rest or a choice is not written at once")
		}

		s.Read("codex/me", []provider.Window{{Name: "7 days", Used: 1}}, now)
		<-time.After(900 * time.Millisecond)
		s.Read("codex/me", []provider.Window{{Name: "7 days", Used: 2}}, now)
		synctest.Wait()
		if there(t, o.Quotas) {
			t.Error("a reading is written at once")
		}
		<-time.After(100 * time.Millisecond)
		synctest.Wait()
		var q struct {
			Accounts map[string]struct{ Windows []provider.Window }
		}
		read(t, o.Quotas, &q)
		if got := q.Accounts["codex/me"].Windows[0].Used; got != 2 {
			t.Errorf("a second after the first reading the file has %v", got)
		}
		shut(t, s)
	})
}

func TestCloseWritesWhatIsWaiting(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	s.Read("codex/me", []provider.Window{{Name: "7 days", Used: 1}}, now)
	shut(t, s)
	shut(t, s)
	if !there(t, o.Quotas) {
		t.Error("the reading is lost")
	}
	s.Read("codex/me", []provider.Window{{Name: "7 days", Used: 2}}, now.Add(time.Second))
	if got := s.Windows("codex/me")[0].Used; got != 2 {
		t.Errorf("a closed store goes on in memory, but has %v", got)
	}
}

func TestAWriteThatFailsIsToldAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		o := folder(dir + "/state")
		s, err := state.Open(o, now)
		if err != nil {
			t.Fatal(err)
		}
		seed(t, dir+"/state", "in the way of the folder")
		s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
		synctest.Wait()
		if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "could not be written") {
			t.Errorf("problems %q", p)
		}
		if err := os.Remove(dir + "/state"); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		synctest.Wait()
		if p := s.Problems(); len(p) != 0 || !there(t, o.Choices) {
			t.Errorf("it is not tried again: %q", p)
		}
		shut(t, s)
	})
	dir := t.TempDir()
	s, err := state.Open(folder(dir+"/state"), now)
	if err != nil {
		t.Fatal(err)
	}
	seed(t, dir+"/state", "in the way of the folder")
	s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
	if err := s.Close(); err == nil {
		t.Error("close says nothing of what was not written")
	}
}

func TestWhatManyDidAtOnceIsWritten(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	s.OnChange(func([]provider.AccountID) { s.Problems() })
	var wg sync.WaitGroup
	for i := range 8 {
		id := provider.AccountID(fmt.Sprintf("codex/k%d", i))
		wg.Go(func() {
			for n := range 50 {
				s.PutRest(rest(string(id), trace.Quota, trace.ByQuota, time.Hour+time.Duration(n)), s.Past(string(id)).Gen)
				s.Read(id, []provider.Window{{Name: "7 days", Used: float64(n)}}, now.Add(time.Duration(n)))
				s.Pause(ids{id}, now.Add(time.Hour+time.Duration(n)), now)
				s.NoteMade(string(id), id)
				s.Made(string(id))
				s.Snapshot(nil, now)
			}
		})
	}
	wg.Wait()
	shut(t, s)
	again := open(t, o)
	one, other := s.Snapshot(nil, now), again.Snapshot(nil, now)
	if diff := cmp.Diff(one.Standing, other.Standing) + cmp.Diff(one.Rests, other.Rests); diff != "" {
		t.Errorf("what is read differs from what was done\n%s", diff)
	}
}

// writeUntilKilled is the other process of the test below.
func writeUntilKilled(dir string) {
	s, err := state.Open(folder(dir), now)
	if err != nil {
		panic(err)
	}
	settled := s.Mark()
	for i := 0; ; i++ {
		key := fmt.Sprintf("codex/k%d", i%50)
		r := rest(key, trace.Quota, trace.ByQuota, time.Hour)
		r.Text = strings.Repeat("x", 1000)
		s.PutRest(r, s.Past(key).Gen)
		s.Pause([]provider.AccountID{provider.AccountID(key)}, time.Time{}, now.Add(time.Duration(i)))
		s.Answered(fmt.Sprintf("codex/k%d", (i+25)%50), "", now)
		if i%200 == 0 {
			if err := s.Settle(context.Background(), settled); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			settled = s.Mark()
			fmt.Println(i)
		}
	}
}

func TestAKilledProcessLeavesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	for lines := 5; lines <= 25; lines += 5 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "MAGPIE_TEST_WRITE_IN="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		scan := bufio.NewScanner(out)
		for n := 0; n < lines && scan.Scan(); n++ {
			continue
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		s, err := state.Open(folder(dir), now)
		if err != nil {
			t.Fatal(err)
		}
		snap := s.Snapshot(nil, now)
		if p := s.Problems(); len(p) > 0 || len(snap.Rests) == 0 || len(snap.Standing) == 0 {
			t.Errorf("after %d lines: problems %q, %d rests, %d pauses", lines, p, len(snap.Rests), len(snap.Standing))
		}
		shut(t, s)
	}
}
