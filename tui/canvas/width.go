package canvas

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

// maxCluster bounds the bytes of one grapheme: letters buried under marks lose the rest.
const maxCluster = 64

// Width is the number of cells that a string takes once cleaned.
func Width(s string) int { return widthOf(s, displaywidth.Options{}) }

// Width is the number of cells that a string takes once cleaned, on a terminal with this set.
func (g GlyphSet) Width(s string) int { return widthOf(s, g.options()) }

func (g GlyphSet) options() displaywidth.Options {
	return displaywidth.Options{EastAsianWidth: g.Wide}
}

func widthOf(s string, o displaywidth.Options) int {
	w := 0
	for p := range clusters(Clean(s), o) {
		w += p.width
	}
	return w
}

// cluster is one grapheme.
type cluster struct {
	text  string
	width int
	// disputed marks a grapheme whose width terminals disagree about: those that know
	// graphemes give it the width above, those that add up its characters another.
	disputed bool
}

// clusters cuts a clean string into graphemes; those without a width are left out.
func clusters(s string, o displaywidth.Options) func(yield func(cluster) bool) {
	return func(yield func(cluster) bool) {
		for len(s) > 0 {
			if n := asciiRun(s); n > 0 {
				for i := range n {
					if !yield(cluster{text: s[i : i+1], width: 1}) {
						return
					}
				}
				s = s[n:]
				continue
			}
			p, n := first(s, o)
			if p.width > 0 && !yield(p) {
				return
			}
			s = s[n:]
		}
	}
}

// asciiRun counts the leading bytes that are graphemes of their own: one before a byte that is
// not ASCII may have a mark on it.
func asciiRun(s string) int {
	n := 0
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	if n > 0 && n < len(s) {
		n--
	}
	return n
}

// first is the first grapheme of s and its bytes in s.
func first(s string, o displaywidth.Options) (p cluster, n int) {
	g := o.StringGraphemes(s)
	if !g.Next() {
		return cluster{}, len(s)
	}
	text, width := g.Value(), g.Width()
	n = len(text)
	if len(text) > maxCluster {
		cut := maxCluster
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	if r, size := utf8.DecodeRuneInString(text); size < len(text) && ansi.StringWidth(text) != displaywidth.String(text) {
		// The renderer would count it otherwise and cut the line's end: the marks go.
		text, width = text[:size], o.Rune(r)
	}
	sum := 0
	for _, r := range text {
		sum += o.Rune(r)
	}
	return cluster{text: text, width: width, disputed: sum != width}, n
}

// Cut shortens a string to w cells and ends it with the ellipsis when something is missing.
func (g GlyphSet) Cut(s string, w int) string {
	s = Clean(s)
	if g.Width(s) <= w {
		return s
	}
	return g.head(s, w-g.Width(g.Ellipsis)) + g.tailMark(w)
}

// CutMiddle shortens a string to w cells by taking from its middle.
func (g GlyphSet) CutMiddle(s string, w int) string {
	s = Clean(s)
	if g.Width(s) <= w {
		return s
	}
	room := w - g.Width(g.Ellipsis)
	if room < 2 {
		return g.Cut(s, w)
	}
	return g.head(s, room-room/2) + g.Ellipsis + g.tail(s, room/2)
}

func (g GlyphSet) tailMark(w int) string {
	if w < g.Width(g.Ellipsis) {
		return ""
	}
	return g.Ellipsis
}

// head is as much of the start of a clean string as fits w cells.
func (g GlyphSet) head(s string, w int) string {
	used, n := 0, 0
	for p := range clusters(s, g.options()) {
		if used+p.width > w {
			break
		}
		used += p.width
		n = strings.Index(s[n:], p.text) + n + len(p.text)
	}
	return s[:n]
}

// tail is as much of the end of a clean string as fits w cells.
func (g GlyphSet) tail(s string, w int) string {
	all := make([]cluster, 0, len(s))
	for p := range clusters(s, g.options()) {
		all = append(all, p)
	}
	from := len(all)
	for used := 0; from > 0 && used+all[from-1].width <= w; from-- {
		used += all[from-1].width
	}
	var b strings.Builder
	for _, p := range all[from:] {
		b.WriteString(p.text)
	}
	return b.String()
}

// Wrap breaks a string into lines of at most w cells, at spaces where it can. It gives at
// least one line, and none for a width below one.
func (g GlyphSet) Wrap(s string, w int) []string {
	if w < 1 {
		return nil
	}
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(Clean(s)) {
		n := g.Width(word)
		if used > 0 && used+1+n <= w {
			line, used = line+" "+word, used+1+n
			continue
		}
		if used > 0 {
			lines = append(lines, line)
		}
		for n > w {
			part := g.head(word, w)
			if part == "" {
				break // one character wider than the line
			}
			lines = append(lines, part)
			word = word[len(part):]
			n = g.Width(word)
		}
		line, used = word, n
	}
	return append(lines, line)
}
