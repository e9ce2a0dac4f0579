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
}

// Top returns the first line that a page of that height shows when it was scrolled by so many.
func (p *Page) Top(scroll, height int) int {
	return min(max(scroll, 0), max(len(p.Lines)-height, 0))
}

// Draw draws a page, scrolled by so many lines.
func (p *Page) Draw(c *canvas.Canvas, s Shown, scroll int) {
	if s.Title {
		title(c, s.Focus, p.Title, p.Ends...)
	}
	c = body(c, s)
	top := p.Top(scroll, c.H())
	for y := 0; y < c.H() && top+y < len(p.Lines); y++ {
		p.Lines[top+y].draw(c, y)
	}
	if more := len(p.Lines) - top - c.H(); more > 0 && c.H() > 1 && c.W() >= 24 {
		note := " " + plural(more, "line") + " below "
		c.TextRight(0, c.H()-1, c.W()-1, note, theme.Faint)
	}
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
