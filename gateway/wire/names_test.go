package wire

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesAreMadeToFit(t *testing.T) {
	long := strings.Repeat("a", 70)
	for name, c := range map[string]struct {
		rule NameRule
		in   string
		want string
	}{
		"one that fits is not touched":          {ChatNames, "mcp__x-1", "mcp__x-1"},
		"one of the greatest length":            {ChatNames, long[:64], long[:64]},
		"dots and blanks become one line":       {ChatNames, "a. b", "a_b_" + digest("a. b", 3)},
		"a longer one is cut":                   {ChatNames, long, long[:57] + "_" + digest(long, 3)},
		"what is long for Chat fits elsewhere":  {MessagesNames, long, long},
		"Gemini takes dots":                     {GeminiNames, "a.b:c", "a.b:c"},
		"Gemini wants a letter at the head":     {GeminiNames, "1a", "_1a_" + digest("1a", 3)},
		"letters of other scripts are replaced": {ChatNames, "пуск", "__" + digest("пуск", 3)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.rule.Name(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNamesComeBack(t *testing.T) {
	long := strings.Repeat("b", 80)
	a := &Ask{Tools: []Tool{{Name: "plain"}, {Name: "a.b"}, {Name: long}}}
	back := Restore(a, ChatNames, MessagesNames)
	for _, r := range []NameRule{ChatNames, MessagesNames} {
		for _, name := range []string{"a.b", long} {
			sent := r.Name(name)
			if sent != name && back[sent] != name {
				t.Errorf("%q does not come back from %q", name, sent)
			}
		}
	}
	if _, ok := back["plain"]; ok {
		t.Error("what was not changed needs no way back")
	}
	if Restore(&Ask{Tools: []Tool{{Name: "x"}}}, ChatNames) != nil || Restore(nil, ChatNames) != nil {
		t.Error("nothing changed, nothing kept")
	}
}

func TestAnyNameFitsAndStaysApart(t *testing.T) {
	fits := map[int]*regexp.Regexp{
		0: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
		1: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`),
		2: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`),
	}
	rules := []NameRule{ChatNames, MessagesNames, GeminiNames}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`.{0,140}`).Draw(t, "a")
		b := a[:len(a)/2] + rapid.String().Draw(t, "b")
		for i, r := range rules {
			x, y := r.Name(a), r.Name(b)
			if !fits[i].MatchString(x) {
				t.Fatalf("%q came out as %q", a, x)
			}
			if a != b && x == y {
				t.Fatalf("%q and %q are both %q", a, b, x)
			}
			if r.Name(x) != x {
				t.Fatalf("%q changes again", x)
			}
		}
	})
}

func TestIDsAreKeptWhereTheyFit(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		kept bool
	}{
		"a vendor's":     {"call_aB-1", true},
		"64 letters":     {strings.Repeat("x", 64), true},
		"65 letters":     {strings.Repeat("x", 65), false},
		"a colon":        {"functions.ls:0", false},
		"none":           {"", false},
		"another script": {"звонок", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := KeepID(c.id, "toolu_", 64)
			if (got == c.id) != c.kept {
				t.Errorf("got %q", got)
			}
			if !c.kept && (len(got) != len("toolu_")+24 || got != KeepID(c.id, "toolu_", 64)) {
				t.Errorf("a made id is the prefix and 24 hex, the same each time: %q", got)
			}
		})
	}
	if MakeID("x", "a", "b") == MakeID("x", "ab") || MakeID("x", "a", "b") == MakeID("x", "a", "c") {
		t.Error("other seeds, another id")
	}
}
