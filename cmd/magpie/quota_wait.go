package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/state"
)

const (
	waitLook = time.Second      // from one look to the next
	waitAway = 30 * time.Second // how long the gateway may be away meanwhile: it may be started anew
)

func (p *process) quotaWaitCommand(o *globals) *cobra.Command {
	most := ""
	c := listing(o, &cobra.Command{
		Use:   "wait <who>",
		Short: "Wait until a key or account can be asked",
		Long: "Of a provider with several, until one of them can. Ends with 0 once it can, with 1 when that takes longer than --timeout, " +
			"and with 2 when nobody is called so.",
		Args:              arguments(1, 1, whoWords+", or a provider"),
		ValidArgsFunction: p.completeWho(o),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			limit, ok := length(most)
			if !ok {
				return misused("--timeout %q is no length such as 90m or 2h", most)
			}
			return p.waitFree(ctx, o, c, args[0], limit)
		}),
	})
	c.Flags().StringVar(&most, "timeout", "6h", "give up after a `length` such as 90m or 2h")
	return c
}

// waitFree looks again and again until one of those meant can be asked.
func (p *process) waitFree(ctx context.Context, o *globals, c *client.Client, who string, limit time.Duration) error {
	over := time.NewTimer(limit)
	defer over.Stop()
	again := time.NewTicker(waitLook)
	defer again.Stop()
	seen, away := false, time.Now()
	for {
		a, err := p.firstFree(ctx, c, who)
		var unknown *exitError
		switch {
		case errors.As(err, &unknown) || err != nil && !seen:
			return err
		case err != nil && time.Since(away) > waitAway:
			return &exitError{exitNoGateway, "the gateway is gone: " + err.Error()}
		case err == nil:
			seen, away = true, time.Now()
		}
		if err == nil && state.Roomy(&a) {
			if o.json {
				return p.json(map[string]any{"free": true, "account": a}, nil)
			}
			return p.printf("%s is %s: %s\n", a.ID, words.State(a.State), words.Left(&a))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			if o.json {
				if err := p.json(map[string]any{"free": false, "account": a}, nil); err != nil {
					return err
				}
				return &exitError{code: exitFailed}
			}
			return failed("%s can't be asked after %s: %s", a.ID, words.Span(limit), words.Account(a, p.local()))
		case <-again.C:
		}
	}
}

// firstFree finds who is meant, and of several one that can be asked, if there is one.
func (p *process) firstFree(ctx context.Context, c *client.Client, who string) (trace.Account, error) {
	all, err := c.Quotas(ctx, nil, 0)
	if err != nil {
		return trace.Account{}, err
	}
	meant, err := meantBy(all, who)
	if err != nil {
		return trace.Account{}, err
	}
	for i := range meant {
		if state.Roomy(&meant[i]) {
			return meant[i], nil
		}
	}
	return meant[0], nil
}

// meantBy finds the accounts of an id, a provider, or a name that just one has.
func meantBy(all []trace.Account, who string) ([]trace.Account, error) {
	var named, of []trace.Account
	var ids []string
	for _, a := range all {
		ids = append(ids, a.ID)
		switch {
		case strings.EqualFold(a.ID, who):
			return []trace.Account{a}, nil
		case strings.EqualFold(a.Provider, who):
			of = append(of, a)
		case strings.EqualFold(a.Name, who):
			named = append(named, a)
		}
	}
	switch {
	case len(of) > 0:
		return of, nil
	case len(named) == 1:
		return named, nil
	case len(named) > 1:
		ids = ids[:0]
		for _, a := range named {
			ids = append(ids, a.ID)
		}
		return nil, misused("several are called %.60q: %s", who, strings.Join(ids, ", "))
	}
	return nil, misused("nobody is called %.60q; there are: %s", who, strings.Join(ids, ", "))
}
