package canvas

import (
	"unicode/utf8"

	"dev.magpie/tui/theme"
)

// Canvas is a grid of cells, or a view of a rectangle of one. Coordinates count from the
// view's own corner; what falls outside it is not drawn.
type Canvas struct {
	g    *grid
	view Rect // in the grid's coordinates, within the grid
}

type grid struct {
	w, h  int
	cells []cell
	long  []string // graphemes of several characters, by cell.long - 1
	set   GlyphSet
	out   []byte // Render's buffer
	pair  []byte // two graphemes side by side
}

// cell holds one grapheme or a part of one. It has no pointers, so that clearing a frame is cheap.
type cell struct {
	r     rune // the grapheme when it is one character; 0 in the later cells of a wide one
	long  uint32
	width uint8 // cells that it takes; 0 in the later cells of a wide one
	pen   theme.Role
	flags uint8
}

const (
	selected uint8 = 1 << iota
	disputed
)

var blank = cell{r: ' ', width: 1}

// New makes a canvas of w by h cells, all blank.
func New(w, h int, set GlyphSet) *Canvas {
	c := &Canvas{g: &grid{set: set}}
	c.Resize(w, h)
	return c
}

// Resize gives a whole canvas a new size and blanks it. Its views are void after it.
func (c *Canvas) Resize(w, h int) {
	g := c.g
	g.w, g.h = max(w, 0), max(h, 0)
	if n := g.w * g.h; cap(g.cells) < n {
		g.cells = make([]cell, n)
	} else {
		g.cells = g.cells[:n]
	}
	c.view = Rect{W: g.w, H: g.h}
	c.Clear()
}

// Use changes the glyphs; what is drawn stays.
func (c *Canvas) Use(set GlyphSet) { c.g.set = set }

// Glyphs is the set that the canvas draws with.
func (c *Canvas) Glyphs() *GlyphSet { return &c.g.set }

// Size is the view's size.
func (c *Canvas) Size() (w, h int) { return c.view.W, c.view.H }

// W is the view's width.
func (c *Canvas) W() int { return c.view.W }

// H is the view's height.
func (c *Canvas) H() int { return c.view.H }

// Width is the number of cells that a string takes here.
func (c *Canvas) Width(s string) int { return c.g.set.Width(s) }

// Clear blanks the view; on a whole canvas it begins a new frame and lets go of the last one's text.
func (c *Canvas) Clear() {
	if c.view.W == c.g.w && c.view.H == c.g.h {
		for i := range c.g.cells {
			c.g.cells[i] = blank
		}
		c.g.long = c.g.long[:0]
		return
	}
	c.Fill(Rect{W: c.view.W, H: c.view.H}, theme.None)
}

// Sub is a view of a rectangle, clipped to this one.
func (c *Canvas) Sub(r Rect) *Canvas {
	r.X, r.Y = r.X+c.view.X, r.Y+c.view.Y
	return &Canvas{g: c.g, view: r.Meet(c.view)}
}

// Overlay blanks a rectangle and gives a view of it: the ground of a dialog. Wide characters that
// its edges cut are blanked whole.
func (c *Canvas) Overlay(r Rect) *Canvas {
	o := c.Sub(r)
	o.Fill(Rect{W: o.view.W, H: o.view.H}, theme.None)
	return o
}

// Fill blanks a rectangle in a pen.
func (c *Canvas) Fill(r Rect, pen theme.Role) {
	r = c.absolute(r)
	for y := r.Y; y < r.Y+r.H; y++ {
		if r.W > 0 {
			c.g.split(r.X, y)
			c.g.split(r.X+r.W, y)
		}
		row := c.g.cells[y*c.g.w+r.X:][:r.W]
		for i := range row {
			row[i] = cell{r: ' ', width: 1, pen: pen}
		}
	}
}

// Style draws what a rectangle holds in another pen.
func (c *Canvas) Style(r Rect, pen theme.Role) {
	c.each(r, func(p *cell) { p.pen = pen })
}

// Select marks a rectangle as the selected row: the row's background lies under what is in it and
// what is written there later.
func (c *Canvas) Select(r Rect) {
	c.each(r, func(p *cell) { p.flags |= selected })
}

func (c *Canvas) each(r Rect, do func(*cell)) {
	r = c.absolute(r)
	for y := r.Y; y < r.Y+r.H; y++ {
		row := c.g.cells[y*c.g.w+r.X:][:r.W]
		for i := range row {
			do(&row[i])
		}
	}
}

func (c *Canvas) absolute(r Rect) Rect {
	r.X, r.Y = r.X+c.view.X, r.Y+c.view.Y
	return r.Meet(c.view)
}

// split blanks the wide character that a write beginning, or ending before, x would cut.
func (g *grid) split(x, y int) {
	if x <= 0 || x >= g.w {
		return
	}
	row := g.cells[y*g.w:][:g.w]
	if row[x].width != 0 {
		return
	}
	from := x
	for from > 0 && row[from].width == 0 {
		from--
	}
	for i := from; i < g.w && (i == from || row[i].width == 0); i++ {
		row[i] = cell{r: ' ', width: 1, pen: row[i].pen, flags: row[i].flags & selected}
	}
}

// put writes a grapheme at a place in the grid that has room for it.
func (g *grid) put(x, y int, p cluster, pen theme.Role) {
	g.split(x, y)
	g.split(x+p.width, y)
	row := g.cells[y*g.w:][:g.w]
	q := cell{width: uint8(p.width), pen: pen, flags: row[x].flags & selected}
	r, n := utf8.DecodeRuneInString(p.text)
	q.r = r
	if n < len(p.text) {
		g.long = append(g.long, p.text)
		q.long = uint32(len(g.long)) //nolint:gosec // a frame draws fewer
	}
	if p.disputed {
		q.flags |= disputed
	}
	row[x] = q
	for i := 1; i < p.width; i++ {
		row[x+i] = cell{pen: pen, flags: row[x+i].flags & selected}
	}
}
