package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/state"
)

// What is left of keys and accounts, and what of it may be used.

// quotaWait is how long a listing waits for vendors that it has asked.
const quotaWait = 5 * time.Second

func (p *process) quotaCommand(o *globals) *cobra.Command {
	c := listing(o, &cobra.Command{
		Use:   "quota [<provider>…]",
		Short: "Show what is left of keys and accounts",
		Long: "Windows with their use and renewal, balances, and when that was read. Vendors that are known to tell it are asked " +
			"where that was not done within the last 30 seconds.",
		Args: arguments(0, 1000, ""),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			all, err := c.Quotas(ctx, args, quotaWait)
			if err != nil || o.json {
				return p.json(map[string]any{"accounts": all}, err)
			}
			return p.quota(all)
		}),
		ValidArgsFunction: p.completeProvider(o),
	})
	c.AddCommand(
		p.quotaRefreshCommand(o),
		p.quotaResetCommand(o),
		p.quotaCapCommand(o),
		p.quotaCreditsCommand(o),
		p.quotaAutoResetCommand(o),
		p.quotaWaitCommand(o),
		p.quotaHistoryCommand(o),
	)
	return c
}

// quota prints a table with a row for each window, and one for the balance.
func (p *process) quota(all []trace.Account) error {
	if len(all) == 0 {
		return p.printf("no key and no account: name a provider in the config\n")
	}
	now := p.local()
	t := newTable(
		column{head: "ACCOUNT", gives: true, least: 20}, column{head: "PLAN", gives: true, rank: 3}, column{head: "WINDOW", gives: true, least: 18}, column{head: "USED", right: true},
		column{head: "AMOUNT", right: true, rank: 2}, column{head: "RENEWS", right: true, rank: 1}, column{head: "READ", right: true, rank: 4},
	)
	for i := range all {
		a := &all[i]
		rows := quotaRows(a, now)
		if len(rows) == 0 {
			rows = [][]string{{"nothing known", "", "", "", ""}}
		}
		for n, row := range rows {
			lead := []string{"", ""}
			if n == 0 {
				lead = []string{a.ID, a.Plan}
			}
			t.row(append(lead, row...)...)
		}
		if a.ReadError != "" {
			t.note(a.ID + " can't be read: " + a.ReadError)
		}
	}
	t.without("PLAN", "AMOUNT")
	return p.table(t)
}

func quotaRows(a *trace.Account, now time.Time) [][]string {
	var rows [][]string
	for i := range a.Windows {
		w := &a.Windows[i]
		name, renews := w.Name, ""
		if w.Model != "" && !strings.Contains(strings.ToLower(w.Name), w.Model) {
			name += ", " + w.Model
		}
		if w.Aside && !w.Endless {
			name += ", aside"
		}
		switch {
		case w.Resets == nil:
		case w.Resets.After(now):
			renews = words.In(w.Resets.Sub(now))
		default:
			renews = "renewed"
		}
		rows = append(rows, []string{name, words.Used(w), words.Amount(w), renews, words.Span(now.Sub(w.Read))})
	}
	if a.Balance != "" {
		read := ""
		if a.Read != nil {
			read = words.Span(now.Sub(*a.Read))
		}
		rows = append(rows, []string{"balance", "", a.Balance, "", read})
	}
	if s := resetsInHand(a, now); s != "" {
		rows = append(rows, []string{"resets", "", s, "", ""})
	}
	return rows
}

func (p *process) quotaRefreshCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "refresh [<who>]",
		Short: "Ask vendors now what is left, of one or of all",
		Long:  "Tells who can't be read, and why; what was read of them before stands.",
		Args:  arguments(0, 1, whoWords+", or a provider"),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, who []string) error {
			done, err := c.Do(ctx, control.Command{Verb: control.Refresh, Who: strings.Join(who, "")}, "")
			if err != nil {
				return err
			}
			if err := p.tellDone(o, done); err != nil || o.json || len(done.Accounts) == 1 {
				return err
			}
			return p.unread(done.Accounts)
		}),
		ValidArgsFunction: p.completeWho(o),
	})
}

// unread tells whom a refresh could not read, and why.
func (p *process) unread(all []trace.Account) error {
	b := p.page()
	for i := range all {
		if a := &all[i]; a.ReadError != "" {
			b.paragraph(canvas.Clean(a.ID + ": " + a.ReadError))
		}
	}
	return p.put(b)
}

func (p *process) quotaCapCommand(o *globals) *cobra.Command {
	var args control.Args
	c := p.change(o, control.Cap, &args, &cobra.Command{
		Use:   "cap <who> <1-99|off>",
		Short: "Use so many percent of an account, and leave the rest to its owner",
		Args: func(c *cobra.Command, words []string) error {
			if err := arguments(2, 2, whoWords+", and a share in percent or off")(c, words); err != nil {
				return err
			}
			percent, err := capOf(words[1])
			args.Percent = &percent
			return err
		},
	})
	c.Flags().StringVar(&args.Window, "window", "", "only of the window with this `name`, such as \"5 hours\"; off lifts the account's cap from it")
	return c
}

// capOf reads a share; what lifts a cap is 0.
func capOf(word string) (int, error) {
	switch strings.ToLower(word) {
	case "off", "none", "no", "-":
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(word, "%"))
	if err != nil || n < 0 || n > 100 {
		return 0, misused("a cap is a whole number of percent from 1 to 99, or off, not %q", word)
	}
	return n % 100, nil
}

func (p *process) quotaCreditsCommand(o *globals) *cobra.Command {
	return p.switching(o, control.Credits, "credits <who> on|off", "Let an account spend credits once its windows are used up, or not")
}

func (p *process) quotaAutoResetCommand(o *globals) *cobra.Command {
	return p.switching(o, control.AutoReset, "auto-reset <who> on|off", "Let an account spend its resets by itself, or not")
}

// switching makes a command of a verb that is on or off.
func (p *process) switching(o *globals, verb control.Verb, use, short string) *cobra.Command {
	var args control.Args
	return p.change(o, verb, &args, &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(c *cobra.Command, words []string) error {
			if err := arguments(2, 2, whoWords+", and on or off")(c, words); err != nil {
				return err
			}
			on := strings.EqualFold(words[1], "on")
			if !on && !strings.EqualFold(words[1], "off") {
				return misused("%s needs on or off, not %q", c.CommandPath(), words[1])
			}
			args.On = &on
			return nil
		},
	})
}

func (p *process) quotaHistoryCommand(o *globals) *cobra.Command {
	var (
		f     client.Filter
		since string
	)
	c := listing(o, &cobra.Command{
		Use:   "history [<who>]",
		Short: "List what was read in the last 45 days, the newest first",
		Long:  "A reading is listed when it told something else than the one before.",
		Args:  arguments(0, 1, whoWords),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			var err error
			if f.Since, err = p.moment(since); err != nil {
				return err
			}
			if f.Limit < 1 {
				return misused("-n is a number of readings, 1 or more")
			}
			if len(args) > 0 {
				f.Account = args[0]
			}
			all, err := c.Readings(ctx, f)
			if err != nil || o.json {
				return p.json(map[string]any{"readings": all}, err)
			}
			return p.readings(all)
		}),
		ValidArgsFunction: p.completeWho(o),
	})
	c.Flags().StringVar(&since, "since", "", "only what was read since `then`: a length such as 90m or 7d, a date, or a time")
	c.Flags().IntVarP(&f.Limit, "last", "n", 50, "at most so many `readings`")
	return c
}

func (p *process) readings(all []trace.Reading) error {
	if len(all) == 0 {
		return p.printf("no reading fits\n")
	}
	now := p.local()
	t := newTable(
		column{head: "TIME"}, column{head: "ACCOUNT", gives: true, least: 20}, column{head: "PLAN", gives: true, rank: 2}, column{head: "WINDOW", gives: true},
		column{head: "USED", right: true}, column{head: "AMOUNT", right: true, rank: 1},
	)
	for i := range all {
		r := &all[i]
		lead := []string{stamp(r.Time, now), r.Account, r.Plan}
		for _, row := range quotaRows(&trace.Account{Windows: r.Windows, Balance: r.Balance}, now) {
			t.row(append(lead, row[:3]...)...)
			lead = []string{"", "", ""}
		}
	}
	t.without("PLAN")
	return p.table(t)
}

// stamp is a time of today, or a day with its time.
func stamp(t, now time.Time) string {
	if s := clock(t, now); strings.Contains(s, ":") {
		return s
	}
	return t.In(now.Location()).Format("02 Jan 15:04")
}

// accountsWhole prints the table of keys and accounts with all their windows, plans and balances.
func (p *process) accountsWhole(all []trace.Account) error {
	now := p.local()
	t := newTable(accountColumns()...)
	for i := range all {
		a := &all[i]
		used, window, renews := fullest(a, now)
		t.row(a.ID, standing(a, now), live(a), used, window, renews)
		first, _ := state.Fullest(a)
		more := planAndBalance(a)
		for j := range a.Windows {
			w := &a.Windows[j]
			if w.Name == first.Name && w.Model == first.Model {
				continue
			}
			renews := ""
			if w.Resets != nil {
				renews = words.In(w.Resets.Sub(now))
			}
			t.row("", more, "", words.Used(w), w.Name, renews)
			more = ""
		}
		if more != "" {
			t.row("", more)
		}
		if a.Error != "" {
			t.note(a.ID + ": " + a.Error)
		}
		if a.ReadError != "" {
			t.note(a.ID + ", what is left: " + a.ReadError)
		}
	}
	return p.table(t)
}

// planAndBalance is what else is known of an account: "max, $14.00 left, 2 resets".
func planAndBalance(a *trace.Account) string {
	var all []string
	if a.Plan != "" {
		all = append(all, a.Plan)
	}
	if a.Balance != "" {
		all = append(all, a.Balance+" left")
	}
	if r := a.Resets; r != nil && r.Count > 0 {
		all = append(all, count(r.Count, "reset"))
	}
	return strings.Join(all, ", ")
}

// resetsInHand says how many resets an account can spend, and how long the first of them lasts: "2, next ends 3d18h".
func resetsInHand(a *trace.Account, now time.Time) string {
	r := a.Resets
	if r == nil || r.Count == 0 {
		return ""
	}
	s := strconv.Itoa(r.Count)
	if r.Until.After(now) {
		s += ", next ends " + words.Span(r.Until.Sub(now))
	}
	return s
}
