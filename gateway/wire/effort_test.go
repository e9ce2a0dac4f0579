package wire

import "testing"

func TestALevelThatAModelHasNotBecomesTheNearestBelow(t *testing.T) {
	deepseek := []string{"low", "high", "max"}
	for name, c := range map[string]struct {
		want string
		has  []string
		got  string
	}{
		"one that it has":                {"high", deepseek, "high"},
		"one between":                    {"medium", deepseek, "low"},
		"xhigh":                          {"xhigh", deepseek, "high"},
		"max without max":                {"max", []string{"none", "low", "medium", "high", "xhigh"}, "xhigh"},
		"none without none: the lowest":  {"none", deepseek, "low"},
		"minimal: the lowest":            {"minimal", deepseek, "low"},
		"a model of which nothing known": {"xhigh", nil, "xhigh"},
		"a word that is no level":        {"enormous", deepseek, "enormous"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NearestEffort(c.want, c.has); got != c.got {
				t.Errorf("got %q, want %q", got, c.got)
			}
		})
	}
}

func TestBudgetsAndLevels(t *testing.T) {
	for n, want := range map[int64]string{-1: "", 0: "none", 1: "low", 1024: "low", 1025: "medium", 8192: "medium", 8193: "high", 24576: "high", 24577: "xhigh"} {
		if got := BudgetEffort(n); got != want {
			t.Errorf("%d tokens: got %q, want %q", n, got, want)
		}
	}
	for level, want := range map[string]int64{"none": 0, "": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 64000} {
		if got := MessagesBudget(level, 0); got != want {
			t.Errorf("Claude, %q: got %d, want %d", level, got, want)
		}
	}
	if got := MessagesBudget("max", 20000); got != 19999 {
		t.Errorf("max within max_tokens: got %d", got)
	}
	for level, want := range map[string][2]int64{"none": {0, 128}, "low": {1024, 1024}, "max": {24576, 32768}, "": {-1, -1}} {
		if f, p := GeminiBudget(level, false), GeminiBudget(level, true); f != want[0] || p != want[1] {
			t.Errorf("Gemini, %q: got %d and %d, want %v", level, f, p, want)
		}
	}
	for level, want := range map[string][2]string{"none": {"MINIMAL", "LOW"}, "minimal": {"MINIMAL", "LOW"}, "low": {"LOW", "LOW"}, "xhigh": {"HIGH", "HIGH"}, "": {"", ""}} {
		if f, p := GeminiLevel(level, true), GeminiLevel(level, false); f != want[0] || p != want[1] {
			t.Errorf("Gemini 3, %q: got %s and %s, want %v", level, f, p, want)
		}
	}
	for level, want := range map[string]string{"none": "", "minimal": "low", "xhigh": "xhigh", "": ""} {
		if got := AdaptiveEffort(level, nil); got != want {
			t.Errorf("adaptive, %q: got %q, want %q", level, got, want)
		}
	}
	if got := AdaptiveEffort("xhigh", []string{"low", "medium", "high", "max"}); got != "high" {
		t.Errorf("xhigh on 4.6: got %q", got)
	}
}

func TestABudgetIsALevelWhereNoneIsSaid(t *testing.T) {
	n := int64(8000)
	if got := (&Ask{Budget: &n}).Level(); got != "medium" {
		t.Errorf("got %q", got)
	}
	if got := (&Ask{Effort: "low", Budget: &n}).Level(); got != "low" {
		t.Errorf("got %q", got)
	}
	if got := (&Ask{}).Level(); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestReasoningModelsAreToldByTheirIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"gpt-5": true, "gpt-6.1-terra": true, "openai/gpt-5.5": true, "o3-mini": true, "o1": true,
		"gpt-4.1": false, "gpt-5-chat-latest": false, "gpt-oss-120b": false, "grok-4": false, "omni": false, "": false, "o": false,
	} {
		if got := ReasoningModel(id); got != want {
			t.Errorf("%q: got %v", id, got)
		}
	}
}
