// Package layout says where everything stands on the screen: panes by size, columns by a
// pane's width, names by what room they have. It is pure; nothing of it remembers anything.
package layout

import (
	"fmt"
	"strconv"
	"strings"

	"dev.magpie/tui/canvas"
)

// Size is a size in cells.
type Size struct{ W, H int }

// ParseSize reads a size such as "110x28".
func ParseSize(s string) (Size, error) {
	w, h, ok := strings.Cut(s, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if !ok || errW != nil || errH != nil || width < 1 || height < 1 {
		return Size{}, fmt.Errorf("%q is no size; write it like 110x28", s)
	}
	return Size{W: width, H: height}, nil
}

// Kind is one of the four layouts.
type Kind uint8

// The layouts, from the largest to the smallest.
const (
	Wide Kind = iota
	Stacked
	Tiny
	Sliver
)

// String is the layout's name.
func (k Kind) String() string {
	return [...]string{"wide", "stacked", "tiny", "sliver"}[k]
}

// Pane is one of the panes, by its number on the screen.
type Pane uint8

// The panes. Detail is what was opened: a request or an account.
const (
	NoPane Pane = iota
	Accounts
	Requests
	Conversations
	Groups
	Log
	Detail
)

// PaneCount is the number of values of Pane.
const PaneCount = int(Detail) + 1

// Args is what an arrangement depends on.
type Args struct {
	Size   Size
	WideAt Size // from which size on the layout is wide; zero = 110x28
	Focus  Pane // the pane that has the keys
	Zoom   bool // the focused pane has the whole body
	Banner bool // a line under the header says that something is wrong
	Detail int  // lines of what was opened, 0 = nothing is

	Accounts int // how many there are
	Live     int // requests under way
	Without  Set // panes that are not shown at all
}

// Set is a set of panes.
type Set uint8

// Of makes a set.
func Of(panes ...Pane) Set {
	var s Set
	for _, p := range panes {
		s |= 1 << p
	}
	return s
}

// Has reports whether a pane is in the set.
func (s Set) Has(p Pane) bool { return s&(1<<p) != 0 }

// Screen is an arrangement. A rectangle without cells means that the thing is not shown.
type Screen struct {
	Kind     Kind
	Header   canvas.Rect // one or two lines
	Banner   canvas.Rect
	Footer   canvas.Rect
	Divider  canvas.Rect            // the vertical line of the wide layout
	Panes    [PaneCount]canvas.Rect // with each pane's title line, where it has one
	Summary  Set                    // panes shown as one line
	Untitled Set                    // panes without a title line
}

// Body is the pane's rectangle without its title line.
func (s *Screen) Body(p Pane) canvas.Rect {
	r := s.Panes[p]
	if s.Untitled.Has(p) || r.Empty() {
		return r
	}
	if s.Summary.Has(p) {
		return canvas.Rect{X: r.X, Y: r.Y + r.H, W: r.W}
	}
	return canvas.Rect{X: r.X, Y: r.Y + 1, W: r.W, H: r.H - 1}
}

// At finds the pane at a cell.
func (s *Screen) At(x, y int) Pane {
	for p := Detail; p > NoPane; p-- {
		if s.Panes[p].Has(x, y) {
			return p
		}
	}
	return NoPane
}
