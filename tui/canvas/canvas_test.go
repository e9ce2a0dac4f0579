package canvas

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"dev.magpie/tui/theme"
)

func pens(t testing.TB) *theme.Pens {
	t.Helper()
	th, err := theme.Load("magpie-dark", nil)
	if err != nil {
		t.Fatal(err)
	}
	return theme.NewPens(th, termenv.TrueColor, false)
}

// plain is what the canvas shows, without the line end after a single line.
func plain(c *Canvas) string { return strings.TrimSuffix(c.Plain(), "\n") }

func TestTextIsCutBetweenGraphemes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		max        int
		want       string
		used       int
	}{
		{"it fits", "home-pro", 10, "home-pro", 8},
		{"it is cut", "home-pro", 4, "home", 4},
		{"a wide one fits", "智谱", 4, "智谱", 4},
		{"a wide one is left out whole", "智谱", 3, "智", 2},
		{"nothing but a wide one", "智", 1, "", 0},
		{"a mark stays with its letter", "e\u0301e\u0301e", 2, "e\u0301e\u0301", 2},
		{"a family is one", "👩‍👩‍👧x", 3, "👩‍👩‍👧x", 3},
		{"a flag is one", "🇩🇪x", 2, "🇩🇪", 2},
		{"no room", "x", 0, "", 0},
		{"less than none", "x", -3, "", 0},
		{"hostile", "\x1b]52;c;x\x07a\u202eb", 9, "ab", 2},
		{"a key cap is its digit", "1\ufe0f\u20e3x", 9, "1x", 2},
		{"a mark on nothing", "\u0301x", 9, "x", 1},
	} {
		cv := New(12, 1, Unicode())
		if used := cv.Text(0, 0, c.max, c.text, theme.FG); used != c.used {
			t.Errorf("%s: used %d, want %d", c.name, used, c.used)
		}
		if got := plain(cv); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAWideCharacterThatDoesNotFitLeavesBlanks(t *testing.T) {
	c := New(6, 1, Unicode())
	c.Text(0, 0, 6, "abcdef", theme.FG)
	c.Text(0, 0, 3, "智谱", theme.FG)
	if got := plain(c); got != "智 def" {
		t.Errorf("%q", got)
	}
}

func TestWritingOverHalfAWideCharacterBlanksTheOther(t *testing.T) {
	for x, want := range []string{"x 谱", " x谱", "智x", "智 x"} {
		c := New(4, 1, Unicode())
		c.Text(0, 0, 4, "智谱", theme.FG)
		c.Text(x, 0, 1, "x", theme.FG)
		if got := plain(c); got != want {
			t.Errorf("x at %d: %q, want %q", x, got, want)
		}
	}
	c := New(6, 1, Unicode())
	c.Text(0, 0, 6, "智谱编", theme.FG)
	c.Overlay(Rect{X: 1, W: 2, H: 1})
	if got := plain(c); got != "    编" {
		t.Errorf("under an overlay: %q", got)
	}
	c.Text(1, 0, 2, "言", theme.FG)
	if got := plain(c); got != " 言 编" {
		t.Errorf("a wide one over blanks: %q", got)
	}
}

func TestNothingIsDrawnOutsideAView(t *testing.T) {
	c := New(10, 4, Unicode())
	for y := range 4 {
		c.Text(0, y, 10, "..........", theme.FG)
	}
	v := c.Sub(Rect{X: 3, Y: 1, W: 4, H: 2})
	v.Text(-2, 0, 20, "abcdefghij", theme.FG)
	v.Text(3, 1, 20, "智", theme.FG)
	v.Text(-1, 1, 20, "谱", theme.FG)
	v.Text(0, -1, 20, "no", theme.FG)
	v.Text(0, 2, 20, "no", theme.FG)
	v.Text(9, 0, 20, "no", theme.FG)
	v.Fill(Rect{X: 1, Y: 1, W: 50, H: 50}, theme.FG)
	v.HLine(-5, 5, 100, theme.FG)
	v.VLine(-1, -5, 100, theme.FG)
	want := "..........\n...cdef...\n...    ...\n..........\n"
	if got := c.Plain(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if w, h := v.Size(); w != 4 || h != 2 {
		t.Errorf("size %d x %d", w, h)
	}
}

func TestAViewOfAViewIsInBoth(t *testing.T) {
	c := New(10, 10, Unicode())
	v := c.Sub(Rect{X: 2, Y: 2, W: 4, H: 4}).Sub(Rect{X: 2, Y: 2, W: 9, H: 9})
	if v.W() != 2 || v.H() != 2 {
		t.Errorf("%d x %d", v.W(), v.H())
	}
	v = c.Sub(Rect{X: 20, Y: 20, W: 4, H: 4})
	v.Text(0, 0, 4, "x", theme.FG)
	v.Fill(Rect{W: 4, H: 4}, theme.FG)
	v.Clear()
	if v.W() != 0 || v.H() != 0 || strings.TrimSpace(c.Plain()) != "" {
		t.Error("a view outside draws")
	}
	if v = c.Sub(Rect{X: 1, Y: 1, W: -4, H: 4}); v.W() != 0 {
		t.Error("a view of less than nothing has cells")
	}
}

func TestTextStandsAtTheRight(t *testing.T) {
	c := New(8, 1, Unicode())
	if used := c.TextRight(1, 0, 6, "52%", theme.FG); used != 3 || plain(c) != "    52%" {
		t.Errorf("%d, %q", used, plain(c))
	}
	c.Clear()
	if c.TextRight(1, 0, 4, "too long", theme.FG); plain(c) != " too" {
		t.Errorf("%q", plain(c))
	}
}

func TestSpansFollowOneAnother(t *testing.T) {
	c := New(12, 1, Unicode())
	used := c.Spans(1, 0, 9, Span{"key", theme.Key}, Span{" ", theme.None}, Span{"meaning", theme.Muted}, Span{"lost", theme.FG})
	if used != 9 || plain(c) != " key meani" || c.PenRuns() != "none 1, key 4, muted 7\n" {
		t.Errorf("%d, %q, %q", used, plain(c), c.PenRuns())
	}
}

func TestLinesAndFrames(t *testing.T) {
	for set, want := range map[string]string{
		"unicode": "╭──╮\n│  │\n╰──╯\n",
		"ascii":   "+--+\n|  |\n+--+\n",
	} {
		c := New(4, 3, Glyphs(set, func(string) string { return "" }))
		c.Frame(Rect{W: 4, H: 3}, theme.Rule)
		if got := c.Plain(); got != want {
			t.Errorf("%s:\n%s", set, got)
		}
		c.Clear()
		c.Frame(Rect{W: 1, H: 9}, theme.Rule)
		if strings.TrimSpace(c.Plain()) != "" {
			t.Error("a frame without an inside draws")
		}
	}
}

func TestCutAndWrap(t *testing.T) {
	u := Unicode()
	for _, c := range []struct {
		name, got, want string
	}{
		{"short enough", u.Cut("home-pro", 8), "home-pro"},
		{"cut at the end", u.Cut("home-professional", 8), "home-pr⋯"},
		{"cut before a wide one", u.Cut("智谱编码", 6), "智谱⋯"},
		{"only the mark", u.Cut("home", 1), "⋯"},
		{"nothing", u.Cut("home", 0), ""},
		{"less than nothing", u.Cut("home", -1), ""},
		{"cut in the middle", u.CutMiddle("claude-sonnet-5-5", 9), "clau⋯-5-5"},
		{"too narrow for a middle", u.CutMiddle("claude", 2), "c⋯"},
		{"a repeated letter", u.Cut("aaaaaa", 3), "aa⋯"},
		{"wrapped", strings.Join(u.Wrap("answered this conversation 3m ago", 16), "|"), "answered this|conversation 3m|ago"},
		{"a word longer than a line", strings.Join(u.Wrap("a https://example.com/x y", 8), "|"), "a|https://|example.|com/x y"},
		{"wide words", strings.Join(u.Wrap("智谱编码 GLM", 5), "|"), "智谱|编码|GLM"},
		{"a character wider than the line", strings.Join(u.Wrap("智谱 x", 1), "|"), "智谱|x"},
		{"no text", strings.Join(u.Wrap("", 9), "|"), ""},
		{"hostile", strings.Join(u.Wrap("a\nb\x1b[2Jc", 9), "|"), "a bc"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	if got := u.Wrap("x", 0); got != nil {
		t.Errorf("no width gives %q", got)
	}
}

func TestRenderGivesLinesOfExactWidth(t *testing.T) {
	c := New(10, 3, Unicode())
	c.Text(0, 0, 10, "ok 智谱", theme.Fine)
	c.Select(Rect{Y: 1, W: 10, H: 1})
	c.Text(1, 1, 9, "row", theme.FG)
	got := c.Render(pens(t))
	want := "\x1b[38;2;95;208;160mok 智谱   \x1b[0m\n" +
		"\x1b[38;2;242;245;248;48;2;29;39;51m row      \x1b[0m\n" +
		"          "
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
