package tui

import (
	"fmt"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/over"
	"dev.magpie/tui/pane"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// view is what the panes draw from now.
func (m *model) view() *pane.View {
	v := &pane.View{
		State: m.st, Clock: m.clock, Kind: m.screen.Kind, Size: m.size,
		Listen: m.o.Listen, Demo: m.demo(), Keys: m.keyOf,
	}
	if m.o.Attached != nil {
		v.Attached = &pane.Attached{PID: m.o.Attached.PID}
	}
	return v
}

// keyOf is how the first key of a command is written.
func (m *model) keyOf(id string) string {
	if c := m.reg.Command(keys.ID(id)); c != nil && len(c.Keys) > 0 {
		return keys.Shown(c.Keys[0])
	}
	return ""
}

// draw draws the frame.
func (m *model) draw() {
	m.dirty = false
	if m.size.W <= 0 || m.size.H <= 0 {
		m.frame = ""
		return
	}
	m.paint()
	m.frame = m.canvas.Render(m.pens)
}

// paint fills the canvas. It is a pure function of the model but for the canvas, the
// arrangement, and the clock, which remembers when to come again.
func (m *model) paint() {
	c := m.canvas
	c.Resize(m.size.W, m.size.H)
	m.clock = state.At(m.now)
	trouble, wrong := m.trouble()
	page := m.arrange(wrong)
	v := m.view()
	pane.Header(c.Sub(m.screen.Header), v)
	if wrong && !m.screen.Banner.Empty() {
		over.Banner(c.Sub(m.screen.Banner), trouble)
	}
	if m.help != nil {
		m.drawHelp(c)
	} else {
		m.drawPanes(c, v, page)
	}
	m.drawFooter(c)
	if m.palette != nil {
		m.palette.Draw(c, m.choices())
	}
	if m.dialog != nil {
		if m.dialog.renew != nil {
			m.dialog.renew(m, &m.dialog.Dialog)
		}
		m.dialog.Draw(c)
	}
}

// trouble is what the banner says: what needs somebody, else that this is the demo.
func (m *model) trouble() (state.Trouble, bool) {
	if t, wrong := m.st.Trouble(m.clock); wrong {
		return t, true
	}
	if m.demo() && m.kind() <= layout.Stacked {
		return state.Trouble{Text: "DEMO " + m.set.Sep + " stand-in vendors, no key is used"}, true
	}
	return state.Trouble{}, false
}

func (m *model) demo() bool { return m.o.Demo || m.st.Status.Demo }

// arrange lays the screen out and writes the page that is open.
func (m *model) arrange(banner bool) *pane.Page {
	args := m.args(banner)
	if m.opened.kind == nothingOpen {
		m.screen = layout.Arrange(args)
		return nil
	}
	args.Detail = 1
	width := layout.Arrange(args).Panes[layout.Detail].W
	page := m.page(width)
	args.Detail = max(len(page.Lines), 1)
	m.screen = layout.Arrange(args)
	return page
}

func (m *model) args(banner bool) layout.Args {
	a := layout.Args{
		Size: m.size, WideAt: m.wideAt(), Focus: m.front(), Zoom: m.zoom, Banner: banner,
		Accounts: len(m.st.Accounts), Live: len(m.st.Live()),
	}
	if a.Accounts == 0 {
		a.Accounts = pane.Welcome
	}
	return a
}

// wideAt is from which size on the layout is wide.
func (m *model) wideAt() layout.Size {
	if m.wide != nil {
		return *m.wide
	}
	size, err := layout.ParseSize(m.o.Screen.WideAt)
	if err != nil {
		return layout.Size{}
	}
	return size
}

// page writes what is open for a width.
func (m *model) page(width int) *pane.Page {
	v := m.view()
	var p pane.Page
	switch m.opened.kind {
	case requestOpen:
		if r := m.st.Route(m.opened.request); r != nil {
			p = pane.RequestPage(&m.set, v, r, width, placeOf(m.requests.Keys(v), r.ID))
		}
	case accountOpen:
		if a, found := m.st.Account(m.opened.account); found {
			p = pane.AccountPage(&m.set, v, &a, width, placeOf(m.accounts.Keys(v, m.listHeight(layout.Accounts)), a.ID))
		}
	case groupOpen:
		if g, found := m.st.Group(m.opened.group); found {
			p = pane.GroupPage(&m.set, v, &pane.OpenGroup{Group: g, Plan: m.plan.of(g.ID), Place: placeOf(m.groups.Keys(v), g.ID)}, width)
		}
	case nothingOpen:
	}
	return &p
}

// placeOf says where something stands in its list, "" when the list does not have it.
func placeOf[K comparable](keys []K, key K) string {
	for i, k := range keys {
		if k == key {
			return fmt.Sprintf("%d of %d", i+1, len(keys))
		}
	}
	return ""
}

// drawPanes draws every pane that the arrangement shows.
func (m *model) drawPanes(c *canvas.Canvas, v *pane.View, page *pane.Page) {
	front := m.front()
	shown := func(p layout.Pane) pane.Shown {
		return pane.Shown{
			Focus: p == front && m.palette == nil, Title: !m.screen.Untitled.Has(p), Summary: m.screen.Summary.Has(p),
		}
	}
	draw := map[layout.Pane]func(*canvas.Canvas, *pane.View, pane.Shown){
		layout.Accounts: m.accounts.Draw, layout.Requests: m.requests.Draw, layout.Conversations: m.talks.Draw,
		layout.Groups: m.groups.Draw, layout.Log: m.logs.Draw,
	}
	for p := layout.Accounts; p <= layout.Log; p++ {
		if r := m.screen.Panes[p]; !r.Empty() {
			draw[p](c.Sub(r), v, shown(p))
		}
	}
	if r := m.screen.Panes[layout.Detail]; page != nil && !r.Empty() {
		page.Draw(c.Sub(r), shown(layout.Detail), m.opened.scroll, m.opened.chosen)
	}
	if d := m.screen.Divider; !d.Empty() && m.screen.Panes[layout.Accounts].W < m.size.W {
		c.VLine(d.X, d.Y, d.H, theme.Rule)
	}
}

// drawHelp draws the page of keys in the room of all panes.
func (m *model) drawHelp(c *canvas.Canvas) {
	r := m.helpRect()
	end := m.keyOf(string(keys.Filter)) + " to search"
	if s := m.help.Search.String(); s != "" || m.help.Searching {
		end = "search: " + s
	}
	ends := []string{end}
	if n := m.help.Below(&m.set, m.reg, m.size.W-1, m.helpHeight()); n > 0 {
		below := fmt.Sprintf("%d more below", n)
		ends = []string{end + " " + m.set.Sep + " " + below, below, fmt.Sprintf("%d more", n)}
	}
	page := pane.Page{Title: m.help.Title(&m.set), Ends: ends}
	page.Draw(c.Sub(canvas.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}), pane.Shown{Focus: true, Title: true, Summary: true}, 0, "")
	m.help.Draw(c.Sub(canvas.Rect{X: r.X, Y: r.Y + 1, W: r.W, H: r.H - 1}), m.reg)
}

func (m *model) helpRect() canvas.Rect {
	top := m.screen.Header.H + m.screen.Banner.H
	return canvas.Rect{Y: top, W: m.size.W, H: m.size.H - top - m.screen.Footer.H}
}

// lowest is the line that toasts and the filter lie over: the footer, else the header, for what is read must
// not be covered.
func (m *model) lowest() canvas.Rect {
	if !m.screen.Footer.Empty() {
		return m.screen.Footer
	}
	return canvas.Rect{W: m.size.W, H: 1}
}

func (m *model) drawFooter(c *canvas.Canvas) {
	line := c.Sub(m.lowest())
	switch {
	case m.filter != nil:
		parsed, found := m.filterFacts()
		m.filter.Draw(line, parsed, found)
	case m.help != nil && m.help.Searching:
		searching := over.FilterLine{Input: m.help.Search}
		searching.Draw(line, &state.Filter{}, "")
	case m.toast.Shown(m.clock):
		m.toast.Draw(line)
	case !m.screen.Footer.Empty():
		m.footer(line)
	}
}

// selectedAccount is the account that a command means: the one that is selected or open, or the one
// that the request meant was sent to.
func (m *model) selectedAccount() (trace.Account, bool) {
	if m.opened.kind == accountOpen && (m.front() == layout.Detail || m.focus == layout.Accounts) {
		return m.st.Account(m.opened.account)
	}
	if m.inGroup() {
		if p, has := m.picked(); has {
			return m.st.Account(p.Account)
		}
		return trace.Account{}, false
	}
	switch m.front() {
	case layout.Accounts:
		v := m.view()
		id, has := m.accounts.Cursor.Key(m.accounts.Keys(v, m.listHeight(layout.Accounts)))
		if !has {
			return trace.Account{}, false
		}
		return m.st.Account(id)
	case layout.Conversations:
		if t, has := m.selectedTalk(); has {
			return m.st.Account(t.Account)
		}
	case layout.Groups:
		if g, has := m.selectedGroup(); has {
			return m.st.Account(g.Next)
		}
	case layout.Requests, layout.Detail:
		if r := m.selectedRequest(); r != nil {
			return m.st.Account(r.Answerer())
		}
	case layout.NoPane, layout.Log:
	}
	return trace.Account{}, false
}

// selectedRequest is the request that a command means, nil when none is.
func (m *model) selectedRequest() *trace.Route {
	switch {
	case m.opened.kind == requestOpen && (m.front() == layout.Detail || m.focus == layout.Requests):
		return m.st.Route(m.opened.request)
	case m.front() == layout.Requests:
		if id, has := m.requests.Cursor.Key(m.requests.Keys(m.view())); has {
			return m.st.Route(id)
		}
	}
	return nil
}

func (m *model) selectedTalk() (state.Talk, bool) {
	session, has := m.talks.Cursor.Key(m.talks.Keys(m.view()))
	if !has {
		return state.Talk{}, false
	}
	return m.st.Talk(session)
}

// selectedGroup is the group that a command means: the one that is open, or selected in its list.
func (m *model) selectedGroup() (trace.Group, bool) {
	if m.inGroup() {
		return m.st.Group(m.opened.group)
	}
	id, has := m.groups.Cursor.Key(m.groups.Keys(m.view()))
	if !has {
		return trace.Group{}, false
	}
	return m.st.Group(id)
}
