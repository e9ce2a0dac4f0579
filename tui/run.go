package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	tea "github.com/charmbracelet/bubbletea"
	xterm "github.com/charmbracelet/x/term"

	"dev.magpie/tui/layout"
	"dev.magpie/tui/term"
)

// Run shows a gateway until the person leaves, the terminal goes away, or ctx ends. However it
// ends, the terminal is as it was before and the gateway goes on; the result says what the person wants
// to become of it.
func Run(ctx context.Context, g Gateway, o Options) (Result, error) {
	o = o.filled()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	view, changes, err := g.Watch(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("watch the gateway: %w", err)
	}
	facts := term.FactsOf(o.Env)
	var asked term.Answer
	if o.Look.Ask == nil {
		o.Look.Ask = func() (dark, ok bool) {
			asked = term.Background(o.Input, o.Output, facts, term.Patience)
			return asked.Dark, asked.OK
		}
	}
	m, err := newModel(ctx, g, o, xterm.IsTerminal(o.Output.Fd()))
	if err != nil {
		changes.Close()
		return Result{}, err
	}
	m.begin(view, changes)
	defer m.pump.Close()

	out := term.NewOutput(o.Output, facts, o.Screen.Sync)
	defer func() { _ = out.Restore() }() // the terminal may be gone
	m.clip = &term.Clipboard{Out: out, Facts: facts}
	if w, h, err := xterm.GetSize(o.Output.Fd()); err == nil {
		m.resize(layout.Size{W: w, H: h})
	}
	m.drive(ctx, cancel, out, facts, asked)
	return m.result()
}

// drive has the terminal library drive the screen. Its own drawing is off: it would wake up many times a second for
// good, and wait for a slow terminal between two keys.
func (m *model) drive(ctx context.Context, cancel context.CancelFunc, out *term.Output, facts term.Facts, asked term.Answer) {
	var p *tea.Program
	gone := sync.OnceFunc(func() { go p.Send(hangupMsg{}) })
	m.painter = newPainter(out, facts.SSH, gone)
	m.painter.titled = out.Title
	p = tea.NewProgram(m,
		tea.WithContext(ctx),
		tea.WithInput(keyboard{Input: term.NewInput(m.o.Input, asked, nil), gone: gone}),
		tea.WithOutput(screen{Output: out, painter: m.painter}),
		tea.WithoutSignalHandler(),
		tea.WithAltScreen(),
		tea.WithFPS(1),
		tea.WithFilter(stamp(m.o.Now)),
	)
	var wait sync.WaitGroup
	wait.Go(func() { m.painter.run(ctx) })
	wait.Go(func() {
		select {
		case <-ctx.Done():
		case <-m.o.Hangup:
			gone()
		}
	})
	_, err := p.Run()
	m.painter.stop()
	cancel()
	wait.Wait()
	m.ended(err)
}

// ended reads how it ended where the screen itself does not know.
func (m *model) ended(err error) {
	switch {
	case m.exit != Running:
	case err == nil:
		m.exit = ExitQuit
	case errors.Is(err, tea.ErrProgramPanic):
		m.exit, m.crash = ExitPanic, []byte(err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		m.exit = ExitStop
	default: // the terminal could not be read
		m.exit = ExitHangup
	}
}

// result tells how it ended, after it wrote down what there is to keep.
func (m *model) result() (Result, error) {
	r := Result{Exit: m.exit, Stack: m.crash}
	var err error
	if m.o.Save != nil && m.exit != ExitPanic {
		if e := m.o.Save(m.memory()); e != nil {
			err = fmt.Errorf("keep the screen's memory: %w", e)
		}
	}
	if m.exit == ExitPanic && m.o.Crash != nil {
		var e error
		if r.Report, e = m.o.Crash(m.crash); e != nil {
			err = fmt.Errorf("write the crash report: %w", e)
		}
	}
	return r, err
}

// terminal fills in the process's own.
func terminal(f, own *os.File) *os.File {
	if f == nil {
		return own
	}
	return f
}
