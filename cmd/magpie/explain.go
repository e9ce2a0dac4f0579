package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
)

func (p *process) explainCommand(o *globals) *cobra.Command {
	var (
		q    client.Question
		body string
	)
	c := listing(o, &cobra.Command{
		Use:     "explain <model>",
		Aliases: []string{"why"},
		Short:   "Show who would be asked for a model now, and why in that order",
		Long: "Runs the planner for a request that is only thought of: every key and account with the reason for its place, and those left out. " +
			"Nothing is sent. Exits with 1 when nobody would be asked.",
		Args: arguments(1, 1, "a model, as an agent would name it"),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			q.Model = args[0]
			var err error
			if q.Body, err = p.body(body); err != nil {
				return err
			}
			r, err := c.Explain(ctx, q)
			if err != nil {
				return err
			}
			return p.explain(&r, o.json)
		}),
	})
	s := c.Flags()
	s.StringVar(&q.Agent, "agent", "", "as if this `agent` asked, such as claude")
	s.StringVar(&q.API, "api", "", "as if it were asked on this `api`: chat, responses, messages or gemini")
	s.StringVar(&body, "body", "", "a `file` with the request's JSON, - for standard input")
	return c
}

// body reads the request's JSON from a file.
func (p *process) body(file string) (json.RawMessage, error) {
	var (
		data []byte
		err  error
	)
	switch file {
	case "":
		return nil, nil
	case "-":
		data, err = io.ReadAll(p.in)
	default:
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, unreadable("the body", file, err)
	}
	if !json.Valid(data) {
		return nil, misused("the body in %s is not JSON", file)
	}
	return data, nil
}

func (p *process) explain(r *trace.Route, asJSON bool) error {
	if asJSON {
		if err := p.json(r, nil); err != nil || len(r.Order) > 0 {
			return err
		}
		return &exitError{code: exitFailed}
	}
	b := p.page()
	asked(b, r)
	decided(b, r)
	plan(b, r)
	if err := p.put(b); err != nil || len(r.Order) > 0 {
		return err
	}
	return failed("nobody would be asked: an agent would be told %d, %s", r.Status, r.Error)
}

// asked writes what was asked for and what that stands for.
func asked(b *page, r *trace.Route) {
	to := ""
	switch {
	case r.Resolved.Group != "":
		to = " is group " + r.Resolved.Group
	case r.Resolved.Provider != "":
		to = " is " + r.Resolved.Provider + "/" + r.Resolved.Model
		if r.Resolved.Guessed != "" {
			to += ", guessed by its beginning " + r.Resolved.Guessed
		}
	}
	if r.Routing != "" {
		to += ", routing " + r.Routing
	}
	if r.Pinned != "" {
		to += ", only " + r.Pinned
	}
	if m := words.Masked(r.Masked); m != "" {
		to += ", with " + m + " masked"
	}
	b.paragraph(canvas.Clean(r.Asked + to))
}

// decided writes what rules made of a request, and why its conversation stays with somebody or does not.
func decided(b *page, r *trace.Route) {
	if r.Rule != nil {
		b.paragraph(canvas.Clean(words.Rule(r.Rule)))
	}
	a := r.Affinity
	if a == nil {
		return
	}
	switch a.Why { //nolint:exhaustive // the others tell of one conversation
	case "", trace.KeepFirst:
	case trace.KeepOff:
		b.paragraph(canvas.Clean(words.Keep(*a)))
	default:
		b.paragraph(canvas.Clean("the conversation " + words.Keep(*a)))
	}
}

// plan writes every candidate with the reason for its place.
func plan(b *page, r *trace.Route) {
	width := 0
	for _, cs := range [][]trace.Candidate{r.Order, r.Left} {
		for i := range cs {
			width = max(width, canvas.Width(cs[i].ID))
		}
	}
	width = b.names(width)
	if len(r.Order) > 0 {
		b.WriteString("\nasked in this order\n")
	}
	for i := range r.Order {
		candidate(b, fmt.Sprint(i+1), width, r, &r.Order[i])
	}
	if len(r.Left) > 0 {
		b.WriteString("\nleft out\n")
	}
	for i := range r.Left {
		candidate(b, "-", width, r, &r.Left[i])
	}
}

// candidate writes one with its reason, and its model and level where they are not what was asked for.
func candidate(b *page, mark string, width int, r *trace.Route, c *trace.Candidate) {
	used, why := "", c.Reason
	if c.Known {
		used = fmt.Sprintf("%.0f%%", c.Used)
	}
	switch {
	case c.Model == "":
	case c.Effort != "" && (r.Resolved.Group != "" || c.Model != r.Resolved.Model):
		why = c.Model + ":" + c.Effort + ": " + why
	case c.Model != r.Resolved.Model:
		why = c.Model + ": " + why
	}
	who := cut(canvas.Clean(c.ID), width)
	b.beside(fmt.Sprintf("%3s  %s%s  %4s  ", mark, who, strings.Repeat(" ", width-canvas.Width(who)), used), 5, canvas.Clean(why))
}

func (p *process) routeCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "route <session>",
		Short: "Show what became of a conversation's newest request, and why",
		Args:  arguments(1, 1, "a conversation's id"),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			r, err := c.Route(ctx, args[0])
			if err != nil {
				return err
			}
			if o.json {
				if err := p.json(map[string]any{"route": r}, nil); err != nil || r != nil {
					return err
				}
				return &exitError{code: exitFailed}
			}
			if r == nil {
				return failed("no request of a conversation %.60q is in memory; see magpie requests --session", args[0])
			}
			return p.route(r)
		}),
	})
}

func (p *process) route(r *trace.Route) error {
	b := p.page()
	b.paragraph(canvas.Clean(r.Time.In(p.zone).Format("2006-01-02 15:04:05 ") + words.Line(*r)))
	asked(b, r)
	decided(b, r)
	if len(r.Tries) > 0 {
		b.WriteString("\n" + canvas.Clean(words.Answer(*r)) + "\n")
	}
	width := 0
	for i := range r.Tries {
		width = max(width, canvas.Width(canvas.Clean(r.Tries[i].ID)))
	}
	for i := range r.Tries {
		b.entry(cut(canvas.Clean(r.Tries[i].ID), b.names(width)), b.names(width)+2, canvas.Clean(words.Try(r.Tries[i])))
	}
	plan(b, r)
	return p.put(b)
}
