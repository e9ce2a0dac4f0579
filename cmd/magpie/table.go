package main

import (
	"slices"
	"strings"

	"dev.magpie/tui/canvas"
)

// column is one column of a table.
type column struct {
	head  string
	right bool // numbers stand at the right
	gives bool // it is cut when the row is too long
	least int  // cells that it keeps while a column can leave instead; 0 = 12
	rank  int  // of those that leave when the row is too long, the highest first; 0 = it stays
}

// table writes rows under heads.
type table struct {
	columns []column
	gap     int // cells between two columns
	notes   []string
	rows    [][]string
}

func newTable(columns ...column) *table { return &table{columns: columns, gap: 2} }

// leftMark says behind the heads that columns left: there is more where there is more room.
const leftMark = " …"

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

// write writes the table onto a page.
func (t *table) write(b *page) {
	widths, left := t.fitted(b.limit)
	head := make([]string, len(t.columns))
	for i, c := range t.columns {
		head[i] = c.head
	}
	for i, row := range append([][]string{head}, t.rows...) {
		line := t.line(row, widths)
		if i == 0 && left && canvas.Width(line+leftMark) <= b.limit {
			line += leftMark
		}
		b.WriteString(line + "\n")
	}
	if len(t.notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range t.notes {
		b.paragraph(n)
	}
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

// fitted are the columns' widths in a line of limit cells, 0 = any number; those that left have none. Names are cut to
// what they keep at least; then columns leave, the least needed first; then names are cut further.
func (t *table) fitted(limit int) (widths []int, left bool) {
	gone := make([]bool, len(t.columns))
	for {
		widths = t.widths(gone)
		over := t.over(widths, limit)
		if left {
			over += canvas.Width(leftMark)
		}
		over = t.give(widths, over, func(c column) int { return min(max(c.least, 12), max(limit/2, 4)) })
		if over <= 0 {
			return widths, left
		}
		next := -1
		for i, c := range t.columns {
			if !gone[i] && c.rank > 0 && (next < 0 || c.rank > t.columns[next].rank) {
				next = i
			}
		}
		if next < 0 {
			t.give(widths, over, func(column) int { return 4 })
			return widths, left
		}
		gone[next], left = true, true
	}
}

// widths are what each column's longest cell needs; -1 for one that left.
func (t *table) widths(gone []bool) []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		if gone[i] {
			widths[i] = -1
			continue
		}
		widths[i] = canvas.Width(c.head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], canvas.Width(row[i]))
		}
	}
	return widths
}

// over is by how many cells the line is too long.
func (t *table) over(widths []int, limit int) int {
	if limit <= 0 {
		return 0
	}
	total := -t.gap
	for _, w := range widths {
		if w >= 0 {
			total += w + t.gap
		}
	}
	return total - limit
}

// give takes cells from those that give way, the widest first, and returns how many are still too many.
func (t *table) give(widths []int, over int, least func(column) int) int {
	for ; over > 0; over-- {
		widest := -1
		for i, c := range t.columns {
			if c.gives && widths[i] > least(c) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return over
}

func (t *table) line(cells []string, widths []int) string {
	var row strings.Builder
	for i, c := range t.columns {
		if widths[i] < 0 {
			continue
		}
		if row.Len() > 0 {
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
	return strings.TrimRight(row.String(), " ")
}
