package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/pane"
)

// A group's page: who would be asked of it now, which only the gateway's planner knows, and what is
// chosen on the page.

// planned is what the planner last said of the group that is open.
type planned struct {
	group  string // whose it is
	said   pane.Planned
	asking bool // an answer is on its way
	stale  bool // something changed since it was asked
}

// of is what was said of a group.
func (p *planned) of(group string) *pane.Planned {
	if p.group != group {
		return &pane.Planned{}
	}
	return &p.said
}

// planMsg brings what the planner said of a group.
type planMsg struct {
	group string
	route trace.Route
	err   error
	at    time.Time
}

// look has the planner asked where what it said of the open group is no longer true. One question is under
// way at a time.
func (m *model) look() tea.Cmd {
	if m.opened.kind != groupOpen || m.plan.asking || m.plan.group == m.opened.group && !m.plan.stale {
		return nil
	}
	m.plan.asking, m.plan.stale = true, false
	ctx, g, now, group := m.ctx, m.g, m.o.Now, m.opened.group
	return m.guard(func() tea.Msg {
		r, err := g.Plan(ctx, "group/"+group)
		return planMsg{group: group, route: r, err: err, at: now()}
	})
}

// planned keeps what the planner said.
func (m *model) planned(msg planMsg) {
	m.now = later(m.now, msg.at)
	m.plan.asking = false
	m.plan.group, m.plan.said = msg.group, pane.Planned{Known: msg.err == nil, Route: msg.route}
	if msg.err != nil {
		m.plan.said.Error = msg.err.Error()
	}
	m.dirty = true
}

// inGroup says whether a group's page has the keys.
func (m *model) inGroup() bool { return m.opened.kind == groupOpen && m.front() == layout.Detail }

// picked is what is chosen on the page in front.
func (m *model) picked() (pane.Pick, bool) {
	page := m.page(m.screen.Panes[layout.Detail].W)
	i := page.Picked(m.opened.chosen)
	if i < 0 {
		return pane.Pick{}, false
	}
	return page.Picks[i], true
}

// pick chooses what stands n further on the page; the page scrolls as far as it must, and at its ends all the way.
func (m *model) pick(n int) {
	r := m.screen.Body(layout.Detail)
	page := m.page(r.W)
	i := page.Picked(m.opened.chosen)
	if i < 0 {
		m.scroll(n)
		return
	}
	to := min(max(i+n, 0), len(page.Picks)-1)
	p := page.Picks[to]
	m.opened.chosen = p.Key
	top := page.Top(m.opened.scroll, r.H)
	switch {
	case to == 0:
		top = 0
	case to == len(page.Picks)-1:
		top = min(len(page.Lines), p.Line)
	case p.Line < top:
		top = p.Line
	case p.Line+p.N > top+r.H:
		top = min(p.Line, p.Line+p.N-r.H)
	}
	m.opened.scroll = page.Top(top, r.H)
}

// openPicked opens what is chosen on a group's page: the group that a member is, else the account.
func (m *model) openPicked() {
	p, has := m.picked()
	if !m.inGroup() || !has {
		return
	}
	if _, known := m.st.Group(p.Group); known && p.Group != "" {
		m.within(opened{kind: groupOpen, group: p.Group})
		return
	}
	m.itsAccount()
}

// within opens a page from the one that is open; going back leads there again.
func (m *model) within(next opened) {
	from := m.opened
	next.from = &from
	m.opened = next
	if m.focus != layout.Detail {
		m.focus = m.origin()
	}
	h := m.listHeight(m.origin())
	switch next.kind {
	case accountOpen:
		m.accounts.Cursor.Select(m.accounts.Keys(m.view(), h), next.account, h)
	case groupOpen:
		m.groups.Cursor.Select(m.groups.Keys(m.view()), next.group, h)
	case nothingOpen, requestOpen:
	}
}

// backTo shows the page or list again from which a page was opened, where there still is what it shows.
func (m *model) backTo(page opened) {
	m.opened = page
	if m.focus != layout.Detail || page.kind == nothingOpen {
		m.focus = m.origin()
	}
	v, h := m.view(), m.listHeight(m.origin())
	switch page.kind {
	case groupOpen:
		m.groups.Cursor.Select(m.groups.Keys(v), page.group, h)
	case accountOpen:
		m.accounts.Cursor.Select(m.accounts.Keys(v, h), page.account, h)
	case requestOpen:
		m.requests.Cursor.Select(m.requests.Keys(v), page.request, h)
	case nothingOpen:
		m.opened = opened{}
	}
	m.settle()
}

// itsRequests shows what was asked of the group meant.
func (m *model) itsRequests() {
	if g, has := m.selectedGroup(); has {
		m.only("group:" + g.ID)
	}
}
