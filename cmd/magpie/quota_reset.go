package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/control"
	"dev.magpie/tui/canvas"
)

func (p *process) quotaResetCommand(o *globals) *cobra.Command {
	yes := false
	c := listing(o, &cobra.Command{
		Use:   "reset <who>",
		Short: "Spend a reset of an account: its windows begin anew",
		Long: "The one that runs out first. It can't be undone, so that it is shown and asked about first. Where nothing of the account's " +
			"windows is used, the reset is kept.",
		Args: arguments(1, 1, whoWords),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			cmd := control.Command{Verb: control.Reset, Who: args[0]}
			effect, err := c.Preview(ctx, cmd)
			if err != nil {
				return err
			}
			if !yes {
				words := strings.Split(canvas.Clean(effect.Words), "; ")
				if err := p.sure(words[0], words[1:]); err != nil {
					return err
				}
			}
			done, err := c.Do(ctx, cmd, effect.Token)
			if err != nil {
				return err
			}
			return p.tellDone(o, done)
		}),
		ValidArgsFunction: p.completeWho(o),
	})
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return c
}
