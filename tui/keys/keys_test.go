package keys

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/control"
)

var update = flag.Bool("update", false, "write KEYS.md")

func standard(t *testing.T) *Registry {
	t.Helper()
	r, err := New(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryCommandHasKeysHintHelpAndWords(t *testing.T) {
	seen := map[ID]bool{}
	for _, c := range standard(t).All() {
		if seen[c.ID] {
			t.Errorf("two commands are %s", c.ID)
		}
		seen[c.ID] = true
		if c.ID == "" || len(c.Keys) == 0 || c.Hint == "" || c.Help == "" || c.Words == "" || c.Class == "" {
			t.Errorf("%s lacks something: %+v", c.ID, c)
		}
		for _, k := range c.Keys {
			if n, ok := normal(k); !ok || n != k {
				t.Errorf("%s: %q is not as the terminal library calls it", c.ID, k)
			}
		}
	}
}

func TestTheKeysDoWhatThePersonExpects(t *testing.T) {
	r := standard(t)
	for _, c := range []struct {
		in   Scope
		key  string
		want ID
	}{
		{InRequests, "j", Down},
		{InLog, "down", Down},
		{InRequest, "k", Up},
		{InHelp, "G", Last},
		{InAccounts, "home", First},
		{InRequests, "ctrl+d", HalfDown},
		{InRequests, "pgup", HalfUp},
		{InRequest, "h", ScrollLeft},
		{InRequest, "right", ScrollRight},
		{InGroups, "1", GoAccounts},
		{InRequest, "5", GoLog},
		{InLog, "tab", NextPane},
		{InLog, "shift+tab", PrevPane},
		{InConvs, "z", Zoom},
		{InRequests, "enter", Open},
		{InRequest, "esc", Back},
		{InRequest, "q", Close},
		{InHelp, "q", Close},
		{InRequests, "q", Quit},
		{InRequests, "f", Follow},
		{InLog, "/", Filter},
		{InHelp, "/", Filter},
		{InRequests, "p", Pause},
		{InAccount, "P", Pin},
		{InAccounts, "w", Wake},
		{InHelp, "U", Undo},
		{InLog, "t", NextTheme},
		{InLog, "ctrl+l", Redraw},
		{InLog, "?", Help},
		{InRequest, "a", ItsAccount},
		{InRequest, "y i", CopyID},
		{InRequests, "y j", CopyJSON},
		{InLog, "y y", CopyRow},
		{InHelp, "ctrl+c", Interrupt},
		{InAccounts, "ctrl+z", Suspend},
		{InGroups, ":", Palette},
		{InGroups, "ctrl+p", Palette},
	} {
		if got, ok := r.Find(c.in, c.key); !ok || got != c.want {
			t.Errorf("%q in %s is %q, want %q", c.key, c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		in  Scope
		key string
	}{{InLog, "a"}, {InRequests, "y"}, {InRequests, "Q"}, {InLog, "p"}, {"nowhere", "j"}, {InRequests, ""}} {
		if got, ok := r.Find(c.in, c.key); ok {
			t.Errorf("%q in %s is %q", c.key, c.in, got)
		}
	}
	if !r.Begins(InRequests, "y") || r.Begins(InRequests, "j") || r.Begins("nowhere", "y") {
		t.Error("y alone begins a longer key")
	}
}

func TestLowerCaseIsSafe(t *testing.T) {
	for _, c := range standard(t).All() {
		for _, k := range c.Keys {
			safe := c.Class == control.Reads || c.Class == control.Reversible || c.ID == Quit || c.ID == Interrupt
			if k == strings.ToLower(k) && !safe {
				t.Errorf("%q does %s, which %s", k, c.ID, c.Class)
			}
		}
	}
}

func TestTheFooterNamesTheFirstThingsFirst(t *testing.T) {
	for scope, want := range map[Scope]string{
		InRequests: "enter why, p pause, P pin, / filter, : command, z zoom, ? keys, q quit",
		InLog:      "enter why, / filter, : command, z zoom, ? keys, q quit",
		InRequest:  "p pause, P pin, : command, z zoom, ? keys",
	} {
		var got []string
		for _, c := range standard(t).Footer(scope) {
			got = append(got, Shown(c.Keys[0])+" "+c.Hint)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s: %s, want %s", scope, s, want)
		}
	}
}

func TestACommandSaysWhyItCannotBeDone(t *testing.T) {
	r := standard(t)
	for _, c := range []struct {
		id    ID
		facts Facts
		why   string
	}{
		{Pause, Facts{Account: true}, ""},
		{Pause, Facts{}, "no account is selected"},
		{Wake, Facts{Account: true, Rests: true}, ""},
		{Wake, Facts{Account: true}, "it does not rest"},
		{Undo, Facts{}, "there is nothing to undo"},
		{Undo, Facts{Undo: true}, ""},
		{Open, Facts{}, "nothing is selected"},
		{ItsAccount, Facts{}, "no request is selected"},
		{ItsAccount, Facts{Request: true}, "it was sent to no account"},
		{ItsAccount, Facts{Request: true, Sent: true}, ""},
		{Down, Facts{}, ""},
	} {
		ok, why := r.Command(c.id).Enabled(c.facts)
		if why != c.why || ok != (c.why == "") {
			t.Errorf("%s with %+v: %v, %q; want %q", c.id, c.facts, ok, why, c.why)
		}
	}
}

func TestReadOnlyLeavesWhatReadsAndTheWaysOut(t *testing.T) {
	r, err := New(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []ID{Pause, Pin, Wake, Undo} {
		if r.Command(id) != nil {
			t.Errorf("%s is there", id)
		}
	}
	if _, ok := r.Find(InAccounts, "p"); ok {
		t.Error("p does something")
	}
	for _, id := range []ID{Quit, Interrupt, Open, Filter, CopyRow} {
		if r.Command(id) == nil {
			t.Errorf("%s is gone", id)
		}
	}
	if _, ok := r.Find(InAccounts, "q"); !ok {
		t.Error("q does nothing")
	}
	// A conflict is told also where one of the two is left out, else it would come and go.
	if _, err = New(map[string][]string{"account.pause": {"j"}}, true); err == nil {
		t.Error("a conflict is not told")
	}
}

func TestThePersonsOwnKeysTakeTheirPlace(t *testing.T) {
	r, err := New(map[string][]string{
		"account.pause": {"space", "ctrl+x"}, "view.theme": {}, "copy.id": {"y  c"}, "move.half-down": {"PgDn"}, "pane.zoom": {"alt+Z", "F2"},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]ID{" ": Pause, "ctrl+x": Pause, "y c": CopyID, "pgdown": HalfDown, "alt+Z": Zoom, "f2": Zoom} {
		if got, ok := r.Find(InAccounts, key); !ok || got != want {
			t.Errorf("%q is %q, want %q", key, got, want)
		}
	}
	for _, key := range []string{"p", "t", "y i", "z", "ctrl+d"} {
		if got, ok := r.Find(InAccounts, key); ok {
			t.Errorf("%q is still %q", key, got)
		}
	}
	if len(r.Command(NextTheme).Keys) != 0 {
		t.Error("a command without keys has some")
	}
	if got, _ := standard(t).Find(InAccounts, "p"); got != Pause {
		t.Error("the defaults changed")
	}
}

func TestWrongKeysAreToldAllAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		own  map[string][]string
		want []Fault
	}{
		{"an unknown command", map[string][]string{"acount.pause": {"p"}}, []Fault{{
			ID: "acount.pause", Text: `no command is called "acount.pause"`, Hint: `did you mean "account.pause"?`,
		}}},
		{"a key with a default's", map[string][]string{"account.pause": {"j"}}, []Fault{{
			ID: "account.pause", Text: `"j" is a key of both move.down and account.pause`,
		}}},
		{"two of the person's own", map[string][]string{"account.pause": {"x"}, "view.theme": {"x"}}, []Fault{{
			ID: "view.theme", Other: "account.pause", Text: `"x" is a key of both account.pause and view.theme`,
		}}},
		{"a key that begins another", map[string][]string{"view.theme": {"y"}}, []Fault{{
			ID: "view.theme", Text: `"y" is a key of view.theme and begins one of copy.row`,
		}}},
		{"a longer key over a default", map[string][]string{"copy.id": {"j i"}}, []Fault{{
			ID: "copy.id", Text: `"j" is a key of move.down and begins one of copy.id`,
		}}},
		{"what is no key", map[string][]string{"undo": {"ctrl+shift+x", "", "a b c", "ctrl+", "alt+", "hyper"}}, []Fault{
			{ID: "undo", Text: `"ctrl+shift+x" of undo is no key`},
			{ID: "undo", Text: `"" of undo is no key`},
			{ID: "undo", Text: `"a b c" of undo is no key`},
			{ID: "undo", Text: `"ctrl+" of undo is no key`},
			{ID: "undo", Text: `"alt+" of undo is no key`},
			{ID: "undo", Text: `"hyper" of undo is no key`},
		}},
		{"several things", map[string][]string{"zzz": {"x"}, "view.theme": {"k"}}, []Fault{
			{ID: "zzz", Text: `no command is called "zzz"`}, {ID: "view.theme", Text: `"k" is a key of both move.up and view.theme`},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(c.own, false)
			faults, ok := errors.AsType[Faults](err)
			if !ok || r != nil {
				t.Fatalf("%v, %v", r, err)
			}
			for i := range faults {
				if strings.HasSuffix(faults[i].Text, "is no key") && faults[i].Hint != "" {
					faults[i].Hint = ""
				}
			}
			if !slices.Equal(faults, c.want) {
				t.Errorf("got  %+v\nwant %+v", faults, c.want)
			}
		})
	}
	_, err := New(map[string][]string{"udno": {"x"}, "undo": {"j"}}, false)
	want := "[keys] no command is called \"udno\": did you mean \"undo\"?\n[keys] \"j\" is a key of both move.down and undo"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestScopesHavePlaces(t *testing.T) {
	for _, s := range Scopes() {
		if s.Place() == "" {
			t.Errorf("%s has no place", s)
		}
	}
}

func TestThePageOfKeysIsWhatTheCommandsSay(t *testing.T) {
	const file = "../KEYS.md"
	want := standard(t).Markdown()
	for _, c := range standard(t).All() {
		if n := strings.Count(want, "`"+string(c.ID)+"`"); n != 1 {
			t.Errorf("the page has %s %d times", c.ID, n)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the commands say; run go test ./tui/keys -update", file)
	}
}
