package pane

import (
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// Line is one line of something that was opened.
type Line struct {
	From  int // the cell in which the spans begin
	Spans []canvas.Span
	Right canvas.Span // at the line's end
	Bar   *barSpec    // a bar, before Spans
}

type barSpec struct {
	x, w  int
	gauge canvas.Gauge
	label canvas.Span
}

// text is a line in one pen, from a column on.
func text(x int, s string, pen theme.Role) Line {
	return Line{Spans: []canvas.Span{{Text: spaces(x)}, {Text: s, Pen: pen}}}
}

const blanks = "                                                                                "

func spaces(n int) string { return blanks[:min(max(n, 0), len(blanks))] }

// Page is something opened: its title, what its title ends with, and its lines.
type Page struct {
	Title string
	Ends  []string
	Lines []Line
	Picks []Pick // what keys can mean of it, from top to bottom
}

// Picked is the place of the pick with that key, the first where there is no such, -1 where there are none.
func (p *Page) Picked(key string) int {
	for i := range p.Picks {
		if p.Picks[i].Key == key {
			return i
		}
	}
	return min(0, len(p.Picks)-1)
}

// Top returns the first line that a page of that height shows when it was scrolled by so many.
func (p *Page) Top(scroll, height int) int {
	return min(max(scroll, 0), max(len(p.Lines)-height, 0))
}

// Draw draws a page, scrolled by so many lines. The pick that is chosen is marked while the page has the keys.
func (p *Page) Draw(c *canvas.Canvas, s Shown, scroll int, chosen string) {
	inside := body(c, s)
	top := p.Top(scroll, inside.H())
	if s.Title {
		title(c, s.Focus, p.Title, p.ends(c, len(p.Lines)-top-inside.H())...)
	}
	c = inside
	for y := 0; y < c.H() && top+y < len(p.Lines); y++ {
		p.Lines[top+y].draw(c, y)
	}
	if i := p.Picked(chosen); s.Focus && i >= 0 {
		if y := p.Picks[i].Line - top; y >= 0 && y < c.H() {
			choose(c, y, min(p.Picks[i].N, c.H()-y))
		}
	}
}

// ends are what the title ends with, the longest first: how many lines are below what is shown, where some are.
func (p *Page) ends(c *canvas.Canvas, more int) []string {
	if more <= 0 {
		return p.Ends
	}
	below := grouped(int64(more)) + " more below"
	ends := make([]string, 0, len(p.Ends)+1)
	for _, end := range p.Ends {
		ends = append(ends, joinParts(" "+c.Glyphs().Sep+" ", end, below))
	}
	return append(ends, below, grouped(int64(more))+" more")
}

// Text is the page as plain text.
func (p *Page) Text(set *canvas.GlyphSet) string {
	w := set.Width(p.Title)
	for _, l := range p.Lines {
		n := l.From + set.Width(l.Right.Text) + 1
		for _, s := range l.Spans {
			n += set.Width(s.Text)
		}
		w = max(w, n)
	}
	c := canvas.New(w, len(p.Lines)+1, *set)
	c.Text(0, 0, w, p.Title, theme.None)
	p.Draw(c.Sub(canvas.Rect{Y: 1, W: w, H: len(p.Lines)}), Shown{}, 0, "")
	return c.Plain()
}

func (l *Line) draw(c *canvas.Canvas, y int) {
	if b := l.Bar; b != nil {
		c.Text(b.x-4, y, 3, b.label.Text, b.label.Pen)
		c.Bar(b.x, y, b.w, b.gauge)
	}
	c.Spans(l.From, y, c.W()-l.From, l.Spans...)
	if l.Right.Text != "" {
		c.TextRight(0, y, c.W()-1, l.Right.Text, l.Right.Pen)
	}
}
