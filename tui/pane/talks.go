package pane

import (
	"fmt"
	"strconv"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Talks is the third pane: conversations, the latest first.
type Talks struct {
	Cursor state.Cursor[string]
	Filter state.Filter
}

// Rows returns the conversations that pass the filter.
func (t *Talks) Rows(v *View) []state.Talk {
	all := v.State.Talks()
	if t.Filter.Empty() {
		return all
	}
	rows := make([]state.Talk, 0, len(all))
	for _, k := range all {
		if t.Filter.MatchText(k.Session + " " + k.Agent + " " + v.State.Name(k.Account) + " " + k.Model) {
			rows = append(rows, k)
		}
	}
	return rows
}

// Keys returns the sessions of Rows.
func (t *Talks) Keys(v *View) []string {
	rows := t.Rows(v)
	keys := make([]string, len(rows))
	for i := range rows {
		keys[i] = rows[i].Session
	}
	return keys
}

// Draw draws the pane.
func (t *Talks) Draw(c *canvas.Canvas, v *View, s Shown) {
	rows := t.Rows(v)
	if s.Title {
		title(c, s.Focus, "3 conversations", t.ends(c, v, s, rows)...)
	}
	c = body(c, s)
	if s.Summary || c.H() <= 0 {
		return
	}
	if len(rows) == 0 {
		nothing(c, !t.Filter.Empty(), "None yet. Requests whose agent names its conversation are counted here.")
		return
	}
	keys := t.Keys(v)
	if !s.Focus {
		keys = nil
	}
	top, selected := t.Cursor.Top(keys, c.H()), t.Cursor.Index(keys)
	for y := 0; y < c.H() && top+y < len(rows); y++ {
		t.row(c, v, y, &rows[top+y])
		if top+y == selected {
			choose(c, y, 1)
		}
	}
}

func (t *Talks) ends(c *canvas.Canvas, v *View, s Shown, rows []state.Talk) []string {
	if !t.Filter.Empty() {
		return []string{fmt.Sprintf("%s %s %d", t.Filter.Text, c.Glyphs().Sep, len(rows)), strconv.Itoa(len(rows))}
	}
	if len(rows) == 0 {
		return []string{"none yet"}
	}
	warm := v.State.Warm(v.Clock)
	if !s.Summary {
		return []string{fmt.Sprintf("%d warm", warm)}
	}
	sep := " " + c.Glyphs().Sep + " "
	first := &rows[0]
	age, _ := ageOf(v, first)
	last := fmt.Sprintf("%s %s %s %s", state.Short(first.Session), first.Agent, v.State.Name(first.Account), age)
	return []string{
		fmt.Sprintf("%d%s%d warm%s%s", len(rows), sep, warm, sep, last),
		fmt.Sprintf("%d warm of %d", warm, len(rows)),
	}
}

// ageOf says whether the vendor still has a conversation cached, and for how long at least.
func ageOf(v *View, t *state.Talk) (string, theme.Role) {
	switch {
	case t.Live > 0:
		return "live", theme.Live
	case t.Warm(v.Clock):
		return "warm " + v.Clock.Left(t.Cold()), theme.Fine
	}
	return "cold", theme.Faint
}

func (t *Talks) row(c *canvas.Canvas, v *View, y int, k *state.Talk) {
	w := c.W()
	age, pen := ageOf(v, k)
	ageW := 7
	if w < 28 {
		ageW, age = 4, firstWord(age)
	}
	right := w - 1
	right -= ageW
	c.TextRight(right, y, ageW, age, pen)
	if w >= 30 {
		right -= 5
		if k.Cached >= 0 {
			c.TextRight(right, y, 4, strconv.Itoa(k.Cached)+"%", theme.FG)
		}
	}
	if w >= 34 {
		right -= 5
		c.TextRight(right, y, 4, strconv.Itoa(k.Turns())+"t", theme.Muted)
	}
	if w >= 64 {
		right -= 16
		c.Cut(right, y, 15, modelShort(c, k.Model, 15), theme.Muted)
	}
	x := 1 + c.Cut(1, y, 4, state.Short(k.Session), theme.Muted)
	x = max(x, 5) + 1
	if w >= 40 {
		c.Cut(x, y, 7, k.Agent, theme.Muted)
		x += 8
	}
	who := v.State.Name(k.Account)
	if k.Before != "" && w >= 64 {
		who = v.State.Name(k.Before) + " " + c.Glyphs().Arrow + " " + who
	}
	c.Cut(x, y, right-x-1, who, theme.FG)
}

func firstWord(s string) string {
	for i := range s {
		if s[i] == ' ' {
			return s[:i]
		}
	}
	return s
}
