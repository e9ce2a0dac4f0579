package over

import (
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// FilterLine is the line in which a filter is typed. It lies over the footer.
type FilterLine struct {
	Input Input
}

// Draw draws the line: what is typed, then the first term that says nothing, else how many rows pass.
func (f *FilterLine) Draw(c *canvas.Canvas, parsed *state.Filter, found string) {
	w := c.W()
	c.Fill(canvas.Rect{W: w, H: 1}, theme.None)
	note, pen := found, theme.Muted
	if len(parsed.Bad) > 0 {
		note, pen = parsed.Bad[0].Term+": "+parsed.Bad[0].Why, theme.Error
	}
	c.Text(1, 0, w-1, "/ ", theme.Key)
	room := w - 4
	if n := c.Width(note); n > 0 && room >= 16 {
		n = min(n, max(room*2/3, room-c.Width(f.Input.String())-3))
		c.TextRight(w-n-1, 0, n, c.Glyphs().Cut(note, n), pen)
		room -= n + 2
	}
	f.Input.Draw(c, 3, 0, room)
}
