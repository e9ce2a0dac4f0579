package pane

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Logs is the fifth pane: what happened, the newest first.
type Logs struct {
	Cursor state.Cursor[uint64]
	Filter state.Filter
	Side   int // cells that long lines are scrolled to the left
}

// Rows returns the lines that pass the filter, the newest first.
func (l *Logs) Rows(v *View) []*trace.Log {
	rows := make([]*trace.Log, 0, len(v.State.Logs))
	for i := len(v.State.Logs) - 1; i >= 0; i-- {
		if line := &v.State.Logs[i]; l.Filter.Empty() || l.Filter.MatchText(line.Level+" "+line.Text) {
			rows = append(rows, line)
		}
	}
	return rows
}

// Keys returns the numbers of Rows.
func (l *Logs) Keys(v *View) []uint64 {
	rows := l.Rows(v)
	keys := make([]uint64, len(rows))
	for i := range rows {
		keys[i] = rows[i].Seq
	}
	return keys
}

// Scroll moves long lines sideways, no further than to the last words of the longest.
func (l *Logs) Scroll(v *View, cells int) {
	const kept = 16
	longest := 0
	for _, line := range l.Rows(v) {
		longest = max(longest, utf8.RuneCountInString(v.State.Called(line.Text)))
	}
	l.Side = max(min(l.Side+cells, longest-kept), 0)
}

// Draw draws the pane.
func (l *Logs) Draw(c *canvas.Canvas, v *View, s Shown) {
	rows, keys := l.Rows(v), l.Keys(v)
	if s.Title {
		title(c, s.Focus, "5 log", l.ends(c, v, s, rows, keys)...)
	}
	c = body(c, s)
	if s.Summary || c.H() <= 0 {
		return
	}
	top, selected, side := 0, -1, 0
	if s.Focus {
		top, selected, side = l.Cursor.Top(keys, c.H()), l.Cursor.Index(keys), l.Side
	}
	for y := 0; y < c.H() && top+y < len(rows); y++ {
		l.row(c, v, y, side, rows[top+y])
		if top+y == selected {
			choose(c, y, 1)
		}
	}
}

func (l *Logs) ends(c *canvas.Canvas, v *View, s Shown, rows []*trace.Log, keys []uint64) []string {
	sep := " " + c.Glyphs().Sep + " "
	switch {
	case !l.Filter.Empty():
		return []string{l.Filter.Text + sep + strconv.Itoa(len(rows)), strconv.Itoa(len(rows))}
	case len(rows) == 0:
		return []string{"nothing yet"}
	case s.Summary:
		text := v.State.Called(rows[0].Text)
		return []string{stampOf(v, rows[0]) + " " + text, text}
	case !l.Cursor.Follows():
		if n := l.Cursor.New(keys); n > 0 {
			return []string{fmt.Sprintf("held still%s%s new", sep, plus(n))}
		}
		return []string{"held still"}
	}
	return []string{""}
}

func stampOf(v *View, line *trace.Log) string {
	if !v.Clock.Day(line.Time) {
		return line.Time.In(v.Clock.Now.Location()).Format("01-02 15:04")
	}
	return line.Time.In(v.Clock.Now.Location()).Format("15:04:05")
}

func (l *Logs) row(c *canvas.Canvas, v *View, y, side int, line *trace.Log) {
	stamp := stampOf(v, line)
	if c.W() < 30 {
		stamp = v.Clock.Stamp(line.Time)
	}
	x := 1 + c.Text(1, y, c.W()-1, stamp, theme.Muted) + 1
	text := v.State.Called(line.Text)
	if side > 0 {
		text = aside(c.Glyphs(), text, side)
	}
	c.Cut(x, y, c.W()-x, text, levelPen(line.Level))
}

func levelPen(level string) theme.Role {
	switch level {
	case "error":
		return theme.Failed
	case "warn":
		return theme.Low
	case "debug":
		return theme.Faint
	}
	return theme.FG
}

// aside is what is left of a text that was scrolled by so many cells.
func aside(set *canvas.GlyphSet, text string, cells int) string {
	text = canvas.Clean(text)
	return text[len(head(set, text, cells)):]
}
