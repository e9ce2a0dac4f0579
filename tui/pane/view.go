package pane

import (
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// View is what every pane draws from.
type View struct {
	State    *state.State
	Clock    *state.Clock
	Kind     layout.Kind
	Size     layout.Size // of the screen
	Listen   string      // the gateway's address
	Demo     bool
	Attached *Attached
	Keys     func(id string) string // how the key of a command is written, "" for none
}

// Attached names the process whose gateway is shown, when it is another one.
type Attached struct{ PID int }

// Shown says how a pane is shown in one frame.
type Shown struct {
	Focus   bool // it has the keys
	Title   bool // its first line is a title
	Summary bool // the title is all of it
}

// title draws a pane's rule: its name, and the longest of the texts that fits at its end.
func title(c *canvas.Canvas, focus bool, name string, ends ...string) {
	set, w := c.Glyphs(), c.W()
	pen, mark := theme.Title, " "
	if focus {
		pen, mark = theme.TitleFocus, set.Focus
	}
	c.HLine(0, 0, w, theme.Rule)
	used := c.Spans(0, 0, w, canvas.Span{Text: mark + " ", Pen: pen}, canvas.Span{Text: set.Cut(name, w-3), Pen: pen}, canvas.Span{Text: " ", Pen: pen})
	for _, end := range ends {
		if n := c.Width(end); n > 0 && used+n+4 <= w {
			c.Text(w-n-3, 0, n+2, " "+end+" ", theme.Muted)
			return
		}
	}
	if len(ends) > 0 && ends[len(ends)-1] != "" && w-used >= 14 {
		end := set.Cut(ends[len(ends)-1], w-used-4)
		n := c.Width(end)
		c.Text(w-n-3, 0, n+2, " "+end+" ", theme.Muted)
	}
}

// body is the part of a pane under its title.
func body(c *canvas.Canvas, s Shown) *canvas.Canvas {
	if !s.Title {
		return c
	}
	return c.Sub(canvas.Rect{Y: 1, W: c.W(), H: c.H() - 1})
}

// mark draws the first cell of a row and lays the selection under it.
func choose(c *canvas.Canvas, y, lines int) {
	c.Select(canvas.Rect{Y: y, W: c.W(), H: lines})
	c.Text(0, y, 1, c.Glyphs().Cursor, theme.Accent)
}

// piece is a part of a line that leaves whole when there is no room for it.
type piece struct {
	text string
	pen  theme.Role
	gap  int // cells before it
	rank int // the highest leaves first
}

// fit writes pieces side by side from x on, leaving out those of the highest rank until the
// others fit.
func fit(c *canvas.Canvas, x, y int, pieces []piece) {
	room := c.W() - x
	kept := make([]bool, len(pieces))
	total := 0
	for i, p := range pieces {
		kept[i] = p.text != ""
		if kept[i] {
			total += p.gap + c.Width(p.text)
		}
	}
	for total > room {
		worst := -1
		for i, p := range pieces {
			if kept[i] && (worst < 0 || p.rank >= pieces[worst].rank) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		if pieces[worst].rank == 0 {
			break
		}
		kept[worst] = false
		total -= pieces[worst].gap + c.Width(pieces[worst].text)
	}
	end := x + max(room, 0)
	first := true
	for i, p := range pieces {
		if !kept[i] {
			continue
		}
		if !first || x > 0 {
			x += p.gap
		}
		first = false
		x += c.Cut(x, y, end-x, p.text, p.pen)
	}
}

// nothing says why a list is empty.
func nothing(c *canvas.Canvas, filtered bool, why string) {
	if filtered {
		why = "nothing matches"
	}
	for y, line := range wrap(c.Glyphs(), why, c.W()-4) {
		if y >= c.H() {
			return
		}
		c.Text(3, y, c.W()-4, line, theme.Muted)
	}
}
