package layout

import (
	"strings"
	"testing"

	"dev.magpie/tui/canvas"
)

// board draws an arrangement: H header, B banner, F footer, | divider, a pane's digit on its lines and its
// letter on its title line, D for what was opened. A dot is a cell that nobody has, # one that two have.
func board(s Screen, size Size) string {
	rows := make([][]byte, max(size.H, 0))
	for y := range rows {
		rows[y] = []byte(strings.Repeat(".", max(size.W, 0)))
	}
	fill := func(r canvas.Rect, c byte) {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if rows[y][x] != '.' {
					c = '#'
				}
				rows[y][x] = c
			}
		}
	}
	fill(s.Header, 'H')
	fill(s.Banner, 'B')
	fill(s.Footer, 'F')
	fill(s.Divider, '|')
	for p := Accounts; p <= Detail; p++ {
		r := s.Panes[p]
		if body := s.Body(p); body.H < r.H {
			fill(canvas.Rect{X: r.X, Y: r.Y, W: r.W, H: r.H - body.H}, " ARCGLD"[p])
			r = body
		}
		fill(r, " 12345d"[p])
	}
	var b strings.Builder
	for _, row := range rows {
		b.Write(row)
		b.WriteByte('\n')
	}
	return b.String()
}

// narrow takes the middle out of a board's long runs, so that wide ones can be read: "1x41" is a run of 41.
func narrow(board string) string {
	var b strings.Builder
	for line := range strings.Lines(board) {
		line = strings.TrimSuffix(line, "\n")
		for i := 0; i < len(line); {
			n := 1
			for i+n < len(line) && line[i+n] == line[i] {
				n++
			}
			if b.Len() > 0 && i > 0 {
				b.WriteByte(' ')
			}
			b.WriteByte(line[i])
			if n > 1 {
				b.WriteString("x" + itoa(n))
			}
			i += n
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// times folds equal lines: "3 * text".
func times(board string) string {
	var out []string
	n := 0
	lines := strings.Split(strings.TrimSuffix(board, "\n"), "\n")
	for i, l := range lines {
		n++
		if i+1 < len(lines) && lines[i+1] == l {
			continue
		}
		out = append(out, itoa(n)+" * "+l)
		n = 0
	}
	return strings.Join(out, "\n")
}

func TestTheScreenIsArrangedBySize(t *testing.T) {
	for _, c := range []struct {
		name string
		args Args
		want string
	}{
		{"wide", Args{Size: Size{120, 40}, Accounts: 6, Focus: Requests}, `
1 * Hx120
1 * Ax41 | Rx78
12 * 1x41 | 2x78
1 * Cx41 | 2x78
5 * 3x41 | 2x78
1 * Gx41 | 2x78
4 * 4x41 | 2x78
1 * Lx41 | 2x78
13 * 5x41 | 2x78
1 * Fx120`},
		{"wide, a request opened", Args{Size: Size{120, 40}, Accounts: 2, Focus: Detail, Detail: 16}, `
1 * Hx120
1 * Ax41 | Rx78
4 * 1x41 | 2x78
1 * Cx41 | 2x78
5 * 3x41 | 2x78
1 * Gx41 | 2x78
4 * 4x41 | 2x78
1 * Lx41 | 2x78
4 * 5x41 | 2x78
1 * 5x41 | Dx78
16 * 5x41 | dx78
1 * Fx120`},
		{"wide, its least", Args{Size: Size{110, 28}, Accounts: 9}, `
1 * Hx110
1 * Ax41 | Rx68
9 * 1x41 | 2x68
1 * Cx41 | 2x68
5 * 3x41 | 2x68
1 * Gx41 | 2x68
4 * 4x41 | 2x68
1 * Lx41 | 2x68
4 * 5x41 | 2x68
1 * Fx110`},
		{"wide with something wrong", Args{Size: Size{200, 30}, Accounts: 1, Banner: true}, `
1 * Hx200
1 * Bx200
1 * Ax52 | Rx147
2 * 1x52 | 2x147
1 * Cx52 | 2x147
5 * 3x52 | 2x147
1 * Gx52 | 2x147
4 * 4x52 | 2x147
1 * Lx52 | 2x147
12 * 5x52 | 2x147
1 * Fx200`},
		{"wide, zoomed", Args{Size: Size{120, 40}, Accounts: 6, Focus: Log, Zoom: true}, `
1 * Hx120
1 * Lx120
37 * 5x120
1 * Fx120`},
		{"wide without two panes", Args{Size: Size{120, 40}, Accounts: 1, Without: Of(Conversations, Groups)}, `
1 * Hx120
1 * Ax41 | Rx78
2 * 1x41 | 2x78
1 * Lx41 | 2x78
34 * 5x41 | 2x78
1 * Fx120`},
		{"wide without the log, the last one gets its room", Args{Size: Size{120, 40}, Accounts: 1, Without: Of(Log)}, `
1 * Hx120
1 * Ax41 | Rx78
2 * 1x41 | 2x78
1 * Cx41 | 2x78
5 * 3x41 | 2x78
1 * Gx41 | 2x78
28 * 4x41 | 2x78
1 * Fx120`},
		{"wide by the settings", Args{Size: Size{90, 24}, WideAt: Size{90, 24}, Accounts: 2}, `
1 * Hx90
1 * Ax41 | Rx48
4 * 1x41 | 2x48
1 * Cx41 | 2x48
4 * 3x41 | 2x48
1 * Gx41 | 2x48
3 * 4x41 | 2x48
1 * Lx41 | 2x48
7 * 5x41 | 2x48
1 * Fx90`},
		{"stacked because the settings say so", Args{Size: Size{120, 40}, WideAt: Size{200, 50}, Accounts: 2}, `
1 * Hx120
1 * Ax120
2 * 1x120
1 * Rx120
31 * 2x120
1 * Cx120
1 * Gx120
1 * Lx120
1 * Fx120`},
		{"stacked", Args{Size: Size{80, 24}, Accounts: 6}, `
1 * Hx80
1 * Ax80
6 * 1x80
1 * Rx80
11 * 2x80
1 * Cx80
1 * Gx80
1 * Lx80
1 * Fx80`},
		{"a narrow split has two header lines", Args{Size: Size{46, 30}, Accounts: 6}, `
2 * Hx46
1 * Ax46
6 * 1x46
1 * Rx46
16 * 2x46
1 * Cx46
1 * Gx46
1 * Lx46
1 * Fx46`},
		{"stacked, more accounts than fit", Args{Size: Size{80, 24}, Accounts: 20}, `
1 * Hx80
1 * Ax80
7 * 1x80
1 * Rx80
10 * 2x80
1 * Cx80
1 * Gx80
1 * Lx80
1 * Fx80`},
		{"stacked, the groups in focus", Args{Size: Size{80, 24}, Accounts: 6, Focus: Groups}, `
1 * Hx80
1 * Ax80
6 * 1x80
1 * Rx80
5 * 2x80
1 * Cx80
1 * Gx80
6 * 4x80
1 * Lx80
1 * Fx80`},
		{"stacked and low: no summaries", Args{Size: Size{80, 19}, Accounts: 6}, `
1 * Hx80
1 * Ax80
5 * 1x80
1 * Rx80
10 * 2x80
1 * Fx80`},
		{"stacked and low, the log in focus", Args{Size: Size{44, 16}, Accounts: 6, Focus: Log}, `
1 * Hx44
1 * Ax44
4 * 1x44
1 * Rx44
4 * 2x44
1 * Lx44
3 * 5x44
1 * Fx44`},
		{"stacked, a request opened", Args{Size: Size{46, 30}, Accounts: 6, Detail: 30}, `
2 * Hx46
1 * Dx46
26 * dx46
1 * Fx46`},
		{"stacked without accounts keeps a line that says so", Args{Size: Size{80, 24}}, `
1 * Hx80
1 * Ax80
1 * 1x80
1 * Rx80
16 * 2x80
1 * Cx80
1 * Gx80
1 * Lx80
1 * Fx80`},
		{"stacked, something wrong", Args{Size: Size{80, 24}, Accounts: 2, Banner: true}, `
1 * Hx80
1 * Bx80
1 * Ax80
2 * 1x80
1 * Rx80
14 * 2x80
1 * Cx80
1 * Gx80
1 * Lx80
1 * Fx80`},
		{"tiny", Args{Size: Size{40, 12}, Accounts: 6}, `
1 * Hx40
4 * 1x40
1 * Rx40
6 * 2x40`},
		{"tiny with few accounts", Args{Size: Size{40, 12}, Accounts: 2}, `
1 * Hx40
2 * 1x40
1 * Rx40
8 * 2x40`},
		{"tiny, the least", Args{Size: Size{32, 8}, Accounts: 6, Banner: true}, `
1 * Hx32
1 * Bx32
3 * 1x32
1 * Rx32
2 * 2x32`},
		{"tiny and high", Args{Size: Size{40, 22}, Accounts: 6}, `
2 * Hx40
4 * 1x40
1 * Rx40
15 * 2x40`},
		{"tiny, the log in focus", Args{Size: Size{40, 12}, Accounts: 6, Focus: Log}, `
1 * Hx40
4 * 1x40
1 * Lx40
6 * 5x40`},
		{"tiny, zoomed", Args{Size: Size{40, 12}, Accounts: 6, Focus: Accounts, Zoom: true}, `
1 * Hx40
1 * Ax40
10 * 1x40`},
		{"sliver", Args{Size: Size{24, 4}, Accounts: 6, Live: 2, Banner: true}, `
1 * Hx24
2 * 1x24
1 * 2x24`},
		{"sliver, nothing live", Args{Size: Size{24, 4}, Accounts: 6}, `
1 * Hx24
3 * 1x24`},
		{"sliver, few accounts leave room for the live", Args{Size: Size{200, 7}, Accounts: 2, Live: 9}, `
1 * Hx200
2 * 1x200
4 * 2x200`},
		{"sliver of three lines", Args{Size: Size{24, 3}, Accounts: 6, Live: 2}, `
1 * Hx24
1 * 1x24
1 * 2x24`},
		{"sliver of two lines", Args{Size: Size{24, 2}, Accounts: 6, Live: 2}, `
1 * Hx24
1 * 1x24`},
		{"a line is enough", Args{Size: Size{24, 1}, Accounts: 6, Live: 2}, `
1 * Hx24`},
		{"sliver, a request opened", Args{Size: Size{24, 4}, Accounts: 6, Live: 2, Detail: 20}, `
1 * Hx24
1 * Dx24
2 * dx24`},
		{"sliver, the log in focus", Args{Size: Size{24, 4}, Accounts: 6, Live: 2, Focus: Log}, `
1 * Hx24
1 * Lx24
2 * 5x24`},
		{"focus on what is not shown", Args{Size: Size{40, 12}, Accounts: 1, Focus: Groups, Zoom: true, Without: Of(Groups)}, `
1 * Hx40
1 * 1x40
1 * Rx40
9 * 2x40`},
		{"a zoom of nothing opened", Args{Size: Size{40, 12}, Accounts: 1, Focus: Detail, Zoom: true}, `
1 * Hx40
1 * 1x40
1 * Rx40
9 * 2x40`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := times(narrow(board(Arrange(c.args), c.args.Size)))
			if want := strings.TrimPrefix(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestNoSizeIsTooSmallAndNoCellIsLost(t *testing.T) {
	all := []Args{
		{},
		{Accounts: 6, Live: 2},
		{Accounts: 40, Live: 9, Banner: true},
		{Accounts: 6, Detail: 30, Focus: Detail},
		{Accounts: 6, Focus: Log, Zoom: true},
		{Accounts: 3, Focus: Groups, Detail: 4},
		{Accounts: 3, Focus: Conversations},
		{Accounts: 1, WideAt: Size{1, 1}},
		{Accounts: -4, Live: -1, Detail: -2},
	}
	for w := -1; w <= 200; w++ {
		for h := -1; h <= 60; h++ {
			a := all[(7*w+3*h+10)%len(all)] // each meets many sizes, and each size one
			a.Size = Size{w, h}
			s := Arrange(a)
			got := board(s, a.Size)
			if strings.ContainsAny(got, ".#") {
				t.Fatalf("%+v:\n%s", a, got)
			}
			if h >= 1 && w >= 1 && s.Header.Empty() {
				t.Fatalf("%+v has no header", a)
			}
		}
	}
}

// Shrinking and growing again must lead back: nothing may depend on what was before.
func TestArrangeRemembersNothing(t *testing.T) {
	a := Args{Size: Size{120, 40}, Accounts: 6, Detail: 9}
	first := Arrange(a)
	b := a
	b.Size = Size{20, 3}
	Arrange(b)
	if Arrange(a) != first {
		t.Error("the second time it differs")
	}
}

func TestAPaneIsFoundByItsCell(t *testing.T) {
	s := Arrange(Args{Size: Size{120, 40}, Accounts: 6, Detail: 9})
	for _, c := range []struct {
		x, y int
		want Pane
	}{{0, 1, Accounts}, {40, 13, Accounts}, {0, 14, Conversations}, {41, 5, NoPane}, {42, 1, Requests}, {119, 38, Detail}, {0, 0, NoPane}, {5, 39, NoPane}, {-1, -1, NoPane}} {
		if got := s.At(c.x, c.y); got != c.want {
			t.Errorf("at %d,%d is %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

func TestSizesAreRead(t *testing.T) {
	if s, err := ParseSize("110x28"); err != nil || s != (Size{110, 28}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, s := range []string{"", "110", "x", "110x", "x28", "110x28x3", "-1x5", "0x5", "110 x 28", "ax b", "1e2x5"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("%q is read as %v", s, got)
		} else if !strings.Contains(err.Error(), "write it like 110x28") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestLayoutsHaveNames(t *testing.T) {
	for k, want := range map[Kind]string{Wide: "wide", Stacked: "stacked", Tiny: "tiny", Sliver: "sliver"} {
		if k.String() != want {
			t.Errorf("%d is %s", k, k)
		}
	}
}
