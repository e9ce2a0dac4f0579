package canvas

import (
	"reflect"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// fields lists a set's glyphs by name; borders tells those that the full set draws ambiguous.
func fields(g GlyphSet) map[string]string {
	all := map[string]string{}
	v := reflect.ValueOf(g)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Type.Kind() == reflect.String && f.Name != "Name" {
			all[f.Name] = v.Field(i).String()
		}
	}
	return all
}

var ambiguous = map[string]bool{
	"Caret": true, "HRule": true, "VRule": true, "TopLeft": true, "TopRight": true, "BottomLeft": true, "BottomRight": true,
}

func TestEveryGlyphIsOneCellInEverySet(t *testing.T) {
	wide := Glyphs("auto", func(k string) string { return map[string]string{"RUNEWIDTH_EASTASIAN": "1"}[k] })
	for name, set := range map[string]GlyphSet{"unicode": Unicode(), "ascii": ASCII(), "wide": wide} {
		for glyph, s := range fields(set) {
			if utf8.RuneCountInString(s) != 1 || set.Width(s) != 1 {
				t.Errorf("%s.%s is %q, %d cells", name, glyph, s, set.Width(s))
			}
		}
	}
}

func TestGlyphsAreNeutralInWidthAndNoEmoji(t *testing.T) {
	for glyph, s := range fields(Unicode()) {
		r, _ := utf8.DecodeRuneInString(s)
		if k := width.LookupRune(r).Kind(); k != width.Neutral && k != width.EastAsianNarrow && !ambiguous[glyph] {
			t.Errorf("%s %q is %v", glyph, s, k)
		}
		if r > 0xffff || emoji(r) {
			t.Errorf("%s %q has an emoji form", glyph, s)
		}
	}
	for glyph, s := range fields(ASCII()) {
		if s[0] < 0x20 || s[0] > unicode.MaxASCII {
			t.Errorf("%s is %q in ascii", glyph, s)
		}
	}
}

// emoji tells the symbols near ours that terminals may draw as pictures.
func emoji(r rune) bool {
	switch r {
	case 0x25aa, 0x25ab, 0x25b6, 0x25c0, 0x2714, 0x2716, 0x21a9, 0x21aa, 0x21bb + 0x10000, 0x2690 + 0x10000, 0x26aa, 0x26ab, 0x26d4:
		return true
	}
	return r >= 0x25fb && r <= 0x25fe || r >= 0x23e9 && r <= 0x23f3 || r >= 0x2600 && r <= 0x2604
}

func TestStatesOfOneListHaveGlyphsOfTheirOwn(t *testing.T) {
	for name, g := range map[string]GlyphSet{"unicode": Unicode(), "ascii": ASCII()} {
		for list, glyphs := range map[string][]string{
			"accounts": {g.Fine, g.Low, g.Spent, g.Resting, g.Paused, g.Held, g.Pinned, g.Unready, g.Off},
			"requests": {g.Live, g.Answered, g.Rerouted, g.Failed, g.Refused, g.Left},
			"bars":     {g.BarUsed, g.BarLeft, g.Pace, g.Ahead},
		} {
			seen := map[string]bool{}
			for _, s := range glyphs {
				if seen[s] {
					t.Errorf("%s: two %s are %q", name, list, s)
				}
				seen[s] = true
			}
		}
	}
}

func TestTheSetIsChosenBySettingAndEnvironment(t *testing.T) {
	for _, c := range []struct {
		name, setting string
		env           map[string]string
		set           string
		wide          bool
		rule          string
	}{
		{"nothing said", "auto", nil, "unicode", false, "─"},
		{"a modern terminal", "auto", map[string]string{"TERM": "xterm-256color", "LANG": "de_DE.UTF-8"}, "unicode", false, "─"},
		{"utf8 without a dash", "auto", map[string]string{"LANG": "ja_JP.utf8"}, "unicode", false, "─"},
		{"with a modifier", "auto", map[string]string{"LANG": "ca_ES.UTF-8@valencia"}, "unicode", false, "─"},
		{"no charset", "auto", map[string]string{"LANG": "zh_CN"}, "unicode", false, "─"},
		{"LANG=C", "auto", map[string]string{"LANG": "C"}, "ascii", false, "-"},
		{"POSIX by LC_ALL", "auto", map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, "ascii", false, "-"},
		{"LC_CTYPE beats LANG", "auto", map[string]string{"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, "unicode", false, "─"},
		{"C with UTF-8", "auto", map[string]string{"LANG": "C.UTF-8"}, "unicode", false, "─"},
		{"latin letters", "auto", map[string]string{"LANG": "de_DE.ISO-8859-1"}, "ascii", false, "-"},
		{"a dumb terminal", "auto", map[string]string{"TERM": "dumb"}, "ascii", false, "-"},
		{"the console", "", map[string]string{"TERM": "linux", "LANG": "en_US.UTF-8"}, "ascii", false, "-"},
		{"the setting beats the environment", "unicode", map[string]string{"LANG": "C"}, "unicode", false, "─"},
		{"ascii by setting", "ascii", nil, "ascii", false, "-"},
		{"wide characters keep the marks, not the borders", "auto", map[string]string{"RUNEWIDTH_EASTASIAN": "1"}, "unicode", true, "-"},
		{"wide by setting unicode", "unicode", map[string]string{"RUNEWIDTH_EASTASIAN": "1"}, "unicode", true, "-"},
		{"wide and ascii", "ascii", map[string]string{"RUNEWIDTH_EASTASIAN": "1"}, "ascii", true, "-"},
		{"not wide", "auto", map[string]string{"RUNEWIDTH_EASTASIAN": "0"}, "unicode", false, "─"},
	} {
		g := Glyphs(c.setting, func(k string) string { return c.env[k] })
		if g.Name != c.set || g.Wide != c.wide || g.HRule != c.rule {
			t.Errorf("%s: %s, wide %v, rule %s", c.name, g.Name, g.Wide, g.HRule)
		}
	}
}

// On a terminal that gives ambiguous characters two cells, names with them must not push the columns.
func TestAmbiguousCharactersTakeTwoCellsWhereTheTerminalSaysSo(t *testing.T) {
	g := Unicode()
	if n := g.Width("é→"); n != 2 {
		t.Errorf("narrow: %d", n)
	}
	g.Wide = true
	if n := g.Width("é→"); n != 4 {
		t.Errorf("wide: %d", n)
	}
	if n := Width("é→"); n != 2 {
		t.Errorf("without a set: %d", n)
	}
}
