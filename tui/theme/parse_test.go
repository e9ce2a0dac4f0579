package theme

import (
	"errors"
	"strings"
	"testing"

	"dev.magpie/config"
)

func TestAFileIsReadStrictly(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an unknown key at the top", "variant = \"dark\"\npant_bg = true\n", `x.toml:2:1: unknown key "pant_bg": did you mean "paint_bg"?`},
		{"an unknown role", "variant = \"dark\"\n[roles]\n  fien = \"default\"\n", `x.toml:3:3: unknown key "fien" in [roles]: did you mean "fine"?`},
		{"an unknown role of 16 colours", "variant = \"dark\"\n[ansi]\nsepnt = \"1\"\n", `x.toml:3:1: unknown key "sepnt" in [ansi]: did you mean "spent"?`},
		{"an unknown table", "variant = \"dark\"\n[colors]\na = \"b\"\n", `x.toml:2:2: unknown key "colors"`},
		{"a colour without a name", "variant = \"dark\"\n[palette]\nmint = \"#00ff00\"\n[roles]\nfine = \"mnit\"\n", `x.toml:5:8: [palette] has no "mnit": did you mean "mint"?`},
		{"a hex colour in place of a name", "variant = \"dark\"\n[roles]\nfine = \"#00ff00\"\n", `x.toml:3:8: [palette] has no "#00ff00"`},
		{"a colour that is none", "variant = \"dark\"\n[palette]\nmint = \"#0f0\"\n", `x.toml:3:8: "#0f0" is no colour: write it like #5fd0a0`},
		{"a colour called as an attribute", "variant = \"dark\"\n[palette]\nbold = \"#00ff00\"\n", `x.toml:3:1: "bold" cannot name a colour`},
		{"an attribute that is none", "variant = \"dark\"\n[roles]\nfine = \"default blod\"\n", `x.toml:3:8: "blod" is no attribute: did you mean "bold"?`},
		{"an empty role", "variant = \"dark\"\n[roles]\nfine = \"\"\n", `x.toml:3:8: "roles.fine" names no colour: write a name of [palette], or "default"`},
		{"a number too large", "variant = \"dark\"\n[ansi]\nfine = \"16\"\n", `x.toml:3:8: "16" is no colour of a terminal: write a number from 0 to 15, or "default"`},
		{"a number too large for 256", "variant = \"dark\"\n[ansi256]\nfine = \"256\"\n", `x.toml:3:8: "256" is no colour of a terminal: write a number from 0 to 255, or "default"`},
		{"a number without quotes", "variant = \"dark\"\n[ansi]\nfine = 10\n", `x.toml:3:8: "ansi.fine" must be a string: text needs quotes`},
		{"no variant", "name = \"x\"\n", `x.toml:1:1: "variant" is missing: write variant = "dark", "light" or "any"`},
		{"a variant that is none", "variant = \"drak\"\n", `x.toml:1:11: "variant" must be "dark", "light" or "any", not "drak": did you mean "dark"?`},
		{"a pair that is no name", "variant = \"dark\"\npair = \"../x\"\n", `x.toml:2:8: "pair" is no theme's name: "../x"`},
		{"a truth that is none", "variant = \"dark\"\npaint_bg = \"no\"\n", `x.toml:2:12: "paint_bg" must be true or false`},
		{"a table that is none", "variant = \"dark\"\nroles = \"x\"\n", `x.toml:2:1: "roles" must be a table: write [roles] above its keys`},
		{"broken syntax", "variant = \"dark\"\n[roles\n", `x.toml:2:7: `},
		{"too large", strings.Repeat("#", 65<<10), `x.toml: the file is larger than 64KB: a theme is much smaller`},
		{
			"everything at once, by line", "variant = 1\n[roles]\nbogus = \"x\"\nfine = \"y\"\n",
			"x.toml:1:11: \"variant\" must be a string: text needs quotes|x.toml:3:1: unknown key \"bogus\" in [roles]|x.toml:4:8: [palette] has no \"y\"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse("x", "x.toml", []byte(c.file))
			all, ok := errors.AsType[*config.Errors](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			var got []string
			for _, p := range all.Problems {
				got = append(got, p.String())
			}
			if s := strings.Join(got, "|"); !strings.HasPrefix(s, c.want) || strings.Count(s, "|") != strings.Count(c.want, "|") {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

func TestAProblemShowsItsLine(t *testing.T) {
	_, err := parse("x", "x.toml", []byte("variant = \"dark\"\r\n[roles]\r\nfien = \"default\"\r\n"))
	want := "    fien = \"default\"\n    ^"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want it to hold %q", err, want)
	}
}

func TestColoursAreReadInEveryFormOfTOML(t *testing.T) {
	for name, file := range map[string]string{
		"tables":      "variant = \"dark\"\n[palette]\nmint = \"#00FF00\"\n[roles]\nfine = \"mint bold\"\n",
		"dotted":      "variant = \"dark\"\npalette.mint = \"#00FF00\"\nroles.fine = \"mint bold\"\n",
		"inline":      "variant = \"dark\"\npalette = { mint = \"#00FF00\" }\nroles = { fine = \"mint bold\" }\n",
		"quoted":      "\"variant\" = 'dark'\n[\"palette\"]\n\"mint\" = \"#00FF00\"\n[roles]\n'fine' = \"mint bold\"\n",
		"a file mark": "\ufeffvariant = \"dark\"\n[palette]\nmint = \"#00FF00\"\n[roles]\nfine = \"mint bold\"\n",
	} {
		th, err := parse("x", "x.toml", []byte(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if l := th.Looks[Fine]; l.Hex != "#00ff00" || l.Attr != AttrBold {
			t.Errorf("%s: fine is %+v", name, l)
		}
	}
}

func TestSixteenColoursComeFromTheNearestPlace(t *testing.T) {
	th, err := parse("x", "x.toml", []byte(`
variant = "dark"
[palette]
mint = "#00ff00"
rust = "#aa5500"
[roles]
fine = "mint"
bar  = "mint"
held = "rust"
low  = "default"
[ansi]
fine = "2"
spent = "5"
pinned = "default"
[ansi256]
held = "130"
`))
	if err != nil {
		t.Fatal(err)
	}
	for role, want := range map[Role][2]string{
		Fine:   {"2", "46"},   // named; converted
		Bar:    {"2", "46"},   // another role of its colour
		Held:   {"3", "130"},  // the standard theme's; named
		Spent:  {"5", "204"},  // named although the role is left out
		Low:    {"", ""},      // the terminal's own
		Pinned: {"", "80"},    // the terminal's own with sixteen
		Live:   {"12", "117"}, // left out altogether
	} {
		if l := th.Looks[role]; l.ANSI != want[0] || l.ANSI256 != want[1] {
			t.Errorf("%s is %q of 16 and %q of 256, want %q", role, l.ANSI, l.ANSI256, want)
		}
	}
}

func FuzzTheme(f *testing.F) {
	f.Add("variant = \"dark\"\n[palette]\nmint = \"#00FF00\"\n[roles]\nfine = \"mint bold\"\n[ansi]\nfine = \"1\"")
	f.Add("palette = { a = \"#000000\", }\nroles.fg = \"a\"")
	f.Add("[[roles]]\nfine = [1, {a = \"b\"}]\n")
	f.Add("a = \"\"\"\n\"\"\"\n[roles.x.y]\nz = 1979-05-27")
	f.Fuzz(func(t *testing.T, file string) {
		th, err := parse("x", "x.toml", []byte(file))
		if err == nil {
			th.Faults()
			return
		}
		all, ok := errors.AsType[*config.Errors](err)
		if !ok {
			t.Fatalf("error %v", err)
		}
		for _, p := range all.Problems {
			if p.Line < 0 || p.Line > strings.Count(file, "\n")+1 || p.Text == "" {
				t.Errorf("problem %+v", p)
			}
		}
	})
}
