package canvas

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dev.magpie/tui/theme"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", file, got, want)
	}
}

// scene draws something of everything: a list with names from outside, a selected row, a dialog over it.
func scene(c *Canvas) *Canvas {
	c.Clear()
	w, h := c.Size()
	set := c.Glyphs()
	c.Spans(0, 0, w, Span{set.Focus + " ", theme.TitleFocus}, Span{"2 requests ", theme.TitleFocus})
	c.HLine(13, 0, w-14, theme.Rule)
	names := append([]string{"work-max", "智谱·GLM 编码 🚀", "e\u0301 account", "👩‍👩‍👧 family"}, hostile...)
	for i, n := range names {
		y := i + 1
		c.Text(1, y, 1, set.Answered, theme.Fine)
		c.Cut(3, y, 14, n, theme.FG)
		c.Text(18, y, 1, set.VRule, theme.Rule)
		c.Bar(20, y, 10, Gauge{Used: float64(i * 7), Pace: 40, HasPace: i%2 == 0})
		c.TextRight(31, y, 4, Gauge{Used: float64(i * 7)}.Percent(), theme.Muted)
	}
	c.Text(0, 3, 1, set.Cursor, theme.Accent)
	c.Select(Rect{Y: 3, W: w, H: 1})
	d := c.Overlay(Rect{X: w/2 - 1, Y: h/2 - 1, W: w / 3, H: 5})
	d.Frame(Rect{W: d.W(), H: d.H()}, theme.Rule)
	for i, l := range set.Wrap("It cannot be taken back.", d.W()-4) {
		d.Text(2, 1+i, d.W()-4, l, theme.FG)
	}
	return c
}

func TestTheSceneLooksAsItDid(t *testing.T) {
	for _, set := range []string{"unicode", "ascii"} {
		for _, size := range [][2]int{{60, 20}, {34, 9}, {9, 4}} {
			c := New(size[0], size[1], Glyphs(set, func(string) string { return "" }))
			name := fmt.Sprintf("scene-%s@%dx%d", set, size[0], size[1])
			golden(t, name+".txt", scene(c).Plain())
			golden(t, name+".pens", c.PenRuns())
		}
	}
}

// The border after the names must stand in one column whatever the names hold.
func TestTheBorderStandsInOneColumn(t *testing.T) {
	c := scene(New(60, 20, Unicode()))
	for y, line := range strings.Split(c.Plain(), "\n")[1:8] {
		before, _, ok := strings.Cut(line, "│")
		if !ok || Width(before) != 18 {
			t.Errorf("row %d: the border is at %d: %q", y+1, Width(before), line)
		}
	}
}

func BenchmarkFrame120x40(b *testing.B) {
	p := pens(b)
	c := New(120, 40, Unicode())
	b.ReportAllocs()
	for b.Loop() {
		everyday(c)
		if c.Render(p) == "" {
			b.Fatal("nothing drawn")
		}
	}
}

// everyday fills a screen as the program does: two columns of panes with bars, names and numbers.
func everyday(c *Canvas) {
	c.Clear()
	set := c.Glyphs()
	left, right := c.Sub(Rect{Y: 1, W: 41, H: 38}), c.Sub(Rect{X: 42, Y: 1, W: 78, H: 38})
	c.VLine(41, 1, 38, theme.Rule)
	for y := range 18 {
		left.Text(1, 2*y, 1, set.Fine, theme.Fine)
		left.Cut(3, 2*y, 10, "work-max-long-name", theme.FG)
		left.Text(14, 2*y, 2, "5h", theme.Muted)
		left.Bar(17, 2*y, 10, Gauge{Used: 74, Pace: 52, HasPace: true})
		left.TextRight(27, 2*y, 5, "74%", theme.FG)
		left.TextRight(33, 2*y, 7, "2h14m", theme.Muted)
	}
	for y := range 38 {
		right.Text(1, y, 1, set.Answered, theme.Fine)
		right.Text(3, y, 5, "14:02", theme.Muted)
		right.Text(9, y, 7, "claude", theme.FG)
		right.Cut(17, y, 15, "sonnet-5-5", theme.FG)
		right.Cut(33, y, 11, "work-max", theme.Accent)
		right.TextRight(45, y, 3, "1", theme.FG)
		right.TextRight(49, y, 5, "0.9s", theme.Muted)
		right.TextRight(55, y, 5, "12s", theme.Muted)
		right.TextRight(61, y, 6, "48.1k", theme.FG)
		right.TextRight(68, y, 4, "96%", theme.FG)
		right.TextRight(73, y, 5, "1.2k", theme.FG)
	}
	right.Select(Rect{Y: 3, W: 78, H: 1})
}

func TestAFrameCostsFewAllocations(t *testing.T) {
	p := pens(t)
	c := New(120, 40, Unicode())
	everyday(c)
	c.Render(p)
	if n := testing.AllocsPerRun(20, func() { everyday(c); c.Render(p) }); n > 60 {
		t.Errorf("%v allocations a frame", n)
	}
}
