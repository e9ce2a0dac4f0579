package theme

import "github.com/muesli/termenv"

// Variant says which background a theme is made for.
type Variant uint8

// The variants.
const (
	Dark Variant = iota
	Light
	Any // no colours of its own, good on both
)

// variants are the names in a theme file, by Variant.
var variants = [...]string{Dark: "dark", Light: "light", Any: "any"}

// String is the variant's name in a theme file.
func (v Variant) String() string { return variants[v] }

// standard is the theme that fills in what one of this variant leaves out.
func (v Variant) standard() string {
	switch v {
	case Dark:
		return "magpie-dark"
	case Light:
		return "magpie-light"
	case Any:
		return ""
	}
	return ""
}

// Theme is one theme, checked, with a look for every role.
type Theme struct {
	ID      string // its file's name without .toml
	Name    string // for people
	Variant Variant
	Pair    string // id of its other half, "" for none
	PaintBG bool   // draw the background too
	Looks   [Count]Look
}

// Attr is a set of attributes that a look adds to its colour.
type Attr uint8

// The attributes.
const (
	AttrBold Attr = 1 << iota
	AttrFaint
	AttrItalic
	AttrUnderline
	AttrReverse
)

// attrs are the names in a theme file.
var attrs = map[string]Attr{
	"bold": AttrBold, "faint": AttrFaint, "italic": AttrItalic, "underline": AttrUnderline, "reverse": AttrReverse,
}

// Look is one colour at three depths, and attributes. An empty code is the terminal's own colour.
type Look struct {
	Hex     string // "#rrggbb"
	ANSI256 string // "0" to "255"
	ANSI    string // "0" to "15"
	Attr    Attr
}

// code is the colour at a depth.
func (l Look) code(depth termenv.Profile) string {
	switch depth {
	case termenv.TrueColor:
		return l.Hex
	case termenv.ANSI256:
		return l.ANSI256
	case termenv.ANSI:
		return l.ANSI
	case termenv.Ascii:
		return ""
	}
	return ""
}
