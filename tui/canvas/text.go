package canvas

import "dev.magpie/tui/theme"

// Span is a piece of text in one pen.
type Span struct {
	Text string
	Pen  theme.Role
}

// Text writes a string from x on, at most maxW cells of it and none past the view's edge, and gives the
// cells that it took. It cuts between graphemes; a wide one that does not fit is left out and its cell is blank.
func (c *Canvas) Text(x, y, maxW int, s string, pen theme.Role) int {
	maxW = min(maxW, c.view.W-x)
	if y < 0 || y >= c.view.H || maxW <= 0 {
		return 0
	}
	used := 0
	for p := range clusters(Clean(s), c.g.set.options()) {
		if used+p.width > maxW {
			c.fit(x, y, maxW, used, pen)
			break
		}
		c.place(x+used, y, p, pen)
		used += p.width
		if used == maxW {
			break
		}
	}
	return used
}

// fit blanks the cells between what was used and the limit when a wide grapheme did not fit.
func (c *Canvas) fit(x, y, maxW, used int, pen theme.Role) {
	for i := used; i < maxW; i++ {
		c.place(x+i, y, cluster{text: " ", width: 1}, pen)
	}
}

// place writes one grapheme if all of it lies in the view; of one that an edge cuts, the cells
// inside are blanked.
func (c *Canvas) place(x, y int, p cluster, pen theme.Role) {
	if x >= 0 && x+p.width <= c.view.W {
		c.g.put(c.view.X+x, c.view.Y+y, p, pen)
		return
	}
	for i := range p.width {
		if x+i >= 0 && x+i < c.view.W {
			c.g.put(c.view.X+x+i, c.view.Y+y, cluster{text: " ", width: 1}, pen)
		}
	}
}

// TextRight writes a string so that it ends where the w cells from x on end. One that is
// longer is cut at its end.
func (c *Canvas) TextRight(x, y, w int, s string, pen theme.Role) int {
	return c.Text(x+max(0, w-c.Width(s)), y, w, s, pen)
}

// Cut writes a string like Text and ends it with the ellipsis when it is too long.
func (c *Canvas) Cut(x, y, maxW int, s string, pen theme.Role) int {
	return c.Text(x, y, maxW, c.g.set.Cut(s, maxW), pen)
}

// Spans writes pieces one after another, at most maxW cells in all.
func (c *Canvas) Spans(x, y, maxW int, spans ...Span) int {
	used := 0
	for _, s := range spans {
		if used >= maxW {
			break
		}
		used += c.Text(x+used, y, maxW-used, s.Text, s.Pen)
	}
	return used
}

// HLine draws a horizontal line.
func (c *Canvas) HLine(x, y, w int, pen theme.Role) {
	c.repeat(x, y, w, c.g.set.HRule, pen)
}

// VLine draws a vertical line.
func (c *Canvas) VLine(x, y, h int, pen theme.Role) {
	for i := range h {
		c.Text(x, y+i, 1, c.g.set.VRule, pen)
	}
}

// Frame draws a border inside the edges of a rectangle.
func (c *Canvas) Frame(r Rect, pen theme.Role) {
	if r.W < 2 || r.H < 2 {
		return
	}
	set := &c.g.set
	right, bottom := r.X+r.W-1, r.Y+r.H-1
	c.HLine(r.X+1, r.Y, r.W-2, pen)
	c.HLine(r.X+1, bottom, r.W-2, pen)
	c.VLine(r.X, r.Y+1, r.H-2, pen)
	c.VLine(right, r.Y+1, r.H-2, pen)
	c.Text(r.X, r.Y, 1, set.TopLeft, pen)
	c.Text(right, r.Y, 1, set.TopRight, pen)
	c.Text(r.X, bottom, 1, set.BottomLeft, pen)
	c.Text(right, bottom, 1, set.BottomRight, pen)
}

func (c *Canvas) repeat(x, y, n int, glyph string, pen theme.Role) {
	for i := range n {
		c.Text(x+i, y, 1, glyph, pen)
	}
}
