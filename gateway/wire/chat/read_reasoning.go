package chat

import (
	"dev.magpie/gateway/wire"
)

// reasoning is what a request says of reasoning, in any of the vendors' spellings.
type reasoning struct {
	effort  string
	budget  *int64
	on, off bool
	hidden  bool // the client wants none of it shown
}

// field reads one member that speaks of reasoning.
func (r *reasoning) field(w *wire.Walker, key []byte) bool {
	switch string(key) {
	case "reasoning_effort":
		r.effort = w.Text()
	case "reasoning", "thinking", "thinking_config":
		if w.Kind() != '{' {
			return false
		}
		w.Object(func(key []byte) { r.inner(w, key) })
	case "enable_thinking":
		r.turn(w.Bool())
	case "thinking_budget":
		r.number(w)
	case "include_reasoning":
		r.hidden = !w.Bool()
	case "chat_template_kwargs":
		if w.Kind() != '{' {
			return false
		}
		w.Object(func(key []byte) {
			if k := string(key); k == "enable_thinking" || k == "thinking" {
				r.turn(w.Bool())
			}
		})
	case "extra_body", "google":
		if w.Kind() != '{' {
			return false
		}
		w.Object(func(key []byte) { r.field(w, key) })
	default:
		return false
	}
	return true
}

// inner reads a member of the objects reasoning, thinking and thinking_config.
func (r *reasoning) inner(w *wire.Walker, key []byte) {
	switch string(key) {
	case "effort":
		r.effort = w.Text()
	case "thinking_level", "thinkingLevel":
		r.effort = wire.GeminiEffort(w.Text())
	case "max_tokens", "budget_tokens", "thinking_budget", "thinkingBudget":
		r.number(w)
	case "enabled":
		r.turn(w.Bool())
	case "exclude":
		r.hidden = w.Bool()
	case "include_thoughts", "includeThoughts":
		r.hidden = !w.Bool()
	case "type":
		switch w.Text() {
		case "disabled":
			r.turn(false)
		case "enabled", "adaptive", "auto":
			r.turn(true)
		}
	}
}

func (r *reasoning) turn(on bool) { r.on, r.off = on, !on }

func (r *reasoning) number(w *wire.Walker) {
	if n, ok := w.Int(); ok {
		r.budget = &n
	}
}

// settle puts it into the ask. Reasoning that is on without a measure is as much as the model likes.
func (r *reasoning) settle(a *wire.Ask) {
	a.Effort, a.Budget = r.effort, r.budget
	switch {
	case r.off:
		a.Effort, a.Budget = "none", nil
	case r.on && a.Effort == "" && a.Budget == nil:
		any := int64(-1)
		a.Budget = &any
	}
	switch {
	case r.hidden:
		a.Show = wire.ShowNone
	case a.Effort != "" && a.Effort != "none", a.Budget != nil && *a.Budget != 0:
		a.Show = wire.ShowSummary
	}
}
