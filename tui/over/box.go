package over

import (
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// box draws a frame in the middle of the screen and gives the view inside it. Where the screen is too
// small for a frame, the view is all of it.
func box(c *canvas.Canvas, w, h int, title, foot string) *canvas.Canvas {
	w, h = min(w, c.W()), min(h, c.H())
	r := canvas.Rect{X: (c.W() - w) / 2, Y: (c.H() - h) / 2, W: w, H: h}
	o := c.Overlay(r)
	if h < 3 || w < 8 {
		return o
	}
	o.Frame(canvas.Rect{W: w, H: h}, theme.Rule)
	label(o, 0, w, title, theme.TitleFocus)
	label(o, h-1, w, foot, theme.Muted)
	return o.Sub(canvas.Rect{X: 1, Y: 1, W: w - 2, H: h - 2})
}

// label writes into a border: a space, the text, a space.
func label(o *canvas.Canvas, y, w int, text string, pen theme.Role) {
	if text == "" {
		return
	}
	text = o.Glyphs().Cut(text, w-6)
	o.Text(2, y, w-4, " "+text+" ", pen)
}
