package messages

import (
	"encoding/json"
	"strconv"

	"dev.magpie/gateway/wire"
)

const (
	leastBudget = 1024
	bareDefault = "medium" // what "as much as it likes" is to a model that wants a number
)

// setThinking says how much the model shall think, and how much it may put out: thinking
// counts as output.
func (w *writing) setThinking() {
	w.setMax()
	raw := w.ownThinking()
	level := w.a.Level()
	switch {
	case raw != nil:
		w.thinking, w.thinks = string(raw), true
		return
	case !w.takes("thinking"):
		if level != "" {
			w.lose(w.word("reasoning effort", "generationConfig.thinkingConfig"), "the vendor knows none")
		}
		return
	}
	asked := level != "" || w.a.Budget != nil || w.a.Show == wire.ShowSummary
	switch {
	case !asked:
	case level == "none":
		w.noThinking()
	case w.m.adaptive && !w.keepsBudget():
		w.adaptive(level)
	case w.m.budget:
		w.budget(level)
	default:
		w.lose(w.word("reasoning effort", "generationConfig.thinkingConfig"), "the model doesn't reason")
	}
}

// ownThinking is the thinking that only this API can say, as its client said it.
func (w *writing) ownThinking() json.RawMessage {
	if !w.own() {
		return nil
	}
	for _, f := range w.a.Extra {
		if f.Name == "thinking" && w.m.off == offBetween {
			return f.Value
		}
	}
	return nil
}

// keepsBudget says that a number was asked for that the model takes as it is.
func (w *writing) keepsBudget() bool {
	return w.m.budget && (w.own() || w.m.unnamed) && w.a.Budget != nil && *w.a.Budget > 0
}

// setMax finds the most output: what was asked for, else what the model has.
func (w *writing) setMax() {
	most := w.m.output
	if w.t.Output > 0 {
		most = int64(w.t.Output)
	}
	w.max = most
	if w.a.Max != nil && (*w.a.Max > 0 || w.own()) {
		w.max = *w.a.Max
		if w.t.Output > 0 && w.max > most {
			w.max = most
			w.lose(w.word("max_tokens", "generationConfig.maxOutputTokens"), "the model's most is "+strconv.FormatInt(most, 10))
		}
	}
}

func (w *writing) noThinking() {
	switch {
	case !w.m.claude:
		w.thinking = `{"type":"disabled"}`
	case !w.m.adaptive: // these don't think unless they are told to
	case w.m.off == offDisabled:
		w.thinking = `{"type":"disabled"}`
	case w.m.off == offBetween:
		w.thinking, w.thinks = `{"type":"between_tools"}`, true
	default:
		w.try("low")
		w.thinks = true
		w.lose(w.word("reasoning effort none", "generationConfig.thinkingConfig"), "the model always thinks; asked for the least")
	}
}

// level is the nearest level that the model has.
func (w *writing) level(want string) string {
	if want == "minimal" {
		want = "low"
	}
	if want == "xhigh" && !w.m.xhigh {
		want = "high"
	}
	got := wire.NearestEffort(want, w.t.Efforts)
	if got == "none" || got == "minimal" {
		return "low"
	}
	return got
}

// try says how hard the model shall try, where the vendor has a field for it.
func (w *writing) try(level string) {
	if w.takes("output_config") && w.takes("output_config.effort") {
		w.effort = w.level(level)
		return
	}
	w.lose(w.word("reasoning effort", "generationConfig.thinkingConfig"), "the vendor knows no levels")
}

func (w *writing) adaptive(level string) {
	w.thinks = true
	if level != "" {
		w.try(level)
	}
	if w.own() && w.a.Budget == nil { // it said how hard to try, and nothing of thinking
		w.thinks = w.m.off == offLow
		return
	}
	w.thinking = `{"type":"adaptive"` + w.display() + "}"
}

// display asks for the text of thinking where the client shows it: newer models leave it
// out unless they are asked.
func (w *writing) display() string {
	if !w.takes("thinking.display") {
		return ""
	}
	switch w.a.Show {
	case wire.ShowSummary:
		return `,"display":"summarized"`
	case wire.ShowUpdates:
		return `,"display":"updates"`
	case wire.ShowNone:
		if w.own() {
			return `,"display":"omitted"`
		}
	case wire.ShowUnsaid:
		if w.a.API == wire.Chat {
			return `,"display":"summarized"`
		}
	}
	return ""
}

// budget asks for thinking by a number of tokens, and makes room for the answer.
func (w *writing) budget(level string) {
	if w.lostLoop() {
		w.lose(w.word("reasoning effort", "generationConfig.thinkingConfig"), "the reasoning before the last tool calls is lost, and the model demands it while it thinks")
		return
	}
	var n int64
	switch {
	case w.a.Budget != nil && *w.a.Budget > 0 && (w.own() || w.a.Effort == ""):
		n = *w.a.Budget
	case level == "":
		n = wire.MessagesBudget(bareDefault, w.max)
	default:
		n = wire.MessagesBudget(level, w.max)
	}
	n = w.room(max(n, leastBudget))
	w.thinks = true
	w.thinking = `{"type":"enabled","budget_tokens":` + strconv.FormatInt(n, 10)
	if w.own() {
		w.thinking += w.display()
	}
	w.thinking += "}"
}

// room makes the most output larger than the budget, by what was asked for the answer, as
// far as the model has it; else the budget becomes smaller.
func (w *writing) room(budget int64) int64 {
	if budget < w.max {
		return budget
	}
	most := int64(w.t.Output)
	if most == 0 && w.m.format { // of the others the table doesn't know the most
		most = w.m.output
	}
	w.max += budget
	if most > leastBudget && w.max > most {
		w.max = most
		budget = min(budget, max(leastBudget, most/2))
	}
	return budget
}

// lostLoop says that the conversation stands in the middle of tool calls whose reasoning
// can't be given back: a Claude model that is told to think refuses such a history.
func (w *writing) lostLoop() bool {
	if !w.m.claude {
		return false
	}
	turns := w.a.Turns
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role != wire.RoleAssistant {
			continue
		}
		calls := false
		for j := range turns[i].Parts {
			p := &turns[i].Parts[j]
			if p.Kind == wire.KindThinking && p.Seal.For(wire.Messages, w.t.Dialect.Vendor) {
				return false
			}
			calls = calls || p.Kind == wire.KindCall
		}
		return calls
	}
	return false
}

// appendSampling writes what Claude models take of temperature and the like.
func (w *writing) appendSampling(b []byte) []byte {
	a := w.a
	if a.Temperature == "" && a.TopP == "" && a.TopK == nil {
		return b
	}
	gemini := func(name string) string { return "generationConfig." + name }
	if !w.m.sampling || w.thinks {
		why := "the model takes none"
		if w.m.sampling {
			why = "the model takes none while it thinks"
		}
		if a.Temperature != "" {
			w.lose(w.word("temperature", gemini("temperature")), why)
		}
		if a.TopP != "" {
			w.lose(w.word("top_p", gemini("topP")), why)
		}
		if a.TopK != nil {
			w.lose(w.word("top_k", gemini("topK")), why)
		}
		return b
	}
	if t, ok := w.temperature(); ok {
		b = append(append(b, `,"temperature":`...), t...)
		if a.TopP != "" {
			w.lose(w.word("top_p", gemini("topP")), "the model takes it only without temperature")
		}
	} else if a.TopP != "" && w.takes("top_p") {
		b = append(append(b, `,"top_p":`...), a.TopP...)
	}
	if a.TopK != nil && *a.TopK > 0 && w.takes("top_k") {
		b = append(b, `,"top_k":`...)
		b = strconv.AppendInt(b, *a.TopK, 10)
	}
	return b
}

// temperature is the one that was asked for, of which the API knows those up to 1.
func (w *writing) temperature() (json.Number, bool) {
	t := w.a.Temperature
	if t == "" || !w.takes("temperature") {
		return "", false
	}
	f, err := t.Float64()
	if err != nil || f < 0 {
		return "", false
	}
	if f > 1 {
		w.lose(w.word("temperature", "generationConfig.temperature"), "at most 1; asked for that")
		return "1", true
	}
	return t, true
}
