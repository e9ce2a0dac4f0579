package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/gateway/wire"
	"dev.magpie/tui/canvas"
)

func (p *process) providersCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "providers",
		Short: "List the vendors' entries of the running gateway",
		Args:  arguments(0, 0, ""),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, _ []string) error {
			all, err := c.Providers(ctx)
			if err != nil || o.json {
				return p.json(map[string]any{"providers": all}, err)
			}
			return p.providers(all)
		}),
	})
}

func (p *process) providerCommand(o *globals) *cobra.Command {
	return parent(&cobra.Command{
		Use:   "provider",
		Short: "Look at a vendor's entry, change it, test its keys",
	}, p.providerShowCommand(o), p.providerAddCommand(o), p.providerSetCommand(o), p.providerOffCommand(o), p.providerOnCommand(o),
		p.providerRmCommand(o), p.providerTestCommand(o), p.providerModelsCommand(o))
}

const idWords = "a provider's id; magpie providers lists them"

func (p *process) providerShowCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:               "show <id>",
		Short:             "Show an entry: addresses, keys (masked), fallback",
		Args:              arguments(1, 1, idWords),
		ValidArgsFunction: p.completeProvider(o),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			if _, err := c.Quotas(ctx, args, quotaWait); err != nil && ctx.Err() != nil {
				return err // else its keys are told without what is left of them
			}
			one, err := provided(ctx, c, args[0])
			if err != nil || o.json {
				return p.json(one, err)
			}
			return p.provider(&one)
		}),
	})
}

// provided finds a provider by its id.
func provided(ctx context.Context, c *client.Client, id string) (trace.Provider, error) {
	all, err := c.Providers(ctx)
	if err != nil {
		return trace.Provider{}, err
	}
	var known []string
	for _, one := range all {
		if strings.EqualFold(one.ID, id) {
			return one, nil
		}
		known = append(known, one.ID)
	}
	return trace.Provider{}, failed("there is no provider %.60q; there are: %s", id, strings.Join(known, ", "))
}

func (p *process) providerModelsCommand(o *globals) *cobra.Command {
	refresh := false
	c := listing(o, &cobra.Command{
		Use:               "models <id>",
		Short:             "List a vendor's models and what is known of them",
		Args:              arguments(1, 1, idWords),
		ValidArgsFunction: p.completeProvider(o),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			list := c.Models
			if refresh {
				list = c.FetchModels
			}
			m, err := list(ctx, args[0])
			if err != nil || o.json {
				return p.json(m, err)
			}
			return p.models(&m)
		}),
	})
	c.Flags().BoolVar(&refresh, "refresh", false, "ask the vendor for its list first")
	return c
}

func (p *process) providers(all []trace.Provider) error {
	if len(all) == 0 {
		return p.printf("no provider: name one in the config; magpie presets lists those that magpie knows\n")
	}
	t := newTable(
		column{head: "ID", gives: true, least: 16}, column{head: "NAME", gives: true, rank: 1}, column{head: "APIS", gives: true, rank: 2}, column{head: "KEYS", right: true},
		column{head: "READY", right: true}, column{head: "MODELS", right: true, rank: 3}, column{head: "FROM", rank: 4},
	)
	for i := range all {
		one := &all[i]
		ready := 0
		for _, k := range one.Keys {
			if k.State == trace.Fine || k.State == trace.Low {
				ready++
			}
		}
		models, from := fmt.Sprint(one.Models), string(one.From)
		if one.Models == 0 {
			models = ""
		}
		if one.From == trace.FromNowhere {
			from = "not known"
		}
		if one.Off {
			from = "off"
		}
		t.row(one.ID, one.Name, strings.Join(apis(one.Bases), " "), fmt.Sprint(len(one.Keys)), fmt.Sprint(ready), models, from)
	}
	return p.table(t)
}

// apis lists the APIs in their usual order.
func apis(bases map[string]string) []string {
	var all []string
	for _, api := range wire.Protocols {
		if bases[string(api)] != "" {
			all = append(all, string(api))
		}
	}
	return all
}

func (p *process) provider(one *trace.Provider) error {
	b := p.page()
	field := func(name, value string) {
		if value != "" {
			b.entry(name, 12, canvas.Clean(value))
		}
	}
	b.WriteString(canvas.Clean(one.ID+": "+one.Name) + "\n")
	field("preset", strings.TrimSpace(one.Preset+" "+one.Region))
	for _, api := range apis(one.Bases) {
		field(api, one.Bases[api])
	}
	field("routing", one.Routing)
	field("fallback", strings.Join(one.Fallback, ", "))
	field("proxy", one.Proxy)
	field("headers", strings.Join(one.Headers, ", "))
	field("models", modelsLine(one))
	field("keys at", one.KeysURL)
	if one.Off {
		field("off", "it is asked nothing")
	}
	b.WriteByte('\n')
	if err := p.put(b); err != nil {
		return err
	}
	t := newTable(
		column{head: "KEY", gives: true, least: 20}, column{head: "FROM", gives: true, rank: 2}, column{head: "VALUE", rank: 3}, column{head: "FOR", gives: true, rank: 4},
		column{head: "STATE"}, column{head: "BALANCE", gives: true, rank: 1}, column{head: "PLAN", gives: true, rank: 5},
	)
	for _, k := range one.Keys {
		t.row(k.ID, k.Source, k.Masked, strings.TrimSpace(k.Protocol+" "+strings.Join(k.Models, " ")), words.State(k.State), k.Balance, k.Plan)
		if k.ReadError != "" {
			t.note(k.ID + ", what is left: " + k.ReadError)
		}
		if k.Error != "" {
			t.note(k.ID + ": " + k.Error)
		}
	}
	t.without("BALANCE", "PLAN")
	return p.table(t)
}

func modelsLine(one *trace.Provider) string {
	if one.ReadOnly != "" {
		return "none, it is only shown: " + one.ReadOnly
	}
	switch one.From {
	case trace.FromConfig:
		return fmt.Sprintf("%d, those that the config names; no others are served", one.Models)
	case trace.FromVendor:
		return fmt.Sprintf("%d, as the vendor lists them; any other name goes to the vendor too", one.Models)
	case trace.FromPreset:
		return fmt.Sprintf("%d known of a vendor without a list; any other name goes to the vendor too", one.Models)
	case trace.FromNowhere:
	}
	return "no list; any name goes to the vendor"
}

func (p *process) models(m *trace.Models) error {
	if len(m.Models) == 0 {
		return p.printf("no list of models is known; magpie provider models %s --refresh asks the vendor\n", m.Provider)
	}
	t := newTable(
		column{head: "MODEL", gives: true, least: 40}, column{head: "APIS", gives: true, rank: 4}, column{head: "CONTEXT", right: true, rank: 1},
		column{head: "OUTPUT", right: true, rank: 5}, column{head: "INPUTS", gives: true, rank: 6}, column{head: "IN $", right: true, rank: 3}, column{head: "OUT $", right: true, rank: 2},
	)
	for _, one := range m.Models {
		in, out := "", ""
		if one.Price != nil {
			in, out = one.Price.Input, one.Price.Output
		}
		t.row(one.ID, strings.Join(one.APIs, " "), size(one.Context), size(one.MaxOutput), strings.Join(one.Inputs, " "), in, out)
	}
	return p.table(t)
}

// size is a number of tokens, ? when it is unknown.
func size(n int) string {
	if n == 0 {
		return "?"
	}
	return words.Count(int64(n))
}
