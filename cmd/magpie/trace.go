package main

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
)

func (p *process) traceCommand(o *globals) *cobra.Command {
	var (
		follow bool
		last   int
	)
	c := listing(o, &cobra.Command{
		Use:   "trace",
		Short: "Print the last requests, and with -f all that follow",
		Long:  "Prints requests, the newest last. With -f it goes on: a line for each request that ends, and for what the gateway tells besides. With -f and --json a request is one line of JSON.",
		Args:  arguments(0, 0, ""),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, _ []string) error {
			if last < 0 {
				return misused("-n is a number of requests, 0 or more")
			}
			w := &tracer{p: p, json: o.json, printed: map[int64]bool{}}
			if follow {
				return w.follow(ctx, c, last)
			}
			all, err := c.Routes(ctx, 0, 0)
			if err != nil {
				return err
			}
			slices.SortFunc(all.Routes, func(a, b trace.Route) int { return cmp.Compare(a.ID, b.ID) })
			all.Routes = newest(all.Routes, last)
			if o.json {
				return p.json(all, nil)
			}
			for i := range all.Routes {
				if err := w.print(&all.Routes[i]); err != nil {
					return err
				}
			}
			return nil
		}),
	})
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until ctrl+c")
	c.Flags().IntVarP(&last, "last", "n", 20, "how many of the last `requests` to print first")
	return c
}

// tracer prints requests as they end.
type tracer struct {
	p       *process
	json    bool
	printed map[int64]bool // those that ended
	lost    bool
}

// traceGap is the least time between two looks at what changed.
const traceGap = 100 * time.Millisecond

// newest is the last n requests.
func newest(all []trace.Route, n int) []trace.Route { return all[max(0, len(all)-n):] }

func (w *tracer) follow(ctx context.Context, c *client.Client, last int) error {
	view, feed, err := c.Watch(ctx)
	if err != nil {
		return err
	}
	defer feed.Close()
	if err := w.ended(newest(view.Routes, last)); err != nil {
		return err
	}
	for {
		batch, err := feed.Next(ctx, time.Now().Add(traceGap))
		if err != nil {
			return err
		}
		if batch.View != nil {
			if err := w.ended(batch.View.Routes); err != nil {
				return err
			}
		}
		for _, e := range batch.Events() {
			if err := w.event(e); err != nil {
				return err
			}
		}
		w.link(batch.Link)
	}
}

// ended prints those of a list that ended and were not printed yet.
func (w *tracer) ended(routes []trace.Route) error {
	for i := range routes {
		if err := w.once(&routes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *tracer) event(e trace.Event) error {
	switch v := e.Value.(type) {
	case *trace.Route:
		return w.once(v)
	case *trace.Log:
		if w.json {
			return nil
		}
		return w.line(words.LogLine(*v, w.p.zone))
	}
	return nil
}

// link tells on stderr that the gateway is gone, and that it is back.
func (w *tracer) link(l *trace.Link) {
	switch {
	case l == nil:
	case l.Lost && !w.lost:
		w.lost = true
		w.p.complain("the connection is lost (" + l.Error + "); trying again")
	case !l.Lost && w.lost:
		w.lost = false
		w.p.complain("connected again")
	}
}

// once prints a request when it has ended.
func (w *tracer) once(r *trace.Route) error {
	if !r.Done || w.printed[r.ID] {
		return nil
	}
	w.note(r.ID)
	return w.print(r)
}

// print prints a request as it is.
func (w *tracer) print(r *trace.Route) error {
	if w.json {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = w.p.out.Write(append(data, '\n'))
		return err
	}
	return w.line(r.Time.In(w.p.zone).Format(time.TimeOnly) + " " + words.Line(*r))
}

// printedMost bounds what is remembered of printed requests.
const printedMost = 2000

func (w *tracer) note(id int64) {
	if len(w.printed) >= printedMost {
		for old := range w.printed {
			if old < id-printedMost/2 {
				delete(w.printed, old)
			}
		}
	}
	w.printed[id] = true
}

func (w *tracer) line(text string) error {
	b := w.p.page()
	b.line(canvas.Clean(strings.TrimSpace(text)))
	return w.p.put(b)
}
