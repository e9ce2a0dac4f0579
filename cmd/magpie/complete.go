package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
)

// completeTime is how long a shell is kept waiting for names.
const completeTime = 400 * time.Millisecond

// completeWho offers the names of keys and accounts, as the running gateway has them.
func (p *process) completeWho(o *globals) cobra.CompletionFunc {
	return p.complete(o, func(ctx context.Context, c *client.Client) []string {
		s, err := c.Status(ctx)
		if err != nil {
			return nil // a shell can't be told why
		}
		ids := make([]string, len(s.Accounts))
		for i, a := range s.Accounts {
			ids[i] = a.ID
		}
		return ids
	})
}

// completeProvider offers the ids of the providers.
func (p *process) completeProvider(o *globals) cobra.CompletionFunc {
	return p.complete(o, func(ctx context.Context, c *client.Client) []string {
		all, err := c.Providers(ctx)
		if err != nil {
			return nil
		}
		ids := make([]string, len(all))
		for i := range all {
			ids[i] = all[i].ID
		}
		return ids
	})
}

// completeGroup offers the ids of the groups.
func (p *process) completeGroup(o *globals) cobra.CompletionFunc {
	return p.complete(o, func(ctx context.Context, c *client.Client) []string {
		s, err := c.Status(ctx)
		if err != nil {
			return nil
		}
		ids := make([]string, len(s.Groups))
		for i := range s.Groups {
			ids[i] = s.Groups[i].ID
		}
		return ids
	})
}

// complete offers words for the first argument.
func (p *process) complete(o *globals, words func(context.Context, *client.Client) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		c := client.New(p.address(o.listen), nil, nil)
		defer c.Close()
		return words(ctx, c), cobra.ShellCompDirectiveNoFileComp
	}
}

func (p *process) completionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:       "completion bash|zsh|fish",
		Short:     "Print a script that completes commands in your shell",
		Example:   "  bash  source <(magpie completion bash)\n  zsh   magpie completion zsh > \"${fpath[1]}/_magpie\"\n  fish  magpie completion fish > ~/.config/fish/completions/magpie.fish",
		ValidArgs: shells,
		Args:      arguments(1, 1, "one of bash, zsh, fish"),
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(p.out, true)
			case "zsh":
				return root.GenZshCompletion(p.out)
			case "fish":
				return root.GenFishCompletion(p.out, true)
			}
			return misused("no completion for %q: there are bash, zsh, fish", args[0])
		},
	}
}
