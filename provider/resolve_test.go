package provider_test

import (
	"strings"
	"testing"

	"dev.magpie/config"
	"dev.magpie/provider"
)

const resolveFile = `
[providers.anthropic]
keys = [{ name = "Work", env = "A" }]
[providers.openrouter]
keys = [{ env = "B" }]
[providers.relay]
chat = "https://relay.example/v1"
keys = [{ env = "C" }]
models = ["gpt-5.4", "qwen3:8b", "claude-opus-4-6[1m]", "claude-sonnet-5", "vendor/deep/model"]
[providers.spare]
chat = "https://spare.example/v1"
keys = [{ env = "D" }]
models = ["gpt-5.4", "only-spare"]
[providers.shut]
chat = "https://shut.example/v1"
keys = [{ env = "E" }]
models = ["shut-model"]
off = true
[providers.hidden]
chat = "https://hidden.example/v1"
keys = [{ env = "F" }]
models = ["hidden-model"]
unlisted = true
[groups.always-on]
members = ["anthropic/claude-sonnet-5", "relay/gpt-5.4"]
[groups.claude-opus-5-5]
members = ["anthropic/claude-opus-5-5"]
[groups.away]
members = ["relay/gpt-5.4"]
off = true
[groups.empty]
members = []
`

func fetchedLists() provider.Lists {
	return provider.Lists{
		"anthropic":  provider.NewList([]provider.Model{{ID: "claude-sonnet-5"}, {ID: "claude-haiku-5-5"}}),
		"openrouter": provider.NewList([]provider.Model{{ID: "anthropic/claude-x"}, {ID: "meta/llama"}, {ID: "claude-haiku-5-5"}}),
		"relay":      provider.NewList([]provider.Model{{ID: "not-in-the-file"}}),
		"shut":       provider.NewList([]provider.Model{{ID: "shut-fetched"}}),
	}
}

func TestResolve(t *testing.T) {
	c := build(t, resolveFile)
	tests := []struct {
		name, asked          string
		provider, who, model string
		group                string
		others               string
	}{
		{"provider and model", "anthropic/claude-sonnet-5", "anthropic", "", "claude-sonnet-5", "", ""},
		{"blanks around it do not count", "  anthropic/claude-sonnet-5 ", "anthropic", "", "claude-sonnet-5", "", ""},
		{"what the vendor lists does not bound what it is asked", "anthropic/claude-next", "anthropic", "", "claude-next", "", ""},
		{"a model's id may hold slashes", "openrouter/anthropic/claude-y", "openrouter", "", "anthropic/claude-y", "", ""},
		{"and colons, which are not levels", "openrouter/qwen/qwen3:free", "openrouter", "", "qwen/qwen3:free", "", ""},
		{"the long-context mark is kept to be sent", "anthropic/claude-sonnet-5[1m]", "anthropic", "", "claude-sonnet-5[1m]", "", ""},
		{"and does not count for a list", "relay/claude-sonnet-5[1m]", "relay", "", "claude-sonnet-5[1m]", "", ""},
		{"unless the list has it", "relay/claude-opus-4-6[1m]", "relay", "", "claude-opus-4-6[1m]", "", ""},
		{"tied to one key, case ignored", "anthropic@work/claude-sonnet-5", "anthropic", "Work", "claude-sonnet-5", "", ""},
		{"a provider's id in another case", "Anthropic/claude-sonnet-5", "anthropic", "", "claude-sonnet-5", "", ""},
		{"an unlisted provider by its id", "hidden/hidden-model", "hidden", "", "hidden-model", "", ""},
		{"a group by its word", "group/always-on", "", "", "", "always-on", ""},
		{"a group by its id alone", "always-on", "", "", "", "always-on", ""},
		{"a group in another case", "ALWAYS-on", "", "", "", "always-on", ""},
		{"a group by a model's spelling", "claude-opus-5.5-20260801", "", "", "", "claude-opus-5-5", ""},
		{"a group with a mark", "always-on[1m]", "", "", "", "always-on", ""},
		{"a bare id that one list has", "only-spare", "spare", "", "only-spare", "", ""},
		{"a bare id of several: the first in the file", "gpt-5.4", "relay", "", "gpt-5.4", "", "spare"},
		{"a bare id with a colon", "qwen3:8b", "relay", "", "qwen3:8b", "", ""},
		{"a bare id that a fetched list has, before a later one of the file", "claude-sonnet-5", "anthropic", "", "claude-sonnet-5", "", "relay"},
		{"a bare id of two fetched lists", "claude-haiku-5-5", "anthropic", "", "claude-haiku-5-5", "", "openrouter"},
		{"a bare id with its mark", "claude-haiku-5-5[1m]", "anthropic", "", "claude-haiku-5-5[1m]", "", "openrouter"},
		{"a bare id with a slash, of the file", "vendor/deep/model", "relay", "", "vendor/deep/model", "", ""},
		{"a bare id with a slash, fetched", "meta/llama", "openrouter", "", "meta/llama", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, refusal := c.Resolve(tt.asked, fetchedLists())
			if refusal != nil {
				t.Fatal(refusal)
			}
			if tt.group != "" {
				if got.Group == nil || got.Group.ID != tt.group || got.Provider != nil {
					t.Fatalf("got %+v", got)
				}
				return
			}
			if got.Provider == nil || got.Provider.ID != tt.provider || got.Who != tt.who || got.Model != tt.model || strings.Join(got.Others, " ") != tt.others {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	c := build(t, resolveFile)
	tests := []struct {
		name, asked string
		status      int
		code        string
		words       []string
	}{
		{"nothing", " ", 400, provider.CodeBadName, []string{"no model"}},
		{"no model", "anthropic/", 400, provider.CodeBadName, []string{`"anthropic/"`}},
		{"no provider", "/claude", 400, provider.CodeBadName, []string{"provider/model"}},
		{"no provider before the @", "@work/claude", 400, provider.CodeBadName, nil},
		{"no name after the @", "anthropic@/claude", 400, provider.CodeBadName, nil},
		{"no group", "group/", 400, provider.CodeBadName, nil},
		{"an unknown group", "group/always-off", 404, provider.CodeGroupUnknown, []string{"always-on"}},
		{"a group that is off", "away", 404, provider.CodeGroupOff, []string{"group away is switched off"}},
		{"a group with nothing in it", "group/empty", 404, provider.CodeGroupEmpty, []string{"no members"}},
		{"a provider that is off", "shut/shut-model", 404, provider.CodeProviderOff, []string{"provider shut is switched off"}},
		{"a bare id of a provider that is off", "shut-model", 404, provider.CodeProviderOff, []string{"provider shut is switched off"}},
		{"a bare id fetched of a provider that is off", "shut-fetched", 404, provider.CodeProviderOff, nil},
		{"an unknown provider", "anthropc/claude", 404, provider.CodeProviderUnknown, []string{`no provider "anthropc"`, "did you mean anthropic?"}},
		{"an unknown key", "anthropic@worrk/claude", 404, provider.CodeAccountUnknown, []string{`no key or account "worrk"`, "did you mean Work?"}},
		{"not in the file's list", "relay/gpt-5.5", 404, provider.CodeModelNotFound, []string{"gpt-5.4, qwen3:8b", "did you mean gpt-5.4?"}},
		{"fetched, but not in the file's list", "relay/not-in-the-file", 404, provider.CodeModelNotFound, nil},
		{"a bare id that the file's list leaves out", "not-in-the-file", 404, provider.CodeModelNotFound, nil},
		{"a bare id of an unlisted provider", "hidden-model", 404, provider.CodeModelNotFound, nil},
		{"a bare id that nothing has", "gpt-9", 404, provider.CodeModelNotFound, []string{`nothing is called "gpt-9"`, "always-on", "more", "provider/model"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, refusal := c.Resolve(tt.asked, fetchedLists())
			if refusal == nil {
				t.Fatalf("resolved to %+v", got)
			}
			if refusal.Status != tt.status || refusal.Code != tt.code {
				t.Errorf("%d %s, want %d %s: %s", refusal.Status, refusal.Code, tt.status, tt.code, refusal)
			}
			for _, w := range tt.words {
				if !strings.Contains(refusal.Words, w) {
					t.Errorf("%q lacks %q", refusal.Words, w)
				}
			}
		})
	}
}

func TestResolveWithoutAnyProvider(t *testing.T) {
	c, _ := provider.Build(config.Default())
	for _, name := range []string{"gpt-5.4", "openai/gpt-5.4"} {
		_, refusal := c.Resolve(name, nil)
		if refusal == nil || refusal.Status != 404 || !strings.Contains(refusal.Words, "add") {
			t.Errorf("%s: %v", name, refusal)
		}
	}
}

// Askers choose the name: a huge one must not come back whole, nor cost much.
func TestResolveAHugeName(t *testing.T) {
	c := build(t, resolveFile)
	for _, name := range []string{strings.Repeat("x", 1<<20), strings.Repeat("é", 1<<20) + "/m", "anthropic@" + strings.Repeat("y", 1<<20) + "/m", "relay/" + strings.Repeat("z", 1<<20)} {
		_, refusal := c.Resolve(name, fetchedLists())
		if refusal == nil || len(refusal.Words) > 1000 {
			t.Errorf("%.20s…: %d characters", name, len(refusal.Words))
		}
	}
}

func TestResolveAllocatesLittle(t *testing.T) {
	c := build(t, resolveFile)
	lists := fetchedLists()
	for name, most := range map[string]float64{
		"anthropic/claude-sonnet-5": 0, "anthropic@work/claude-sonnet-5": 0, "relay/gpt-5.4": 0,
		"group/always-on": 0, "always-on": 0, "only-spare": 0, "openrouter/anthropic/claude-y[1m]": 0,
		"claude-haiku-5-5": 6, // two lists have it: their names are told
	} {
		got := testing.AllocsPerRun(100, func() {
			if _, refusal := c.Resolve(name, lists); refusal != nil {
				t.Fatal(refusal)
			}
		})
		if got > most {
			t.Errorf("%s: %v allocations, want at most %v", name, got, most)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	cfg, err := config.Parse("config.toml", []byte(resolveFile))
	if err != nil {
		b.Fatal(err)
	}
	c, _ := provider.Build(cfg)
	lists := fetchedLists()
	for _, name := range []string{"anthropic/claude-sonnet-5", "always-on", "meta/llama"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Resolve(name, lists)
			}
		})
	}
}
