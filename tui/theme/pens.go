package theme

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Pens are a theme's escape sequences at one colour depth, taken from Lip Gloss
// once and then only copied. The zero value draws without any.
type Pens struct {
	plain    [Count]pen
	selected [Count]pen
	marked   bool
}

type pen struct {
	before, after string
	paints        bool // shows on a blank cell
}

// NewPens makes the pens of a theme for a terminal of the given depth. With noColor only
// attributes remain (bold, faint, reverse, underline); pass the mono theme then, whose
// looks are made for that. A terminal without attributes (termenv.Ascii) gets none at all.
func NewPens(t *Theme, depth termenv.Profile, noColor bool) *Pens {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(depth)
	r.SetHasDarkBackground(t.Variant != Light)
	p := &Pens{marked: depth != termenv.Ascii}
	for role := range Count {
		k := Role(role)
		p.plain[role] = t.pen(r, noColor, t.worn(k))
		p.selected[role] = t.pen(r, noColor, t.wornSelected(k, depth))
	}
	return p
}

// Pen gives what to write before and after text in a role, on the selected row or off it.
func (p *Pens) Pen(r Role, selected bool) (before, after string) {
	q := p.at(r, selected)
	return q.before, q.after
}

// Paints reports whether the pen shows on blank cells too.
func (p *Pens) Paints(r Role, selected bool) bool { return p.at(r, selected).paints }

// Marked reports whether the selected row looks different at all. Where it does not, a
// mark in its first column has to say it.
func (p *Pens) Marked() bool { return p.marked }

func (p *Pens) at(r Role, selected bool) *pen {
	if int(r) >= Count {
		r = None
	}
	if selected {
		return &p.selected[r]
	}
	return &p.plain[r]
}

// outfit is a foreground look over a background look.
type outfit struct {
	fg, bg Look
	attr   Attr
}

// worn is what a role wears off the selected row.
func (t *Theme) worn(r Role) outfit {
	o := outfit{fg: t.Looks[r], attr: t.Looks[r].Attr}
	if r == None {
		o = outfit{fg: Look{}}
	}
	if (r == FG || r == None) && t.PaintBG {
		o.fg = t.Looks[FG]
	} else if r == FG {
		o.fg = Look{} // the person's own text colour reads on any background
	}
	if t.PaintBG {
		o.bg = t.Looks[BG]
	}
	return o
}

// wornSelected is what a role wears on the selected row: states keep their colour,
// all other text takes the row's, and so does a state that the row would swallow.
func (t *Theme) wornSelected(r Role, depth termenv.Profile) outfit {
	row, text := t.Looks[SelectBG], t.Looks[SelectFG]
	o := outfit{fg: text, bg: row, attr: row.Attr | text.Attr}
	if !r.keepsColour() {
		return o
	}
	own := t.Looks[r]
	o.attr |= own.Attr &^ AttrFaint
	if own.readableOn(row, r.Describe().Duty, depth) {
		o.fg = own
	}
	return o
}

// readableOn reports whether a look can be read on the selected row's. The sixteen colours are the
// terminal's own, so there only the same one is known to vanish.
func (l Look) readableOn(row Look, d Duty, depth termenv.Profile) bool {
	fg, bg := l.code(depth), row.code(depth)
	switch {
	case fg == "" || fg == bg:
		return false
	case depth == termenv.ANSI || l.Hex == "" || row.Hex == "":
		return true
	case d == DutyText:
		return Contrast(l.Hex, row.Hex) >= contrastText
	}
	return Contrast(l.Hex, row.Hex) >= contrastFaint
}

func (r Role) keepsColour() bool { return r >= Fine && r <= Pace }

func (t *Theme) pen(r *lipgloss.Renderer, noColor bool, o outfit) pen {
	s := r.NewStyle().
		Bold(o.attr&AttrBold != 0).
		Faint(o.attr&AttrFaint != 0).
		Italic(o.attr&AttrItalic != 0).
		Underline(o.attr&AttrUnderline != 0).
		Reverse(o.attr&AttrReverse != 0)
	depth := r.ColorProfile()
	if fg := o.fg.code(depth); fg != "" && !noColor {
		s = s.Foreground(lipgloss.Color(fg))
	}
	bg := o.bg.code(depth)
	if bg != "" && !noColor {
		s = s.Background(lipgloss.Color(bg))
	}
	const probe = "x" // no sequence of attributes holds one
	before, after, _ := strings.Cut(s.Render(probe), probe)
	return pen{
		before: before, after: after,
		paints: before != "" && (bg != "" && !noColor || o.attr&(AttrReverse|AttrUnderline) != 0),
	}
}
