package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/tui/feed"
	"dev.magpie/tui/layout"
)

// resize takes the terminal's size. Nothing else changes with it, so that going back is exact.
func (m *model) resize(size layout.Size) {
	if size != m.size {
		m.size = size
		m.dirty = true
	}
}

// batch folds what the gateway told, and waits for more.
func (m *model) batch(msg feed.Msg) tea.Cmd {
	m.now = later(m.now, msg.At)
	if msg.Err != nil {
		return m.leave(ExitStop)
	}
	m.st.Apply(msg.Batch, m.now)
	m.settle()
	if len(msg.Batch.Accounts) > 0 || len(msg.Batch.Groups) > 0 || msg.Batch.Behind {
		m.plan.stale = true
	}
	m.dirty = true
	return m.guard(m.pump.Next(m.ctx))
}

// settle lets every list find its selection again after a change.
func (m *model) settle() {
	v := m.view()
	m.requests.Cursor.Settle(m.requests.Keys(v))
	m.talks.Cursor.Settle(m.talks.Keys(v))
	m.groups.Cursor.Settle(m.groups.Keys(v))
	m.logs.Cursor.Settle(m.logs.Keys(v))
	m.accounts.Cursor.Settle(m.accounts.Keys(v, m.listHeight(layout.Accounts)))
	switch {
	case m.opened.kind == requestOpen && m.st.Route(m.opened.request) == nil:
		m.opened = opened{}
	case m.opened.kind == accountOpen:
		if _, found := m.st.Account(m.opened.account); !found {
			m.opened = opened{}
		}
	case m.opened.kind == groupOpen:
		if _, found := m.st.Group(m.opened.group); !found {
			m.opened = opened{}
		}
	}
	if m.opened.kind == nothingOpen && m.focus == layout.Detail {
		m.focus = layout.Requests
	}
}

// wake draws anew when a text that stands on the screen has changed by itself.
func (m *model) wake(msg tickMsg) {
	m.now = later(m.now, later(msg.due, msg.now))
	m.armed = slices.DeleteFunc(m.armed, func(t time.Time) bool { return t.Equal(msg.due) })
	m.dirty = true
}

// arm asks to be woken when the next text changes. A wake-up under way that comes earlier
// serves as well: it draws the same frame and asks again.
func (m *model) arm() tea.Cmd {
	next := m.clock.Next()
	if next.IsZero() {
		return nil
	}
	if n := len(m.armed); n > 0 && !m.armed[n-1].After(next) {
		return nil
	}
	m.armed = append(m.armed, next)
	ctx, now, in := m.ctx, m.o.Now, next.Sub(m.now)
	return func() tea.Msg {
		t := time.NewTimer(in)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			return tickMsg{due: next, now: now()}
		}
	}
}
