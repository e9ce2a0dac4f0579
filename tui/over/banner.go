package over

import (
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Banner draws what needs somebody, in the line under the header.
func Banner(c *canvas.Canvas, t state.Trouble) {
	pen, mark := theme.Toast, c.Glyphs().Sep
	if t.Bad {
		pen, mark = theme.Error, c.Glyphs().Low
	}
	c.Text(1, 0, c.W()-1, mark+" ", pen)
	c.Cut(3, 0, c.W()-4, t.Text, pen)
}
