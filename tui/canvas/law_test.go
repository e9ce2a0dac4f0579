package canvas

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"dev.magpie/tui/theme"
)

// hostile are names that came from outside and would do harm on a bare terminal.
var hostile = []string{
	"智谱·GLM 编码 🚀", "e\u0301", "👩‍👩‍👧", "👍🏽", "🇩🇪🇫🇷", "❤️", "क्षि", "한국어", "가", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\x1b]52;c;c2VjcmV0\x07", "\x1b[2J\x1b[1;1H", "\u009b31m", "safe\u202egnp.exe", "a\r\nb\tc", "\xff\xfe\x80", "\x00",
	"z" + strings.Repeat("\u0301", 300), "\u200d\u200d", "\U0001f1e9", "…·±×→", "Привет", "שלום", "｡ﾊﾝｶｸ",
}

// sequence matches what a frame may hold besides text: pens, and what keeps the columns.
var sequences = regexp.MustCompile(`\x1b\[(?:[0-9;]*m|\d+[XG])`)

// lines checks a frame: as many lines as it is high, each of its width, and nothing in it but text, pens and what
// keeps the columns.
func lines(t interface{ Fatalf(string, ...any) }, frame string, w, h int, set GlyphSet) {
	if h == 0 && frame == "" {
		return
	}
	rows := strings.Split(frame, "\n")
	if len(rows) != h {
		t.Fatalf("%d lines, want %d", len(rows), h)
	}
	for _, row := range rows {
		n := 0
		for _, piece := range sequences.Split(row, -1) {
			if strings.ContainsFunc(piece, func(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }) {
				t.Fatalf("a control got through: %q", row)
			}
			n += set.Width(piece)
		}
		if n != w {
			t.Fatalf("%d cells, want %d: %q", n, w, row)
		}
		if !set.Wide && ansi.StringWidth(row) != w {
			t.Fatalf("the renderer counts %d cells, want %d: %q", ansi.StringWidth(row), w, row)
		}
	}
}

func TestEveryFrameHasItsSizeWhateverIsWritten(t *testing.T) {
	p := pens(t)
	rapid.Check(t, func(t *rapid.T) {
		set := Unicode()
		set.Wide = rapid.Bool().Draw(t, "wide")
		if set.Wide {
			set = Glyphs("auto", func(k string) string { return map[string]string{"RUNEWIDTH_EASTASIAN": "1"}[k] })
		}
		w, h := rapid.IntRange(0, 30).Draw(t, "w"), rapid.IntRange(0, 6).Draw(t, "h")
		c := New(w, h, set)
		text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String())
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			x, y := rapid.IntRange(-4, 34).Draw(t, "x"), rapid.IntRange(-2, 7).Draw(t, "y")
			n, m := rapid.IntRange(-2, 34).Draw(t, "n"), rapid.IntRange(-2, 7).Draw(t, "m")
			r := Rect{X: x, Y: y, W: n, H: m}
			pen := theme.Role(rapid.IntRange(0, theme.Count+1).Draw(t, "pen"))
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				c.Text(x, y, n, text.Draw(t, "text"), pen)
			case 3:
				c.TextRight(x, y, n, text.Draw(t, "text"), pen)
			case 4:
				c.Cut(x, y, n, text.Draw(t, "text"), pen)
			case 5:
				c.Fill(r, pen)
			case 6:
				c.Overlay(r).Text(0, 0, n, text.Draw(t, "text"), pen)
			case 7:
				c.Sub(r).Text(-1, 0, n, text.Draw(t, "text"), pen)
			case 8:
				c.Select(r)
				c.Style(r, pen)
			case 9:
				c.Frame(r, pen)
				c.Bar(x, y, n, Gauge{Used: 50, Pace: 20, HasPace: true})
			}
		}
		lines(t, c.Render(p), w, h, set)
		if rows := strings.Count(c.Plain(), "\n"); rows != h {
			t.Fatalf("plain has %d lines, want %d", rows, h)
		}
	})
}

func TestTextNeverTakesMoreThanItsRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()).Draw(t, "s")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		c := New(20, 1, Unicode())
		c.Text(0, 0, 20, strings.Repeat("#", 20), theme.FG)
		used := c.Text(4, 0, n, s, theme.FG)
		if used > n || used > c.Width(s) {
			t.Fatalf("used %d of %d for a width of %d", used, n, c.Width(s))
		}
		row := plain(c)
		if !strings.HasPrefix(row, "####") || !strings.HasSuffix(row, strings.Repeat("#", 16-n)) {
			t.Fatalf("its neighbours changed: %q", row)
		}
		if c.Width(s) <= n && used != c.Width(s) {
			t.Fatalf("it fits but took %d of %d", used, c.Width(s))
		}
	})
}

func TestCutAndWrapKeepToTheirWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()).Draw(t, "s")
		n := rapid.IntRange(2, 12).Draw(t, "n")
		set := Unicode()
		for _, got := range append(set.Wrap(s, n), set.Cut(s, n), set.CutMiddle(s, n)) {
			if w := set.Width(got); w > n {
				t.Fatalf("%q takes %d cells, not %d", got, w, n)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, 5)
	}
	p := pens(f)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = min(max(n, -1), 40)
		for _, set := range []GlyphSet{Unicode(), Glyphs("ascii", func(string) string { return "1" })} {
			c := New(24, 2, set)
			if used := c.Text(1, 0, n, s, theme.FG); used > max(n, 0) || used > 23 {
				t.Errorf("used %d of %d", used, n)
			}
			c.Text(20, 1, n, s, theme.Low)
			lines(t, c.Render(p), 24, 2, set)
		}
	})
}

// A terminal that adds up the characters of a grapheme must not push the columns after it.
func TestColumnsStandBehindAGraphemeOfDisputedWidth(t *testing.T) {
	p := pens(t)
	for _, c := range []struct{ name, text, want string }{
		{"a family", "👩‍👩‍👧", "\x1b[2X👩‍👩‍👧\x1b[3G|   "},
		{"a skin", "👍🏽", "\x1b[2X👍🏽\x1b[3G|   "},
		{"a heart made an emoji", "❤️", "\x1b[2X❤️\x1b[3G|   "},
		{"a wide letter", "智", "智|   "},
		{"a letter with a mark", "e\u0301", "e\u0301|    "},
		{"a flag", "🇩🇪", "🇩🇪|   "},
	} {
		cv := New(6, 1, Unicode())
		n := cv.Text(0, 0, 6, c.text, theme.None)
		cv.Text(n, 0, 1, "|", theme.None)
		if got := cv.Render(p); got != c.want && c.name != "a flag" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	cv := New(4, 1, Unicode())
	cv.Text(2, 0, 2, "👩‍👩‍👧", theme.None)
	if got := cv.Render(p); got != "  \x1b[2X👩" {
		t.Errorf("at the edge it would wrap: %q", got)
	}
	cv.Clear()
	cv.Text(2, 0, 2, "❤️", theme.None)
	if got := cv.Render(p); got != "  \x1b[2X❤ " {
		t.Errorf("at the edge it leaves a cell: %q", got)
	}
}

// Two names side by side are two names, also where their characters would make one.
func TestNeighboursDoNotJoin(t *testing.T) {
	p := pens(t)
	for _, c := range []struct{ name, left, right, want string }{
		{"two halves of a flag", "\U0001f1e9", "\U0001f1ea", "\x1b[3G"},
		{"a joiner and a girl", "👩\u200d", "👧", "\x1b[3G"},
		{"a letter and a vowel sign", "क", "\u0903", "\x1b[2G"},
		{"a blank and a skin", " ", "\U0001f3fd", "\x1b[2G"},
		{"half a syllable", "ᄀ", "ᅡ", "\x1b[3G"},
		{"two that do not", "智", "谱", ""},
	} {
		cv := New(9, 1, Unicode())
		n := cv.Text(0, 0, 4, c.left, theme.None)
		if cv.Text(n, 0, 4, c.right, theme.None) == 0 {
			continue // a terminal without a width for it shows nothing either
		}
		got := cv.Render(p)
		lines(t, got, 9, 1, Unicode())
		if (c.want == "") != !strings.Contains(got, "G") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", c.name, got, c.want)
		}
	}
	cv := New(3, 1, Unicode())
	cv.Text(1, 0, 2, "\U0001f3fd", theme.None)
	if got := cv.Render(p); !strings.HasSuffix(got, "? ") {
		t.Errorf("at the edge: %q", got)
	}
}

func TestDrawingAgainGivesTheSameFrame(t *testing.T) {
	p := pens(t)
	c := New(60, 20, Unicode())
	first := scene(c).Render(p)
	c.Resize(200, 60)
	scene(c).Render(p)
	c.Resize(10, 3)
	scene(c).Render(p)
	c.Resize(0, -4)
	if got := scene(c).Render(p); got != "" {
		t.Errorf("no cells give %q", got)
	}
	c.Resize(60, 20)
	if scene(c).Render(p) != first {
		t.Error("after other sizes the frame differs")
	}
}

func TestClearLetsGoOfTheLastFrame(t *testing.T) {
	c := New(8, 1, Unicode())
	for range 3 {
		c.Clear()
		c.Text(0, 0, 4, "e\u0301", theme.FG)
		if n := len(c.g.long); n != 1 || plain(c) != "e\u0301" {
			t.Errorf("%d graphemes kept, %q drawn", n, plain(c))
		}
	}
}
