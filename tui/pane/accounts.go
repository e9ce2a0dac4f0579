package pane

import (
	"slices"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Accounts is the first pane: who may be asked, how full each is, when it renews.
type Accounts struct {
	Cursor state.Cursor[string]
}

// Keys returns the ids of the accounts in the order in which a pane of that height
// lists them: the config's while all fit, else with those first that need somebody.
func (a *Accounts) Keys(v *View, height int) []string {
	rows, _ := a.Rows(v, height)
	list := listed(v, rows)
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = list[i].ID
	}
	return keys
}

func listed(v *View, rows int) []trace.Account {
	if len(v.State.Accounts) <= rows {
		return v.State.Accounts
	}
	return state.Worst(v.State.Accounts)
}

// Rows returns how many accounts a pane of that height shows, and the lines of each.
func (a *Accounts) Rows(v *View, height int) (rows, lines int) {
	lines = layout.AccountLines(v.Kind)
	if lines > 1 && len(v.State.Accounts)*lines > height {
		lines = 1
	}
	return height / lines, lines
}

// excerpt is the part of the list that fits: accounts with a line of their own, and
// the others, which share one.
type excerpt struct {
	list     []trace.Account
	rest     []trace.Account
	selected int // in list, -1 for none
	lines    int // of each
}

func (a *Accounts) excerpt(v *View, height int, focus bool) excerpt {
	rows, lines := a.Rows(v, height)
	list := listed(v, rows)
	e := excerpt{list: list, selected: -1, lines: lines}
	switch {
	case focus:
		keys := a.Keys(v, height)
		top := a.Cursor.Top(keys, rows)
		e.list = list[top:min(top+rows, len(list))]
		e.selected = a.Cursor.Index(keys) - top
	case len(list) <= rows:
	case v.Kind == layout.Sliver:
		e.list = state.Loaded(v.State.Accounts, rows)
	case rows < 2:
		e.list = list[:rows]
	case v.Kind == layout.Tiny:
		e.list = state.Loaded(v.State.Accounts, rows-1)
		e.rest = without(v.State.Accounts, e.list)
	default:
		e.list, e.rest = list[:rows-1], list[rows-1:]
	}
	return e
}

// without returns the accounts that are not among some.
func without(accounts, some []trace.Account) []trace.Account {
	var left []trace.Account
	for i := range accounts {
		if !slices.ContainsFunc(some, func(a trace.Account) bool { return a.ID == accounts[i].ID }) {
			left = append(left, accounts[i])
		}
	}
	return left
}

// Draw draws the pane.
func (a *Accounts) Draw(c *canvas.Canvas, v *View, s Shown) {
	if s.Title {
		title(c, s.Focus, "1 accounts", a.ends(v)...)
	}
	c = body(c, s)
	if s.Summary || c.H() <= 0 {
		return
	}
	if len(v.State.Accounts) == 0 {
		noAccounts(c, v)
		return
	}
	e := a.excerpt(v, c.H(), s.Focus)
	kind, longest := v.Kind, 0
	if e.lines == 1 && kind == layout.Wide {
		kind = layout.Stacked
	}
	for i := range v.State.Accounts {
		longest = max(longest, c.Width(v.State.Name(v.State.Accounts[i].ID)))
	}
	columns := layout.AccountColumns(c.W(), kind, longest)
	for i := range e.list {
		r := rowOf(c, v, &e.list[i])
		if e.lines == 2 {
			r.two(c, i*2, columns)
		} else {
			r.one(c, i, columns)
		}
		if i == e.selected {
			choose(c, i*e.lines, e.lines)
		}
	}
	if len(e.rest) > 0 {
		restLine(c, v, len(e.list)*e.lines, e.rest)
	}
}

func (a *Accounts) ends(v *View) []string {
	if len(v.State.Accounts) == 0 {
		return []string{"none yet"}
	}
	if id, known := v.State.Next(); known {
		return []string{"next: " + v.State.Name(id)}
	}
	return []string{plural(len(v.State.Accounts), "account"), ""}
}

// restLine names the accounts that have no line of their own.
func restLine(c *canvas.Canvas, v *View, y int, rest []trace.Account) {
	x := 1
	for i := range rest {
		a := &rest[i]
		glyph, pen, _ := look(c.Glyphs(), a.State)
		spans := []canvas.Span{{Text: glyph + " ", Pen: pen}, {Text: v.State.Name(a.ID), Pen: theme.FG}}
		if at := state.Back(a); a.State == trace.Resting && !at.IsZero() {
			spans = append(spans, canvas.Span{Text: " " + v.Clock.Countdown(at), Pen: theme.Muted})
		}
		n := 0
		for _, s := range spans {
			n += c.Width(s.Text)
		}
		more := ""
		if left := len(rest) - i; left > 1 {
			more = "  " + plus(left-1)
		}
		if x+n+len(more) > c.W() {
			c.Text(x, y, c.W()-x, plus(len(rest)-i), theme.Muted)
			return
		}
		x += c.Spans(x, y, n, spans...) + 2
	}
}

func plus(n int) string { return "+" + grouped(int64(n)) }

// look is how an account's state is drawn: its glyph, its pen, its word.
func look(set *canvas.GlyphSet, s trace.State) (glyph string, pen theme.Role, word string) {
	switch s {
	case trace.Fine:
		return set.Fine, theme.Fine, "fine"
	case trace.Low:
		return set.Low, theme.Low, "low"
	case trace.Spent:
		return set.Spent, theme.Spent, "spent"
	case trace.Resting:
		return set.Resting, theme.Resting, "rests"
	case trace.Paused_:
		return set.Paused, theme.Paused, "paused"
	case trace.Held:
		return set.Held, theme.Held, "held"
	case trace.Unready:
		return set.Unready, theme.Failed, "not ready"
	case trace.Off:
		return set.Off, theme.Faint, "off"
	}
	return set.Unready, theme.Muted, string(s)
}
