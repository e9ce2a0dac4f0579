package over

import (
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Banner draws what needs somebody, in the line under the header.
func Banner(c *canvas.Canvas, t state.Trouble) {
	pen, x := theme.Toast, 1
	if t.Bad {
		pen, x = theme.Error, 3
		c.Text(1, 0, c.W()-1, c.Glyphs().Low, pen)
	}
	text := t.Text
	if t.More != "" && c.Width(text)+1+c.Width(t.More) <= c.W()-x-1 {
		text += " " + t.More
	}
	c.Cut(x, 0, c.W()-x-1, text, pen)
}
