package provider_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		name, vendor, model string
		want                string // the row's id, "" = unknown
		priced              bool
	}{
		{"as its maker writes it", "anthropic", "claude-sonnet-5", "claude-sonnet-5", true},
		{"with a date", "anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5", true},
		{"with a date in dashes", "openai", "gpt-5.4-2026-03-05", "gpt-5.4", true},
		{"with a mark", "anthropic", "claude-opus-4-6[1m]", "claude-opus-4-6", true},
		{"at a relay, with the maker before it", "openrouter", "anthropic/claude-opus-5.5", "claude-opus-5-5", true},
		{"in another case", "minimax", "MiniMax-M2.7", "minimax-m2.7", true},
		{"in Bedrock's spelling", "bedrock", "global.anthropic.claude-opus-5-20260724-v1:0", "claude-opus-5", true},
		{"under another name of the row", "openai", "gpt-5.6", "gpt-5.6-sol", true},
		{"a variant has its base's sizes and no price", "openrouter", "z-ai/glm-5.3:free", "glm-5.3", false},
		{"not a model of the table", "openai", "gpt-2", "", false},
		{"nothing", "", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := provider.Lookup(tt.vendor, tt.model)
			if m.ID != tt.want || ok != (tt.want != "") || (m.Price != nil) != tt.priced {
				t.Errorf("%+v %v", m, ok)
			}
		})
	}
}

// Families that the documents of agents and vendors name must be in the table, known or not.
func TestTableNamesTheFamilies(t *testing.T) {
	for _, id := range []string{
		"claude-sonnet-4-5", "claude-opus-4-5", "claude-sonnet-4-6", "claude-opus-4-6", "claude-sonnet-5", "claude-opus-5-5", "claude-fable-5-1", "claude-haiku-5-5",
		"gpt-5.4", "gpt-5.5", "gpt-5.6-sol", "gpt-5.3-codex", "gpt-6-sol", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna",
		"gemini-2.5-pro", "gemini-2.5-flash", "gemini-3.1-pro", "gemini-3.8-flash", "deepseek-v4-pro", "kimi-k3", "glm-5.3", "qwen3.7-max", "minimax-m3", "grok-4",
	} {
		if _, ok := provider.Lookup("", id); !ok {
			t.Errorf("%s is not in the table", id)
		}
	}
}

func TestEveryFactIsDatedAndSound(t *testing.T) {
	vendors := map[string]bool{}
	presets := provider.Presets()
	for i := range presets {
		vendors[presets[i].Vendor] = true
	}
	inputs := []string{"text", "image", "audio", "video", "pdf", "file"}
	for _, f := range provider.Facts() {
		if _, err := time.Parse(time.DateOnly, f.Checked); err != nil || f.Source == "" || f.Name == "" {
			t.Errorf("%s: checked %q, source %q, name %q", f.ID, f.Checked, f.Source, f.Name)
		}
		if !vendors[f.Vendor] {
			t.Errorf("%s: no preset has the vendor %q", f.ID, f.Vendor)
		}
		if f.Context < 0 || f.Output < 0 || f.Context > 0 && f.Output > f.Context {
			t.Errorf("%s: context %d, output %d", f.ID, f.Context, f.Output)
		}
		for _, in := range f.Inputs {
			if !slices.Contains(inputs, in) {
				t.Errorf("%s: input %q", f.ID, in)
			}
		}
		for _, e := range f.Efforts {
			if !slices.Contains(provider.Efforts, e) {
				t.Errorf("%s: effort %q", f.ID, e)
			}
		}
		for _, api := range f.APIs {
			if !slices.Contains(wire.Protocols, api) {
				t.Errorf("%s: API %q", f.ID, api)
			}
		}
		if strings.HasSuffix(f.Source, "figures unknown") && (f.Price != nil || f.Context > 0) {
			t.Errorf("%s has figures and no source", f.ID)
		}
		checkPrice(t, f.ID, f.Price)
	}
}

func checkPrice(t *testing.T, id string, p *provider.FactPrice) {
	if p == nil {
		return
	}
	if p.Input == nil || (p.Over > 0) != (p.Long != nil) {
		t.Errorf("%s: price %+v", id, p)
	}
	for _, part := range []*float64{p.Input, p.Output, p.CacheRead, p.CacheWrite, p.Hour} {
		if part != nil && (*part < 0 || *part > 1000) {
			t.Errorf("%s: a price of %v", id, *part)
		}
	}
	if p.CacheRead != nil && *p.CacheRead > *p.Input {
		t.Errorf("%s: reading the cache costs more than reading", id)
	}
	checkPrice(t, id, p.Long)
}

func TestModelTakesTheFileThenTheListThenTheTable(t *testing.T) {
	c := build(t, `
[providers.anthropic]
keys = [{ env = "A" }]
models = [{ id = "claude-sonnet-5", context = 5000, price = { input = 1, output = 2 } }, "claude-opus-5", "mystery"]
[providers.ollama]
`)
	p := c.Provider("anthropic")
	fetched := provider.NewList([]provider.Model{
		{ID: "claude-sonnet-5", Name: "fetched name", Context: 6000, MaxOutput: 700, APIs: []wire.Protocol{wire.Messages}},
		{ID: "mystery", Context: 8000},
	})
	m := p.Model("claude-sonnet-5", fetched)
	if m.Context != 5000 || m.Name != "fetched name" || m.MaxOutput != 700 || *m.Price.Input != 1 || !m.Price.Own || len(m.Inputs) == 0 || len(m.APIs) != 1 {
		t.Errorf("%+v", m)
	}
	if m := p.Model("claude-sonnet-5[1m]", fetched); m.ID != "claude-sonnet-5[1m]" || m.Context != 5000 {
		t.Errorf("with its mark: %+v", m)
	}
	if m := p.Model("claude-opus-5", nil); m.Context != 1_000_000 || *m.Price.Input != 5 || m.APIs != nil {
		t.Errorf("of the table: %+v", m)
	}
	if m := p.Model("mystery", fetched); m.Context != 8000 || m.Price != nil || m.MaxOutput != 0 {
		t.Errorf("of the list alone: %+v", m)
	}
	if m := c.Provider("ollama").Model("kimi-k3", nil); m.Context == 0 || m.Price != nil {
		t.Errorf("a model on this machine has its maker's price: %+v", m)
	}
}

func TestListed(t *testing.T) {
	c := build(t, "[providers.anthropic]\nkeys = [{ env = \"A\" }]\n[providers.relay]\nchat = \"http://127.0.0.1:1\"\nmodels = [\"m\"]\n")
	fetched := provider.NewList([]provider.Model{{ID: "f"}})
	if got := c.Provider("anthropic").Listed(fetched); len(got) != 1 || got[0].ID != "f" {
		t.Errorf("fetched: %v", got)
	}
	if got := c.Provider("relay").Listed(fetched); len(got) != 1 || got[0].ID != "m" {
		t.Errorf("the file's list is exclusive: %v", got)
	}
	if got := c.Provider("anthropic").Listed(nil); len(got) != 0 {
		t.Errorf("nothing fetched yet: %v", got)
	}
}
