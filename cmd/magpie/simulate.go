package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/config"
	"dev.magpie/gateway/history"
	"dev.magpie/gateway/sim"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func (p *process) simulateCommand(o *globals) *cobra.Command {
	var work, conf string
	c := listing(o, &cobra.Command{
		Use:   "simulate --workload <file>",
		Short: "Play a workload over the routing orders, and compare them",
		Long: "Runs the planner that serves requests in virtual time over accounts, keys and conversations that a file describes, once for each order, and shows " +
			"what share of the allowances went to waste, what keys cost, how much input came from caches, how many requests were late, and how often conversations " +
			"moved; each beside a bound that no order can pass. Nothing is sent, and no gateway is asked. gateway/sim/README.md has the file's format.",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if work == "" {
				return misused("name a workload: --workload FILE")
			}
			rep, err := p.simulate(c.Context(), work, conf)
			switch {
			case err != nil:
				return err
			case o.json:
				return p.json(rep.JSON(), nil)
			}
			return p.printf("%s", rep.Table())
		},
	})
	c.Flags().StringVar(&work, "workload", "", "what is asked of whom: a TOML `file`")
	c.Flags().StringVar(&conf, "config", "", "take providers, groups and their routing from this config `file`")
	return c
}

// simulate reads the files and plays the workload.
func (p *process) simulate(ctx context.Context, work, conf string) (*sim.Report, error) {
	data, err := os.ReadFile(work)
	if err != nil {
		return nil, unreadable("the workload", work, err)
	}
	if strings.HasPrefix(string(data), "SQLite format 3") {
		return nil, misused("%s is a history, which does not tell what accounts may spend: name it as history = \"…\" in a workload that does", work)
	}
	w, err := sim.Parse(data)
	if err != nil {
		return nil, misused("%s: %s", work, strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	if w.Name == "" {
		w.Name = strings.TrimSuffix(filepath.Base(work), filepath.Ext(work))
	}
	if w.History != "" {
		routes, err := recorded(ctx, filepath.Join(filepath.Dir(work), w.History), w.History)
		if err != nil {
			return nil, err
		}
		w.Record(routes)
	}
	var cat *provider.Catalog
	orders := sim.Orders
	if conf != "" {
		if cat, err = catalogOf(conf); err != nil {
			return nil, err
		}
		orders = append([]string{sim.Own}, orders...)
	}
	rep, err := sim.Run(w, cat, orders)
	if err != nil {
		return nil, misused("%s: %s", work, err)
	}
	return rep, nil
}

// catalogOf reads a config for what it names.
func catalogOf(path string) (*provider.Catalog, error) {
	cfg, err := config.Load(path)
	var bad *config.Errors
	switch {
	case errors.As(err, &bad):
		return nil, bad
	case err != nil:
		return nil, unreadable("the config", path, err)
	}
	cat, problems := provider.Build(cfg)
	if len(problems) > 0 {
		return nil, &config.Errors{Problems: problems}
	}
	return cat, nil
}

// recordedMost bounds how much of a history is read.
const recordedMost = 500_000

// recorded reads a history, the newest part where it is long.
func recorded(ctx context.Context, path, name string) (all []trace.Route, err error) {
	if filepath.IsAbs(name) {
		path = name
	}
	if _, err := os.Stat(path); err != nil {
		return nil, unreadable("the history", path, err)
	}
	h, err := history.Open(path)
	if err != nil {
		return nil, misused("can't read the history: %s", err)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	const page = 10_000
	f := history.Filter{Limit: page}
	for len(all) < recordedMost {
		part, err := h.Requests(ctx, f)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, misused("can't read the history: %s", err)
		}
		all = append(all, part...)
		if len(part) < page {
			break
		}
		f.Before = part[len(part)-1].ID
	}
	return all, nil
}
