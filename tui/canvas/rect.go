package canvas

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// Empty reports whether it holds no cell.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Has reports whether a cell lies in it.
func (r Rect) Has(x, y int) bool {
	return x >= r.X && y >= r.Y && x < r.X+r.W && y < r.Y+r.H
}

// Meet is the part that two rectangles share.
func (r Rect) Meet(o Rect) Rect {
	x, y := max(r.X, o.X), max(r.Y, o.Y)
	m := Rect{X: x, Y: y, W: min(r.X+r.W, o.X+o.W) - x, H: min(r.Y+r.H, o.Y+o.H) - y}
	if m.Empty() {
		return Rect{X: x, Y: y}
	}
	return m
}

// Row is one line of it, counted from its top.
func (r Rect) Row(y int) Rect { return Rect{X: r.X, Y: r.Y + y, W: r.W, H: 1}.Meet(r) }
