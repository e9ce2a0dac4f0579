package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/provider"
)

const twoRelays = `
[providers.a]
chat = "https://a.example/v1"
keys = [{ name = "k", value = "ka" }]
models = [{ id = "m", context = 200000, efforts = ["low", "medium", "high"], inputs = ["text", "image"] }, "only-a"]
[providers.b]
chat = "https://b.example/v1"
keys = [{ name = "k", value = "kb" }]
models = [{ id = "vendor/m", context = 100000, efforts = ["medium", "high", "max"], inputs = ["text"] }]
`

// groupsOf writes the groups of a catalogue: "auto-m: a/m b/vendor/m".
func groupsOf(c *provider.Catalog) string {
	var all []string
	for _, g := range c.Groups {
		word := g.ID + ": " + strings.Join(g.Spelled, " ")
		if g.Off {
			word += " off"
		}
		all = append(all, word)
	}
	return strings.Join(all, "; ")
}

func TestAModelOfTwoReadyProvidersIsAGroup(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"two", twoRelays, "auto-m: a/m b/vendor/m"},
		{"unlisted counts", strings.Replace(twoRelays, "[providers.b]", "[providers.b]\nunlisted = true", 1), "auto-m: a/m b/vendor/m"},
		{"off does not", strings.Replace(twoRelays, "[providers.b]", "[providers.b]\noff = true", 1), ""},
		{"nor who has no key that is on", strings.Replace(twoRelays, `value = "kb"`, `value = "kb", off = true`, 1), ""},
		{"switched off at once", "auto_groups = false\n" + twoRelays, ""},
		{"the person's own of that name stands", twoRelays + "[groups.auto-m]\nmembers = [\"b/vendor/m\"]\n", "auto-m: b/vendor/m"},
		{"after the person's", twoRelays + "[groups.g]\nmembers = [\"group/auto-m\"]\n", "g: group/auto-m; auto-m: a/m b/vendor/m"},
		{
			"one member a provider, the plain spelling first",
			strings.Replace(twoRelays, `"vendor/m"`, `"other/m" }, "m", { id = "vendor/m"`, 1), "auto-m: a/m b/m",
		},
		{
			"a variant is another model", strings.Replace(twoRelays, `"vendor/m"`, `"vendor/m:batch"`, 1), "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := groupsOf(build(t, tt.file).With(provider.View{})); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestAViewDecidesWhichGroupsThereAre(t *testing.T) {
	base := build(t, strings.NewReplacer(", \"only-a\"", "").Replace(twoRelays)+`
[providers.c]
chat = "https://c.example/v1"
keys = [{ name = "k", value = "kc" }]
[groups.mine]
members = ["a/m", "b/vendor/m", "c/x"]
rules = [{ use = "c/x", images = true }]
`)
	lists := provider.Lists{"c": provider.NewList([]provider.Model{{ID: "M-20260801"}, {ID: "x"}})}
	for _, tt := range []struct {
		name string
		view provider.View
		want string
	}{
		{"fetched lists", provider.View{Lists: lists}, "mine: a/m b/vendor/m c/x; auto-m: a/m b/vendor/m c/M-20260801"},
		{
			"who has no secret is not ready",
			provider.View{Ready: func(a *provider.Account) bool { return a.ID != "a/k" }, Lists: lists},
			"mine: a/m b/vendor/m c/x; auto-m: b/vendor/m c/M-20260801",
		},
		{"taken away", provider.View{Hidden: map[string]bool{"auto-m": true}}, "mine: a/m b/vendor/m c/x; auto-m: a/m b/vendor/m off"},
		{
			"the person's order",
			provider.View{Order: map[string][]string{"mine": {"c/x", "gone/y"}, "auto-m": {"b/vendor/m"}}},
			"mine: c/x a/m b/vendor/m; auto-m: b/vendor/m a/m",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := base.With(tt.view)
			if g := groupsOf(got); g != tt.want {
				t.Errorf("%s, want %s", g, tt.want)
			}
			mine := got.Group("mine")
			if use := mine.Spelled[mine.Rules[0].Use]; use != "c/x" {
				t.Errorf("the rule uses %s", use)
			}
			if again := groupsOf(base); again != "mine: a/m b/vendor/m c/x" {
				t.Errorf("the config's own catalogue became %s", again)
			}
		})
	}
}

func TestAGroupIsToldWithWhatItsMembersShare(t *testing.T) {
	c := build(t, twoRelays+`
[groups.g]
members = ["group/auto-m", "a/only-a"]
[groups.set]
members = ["a/m"]
context = 5000
efforts = ["low"]
`).With(provider.View{})
	for id, want := range map[string]provider.Model{
		"auto-m": {ID: "auto-m", Name: "m", Context: 100000, Efforts: []string{"medium", "high"}, Inputs: []string{"text"}},
		"g":      {ID: "g", Name: "g", Context: 100000, Efforts: []string{"medium", "high"}, Inputs: []string{"text"}},
		"set":    {ID: "set", Name: "set", Context: 5000, Efforts: []string{"low"}, Inputs: []string{"text", "image"}},
	} {
		if d := cmp.Diff(want, c.GroupModel(c.Group(id), nil)); d != "" {
			t.Errorf("%s: %s", id, d)
		}
	}
}

// meant writes what a name resolved to.
func meant(got provider.Target, refusal *provider.Refusal) string {
	switch {
	case refusal != nil:
		return refusal.Code
	case got.Group != nil && got.Effort != "":
		return "group/" + got.Group.ID + ":" + got.Effort
	case got.Group != nil:
		return "group/" + got.Group.ID
	}
	return provider.Ref{Provider: got.Provider.ID, Who: got.Who, Model: got.Model, Effort: got.Effort}.String()
}

func TestNamesAreResolvedInTheirOrder(t *testing.T) {
	on := build(t, twoRelays+`
[groups.mine]
members = ["a/m"]
[groups.shut]
members = ["a/m"]
off = true
[groups.only-a]
members = ["a/only-a"]
off = true
`)
	for _, tt := range []struct{ name, asked, want string }{
		{"a found group by its id", "group/auto-m", "group/auto-m"},
		{"and without the word", "auto-m", "group/auto-m"},
		{"by the model", "m", "group/auto-m"},
		{"in another spelling", "M-20260801", "group/auto-m"},
		{"with its mark", "m[1m]", "group/auto-m"},
		{"a provider's stays the provider's", "a/m", "a/m"},
		{"at a level", "m:high", "group/auto-m:high"},
		{"a group at a level", "group/mine:HIGH", "group/mine:high"},
		{"a provider's model at a level", "a/m:low", "a/m:low"},
		{"a level before the mark", "a/m:low[1m]", "a/m[1m]:low"},
		{"and behind it", "a/m[1m]:low", "a/m[1m]:low"},
		{"no level", "a/m:free", provider.CodeModelNotFound},
		{"one tied to a key", "a@K/m:max", "a@k/m:max"},
		{"a group that is off leaves the model to its provider", "only-a", "a/only-a"},
		{"but is not served itself", "group/only-a", provider.CodeGroupOff},
		{"nor when nothing else has the name", "shut", provider.CodeGroupOff},
		{"nothing", "nothing:high", provider.CodeModelNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := on.With(provider.View{})
			if got := meant(c.Resolve(tt.asked, nil)); got != tt.want {
				t.Errorf("%s is %s, want %s", tt.asked, got, tt.want)
			}
		})
	}
}

func TestAModelThatIsCalledLikeALevelIsWhole(t *testing.T) {
	c := build(t, `
[providers.a]
chat = "https://a.example/v1"
keys = [{ name = "k", value = "ka" }]
models = ["m", "m:high"]
[providers.b]
chat = "https://b.example/v1"
keys = [{ name = "k", value = "kb" }]
[providers.away]
chat = "https://away.example/v1"
off = true
`)
	lists := provider.Lists{"b": provider.NewList([]provider.Model{{ID: "x:low"}})}
	for asked, want := range map[string]string{
		"a/m:high": "a/m:high", "m:high": "a/m:high", "b/x:low": "b/x:low", "x:low": "b/x:low", "b/x:high": "b/x:high",
	} {
		got, refusal := c.Resolve(asked, lists)
		whole := asked != "b/x:high"
		if meant(got, refusal) != want || (got.Effort == "") != whole {
			t.Errorf("%s: %s at %q", asked, meant(got, refusal), got.Effort)
		}
	}
}

func TestWithoutFoundGroupsTheFirstProviderServes(t *testing.T) {
	c := build(t, "auto_groups = false\n"+twoRelays).With(provider.View{})
	for asked, want := range map[string]string{
		"group/auto-m": "a/m", "auto-m": "a/m", "m": "a/m", "M-20260801": "a/m", "vendor/m": "b/vendor/m", "group/auto-x": provider.CodeGroupUnknown,
	} {
		if got := meant(c.Resolve(asked, nil)); got != want {
			t.Errorf("%s is %s, want %s", asked, got, want)
		}
	}
	away := build(t, twoRelays).With(provider.View{Hidden: map[string]bool{"auto-m": true}})
	for asked, want := range map[string]string{"group/auto-m": provider.CodeGroupOff, "auto-m": provider.CodeGroupOff, "m": "a/m"} {
		if got := meant(away.Resolve(asked, nil)); got != want {
			t.Errorf("taken away: %s is %s, want %s", asked, got, want)
		}
	}
}

// A provider without a key is none that a bare name means, while another can serve.
func TestABareNameGoesToWhoCanServe(t *testing.T) {
	file := strings.Replace(twoRelays, `"vendor/m"`, `"m"`, 1)
	for _, tt := range []struct{ name, asked, notReady, want string }{
		{"both can: it is a group", "m", "", "group/auto-m"},
		{"the first one can't", "m", "a", "b/m"},
		{"however it is written", "m[1m]", "a", "b/m[1m]"},
		{"and at a level", "m:high", "a", "b/m:high"},
		{"the second can't", "m", "b", "a/m"},
		{"nobody can: the first says why", "m", "a b", "a/m"},
		{"who has it alone says why", "only-a", "a", "a/only-a"},
	} {
		for _, auto := range []string{"", "auto_groups = false\n"} {
			c := build(t, auto+file).With(provider.View{Ready: func(a *provider.Account) bool { return !strings.Contains(tt.notReady, a.Provider) }})
			want := tt.want
			if auto != "" && tt.notReady == "" {
				want = "a/m"
			}
			got, refusal := c.Resolve(tt.asked, nil)
			if meant(got, refusal) != want || (tt.notReady == "a" || tt.notReady == "b") && len(got.Others) > 0 {
				t.Errorf("%s: %s%s is %s, want %s; others %v", tt.name, auto, tt.asked, meant(got, refusal), want, got.Others)
			}
		}
	}
}

func TestTierStandIns(t *testing.T) {
	c := build(t, twoRelays+`
[providers.anthropic]
keys = [{ name = "k", value = "kc" }]
models = ["claude-opus-5-5", "claude-sonnet-5", "claude-opus-4-7"]
[providers.relay]
chat = "https://relay.example/v1"
keys = [{ name = "k", value = "kr" }]
models = ["claude-opus-4-7"]
[groups.claude-opus-4-1]
members = ["a/only-a"]
[agents.claude]
tiers = { opus = "b/vendor/m", haiku = "group/auto-m" }
[agents.opencode]
tiers = { sonnet = "a/m:low", opus = "away/x" }
[providers.away]
chat = "https://away.example/v1"
off = true
`).With(provider.View{})
	for _, tt := range []struct{ name, agent, asked, want string }{
		{"though it is served", "claude", "claude-opus-5-5", "b/vendor/m"},
		{"in any spelling", "Claude", "Claude-Opus-5.5-20260801[1m]", "b/vendor/m"},
		{"of an older family", "claude", "claude-3-5-haiku-20241022", "group/auto-m"},
		{"at a level", "claude", "claude-opus-5-5:high", "b/vendor/m:high"},
		{"the person's own group of that name wins", "claude", "claude-opus-4-1", "group/claude-opus-4-1"},
		{"also at a level", "claude", "claude-opus-4-1[1m]:high", "group/claude-opus-4-1:high"},
		{"a found group of that name does not", "claude", "claude-opus-4-7", "b/vendor/m"},
		{"which others are sent to", "codex", "claude-opus-4-7", "group/auto-claude-opus-4-7"},
		{"a tier that is not set", "claude", "claude-sonnet-5", "anthropic/claude-sonnet-5"},
		{"what is no whole id", "claude", "anthropic/claude-opus-5-5", "anthropic/claude-opus-5-5"},
		{"nor another family's", "claude", "claude-opusy", provider.CodeModelNotFound},
		{"of another agent", "codex", "claude-opus-5-5", "anthropic/claude-opus-5-5"},
		{"which has its own for what nothing serves", "opencode", "openai/claude-sonnet-6", "a/m:low"},
		{"at its own level", "opencode", "sonnet:max", "a/m:low"},
		{"and takes what is served", "opencode", "claude-sonnet-5", "anthropic/claude-sonnet-5"},
		{"one that can't be asked", "opencode", "claude-opus-9", provider.CodeProviderOff},
		{"the short name", "claude", "opus", "b/vendor/m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, refusal := c.ResolveFor(tt.agent, tt.asked, nil)
			if meant(got, refusal) != tt.want {
				t.Errorf("%s asks %s: %s, want %s", tt.agent, tt.asked, meant(got, refusal), tt.want)
			}
			if refusal == nil && got.Asked != tt.asked {
				t.Errorf("asked is %q", got.Asked)
			}
		})
	}
}

func TestANameIsRefusedForItsNearestReason(t *testing.T) {
	c := build(t, twoRelays+`
[providers.away]
chat = "https://away.example/v1"
models = ["shut", "empty"]
off = true
[groups.shut]
members = ["a/m"]
off = true
[groups.dark]
members = ["a/m"]
off = true
[groups.empty]
members = []
[groups.bare]
members = []
`).With(provider.View{})
	for asked, want := range map[string]string{
		"shut":  provider.CodeProviderOff,
		"empty": provider.CodeProviderOff,
		"dark":  provider.CodeGroupOff,
		"bare":  provider.CodeGroupEmpty,
		"else":  provider.CodeModelNotFound,
	} {
		_, refusal := c.Resolve(asked, nil)
		if refusal == nil || refusal.Status != 404 || refusal.Code != want {
			t.Errorf("%s: %+v, want %s", asked, refusal, want)
		}
	}
	if _, refusal := build(t, "").Resolve("m", nil); refusal == nil || !strings.Contains(refusal.Words, "add a provider") {
		t.Errorf("%+v", refusal)
	}
}

func BenchmarkFindingGroups(b *testing.B) {
	c := build(b, `
[providers.a]
chat = "https://a.example/v1"
keys = [{ name = "k", value = "ka" }]
[providers.b]
chat = "https://b.example/v1"
keys = [{ name = "k", value = "kb" }]
[providers.c]
chat = "https://c.example/v1"
keys = [{ name = "k", value = "kc" }]
`)
	lists := provider.Lists{}
	for _, id := range []string{"a", "b", "c"} {
		var models []provider.Model
		for i := range 400 {
			models = append(models, provider.Model{ID: "vendor/model-" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + "-5." + string(rune('0'+i%10)) + "-20260801"})
		}
		lists[id] = provider.NewList(models)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.With(provider.View{Lists: lists})
	}
}
