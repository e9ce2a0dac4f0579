package tui

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/layout"
)

// copiedMsg says which way a text went.
type copiedMsg struct {
	what, way string
	err       error
	at        time.Time
}

// copy brings a text to the clipboard.
func (m *model) copy(what, text string) tea.Cmd {
	if m.clip == nil {
		return nil
	}
	ctx, clip, now := m.ctx, *m.clip, m.o.Now
	return m.guard(func() tea.Msg {
		way, err := clip.Copy(ctx, text)
		return copiedMsg{what: what, way: way, err: err, at: now()}
	})
}

func (m *model) copied(msg copiedMsg) {
	m.now = later(m.now, msg.at)
	if msg.err != nil {
		m.fail(fmt.Errorf("copy %s: %w", msg.what, msg.err))
		return
	}
	m.dirty = true
	m.toast.Say(msg.what+": "+msg.way, m.now)
}

func (m *model) copyID() tea.Cmd {
	if a, has := m.copiedAccount(); has {
		return m.copy("its id", a.ID)
	}
	if g, has := m.copiedGroup(); has {
		return m.copy("its id", "group/"+g.ID)
	}
	if r := m.selectedRequest(); r != nil {
		return m.copy("its id", strconv.FormatInt(r.ID, 10))
	}
	return nil
}

func (m *model) copyJSON() tea.Cmd {
	var value any
	if a, has := m.copiedAccount(); has {
		value = a
	} else if g, has := m.copiedGroup(); has {
		value = g
	} else if r := m.selectedRequest(); r != nil {
		value = words.Route(*r, m.now.Location())
	} else {
		return nil
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		m.fail(fmt.Errorf("write it as JSON: %w", err))
		return nil
	}
	return m.copy("JSON", string(text))
}

// copiedAccount is the account that is copied, where one is in front.
func (m *model) copiedAccount() (trace.Account, bool) {
	if m.front() == layout.Accounts || m.front() == layout.Detail && m.opened.kind == accountOpen {
		return m.selectedAccount()
	}
	return trace.Account{}, false
}

// copiedGroup is the group that is copied, where one is in front.
func (m *model) copiedGroup() (trace.Group, bool) {
	if m.front() == layout.Groups || m.inGroup() {
		return m.selectedGroup()
	}
	return trace.Group{}, false
}

// copyRow copies the selected row, or the open page, as text.
func (m *model) copyRow() tea.Cmd {
	text, what := m.plain()
	if text == "" {
		return nil
	}
	return m.copy(what, text)
}

// plain is the selected row or the open page as text, and what that is.
func (m *model) plain() (text, what string) {
	loc := m.now.Location()
	switch m.front() {
	case layout.Detail:
		return m.page(m.screen.Panes[layout.Detail].W).Text(&m.set), "the page"
	case layout.Requests:
		if r := m.selectedRequest(); r != nil {
			return words.Line(*r), "the row"
		}
	case layout.Accounts, layout.Groups:
		if a, has := m.selectedAccount(); has {
			return a.ID + " " + words.Account(a, m.now), "the row"
		}
	case layout.Conversations:
		if t, has := m.selectedTalk(); has {
			return t.Session + " " + t.Agent + " " + t.Account, "the row"
		}
	case layout.Log:
		if line := m.selectedLine(); line != nil {
			return words.LogLine(*line, loc), "the line"
		}
	case layout.NoPane:
	}
	return "", ""
}

// selectedLine is the line of the log that is selected, nil when there is none.
func (m *model) selectedLine() *trace.Log {
	rows := m.logs.Rows(m.view())
	i := m.logs.Cursor.Index(m.logs.Keys(m.view()))
	if i < 0 || i >= len(rows) {
		return nil
	}
	return rows[i]
}
