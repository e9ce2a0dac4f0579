package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"dev.magpie/config"
	"dev.magpie/gateway/client"
	"dev.magpie/gateway/redact"
	"dev.magpie/gateway/state"
	"dev.magpie/tui"
	"dev.magpie/tui/theme"
)

// screenFlags are those of tui.
type screenFlags struct {
	attach, theme            string
	readOnly, demo, noDetect bool
}

// attachAnywhere is --attach without a URL.
const attachAnywhere = "found"

func (f *screenFlags) add(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.attach, "attach", "", "show the gateway that runs already, here or at a `URL`, and start none")
	s.Lookup("attach").NoOptDefVal = attachAnywhere
	s.BoolVar(&f.readOnly, "read-only", false, "change nothing from the screen")
	s.BoolVar(&f.demo, "demo", false, "stand-in vendors and scripted agents, in a home of its own on a free port; nothing of yours is read")
	s.BoolVar(&f.noDetect, "no-detect", false, "look for no keys, servers and sign-ins on this machine when the config names no provider")
	s.StringVar(&f.theme, "theme", "", "the theme to wear, a `name` of magpie themes")
}

func (p *process) tuiCommand(o *globals) *cobra.Command {
	f := &screenFlags{}
	c := &cobra.Command{
		Use:   "tui",
		Short: "Run the gateway and show it",
		Long: "Runs the gateway in this process and shows it; where one runs at the address already, shows that one instead. " +
			"Leaving asks when agents are being answered. When the terminal closes, the gateway goes on; a demo ends.",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error { return p.tui(c.Context(), o, f) },
	}
	f.add(c)
	return c
}

// tui runs the screen, on a gateway of this process or on one that runs already.
func (p *process) tui(ctx context.Context, o *globals, f *screenFlags) error {
	switch {
	case !p.tty():
		return misused("the screen needs a terminal; magpie serve runs the gateway without one")
	case f.demo && f.attach != "":
		return misused("--demo starts a gateway of its own and never attaches: leave one of the two out")
	}
	if err := p.knownTheme(f); err != nil {
		return err
	}
	if f.attach != "" {
		addr := f.attach
		if addr == attachAnywhere {
			addr = p.address(o.listen)
		}
		return p.attach(ctx, addr, f)
	}
	pipes := make(chan os.Signal, 1)
	p.notify(pipes, syscall.SIGPIPE)
	defer p.stop(pipes)
	signals := p.signals()
	defer p.stop(signals)
	n, err := p.startUntil(ctx, signals, wish{
		listen: o.listen, demo: f.demo, noDetect: f.noDetect, watch: !f.demo,
		log: func(m *redact.Masker, paths config.Paths) (*slog.Logger, func() error, error) {
			file, err := openLog(paths.Log)
			if err != nil {
				return nil, nil, err
			}
			return newLog(file, "text", p.zone, m), file.Close, nil
		},
	})
	var taken *takenError
	if errors.As(err, &taken) && taken.foreign == nil && !f.demo {
		p.complain(taken.words(p.now(), "") + "\nShowing that one. Its controls work from here; quitting leaves it serving.")
		return p.attach(ctx, taken.addr, f)
	}
	var bad *config.Errors
	if errors.As(err, &bad) && !f.demo {
		addr := config.Listen(o.listen, p.getenv("MAGPIE_ADDR"), nil)
		if _, none := p.probe(ctx, addr); none == nil { // it goes on with what it read before
			return p.attach(ctx, addr, f)
		}
	}
	if err != nil {
		return p.notStarted(err, "")
	}
	return n.show(signals, f)
}

// knownTheme refuses a theme that there is not, before anything starts.
func (p *process) knownTheme(f *screenFlags) error {
	for _, name := range []string{f.theme, p.getenv("MAGPIE_THEME")} {
		if name == "" || name == "auto" {
			continue
		}
		if _, err := theme.Load(name, os.DirFS(p.paths().Themes)); err != nil {
			var bad *config.Errors
			if errors.As(err, &bad) {
				return bad
			}
			return misused("%s", err)
		}
		return nil
	}
	return nil
}

// show runs the screen on this process's gateway. Whatever becomes of the screen, the gateway goes on
// until the person or a signal ends it.
func (n *node) show(signals <-chan os.Signal, f *screenFlags) error {
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	hangup := make(chan struct{})
	o := n.p.screen(n.inForce(), n.paths, f)
	o.Crash = n.p.crash(n.paths, n.masker.Mask)
	o.Listen, o.Demo, o.Hangup = n.doors.shown(), n.demo != nil, hangup
	type ending struct {
		tui.Result
		err error
	}
	done := make(chan ending, 1)
	go func() {
		r, err := tui.Run(ctx, n.p.seen(n.gw), o)
		done <- ending{r, err}
	}()
	told := false
	for {
		select {
		case s := <-signals:
			switch {
			case s != syscall.SIGHUP:
				told = true
				cancel()
			case hangup != nil:
				close(hangup)
				hangup = nil
			}
		case end := <-done:
			if end.err != nil && end.Exit == tui.Running {
				return errors.Join(end.err, n.close())
			}
			if end.err != nil {
				n.say(slog.LevelWarn, end.err.Error())
			}
			if told {
				end.Exit = tui.ExitDrain
			}
			return n.after(signals, end.Result)
		}
	}
}

// after does what the end of the screen asks for.
func (n *node) after(signals <-chan os.Signal, r tui.Result) error {
	switch r.Exit {
	case tui.ExitDrain:
		n.p.finishing(n)
		n.drain(signals)
	case tui.ExitHangup:
		if n.demo != nil { // nobody's agents are on it, and nobody would find it
			break
		}
		if n.inForce().Screen.OnHangup == "quit" {
			n.drain(signals)
			break
		}
		n.say(slog.LevelInfo, "the terminal is gone; the gateway goes on without a screen")
		return n.untilTold(signals)
	case tui.ExitPanic:
		n.p.complain("the screen crashed (" + r.Report + "); the gateway goes on at " + n.doors.shown() + ", and ctrl+c ends it")
		return n.untilTold(signals)
	case tui.ExitQuit, tui.ExitStop, tui.Running:
	}
	return n.close()
}

// finishing says what the process still waits for after the screen is gone.
func (p *process) finishing(n *node) {
	if left := n.gw.InFlight(); left > 0 {
		p.complain(fmt.Sprintf("finishing %s, for up to %s; ctrl+c ends at once", count(left, "request"), drainTime))
	}
}

// attach shows a gateway that runs elsewhere. Leaving changes nothing for it.
func (p *process) attach(ctx context.Context, addr string, f *screenFlags) error {
	c, info, err := p.dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	paths := p.paths()
	cfg := config.Default()
	if own, err := config.Load(paths.Config); err == nil {
		cfg = own
	} else if !errors.Is(err, fs.ErrNotExist) {
		p.complain("the config can't be read, so the screen is as without one; see magpie config check")
	}
	if err := paths.MakeDirs(); err != nil {
		return err
	}
	signals := p.signals()
	defer p.stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hangup := make(chan struct{})
	o := p.screen(cfg, paths, f)
	o.Crash = p.crash(paths, redact.Mask)
	o.Listen, o.Demo, o.Hangup, o.Attached = addr, info.Demo, hangup, &tui.Attached{PID: info.PID}
	go func() {
		select {
		case s := <-signals:
			if s == syscall.SIGHUP {
				close(hangup)
				return
			}
			cancel()
		case <-ctx.Done():
		}
	}()
	r, err := tui.Run(ctx, p.seen(c), o)
	if r.Exit == tui.ExitPanic {
		return failed("the screen crashed (%s); the gateway at %s goes on", r.Report, addr)
	}
	return err
}

// screen is how the screen is to be, by the config and the flags.
func (p *process) screen(cfg *config.Config, paths config.Paths, f *screenFlags) tui.Options {
	return tui.Options{
		ReadOnly: f.readOnly, Screen: cfg.Screen, Keys: cfg.Keys,
		Look:   tui.Look{Flag: f.theme, Theme: cfg.Theme, Background: cfg.Background, Themes: os.DirFS(paths.Themes)},
		Memory: remembered(paths.Screen),
		Save:   func(m tui.Memory) error { return remember(paths.Screen, m) },
		Now:    p.now, Env: p.getenv, Input: p.term, Output: p.term,
	}
}

// crash writes a report when the screen panics.
func (p *process) crash(paths config.Paths, mask func(string) string) func([]byte) (string, error) {
	return func(stack []byte) (string, error) {
		return reportCrash(paths.State, p.now(), []byte(mask(string(stack))))
	}
}

// seen is the gateway as the screen sees it.
func (p *process) seen(g tui.Gateway) tui.Gateway {
	if p.through == nil {
		return g
	}
	return p.through(g)
}

// remembered is how the screen was left. A file that can't be read is as none: it is no more than a habit.
func remembered(path string) tui.Memory {
	var m tui.Memory
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return tui.Memory{}
	}
	return m
}

func remember(path string, m tui.Memory) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return state.WriteFile(path, append(data, '\n'))
}

var _ tui.Gateway = (*client.Client)(nil)
