package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
)

func (p *process) lineCommand(o *globals) *cobra.Command {
	watch := false
	c := &cobra.Command{
		Use:   "line",
		Short: "Print one line for a status bar: the worst that there is to know",
		Args:  arguments(0, 0, ""),
		Example: `  tmux    set -g status-right '#(magpie line)'
  reader  magpie line --watch`,
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, _ []string) error {
			if watch {
				return p.watchLine(ctx, c)
			}
			s, err := c.Status(ctx)
			if err != nil {
				return err
			}
			st := state.New(trace.View{Status: s}, p.local(), false)
			return p.printf("%s\n", p.line(st))
		}),
	}
	c.Flags().BoolVar(&watch, "watch", false, "print a line whenever it changes")
	return c
}

// line is the worst that there is to know, in a line.
func (p *process) line(st *state.State) string {
	set := canvas.Glyphs("auto", p.getenv)
	if t, bad := st.Trouble(state.At(p.local())); bad && t.Bad {
		return canvas.Clean("magpie " + set.Failed + " " + t.Text)
	}
	for _, a := range state.Worst(st.Accounts) {
		if state.Refused(&a) {
			return canvas.Clean("magpie " + set.Failed + " " + st.Name(a.ID) + " " + words.Denied(&a))
		}
		if a.State == trace.Low {
			return canvas.Clean(fmt.Sprintf("magpie %s %s %.0f%%", set.Low, st.Name(a.ID), a.Used))
		}
	}
	return fmt.Sprintf("magpie %s %d live", set.Fine, st.Status.Totals.InFlight)
}

// lineGap is the least time between two lines.
const lineGap = 250 * time.Millisecond

func (p *process) watchLine(ctx context.Context, c *client.Client) error {
	view, feed, err := c.Watch(ctx)
	if err != nil {
		return err
	}
	defer feed.Close()
	st := state.New(view, p.local(), false)
	for last := ""; ; {
		if now := p.line(st); now != last {
			if err := p.printf("%s\n", now); err != nil {
				return err
			}
			last = now
		}
		batch, err := feed.Next(ctx, time.Now().Add(lineGap))
		if err != nil {
			return err
		}
		st.Apply(batch, p.local())
	}
}
