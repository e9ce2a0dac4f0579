package theme

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/muesli/termenv"

	"dev.magpie/themes"
)

func shipped(t *testing.T) []*Theme {
	t.Helper()
	var all []*Theme
	for _, id := range IDs(nil) {
		th, err := Load(id, nil)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		all = append(all, th)
	}
	return all
}

func TestAllTwelveThemesShip(t *testing.T) {
	want := []string{
		"magpie-dark", "magpie-light", "catppuccin-latte", "catppuccin-mocha", "contrast", "gruvbox-dark", "gruvbox-light",
		"mono", "nord", "solarized-dark", "solarized-light", "tokyo-night",
	}
	if got := IDs(nil); !slices.Equal(got, want) {
		t.Errorf("IDs = %v, want %v", got, want)
	}
	for _, th := range shipped(t) {
		if th.Name == "" {
			t.Errorf("%s has no name for people", th.ID)
		}
	}
}

func TestThereAreTwentySevenRolesEachNamedOnce(t *testing.T) {
	if n := len(Roles()); n != 27 {
		t.Errorf("%d roles, want 27", n)
	}
	for _, r := range Roles() {
		i := r.Describe()
		if i.Name == "" || i.Use == "" {
			t.Errorf("role %d lacks a name or a use", r)
		}
		if found, ok := RoleNamed(i.Name); !ok || found != r {
			t.Errorf("RoleNamed(%q) = %v, %v", i.Name, found, ok)
		}
	}
	if _, ok := RoleNamed("none"); ok {
		t.Error("a theme may set none")
	}
	if got := Role(200).String(); got != "none" {
		t.Errorf("a role that is none is called %q", got)
	}
}

// A shipped file sets every role itself, so that what it looks like does not change with another file.
func TestShippedThemesLeaveNothingOut(t *testing.T) {
	for _, id := range IDs(nil) {
		data, err := fs.ReadFile(themes.Files, id+".toml")
		if err != nil {
			t.Fatal(err)
		}
		s, err := read(id, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Roles() {
			if _, ok := s.table("roles")[r.String()]; !ok {
				t.Errorf("%s leaves out %s", id, r)
			}
		}
	}
}

func TestTextStandsOutInEveryTheme(t *testing.T) {
	for _, th := range shipped(t) {
		for _, f := range th.Faults() {
			t.Errorf("%s: %s", th.ID, f)
		}
	}
}

// The nearest of 256 colours may be a worse one.
func TestTextStandsOutWith256ColoursToo(t *testing.T) {
	for _, th := range shipped(t) {
		for _, r := range Roles() {
			l := &th.Looks[r]
			if r != SelectBG && r != BG && l.ANSI256 != "" && r != SelectFG {
				n, err := strconv.Atoi(l.ANSI256)
				if err != nil {
					t.Fatal(err)
				}
				l.Hex = termenv.ConvertToRGB(termenv.ANSI256Color(n)).Hex()
			}
		}
		for _, f := range th.Faults() {
			t.Errorf("%s with 256 colours: %s", th.ID, f)
		}
	}
}

func TestFaultsNameTheRoleThatIsHardToRead(t *testing.T) {
	th, err := Load("magpie-dark", nil)
	if err != nil {
		t.Fatal(err)
	}
	th.Looks[Low].Hex = "#333333"
	th.Looks[SelectFG].Hex = "#222222"
	th.Looks[Paused] = Look{} // the terminal's own is not judged
	want := []string{"select_fg on select_bg is 1.05 to 1, less than 4.5", "low on bg is 1.50 to 1, less than 4.5"}
	if got := th.Faults(); !slices.Equal(got, want) {
		t.Errorf("Faults = %q, want %q", got, want)
	}
}

func TestContrastIsWhatTheGuidelinesSay(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		least, most float64
	}{
		{"#000000", "#ffffff", 21, 21},
		{"#ffffff", "#000000", 21, 21},
		{"#777777", "#ffffff", 4.47, 4.49},
		{"#123456", "#123456", 1, 1},
	} {
		if got := Contrast(c.a, c.b); got < c.least-1e-9 || got > c.most+1e-9 {
			t.Errorf("Contrast(%s, %s) = %f", c.a, c.b, got)
		}
	}
}

// alike are roles that somewhere differ by their colour alone, or nearly: each set must be told apart
// at every depth with colours.
var alike = [][]Role{
	{Bar, BarOver, BarEmpty},
	{Fine, Low, Spent, Resting, Paused, Held, Pinned},
	{Live, Failed, Resting, Refused},
	{Fine, Failed, Refused},
	{Toast, Error},
	{Title, TitleFocus},
	{Faint, Live, Failed},
}

func TestStatesThatDifferByColourDifferAtEveryDepth(t *testing.T) {
	for _, th := range shipped(t) {
		if th.Variant == Any {
			continue
		}
		for _, depth := range []termenv.Profile{termenv.TrueColor, termenv.ANSI256, termenv.ANSI} {
			for _, set := range alike {
				differ(t, th, depth, set)
			}
		}
	}
}

func differ(t *testing.T, th *Theme, depth termenv.Profile, set []Role) {
	t.Helper()
	p := NewPens(th, depth, false)
	seen := map[string]Role{}
	for _, r := range set {
		before, _ := p.Pen(r, false)
		if other, ok := seen[before]; ok {
			t.Errorf("%s at %s: %s and %s are both %q", th.ID, depth.Name(), other, r, before)
		}
		seen[before] = r
	}
}

func TestPairsNameEachOther(t *testing.T) {
	for _, th := range shipped(t) {
		if th.Pair == "" {
			continue
		}
		other, err := Load(th.Pair, nil)
		if err != nil {
			t.Errorf("%s: %v", th.ID, err)
			continue
		}
		if other.Pair != th.ID || other.Variant == th.Variant {
			t.Errorf("%s pairs with %s, which is %s and pairs with %q", th.ID, other.ID, other.Variant, other.Pair)
		}
	}
}

func TestTheThemeGoesRound(t *testing.T) {
	seen := map[string]bool{}
	id := "magpie-dark"
	for range IDs(nil) {
		seen[id] = true
		id = Next(id, nil)
	}
	if id != "magpie-dark" || len(seen) != len(IDs(nil)) {
		t.Errorf("after %d themes it is %s", len(seen), id)
	}
	if got := Next("gone", nil); got != "magpie-dark" {
		t.Errorf("after one that is gone comes %s", got)
	}
}

func TestAFileOfThePersonsBeatsTheShippedOne(t *testing.T) {
	user := fstest.MapFS{
		"nord.toml":       {Data: []byte("name = \"mine\"\nvariant = \"dark\"\n")},
		"my-own.toml":     {Data: []byte("variant = \"light\"\n")},
		"Not A Name.toml": {Data: []byte("")},
	}
	th, err := Load("nord", user)
	if err != nil || th.Name != "mine" {
		t.Errorf("Load(nord) = %v, %v", th, err)
	}
	if !slices.Contains(IDs(user), "my-own") || slices.Contains(IDs(user), "Not A Name") {
		t.Errorf("IDs = %v", IDs(user))
	}
	if th, err = Load("my-own", user); err != nil || th.Name != "my-own" {
		t.Errorf("Load(my-own) = %v, %v", th, err)
	}
	light, err := Load("magpie-light", nil)
	if err != nil {
		t.Fatal(err)
	}
	if th.Looks != light.Looks {
		t.Error("what an empty light theme leaves out is not magpie-light's")
	}
}

func TestAThemeMayBeginWithItsOwnName(t *testing.T) {
	user := fstest.MapFS{"magpie-dark.toml": {Data: []byte("variant = \"dark\"\n[palette]\nx = \"#ffffff\"\n[roles]\nlow = \"x\"\n")}}
	th, err := Load("magpie-dark", user)
	if err != nil {
		t.Fatal(err)
	}
	if th.Looks[Low].Hex != "#ffffff" || th.Looks[Fine].Hex != "#5fd0a0" {
		t.Errorf("low %v, fine %v", th.Looks[Low], th.Looks[Fine])
	}
}

func TestAnUnknownThemeNamesTheNearest(t *testing.T) {
	for id, want := range map[string]string{
		"nrod":             `no theme is called "nrod": did you mean "nord"?`,
		"zzzzzzzzzz":       `no theme is called "zzzzzzzzzz"; there are magpie-dark, magpie-light, `,
		"../../etc/passwd": `no theme is called "../../etc/passwd"`,
		"":                 `no theme is called ""`,
	} {
		if _, err := Load(id, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Load(%q): %v, want %s…", id, err, want)
		}
	}
}
