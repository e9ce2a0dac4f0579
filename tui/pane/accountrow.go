package pane

import (
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// gauge is a window as a bar of so many cells shows it now.
func gauge(w trace.Window, cells int, c *state.Clock) canvas.Gauge {
	if renewed(w, c) {
		return canvas.Gauge{}
	}
	even, known := state.Even(w, c)
	state.EvenCell(w, cells, c)
	state.Ahead(w, c)
	return canvas.Gauge{Used: w.Used, Pace: even * 100, HasPace: known}
}

// renewed says whether a window has begun anew since it was read, so that the reading says nothing.
func renewed(w trace.Window, c *state.Clock) bool {
	return w.Resets != nil && c.Passed(*w.Resets)
}

// accountRow is one account on its way to the canvas.
type accountRow struct {
	v     *View
	a     *trace.Account
	glyph string
	pen   theme.Role
	word  string
	name  string
}

func rowOf(c *canvas.Canvas, v *View, a *trace.Account) *accountRow {
	r := &accountRow{v: v, a: a, name: v.State.Name(a.ID)}
	r.glyph, r.pen, r.word = look(c.Glyphs(), a.State)
	if state.Denied(a) {
		r.word = words.Denied(a)
	}
	return r
}

// column finds a column, false when this width has it not.
func column(columns []layout.Column, id layout.Col) (layout.Column, bool) {
	for _, col := range columns {
		if col.Col == id {
			return col, true
		}
	}
	return layout.Column{}, false
}

// head draws the mark and the name.
func (r *accountRow) head(c *canvas.Canvas, y int, columns []layout.Column) {
	if col, has := column(columns, layout.ColMark); has {
		c.Text(col.X, y, col.W, r.glyph, r.pen)
	}
	col, has := column(columns, layout.ColName)
	if !has {
		return
	}
	if r.a.Pinned != nil && col.X > 0 {
		c.Text(col.X-1, y, 1, c.Glyphs().Pinned, theme.Pinned)
	}
	pen := theme.FG
	if r.a.State == trace.Off || r.a.State == trace.Paused_ {
		pen = theme.Muted
	}
	c.Cut(col.X, y, col.W, r.name, pen)
}

// bar draws a window: its bar, use and renewal, as far as there are columns for them.
func (r *accountRow) bar(c *canvas.Canvas, y int, columns []layout.Column, w trace.Window) {
	clock := r.v.Clock
	ahead := -1
	for _, col := range columns {
		switch col.Col { //nolint:exhaustive // the other columns do not show a window
		case layout.ColWindow:
			c.Text(col.X, y, col.W, state.WindowName(w), theme.Muted)
		case layout.ColBar:
			c.Bar(col.X, y, col.W, gauge(w, col.W, clock))
		case layout.ColAhead:
			ahead = col.X
		case layout.ColUsed:
			r.used(c, y, col, ahead, w)
		case layout.ColRenews:
			c.TextRight(col.X, y, col.W, r.renews(w, col.W), theme.Muted)
		}
	}
}

// used writes how full a window is; a mark before the number says that it runs ahead of the clock.
func (r *accountRow) used(c *canvas.Canvas, y int, col layout.Column, ahead int, w trace.Window) {
	if renewed(w, r.v.Clock) {
		return
	}
	g := gauge(w, 0, r.v.Clock)
	pen := theme.FG
	if r.a.State == trace.Low || r.a.State == trace.Spent {
		pen = r.pen
	}
	text := g.Percent()
	c.TextRight(col.X, y, col.W, text, pen)
	if !g.Ahead() {
		return
	}
	at := ahead
	if at < 0 {
		at = col.X + col.W - c.Width(text) - 1
	}
	if at > 0 && (ahead >= 0 || at >= col.X) {
		c.Text(at, y, 1, c.Glyphs().Ahead, theme.BarOver)
	}
}

func (r *accountRow) renews(w trace.Window, width int) string {
	switch {
	case w.Resets == nil:
		return ""
	case renewed(w, r.v.Clock):
		if width < len("renewed") {
			return "new"
		}
		return "renewed"
	default:
		return short(r.v.Clock.Left(*w.Resets), width)
	}
}

// windows returns the windows that are shown: the fullest two, in their own order.
func (r *accountRow) windows() []trace.Window {
	first, has := state.Fullest(r.a)
	if !has {
		return nil
	}
	second, two := state.Second(r.a)
	if !two {
		return []trace.Window{first}
	}
	for i := range r.a.Windows {
		if w := &r.a.Windows[i]; w.Name == second.Name && w.Model == second.Model {
			return []trace.Window{second, first}
		}
		if w := &r.a.Windows[i]; w.Name == first.Name && w.Model == first.Model {
			break
		}
	}
	return []trace.Window{first, second}
}

// two draws an account on two lines.
func (r *accountRow) two(c *canvas.Canvas, y int, columns []layout.Column) {
	r.head(c, y, columns)
	if col, has := column(columns, layout.ColName); has {
		c.Cut(col.X, y+1, col.W, r.a.Provider, theme.Muted)
	}
	from := 14
	if col, has := column(columns, layout.ColWindow); has {
		from = col.X
	}
	ws := r.windows()
	say := func(line int, text string) { c.Cut(from, line, c.W()-from-1, text, r.textPen()) }
	switch {
	case len(ws) == 0:
		say(y, r.says(c))
		if r.a.State != trace.Fine && r.a.State != trace.Low {
			c.Cut(from, y+1, c.W()-from-1, r.idle(c), theme.Muted)
		} else {
			c.Cut(from, y+1, c.W()-from-1, r.fitting(c, c.W()-from-1, r.a.Plan, r.unread()), theme.Muted)
		}
	case r.a.State == trace.Fine || r.a.State == trace.Low:
		for i, w := range ws {
			r.bar(c, y+i, columns, w)
		}
		if len(ws) == 1 {
			c.Cut(from, y+1, c.W()-from-1, r.fitting(c, c.W()-from-1, r.left(), r.a.Plan, r.unread()), theme.Muted)
		}
	case r.a.State == trace.Spent:
		w, _ := state.Fullest(r.a)
		r.bar(c, y, columns, w)
		say(y+1, r.says(c))
	default:
		w, _ := state.Fullest(r.a)
		say(y, r.says(c))
		r.bar(c, y+1, columns, w)
	}
}

func (r *accountRow) textPen() theme.Role {
	if r.a.State == trace.Fine {
		return theme.Muted
	}
	return r.pen
}

// one draws an account on one line.
func (r *accountRow) one(c *canvas.Canvas, y int, columns []layout.Column) {
	r.head(c, y, columns)
	if col, has := column(columns, layout.ColProvider); has {
		c.Cut(col.X, y, col.W, r.a.Provider, theme.Muted)
	}
	w, has := state.Fullest(r.a)
	note, noted := column(columns, layout.ColNote)
	if !has {
		r.bare(c, y, columns)
		return
	}
	shown := columns
	if r.a.State == trace.Resting && c.W() < 80 {
		shown = r.countdown(c, y, columns)
	}
	_, long := column(columns, layout.ColProvider)
	if !long && noted && r.a.State != trace.Fine && r.a.State != trace.Low {
		// The word needs the room of the window's name.
		kept := make([]layout.Column, 0, len(shown))
		for _, col := range shown {
			if col.Col == layout.ColWindow {
				note.W += note.X - col.X
				note.X = col.X
				continue
			}
			kept = append(kept, col)
		}
		shown = kept
	}
	r.bar(c, y, shown, w)
	switch {
	case !noted:
	case long:
		c.Cut(note.X, y, note.W, r.note(c, note.W), r.textPen())
	default:
		c.Cut(note.X, y, note.W, r.narrowNote(note.W), r.textPen())
	}
}

// countdown puts the end of a rest in the place of the renewal.
func (r *accountRow) countdown(c *canvas.Canvas, y int, columns []layout.Column) []layout.Column {
	at := state.Back(r.a)
	if at.IsZero() {
		return columns
	}
	kept := make([]layout.Column, 0, len(columns))
	for _, col := range columns {
		if col.Col == layout.ColRenews {
			c.TextRight(col.X, y, col.W, short(r.v.Clock.Countdown(at), col.W), r.pen)
			continue
		}
		kept = append(kept, col)
	}
	return kept
}

// bare draws an account of which no window is known.
func (r *accountRow) bare(c *canvas.Canvas, y int, columns []layout.Column) {
	col, has := column(columns, layout.ColWindow)
	if bar, found := column(columns, layout.ColBar); found && (!has || bar.X < col.X) {
		col, has = bar, true
	}
	if used, found := column(columns, layout.ColUsed); found && !has {
		col, has = used, true
	}
	if !has {
		return
	}
	end := c.W() - 1
	note, noted := column(columns, layout.ColNote)
	if _, long := column(columns, layout.ColProvider); long && noted {
		kind := r.a.Kind + ", no window"
		if r.a.ReadError != "" {
			kind = r.a.Kind + ", can't be read"
		}
		c.Cut(note.X, y, note.W, kind, theme.Muted)
		end = note.X - 2
	}
	text := r.says(c)
	if c.Width(text) > end-col.X {
		text = r.briefly()
	}
	c.Cut(col.X, y, end-col.X, text, r.textPen())
}
