package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/state"
)

func (p *process) requestsCommand(o *globals) *cobra.Command {
	var (
		f     client.Filter
		since string
	)
	c := listing(o, &cobra.Command{
		Use:   "requests",
		Short: "List finished requests of the history, the newest first",
		Args:  arguments(0, 0, ""),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, _ []string) error {
			var err error
			if f.Since, err = p.moment(since); err != nil {
				return err
			}
			if f.Limit < 1 {
				return misused("-n is a number of requests, 1 or more")
			}
			all, err := c.Requests(ctx, f)
			if err != nil || o.json {
				return p.json(map[string]any{"requests": all}, err)
			}
			return p.requests(all)
		}),
	})
	s := c.Flags()
	s.StringVar(&f.Agent, "agent", "", "only those of an `agent`, such as claude")
	s.StringVar(&f.Model, "model", "", "only those for a `model`, as asked or as sent")
	s.StringVar(&f.Account, "account", "", "only those answered by `who`: provider/name, a provider, or a name")
	s.StringVar(&f.Session, "session", "", "only those of a conversation's `id`")
	s.StringVar(&f.Status, "status", "", "only those with a `status`: ok, failed, one such as 429, or a class such as 5xx")
	s.StringVar(&since, "since", "", "only those begun since `then`: a length such as 90m or 7d, a date, or a time")
	s.IntVarP(&f.Limit, "last", "n", 50, "at most so many `requests`")
	return c
}

// moment reads a point in time: how long ago, a date, or a time. "" is none.
func (p *process) moment(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, ok := length(s); ok {
		return p.now().Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, p.zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, misused("--since %q is no length such as 90m or 7d, no date such as 2026-01-31 and no time such as 2026-01-31T12:00:00Z", s)
}

// length reads a length of time; days may be given too.
func length(s string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * 24 * float64(time.Hour)), err == nil && n > 0 && n < 10_000
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d > 0
}

func (p *process) requests(all []trace.Route) error {
	if len(all) == 0 {
		return p.printf("no request fits\n")
	}
	now := p.local()
	t := newTable(
		column{head: "TIME", rank: 1}, column{head: "AGENT", gives: true, rank: 4}, column{head: "MODEL", gives: true, least: 16}, column{head: "BY", gives: true, least: 16},
		column{head: "STATUS"}, column{head: "TOOK", right: true, rank: 2}, column{head: "IN", right: true, rank: 6},
		column{head: "CACHE", right: true, rank: 5}, column{head: "COST", right: true, rank: 3},
	)
	t.gap = 1
	for i := range all {
		r := &all[i]
		t.row(clock(r.Time, now), r.Agent, state.ModelOf(r), r.Answerer(), fmt.Sprint(r.Status)+tries(r),
			words.Took(time.Duration(r.MS)*time.Millisecond), tokens(r.Tokens.Input), cached(r.Tokens), cost(r.Cost))
	}
	return p.table(t)
}

// clock is a time of today, or the day of another.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("02 Jan")
}

// tries tells on which try a request was answered, where that was not the first.
func tries(r *trace.Route) string {
	if len(r.Tries) < 2 {
		return ""
	}
	return " x" + strconv.Itoa(len(r.Tries))
}

func tokens(n int64) string {
	if n == 0 {
		return ""
	}
	return words.Count(n)
}

func cached(t trace.Tokens) string {
	share, ok := state.CachedShare(t)
	if !ok {
		return ""
	}
	return strconv.Itoa(share) + "%"
}

func cost(usd string) string {
	v, err := strconv.ParseFloat(usd, 64)
	if err != nil {
		return ""
	}
	return words.Money(v)
}
