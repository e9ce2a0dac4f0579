package provider_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/provider"
)

func TestSlug(t *testing.T) {
	for model, want := range map[string]string{
		"anthropic/claude-sonnet-5": "claude-sonnet-5", "claude-sonnet-5": "claude-sonnet-5",
		"claude-opus-5.5": "claude-opus-5-5", "claude-opus-5-5-20260801": "claude-opus-5-5", "Claude-Opus-5.5[1m]": "claude-opus-5-5",
		"gpt-5.4-2026-03-05": "gpt-5-4", "a/b/C.d1.2": "c.d1-2",
		"x:batch": "x:batch", "v/x.1:Free": "x.1:free", "qwen3:8.5b": "qwen3:8.5b",
		"-20260101": "-20260101", "m-20261": "m-20261", "m-19991231": "m-19991231", "": "",
	} {
		if got := provider.Slug(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
	if provider.Slug("x:batch") == provider.Slug("x") {
		t.Error("a variant meets its base")
	}
}

func TestUnmarked(t *testing.T) {
	for model, want := range map[string]string{"m[1m]": "m", "m[1M]": "m", "m": "m", "[1m]": "[1m]", "m[2m]": "m[2m]", "": ""} {
		if got := provider.Unmarked(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
}

func TestParseRef(t *testing.T) {
	for s, want := range map[string]provider.Ref{
		"a/m":                      {Provider: "a", Model: "m"},
		" a/m ":                    {Provider: "a", Model: "m"},
		"a/m:high":                 {Provider: "a", Model: "m", Effort: "high"},
		"a/m:HIGH":                 {Provider: "a", Model: "m", Effort: "high"},
		"a/qwen3:8b":               {Provider: "a", Model: "qwen3:8b"},
		"a/qwen3:8b:none":          {Provider: "a", Model: "qwen3:8b", Effort: "none"},
		"a/v/m:free":               {Provider: "a", Model: "v/m:free"},
		"codex@me@x.example/gpt-5": {Provider: "codex", Who: "me@x.example", Model: "gpt-5"},
		"group/cheap":              {Group: "cheap"},
	} {
		got, err := provider.ParseRef(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", s, d)
		}
		again, err := provider.ParseRef(got.String())
		if err != nil || again != got {
			t.Errorf("%q is written %q, which reads as %+v, %v", s, got, again, err)
		}
	}
	for _, s := range []string{"", "m", "/m", "a/", "@k/m", "a@/m", "group/"} {
		if got, err := provider.ParseRef(s); err == nil {
			t.Errorf("%q reads as %+v", s, got)
		}
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"a/m", "a@k/m:high", "group/g", "a/b/c:8b:low", "@/", "a/:high"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := provider.ParseRef(s)
		if err != nil {
			return
		}
		if again, err := provider.ParseRef(r.String()); err != nil || again != r {
			t.Errorf("%q reads as %+v, is written %q and then reads as %+v, %v", s, r, r, again, err)
		}
	})
}
