package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"

	"dev.magpie/tui/canvas"
)

// screenWidth is how wide text is written that goes to no terminal.
const screenWidth = 80

// widest is how wide text is written at most: longer lines are hard to read. Tables have all the room that there is.
const widest = 120

// page is what a command prints.
type page struct {
	strings.Builder
	width int // in which text is wrapped
	limit int // at which a line is cut, 0 = nowhere: what a pipe reads is whole
}

// page begins what a command prints.
func (p *process) page() *page {
	limit := p.room()
	if limit == 0 {
		return &page{width: screenWidth}
	}
	return &page{width: min(limit, widest), limit: limit}
}

// room is how many cells a line of the terminal has that the output goes to, 0 = it goes to none.
func (p *process) room() int {
	if p.cells != nil {
		return p.cells()
	}
	f, isFile := p.out.(*os.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0
	}
	if n, err := strconv.Atoi(p.getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, 20)
	}
	w, _, err := term.GetSize(f.Fd())
	if err != nil || w <= 0 {
		return screenWidth
	}
	return max(w, 20)
}

// put prints a page.
func (p *process) put(b *page) error {
	_, err := p.out.Write([]byte(b.String()))
	return err
}

// table prints a table.
func (p *process) table(t *table) error {
	b := p.page()
	t.write(b)
	return p.put(b)
}

// printf writes to the command's output.
func (p *process) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(p.out, format, args...)
	return err
}

// paragraph writes text that goes on under its first word.
func (b *page) paragraph(text string) { b.beside("", 2, text) }

// line writes text in one line where there is room; else what follows its first word, a time, goes on under itself.
func (b *page) line(text string) {
	if b.limit == 0 || canvas.Width(text) <= b.limit {
		b.WriteString(text + "\n")
		return
	}
	first, rest, _ := strings.Cut(text, " ")
	b.beside(first+" ", 2, rest)
}

// least is how many cells text beside something else has at least; where there are fewer it stands below.
const least = 24

// entry writes a name and, beside it, its words.
func (b *page) entry(name string, width int, words string) {
	b.beside("  "+name+strings.Repeat(" ", max(2, width-canvas.Width(name))), min(width+2, max(4, b.width-least)), words)
}

// beside writes text behind a lead, and what is left of it under the lead; below it, in a column, where it has no room.
func (b *page) beside(lead string, column int, text string) {
	from := canvas.Width(lead)
	switch {
	case from == 0:
		from = column
	case b.width-from < least || from > column && b.width-from < longest(text):
		b.WriteString(strings.TrimRight(lead, " ") + "\n")
		from = min(column, 5)
		lead = strings.Repeat(" ", from)
	}
	for i, part := range wrap(text, max(b.width-from, 8)) {
		if i > 0 {
			lead = strings.Repeat(" ", from)
		}
		b.WriteString(strings.TrimRight(lead+part, " ") + "\n")
	}
}

// longest is how wide a text's widest word is.
func longest(text string) int {
	w := 0
	for word := range strings.FieldsSeq(text) {
		w = max(w, canvas.Width(word))
	}
	return w
}

// names is how wide a column of names is that has text beside it.
func (b *page) names(width int) int {
	if b.limit == 0 {
		return width
	}
	return min(width, max(b.limit*45/100, 12))
}

// cut shortens a line where lines are.
func (b *page) cut(s string) string {
	if b.limit == 0 {
		return s
	}
	return cut(s, b.limit)
}

// cut shortens a text to a width, between letters, with a sign that something is missing.
func cut(s string, width int) string {
	set := canvas.GlyphSet{Ellipsis: "…"}
	return set.Cut(s, width)
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
