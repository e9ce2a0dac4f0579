package gemini

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// model is what a model's name tells of it.
type model struct {
	gemini bool // it is one of Google's Gemini models: another's behind the same API knows none of their rules
	levels bool // 3 and later: thinks by levels, checks signatures, takes hosted tools and schemas beside functions
	thinks bool
	pro    bool
	flash  bool
	image  bool // makes images
}

// readModel reads a model's name. A Gemini without a number is an alias of the newest.
func readModel(name string) model {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	m := model{
		gemini: strings.Contains(name, "gemini"), pro: strings.Contains(name, "pro"),
		flash: strings.Contains(name, "flash"), image: strings.Contains(name, "image"),
	}
	if !m.gemini {
		return m
	}
	m.levels, m.thinks = true, true
	_, version, _ := strings.Cut(name, "gemini-")
	switch {
	case strings.HasPrefix(version, "2.5"):
		m.levels, m.thinks = false, !m.image
	case strings.HasPrefix(version, "1.") || strings.HasPrefix(version, "2."):
		m.levels, m.thinks = false, strings.Contains(name, "thinking")
	}
	return m
}

// Budgets that models of 2.5 take.
const (
	leastPro, mostPro = 128, 32768
	mostFlash         = 24576
)

// thinking is what thinkingConfig says: a level or a budget, and whether thoughts are told.
type thinking struct {
	level  string
	budget *int64
	show   bool
}

// thinking asks for as much reasoning as the ask wants, in the model's own terms.
func (w *writing) thinking() (t thinking) {
	a := w.a
	level := a.Level()
	if !w.m.thinks || w.t.Dialect.Refuses("thinkingConfig") {
		if level != "" && level != "none" {
			w.lose(w.word("reasoning_effort", "reasoning", "thinking", "generationConfig.thinkingConfig"), "the model is not told how much to think")
		}
		return t
	}
	on := level != "none" // also where the least that the model has is more
	switch {
	case w.m.levels:
		if level != "" {
			level = wire.NearestEffort(level, w.t.Efforts)
		}
		t.level = wire.GeminiLevel(level, w.m.flash)
	case a.Effort == "" && a.Budget != nil:
		n := *a.Budget
		switch {
		case n >= 0 && w.m.pro:
			n = max(leastPro, min(n, mostPro))
		case n >= 0:
			n = min(n, mostFlash)
		}
		t.budget = &n
	case level != "":
		n := wire.GeminiBudget(level, w.m.pro)
		t.budget = &n
	}
	switch a.Show {
	case wire.ShowSummary, wire.ShowUpdates:
		t.show = on
	case wire.ShowUnsaid:
		// Of Chat and Messages reasoning comes with having asked for it.
		t.show = on && (a.Effort != "" || a.Budget != nil) && (a.API == wire.Chat || a.API == wire.Messages)
	case wire.ShowNone:
	}
	return t
}

func (t *thinking) append(o *object) {
	if t.level == "" && t.budget == nil && !t.show {
		return
	}
	o.open("thinkingConfig", '{')
	if t.show {
		o.raw("includeThoughts", []byte("true"))
	}
	if t.level != "" {
		o.text("thinkingLevel", t.level)
	}
	if t.budget != nil {
		o.number("thinkingBudget", *t.budget)
	}
	o.close('}')
}
