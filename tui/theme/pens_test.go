package theme

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

func pensOf(t *testing.T, id string, depth termenv.Profile, noColor bool) *Pens {
	t.Helper()
	th, err := Load(id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewPens(th, depth, noColor)
}

func TestPensFollowTheDepth(t *testing.T) {
	for depth, want := range map[termenv.Profile]string{
		termenv.TrueColor: "\x1b[38;2;95;208;160m",
		termenv.ANSI256:   "\x1b[38;5;79m",
		termenv.ANSI:      "\x1b[92m",
		termenv.Ascii:     "",
	} {
		before, after := pensOf(t, "magpie-dark", depth, false).Pen(Fine, false)
		if before != want || (after != "") != (want != "") {
			t.Errorf("at %s: %q … %q, want %q", depth.Name(), before, after, want)
		}
	}
}

// On a background that was guessed wrong, ordinary text must still be read.
func TestOrdinaryTextIsTheTerminalsOwn(t *testing.T) {
	for _, id := range IDs(nil) {
		p := pensOf(t, id, termenv.TrueColor, false)
		for _, r := range []Role{None, FG, Role(99)} {
			if before, after := p.Pen(r, false); before != "" || after != "" {
				t.Errorf("%s: %s is drawn with %q … %q", id, r, before, after)
			}
		}
	}
}

func TestAThemeMayPaintTheBackground(t *testing.T) {
	th, err := Load("magpie-dark", nil)
	if err != nil {
		t.Fatal(err)
	}
	th.PaintBG = true
	p := NewPens(th, termenv.TrueColor, false)
	for _, r := range append(Roles(), None) {
		before, _ := p.Pen(r, false)
		if !strings.Contains(before, "48;2;14;17;22") || !strings.Contains(before, "38;2;") || !p.Paints(r, false) {
			t.Errorf("%s is drawn with %q", r, before)
		}
	}
}

// colour matches a sequence that sets one.
var colour = regexp.MustCompile(`\x1b\[(\d+;)*(3\d|4\d|9\d|10\d)`)

func TestNoColorKeepsAttributesAlone(t *testing.T) {
	p := pensOf(t, "mono", termenv.ANSI, true)
	for _, r := range Roles() {
		for _, sel := range []bool{false, true} {
			if before, _ := p.Pen(r, sel); colour.MatchString(before) {
				t.Errorf("%s has a colour: %q", r, before)
			}
		}
	}
	for r, want := range map[Role]string{TitleFocus: "1m", Faint: "2m", Toast: "7m", Spent: "1;4"} {
		if before, _ := p.Pen(r, false); !strings.Contains(before, want) {
			t.Errorf("%s is drawn with %q, want %s in it", r, before, want)
		}
	}
	// A theme with colours loses them as well.
	p = pensOf(t, "magpie-dark", termenv.ANSI, true)
	if before, _ := p.Pen(Fine, true); colour.MatchString(before) {
		t.Errorf("fine has a colour: %q", before)
	}
}

func TestTheSelectedRowShowsInEveryThemeAndDepth(t *testing.T) {
	for _, id := range IDs(nil) {
		for _, depth := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256, termenv.ANSI} {
			p := pensOf(t, id, depth, id == "mono")
			if !p.Marked() {
				t.Errorf("%s at %s is not marked", id, depth.Name())
			}
			for _, r := range append(Roles(), None) {
				if !p.Paints(r, true) {
					t.Errorf("%s at %s: a selected blank in %s shows nothing", id, depth.Name(), r)
				}
			}
		}
	}
	if pensOf(t, "mono", termenv.Ascii, true).Marked() {
		t.Error("a terminal without attributes claims to mark the row")
	}
}

func TestStatesKeepTheirColourOnTheSelectedRowWhereItReads(t *testing.T) {
	for _, c := range []struct {
		id    string
		depth termenv.Profile
		role  Role
		kept  bool
	}{
		{"magpie-dark", termenv.TrueColor, Fine, true},
		{"magpie-dark", termenv.TrueColor, Muted, false},
		{"contrast", termenv.TrueColor, Held, false},   // 3.9 to 1 there
		{"magpie-dark", termenv.ANSI, BarEmpty, false}, // the row's own colour
		{"magpie-dark", termenv.ANSI, Held, true},
		{"mono", termenv.ANSI, Fine, false},
	} {
		p := pensOf(t, c.id, c.depth, false)
		text, _ := p.Pen(SelectFG, true)
		before, _ := p.Pen(c.role, true)
		if (before != text) != c.kept {
			t.Errorf("%s at %s: %s is %q beside %q", c.id, c.depth.Name(), c.role, before, text)
		}
	}
}

// Faint and reverse together vanish on some terminals.
func TestNothingIsFaintOnTheSelectedRow(t *testing.T) {
	p := pensOf(t, "mono", termenv.ANSI, true)
	for _, r := range Roles() {
		before, _ := p.Pen(r, true)
		if slices.Contains(strings.FieldsFunc(before, func(c rune) bool { return c < '0' || c > '9' }), "2") {
			t.Errorf("%s is faint: %q", r, before)
		}
	}
}

func TestTheZeroPensDrawNothing(t *testing.T) {
	var p Pens
	if before, after := p.Pen(Fine, true); before != "" || after != "" || p.Paints(Fine, true) || p.Marked() {
		t.Error("the zero pens draw")
	}
}
