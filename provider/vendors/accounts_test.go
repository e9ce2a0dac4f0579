package vendors_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors"
)

// A row of the catalogue is shown alone where nobody signs its requests, and the other way round.
func TestEverySubscriptionHasARowThatFitsIt(t *testing.T) {
	presets := provider.Presets()
	for i := range presets {
		p := &presets[i]
		if p.Kind != provider.Subscription || p.Program != "" {
			continue
		}
		homes := vendors.Homes(p.ID, "", "/home/someone", func(string) string { return "" })
		sub, ok := vendors.Open(&provider.Provider{Preset: p.ID}, vendors.SignIn{Homes: homes, Do: func(*http.Request) (*http.Response, error) { return nil, http.ErrNotSupported }})
		if !ok || len(homes) == 0 || sub.Looker == nil || sub.Agent == "" {
			t.Errorf("%s has no row: %v %+v", p.ID, homes, sub)
			continue
		}
		if (sub.Signer == nil) != (p.ReadOnly != "") || sub.Signer == nil && sub.Resetter != nil {
			t.Errorf("%s: shown alone %q, signed %v", p.ID, p.ReadOnly, sub.Signer != nil)
		}
	}
	if _, ok := vendors.Open(&provider.Provider{Preset: "openai"}, vendors.SignIn{}); ok {
		t.Error("a vendor of keys has accounts")
	}
}

func TestWhereSignInsAreLookedFor(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	for _, c := range []struct {
		preset, named, moved string
		want                 []string
	}{
		{"codex", "", "", []string{"/home/s/.codex"}},
		{"codex", "", "CODEX_HOME=/else", []string{"/else"}},
		{"codex", "~/.codex-team", "CODEX_HOME=/else", []string{"/home/s/.codex-team"}},
		{"copilot", "", "", []string{"/home/s/.config/github-copilot", "/home/s/.copilot"}},
		{"copilot", "", "XDG_CONFIG_HOME=/cfg", []string{"/cfg/github-copilot", "/home/s/.copilot"}},
		{"copilot", "", "COPILOT_HOME=/cop", []string{"/home/s/.config/github-copilot", "/cop"}},
		{"copilot", "/work/copilot", "COPILOT_HOME=/cop", []string{"/work/copilot"}},
		{"gemini-cli", "", "", []string{"/home/s/.gemini"}},
		{"gemini-cli", "", "GEMINI_CLI_HOME=~/g", []string{"/home/s/g/.gemini"}},
		{"openai", "", "", nil},
	} {
		clear(env)
		if name, value, ok := strings.Cut(c.moved, "="); ok {
			env[name] = value
		}
		if got := vendors.Homes(c.preset, c.named, "/home/s", getenv); !slices.Equal(got, c.want) {
			t.Errorf("%s %q %s: %q", c.preset, c.named, c.moved, got)
		}
	}
}
