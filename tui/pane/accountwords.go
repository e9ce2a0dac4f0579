package pane

import (
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
)

// says is how the account stands, as a short sentence.
func (r *accountRow) says(c *canvas.Canvas) string {
	sep := " " + c.Glyphs().Sep + " "
	switch r.a.State {
	case trace.Spent:
		return joinParts(sep, r.outOf(), r.resets())
	case trace.Resting:
		return joinParts(sep, strings.TrimSpace("rests "+r.restLeft()), r.cause())
	case trace.Held:
		if r.a.Cap > 0 {
			return "held" + sep + "past its " + grouped(int64(r.a.Cap)) + "% cap"
		}
		return "held"
	case trace.Paused_:
		return r.paused()
	case trace.Unready:
		if r.a.Error != "" {
			return r.a.Error
		}
		return "not ready"
	case trace.Off:
		return "off in the config"
	case trace.Fine, trace.Low:
	}
	if r.a.ReadOnly != "" {
		return onlyShown
	}
	return r.idle(c)
}

// onlyShown says that an account is never asked.
const onlyShown = "only shown"

// briefly is says in a word or two.
func (r *accountRow) briefly() string {
	switch r.a.State {
	case trace.Resting:
		return strings.TrimSpace("rests " + r.restLeft())
	case trace.Fine, trace.Low:
		if r.a.ReadOnly != "" {
			return onlyShown
		}
		sum := r.v.State.Today(r.a.ID, r.v.Clock)
		return grouped(int64(sum.Requests)) + " today"
	case trace.Spent, trace.Paused_, trace.Held, trace.Unready, trace.Off:
	}
	return r.word
}

// idle is what there is to say of an account without windows: what it did today.
func (r *accountRow) idle(c *canvas.Canvas) string {
	sum := r.v.State.Today(r.a.ID, r.v.Clock)
	parts := []string{grouped(int64(sum.Requests)) + " today", cents(sum.CostUSD, int64(sum.Unpriced))}
	if sum.Requests == 0 {
		parts = []string{"not asked today"}
	}
	if r.a.Balance != "" {
		parts = append(parts, r.a.Balance+" left")
	}
	return joinParts(" "+c.Glyphs().Sep+" ", parts...)
}

func (r *accountRow) restLeft() string {
	if at := state.Back(r.a); !at.IsZero() {
		return r.v.Clock.Countdown(at)
	}
	return ""
}

func (r *accountRow) cause() string {
	if r.a.Rest == nil {
		return ""
	}
	s := words.Kind(r.a.Rest.Why)
	if r.a.Rest.Why == trace.Auth {
		s = words.Denied(r.a) // shorter: it has to fit behind the time
	}
	if r.a.Rest.Failures > 1 {
		s += " x" + grouped(int64(r.a.Rest.Failures))
	}
	return s
}

func (r *accountRow) outOf() string {
	if state.Denied(r.a) {
		return "out of credit"
	}
	if r.a.Rest != nil {
		switch r.a.Rest.Why { //nolint:exhaustive // only these two use an account up
		case trace.Credit:
			return "out of credit"
		case trace.Quota:
			return "out of quota"
		}
	}
	return "used up"
}

func (r *accountRow) resets() string {
	if r.a.Resets == nil || r.a.Resets.Count == 0 {
		return ""
	}
	return plural(r.a.Resets.Count, "reset")
}

func (r *accountRow) paused() string {
	p := r.a.Paused
	if p == nil {
		return "paused by you"
	}
	if back := r.v.Clock.Left(p.Until); !p.Until.IsZero() && back != "" {
		return "paused by you, back in " + back
	}
	return "paused by you " + r.v.Clock.Ago(p.Since)
}

// note is the last column of a wide row.
func (r *accountRow) note(c *canvas.Canvas, width int) string {
	sep := " " + c.Glyphs().Sep + " "
	switch r.a.State {
	case trace.Fine, trace.Low:
		word := ""
		if r.a.State == trace.Low {
			word = "low"
		}
		if r.a.ReadOnly != "" {
			word = joinParts(", ", word, onlyShown)
		}
		return r.fitting(c, width, word, r.secondWindow(c), r.left(), r.a.Plan, r.unread())
	case trace.Spent:
		if state.Denied(r.a) {
			return r.says(c)
		}
		return joinParts(sep, "spent", r.resets())
	case trace.Held:
		if r.a.Cap > 0 {
			return "held: cap " + grouped(int64(r.a.Cap)) + "%"
		}
	case trace.Paused_:
		if r.a.Paused != nil {
			return "paused " + r.v.Clock.Ago(r.a.Paused.Since)
		}
	case trace.Resting, trace.Unready, trace.Off:
		if said := r.says(c); c.Width(said) <= width || r.a.State != trace.Resting {
			return said
		}
		return r.briefly()
	}
	return r.word
}

// left is what else is counted: the amount of the window that is shown, or the balance.
func (r *accountRow) left() string {
	if w, has := state.Fullest(r.a); has {
		if s := words.Amount(&w); s != "" {
			return s
		}
	}
	if r.a.Balance != "" {
		return r.a.Balance + " left"
	}
	return ""
}

// unread says that the newest asking told nothing.
func (r *accountRow) unread() string {
	if r.a.ReadError != "" {
		return "can't be read"
	}
	return ""
}

// fitting joins as many parts as there is room for, but the first in any case.
func (r *accountRow) fitting(c *canvas.Canvas, width int, parts ...string) string {
	sep := " " + c.Glyphs().Sep + " "
	said := ""
	for _, p := range parts {
		if longer := joinParts(sep, said, p); said == "" || c.Width(longer) <= width {
			said = longer
		}
	}
	return said
}

func (r *accountRow) secondWindow(c *canvas.Canvas) string {
	w, has := state.Second(r.a)
	if !has {
		return ""
	}
	g := gauge(w, 0, r.v.Clock)
	text := state.WindowName(w) + " " + g.Percent()
	if g.Ahead() {
		text += " " + c.Glyphs().Ahead
	}
	return text
}

func (r *accountRow) narrowNote(width int) string {
	switch r.a.State {
	case trace.Fine:
		return ""
	case trace.Spent:
		if s := r.resets(); s != "" && len(s) <= width {
			return s
		}
	case trace.Low, trace.Resting, trace.Paused_, trace.Held, trace.Unready, trace.Off:
	}
	return r.word
}

// joinParts joins what is not empty.
func joinParts(sep string, parts ...string) string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}
