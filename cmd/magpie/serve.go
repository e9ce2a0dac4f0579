package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/config"
	"dev.magpie/gateway/client"
	"dev.magpie/gateway/redact"
)

// drainTime is how long requests under way may take to end after a signal.
const drainTime = 60 * time.Second

// serveFlags are those of serve.
type serveFlags struct {
	demo, noDetect bool
	log            string
}

func (p *process) serveCommand(o *globals) *cobra.Command {
	f := &serveFlags{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the gateway without a screen",
		Long: "Runs until a signal. SIGTERM and ctrl+c let requests that are under way finish for up to a minute, a second one ends at once; " +
			"SIGHUP reads the config again, which also happens when the file changes. magpie in another terminal then shows this gateway.\n" +
			"Standard output gets one line once the gateway answers; the log, a line a request, goes to standard error.",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error { return p.serve(c.Context(), o, f) },
	}
	c.Flags().BoolVar(&f.demo, "demo", false, "stand-in vendors and scripted agents, in a home of its own on a free port; nothing of yours is read")
	c.Flags().StringVar(&f.log, "log", "text", "how to write the log, as a `form`: text or json")
	c.Flags().BoolVar(&f.noDetect, "no-detect", false, "look for no keys, servers and sign-ins on this machine when the config names no provider")
	return c
}

func (p *process) serve(ctx context.Context, o *globals, f *serveFlags) error {
	if f.log != "text" && f.log != "json" {
		return misused("--log is text or json, not %q", f.log)
	}
	// A log or a ready line that nobody reads any more must not end the gateway.
	pipes := make(chan os.Signal, 1)
	p.notify(pipes, syscall.SIGPIPE)
	defer p.stop(pipes)
	signals := p.signals()
	defer p.stop(signals)
	n, err := p.startUntil(ctx, signals, wish{
		listen: o.listen, demo: f.demo, noDetect: f.noDetect, watch: !f.demo,
		log: func(m *redact.Masker, _ config.Paths) (*slog.Logger, func() error, error) {
			return newLog(p.err, f.log, p.zone, m), func() error { return nil }, nil
		},
	})
	if err != nil {
		return p.notStarted(err, "serve ")
	}
	if err := n.ready(p.out); err != nil {
		return errors.Join(err, n.close())
	}
	return n.untilTold(signals)
}

// abandonTime is how long a start that was called off may take to clean up.
const abandonTime = 2 * time.Second

// startUntil is start, which a signal calls off: a key's command, a folder on the network or the lock of another
// start may take long. A hangup has nothing to end or to read again yet.
func (p *process) startUntil(ctx context.Context, signals <-chan os.Signal, w wish) (*node, error) {
	ctx, cancel := context.WithCancel(ctx)
	var n *node
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = p.start(ctx, w)
	}()
	for {
		select {
		case <-done:
			if err != nil {
				cancel()
				return nil, err
			}
			n.onClose(func() error {
				cancel()
				return nil
			})
			return n, nil
		case s := <-signals:
			if s == syscall.SIGHUP {
				continue
			}
			cancel()
			select {
			case <-done:
				if err == nil {
					err = n.close()
				}
			case <-time.After(abandonTime):
			}
			if s == syscall.SIGTERM {
				return nil, &exitError{code: exitOK}
			}
			return nil, context.Canceled
		}
	}
}

// notStarted words why the gateway did not start.
func (p *process) notStarted(err error, command string) error {
	var taken *takenError
	if errors.As(err, &taken) {
		return failed("%s", taken.words(p.now(), command)+taken.waysOn(command))
	}
	return err
}

// ready says that the gateway answers, and where.
func (n *node) ready(w io.Writer) error {
	where := client.Base(n.doors.shown())
	_, err := fmt.Fprintf(w, "magpie is listening on %s (pid %d)\n", where, os.Getpid())
	if err == nil && n.demo != nil {
		_, err = fmt.Fprintf(w, "demo: stand-in vendors answer; commands reach it with\n  MAGPIE_HOME=%s MAGPIE_ADDR=%s\n", n.demoDir, n.doors.shown())
	}
	return err
}

// signals are those that a gateway listens to.
func (p *process) signals() chan os.Signal {
	c := make(chan os.Signal, 4)
	p.notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return c
}

// untilTold serves until a signal ends it: the first lets requests under way finish, a second does not.
func (n *node) untilTold(signals <-chan os.Signal) error {
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGHUP {
				n.reload()
				continue
			}
			n.drain(signals)
			return n.close()
		case <-n.ctx.Done():
			return n.close() // the group says why
		}
	}
}

// drain turns new requests away and waits for those under way. A demo's agents are not waited for.
func (n *node) drain(signals <-chan os.Signal) {
	n.dismiss()
	ctx, cancel := context.WithTimeout(n.ctx, drainTime)
	defer cancel()
	if left := n.gw.InFlight(); left > 0 {
		n.say(slog.LevelInfo, fmt.Sprintf("finishing %s, for up to %s; a second signal ends at once", count(left, "request"), drainTime))
	}
	var cut error
	done := make(chan struct{})
	go func() {
		defer close(done)
		cut = n.gw.Drain(ctx)
	}()
	for {
		select {
		case <-done:
			if cut != nil {
				n.say(slog.LevelWarn, fmt.Sprintf("%s did not end in time", count(n.gw.InFlight(), "request")))
			}
			return
		case s := <-signals:
			if s == syscall.SIGHUP {
				continue
			}
			cancel()
			<-done
			return
		}
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
