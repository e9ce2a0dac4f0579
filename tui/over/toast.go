package over

import (
	"strconv"
	"time"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// How long an offer to undo stands, and within which time the same words are counted.
const (
	undoable = 10 * time.Second
	counted  = 10 * time.Second
)

// Toast is one short message over the footer. The newest replaces the one before.
type Toast struct {
	text  string
	since time.Time
	until time.Time // zero: until a key
	bad   bool
	undo  string // the key that takes it back
	times int
}

// Say shows a message for four seconds.
func (t *Toast) Say(text string, now time.Time) { t.show(text, now, toasted, false, "") }

// Undoable shows what was done, with the key that takes it back.
func (t *Toast) Undoable(text, key string, now time.Time) { t.show(text, now, undoable, false, key) }

// Fail shows what went wrong until a key is pressed.
func (t *Toast) Fail(text string, now time.Time) { t.show(text, now, 0, true, "") }

func (t *Toast) show(text string, now time.Time, span time.Duration, bad bool, undo string) {
	times := 1
	if t.text == text && now.Sub(t.since) < counted {
		times = t.times + 1
	}
	*t = Toast{text: text, since: now, bad: bad, undo: undo, times: times}
	if span > 0 {
		t.until = now.Add(span)
	}
}

// Key tells the toast that a key was pressed: errors go.
func (t *Toast) Key() {
	if t.bad {
		*t = Toast{}
	}
}

// Shown says whether there is a message now.
func (t *Toast) Shown(c *state.Clock) bool {
	if t.text == "" {
		return false
	}
	return t.until.IsZero() || !c.Passed(t.until)
}

// Draw draws the message into a line.
func (t *Toast) Draw(c *canvas.Canvas) {
	w := c.W()
	c.Fill(canvas.Rect{W: w, H: 1}, theme.None)
	text, pen := t.text, theme.Toast
	if t.times > 1 {
		text += " (x" + strconv.Itoa(t.times) + ")"
	}
	mark := c.Glyphs().Focus
	if t.bad {
		mark, pen = c.Glyphs().Low, theme.Error
	}
	room := w - 4
	end := ""
	if t.undo != "" {
		end = "  " + t.undo + " undo"
		if c.Width(text)+c.Width(end) > room && room < 24 {
			end = ""
		}
	}
	x := c.Text(1, 0, w-1, mark+" ", pen) + 1
	x += c.Cut(x, 0, room-c.Width(end)+1, text, pen)
	if end != "" {
		c.Text(x, 0, w-x, end, theme.Key)
	}
}
