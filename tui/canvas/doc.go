// Package canvas is the screen as a grid of cells. Panes write text into rectangles of
// it; the canvas clips by grapheme, so that nothing is ever half a wide character, and
// cleans what it is given, so that no name, model or error text from outside can move the
// cursor, colour the screen or reach the clipboard.
//
//	c := canvas.New(w, h, canvas.Glyphs("auto", os.Getenv))
//	left := c.Sub(canvas.Rect{X: 0, Y: 1, W: 41, H: 38})
//	left.Text(1, 0, 12, account.Name, theme.FG)
//	frame := c.Render(pens) // exactly h lines of exactly w cells
//
// One goroutine uses a canvas. Resize keeps its memory.
package canvas
