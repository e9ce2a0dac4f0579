package tui

import (
	"context"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/feed"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/over"
	"dev.magpie/tui/pane"
	"dev.magpie/tui/state"
	"dev.magpie/tui/term"
	"dev.magpie/tui/theme"
)

// model is the screen: the one thing that Bubble Tea drives. Nothing in its Update waits,
// reads a clock or starts a goroutine; what takes time is a command.
type model struct {
	ctx context.Context //nolint:containedctx // commands are closures of it; it ends when the screen does
	g   Gateway
	o   Options
	reg *keys.Registry

	set     canvas.GlyphSet
	theme   *theme.Theme
	pens    *theme.Pens
	depth   termenv.Profile
	noColor bool
	canvas  *canvas.Canvas
	clock   *state.Clock // of the last frame

	st   *state.State
	pump *feed.Pump
	now  time.Time

	size   layout.Size
	screen layout.Screen
	wide   *layout.Size // from which size on it is wide, when that was asked for with a command
	focus  layout.Pane
	zoom   bool
	opened opened
	plan   planned

	accounts pane.Accounts
	requests pane.Requests
	talks    pane.Talks
	groups   pane.Groups
	logs     pane.Logs

	help    *over.Help
	filter  *over.FilterLine
	palette *over.Palette
	dialog  *asked
	toast   over.Toast

	pending     string    // the first key of two
	interrupted time.Time // the last ctrl+c
	undo        bool      // the gateway can take something back
	chose       string    // the theme that a key chose
	themes      []string  // that can be chosen

	painter *painter        // nil where the terminal library draws
	clip    *term.Clipboard // nil where there is none

	frame string
	dirty bool
	armed []time.Time // wake-ups under way, the earliest last
	exit  Exit
	crash []byte
}

// opened is the page that is open.
type opened struct {
	kind    openKind
	request int64
	account string
	group   string
	chosen  string // what keys mean of a group's page
	scroll  int
	list    layout.Pane // where nothing is open: the list to go back to
	from    *opened     // what it was opened from, nil = its own list
}

type openKind uint8

const (
	nothingOpen openKind = iota
	requestOpen
	accountOpen
	groupOpen
)

// tickMsg wakes the screen when a text that it shows changes.
type tickMsg struct{ due, now time.Time }

// keyMsg is a key with the moment at which it came.
type keyMsg struct {
	tea.KeyMsg
	at time.Time
}

// hangupMsg says that the terminal is gone.
type hangupMsg struct{}

// crashMsg says that a command panicked.
type crashMsg struct{ stack []byte }

// stamp gives keys the moment at which they came, so that Update needs no clock.
func stamp(now func() time.Time) func(tea.Model, tea.Msg) tea.Msg {
	return func(_ tea.Model, msg tea.Msg) tea.Msg {
		if k, ok := msg.(tea.KeyMsg); ok {
			return keyMsg{KeyMsg: k, at: now()}
		}
		return msg
	}
}

// Init draws the first frame, if the size is known, and asks for the first changes.
func (m *model) Init() tea.Cmd {
	var first tea.Cmd
	if m.size.W > 0 && m.size.H > 0 {
		first = m.refresh()
	}
	return tea.Batch(first, m.guard(m.pump.Next(m.ctx)))
}

// View returns the frame that Update drew; nothing where the painter has it.
func (m *model) View() string {
	if m.painter != nil {
		return ""
	}
	return m.frame
}

// Update takes one message and draws the frame anew when it changed anything.
func (m *model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			next, cmd = m.crashed(stackOf(r)), tea.Quit
		}
	}()
	cmd = m.handle(msg)
	if m.dirty && m.exit == Running {
		cmd = tea.Batch(cmd, m.refresh())
	}
	return m, cmd
}

// refresh draws, and asks for what depends on the new frame.
func (m *model) refresh() tea.Cmd {
	m.draw()
	if m.painter != nil {
		m.painter.show(m.frame, pane.Title(&m.set, m.view()))
	}
	return m.arm()
}

// handle takes one message, and asks what the page that is open then needs to know.
func (m *model) handle(msg tea.Msg) tea.Cmd {
	cmd := m.take(msg)
	if look := m.look(); look != nil {
		return tea.Batch(cmd, look)
	}
	return cmd
}

func (m *model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(layout.Size{W: msg.Width, H: msg.Height})
	case keyMsg:
		m.now = later(m.now, msg.at)
		return m.typed(msg.KeyMsg)
	case tea.KeyMsg:
		return m.typed(msg)
	case tickMsg:
		m.wake(msg)
	case feed.Msg:
		return m.batch(msg)
	case planMsg:
		m.planned(msg)
	case doneMsg:
		return m.done(msg)
	case askMsg:
		m.ask(msg)
	case failedMsg:
		m.now = later(m.now, msg.at)
		m.fail(msg.err)
	case themeMsg:
		m.wear(msg)
	case copiedMsg:
		m.copied(msg)
	case hangupMsg:
		return m.leave(ExitHangup)
	case crashMsg:
		m.crashed(msg.stack)
		return tea.Quit
	}
	return nil
}

// crashed remembers the first panic and ends the screen; the gateway goes on.
func (m *model) crashed(stack []byte) *model {
	if m.crash == nil {
		m.exit, m.crash = ExitPanic, stack
	}
	return m
}

// stackOf is called in a deferred function while the stack of a panic still stands.
func stackOf(reason any) []byte {
	return append([]byte(reasonText(reason)+"\n\n"), debug.Stack()...)
}

// guard lets a command that panics end the screen rather than the process.
func (m *model) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = crashMsg{stack: stackOf(r)}
			}
		}()
		return cmd()
	}
}

// later returns the later of two moments, so that the screen's time never goes back.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// leave ends the screen.
func (m *model) leave(how Exit) tea.Cmd {
	m.exit = how
	return tea.Quit
}
