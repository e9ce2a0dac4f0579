package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/control"
	"dev.magpie/tui/canvas"
)

// What a person decides while the gateway runs. It holds until it is taken back, also over a restart.

const whoWords = "whom: provider/name, a name that just one has, or a provider with one key"

func (p *process) pauseCommand(o *globals) *cobra.Command {
	var args control.Args
	c := p.change(o, control.Pause, &args, &cobra.Command{
		Use:   "pause <who>",
		Short: "Ask a key or account nothing until it is resumed",
		Long:  "Requests that it is answering go on. all is everyone.",
		Args:  arguments(1, 1, whoWords+", or all"),
	})
	c.Flags().StringVar(&args.For, "for", "", "resume by itself after a `length` such as 90m or 2h")
	return c
}

func (p *process) resumeCommand(o *globals) *cobra.Command {
	return p.change(o, control.Resume, &control.Args{}, &cobra.Command{
		Use:   "resume <who>",
		Short: "Ask a paused key or account again",
		Args:  arguments(1, 1, whoWords+", or all"),
	})
}

func (p *process) pinCommand(o *globals) *cobra.Command {
	var args control.Args
	c := p.change(o, control.Pin, &args, &cobra.Command{
		Use:   "pin <who>",
		Short: "Ask a key or account before all others",
		Long:  "The others still take over when it can't answer, but with --only.",
		Args:  arguments(1, 1, whoWords),
	})
	s := c.Flags()
	s.StringVar(&args.Agent, "agent", "", "only for this `agent`, such as claude")
	s.StringVar(&args.Model, "model", "", "only for this `model`")
	s.StringVar(&args.For, "for", "", "unpin by itself after a `length` such as 90m or 2h")
	s.BoolVar(&args.Only, "only", false, "ask nobody else, also when it can't answer")
	return c
}

func (p *process) unpinCommand(o *globals) *cobra.Command {
	all := false
	c := p.change(o, control.Unpin, &control.Args{}, &cobra.Command{
		Use:   "unpin [<who>]",
		Short: "Take a pin back",
		Args: func(c *cobra.Command, args []string) error {
			if err := arguments(0, 1, whoWords)(c, args); err != nil {
				return err
			}
			if all == (len(args) == 1) {
				return misused("%s needs either whom, or --all", c.CommandPath())
			}
			return nil
		},
	})
	c.Flags().BoolVar(&all, "all", false, "take all pins back")
	return c
}

func (p *process) wakeCommand(o *globals) *cobra.Command {
	return p.change(o, control.Wake, &control.Args{}, &cobra.Command{
		Use:   "wake <who>",
		Short: "End the rest of a key or account",
		Args:  arguments(1, 1, whoWords+", or all"),
	})
}

// do carries a command out and says what it did.
func (p *process) do(ctx context.Context, o *globals, c *client.Client, cmd control.Command) error {
	done, err := c.Do(ctx, cmd, "")
	if err != nil {
		return err
	}
	return p.tellDone(o, done)
}

// tellDone says what a command did.
func (p *process) tellDone(o *globals, done control.Done) error {
	if o.json {
		return p.json(map[string]any{"done": done.Words, "undo": done.Undo, "state": done.Accounts, "at": done.At}, nil)
	}
	b := p.page()
	b.paragraph(canvas.Clean(done.Words))
	return p.put(b)
}

// change makes a command of a verb.
func (p *process) change(o *globals, verb control.Verb, args *control.Args, c *cobra.Command) *cobra.Command {
	c.RunE = p.asking(o, func(ctx context.Context, c *client.Client, who []string) error {
		cmd := control.Command{Verb: verb, Args: *args}
		if len(who) > 0 {
			cmd.Who = who[0]
		}
		if d, ok := length(cmd.Args.For); ok && strings.HasSuffix(cmd.Args.For, "d") {
			cmd.Args.For = fmt.Sprintf("%gh", d.Hours()) // the gateway knows no days
		}
		return p.do(ctx, o, c, cmd)
	})
	c.ValidArgsFunction = p.completeWho(o)
	return listing(o, c)
}
