package tui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/tui/feed"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/term"
)

// settleCmd runs a command and hands what it brings to the screen, until nothing comes any more.
func settleCmd(m *model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			settleCmd(m, c)
		}
	default:
		settleCmd(m, m.handle(msg))
	}
}

// keyed makes an everyday screen, presses keys and settles what they set off.
func keyed(t *testing.T, g *fakeGateway, pressed ...string) *model {
	t.Helper()
	m := sceneModel(t, scenes[1], layout.Size{W: 80, H: 24})
	m.g = g
	for _, k := range pressed {
		settleCmd(m, press(m, k))
		m.draw()
	}
	return m
}

func ptr[V any](v V) *V { return &v }

func reordered(who string, names ...string) control.Command {
	return control.Command{Verb: control.Order, Who: who, Args: control.Args{Order: names}}
}

func TestKeysBecomeCommands(t *testing.T) {
	for _, tc := range []struct {
		does string
		keys []string
		want []control.Command
	}{
		{"p on an account pauses it", []string{"1", "j", "p"}, []control.Command{{Verb: control.Pause, Who: homePro}}},
		{"p on a paused account lets it take requests again", []string{"1", "G", "p"}, []control.Command{{Verb: control.Resume, Who: "openrouter/or-key"}}},
		{"p on a request pauses the account that it was sent to", []string{"j", "p"}, []control.Command{{Verb: control.Pause, Who: homePro}}},
		{"p in an opened request does the same", []string{"j", "j", "enter", "j", "p"}, []control.Command{{Verb: control.Pause, Who: workMax}}},
		{"P pins", []string{"1", "j", "P"}, []control.Command{{Verb: control.Pin, Who: homePro}}},
		{"J puts an account behind the next of its provider", []string{"1", "J"}, []control.Command{reordered("claude", "home-pro", "work-max")}},
		{"K puts it before the one above", []string{"1", "j", "K"}, []control.Command{reordered("claude", "home-pro", "work-max")}},
		{"K on the first does nothing", []string{"1", "K"}, nil},
		{"J on one alone does nothing", []string{"1", "G", "J"}, nil},
		{"J on a group moves the member that is next", []string{"4", "J"}, []control.Command{reordered("group/always-on", "claude@home-pro/x", "claude@work-max/x", "chatgpt/x", "sub2api/x", "glm/x")}},
		{"first in the palette", []string{":", "first home", "enter"}, []control.Command{reordered("claude", "home-pro")}},
		{"order in the palette", []string{":", "order claude home-pro, work-max", "enter"}, []control.Command{reordered("claude", "home-pro", "work-max")}},
		{"routing of a group", []string{":", "routing always-on usage", "enter"}, []control.Command{{Verb: control.Routing, Who: "group/always-on", Args: control.Args{Value: "usage"}}}},
		{"routing of a provider", []string{":", "routing claude rotate", "enter"}, []control.Command{{Verb: control.Routing, Who: "claude", Args: control.Args{Value: "rotate"}}}},
		{"affinity", []string{":", "affinity turn", "enter"}, []control.Command{{Verb: control.Affinity, Args: control.Args{Value: "turn"}}}},
		{"sink", []string{":", "sink on", "enter"}, []control.Command{{Verb: control.Sink, Args: control.Args{On: ptr(true)}}}},
		{"a cap", []string{":", "cap work-max 80%", "enter"}, []control.Command{{Verb: control.Cap, Who: workMax, Args: control.Args{Percent: ptr(80)}}}},
		{"a window's cap off", []string{":", "cap work-max off 5 hours", "enter"}, []control.Command{{Verb: control.Cap, Who: workMax, Args: control.Args{Percent: ptr(0), Window: "5 hours"}}}},
		{"a cap that is none", []string{":", "cap work-max much", "enter"}, nil},
		{"a group away", []string{":", "hide auto-gpt", "enter"}, []control.Command{{Verb: control.Hide, Who: "auto-gpt"}}},
		{"w wakes an account that rests", []string{"1", "j", "j", "j", "w"}, []control.Command{{Verb: control.Wake, Who: relayA}}},
		{"w on one that does not rest does nothing", []string{"1", "w"}, nil},
		{"U with nothing to undo does nothing", []string{"U"}, nil},
		{"U takes back what was done", []string{"1", "j", "p", "U"}, []control.Command{{Verb: control.Pause, Who: homePro}, {Verb: control.Undo}}},
		{"letters that came at once are keys one after another", []string{"1", "jjj", "w"}, []control.Command{{Verb: control.Wake, Who: relayA}}},
		{"p in the log means nobody", []string{"5", "p"}, nil},
		{"the palette runs a command", []string{":", "wake relay", "enter"}, []control.Command{{Verb: control.Wake, Who: relayA}}},
		{"the palette runs what was chosen", []string{":", "pause", "down", "enter"}, []control.Command{{Verb: control.Pause, Who: homePro}}},
		{"the palette does not run what cannot be", []string{":", "wake home", "enter"}, nil},
	} {
		g := newFake(sceneView())
		keyed(t, g, tc.keys...)
		if diff := cmp.Diff(tc.want, g.did()); diff != "" {
			t.Errorf("%s (-want +did):\n%s", tc.does, diff)
		}
	}
}

// soleView has one account that may be asked.
func soleView() trace.View {
	v := sceneView()
	v.Status.Groups = nil
	v.Status.Accounts = v.Status.Accounts[:1]
	return v
}

func TestPausingTheLastReadyAccountIsAskedFirst(t *testing.T) {
	g := newFake(soleView())
	g.preview = func(c control.Command) (control.Effect, error) {
		return control.Effect{Class: control.Reversible, Words: "work-max takes no more requests.", Token: "fresh"}, nil
	}
	var token control.Token
	g.do = func(_ control.Command, tok control.Token) (control.Done, error) {
		token = tok
		return control.Done{Words: "paused"}, nil
	}
	m := sceneModel(t, scene{view: soleView}, layout.Size{W: 80, H: 24})
	m.g = g
	settleCmd(m, press(m, "1"))
	settleCmd(m, press(m, "p"))
	if m.dialog == nil || m.dialog.Title != "pause work-max?" || len(g.did()) != 0 {
		t.Fatalf("no question was asked: %+v, done %v", m.dialog, g.did())
	}
	settleCmd(m, press(m, "y"))
	if len(g.did()) != 0 {
		t.Fatal("a key that was typed ahead pressed the button")
	}
	m.now = m.now.Add(time.Second)
	settleCmd(m, press(m, "y"))
	if len(g.did()) != 1 || token != "fresh" || m.dialog != nil {
		t.Errorf("done %v with token %q, dialog %v", g.did(), token, m.dialog)
	}
}

func TestPausingTheLastOfAGroupIsAskedFirstHoweverManyModelsItHas(t *testing.T) {
	for _, tc := range []struct {
		does  string
		group trace.Group
		asks  bool
	}{
		{"one model of it", trace.Group{ID: "g", Ready: 1, Of: 4, Next: homePro, Last: homePro}, true},
		{"two models of it", trace.Group{ID: "g", Ready: 2, Of: 4, Next: homePro, Last: homePro}, true},
		{"another's is ready too", trace.Group{ID: "g", Ready: 3, Of: 4, Next: homePro}, false},
		{"another is the last", trace.Group{ID: "g", Ready: 2, Of: 4, Next: workMax, Last: workMax}, false},
		{"the group is switched off", trace.Group{ID: "g", Off: true, Ready: 2, Of: 4, Next: homePro, Last: homePro}, false},
		{"nobody is ready", trace.Group{ID: "g", Of: 4}, false},
	} {
		for name, keys := range map[string][]string{"p": {"1", "j", "p"}, "the palette": {":", "pause home", "enter"}} {
			view := sceneView()
			view.Status.Groups = []trace.Group{tc.group}
			g := newFake(view)
			g.preview = func(control.Command) (control.Effect, error) {
				return control.Effect{Class: control.Reversible, Words: "home-pro takes no more requests.", Token: "fresh"}, nil
			}
			m := sceneModel(t, scene{view: func() trace.View { return view }}, layout.Size{W: 80, H: 24})
			m.g = g
			for _, key := range keys {
				settleCmd(m, press(m, key))
			}
			if asks := m.dialog != nil; asks != tc.asks || asks == (len(g.did()) > 0) {
				t.Errorf("%s, by %s: asked %v, done %v", tc.does, name, asks, g.did())
			}
		}
	}
}

func TestDialogsKeepEverythingUnlessTold(t *testing.T) {
	for _, key := range []string{"enter", "esc"} {
		m := keyed(t, newFake(sceneView()), "q")
		if m.dialog == nil {
			t.Fatal("quitting while requests are live does not ask")
		}
		m.now = m.now.Add(time.Second)
		settleCmd(m, press(m, key))
		if m.dialog != nil || m.exit != Running {
			t.Errorf("%s: dialog %v, exit %v", key, m.dialog, m.exit)
		}
	}
}

func TestWaysToQuit(t *testing.T) {
	quiet := func() trace.View {
		v := sceneView()
		v.Routes = nil
		return v
	}
	used := func() trace.View {
		v := sceneView()
		v.Routes = v.Routes[:len(v.Routes)-2]
		return v
	}
	for _, tc := range []struct {
		why   string
		scene scene
		keys  []string
		want  Exit
		title string
	}{
		{"nobody used it", scene{view: quiet}, []string{"q"}, ExitQuit, ""},
		{"agents used it lately", scene{view: used}, []string{"q"}, Running, "quit magpie?"},
		{"agents used it lately, and Q", scene{view: used}, []string{"q", "Q"}, ExitQuit, ""},
		{"requests are live", scene{}, []string{"q"}, Running, "2 requests are still being answered"},
		{"requests are live, and d", scene{}, []string{"q", "d"}, ExitDrain, ""},
		{"requests are live, and Q", scene{}, []string{"q", "Q"}, ExitQuit, ""},
		{"requests are live, and enter", scene{}, []string{"q", "enter"}, Running, ""},
		{"ctrl+c once", scene{}, []string{"ctrl+c"}, Running, "2 requests are still being answered"},
		{"ctrl+c twice", scene{}, []string{"ctrl+c", "ctrl+c"}, ExitQuit, ""},
		{"ctrl+c while a filter is typed", scene{}, []string{"/", "abc", "ctrl+c"}, Running, "2 requests are still being answered"},
		{"it shows another process's gateway", scene{options: func(o *Options) { o.Attached = &Attached{PID: 1} }}, []string{"q"}, ExitQuit, ""},
		{"q in a page only closes it", scene{}, []string{"enter", "q"}, Running, ""},
	} {
		m := sceneModel(t, tc.scene, layout.Size{W: 80, H: 24})
		for _, k := range tc.keys {
			press(m, k)
			m.now = m.now.Add(time.Second)
			m.draw()
		}
		title := ""
		if m.dialog != nil && m.exit == Running {
			title = m.dialog.Title
		}
		if m.exit != tc.want || title != tc.title {
			t.Errorf("%s: exit %v with dialog %q, want %v with %q", tc.why, m.exit, title, tc.want, tc.title)
		}
	}
	m := sceneModel(t, scene{}, layout.Size{W: 80, H: 24})
	press(m, "ctrl+c")
	m.now = m.now.Add(3 * time.Second)
	press(m, "ctrl+c")
	if m.exit != Running {
		t.Error("a second ctrl+c long after the first quits at once")
	}
}

func TestTheQuitDialogStaysTrue(t *testing.T) {
	m := keyed(t, newFake(sceneView()), "q")
	ended := sceneRows[0].route(4182)
	ended.Done, ended.Status, ended.Seq = true, 200, 99999
	m.handle(feed.Msg{Batch: trace.Batch{Routes: []trace.Route{ended}}, At: m.now})
	m.draw()
	if m.dialog.Title != "1 request is still being answered" {
		t.Errorf("it still says %q", m.dialog.Title)
	}
}

func TestMovingAndOpening(t *testing.T) {
	for _, tc := range []struct {
		does string
		keys []string
		want func(*model) bool
	}{
		{"enter opens the selected request", []string{"j", "j", "enter"}, func(m *model) bool { return m.opened.request == 4180 && m.front() == layout.Detail }},
		{"j in a page shows the next one", []string{"enter", "j"}, func(m *model) bool { return m.opened.request == 4181 }},
		{"esc goes back to the list", []string{"enter", "esc"}, func(m *model) bool { return m.opened.kind == nothingOpen && m.front() == layout.Requests }},
		{"a goes to its account", []string{"enter", "a"}, func(m *model) bool { return m.opened.account == workMax }},
		{"enter on an account opens it", []string{"1", "j", "enter"}, func(m *model) bool { return m.opened.account == homePro }},
		{"enter on a conversation shows its requests", []string{"3", "enter"}, func(m *model) bool {
			return m.requests.Filter.Text == "conv:0b-c02e" && len(m.requests.Rows(m.view())) == 4
		}},
		{"enter on a group opens it", []string{"4", "j", "enter"}, func(m *model) bool { return m.opened.group == "cheap" && m.inGroup() }},
		{"r on a group shows its requests", []string{"4", "j", "r"}, func(m *model) bool { return m.requests.Filter.Text == "group:cheap" }},
		{"r on its page as well", []string{"4", "j", "enter", "r"}, func(m *model) bool { return m.requests.Filter.Text == "group:cheap" && m.opened.kind == nothingOpen }},
		{"esc leads from its account back to the request", []string{"enter", "a", "esc"}, func(m *model) bool { return m.opened.kind == requestOpen && m.front() == layout.Detail }},
		{"so it does after another account was looked at", []string{"enter", "a", "j", "esc"}, func(m *model) bool { return m.opened.kind == requestOpen && m.front() == layout.Detail }},
		{"esc leads from the account of a request in the list back to the list", []string{"j", "a", "esc"}, func(m *model) bool { return m.opened.kind == nothingOpen && m.front() == layout.Requests }},
		{"enter on a line of nobody's zooms the log", []string{"5", "G", "enter"}, func(m *model) bool { return m.zoom && m.front() == layout.Log }},
		{"a pane's digit again zooms it", []string{"5", "5"}, func(m *model) bool { return m.zoom && m.focus == layout.Log }},
		{"esc leaves the zoom", []string{"5", "z", "esc"}, func(m *model) bool { return !m.zoom }},
		{"tab goes round", []string{"tab", "tab", "tab", "tab", "tab"}, func(m *model) bool { return m.focus == layout.Requests }},
		{"shift+tab goes back", []string{"shift+tab"}, func(m *model) bool { return m.focus == layout.Accounts }},
		{"f holds still", []string{"f"}, func(m *model) bool { return !m.requests.Cursor.Follows() }},
		{"f again follows", []string{"f", "f"}, func(m *model) bool { return m.requests.Cursor.Follows() }},
		{"G goes to the oldest", []string{"G"}, func(m *model) bool { return m.selectedRequest().ID == 4167 }},
		{"g goes back to live", []string{"G", "g"}, func(m *model) bool { return m.requests.Cursor.Follows() }},
		{"a filter narrows as it is typed", []string{"/", "state:failed"}, func(m *model) bool { return len(m.requests.Rows(m.view())) == 1 }},
		{"enter keeps it", []string{"/", "state:failed", "enter"}, func(m *model) bool { return m.filter == nil && len(m.requests.Rows(m.view())) == 1 }},
		{"esc forgets it", []string{"/", "state:failed", "esc"}, func(m *model) bool { return m.filter == nil && m.requests.Filter.Empty() }},
		{"esc in the list clears it", []string{"/", "state:failed", "enter", "esc"}, func(m *model) bool { return m.requests.Filter.Empty() }},
		{"the log has a filter of its own", []string{"5", "/", "relay", "enter"}, func(m *model) bool {
			return len(m.logs.Rows(m.view())) == 2 && m.requests.Filter.Empty()
		}},
		{"? shows the keys", []string{"?"}, func(m *model) bool { return m.help != nil }},
		{"/ in the help searches", []string{"?", "/", "pin"}, func(m *model) bool { return m.help.Searching && m.help.Search.String() == "pin" }},
		{"keys are text while searching", []string{"?", "/", "q"}, func(m *model) bool { return m.help != nil && m.exit == Running }},
		{"l scrolls the log sideways", []string{"5", "l"}, func(m *model) bool { return m.logs.Side == 8 }},
		{"it goes no further than the longest line", strings.Fields("5 " + strings.Repeat("l ", 60)), func(m *model) bool { return m.logs.Side > 0 && m.logs.Side < 100 }},
		{"an unknown second key does nothing", []string{"y", "x"}, func(m *model) bool { return m.pending == "" }},
		{"the palette opens a request by its number", []string{":", "goto 4176", "enter"}, func(m *model) bool { return m.opened.request == 4176 }},
		{"the palette filters", []string{":", "filter agent:droid", "enter"}, func(m *model) bool { return len(m.requests.Rows(m.view())) == 2 }},
		{"a command that takes words waits for them", []string{":", "filter", "enter"}, func(m *model) bool { return m.palette != nil && m.palette.Input.String() == "filter " }},
		{"tab completes in the palette", []string{":", "wak", "tab"}, func(m *model) bool { return strings.HasPrefix(m.palette.Input.String(), "wake ") }},
		{"the palette chooses the layout", []string{":", "layout wide", "enter"}, func(m *model) bool { return m.wide != nil }},
		{"the palette quits", []string{":", "quit", "enter"}, func(m *model) bool { return m.dialog != nil }},
		{"t wears the next theme", []string{"t"}, func(m *model) bool { return m.theme.ID != "magpie-dark" && m.chose == m.theme.ID }},
		{"the palette wears a theme", []string{":", "theme contrast", "enter"}, func(m *model) bool { return m.theme.ID == "contrast" }},
	} {
		if m := keyed(t, newFake(sceneView()), tc.keys...); !tc.want(m) {
			t.Errorf("%s: it does not:\n%s", tc.does, m.canvas.Plain())
		}
	}
}

func TestALineOfTheLogOpensItsAccount(t *testing.T) {
	m := keyed(t, newFake(sceneView()))
	m.st.Apply(trace.Batch{Logs: []trace.Log{{Seq: 1 << 40, Time: sceneNow, Level: "warn", Text: relayA + " rests 60s: rate limit"}}}, sceneNow)
	m.settle()
	for _, k := range []string{"5", "enter"} {
		settleCmd(m, press(m, k))
		m.draw()
	}
	if m.opened.account != relayA || m.front() != layout.Detail {
		t.Fatalf("it does not:\n%s", m.canvas.Plain())
	}
	for _, k := range []string{"j", "esc"} { // also after a look at the next account
		settleCmd(m, press(m, k))
		m.draw()
	}
	if m.opened.kind != nothingOpen || m.front() != layout.Log {
		t.Errorf("esc does not lead back to the log:\n%s", m.canvas.Plain())
	}
}

func TestPastedTextFiresNoKeys(t *testing.T) {
	g := newFake(sceneView())
	m := keyed(t, g)
	pasted := keyMsg{KeyMsg: tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("1pqQ"), Paste: true}, at: m.now}
	settleCmd(m, m.handle(pasted))
	if len(g.did()) > 0 || m.dialog != nil || m.focus != layout.Requests {
		t.Error("pasted text pressed keys")
	}
	press(m, "/")
	m.handle(keyMsg{KeyMsg: tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("state:\nfailed\x1b[2J"), Paste: true}, at: m.now})
	if got := m.filter.Input.String(); strings.ContainsAny(got, "\n\x1b") {
		t.Errorf("the filter holds %q", got)
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	g := newFake(sceneView())
	m := sceneModel(t, scene{options: func(o *Options) { o.ReadOnly = true }}, layout.Size{W: 80, H: 24})
	m.g = g
	for _, k := range []string{"1", "p", "P", "j", "j", "j", "w", "U", ":", "pause work", "enter"} {
		settleCmd(m, press(m, k))
	}
	if len(g.did()) > 0 {
		t.Errorf("it did %v", g.did())
	}
}

func TestAMaskedScreenNamesNobodyInWhatItSays(t *testing.T) {
	m := sceneModel(t, scene{options: func(o *Options) { o.Screen.MaskAccounts = true }}, layout.Size{W: 80, H: 24})
	for name, say := range map[string]func(){
		"what was done":   func() { m.done(doneMsg{done: control.Done{Words: "paused " + homePro, Undo: true}, at: sceneNow}) },
		"what went wrong": func() { m.fail(errors.New("nobody reads " + homePro)) },
		"what is asked": func() {
			m.ask(askMsg{command: control.Command{Verb: control.Pause, Who: homePro}, effect: control.Effect{Words: "pause " + homePro}, at: sceneNow})
		},
	} {
		say()
		m.draw()
		if text := m.canvas.Plain(); strings.Contains(text, "home-pro") || !strings.Contains(text, "acct-2") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

func TestWhatWentWrongStaysUntilAKey(t *testing.T) {
	g := newFake(sceneView())
	g.do = func(control.Command, control.Token) (control.Done, error) {
		return control.Done{}, &control.Error{Message: "no such account", Matches: []string{"a/1", "b/1"}}
	}
	m := keyed(t, g, "1", "j", "p")
	m.now = m.now.Add(time.Hour)
	m.draw()
	if !strings.Contains(m.canvas.Plain(), "no such account: a/1 b/1") {
		t.Errorf("the refusal is not told:\n%s", m.canvas.Plain())
	}
	press(m, "k")
	m.draw()
	if strings.Contains(m.canvas.Plain(), "no such account") {
		t.Error("it is still told after a key")
	}
}

func TestADisabledCommandSaysWhy(t *testing.T) {
	m := keyed(t, newFake(sceneView()), "1", "w")
	if !strings.Contains(m.canvas.Plain(), "it does not rest") {
		t.Errorf("it does not say why:\n%s", m.canvas.Plain())
	}
}

func TestAnOpenPageOfWhatIsGoneCloses(t *testing.T) {
	m := keyed(t, newFake(sceneView()), "1", "enter")
	m.handle(feed.Msg{Batch: trace.Batch{Accounts: []trace.Account{{ID: workMax, Removed: true}}}, At: m.now})
	if m.opened.kind != nothingOpen {
		t.Error("an account that is gone is still open")
	}
}

func TestTheFeedsEndEndsTheScreen(t *testing.T) {
	m := keyed(t, newFake(sceneView()))
	m.handle(feed.Msg{Err: context.Canceled, At: m.now})
	if m.exit != ExitStop {
		t.Errorf("it ended with %v", m.exit)
	}
}

func TestAPanicEndsTheScreenWithItsStack(t *testing.T) {
	m := sceneModel(t, scene{}, layout.Size{W: 80, H: 24})
	m.canvas = nil
	_, cmd := m.Update(tea.WindowSizeMsg{Width: 90, Height: 30})
	if m.exit != ExitPanic || !strings.Contains(string(m.crash), "draw.go") || cmd == nil {
		t.Fatalf("exit %v, stack %q", m.exit, m.crash)
	}
	if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("the program does not end")
	}
}

func TestWakeUpsDoNotPileUp(t *testing.T) {
	m := sceneModel(t, scene{}, layout.Size{W: 80, H: 24})
	for range 1000 {
		m.dirty = true
		m.Update(feed.Msg{Batch: trace.Batch{Logs: []trace.Log{{Text: "x"}}}, At: m.now})
	}
	if n := len(m.armed); n != 1 {
		t.Errorf("%d wake-ups are under way for one change to come", n)
	}
	due := m.armed[0]
	m.Update(tickMsg{due: due, now: due})
	if len(m.armed) != 1 || !m.armed[0].After(due) {
		t.Errorf("after a wake-up those under way are %v", m.armed)
	}
}

// tools stands for the programs that hold a clipboard.
type tools struct{ text *string }

func (tools) Has(name string) bool { return name == "pbcopy" }

func (c tools) Run(_ context.Context, text string, _ []string) error {
	*c.text = text
	return nil
}

func TestCopying(t *testing.T) {
	for _, tc := range []struct {
		what string
		keys []string
		want func(string) bool
	}{
		{"y i copies a request's id", []string{"y", "i"}, func(s string) bool { return s == "4182" }},
		{"y i copies an account's id", []string{"1", "y", "i"}, func(s string) bool { return s == workMax }},
		{"y j copies a request as JSON", []string{"j", "j", "y", "j"}, func(s string) bool {
			var r trace.Route
			return json.Unmarshal([]byte(s), &r) == nil && r.ID == 4180 && r.Order[0].Reason == "first in group always-on"
		}},
		{"y y copies the row", []string{"j", "j", "y", "y"}, func(s string) bool { return strings.HasPrefix(s, "codex gpt-6.1-sol » claude/work-max 200") }},
		{"y y copies a line of the log", []string{"5", "y", "y"}, func(s string) bool { return s == "14:02:08 warn: relay-a rests 60s: rate limit" }},
		{"y y copies an open page", []string{"j", "j", "enter", "y", "y"}, func(s string) bool {
			return strings.Contains(s, "considered, in order") && strings.Contains(s, "2 ✓ work-max")
		}},
	} {
		m := sceneModel(t, scenes[1], layout.Size{W: 80, H: 24})
		var got string
		m.clip = &term.Clipboard{Tools: tools{&got}}
		for _, k := range tc.keys {
			settleCmd(m, press(m, k))
		}
		if !tc.want(got) {
			t.Errorf("%s: it copied %q", tc.what, got)
		}
		m.draw()
		if !strings.Contains(m.canvas.Plain(), "copied with pbcopy") {
			t.Errorf("%s: it does not say so", tc.what)
		}
	}
}

func TestTheScreenComesBackAsItWasLeft(t *testing.T) {
	m := keyed(t, newFake(sceneView()), "/", "state:failed", "enter", "t", "4", "z")
	mem := m.memory()
	again := sceneModel(t, scene{options: func(o *Options) { o.Memory = mem }}, layout.Size{W: 80, H: 24})
	if again.focus != layout.Groups || !again.zoom || again.requests.Filter.Text != "state:failed" || again.theme.ID != m.theme.ID {
		t.Errorf("it comes back as %+v", again.memory())
	}
	gone := sceneModel(t, scene{options: func(o *Options) { o.Memory = Memory{Pane: 99, Theme: "no-such"} }}, layout.Size{W: 80, H: 24})
	if gone.focus != layout.Requests || gone.theme.ID != "magpie-dark" {
		t.Errorf("with a memory that makes no sense it comes back as %+v", gone.memory())
	}
}

func TestWrongOptionsAreToldBeforeTheScreenOpens(t *testing.T) {
	env := func(k string) string { return map[string]string{"TERM": "xterm-256color"}[k] }
	if _, err := newModel(t.Context(), nil, Options{Env: env, Keys: map[string][]string{"no.such": {"x"}}}, true); err == nil {
		t.Error("a key for no command is taken")
	}
	if _, err := newModel(t.Context(), nil, Options{Env: env, Look: Look{Flag: "no-such"}}, true); err == nil {
		t.Error("a theme that is not there is taken")
	}
	if _, err := newModel(t.Context(), nil, Options{Env: env, Look: Look{Theme: config.Theme{Name: "no-such"}}}, true); err == nil {
		t.Error("a theme of the config that is not there is taken")
	}
}

func TestRunTellsWhyItCannotWatch(t *testing.T) {
	_, err := Run(t.Context(), deaf{}, Options{})
	if err == nil || !strings.Contains(err.Error(), "nobody home") {
		t.Errorf("it says %v", err)
	}
}

// deaf is a gateway that does not answer.
type deaf struct{ Gateway }

func (deaf) Watch(context.Context) (trace.View, trace.Feed, error) {
	return trace.View{}, nil, errors.New("nobody home")
}
