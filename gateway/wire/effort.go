package wire

import (
	"slices"
	"strings"
)

// Efforts are the levels of reasoning, the least first.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"}

// NearestEffort is the level that a model has for the one that is wanted: itself, else the
// nearest below, else the lowest that the model has. has is nil when it isn't known.
func NearestEffort(want string, has []string) string {
	at := slices.Index(Efforts, want)
	if at < 0 || len(has) == 0 {
		return want
	}
	for i := at; i >= 0; i-- {
		if slices.Contains(has, Efforts[i]) {
			return Efforts[i]
		}
	}
	for _, level := range Efforts[at:] {
		if slices.Contains(has, level) {
			return level
		}
	}
	return want
}

// ReasoningModel says, by its id, that a model is one of OpenAI's that reason: they refuse
// temperature and top_p, and seal their reasoning.
func ReasoningModel(id string) bool {
	id = id[strings.LastIndexByte(id, '/')+1:]
	if len(id) > 1 && id[0] == 'o' && id[1] >= '1' && id[1] <= '9' {
		return true
	}
	n, ok := strings.CutPrefix(id, "gpt-")
	return ok && n != "" && n[0] >= '5' && n[0] <= '9' && !strings.Contains(n, "chat")
}

// BudgetEffort is the level that a budget of thinking tokens comes to, "" for one that
// leaves it to the model.
func BudgetEffort(tokens int64) string {
	switch {
	case tokens < 0:
		return ""
	case tokens == 0:
		return "none"
	case tokens <= 1024:
		return "low"
	case tokens <= 8192:
		return "medium"
	case tokens <= 24576:
		return "high"
	}
	return "xhigh"
}

// Level is how much reasoning is asked for, be it said as a level or as a budget; "" = not said.
func (a *Ask) Level() string {
	if a.Effort != "" || a.Budget == nil {
		return a.Effort
	}
	return BudgetEffort(*a.Budget)
}

// The budgets of the levels, where a model takes numbers.
const (
	budgetLeast   = 1024
	budgetMedium  = 8192
	budgetHigh    = 24576
	budgetXHigh   = 32768
	budgetMost    = 64000
	budgetProNone = 128
)

// MessagesBudget is a level as budget_tokens of a Claude model that takes no levels; 0 =
// no thinking. limit is the request's max_tokens, 0 = not known.
func MessagesBudget(level string, limit int64) int64 {
	switch level {
	case "minimal", "low":
		return budgetLeast
	case "medium":
		return budgetMedium
	case "high":
		return budgetHigh
	case "xhigh":
		return budgetXHigh
	case "max", "ultra":
		if limit > 0 {
			return max(budgetLeast, min(limit-1, budgetMost))
		}
		return budgetMost
	}
	return 0
}

// GeminiBudget is a level as thinkingBudget of a Gemini 2.5 model, -1 where the level says
// nothing. Pro models can't do without thinking, and think longer.
func GeminiBudget(level string, pro bool) int64 {
	switch level {
	case "none":
		if pro {
			return budgetProNone
		}
		return 0
	case "minimal", "low":
		return budgetLeast
	case "medium":
		return budgetMedium
	case "high":
		return budgetHigh
	case "xhigh", "max", "ultra":
		if pro {
			return budgetXHigh
		}
		return budgetHigh
	}
	return -1
}

// GeminiLevel is a level as thinkingLevel of a Gemini 3 model, "" where it says nothing.
// Only Flash models know MINIMAL.
func GeminiLevel(level string, flash bool) string {
	switch level {
	case "none", "minimal":
		if flash {
			return "MINIMAL"
		}
		return "LOW"
	case "low":
		return "LOW"
	case "medium":
		return "MEDIUM"
	case "high", "xhigh", "max", "ultra":
		return "HIGH"
	}
	return ""
}

// GeminiEffort is the level that a thinkingLevel comes to, "" for one that says nothing.
func GeminiEffort(level string) string {
	switch level {
	case "MINIMAL", "minimal":
		return "minimal"
	case "LOW", "low":
		return "low"
	case "MEDIUM", "medium":
		return "medium"
	case "HIGH", "high":
		return "high"
	}
	return ""
}

// AdaptiveEffort is a level as output_config.effort of a Claude model that thinks as it
// sees fit; "" where the level says nothing or is none, which isn't an effort there.
func AdaptiveEffort(level string, has []string) string {
	switch level {
	case "", "none":
		return ""
	case "minimal":
		level = "low"
	}
	return NearestEffort(level, has)
}
