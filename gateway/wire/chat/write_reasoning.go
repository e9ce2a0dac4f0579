package chat

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// keepers are the heads of the ids of models that want their own reasoning back, or make use of
// it, behind an address of which nothing is known.
var keepers = []string{"deepseek", "kimi", "glm", "qwen"}

// thoughts writes the reasoning of a turn for a vendor that wants to see it again.
func (w *writing) thoughts(parts []wire.Part, calls bool) {
	text, sealed := w.gather(parts)
	if sealed != "" {
		w.raw("reasoning_details", []byte(sealed))
	}
	give, lost := w.d.GiveBack, w.d.ReasoningLost
	if give == wire.GiveNone && w.d.Vendor == "" && wire.Headed(strings.ToLower(w.t.Model), keepers) {
		give, lost = wire.GiveAll, " "
	}
	switch give {
	case wire.GiveNone:
		if text != "" && sealed == "" {
			w.lose("reasoning", "the vendor wants none back")
		}
		return
	case wire.GiveCalls:
		if !calls {
			if text != "" {
				w.lose("reasoning", "the vendor wants only that of turns with calls back")
			}
			return
		}
	case wire.GiveAll, wire.GiveEvery:
	}
	if text == "" {
		if !calls && give != wire.GiveEvery || w.level == "none" {
			return
		}
		text = lost
	}
	name := w.d.ReasoningField
	if name == "" {
		name = "reasoning_content"
	}
	w.str(name, text)
}

// gather joins a turn's reasoning, and finds what a vendor of this API sealed of it.
func (w *writing) gather(parts []wire.Part) (text, sealed string) {
	var all []string
	for i := range parts {
		p := &parts[i]
		if p.Kind != wire.KindThinking {
			continue
		}
		if p.Text != "" {
			all = append(all, p.Text)
		}
		if p.Seal == nil {
			continue
		}
		if w.d.Details && p.Seal.For(wire.Chat, w.d.Vendor) {
			sealed = joinArrays(sealed, p.Seal.Data)
			continue
		}
		w.lose("reasoning.signature", "only the vendor that made it may have it")
	}
	return strings.Join(all, "\n"), sealed
}

// reasoning writes how much reasoning is asked for, in the vendor's words.
func (w *writing) reasoning() {
	level := w.level
	if level != "" && len(w.t.Efforts) == 0 && w.t.Efforts != nil {
		w.lose("reasoning_effort", "the model does not reason")
		return
	}
	asked := level != "" || w.a.Budget != nil
	if !asked && w.a.Show == wire.ShowUnsaid {
		return
	}
	switch w.d.Switch {
	case wire.SwitchEffort:
		w.effort(level)
	case wire.SwitchType:
		if asked && w.may("thinking") {
			w.key("thinking")
			w.b = append(w.b, `{"type":`...)
			w.b = append(wire.AppendQuoted(w.b, enabled(level)), '}')
		}
		if w.d.SwitchLevel && level != "none" {
			w.effort(level)
		}
	case wire.SwitchEnable:
		w.enable(level, asked)
	case wire.SwitchObject:
		w.object(level)
	case wire.SwitchGoogle:
		w.google(level)
	case wire.SwitchNone:
		if level != "" {
			w.lose("reasoning_effort", "the vendor has no way to say it")
		}
	}
}

func enabled(level string) string {
	if level == "none" {
		return "disabled"
	}
	return "enabled"
}

func (w *writing) effort(level string) {
	if level != "" && w.may("reasoning_effort") {
		w.str("reasoning_effort", wire.NearestEffort(level, w.t.Efforts))
	}
}

func (w *writing) enable(level string, asked bool) {
	if !asked || !w.may("enable_thinking") {
		return
	}
	w.truth("enable_thinking", level != "none")
	if b := w.a.Budget; b != nil && *b > 0 && level != "none" && w.may("thinking_budget") {
		w.num("thinking_budget", *b)
	}
	if w.d.SwitchLevel && level != "none" {
		w.effort(level)
	}
}

// object writes OpenRouter's reasoning object.
func (w *writing) object(level string) {
	if !w.may("reasoning") {
		return
	}
	w.key("reasoning")
	w.open('{')
	switch b := w.a.Budget; {
	case level == "none":
		w.truth("enabled", false)
	case w.a.Effort == "" && b != nil && *b > 0:
		w.num("max_tokens", *b)
	case level != "":
		w.str("effort", wire.NearestEffort(level, w.t.Efforts))
	case b != nil:
		w.truth("enabled", true)
	}
	if w.a.Show == wire.ShowNone {
		w.truth("exclude", true)
	}
	w.close('}')
}

// google writes Gemini's own configuration of thinking: only it asks for thoughts to be told.
func (w *writing) google(level string) {
	if !w.may("extra_body") {
		return
	}
	w.key("extra_body")
	w.b = append(w.b, `{"google":{"thinking_config":`...)
	w.open('{')
	w.truth("include_thoughts", w.a.Show != wire.ShowNone && level != "none")
	older := wire.Headed(w.t.Model, []string{"gemini-2", "gemini-1"})
	switch b := w.a.Budget; {
	case older && w.a.Effort == "" && b != nil:
		w.num("thinking_budget", *b)
	case older && level != "":
		w.num("thinking_budget", wire.GeminiBudget(level, strings.Contains(w.t.Model, "pro")))
	case level != "":
		w.str("thinking_level", strings.ToLower(wire.GeminiLevel(level, strings.Contains(w.t.Model, "flash"))))
	}
	w.close('}')
	w.b = append(w.b, "}}"...)
}

// joinArrays makes one JSON array of two, the first of which may be none.
func joinArrays(a, b string) string {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if len(a) < 3 || len(b) < 3 {
		return a + b
	}
	return a[:len(a)-1] + "," + b[1:]
}
