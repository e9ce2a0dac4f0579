package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/tui/feed"
	"dev.magpie/tui/layout"
)

// grouped makes a screen of nested groups, with a planner, and presses keys.
func grouped(t *testing.T, size layout.Size, keys ...string) (*model, *fakeGateway) {
	t.Helper()
	g := newFake(nestedGroups())
	g.plan = func(model string) (trace.Route, error) { return planOf(strings.TrimPrefix(model, "group/")), nil }
	m := sceneModel(t, scene{view: nestedGroups}, size)
	m.g = g
	for _, k := range keys {
		settleCmd(m, press(m, k))
		m.draw()
	}
	return m, g
}

func TestKeysOnAGroupsPage(t *testing.T) {
	order := func(group string, names ...string) []control.Command {
		return []control.Command{reordered("group/"+group, names...)}
	}
	const max, pro, codex, cheap, relay = "claude@work-max/claude-sonnet-5-5:high", "claude@home-pro/claude-sonnet-5-5", "chatgpt/gpt-6.1-sol", "group/cheap", "sub2api/claude-sonnet-5-5"
	for _, tc := range []struct {
		does, keys string
		want       []control.Command
		see        func(*model) bool
	}{
		{does: "the first in the order is chosen", keys: "", see: func(m *model) bool { a, _ := m.selectedAccount(); return a.ID == workMax }},
		{does: "p pauses who is chosen", keys: "j p", want: []control.Command{{Verb: control.Pause, Who: homePro}}},
		{does: "p lets a paused one take requests again", keys: "j j j j j p", want: []control.Command{{Verb: control.Resume, Who: "openrouter/or-key"}}},
		{does: "P pins who is chosen", keys: "j P", want: []control.Command{{Verb: control.Pin, Who: homePro}}},
		{does: "w wakes who rests", keys: "j j w", want: []control.Command{{Verb: control.Wake, Who: codex1}}},
		{does: "w does nothing to who does not", keys: "j w"},
		{does: "u has its vendor asked", keys: "u", want: []control.Command{{Verb: control.Refresh, Who: workMax}}},
		{does: "J moves the member of who is chosen", keys: "J", want: order("always-on", pro, max, codex, cheap, relay)},
		{does: "K on a member", keys: "G K", want: order("always-on", max, pro, codex, relay, cheap)},
		{does: "J on the last member does nothing", keys: "G J"},
		{does: "J on one of a group within moves that group", keys: "j j j j J", want: order("always-on", max, pro, codex, relay, cheap)},
		{does: "p on a member pauses its first", keys: "G p", want: []control.Command{{Verb: control.Pause, Who: relayA}}},
		{does: "U takes back", keys: "p U", want: []control.Command{{Verb: control.Pause, Who: workMax}, {Verb: control.Undo}}},
		{does: "enter opens the account", keys: "j enter", see: func(m *model) bool { return m.opened.account == homePro }},
		{does: "a as well", keys: "j a", see: func(m *model) bool { return m.opened.account == homePro }},
		{does: "esc leads back to the same place", keys: "j enter esc", see: func(m *model) bool { a, _ := m.selectedAccount(); return m.inGroup() && a.ID == homePro }},
		{does: "esc leads back after a look at other accounts", keys: "j enter j j esc", see: func(m *model) bool { return m.inGroup() && m.opened.group == "always-on" }},
		{does: "q leads back as well", keys: "j enter j q", see: func(m *model) bool { return m.inGroup() && m.exit == Running }},
		{does: "enter on a group within opens it", keys: "G k enter", see: func(m *model) bool { return m.opened.group == "cheap" && len(m.plan.of("cheap").Route.Left) == 2 }},
		{does: "esc leads back from it", keys: "G k enter esc", see: func(m *model) bool { return m.opened.group == "always-on" && m.plan.of("always-on").Known }},
		{does: "esc twice leads to the list", keys: "G k enter esc esc", see: func(m *model) bool { return m.opened.kind == nothingOpen && m.front() == layout.Groups }},
		{does: "g goes to the top", keys: "G g", see: func(m *model) bool { p, _ := m.picked(); return p.Account == workMax && m.opened.scroll == 0 }},
		{does: "the end can be read", keys: "G", see: func(m *model) bool { return strings.Contains(m.canvas.Plain(), "↻ relay-a rests") }},
	} {
		m, g := grouped(t, layout.Size{W: 80, H: 24}, append([]string{"4", "enter"}, strings.Fields(tc.keys)...)...)
		if diff := cmp.Diff(tc.want, g.did()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.does, diff)
		}
		if tc.see != nil && !tc.see(m) {
			t.Errorf("%s: not so:\n%s", tc.does, m.canvas.Plain())
		}
	}
}

func TestWhoIsNextIsAskedAgainWhenSomethingChanged(t *testing.T) {
	m, g := grouped(t, layout.Size{W: 80, H: 24})
	asked := 0
	g.plan = func(model string) (trace.Route, error) {
		asked++
		return planOf(strings.TrimPrefix(model, "group/")), nil
	}
	settleCmd(m, press(m, "4"))
	settleCmd(m, press(m, "enter"))
	if asked != 1 {
		t.Fatalf("opened: asked %d times", asked)
	}
	settleCmd(m, press(m, "j"))
	if asked != 1 {
		t.Errorf("a key changes nothing, but it was asked again")
	}
	changed := m.st.Accounts[0]
	changed.State = trace.Low
	tell := func() func() {
		cmd := m.take(feed.Msg{Batch: trace.Batch{Accounts: []trace.Account{changed}}, At: m.now})
		_ = cmd // it waits for what the gateway tells next
		look := m.look()
		return func() { settleCmd(m, look) }
	}
	answer := tell()
	if second := tell(); m.look() != nil {
		second()
		t.Error("two questions are under way at once")
	}
	answer()
	if asked != 3 {
		t.Errorf("asked %d times: once when opened, once for each change", asked)
	}
	g.plan = func(string) (trace.Route, error) { return trace.Route{}, errors.New("the gateway is gone") }
	tell()()
	m.draw()
	if got := m.canvas.Plain(); !strings.Contains(got, "can't be told now: the gateway is gone") {
		t.Errorf("a planner that does not answer:\n%s", got)
	}
}

func TestAGroupThatIsGoneClosesItsPage(t *testing.T) {
	m, _ := grouped(t, layout.Size{W: 120, H: 40}, "4", "enter")
	gone, _ := m.st.Group("always-on")
	gone.Removed = true
	m.take(feed.Msg{Batch: trace.Batch{Groups: []trace.Group{gone}}, At: m.now})
	if m.opened.kind != nothingOpen {
		t.Errorf("%+v", m.opened)
	}
}

func TestBesideItsListTheNextGroupIsShown(t *testing.T) {
	m, _ := grouped(t, layout.Size{W: 120, H: 40}, "4", "enter", "j")
	if m.opened.group != "cheap" || m.front() != layout.Groups || !m.plan.of("cheap").Known {
		t.Errorf("%+v, %v", m.opened, m.front())
	}
	settleCmd(m, press(m, "enter"))
	if !m.inGroup() {
		t.Error("enter gives the page the keys")
	}
}

// On a screen that shows another process's gateway q leaves at once, but not before the way back is gone.
func TestTheQuitKeyGoesBackBeforeItLeaves(t *testing.T) {
	m, _ := grouped(t, layout.Size{W: 120, H: 40}, "4", "enter", "enter", "enter", "shift+tab", "shift+tab")
	m.o.Attached = &Attached{PID: 1}
	if m.front() != layout.Accounts || m.opened.kind != accountOpen {
		t.Fatalf("an account is open and its list has the keys: %+v, %v", m.opened, m.front())
	}
	if last := m.canvas.Plain(); strings.Contains(last, "q quit") {
		t.Errorf("the footer offers to quit:\n%s", last)
	}
	settleCmd(m, press(m, "q"))
	if m.exit != Running || m.opened.kind != groupOpen {
		t.Errorf("q leads back to the group's page: %+v, exit %v", m.opened, m.exit)
	}
	settleCmd(m, press(m, "q"))
	if m.exit != ExitQuit {
		t.Error("there is no way back any more: q leaves")
	}
}
