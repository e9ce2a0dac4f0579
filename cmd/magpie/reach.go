package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/config"
	"dev.magpie/gateway/client"
	"dev.magpie/gateway/control"
)

// The way from a command to the gateway that runs.

// paths says where everything is.
func (p *process) paths() config.Paths { return config.FindPaths(p.getenv, p.home) }

// address is where the gateway listens as far as this process can tell: --listen, MAGPIE_ADDR, the
// config's, the default. A config that can't be read does not keep anyone from a gateway that runs.
func (p *process) address(listen string) string {
	c, err := config.Load(p.paths().Config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && listen == "" && p.getenv("MAGPIE_ADDR") == "" {
		p.complain("the config can't be read, so its listen is not known and " + config.DefaultListen + " is asked; see magpie config check")
	}
	return config.Listen(listen, p.getenv("MAGPIE_ADDR"), c)
}

// dial finds the gateway at an address and returns a client of it.
func (p *process) dial(ctx context.Context, addr string) (*client.Client, client.Info, error) {
	info, err := p.probe(ctx, addr)
	if err != nil {
		return nil, client.Info{}, absent(ctx, addr, err)
	}
	return client.New(addr, p.token, nil), info, nil
}

// absent says that there is no gateway to ask.
func absent(ctx context.Context, addr string, err error) error {
	var foreign *client.ForeignError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, client.ErrNoGateway):
		return &exitError{exitNoGateway, "no gateway is running at " + addr + ": start one with `magpie` or `magpie serve`"}
	case errors.As(err, &foreign):
		return &exitError{exitNoGateway, "no gateway is running: " + foreign.Error()}
	}
	return &exitError{exitNoGateway, "no gateway answers at " + addr + ": " + err.Error()}
}

// token reads the control token as it is now. Without a file there is none to send: reading needs none.
func (p *process) token() (string, error) {
	data, err := os.ReadFile(p.paths().Token)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(data)), err
}

// asking wraps what a command does with the running gateway. It ends with ctrl+c.
func (p *process) asking(o *globals, do func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return p.interruptible(func(ctx context.Context, args []string) error {
		c, _, err := p.dial(ctx, p.address(o.listen))
		if err != nil {
			return err
		}
		defer c.Close()
		return told(do(ctx, c, args))
	})
}

// interruptible runs what a command does until it ends or a signal comes.
func (p *process) interruptible(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, cancel := p.untilSignal(cmd.Context())
		defer cancel()
		err := do(ctx, args)
		if ctx.Err() != nil {
			return context.Canceled // whatever else went wrong came from that
		}
		return err
	}
}

// told turns what the gateway says against a call into what the person is told.
func told(err error) error {
	var e *control.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case "bad_request", "bad_duration", "bad_args", "unknown_verb":
		return &exitError{exitUsage, e.Message}
	case "no_token":
		return failed("the gateway does not take this home's control token: it was started with another MAGPIE_HOME or by someone else")
	case "no_such_account":
		return failed("%s", e.Message)
	}
	return failed("%s", e.Message)
}
