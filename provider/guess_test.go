package provider_test

import (
	"slices"
	"strings"
	"testing"

	"dev.magpie/provider"
)

// vendorsOf is a config of several vendors under names of the person's.
const vendorsOf = `
[providers.work]
preset = "anthropic"
keys = [{ name = "k", value = "sk-ant-1" }]
[providers.openai]
keys = [{ name = "k", value = "sk-1" }]
[providers.zai]
keys = [{ name = "k", value = "z-1" }]
[providers.zhipu]
keys = [{ name = "k", value = "z-2" }]
[providers.google]
off = true
keys = [{ name = "k", value = "g-1" }]
[providers.deepseek]
keys = [{ name = "k", value = "d-1" }]
models = ["deepseek-v4"]
[providers.relay]
chat = "https://relay.example/v1"
keys = [{ name = "k", value = "r-1" }]
models = ["claude-of-the-relay"]
[groups.claude-mine]
members = ["relay/claude-of-the-relay"]
`

func TestAGuessGoesToWhoCanServe(t *testing.T) {
	for notReady, want := range map[string]string{"": "zai/glm-9", "zai": "zhipu/glm-9", "zhipu": "zai/glm-9", "zai zhipu": "zai/glm-9"} {
		c := build(t, "guess_vendor = true\n"+vendorsOf).With(provider.View{Ready: func(a *provider.Account) bool {
			return !slices.Contains(strings.Fields(notReady), a.Provider)
		}})
		if got := meant(c.Resolve("glm-9", nil)); got != want {
			t.Errorf("not ready %q: %s, want %s", notReady, got, want)
		}
	}
}

func TestAVendorIsGuessedByHowANameBegins(t *testing.T) {
	c := build(t, "guess_vendor = true\n"+vendorsOf)
	for _, tt := range []struct{ name, asked, want string }{
		{"Anthropic's", "claude-x", "work/claude-x"},
		{"in capitals", "Claude-X", "work/Claude-X"},
		{"with its mark", "claude-x[1m]", "work/claude-x[1m]"},
		{"at a level", "claude-x:high", "work/claude-x:high"},
		{"what is no level stays", "claude-x:batch", "work/claude-x:batch"},
		{"OpenAI's", "gpt-9-mini", "openai/gpt-9-mini"},
		{"OpenAI's by a number", "o3", "openai/o3"},
		{"of two that have it the first in the file", "glm-9", "zai/glm-9"},
		{"what a list has is no guess", "claude-of-the-relay", "relay/claude-of-the-relay"},
		{"a group goes before it", "claude-mine", "group/claude-mine"},
		{"a vendor that is off", "gemini-9", provider.CodeModelNotFound},
		{"a vendor whose list hasn't it", "deepseek-v9", provider.CodeModelNotFound},
		{"a vendor that is not in the config", "grok-9", provider.CodeModelNotFound},
		{"nobody's", "mystery-1", provider.CodeModelNotFound},
		{"a beginning in the middle", "my-claude-x", provider.CodeModelNotFound},
		{"with a slash", "who/claude-x", provider.CodeProviderUnknown},
		{"what is asked of a provider stays with it", "zai/claude-x", "zai/claude-x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := meant(c.Resolve(tt.asked, nil)); got != tt.want {
				t.Errorf("%s is %s, want %s", tt.asked, got, tt.want)
			}
		})
	}
	if target, _ := c.Resolve("claude-x", nil); target.Guessed != "claude-" || target.Asked != "claude-x" {
		t.Errorf("%+v", target)
	}
	if target, _ := c.Resolve("zai/claude-x", nil); target.Guessed != "" {
		t.Errorf("%+v", target)
	}
}

func TestWhyNoVendorIsGuessed(t *testing.T) {
	on, off := build(t, "guess_vendor = true\n"+vendorsOf), build(t, vendorsOf)
	for _, tt := range []struct {
		name  string
		c     *provider.Catalog
		asked string
		want  string
	}{
		{"not wanted", off, "claude-x", "guess_vendor = true would ask work, for a name that begins with claude-"},
		{"off", on, "gemini-9", "it begins like those of google, which is switched off"},
		{"not in its list", on, "deepseek-v9", "it begins like those of deepseek, which serves only the models that its list in the config names"},
		{"not in the config", on, "grok-9", "a name that begins with grok- is one of xai, and no such provider is in the config"},
		{"nobody's", on, "mystery-1", "its vendor can't be guessed: it begins like no vendor's models"},
	} {
		_, refusal := tt.c.Resolve(tt.asked, nil)
		if refusal == nil || refusal.Status != 404 || !strings.HasPrefix(refusal.Words, "nothing is called ") || !strings.HasSuffix(refusal.Words, tt.want) {
			t.Errorf("%s: %v", tt.name, refusal)
		}
	}
	if _, refusal := off.Resolve("mystery-1", nil); refusal == nil || strings.Contains(refusal.Words, "guess") {
		t.Errorf("nothing to say of guessing, but %v", refusal)
	}
}

func TestAStandInGoesBeforeAGuess(t *testing.T) {
	c := build(t, "guess_vendor = true\n"+vendorsOf+"[agents.crush]\ntiers = { opus = \"relay/claude-of-the-relay\" }\n")
	if got := meant(c.ResolveFor("crush", "claude-opus-9", nil)); got != "relay/claude-of-the-relay" {
		t.Errorf("%s", got)
	}
	if got := meant(c.ResolveFor("crush", "claude-haiku-9", nil)); got != "work/claude-haiku-9" {
		t.Errorf("%s", got)
	}
}

func TestBeginningsAreInSmallLetters(t *testing.T) {
	some := 0
	for _, p := range provider.Presets() {
		for _, b := range p.Begins {
			some++
			if b != strings.ToLower(b) || strings.TrimSpace(b) != b || len(b) < 2 {
				t.Errorf("%s: %q", p.ID, b)
			}
			if p.Kind != provider.Vendor {
				t.Errorf("%s makes no models of its own, but names are said to begin with %s", p.ID, b)
			}
		}
	}
	if some == 0 {
		t.Error("no beginning is known")
	}
}
