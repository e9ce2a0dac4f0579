package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dev.magpie/tui/canvas"
)

func TestModelsLoseTheirVendorAndDate(t *testing.T) {
	for in, want := range map[string]string{
		"claude-sonnet-5-5-20260901": "sonnet-5-5",
		"claude-haiku-5":             "haiku-5",
		"gpt-6.1-sol":                "gpt-6.1-sol",
		"gpt-5.4-2026-03-05":         "gpt-5.4",
		"anthropic/claude-opus-5":    "opus-5",
		"openrouter/openai/gpt-5.4":  "gpt-5.4",
		"models/gemini-3-pro":        "gemini-3-pro",
		"claude-sonnet-5@20260901":   "sonnet-5",
		"qwen3:latest":               "qwen3",
		"glm-5.3":                    "glm-5.3",
		"claude-":                    "claude-",
		"claude":                     "claude",
		"provider/":                  "provider/",
		"":                           "",
		"mistral-large-2411":         "mistral-large-2411",
	} {
		if got := Model(in); got != want {
			t.Errorf("Model(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDifferentModelsNeverLookTheSame(t *testing.T) {
	set := canvas.Unicode()
	for _, c := range []struct {
		name  string
		width int
		ids   []string
		want  []string
	}{
		{"they fit", 12, []string{"claude-sonnet-5-5", "gpt-6.1-sol"}, []string{"sonnet-5-5", "gpt-6.1-sol"}},
		{"cut at the end while they differ", 6, []string{"claude-sonnet-5-5", "gpt-6.1-sol"}, []string{"sonne⋯", "gpt-6⋯"}},
		{"cut in the middle when the ends would be lost", 8, []string{"llama-4-scout-large", "llama-4-scout-small", "glm-5.3"}, []string{"llam⋯rge", "llam⋯all", "glm-5.3"}},
		{"the date stays when it is the difference", 20, []string{"claude-sonnet-5-20260101", "claude-sonnet-5-20260901"}, []string{"sonnet-5-20260101", "sonnet-5-20260901"}},
		{"the vendor stays when it is the difference", 20, []string{"a/claude-opus-5", "b/claude-opus-5"}, []string{"a/claude-opus-5", "b/claude-opus-5"}},
		{"the same one twice", 12, []string{"claude-opus-5", "gpt-6", "claude-opus-5"}, []string{"opus-5", "gpt-6", "opus-5"}},
		{"none", 9, nil, []string{}},
	} {
		if got := Models(&set, c.ids, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestModelsKeepToTheirWidth(t *testing.T) {
	set := canvas.Unicode()
	part := rapid.StringMatching(`(claude-|gpt-|x/|智)?[a-c]{1,6}(-20260901|-[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(part).Draw(t, "ids")
		width := rapid.IntRange(1, 14).Draw(t, "width")
		shown := Models(&set, ids, width)
		if len(shown) != len(ids) {
			t.Fatalf("%d of %d", len(shown), len(ids))
		}
		for i, s := range shown {
			if set.Width(s) > width {
				t.Fatalf("%q for %q is wider than %d", s, ids[i], width)
			}
		}
		if width < 14 {
			return
		}
		for i := range ids {
			for j := range ids {
				if ids[i] != ids[j] && shown[i] == shown[j] && set.Width(ids[i]) <= width && set.Width(ids[j]) <= width {
					t.Fatalf("%q and %q are both %q", ids[i], ids[j], shown[i])
				}
			}
		}
	})
}
