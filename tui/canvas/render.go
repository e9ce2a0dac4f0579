package canvas

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"dev.magpie/tui/theme"
)

// Render is the whole grid as the terminal wants it: exactly as many lines as the canvas is
// high, joined by line feeds, each of exactly its width in cells.
func (c *Canvas) Render(pens *theme.Pens) string {
	g := c.g
	g.out = g.out[:0]
	for y := range g.h {
		if y > 0 {
			g.out = append(g.out, '\n')
		}
		g.out = g.line(g.out, y, pens)
	}
	return string(g.out)
}

// line appends one row as runs of cells that are drawn alike. A blank joins the run before it when
// neither pen shows on a blank, which keeps the frame short.
func (g *grid) line(out []byte, y int, pens *theme.Pens) []byte {
	row := g.cells[y*g.w:][:g.w]
	var run cell // the cell that began the run
	before, after := "", ""
	for x := range row {
		p := &row[x]
		if p.width == 0 {
			continue
		}
		if p.pen != run.pen || (p.flags^run.flags)&selected != 0 || run.width == 0 {
			if run.width > 0 && p.joins(&run, pens) {
				out = g.glyph(out, row, x)
				continue
			}
			b, a := pens.Pen(p.pen, p.flags&selected != 0)
			if b != before {
				out = append(out, after...)
				out = append(out, b...)
				before, after = b, a
			}
			run = *p
		}
		out = g.glyph(out, row, x)
	}
	return append(out, after...)
}

// joins reports whether a cell may be drawn with the pen of the run before it.
func (p *cell) joins(run *cell, pens *theme.Pens) bool {
	return p.r == ' ' && p.long == 0 &&
		!pens.Paints(p.pen, p.flags&selected != 0) && !pens.Paints(run.pen, run.flags&selected != 0)
}

// glyph appends one grapheme. Around one whose width terminals disagree about, the cells are
// erased first and the cursor is set after it, so that the columns behind it stand either way. Before one
// that would join what stands left of it, though they are two names side by side, the cursor is set too.
func (g *grid) glyph(out []byte, row []cell, x int) []byte {
	p := &row[x]
	clings := g.clings(row, x)
	if p.flags&disputed == 0 && !clings {
		return g.bare(out, p)
	}
	if clings {
		out = column(out, x)
	}
	out = append(out, "\x1b["...)
	out = strconv.AppendInt(out, int64(p.width), 10)
	out = append(out, 'X')
	if x+int(p.width) < g.w {
		return column(g.bare(out, p), x+int(p.width))
	}
	// At the edge a terminal that finds it wider would wrap the line.
	r := p.r
	if clings {
		r = '?'
	}
	out = utf8.AppendRune(out, r)
	for range int(p.width) - g.set.options().Rune(r) {
		out = append(out, ' ')
	}
	return out
}

// column appends what sets the cursor to a column.
func column(out []byte, x int) []byte {
	out = append(out, "\x1b["...)
	out = strconv.AppendInt(out, int64(x+1), 10)
	return append(out, 'G')
}

// clings reports whether a terminal would take a cell and the one left of it for one grapheme.
func (g *grid) clings(row []cell, x int) bool {
	p := &row[x]
	if x == 0 || p.r < 0x300 || neverClings(p.r) {
		return false
	}
	left := x - 1
	for left > 0 && row[left].width == 0 {
		left--
	}
	g.pair = g.bare(g.pair[:0], &row[left])
	n := len(g.pair)
	g.pair = g.bare(g.pair, p)
	first := g.set.options().BytesGraphemes(g.pair)
	return first.Next() && len(first.Value()) > n
}

// neverClings tells the characters that are drawn most: rules, bars, ideographs.
func neverClings(r rune) bool {
	return r >= 0x2500 && r <= 0x257f || r >= 0x25b0 && r <= 0x25b5 || r >= 0x4e00 && r <= 0x9fff
}

func (g *grid) bare(out []byte, p *cell) []byte {
	if p.long > 0 {
		return append(out, g.long[p.long-1]...)
	}
	return utf8.AppendRune(out, p.r)
}

// Plain is the grid as text without any pen, trailing blanks of each line left out: what a
// golden file holds.
func (c *Canvas) Plain() string {
	g := c.g
	var b strings.Builder
	var line []byte
	for y := range g.h {
		line = line[:0]
		for x := range g.w {
			if p := &g.cells[y*g.w+x]; p.width > 0 {
				line = g.bare(line, p)
			}
		}
		b.WriteString(strings.TrimRight(string(line), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// PenRuns names the pens of each line as runs of cells, "title_focus 14, rule 3", with a + after the
// role on the selected row. Blanks without a pen count to the run before them; a line of nothing but
// such blanks is empty.
func (c *Canvas) PenRuns() string {
	var b strings.Builder
	for y := range c.g.h {
		runs := c.g.runs(y)
		for i, r := range runs {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(r.name + " " + strconv.Itoa(r.cells))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

type run struct {
	name  string
	cells int
}

func (g *grid) runs(y int) []run {
	var runs []run
	blanks := true
	for x := range g.w {
		p := &g.cells[y*g.w+x]
		name := p.pen.String()
		if p.flags&selected != 0 {
			name += "+"
		}
		idle := p.r == ' ' && p.long == 0 && name == theme.None.String()
		blanks = blanks && idle
		if n := len(runs); n > 0 && (idle || runs[n-1].name == name) {
			runs[n-1].cells++
			continue
		}
		runs = append(runs, run{name: name, cells: 1})
	}
	if blanks {
		return nil
	}
	return runs
}
