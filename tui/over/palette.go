package over

import (
	"strings"
	"unicode"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// Palette is the line in which commands are typed, with those that match below it.
type Palette struct {
	Input    Input
	Selected int
}

// Entry is one command as the palette lists it.
type Entry struct {
	Text string // what is typed for it
	Help string
	Key  string // the key that does the same, "" for none
	Off  string // why it cannot be run now, "" when it can
}

// Key moves the selection; false for keys that edit the line.
func (p *Palette) Key(key string, n int) bool {
	switch key {
	case "down", "ctrl+n":
		p.Selected = min(p.Selected+1, max(n-1, 0))
	case "up", "ctrl+p":
		p.Selected = max(p.Selected-1, 0)
	default:
		return false
	}
	return true
}

// Complete takes the selected command's text into the line.
func (p *Palette) Complete(e Entry) {
	text := e.Text
	if i := strings.IndexByte(text, '<'); i >= 0 {
		text = text[:i]
	}
	p.Input = NewInput(text)
}

const (
	paletteWidth = 66
	paletteRows  = 8
)

// Draw draws the line and what matches it.
func (p *Palette) Draw(c *canvas.Canvas, entries []Entry) {
	set := c.Glyphs()
	rows := min(paletteRows, max(c.H()-6, 1))
	w := min(paletteWidth, c.W())
	sep := " " + set.Sep + " "
	inside := box(c, w, rows+4, "command", "tab completes"+sep+"enter runs"+sep+"esc")
	inside.Text(1, 0, 2, set.Cursor+" ", theme.Key)
	p.Input.Draw(inside, 3, 0, inside.W()-4)
	first := 2
	if inside.H() < 4 {
		first = 1
	}
	rows = min(rows, inside.H()-first)
	if len(entries) == 0 {
		inside.Cut(3, first, inside.W()-4, "no command begins so", theme.Muted)
		return
	}
	if rows <= 0 {
		return
	}
	top := max(p.Selected-rows+1, 0)
	for y := 0; y < rows && top+y < len(entries); y++ {
		e := entries[top+y]
		p.entry(inside, y+first, e)
		if top+y == p.Selected {
			inside.Select(canvas.Rect{Y: y + first, W: inside.W(), H: 1})
			inside.Text(1, y+first, 1, set.Cursor, theme.Accent)
		}
	}
}

func (p *Palette) entry(c *canvas.Canvas, y int, e Entry) {
	pen, help := theme.FG, e.Help
	if e.Off != "" {
		pen, help = theme.Faint, e.Off
	}
	w := c.W()
	name := min(26, max(w/2, 1))
	if w < 40 { // half of each would say nothing
		c.Cut(3, y, w-4, e.Text, pen)
		return
	}
	c.Cut(3, y, name-4, e.Text, pen)
	room := w - name - 2
	if e.Key != "" && w >= 40 {
		n := c.Width(e.Key)
		c.TextRight(w-n-1, y, n, e.Key, theme.Key)
		room -= n + 1
	}
	c.Cut(name, y, room, help, theme.Muted)
}

// Match says how well a command fits what was typed: 0 not at all, more the better. Every word that was
// typed must begin a word of the command, or its letters come in order in it.
func Match(typed, text string) int {
	typed, text = strings.ToLower(strings.TrimSpace(typed)), strings.ToLower(text)
	switch {
	case typed == "":
		return 1
	case strings.HasPrefix(text, typed):
		return 4
	case wordsBegin(strings.Fields(typed), strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })):
		return 3
	case strings.Contains(text, typed):
		return 2
	case inOrder(typed, text):
		return 1
	}
	return 0
}

func wordsBegin(typed, words []string) bool {
	for _, t := range typed {
		found := false
		for _, w := range words {
			found = found || strings.HasPrefix(w, t)
		}
		if !found {
			return false
		}
	}
	return true
}

func inOrder(typed, text string) bool {
	for _, r := range typed {
		i := strings.IndexRune(text, r)
		if i < 0 {
			return false
		}
		text = text[i+len(string(r)):]
	}
	return true
}
