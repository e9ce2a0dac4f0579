package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/over"
	"dev.magpie/tui/state"
)

// order is one command of the palette: how it is listed, and what it does with what was typed
// after its name.
type order struct {
	over.Entry
	run func(m *model, rest string) tea.Cmd
}

// orders lists every command that can be typed now.
func (m *model) orders() []order {
	all := m.accountOrders()
	all = append(all, m.plainOrders()...)
	all = append(all, m.choiceOrders()...)
	for _, id := range m.themes {
		all = append(all, order{
			Entry: over.Entry{Text: "theme " + id, Help: "wear it"},
			run:   func(m *model, _ string) tea.Cmd { return m.wearNamed(id) },
		})
	}
	return all
}

// accountOrders are what can be done to each account, and why it cannot be done now.
func (m *model) accountOrders() []order {
	var all []order
	for i := range m.st.Accounts {
		a := m.st.Accounts[i]
		name := m.st.Name(a.ID)
		add := func(verb control.Verb, key keys.ID, help, off string) {
			if m.o.ReadOnly && verb != control.Refresh {
				off = "read-only"
			}
			all = append(all, order{
				Entry: over.Entry{Text: string(verb) + " " + name, Help: help, Key: m.keyOf(string(key)), Off: off},
				run: func(m *model, _ string) tea.Cmd {
					return m.do(control.Command{Verb: verb, Who: a.ID}, verb != control.Pause || !m.lastReady(a.ID))
				},
			})
		}
		paused, pinned := a.State == trace.Paused_ || a.Paused != nil, a.Pinned != nil
		add(control.Pause, keys.Pause, "never ask it until it is resumed", unless(!paused, "it is paused"))
		add(control.Resume, keys.Pause, "let it take requests again", unless(paused, "it is not paused"))
		add(control.Pin, keys.Pin, "ask it first until it is unpinned", unless(!pinned, "it is pinned"))
		add(control.Unpin, keys.Pin, "ask it in its turn again", unless(pinned, "it is not pinned"))
		rests := a.Rest != nil && a.Rest.Until.After(m.now)
		add(control.Wake, keys.Wake, "end its rest now", unless(rests, "it does not rest"))
		add(control.Refresh, keys.Refresh, "ask its vendor now what is left", "")
	}
	return all
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

// plainOrders are the commands that are about nothing in particular.
func (m *model) plainOrders() []order {
	named := func(text, help string, id keys.ID) order {
		o := order{Entry: over.Entry{Text: text, Help: help, Key: m.keyOf(string(id))}, run: func(m *model, _ string) tea.Cmd { return verbs[id](m) }}
		o.Off = "read-only"
		if c := m.reg.Command(id); c != nil {
			_, o.Off = c.Enabled(m.facts())
		}
		return o
	}
	return []order{
		named("undo", "take back the last pause, pin, wake, move or cap", keys.Undo),
		named("follow", "follow the newest, or hold still", keys.Follow),
		named("zoom", "give the pane all of the screen", keys.Zoom),
		named("help", "the keys, for here and everywhere", keys.Help),
		named("redraw", "draw the screen again", keys.Redraw),
		named("quit", "end the screen; asks while serving", keys.Quit),
		{Entry: over.Entry{Text: "filter <words>", Help: "narrow the requests: try:>1", Key: m.keyOf(string(keys.Filter))}, run: (*model).filterBy},
		{Entry: over.Entry{Text: "goto <request>", Help: "open a request by its number"}, run: (*model).goToRequest},
		{Entry: over.Entry{Text: "layout auto", Help: "by the size of the terminal"}, run: layOut(nil)},
		{Entry: over.Entry{Text: "layout wide", Help: "side by side, from 84x20 on"}, run: layOut(&layout.Size{W: 1, H: 1})},
		{Entry: over.Entry{Text: "layout stacked", Help: "one above the other"}, run: layOut(&layout.Size{W: 1 << 16, H: 1 << 16})},
	}
}

func layOut(at *layout.Size) func(*model, string) tea.Cmd {
	return func(m *model, _ string) tea.Cmd {
		m.wide = at
		return nil
	}
}

func (m *model) filterBy(rest string) tea.Cmd {
	m.only(rest)
	return nil
}

// goToRequest opens the newest request whose number ends so.
func (m *model) goToRequest(rest string) tea.Cmd {
	rest = strings.TrimPrefix(strings.TrimSpace(rest), "#")
	for i := len(m.st.Routes) - 1; i >= 0; i-- {
		id := m.st.Routes[i].ID
		if !strings.HasSuffix(strconv.FormatInt(id, 10), rest) {
			continue
		}
		m.focus, m.zoom = layout.Requests, false
		v := m.view()
		if !m.requests.Filter.Match(m.st, m.st.Routes[i], v.Clock) {
			m.requests.Filter = state.Filter{}
		}
		h := m.listHeight(layout.Requests)
		m.requests.Cursor.Select(m.requests.Keys(v), id, h)
		m.opened = opened{kind: requestOpen, request: id}
		return nil
	}
	m.toast.Say(fmt.Sprintf("no request in memory ends in %q", rest), m.now)
	return nil
}

// matching are the commands that fit what is typed, the best first.
func (m *model) matching() []order {
	typed := m.palette.Input.String()
	all := m.orders()
	type scored struct {
		order
		score int
	}
	var fit []scored
	for _, o := range all {
		if n := o.score(typed); n > 0 {
			fit = append(fit, scored{o, n})
		}
	}
	slices.SortStableFunc(fit, func(a, b scored) int {
		if d := cmp.Compare(b.score, a.score); d != 0 {
			return d
		}
		return cmp.Compare(min(len(a.Off), 1), min(len(b.Off), 1))
	})
	out := make([]order, len(fit))
	for i := range fit {
		out[i] = fit[i].order
	}
	return out
}

// score is how well a command fits; one that takes words fits whatever follows its name.
func (o *order) score(typed string) int {
	if name, takes := strings.CutSuffix(o.Text[:strings.IndexByte(o.Text+"<", '<')], " "); takes && strings.HasPrefix(typed, name+" ") {
		return 5
	}
	return over.Match(typed, o.Text)
}

// choices are what the palette lists.
func (m *model) choices() []over.Entry {
	fit := m.matching()
	entries := make([]over.Entry, len(fit))
	for i := range fit {
		entries[i] = fit[i].Entry
	}
	return entries
}

// chosen runs the selected command, or says why it cannot be run. One that takes words waits for them.
func (m *model) chosen() tea.Cmd {
	fit := m.matching()
	if len(fit) == 0 {
		return nil
	}
	o := fit[min(m.palette.Selected, len(fit)-1)]
	rest := ""
	if name, _, takes := strings.Cut(o.Text, "<"); takes {
		typed := m.palette.Input.String()
		if !strings.HasPrefix(typed, name) || strings.TrimSpace(typed[len(name):]) == "" {
			m.palette.Complete(o.Entry)
			return nil
		}
		rest = typed[len(name):]
	}
	m.palette = nil
	if o.Off != "" {
		m.toast.Say(o.Text+": "+o.Off, m.now)
		return nil
	}
	return o.run(m, rest)
}

// complete takes the selected command into the line.
func (m *model) complete() {
	if fit := m.matching(); len(fit) > 0 {
		m.palette.Complete(fit[min(m.palette.Selected, len(fit)-1)].Entry)
	}
}
