package canvas

import (
	"math"
	"strconv"

	"dev.magpie/tui/theme"
)

// Gauge is how much of an allowance window is used, and how much an even pace would have used by now.
type Gauge struct {
	Used    float64 // 0 to 100
	Pace    float64 // 0 to 100
	HasPace bool    // false in a window's first twentieth, and where its length is unknown
}

// aheadBy is how far the use may be past the pace before it is said.
const aheadBy = 5

// Ahead reports whether the use runs ahead of the clock.
func (b Gauge) Ahead() bool { return b.HasPace && b.Used-b.Pace > aheadBy }

// Percent writes the use as a whole number: 100 only when it is all used, 0 only when nothing is.
func (b Gauge) Percent() string { return strconv.Itoa(share(b.Used, 100)) + "%" }

// Bar draws a gauge w cells wide. It is never full below 100 nor empty above 0, which takes two
// cells; narrower ones draw nothing.
func (c *Canvas) Bar(x, y, w int, b Gauge) {
	if w < 2 {
		return
	}
	set := &c.g.set
	used, mark := share(b.Used, w), b.mark(w)
	for i := range w {
		switch {
		case i == mark:
			c.Text(x+i, y, 1, set.Pace, theme.Pace)
		case i >= used:
			c.Text(x+i, y, 1, set.BarLeft, theme.BarEmpty)
		case mark >= 0 && i > mark && b.Ahead():
			c.Text(x+i, y, 1, set.BarUsed, theme.BarOver)
		default:
			c.Text(x+i, y, 1, set.BarUsed, theme.Bar)
		}
	}
}

// mark is the cell of the pace mark, -1 for none. It gives way to the only used and the only free
// cell, and a full bar has none.
func (b Gauge) mark(w int) int {
	if !b.HasPace || !(b.Used < 100) || w < 3 {
		return -1
	}
	used := share(b.Used, w)
	at := min(max(int(math.Floor(clamp(b.Pace)*float64(w)/100)), 0), w-1)
	switch {
	case used == 1 && at == 0:
		return 1
	case used == w-1 && at == w-1:
		return w - 2
	}
	return at
}

// share is the part of n that a percentage makes, rounded, but 0 and n only for none and all.
func share(percent float64, n int) int {
	switch percent = clamp(percent); percent {
	case 0:
		return 0
	case 100:
		return n
	}
	return min(max(int(math.Round(percent*float64(n)/100)), 1), n-1)
}

func clamp(percent float64) float64 {
	if !(percent > 0) { // NaN too
		return 0
	}
	return min(percent, 100)
}
