package over

import (
	"strings"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// most bounds what can be typed or pasted into a line.
const most = 200

// Input is one line of text under the person's hands.
type Input struct {
	text  []rune
	caret int
}

// NewInput begins with a text, the caret at its end.
func NewInput(text string) Input {
	rs := []rune(text)
	return Input{text: rs, caret: len(rs)}
}

// String is what was typed.
func (i *Input) String() string { return string(i.text) }

// Insert puts text where the caret is; what is no text, such as a line feed, becomes a space.
func (i *Input) Insert(s string) {
	for _, r := range strings.ToValidUTF8(canvas.Clean(strings.Join(strings.Fields(" "+s+" "), " ")), "") {
		i.put(r)
	}
}

// Type puts one typed key where the caret is.
func (i *Input) Type(rs []rune) {
	for _, r := range rs {
		if r >= ' ' && r != 0x7f {
			i.put(r)
		}
	}
}

func (i *Input) put(r rune) {
	if len(i.text) >= most {
		return
	}
	i.text = append(i.text, 0)
	copy(i.text[i.caret+1:], i.text[i.caret:])
	i.text[i.caret] = r
	i.caret++
}

// Edit carries out a key that edits; false when the key is none.
func (i *Input) Edit(key string) bool {
	switch key {
	case "backspace", "ctrl+h":
		i.cut(i.caret - 1)
	case "delete", "ctrl+d":
		if i.caret < len(i.text) {
			i.caret++
			i.cut(i.caret - 1)
		}
	case "ctrl+u":
		i.cut(0)
	case "ctrl+k":
		i.text = i.text[:i.caret]
	case "ctrl+w", "alt+backspace":
		i.cut(i.wordStart())
	case "left", "ctrl+b":
		i.caret = max(i.caret-1, 0)
	case "right", "ctrl+f":
		i.caret = min(i.caret+1, len(i.text))
	case "home", "ctrl+a":
		i.caret = 0
	case "end", "ctrl+e":
		i.caret = len(i.text)
	default:
		return false
	}
	return true
}

// cut takes out what stands between a place and the caret.
func (i *Input) cut(from int) {
	if from < 0 {
		return
	}
	i.text = append(i.text[:from:from], i.text[i.caret:]...)
	i.caret = from
}

func (i *Input) wordStart() int {
	at := i.caret
	for at > 0 && i.text[at-1] == ' ' {
		at--
	}
	for at > 0 && i.text[at-1] != ' ' {
		at--
	}
	return at
}

// Draw draws the line with its caret; of a line that is too long the end is shown.
func (i *Input) Draw(c *canvas.Canvas, x, y, w int) int {
	set := c.Glyphs()
	before, after := string(i.text[:i.caret]), string(i.text[i.caret:])
	for before != "" && set.Width(before)+1 > w {
		_, n := firstRune(before)
		before = before[n:]
	}
	used := c.Text(x, y, w, before, theme.FG)
	used += c.Text(x+used, y, w-used, set.Caret, theme.Accent)
	return used + c.Text(x+used, y, w-used, after, theme.FG)
}

func firstRune(s string) (rune, int) {
	for i, r := range s {
		if i > 0 {
			return r, i
		}
	}
	return 0, len(s)
}
