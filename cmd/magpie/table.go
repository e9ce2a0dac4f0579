package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dev.magpie/tui/canvas"
)

// screenWidth is what all output fits in.
const screenWidth = 80

// column is one column of a table.
type column struct {
	head  string
	right bool // numbers stand at the right
	gives bool // it is cut when the row is too long
}

// table writes rows under heads, in screenWidth columns.
type table struct {
	columns []column
	gap     int // cells between two columns
	notes   []string
	rows    [][]string
}

func newTable(columns ...column) *table { return &table{columns: columns, gap: 2} }

// row adds a row. Its cells are made safe to show.
func (t *table) row(cells ...string) {
	safe := make([]string, len(t.columns))
	for i := range safe {
		if i < len(cells) {
			safe[i] = canvas.Clean(cells[i])
		}
	}
	t.rows = append(t.rows, safe)
}

// write prints the table.
func (t *table) write(w io.Writer) error {
	widths := t.widths()
	head := make([]string, len(t.columns))
	for i, c := range t.columns {
		head[i] = c.head
	}
	var b strings.Builder
	t.line(&b, head, widths)
	for _, row := range t.rows {
		t.line(&b, row, widths)
	}
	if len(t.notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range t.notes {
		paragraphOf(&b, n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// without leaves out the columns of those heads in which nothing stands.
func (t *table) without(heads ...string) {
	for _, head := range heads {
		i := slices.IndexFunc(t.columns, func(c column) bool { return c.head == head })
		if i < 0 || slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		t.columns = slices.Delete(t.columns, i, i+1)
		for n := range t.rows {
			t.rows[n] = slices.Delete(t.rows[n], i, i+1)
		}
	}
}

// note puts a text under the table: what has no room in a row.
func (t *table) note(text string) { t.notes = append(t.notes, canvas.Clean(text)) }

// widths gives each column what its longest cell needs, and takes what is too much from
// those that give way.
func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	total := t.gap * (len(t.columns) - 1)
	for i, c := range t.columns {
		widths[i] = canvas.Width(c.head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], canvas.Width(row[i]))
		}
		total += widths[i]
	}
	for over := total - screenWidth; over > 0; over-- {
		widest := -1
		for i, c := range t.columns {
			if c.gives && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 || widths[widest] <= 4 {
			break
		}
		widths[widest]--
	}
	return widths
}

func (t *table) line(b *strings.Builder, cells []string, widths []int) {
	var row strings.Builder
	for i, c := range t.columns {
		if i > 0 {
			row.WriteString(strings.Repeat(" ", t.gap))
		}
		cell := cut(cells[i], widths[i])
		pad := strings.Repeat(" ", widths[i]-canvas.Width(cell))
		if c.right {
			row.WriteString(pad + cell)
		} else {
			row.WriteString(cell + pad)
		}
	}
	b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
}

// cut shortens a text to a width, with a sign that something is missing.
func cut(s string, width int) string {
	if canvas.Width(s) <= width {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if canvas.Width(b.String()+string(r)) >= width {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

// wrap breaks a text into lines of at most width cells, at spaces.
func wrap(s string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(s, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			switch {
			case line == "":
				line = word
			case canvas.Width(line)+1+canvas.Width(word) <= width:
				line += " " + word
			default:
				lines = append(lines, line)
				line = word
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// paragraphOf writes text that goes on under its first word.
func paragraphOf(b *strings.Builder, text string) {
	lead := ""
	for _, part := range wrap(text, screenWidth-2) {
		b.WriteString(lead + part + "\n")
		lead = "  "
	}
}

// printf writes to the command's output.
func (p *process) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(p.out, format, args...)
	return err
}
