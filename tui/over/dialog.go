package over

import (
	"time"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// Choice is one way out of a dialog besides staying.
type Choice struct {
	Key   string
	Words string
	Short string // for a screen without room for Words; may be ""
}

// Dialog asks before something ends or is spent. What is safe is always at hand: enter and
// esc keep everything as it is.
type Dialog struct {
	Title string
	Body  []string // paragraphs; an empty one is an empty line
	Keep  string   // what the safe button says, "" for none
	Ways  []Choice
	Foot  string
	After []string // below the choices
	guard Guard
}

// Open begins to listen to keys.
func (d *Dialog) Open(now time.Time) { d.guard = NewGuard(now) }

// Answer is what a key means to a dialog.
type Answer int

// What a key means to a dialog.
const (
	Nothing Answer = iota // not meant for it, or nothing to it
	Stay                  // close it, nothing happens
	Chosen                // one of its ways, which Key names
)

// Press tells what a key means. Keys that come too soon after others mean nothing.
func (d *Dialog) Press(key string, now time.Time) (Answer, string) {
	if !d.guard.Take(now) {
		return Nothing, ""
	}
	switch key {
	case "enter", "esc":
		return Stay, ""
	}
	for _, w := range d.Ways {
		if w.Key == key {
			return Chosen, key
		}
	}
	return Nothing, ""
}

const dialogWidth = 62

// Draw draws the dialog over the screen. On one that is too low for all of it, what comes after goes
// first, then the facts; the ways out stay.
func (d *Dialog) Draw(c *canvas.Canvas) {
	w := min(dialogWidth, c.W()-4)
	if c.W() < 32 {
		w = c.W()
	}
	lines := d.lines(c, w-4, d.Body, d.After, false)
	room := c.H() - 3
	if len(lines) > room {
		lines = d.lines(c, w-4, d.Body, nil, false)
	}
	if len(lines) > room {
		lines = d.lines(c, w-4, nil, nil, false)
	}
	if len(lines) > room || c.W() < 32 {
		lines = d.lines(c, w-4, nil, nil, true)
	}
	if c.H() <= 5 {
		d.bare(c, lines)
		return
	}
	inside := box(c, w, len(lines)+4, d.Title, d.Foot)
	if inside.H() >= len(lines)+2 {
		inside = inside.Sub(canvas.Rect{Y: 1, W: inside.W(), H: inside.H() - 1})
	}
	for y, l := range lines {
		inside.Spans(1, y, inside.W()-1, l...)
	}
}

// bare draws the dialog without a frame on a screen of a few lines.
func (d *Dialog) bare(c *canvas.Canvas, lines []line) {
	o := c.Overlay(canvas.Rect{W: c.W(), H: c.H()})
	if o.H() == 1 {
		o.Cut(0, 0, o.W(), d.Title, theme.TitleFocus)
		return
	}
	o.Cut(1, 0, o.W()-1, d.Title, theme.TitleFocus)
	for y, l := range lines {
		o.Spans(1, y+1, o.W()-1, l...)
	}
	if y := len(lines) + 1; y < o.H() {
		o.Cut(1, y, o.W()-1, d.Foot, theme.Muted)
	}
}

type line = []canvas.Span

// lines are the body, the choices and what comes after, wrapped to a width.
func (d *Dialog) lines(c *canvas.Canvas, width int, body, after []string, short bool) []line {
	var lines []line
	say := func(words string, pen theme.Role) {
		if words == "" {
			lines = append(lines, nil)
			return
		}
		if c.Width(words) <= width { // columns in it stay as they are
			lines = append(lines, line{{Text: words, Pen: pen}})
			return
		}
		for _, l := range c.Glyphs().Wrap(words, width) {
			lines = append(lines, line{{Text: l, Pen: pen}})
		}
	}
	for _, p := range body {
		say(p, theme.FG)
	}
	if len(body) > 0 {
		lines = append(lines, nil)
	}
	if d.Keep != "" {
		button := line{{Text: "[ " + d.Keep + " ]", Pen: theme.TitleFocus}}
		if len(d.Ways) == 1 {
			button = append(button, canvas.Span{Text: "      "}, canvas.Span{Text: d.Ways[0].Key, Pen: theme.Key}, canvas.Span{Text: "  " + d.Ways[0].Words, Pen: theme.FG})
		}
		lines = append(lines, button)
	}
	if d.Keep == "" || len(d.Ways) > 1 {
		lines = append(lines, d.ways(c, width, short)...)
	}
	if len(after) > 0 {
		lines = append(lines, nil)
	}
	for _, p := range after {
		say(p, theme.Muted)
	}
	return lines
}

func (d *Dialog) ways(c *canvas.Canvas, width int, short bool) []line {
	var lines []line
	for _, w := range d.Ways {
		said := w.Words
		if short && w.Short != "" {
			said = w.Short
		}
		wrapped := []string{said}
		if c.Width(said) > width-3 {
			wrapped = c.Glyphs().Wrap(said, width-3)
		}
		for i, l := range wrapped {
			key := "   "
			if i == 0 {
				key = w.Key + "  "
			}
			lines = append(lines, line{{Text: key, Pen: theme.Key}, {Text: l, Pen: theme.FG}})
		}
	}
	return lines
}
