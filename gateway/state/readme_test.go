package state_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// The README shows each file as the store writes it, and the store reads what the README shows.
func TestTheReadmeShowsTheFilesAsTheyAre(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)```json (\\S+)\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		shown[m[1]] = m[2]
	}
	if len(shown) != 4 {
		t.Fatalf("the README shows %d files", len(shown))
	}

	dir := t.TempDir()
	s := open(t, folder(dir))
	s.Pause(ids{"codex/me"}, now.Add(2*time.Hour), now)
	s.Pause(ids{"ollama"}, time.Time{}, now)
	chooseAll(s)
	s.Pin("codex/team", trace.Pinned{Agent: "claude", Model: "gpt-5.4", Only: true}, now)
	s.NoteRefused(state.Refused{ID: "codex/me", Model: "gpt-5.4", Level: "xhigh", Takes: []string{"low", "medium", "high"}, At: now})
	put(t, s, trace.Rest{
		Key: "codex/team/gpt-5.4", Why: trace.Quota, By: trace.ByWindow, Status: 429, Since: now, Until: now.Add(72 * time.Hour), Failures: 1,
	})
	put(t, s, trace.Rest{
		Key: "codex/me", Why: trace.Quota, By: trace.ByResets, Status: 429, Since: now, Until: now.Add(3 * time.Hour), Failures: 1,
		Print: "5e884898", Text: "The usage limit has been reached",
	})
	s.Read("codex/me", []provider.Window{
		{Name: "5 hours", Used: 62.5, Resets: now.Add(2 * time.Hour), Span: 5 * time.Hour, Read: now},
		{Name: "7 days", Used: 40, Resets: now.Add(72 * time.Hour), Span: 7 * 24 * time.Hour, Read: now},
	}, now)
	s.Take("relay/main", provider.Reading{Plan: "max", Balance: "$50.00", Windows: []provider.Window{
		{Name: "7 days", Used: 75, Resets: now.Add(48 * time.Hour), Span: 7 * 24 * time.Hour, Amount: 150, Limit: 200, Unit: "USD", Read: now},
	}}, provider.SpentShare, now)
	s.Keep(state.Talk{Scope: "group/always-on", ID: "5c8a9e0d1f2b3a4c5d6e7f80|ses_01"}, "ses_01", route.Keep{
		Who: route.Who{ID: "codex/team", Model: "gpt-5.4", Effort: "high"}, Turn: 1, At: now.Add(-2 * time.Minute).Unix(),
	})
	s.MoveTalk("ses_01", "codex/me", []string{"group/always-on"})
	s.Keep(state.Talk{Scope: "codex/gpt-5.4", ID: "0192f3aa-7b1c-7d0e-9a51-3f5f0c1e2d4b"}, "0192f3aa-7b1c-7d0e-9a51-3f5f0c1e2d4b", route.Keep{
		Who: route.Who{ID: "codex/team", Model: "gpt-5.4"}, Turn: 3, At: now.Unix(), CacheRead: 48128,
	})
	shut(t, s)

	from := t.TempDir()
	for name, text := range shown {
		data, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(data), text); diff != "" {
			t.Errorf("%s is shown otherwise than it is written (-written +shown)\n%s", name, diff)
		}
		seed(t, from+"/"+name, text)
	}
	again, err := state.Open(folder(from), now)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, again)
	if p := again.Problems(); len(p) > 0 {
		t.Errorf("what the README shows can't be read: %q", p)
	}
	one, other := s.Snapshot(nil, now), again.Snapshot(nil, now)
	if diff := cmp.Diff(one.Standing, other.Standing) + cmp.Diff(one.Rests, other.Rests); diff != "" {
		t.Errorf("what is read differs from what was written\n%s", diff)
	}
}
