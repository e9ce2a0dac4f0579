package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/tui/keys"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/over"
	"dev.magpie/tui/state"
)

// typed hands a key to whoever is in front. Letters that came at once are keys one after
// another; what was pasted is text, and means nothing outside a line of text.
func (m *model) typed(k tea.KeyMsg) tea.Cmd {
	m.dirty = true
	m.toast.Key()
	if k.Type == tea.KeyCtrlC {
		return m.interrupt()
	}
	if line := m.line(); line != nil {
		return m.write(line, k)
	}
	if k.Paste {
		return nil
	}
	if k.Type != tea.KeyRunes || len(k.Runes) < 2 || k.Alt {
		return m.press(k.String())
	}
	var cmds []tea.Cmd
	for _, r := range k.Runes {
		cmds = append(cmds, m.press(string(r)))
	}
	return tea.Batch(cmds...)
}

// line is the line of text that keys go to, nil when they go to none.
func (m *model) line() *over.Input {
	switch {
	case m.dialog != nil:
		return nil
	case m.palette != nil:
		return &m.palette.Input
	case m.filter != nil:
		return &m.filter.Input
	case m.help != nil && m.help.Searching:
		return &m.help.Search
	}
	return nil
}

// write edits a line of text and lets what depends on it follow.
func (m *model) write(line *over.Input, k tea.KeyMsg) tea.Cmd {
	key := k.String()
	switch {
	case k.Paste:
		line.Insert(string(k.Runes))
	case m.palette != nil && key == "tab":
		m.complete()
	case m.palette != nil && m.palette.Key(key, len(m.choices())):
		return nil
	case key == "enter":
		return m.entered()
	case key == "esc":
		m.escaped()
		return nil
	case k.Type == tea.KeyRunes || k.Type == tea.KeySpace:
		if !k.Alt {
			line.Type(k.Runes)
		}
	case !line.Edit(key):
		return nil
	}
	m.written()
	return nil
}

// written lets what depends on a line of text follow it.
func (m *model) written() {
	switch {
	case m.palette != nil:
		m.palette.Selected = 0
	case m.filter != nil:
		m.setFilter(state.ParseFilter(m.filter.Input.String()))
	case m.help != nil:
		m.help.Scroll = 0
	}
}

// entered ends a line of text and keeps it.
func (m *model) entered() tea.Cmd {
	switch {
	case m.palette != nil:
		return m.chosen()
	case m.filter != nil:
		m.filter = nil
	case m.help != nil:
		m.help.Searching = false
	}
	return nil
}

// escaped ends a line of text and forgets it.
func (m *model) escaped() {
	switch {
	case m.palette != nil:
		m.palette = nil
	case m.filter != nil:
		m.filter = nil
		m.setFilter(state.Filter{})
	case m.help != nil:
		m.help.Searching = false
		m.help.Search = over.NewInput("")
	}
}

// press carries out one key.
func (m *model) press(key string) tea.Cmd {
	if m.dialog != nil {
		return m.answer(key)
	}
	scope := m.scope()
	if first := m.pending; first != "" {
		m.pending = ""
		if id, found := m.reg.Find(scope, first+" "+key); found {
			return m.run(id)
		}
		return nil
	}
	if m.reg.Begins(scope, key) {
		m.pending = key
		return nil
	}
	id, found := m.reg.Find(scope, key)
	if !found {
		return nil
	}
	if id == keys.Quit && m.opened.from != nil { // first the way back
		id = keys.Close
	}
	return m.run(id)
}

// front is the pane that has the keys: the page where it covers the list that it was opened from.
func (m *model) front() layout.Pane {
	if m.opened.kind == nothingOpen {
		return m.focus
	}
	if m.focus == layout.Detail || m.kind() != layout.Wide {
		return layout.Detail
	}
	if m.zoom && m.focus == m.origin() {
		return layout.Detail
	}
	return m.focus
}

// origin is the pane from which the open page was opened.
func (m *model) origin() layout.Pane {
	switch m.opened.kind {
	case accountOpen:
		return layout.Accounts
	case groupOpen:
		return layout.Groups
	case nothingOpen:
		if m.opened.list != layout.NoPane {
			return m.opened.list
		}
	case requestOpen:
	}
	return layout.Requests
}

// kind is the layout for the present size, which does not depend on anything else.
func (m *model) kind() layout.Kind {
	return layout.Arrange(layout.Args{Size: m.size, WideAt: m.wideAt()}).Kind
}

// scope is whose keys count.
func (m *model) scope() keys.Scope {
	if m.help != nil {
		return keys.InHelp
	}
	switch m.front() {
	case layout.Accounts:
		return keys.InAccounts
	case layout.Conversations:
		return keys.InConvs
	case layout.Groups:
		return keys.InGroups
	case layout.Log:
		return keys.InLog
	case layout.Detail:
		switch m.opened.kind {
		case accountOpen:
			return keys.InAccount
		case groupOpen:
			return keys.InGroup
		case nothingOpen, requestOpen:
		}
		return keys.InRequest
	case layout.Requests, layout.NoPane:
	}
	return keys.InRequests
}

// facts are what decides which commands can be carried out.
func (m *model) facts() keys.Facts {
	a, account := m.selectedAccount()
	r := m.selectedRequest()
	f := keys.Facts{
		Account: account, Request: r != nil || m.inGroup(), Undo: m.undo,
		Rests: account && a.Rest != nil && a.Rest.Until.After(m.now),
		Sent:  r != nil && len(r.Tries) > 0 || m.inGroup() && account,
		Row:   account || r != nil || m.inGroup(),
		Moves: m.movable(),
	}
	switch m.front() {
	case layout.Conversations:
		_, f.Row = m.selectedTalk()
	case layout.Groups:
		_, f.Row = m.selectedGroup()
	case layout.Log:
		f.Row = len(m.st.Logs) > 0
	case layout.Accounts, layout.Requests, layout.Detail, layout.NoPane:
	}
	return f
}

// run carries out a command, or says why it cannot be.
func (m *model) run(id keys.ID) tea.Cmd {
	c := m.reg.Command(id)
	if c == nil {
		return nil
	}
	if ok, why := c.Enabled(m.facts()); !ok {
		m.toast.Say(why, m.now)
		return nil
	}
	do, found := verbs[id]
	if !found {
		return nil
	}
	return do(m)
}

// verbs is what each command does.
var verbs = map[keys.ID]func(*model) tea.Cmd{
	keys.Down:        func(m *model) tea.Cmd { m.move(1); return nil },
	keys.Up:          func(m *model) tea.Cmd { m.move(-1); return nil },
	keys.First:       func(m *model) tea.Cmd { m.toFirst(); return nil },
	keys.Last:        func(m *model) tea.Cmd { m.toLast(); return nil },
	keys.HalfDown:    func(m *model) tea.Cmd { m.page2(1); return nil },
	keys.HalfUp:      func(m *model) tea.Cmd { m.page2(-1); return nil },
	keys.ScrollLeft:  func(m *model) tea.Cmd { m.sideways(-8); return nil },
	keys.ScrollRight: func(m *model) tea.Cmd { m.sideways(8); return nil },
	keys.GoAccounts:  func(m *model) tea.Cmd { m.goTo(layout.Accounts); return nil },
	keys.GoRequests:  func(m *model) tea.Cmd { m.goTo(layout.Requests); return nil },
	keys.GoConvs:     func(m *model) tea.Cmd { m.goTo(layout.Conversations); return nil },
	keys.GoGroups:    func(m *model) tea.Cmd { m.goTo(layout.Groups); return nil },
	keys.GoLog:       func(m *model) tea.Cmd { m.goTo(layout.Log); return nil },
	keys.NextPane:    func(m *model) tea.Cmd { m.cycle(1); return nil },
	keys.PrevPane:    func(m *model) tea.Cmd { m.cycle(-1); return nil },
	keys.Zoom:        func(m *model) tea.Cmd { m.zoom = !m.zoom; return nil },
	keys.Open:        (*model).open,
	keys.Back:        func(m *model) tea.Cmd { m.back(); return nil },
	keys.Close:       func(m *model) tea.Cmd { m.back(); return nil },
	keys.Follow:      func(m *model) tea.Cmd { m.follow(); return nil },
	keys.Filter:      func(m *model) tea.Cmd { m.find(); return nil },
	keys.Palette:     func(m *model) tea.Cmd { m.palette = &over.Palette{}; return nil },
	keys.Help:        func(m *model) tea.Cmd { m.toggleHelp(); return nil },
	keys.Redraw:      (*model).redraw,
	keys.NextTheme:   (*model).nextTheme,
	keys.ItsAccount:  func(m *model) tea.Cmd { m.itsAccount(); return nil },
	keys.ItsRequests: func(m *model) tea.Cmd { m.itsRequests(); return nil },
	keys.CopyID:      (*model).copyID,
	keys.CopyJSON:    (*model).copyJSON,
	keys.CopyRow:     (*model).copyRow,
	keys.Pause:       (*model).pause,
	keys.Pin:         (*model).pin,
	keys.Wake:        (*model).wakeAccount,
	keys.Refresh:     (*model).readAgain,
	keys.Later:       func(m *model) tea.Cmd { return m.reorder(1) },
	keys.Earlier:     func(m *model) tea.Cmd { return m.reorder(-1) },
	keys.Undo:        (*model).undoLast,
	keys.Quit:        (*model).quit,
	keys.Interrupt:   (*model).interrupt,
	keys.Suspend:     func(m *model) tea.Cmd { m.stay(); return nil },
}

// redraw draws everything again, for when something else wrote to the terminal.
func (m *model) redraw() tea.Cmd {
	if m.painter == nil {
		return tea.ClearScreen
	}
	m.painter.anew()
	return nil
}

// twice is how soon a second ctrl+c must come to quit at once.
const twice = 2 * time.Second

// interrupt asks to quit; a second time, soon after, it does not ask.
func (m *model) interrupt() tea.Cmd {
	if !m.interrupted.IsZero() && m.now.Sub(m.interrupted) <= twice {
		return m.leave(ExitQuit)
	}
	m.interrupted = m.now
	if m.dialog != nil {
		return nil
	}
	m.palette, m.filter = nil, nil
	return m.quit()
}

// stay says why the screen does not suspend.
func (m *model) stay() {
	if m.o.Attached != nil {
		m.toast.Say("the screen does not suspend; q leaves it, and the gateway goes on", m.now)
		return
	}
	m.toast.Say("suspending would freeze the gateway for every agent", m.now)
}

// listHeight is how many rows of a list are in view, or would be if nothing were open.
func (m *model) listHeight(p layout.Pane) int {
	s := m.screen
	if s.Panes[p].Empty() || m.opened.kind != nothingOpen && m.kind() != layout.Wide {
		args := m.args(false)
		args.Focus, args.Zoom = p, false
		s = layout.Arrange(args)
	}
	body := s.Body(p)
	if p == layout.Requests {
		return max(m.requests.ListHeight(body.W, body.H), 1)
	}
	return max(body.H, 1)
}

func (m *model) helpHeight() int { return max(m.helpRect().H-1, 1) }
