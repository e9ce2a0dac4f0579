package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/over"
	"dev.magpie/tui/state"
)

// move goes down by n in the list or page in front. An open request or account is one of a list:
// moving shows the next one.
func (m *model) move(n int) {
	if m.help != nil {
		m.scrollHelp(n)
		return
	}
	switch m.front() {
	case layout.Detail:
		if m.opened.kind == groupOpen {
			m.pick(n)
			return
		}
		m.moveIn(m.origin(), n)
		m.reopen()
	case layout.Accounts, layout.Requests, layout.Conversations, layout.Groups, layout.Log:
		m.moveIn(m.front(), n)
		if m.front() == m.origin() {
			m.reopen()
		}
	case layout.NoPane:
	}
}

// moveIn moves the selection of a list.
func (m *model) moveIn(p layout.Pane, n int) {
	v, h := m.view(), m.listHeight(p)
	switch p {
	case layout.Accounts:
		rows, _ := m.accounts.Rows(v, h)
		m.accounts.Cursor.Move(m.accounts.Keys(v, h), n, max(rows, 1))
	case layout.Requests:
		m.requests.Cursor.Move(m.requests.Keys(v), n, h)
	case layout.Conversations:
		m.talks.Cursor.Move(m.talks.Keys(v), n, h)
	case layout.Groups:
		m.groups.Cursor.Move(m.groups.Keys(v), n, h)
	case layout.Log:
		m.logs.Cursor.Move(m.logs.Keys(v), n, h)
	case layout.Detail, layout.NoPane:
	}
}

// reopen shows what is selected now in the place of what is open.
func (m *model) reopen() {
	v := m.view()
	switch m.opened.kind {
	case requestOpen:
		keys := m.requests.Keys(v)
		if id, has := m.requests.Cursor.Key(keys); has && id != m.opened.request {
			m.opened = opened{kind: requestOpen, request: id, from: m.opened.from}
			m.requests.Cursor.Hold(keys)
		}
	case accountOpen:
		if id, has := m.accounts.Cursor.Key(m.accounts.Keys(v, m.listHeight(layout.Accounts))); has && id != m.opened.account {
			m.opened = opened{kind: accountOpen, account: id, from: m.opened.from}
		}
	case groupOpen:
		if id, has := m.groups.Cursor.Key(m.groups.Keys(v)); has && id != m.opened.group {
			m.opened = opened{kind: groupOpen, group: id, from: m.opened.from}
		}
	case nothingOpen:
	}
}

// page2 goes half a page down or up; in a page that is open it scrolls.
func (m *model) page2(direction int) {
	if m.help != nil {
		m.scrollHelp(direction * max(m.helpHeight()/2, 1))
		return
	}
	if p := m.front(); p != layout.Detail && (m.opened.kind == nothingOpen || p != m.origin()) {
		m.moveIn(p, direction*max(m.listHeight(p)/2, 1))
		return
	}
	m.scroll(direction * max(m.screen.Body(layout.Detail).H/2, 1))
}

// scroll moves the open page, but not past its ends.
func (m *model) scroll(n int) {
	r := m.screen.Body(layout.Detail)
	page := m.page(r.W)
	m.opened.scroll = page.Top(page.Top(m.opened.scroll, r.H)+n, r.H)
}

func (m *model) scrollHelp(n int) {
	lines := len(m.help.Lines(&m.set, m.reg, m.size.W-1))
	h := m.helpHeight()
	m.help.Scroll = m.help.Top(lines, h) + n
	m.help.Scroll = m.help.Top(lines, h)
}

// toFirst goes to the newest row, where a list follows again; in a page to its top.
func (m *model) toFirst() {
	switch {
	case m.help != nil:
		m.help.Scroll = 0
	case m.front() == layout.Detail && m.opened.kind == groupOpen:
		m.pick(-1 << 20)
	case m.front() == layout.Detail:
		m.opened.scroll = 0
	default:
		m.moveIn(m.front(), -1<<20)
		m.reopen()
	}
}

func (m *model) toLast() {
	switch {
	case m.help != nil:
		m.scrollHelp(1 << 20)
	case m.front() == layout.Detail && m.opened.kind == groupOpen:
		m.pick(1 << 20)
	case m.front() == layout.Detail:
		m.scroll(1 << 20)
	default:
		m.moveIn(m.front(), 1<<20)
		m.reopen()
	}
}

// sideways scrolls long lines of the log.
func (m *model) sideways(n int) {
	if m.front() == layout.Log {
		m.logs.Scroll(m.view(), n)
	}
}

// goTo gives a pane the keys; the one that has them is zoomed.
func (m *model) goTo(p layout.Pane) {
	m.help = nil
	if m.focus == p && m.front() == p {
		m.zoom = !m.zoom
		return
	}
	if m.kind() != layout.Wide {
		m.opened = opened{}
	}
	if m.zoom {
		m.opened = opened{}
	}
	m.focus, m.zoom = p, false
}

// cycle gives the keys to the next pane, or the one before.
func (m *model) cycle(n int) {
	if m.help != nil {
		return
	}
	order := []layout.Pane{layout.Accounts, layout.Requests}
	if m.kind() == layout.Wide && m.opened.kind != nothingOpen {
		order = append(order, layout.Detail)
	}
	order = append(order, layout.Conversations, layout.Groups, layout.Log)
	at := 0
	for i, p := range order {
		if p == m.focus {
			at = i
		}
	}
	if m.kind() != layout.Wide {
		m.opened = opened{}
	}
	m.focus, m.zoom = order[(at+n+len(order))%len(order)], false
}

// open shows what is selected: a request, an account, a group, or the requests of a conversation.
func (m *model) open() tea.Cmd {
	v := m.view()
	switch m.front() {
	case layout.Requests:
		if r := m.selectedRequest(); r != nil {
			if m.opened.kind == requestOpen {
				m.focus = layout.Detail
				return nil
			}
			m.requests.Cursor.Hold(m.requests.Keys(v))
			m.opened = opened{kind: requestOpen, request: r.ID}
		}
	case layout.Accounts:
		if a, has := m.selectedAccount(); has {
			if m.opened.kind == accountOpen {
				m.focus = layout.Detail
				return nil
			}
			m.opened = opened{kind: accountOpen, account: a.ID}
		}
	case layout.Conversations:
		if t, has := m.selectedTalk(); has {
			m.only("conv:" + t.Session)
		}
	case layout.Groups:
		if g, has := m.selectedGroup(); has {
			if m.opened.kind == groupOpen {
				m.focus = layout.Detail
				return nil
			}
			m.opened = opened{kind: groupOpen, group: g.ID}
		}
	case layout.Log:
		m.openLine()
	case layout.Detail:
		m.openPicked()
	case layout.NoPane:
	}
	return nil
}

// only shows the requests that pass a filter.
func (m *model) only(filter string) {
	m.opened, m.zoom, m.focus = opened{}, false, layout.Requests
	m.setFilter(state.ParseFilter(filter))
	m.requests.Cursor.Follow()
}

// back goes out by one step.
func (m *model) back() {
	switch {
	case m.pending != "":
		m.pending = ""
	case m.help != nil:
		m.help = nil
	case m.opened.from != nil && (m.front() == layout.Detail || m.focus == m.origin()):
		m.backTo(*m.opened.from)
	case m.opened.kind != nothingOpen && m.front() == layout.Detail && m.kind() == layout.Wide && m.focus == layout.Detail && !m.zoom:
		m.focus = m.origin()
	case m.opened.kind != nothingOpen:
		m.focus = m.origin()
		m.opened = opened{}
	case m.zoom:
		m.zoom = false
	default:
		m.setFilter(state.Filter{})
	}
}

// follow goes with the newest row, or holds the list still.
func (m *model) follow() {
	v := m.view()
	switch p := m.front(); p { //nolint:exhaustive // the other lists have no newest row
	case layout.Log:
		if keys := m.logs.Keys(v); m.logs.Cursor.Follows() {
			m.logs.Cursor.Hold(keys)
		} else {
			m.logs.Cursor.Follow()
		}
	case layout.Requests, layout.Detail:
		if keys := m.requests.Keys(v); m.requests.Cursor.Follows() {
			m.requests.Cursor.Hold(keys)
		} else {
			m.requests.Cursor.Follow()
			m.reopen()
		}
	}
}

// find begins to type a filter for the list in front; in the help a search.
func (m *model) find() {
	if m.help != nil {
		m.help.Searching = true
		return
	}
	m.filter = &over.FilterLine{Input: over.NewInput(m.currentFilter().Text)}
}

// currentFilter is that of the list in front.
func (m *model) currentFilter() *state.Filter {
	switch m.front() { //nolint:exhaustive // the others narrow the requests
	case layout.Conversations:
		return &m.talks.Filter
	case layout.Groups:
		return &m.groups.Filter
	case layout.Log:
		return &m.logs.Filter
	}
	return &m.requests.Filter
}

// setFilter narrows the list in front.
func (m *model) setFilter(f state.Filter) {
	*m.currentFilter() = f
	m.settle()
}

// filterFacts are the filter being typed, and how many rows pass.
func (m *model) filterFacts() (*state.Filter, string) {
	v := m.view()
	f := m.currentFilter()
	var found, all int
	switch m.front() { //nolint:exhaustive // the others narrow the requests
	case layout.Conversations:
		found, all = len(m.talks.Rows(v)), len(m.st.Talks())
	case layout.Groups:
		found, all = len(m.groups.Rows(v)), len(m.st.Groups)
	case layout.Log:
		found, all = len(m.logs.Rows(v)), len(m.st.Logs)
	default:
		found, all = len(m.requests.Rows(v)), len(m.st.Routes)
	}
	return f, fmt.Sprintf("%d of %d", found, all)
}

func (m *model) toggleHelp() {
	if m.help != nil {
		m.help = nil
		return
	}
	m.help = &over.Help{From: m.scope()}
}

// itsAccount goes to the account that the request meant was sent to, or that is chosen on a group's page.
func (m *model) itsAccount() {
	if m.inGroup() {
		if a, has := m.selectedAccount(); has {
			m.within(opened{kind: accountOpen, account: a.ID})
		}
		return
	}
	r := m.selectedRequest()
	if r == nil {
		return
	}
	id := r.Answerer()
	if _, known := m.st.Account(id); !known {
		m.toast.Say(m.st.Name(id)+" is no longer in the config", m.now)
		return
	}
	m.showAccount(id)
}

// openLine opens the account that a line of the log tells of. One that tells of none is given all of the room.
func (m *model) openLine() {
	seq, has := m.logs.Cursor.Key(m.logs.Keys(m.view()))
	i := slices.IndexFunc(m.st.Logs, func(l trace.Log) bool { return l.Seq == seq })
	if !has || i < 0 {
		return
	}
	if id := m.st.About(m.st.Logs[i].Text); id != "" {
		m.showAccount(id)
		return
	}
	m.zoom = true
}

// showAccount opens an account from where the keys are; going back leads there again.
func (m *model) showAccount(id string) {
	from := opened{list: m.front()}
	if m.opened.kind != nothingOpen && (from.list == layout.Detail || from.list == m.origin()) {
		from = m.opened
	}
	m.focus, m.zoom = layout.Accounts, false
	m.opened = opened{kind: accountOpen, account: id, from: &from}
	h := m.listHeight(layout.Accounts)
	m.accounts.Cursor.Select(m.accounts.Keys(m.view(), h), id, h)
}
