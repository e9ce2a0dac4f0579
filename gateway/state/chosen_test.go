package state_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/config"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/provider"
)

func ptr[V any](v V) *V { return &v }

// chooseAll makes one choice of each kind.
func chooseAll(s *state.Store) {
	for _, set := range []func(*state.Chosen){
		func(c *state.Chosen) { c.Routing["codex"] = "usage" },
		func(c *state.Chosen) { c.Affinity["group/cheap"] = "off" },
		func(c *state.Chosen) { c.Sink["codex"] = true },
		func(c *state.Chosen) { c.Order["codex"] = ids{"codex/team", "codex/me"} },
		func(c *state.Chosen) { c.Members["cheap"] = []string{"ollama/qwen3"} },
		func(c *state.Chosen) { c.Pick["hand"] = "glm/glm-5.3" },
		func(c *state.Chosen) {
			c.Caps["codex/team"] = route.Cap{Percent: 80, Windows: map[string]int{"5 hours": 100}, Credits: ptr(false), Reset: ptr(true)}
		},
		func(c *state.Chosen) { c.Hidden["auto-gpt-5-4"] = true },
	} {
		s.Choose("a choice", nil, func(c *state.Chosen) bool {
			set(c)
			return true
		})
	}
}

func TestChoicesSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, folder(dir))
	chooseAll(s)
	want := s.Chosen()
	if got := s.Snapshot(nil, now).Choices; got.Routing["codex"] != "usage" || got.Caps["codex/team"].Percent != 80 || got.Pick["hand"] == "" {
		t.Errorf("planning sees %+v", got)
	}
	shut(t, s)
	again := open(t, folder(dir))
	if diff := cmp.Diff(want, again.Chosen()); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

func TestEachChoiceIsTakenBackByItself(t *testing.T) {
	s := open(t, state.Options{})
	states := []*state.Chosen{s.Chosen()}
	for _, mode := range []string{"usage", "pace", ""} {
		s.Choose("routing of codex", ids{"codex/me"}, func(c *state.Chosen) bool {
			if mode == "" {
				delete(c.Routing, "codex")
			} else {
				c.Routing["codex"] = mode
			}
			return true
		})
		states = append(states, s.Chosen())
	}
	s.Pause(ids{"codex/me"}, now.Add(1<<40), now)
	s.Choose("nothing", nil, func(*state.Chosen) bool { return false })
	if words, _, ok := s.Undo(now); !ok || !strings.Contains(words, "pause") {
		t.Fatalf("%q: what changed nothing can be taken back", words)
	}
	for i := len(states) - 2; i >= 0; i-- {
		words, _, ok := s.Undo(now)
		if !ok || words != "took back the routing of codex" || s.Chosen() != states[i] {
			t.Errorf("%d: %q %t %+v", i, words, ok, s.Chosen())
		}
	}
}

func TestWhoReadsChoicesIsNotDisturbed(t *testing.T) {
	s := open(t, state.Options{})
	chooseAll(s)
	before := s.Chosen()
	was := before.Routing["codex"]
	s.Choose("routing", nil, func(c *state.Chosen) bool {
		c.Routing["codex"] = "rotate"
		return true
	})
	if before.Routing["codex"] != was || s.Chosen().Routing["codex"] != "rotate" {
		t.Errorf("%v %v", before.Routing, s.Chosen().Routing)
	}
}

func TestChoicesThatCanNotBeAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir+"/choices.json", `{"version":1,"paused":{},"pinned":{},"caps":{"codex/me":{"percent":900,"windows":{"5 hours":101,"7 days":50}}},"kept":{"by":"another version"}}`)
	s := open(t, folder(dir))
	want := map[provider.AccountID]route.Cap{"codex/me": {Windows: map[string]int{"7 days": 50}}}
	if diff := cmp.Diff(want, s.Chosen().Caps); diff != "" {
		t.Error(diff)
	}
	chooseAll(s)
	shut(t, s)
	data, err := os.ReadFile(dir + "/choices.json")
	if err != nil || !strings.Contains(string(data), "another version") || strings.Count(string(data), `"routing"`) != 1 {
		t.Errorf("%v %s", err, data)
	}
}

func TestAnAccountIsToldWithItsCapAndPlaceAsChosen(t *testing.T) {
	cfg, err := config.Parse("config.toml", []byte(`
[providers.first]
chat = "https://f.example/v1"
[providers.codex]
chat = "https://c.example/v1"
keys = [{ name = "a", value = "1" }, { name = "b", value = "2" }, { name = "c", value = "3" }, { name = "d", value = "4" }]
[providers.last]
chat = "https://l.example/v1"
`))
	if err != nil {
		t.Fatal(err)
	}
	cat, _ := provider.Build(cfg)
	s := open(t, state.Options{})
	s.Choose("order", nil, func(c *state.Chosen) bool {
		c.Order["codex"] = ids{"codex/c", "codex/b"}
		c.Caps["codex/a"] = route.Cap{Percent: 70}
		return true
	})
	var order []string
	for i, a := range s.Accounts(cat, now) {
		if a.Place != i {
			t.Errorf("%s is at %d, told as %d", a.ID, i, a.Place)
		}
		if want := map[string]int{"codex/a": 70}[a.ID]; a.Cap != want {
			t.Errorf("%s: cap %d", a.ID, a.Cap)
		}
		order = append(order, a.ID)
	}
	if got := strings.Join(order, " "); got != "first codex/c codex/b codex/a codex/d last" {
		t.Error(got)
	}
}
