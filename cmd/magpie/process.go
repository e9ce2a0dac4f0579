package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"time"

	"github.com/charmbracelet/x/term"

	"dev.magpie/gateway/client"
	"dev.magpie/tui"
)

// process is what the commands know of the process that they run in, so that a test can be one too.
type process struct {
	args   []string // without the program's name
	in     io.Reader
	out    io.Writer
	err    io.Writer
	getenv func(name string) string
	home   string // of the person, "" when there is none
	tty    func() bool
	cells  func() int // of a line on the terminal that the output goes to, 0 = it goes to none; nil: asks the system
	term   *os.File   // what the screen is drawn on and read from; nil: standard output and input
	now    func() time.Time
	zone   *time.Location

	// probe asks who answers at an address: client.Probe.
	probe func(ctx context.Context, addr string) (client.Info, error)

	startWait time.Duration // how long another start of this home is waited for

	// through is what the screen sees of its gateway; nil: the gateway itself.
	through func(tui.Gateway) tui.Gateway

	// notify and stop are those of package signal.
	notify func(c chan<- os.Signal, sig ...os.Signal)
	stop   func(c chan<- os.Signal)
}

// thisProcess is the real one.
func thisProcess() *process {
	home := personHome(os.Getenv, user.Current)
	getenv := func(name string) string {
		if name == "HOME" {
			return home
		}
		return os.Getenv(name)
	}
	return &process{
		args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: getenv, home: home, now: time.Now, zone: time.Local,
		tty:   func() bool { return term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()) },
		probe: client.Probe, notify: signal.Notify, stop: signal.Stop, startWait: lockWait,
	}
}

// personHome is the person's folder: $HOME, or what the system knows where a service manager or env -i left none
// that could be meant. "" is that there is none.
func personHome(getenv func(string) string, current func() (*user.User, error)) string {
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return home
	}
	if u, err := current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
