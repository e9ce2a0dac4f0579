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
}

// Dialog asks before something ends or is spent. What is safe is always at hand: enter and
// esc keep everything as it is.
type Dialog struct {
	Title  string
	Body   []string // paragraphs; an empty one is an empty line
	Keep   string   // what the safe button says, "" for none
	Ways   []Choice
	Foot   string
	After  []string // below the choices
	guard  Guard
	widest int
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

// Draw draws the dialog over the screen.
func (d *Dialog) Draw(c *canvas.Canvas) {
	w := min(dialogWidth, c.W()-4)
	if c.W() < 24 {
		w = c.W()
	}
	lines := d.lines(c, w-4)
	inside := box(c, w, len(lines)+4, d.Title, d.Foot)
	pad := 1
	if inside.H() >= len(lines)+2 {
		inside = inside.Sub(canvas.Rect{Y: 1, W: inside.W(), H: inside.H() - 1})
	}
	// On a screen that is too low the ways out are worth more than the facts.
	if over := len(lines) - inside.H(); over > 0 {
		lines = lines[over:]
	}
	for y, l := range lines {
		inside.Spans(pad, y, inside.W()-pad, l...)
	}
}

type line = []canvas.Span

// lines are the body, the choices and what comes after, wrapped to a width.
func (d *Dialog) lines(c *canvas.Canvas, width int) []line {
	var lines []line
	say := func(words string, pen theme.Role) {
		if words == "" {
			lines = append(lines, nil)
			return
		}
		for _, l := range c.Glyphs().Wrap(words, width) {
			lines = append(lines, line{{Text: l, Pen: pen}})
		}
	}
	for _, p := range d.Body {
		say(p, theme.FG)
	}
	if len(d.Body) > 0 {
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
		lines = append(lines, d.ways(c, width)...)
	}
	if len(d.After) > 0 {
		lines = append(lines, nil)
	}
	for _, p := range d.After {
		say(p, theme.Muted)
	}
	return lines
}

func (d *Dialog) ways(c *canvas.Canvas, width int) []line {
	var lines []line
	for _, w := range d.Ways {
		for i, l := range c.Glyphs().Wrap(w.Words, width-3) {
			key := "   "
			if i == 0 {
				key = w.Key + "  "
			}
			lines = append(lines, line{{Text: key, Pen: theme.Key}, {Text: l, Pen: theme.FG}})
		}
	}
	return lines
}
