package over

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/state"
)

var start = time.Date(2026, 11, 23, 14, 0, 0, 0, time.UTC)

func after(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func TestADialogTakesNoKeyUntilTheKeyboardWasQuiet(t *testing.T) {
	for _, tc := range []struct {
		why  string
		at   []int // of keys, in ms after it opened
		want int   // the first that counts, -1 for none
	}{
		{"at once", []int{0}, -1},
		{"after a pause", []int{250}, 0},
		{"in the flow of typing", []int{100, 200, 300, 400}, -1},
		{"a pause after some typing", []int{100, 200, 460}, 2},
		{"typing that goes on for a second", []int{200, 400, 600, 800, 1000}, 4},
		{"once it takes keys it takes all", []int{300, 310, 320}, 0},
	} {
		g := NewGuard(start)
		got := -1
		for i, ms := range tc.at {
			if g.Take(after(ms)) && got < 0 {
				got = i
			}
		}
		if got != tc.want {
			t.Errorf("%s: key %d counts, want %d", tc.why, got, tc.want)
		}
	}
}

func TestOnlyAWaysOwnKeyTakesIt(t *testing.T) {
	for key, want := range map[string]Answer{"enter": Stay, "esc": Stay, "y": Chosen, "Y": Nothing, " ": Nothing, "q": Nothing} {
		d := Dialog{Ways: []Choice{{Key: "y", Words: "do it"}}}
		d.Open(start)
		if got, _ := d.Press(key, after(1000)); got != want {
			t.Errorf("%q means %v, want %v", key, got, want)
		}
	}
}

func TestADialogKeepsItsWaysOnEveryScreen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(16, 120).Draw(t, "w"), rapid.IntRange(4, 40).Draw(t, "h")
		c := canvas.New(w, h, canvas.Unicode())
		d := Dialog{
			Title: "2 requests are still being answered", Body: []string{strings.Repeat("many words ", 30), "", "more"},
			Ways: []Choice{{Key: "d", Words: "finish these, then quit, with no new ones", Short: "finish"}, {Key: "Q", Words: "quit now: both agents see their stream end", Short: "quit"}},
			Foot: "enter or esc stays", After: []string{strings.Repeat("afterwards ", 20)},
		}
		d.Draw(c)
		if got := c.Plain(); !strings.Contains(got, "d  finish") || !strings.Contains(got, "Q  quit") {
			t.Fatalf("a way out is not to be seen at %dx%d:\n%s", w, h, got)
		}
	})
}

func TestALineOfTextIsEdited(t *testing.T) {
	for _, tc := range []struct {
		from string
		keys []string
		want string
	}{
		{"abc", []string{"backspace"}, "ab"},
		{"abc", []string{"left", "left", "backspace"}, "bc"},
		{"abc", []string{"home", "delete"}, "bc"},
		{"abc", []string{"home", "backspace"}, "abc"},
		{"abc", []string{"delete"}, "abc"},
		{"one two  ", []string{"ctrl+w"}, "one "},
		{"one two", []string{"ctrl+w", "ctrl+w", "ctrl+w"}, ""},
		{"one two", []string{"ctrl+u"}, ""},
		{"one two", []string{"left", "left", "left", "ctrl+u"}, "two"},
		{"one two", []string{"home", "right", "right", "right", "ctrl+k"}, "one"},
		{"", []string{"left", "right", "backspace", "ctrl+w", "end"}, ""},
		{"漢字", []string{"backspace"}, "漢"},
	} {
		in := NewInput(tc.from)
		for _, k := range tc.keys {
			if !in.Edit(k) {
				t.Errorf("%q is no key that edits", k)
			}
		}
		if in.String() != tc.want {
			t.Errorf("%q after %v is %q, want %q", tc.from, tc.keys, in.String(), tc.want)
		}
	}
	in := NewInput("ac")
	in.Edit("left")
	in.Type([]rune("b\x1b"))
	if in.String() != "abc" || in.Edit("f5") {
		t.Errorf("typing gives %q", in.String())
	}
}

func TestWhatIsPastedIsOneCleanLine(t *testing.T) {
	in := NewInput("")
	in.Insert("state:failed\r\n\x1b]52;c;aGk=\x07agent:codex\t")
	if got := in.String(); got != "state:failed agent:codex" {
		t.Errorf("it becomes %q", got)
	}
	in.Insert(strings.Repeat("x", 10_000))
	if n := len(in.String()); n > most {
		t.Errorf("%d characters were taken", n)
	}
}

func TestTheCaretIsAlwaysInView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := NewInput(rapid.StringOfN(rapid.RuneFrom([]rune("ab 漢é")), 0, 60, -1).Draw(t, "text"))
		for range rapid.IntRange(0, 70).Draw(t, "left") {
			in.Edit("left")
		}
		w := rapid.IntRange(2, 40).Draw(t, "w")
		c := canvas.New(w, 1, canvas.Unicode())
		if used := in.Draw(c, 0, 0, w); used > w {
			t.Fatalf("%d of %d cells are used", used, w)
		}
		if !strings.Contains(c.Plain(), canvas.Unicode().Caret) {
			t.Fatalf("the caret is out of view: %q", c.Plain())
		}
	})
}

func toastText(m *Toast, now time.Time) string {
	if !m.Shown(state.At(now)) {
		return ""
	}
	c := canvas.New(80, 1, canvas.Unicode())
	m.Draw(c)
	return strings.TrimSpace(c.Plain())
}

func TestToastsComeAndGo(t *testing.T) {
	var m Toast
	if got := toastText(&m, start); got != "" {
		t.Errorf("nothing was said, and it shows %q", got)
	}
	m.Say("copied", start)
	if got := toastText(&m, after(3999)); got != "▸ copied" {
		t.Errorf("it shows %q", got)
	}
	if got := toastText(&m, after(4000)); got != "" {
		t.Errorf("after four seconds it shows %q", got)
	}
	m.Undoable("work-max is paused", "U", start)
	if got := toastText(&m, after(9999)); got != "▸ work-max is paused  U undo" {
		t.Errorf("it shows %q", got)
	}
	m.Fail("no such account", start)
	m.Fail("no such account", after(5000))
	m.Fail("no such account", after(14_000))
	if got := toastText(&m, after(3_600_000)); got != "! no such account (x3)" {
		t.Errorf("an error shows %q", got)
	}
	m.Key()
	if got := toastText(&m, after(14_001)); got != "" {
		t.Errorf("after a key it shows %q", got)
	}
	m.Say("a", start)
	m.Say("b", after(1))
	m.Say("a", after(2))
	if got := toastText(&m, after(3)); got != "▸ a" {
		t.Errorf("other words in between are counted: %q", got)
	}
}

func TestThePaletteFindsWhatWasMeant(t *testing.T) {
	for _, tc := range []struct {
		typed, text string
		want        bool
	}{
		{"", "pause work-max", true},
		{"pa", "pause work-max", true},
		{"pause work", "pause work-max", true},
		{"wo", "pause work-max", true},
		{"p w", "pause work-max", true},
		{"max", "pause work-max", true},
		{"pwm", "pause work-max", true},
		{"resume", "pause work-max", false},
		{"xp", "pause work-max", false},
	} {
		if got := Match(tc.typed, tc.text) > 0; got != tc.want {
			t.Errorf("%q finds %q: %v", tc.typed, tc.text, got)
		}
	}
	if Match("pause", "pause work-max") <= Match("pwm", "pause work-max") {
		t.Error("a beginning is worth no more than scattered letters")
	}
}

func TestThePaletteLeavesOutWhatHasNoRoom(t *testing.T) {
	e := []Entry{{Text: "pause a-long-name-of-an-account", Help: "never ask it until it is resumed", Key: "p"}}
	for w, want := range map[int]string{32: "pause a-long-name-of-an-", 46: "pause a-long-name⋯ never ask", 80: "pause a-long-name-of-⋯ never ask it until"} {
		c := canvas.New(w, 14, canvas.Unicode())
		new(Palette).Draw(c, e)
		if got := c.Plain(); !strings.Contains(got, want) {
			t.Errorf("on %d columns %q is missing:\n%s", w, want, got)
		}
	}
}

func TestWhatIsWrongWithAFilterHasTheRoomThatIsLeft(t *testing.T) {
	c, line := canvas.New(80, 1, canvas.Unicode()), FilterLine{Input: NewInput("foo:x")}
	f := state.ParseFilter("foo:x")
	line.Draw(c, &f, "")
	if got := c.Plain(); !strings.Contains(got, "/ foo:x") || !strings.Contains(got, "there are acct prov model group agent conv") {
		t.Errorf("%q", got)
	}
}

func TestTheHelpNamesEveryCommandAndWhatItsMarksMean(t *testing.T) {
	reg, err := keys.New(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	set := canvas.Unicode()
	text := func(h *Help, w int) string {
		var b strings.Builder
		for _, row := range h.Lines(&set, reg, w) {
			for _, s := range row {
				b.WriteString(s.Text)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	for _, scope := range keys.Scopes() {
		for _, w := range []int{200, 119, 79, 45, 31, 20} {
			h := Help{From: scope}
			page := strings.Join(strings.Fields(text(&h, w)), "")
			for _, c := range append(reg.In(scope), reg.Everywhere()...) {
				if w > 150 && !strings.Contains(page, strings.Join(strings.Fields(c.Help), "")) {
					t.Errorf("in %s at %d cells %s is missing", scope, w, c.ID)
				}
			}
			for _, want := range []string{set.Resting, set.Pace, "since:10m"} {
				if !strings.Contains(page, want) {
					t.Errorf("in %s at %d cells %q is missing", scope, w, want)
				}
			}
		}
	}
	h := Help{From: keys.InRequests, Search: NewInput("undo")}
	if got := text(&h, 79); !strings.Contains(got, "undo the last pause") || strings.Contains(got, "next pane") {
		t.Errorf("a search for undo finds:\n%s", got)
	}
	h.Search = NewInput("no such thing")
	if got := text(&h, 79); !strings.Contains(got, "no key does that") {
		t.Errorf("a search for nothing finds:\n%s", got)
	}
}
