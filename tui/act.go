package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/tui/over"
	"dev.magpie/tui/pane"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// doneMsg says that the gateway carried a command out.
type doneMsg struct {
	done control.Done
	at   time.Time
}

// askMsg says that the gateway wants a command to be confirmed.
type askMsg struct {
	command control.Command
	effect  control.Effect
	at      time.Time
}

// failedMsg says that something asked for did not work.
type failedMsg struct {
	err error
	at  time.Time
}

// asked is a dialog and what each of its ways does.
type asked struct {
	over.Dialog
	ways  map[string]func(*model) tea.Cmd
	renew func(*model, *over.Dialog) // writes what changes while it is open; may be nil
}

// do has the gateway carry out a command. One that spends or ends something is asked for first, and so is
// one that the screen itself wants to be sure about.
func (m *model) do(c control.Command, sure bool) tea.Cmd {
	ctx, g, now := m.ctx, m.g, m.o.Now
	return m.guard(func() tea.Msg {
		if sure {
			done, err := g.Do(ctx, c, "")
			return outcome(done, err, now())
		}
		effect, err := g.Preview(ctx, c)
		if err != nil {
			return failedMsg{err: err, at: now()}
		}
		return askMsg{command: c, effect: effect, at: now()}
	})
}

// confirmed has the gateway carry out what was confirmed, on the facts that were shown.
func (m *model) confirmed(c control.Command, token control.Token) tea.Cmd {
	ctx, g, now := m.ctx, m.g, m.o.Now
	return m.guard(func() tea.Msg {
		done, err := g.Do(ctx, c, token)
		return outcome(done, err, now())
	})
}

func outcome(done control.Done, err error, at time.Time) tea.Msg {
	if err != nil {
		return failedMsg{err: err, at: at}
	}
	return doneMsg{done: done, at: at}
}

// done says what was done, and offers to take it back.
func (m *model) done(msg doneMsg) tea.Cmd {
	m.now = later(m.now, msg.at)
	m.dirty = true
	m.undo = msg.done.Undo
	if len(msg.done.Accounts) > 0 {
		m.st.Apply(trace.Batch{Accounts: msg.done.Accounts}, m.now)
		m.settle()
	}
	said := m.st.Called(msg.done.Words)
	if said == "" {
		return nil
	}
	if key := m.keyOf("undo"); msg.done.Undo && key != "" {
		m.toast.Undoable(said, key, m.now)
	} else {
		m.toast.Say(said, m.now)
	}
	return nil
}

// fail says what did not work until a key is pressed.
func (m *model) fail(err error) {
	m.dirty = true
	text := err.Error()
	var refusal *control.Error
	if errors.As(err, &refusal) && len(refusal.Matches) > 0 {
		text += ": " + strings.Join(refusal.Matches, " ")
	}
	m.toast.Fail(m.st.Called(text), m.now)
}

// ask shows what a command would do; only its own key does it.
func (m *model) ask(msg askMsg) {
	m.now = later(m.now, msg.at)
	body := append([]string{msg.effect.Words}, msg.effect.Facts...)
	if msg.command.Verb == control.Pause {
		body = append(body, "Nobody else is ready just now: agents will be told to come back later.")
	}
	d := &asked{ways: map[string]func(*model) tea.Cmd{
		"y": func(m *model) tea.Cmd { return m.confirmed(msg.command, msg.effect.Token) },
	}}
	for i := range body {
		body[i] = m.st.Called(body[i])
	}
	d.Title = fmt.Sprintf("%s %s?", msg.command.Verb, m.st.Name(msg.command.Who))
	d.Body = body
	d.Keep, d.Foot = "leave it", "enter or esc leaves it"
	d.Ways = []over.Choice{{Key: "y", Words: string(msg.command.Verb) + " it"}}
	m.show(d)
}

// show opens a dialog.
func (m *model) show(d *asked) {
	d.Open(m.now)
	m.dialog = d
	m.dirty = true
}

// answer hands a key to the dialog.
func (m *model) answer(key string) tea.Cmd {
	answer, way := m.dialog.Press(key, m.now)
	switch answer {
	case over.Nothing:
	case over.Stay:
		m.dialog = nil
	case over.Chosen:
		do := m.dialog.ways[way]
		m.dialog = nil
		return do(m)
	}
	return nil
}

// pause pauses the account meant, or lets it take requests again.
func (m *model) pause() tea.Cmd {
	a, has := m.selectedAccount()
	if !has {
		return nil
	}
	if a.State == trace.Paused_ || a.Paused != nil {
		return m.do(control.Command{Verb: control.Resume, Who: a.ID}, true)
	}
	return m.do(control.Command{Verb: control.Pause, Who: a.ID}, !m.lastReady(a.ID))
}

// lastReady says whether nobody would be ready without an account: in a group, or at all.
func (m *model) lastReady(id string) bool {
	a, found := m.st.Account(id)
	if !found || !state.Usable(&a) {
		return false
	}
	for _, g := range m.st.Groups {
		if !g.Off && g.Last == id {
			return true
		}
	}
	for i := range m.st.Accounts {
		if b := &m.st.Accounts[i]; b.ID != id && state.Usable(b) {
			return false
		}
	}
	return true
}

func (m *model) pin() tea.Cmd {
	a, has := m.selectedAccount()
	if !has {
		return nil
	}
	verb := control.Pin
	if a.Pinned != nil {
		verb = control.Unpin
	}
	return m.do(control.Command{Verb: verb, Who: a.ID}, true)
}

func (m *model) wakeAccount() tea.Cmd {
	a, has := m.selectedAccount()
	if !has {
		return nil
	}
	return m.do(control.Command{Verb: control.Wake, Who: a.ID}, true)
}

// readAgain has the account's vendor asked what is left.
func (m *model) readAgain() tea.Cmd {
	a, has := m.selectedAccount()
	if !has {
		return nil
	}
	m.toast.Say("reading "+m.st.Name(a.ID)+" again", m.now)
	return m.do(control.Command{Verb: control.Refresh, Who: a.ID}, true)
}

func (m *model) undoLast() tea.Cmd { return m.do(control.Command{Verb: control.Undo}, true) }

// unused is for how long nobody must have asked for anything before quitting needs no question.
const unused = 10 * time.Minute

// quit ends the screen at once where that ends nothing else; otherwise it says what would end.
func (m *model) quit() tea.Cmd {
	if m.o.Attached != nil {
		return m.leave(ExitQuit)
	}
	live := len(m.st.Live())
	if live == 0 && !m.usedLately() {
		return m.leave(ExitQuit)
	}
	d := &asked{ways: map[string]func(*model) tea.Cmd{
		"Q": func(m *model) tea.Cmd { return m.leave(ExitQuit) },
	}}
	d.Foot = "enter or esc stays"
	d.After = []string{"To keep it up without a screen, run  magpie serve ; magpie then shows it; closing the screen stops nothing."}
	if live == 0 {
		d.Title = "quit magpie?"
		d.Body = []string{"Agents used it within the last ten minutes. Once it ends, nobody answers them at " + m.o.Listen + "."}
		d.Ways = []over.Choice{{Key: "Q", Words: "quit now"}}
		m.show(d)
		return nil
	}
	d.ways["d"] = func(m *model) tea.Cmd { return m.leave(ExitDrain) }
	d.renew = (*model).whatIsLive
	m.show(d)
	return nil
}

// whatIsLive keeps the dialog true while requests end and begin.
func (m *model) whatIsLive(d *over.Dialog) {
	live := m.st.Live()
	ends := fmt.Sprintf("quit now: all %d agents see their stream end", len(live))
	switch len(live) {
	case 0:
		d.Title, ends = "nothing is being answered any more", "quit now"
	case 1:
		d.Title, ends = "1 request is still being answered", "quit now: the agent sees its stream end"
	case 2:
		d.Title, ends = "2 requests are still being answered", "quit now: both agents see their stream end"
	default:
		d.Title = fmt.Sprintf("%d requests are still being answered", len(live))
	}
	d.Body = m.liveLines(live)
	d.Ways = []over.Choice{
		{Key: "d", Words: "finish these, then quit   (no new ones; 60s at most)", Short: "finish, then quit"},
		{Key: "Q", Words: ends, Short: "quit now"},
	}
}

// usedLately says whether an agent asked for anything within the last ten minutes.
func (m *model) usedLately() bool {
	n := len(m.st.Routes)
	return n > 0 && m.now.Sub(m.st.Routes[n-1].Time) < unused
}

// liveLines names what is being answered, at most six.
func (m *model) liveLines(live []*trace.Route) []string {
	const most = 6
	lines := make([]string, 0, most)
	for i, r := range live {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(live)-most))
			break
		}
		lines = append(lines, pane.LiveLine(&m.set, m.view(), r, m.size.W >= 60))
	}
	return lines
}

// themeMsg brings the theme that was asked for.
type themeMsg struct {
	theme *theme.Theme
	err   error
	at    time.Time
}

// nextTheme puts on the next theme of those that there were at the start.
func (m *model) nextTheme() tea.Cmd {
	if len(m.themes) == 0 {
		return nil
	}
	at := slices.Index(m.themes, m.theme.ID)
	return m.wearNamed(m.themes[(at+1)%len(m.themes)])
}

func (m *model) wearNamed(id string) tea.Cmd {
	themes, now := m.o.Look.Themes, m.o.Now
	return m.guard(func() tea.Msg {
		t, err := theme.Load(id, themes)
		return themeMsg{theme: t, err: err, at: now()}
	})
}

func (m *model) wear(msg themeMsg) {
	m.now = later(m.now, msg.at)
	m.dirty = true
	if msg.err != nil {
		m.fail(msg.err)
		return
	}
	m.theme = msg.theme
	m.chose = msg.theme.ID
	m.pens = theme.NewPens(m.theme, m.depth, m.noColor)
	m.toast.Say("theme: "+m.theme.Name, m.now)
}
