package canvas

import "strings"

// GlyphSet is every mark that the screen draws. Two sets exist; a third, for terminals
// that give ambiguous characters two cells, takes its borders from the plain one.
type GlyphSet struct {
	Name string // unicode or ascii
	Wide bool   // the terminal gives East Asian ambiguous characters two cells

	// How an account stands.
	Fine, Low, Spent, Resting, Paused, Held, Pinned, Unready, Off string

	// How a request stands.
	Live, Answered, Rerouted, Failed, Refused, Left string

	// Bars.
	BarUsed, BarLeft, Pace, Ahead string

	// Everything else.
	Cursor   string // the selected row
	Focus    string // the title of the pane that has the keys
	Arrow    string // to
	Sep      string // between parts of a line
	Ellipsis string

	// Borders, and the caret where typed text goes: ambiguous in width in the full set.
	Caret                                      string
	HRule, VRule                               string
	TopLeft, TopRight, BottomLeft, BottomRight string
}

// Unicode is the full set. All of it but the borders is neutral in East Asian width and no emoji.
func Unicode() GlyphSet {
	return GlyphSet{
		Name: "unicode",
		Fine: "✓", Low: "!", Spent: "∅", Resting: "↻", Paused: "⊖", Held: "⊘", Pinned: "⚑", Unready: "?", Off: "-",
		Live: "▸", Answered: "✓", Rerouted: "↻", Failed: "✗", Refused: "⊘", Left: "∙",
		BarUsed: "▰", BarLeft: "▱", Pace: "╎", Ahead: "▴",
		Cursor: "›", Focus: "▸", Arrow: "»", Sep: "∙", Ellipsis: "⋯", Caret: "▏",
		HRule: "─", VRule: "│", TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	}
}

// ASCII is the plain set.
func ASCII() GlyphSet {
	return GlyphSet{
		Name: "ascii",
		Fine: "+", Low: "!", Spent: "0", Resting: "z", Paused: "p", Held: "h", Pinned: "*", Unready: "?", Off: "-",
		Live: ">", Answered: "+", Rerouted: "~", Failed: "x", Refused: "h", Left: "-",
		BarUsed: "#", BarLeft: ".", Pace: "|", Ahead: "^",
		Cursor: "*", Focus: ">", Arrow: ">", Sep: "-", Ellipsis: "~", Caret: "_",
		HRule: "-", VRule: "|", TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	}
}

// Glyphs chooses a set. setting is auto, unicode or ascii; env reads an environment variable.
func Glyphs(setting string, env func(string) string) GlyphSet {
	wide := env("RUNEWIDTH_EASTASIAN") == "1"
	set := Unicode()
	switch {
	case setting == "ascii", setting != "unicode" && plainTerminal(env):
		set = ASCII()
	case wide:
		set = narrowBorders(set)
	}
	set.Wide = wide
	return set
}

// narrowBorders takes the borders that no terminal draws wide.
func narrowBorders(set GlyphSet) GlyphSet {
	plain := ASCII()
	set.Caret = plain.Caret
	set.HRule, set.VRule = plain.HRule, plain.VRule
	set.TopLeft, set.TopRight = plain.TopLeft, plain.TopRight
	set.BottomLeft, set.BottomRight = plain.BottomLeft, plain.BottomRight
	return set
}

// plainTerminal reports whether the environment says that only ASCII can be shown.
func plainTerminal(env func(string) string) bool {
	switch env("TERM") {
	case "dumb", "linux":
		return true
	}
	locale := env("LC_ALL")
	if locale == "" {
		locale = env("LC_CTYPE")
	}
	if locale == "" {
		locale = env("LANG")
	}
	if locale == "C" || locale == "POSIX" {
		return true
	}
	_, charset, named := strings.Cut(locale, ".")
	charset, _, _ = strings.Cut(charset, "@")
	charset = strings.ReplaceAll(strings.ToLower(charset), "-", "")
	return named && charset != "utf8"
}
