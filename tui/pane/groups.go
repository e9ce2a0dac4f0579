package pane

import (
	"fmt"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Groups is the fourth pane: who is ready in each group, and who is next.
type Groups struct {
	Cursor state.Cursor[string]
	Filter state.Filter
}

// Rows returns the groups that pass the filter.
func (g *Groups) Rows(v *View) []trace.Group {
	if g.Filter.Empty() {
		return v.State.Groups
	}
	var rows []trace.Group
	for _, x := range v.State.Groups {
		if g.Filter.MatchText(x.ID + " " + x.Routing + " " + v.State.Name(x.Next)) {
			rows = append(rows, x)
		}
	}
	return rows
}

// Keys returns the ids of Rows.
func (g *Groups) Keys(v *View) []string {
	rows := g.Rows(v)
	keys := make([]string, len(rows))
	for i := range rows {
		keys[i] = rows[i].ID
	}
	return keys
}

// Draw draws the pane.
func (g *Groups) Draw(c *canvas.Canvas, v *View, s Shown) {
	rows := g.Rows(v)
	if s.Title {
		title(c, s.Focus, "4 groups", g.ends(c, v, s, rows)...)
	}
	c = body(c, s)
	if s.Summary || c.H() <= 0 {
		return
	}
	if len(rows) == 0 {
		nothing(c, !g.Filter.Empty(), "No group. A model that two providers have is one by itself; magpie group set makes others.")
		return
	}
	keys := g.Keys(v)
	if !s.Focus {
		keys = nil
	}
	top, selected := g.Cursor.Top(keys, c.H()), g.Cursor.Index(keys)
	for y := 0; y < c.H() && top+y < len(rows); y++ {
		g.row(c, v, y, &rows[top+y])
		if top+y == selected {
			choose(c, y, 1)
		}
	}
}

func (g *Groups) ends(c *canvas.Canvas, v *View, s Shown, rows []trace.Group) []string {
	if !g.Filter.Empty() {
		return []string{fmt.Sprintf("%s %s %d", g.Filter.Text, c.Glyphs().Sep, len(rows)), strconv.Itoa(len(rows))}
	}
	if len(rows) == 0 {
		return []string{"none"}
	}
	if !s.Summary {
		return []string{strconv.Itoa(len(rows))}
	}
	sep := " " + c.Glyphs().Sep + " "
	one := groupBrief(c, v, &rows[0])
	ends := []string{one}
	if len(rows) > 1 {
		ends = []string{
			fmt.Sprintf("%d%s%s%s%s", len(rows), sep, one, sep, groupBrief(c, v, &rows[1])),
			fmt.Sprintf("%d%s%s", len(rows), sep, one),
			one,
		}
	}
	return append(ends, strconv.Itoa(len(rows)))
}

func groupBrief(c *canvas.Canvas, v *View, g *trace.Group) string {
	if g.Next == "" {
		return g.ID + " " + ready(g) + " none"
	}
	return g.ID + " " + ready(g) + " " + c.Glyphs().Arrow + " " + v.State.Name(g.Next)
}

// ready counts the candidates that would be asked now, of how many; a gateway of before may not tell of how many.
func ready(g *trace.Group) string {
	if g.Of < g.Ready {
		return strconv.Itoa(g.Ready)
	}
	return fmt.Sprintf("%d/%d", g.Ready, g.Of)
}

func (g *Groups) row(c *canvas.Canvas, v *View, y int, x *trace.Group) {
	w := c.W()
	pen, next, arrow := theme.FG, v.State.Name(x.Next), c.Glyphs().Arrow+" "
	switch {
	case x.Off && x.Auto:
		pen, next, arrow = theme.Faint, "away", "  " // it was found, and taken away
	case x.Off:
		pen, next, arrow = theme.Faint, "off", "  "
	case x.Next == "":
		next, arrow = "none", "  "
	}
	nextPen := pen
	if x.Ready == 0 && !x.Off {
		nextPen = theme.Refused
	}
	name := min(max(12, w-46), 24)
	if w < 34 {
		name = max(w-20, 6)
	}
	c.Cut(1, y, name, x.ID, pen)
	at := name + 2
	if w >= 34 {
		c.Cut(at, y, 6, x.Routing, theme.Muted)
		at += 7
		said := ready(x) + " ready"
		if c.Width(said) > 9 {
			said = ready(x)
		}
		if x.Off {
			said = ""
		}
		c.Cut(at, y, 9, said, nextPen)
		at += 10
	} else {
		if !x.Off {
			c.Cut(at, y, 5, ready(x), nextPen)
		}
		at += 6
	}
	c.Text(at, y, 2, arrow, nextPen)
	room := w - at - 3
	if w >= 70 {
		room = 14
	}
	c.Cut(at+2, y, max(room+1, 0), next, nextPen)
	if w >= 70 {
		c.Cut(at+18, y, w-at-19, v.State.Masked(strings.Join(x.Members, ", ")), theme.Faint)
	}
}

// modelShort is a model's name without its vendor and date, cut to a width.
func modelShort(c *canvas.Canvas, id string, w int) string {
	return c.Glyphs().Cut(layout.Model(id), w)
}
