package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
)

func (p *process) statusCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "status",
		Short: "Show how the gateway and its accounts stand",
		Args:  arguments(0, 0, ""),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, _ []string) error {
			s, err := c.Status(ctx)
			if err != nil || o.json {
				return p.json(s, err)
			}
			return p.status(s)
		}),
	})
}

func (p *process) accountsCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "accounts",
		Short: "List keys and accounts: state, windows, renewal, balance",
		Args:  arguments(0, 0, ""),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, _ []string) error {
			all, err := c.Quotas(ctx, nil, quotaWait)
			if err != nil || o.json {
				return p.json(map[string]any{"accounts": all}, err)
			}
			if len(all) == 0 {
				return p.accounts(all)
			}
			return p.accountsWhole(all)
		}),
	})
}

// json prints what a call answered.
func (p *process) json(v any, err error) error {
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(data, '\n'))
	return err
}

// local is the present moment where the person is.
func (p *process) local() time.Time { return p.now().In(p.zone) }

// status prints the gateway as a whole.
func (p *process) status(s trace.Status) error {
	now := p.local()
	b := p.page()
	line := func(format string, args ...any) {
		b.paragraph(canvas.Clean(fmt.Sprintf(format, args...)))
	}
	demo := ""
	if s.Demo {
		demo = ", a demo: stand-in vendors answer"
	}
	line("magpie %s on %s, pid %d, up %s%s", s.Version, s.Listen, s.PID, words.Span(now.Sub(s.Started)), demo)
	if s.Config.Path != "" && !s.Demo {
		line("config %s, loaded %s", s.Config.Path, words.Ago(now.Sub(s.Config.Loaded)))
	}
	line("%s, %d under way, %d rerouted, %s", count(int(s.Totals.Requests), "request"), s.Totals.InFlight, s.Totals.Rerouted, count(int(s.Totals.Errors), "error"))
	line("%s", today(s.Today))
	for _, t := range troubles(s, now) {
		line("! %s", t)
	}
	b.WriteByte('\n')
	if err := p.put(b); err != nil {
		return err
	}
	if err := p.accounts(s.Accounts); err != nil || len(s.Groups) == 0 {
		return err
	}
	if err := p.printf("\n"); err != nil {
		return err
	}
	return p.groups(s.Groups)
}

func today(t trace.Today) string {
	s := "today " + count(int(t.Requests), "request")
	if t.Input > 0 {
		s += fmt.Sprintf(", in %s, %d%% of it cached, out %s", words.Count(t.Input), t.CacheRead*100/t.Input, words.Count(t.Output))
	}
	if t.CostUSD > 0 {
		s += ", " + words.Money(t.CostUSD)
	}
	if t.Unpriced > 0 {
		s += fmt.Sprintf(", and %d of unknown price", t.Unpriced)
	}
	return s
}

// troubles lists what needs the person.
func troubles(s trace.Status, now time.Time) []string {
	var all []string
	if s.Draining {
		all = append(all, "shutting down: new requests are turned away")
	}
	if s.Config.Error != "" {
		all = append(all, "the newest config is not in force: "+s.Config.Error)
	}
	all = append(all, s.Trouble...)
	if at := s.History.Begun; at != nil {
		all = append(all, "the history's file was moved away or deleted while it was in use; since "+stamp(*at, now)+" it is another")
	}
	if t, any := state.New(trace.View{Status: s}, now, false).Trouble(state.At(now)); any && len(all) == 0 {
		all = append(all, strings.TrimSpace(t.Text+" "+t.More))
	}
	return append(all, s.Config.Warnings...)
}

// accounts prints a table of keys and accounts.
func (p *process) accounts(all []trace.Account) error {
	if len(all) == 0 {
		return p.printf("no key and no account: name a provider in the config\n")
	}
	now := p.local()
	t := newTable(accountColumns()...)
	for _, a := range all {
		busy := live(&a)
		used, window, renews := fullest(&a, now)
		t.row(a.ID, standing(&a, now), busy, used, window, renews)
		if a.Error != "" {
			t.note(a.ID + ": " + a.Error)
		}
	}
	return p.table(t)
}

func accountColumns() []column {
	return []column{
		{head: "ACCOUNT", gives: true, least: 20},
		{head: "STATE", gives: true, least: 18},
		{head: "LIVE", right: true, rank: 3},
		{head: "USED", right: true},
		{head: "WINDOW", rank: 2},
		{head: "RENEWS", right: true, rank: 1},
	}
}

// live is how many requests an account has, of how many, and how many wait.
func live(a *trace.Account) string {
	s := ""
	if a.InFlight > 0 {
		s = fmt.Sprint(a.InFlight)
	}
	if a.Limit > 0 {
		s = fmt.Sprintf("%d/%d", a.InFlight, a.Limit)
	}
	if a.Waiting > 0 {
		s += fmt.Sprintf("+%d", a.Waiting)
	}
	return s
}

// standing is an account's state, and the pin that it may have.
func standing(a *trace.Account, now time.Time) string {
	s := words.Account(*a, now)
	switch { // why stands under the table
	case state.Denied(a):
		s = words.Denied(a)
	case a.State == trace.Unready:
		s = words.State(a.State)
	}
	if a.Pinned == nil {
		return s
	}
	pin := "pinned"
	if a.Pinned.Only {
		pin = "pinned alone"
	}
	if who := strings.TrimSpace(a.Pinned.Agent + " " + a.Pinned.Model); who != "" {
		pin += " for " + who
	}
	return pin + ", " + s
}

func fullest(a *trace.Account, now time.Time) (used, window, renews string) {
	w, known := state.Fullest(a)
	if !known {
		return "", "", ""
	}
	used, window = fmt.Sprintf("%.0f%%", w.Used), w.Name
	if w.Resets != nil {
		renews = words.In(w.Resets.Sub(now))
	}
	return used, window, renews
}

func (p *process) groups(all []trace.Group) error {
	t := newTable(column{head: "GROUP", gives: true, least: 24}, column{head: "ROUTING", rank: 1}, column{head: "READY", right: true}, column{head: "NEXT", gives: true, least: 20})
	found := 0
	for _, g := range all {
		if g.Auto {
			found++
			continue
		}
		next := g.Next
		if g.Off {
			next = "off"
		}
		t.row(g.ID, g.Routing, groupReady(&g), next)
	}
	switch {
	case found > 0 && len(t.rows) == 0:
		return p.printf("%s found; magpie groups lists them\n", count(found, "group"))
	case found > 0:
		t.note("and " + count(found, "group") + " that were found; magpie groups lists them")
	}
	return p.table(t)
}
