package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
)

// Request is one request of a conversation. What it asks is the same whoever answers.
type Request struct {
	Conv   int           // which conversation
	At     time.Duration // after the start
	Turn   int           // of the user, from 1
	Within bool          // it brings a tool's result
	Input  int64         // tokens, all of them
	Shared int64         // of those, the first that the request before it had as well, or its reply
	Output int64         // tokens
}

// Requests draws what the agents ask, by time. The same seed draws the same.
func (w *Workload) Requests() []Request {
	all := slices.Clone(w.recorded)
	conv := 0
	for i := range w.Agents {
		for n := range max(1, w.Agents[i].Count) {
			d := &drawer{a: &w.Agents[i], rnd: rand.New(rand.NewPCG(w.Seed, uint64(i)<<32|uint64(n))), conv: &conv, to: all} //nolint:gosec // to be the same each time
			for day := range w.Days {
				d.day(day)
			}
			all = d.to
		}
	}
	end := time.Duration(w.Days) * 24 * time.Hour
	all = slices.DeleteFunc(all, func(r Request) bool { return r.At >= end })
	slices.SortStableFunc(all, func(a, b Request) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Conv, b.Conv)) })
	return all
}

type drawer struct {
	a    *Agent
	rnd  *rand.Rand
	conv *int
	to   []Request
}

func (d *drawer) in(r Range) int64 {
	if r[1] == r[0] {
		return r[0]
	}
	return r[0] + d.rnd.Int64N(r[1]-r[0]+1)
}

func (d *drawer) span(r SpanOf) time.Duration {
	return time.Duration(d.in(Range{int64(r[0]), int64(r[1])})).Truncate(time.Millisecond)
}

func (d *drawer) day(day int) {
	a := d.a
	if a.Weekdays > 0 && day%7 >= a.Weekdays {
		return
	}
	n := float64(d.in(a.Conversations))
	for _, b := range a.Busy {
		if b.Day == day+1 {
			n *= b.Times
		}
	}
	for range int(n) {
		at := time.Duration(day)*24*time.Hour + a.From.d() + time.Duration(d.rnd.Int64N(int64(a.To-a.From))).Truncate(time.Millisecond)
		*d.conv++
		d.conversation(*d.conv, at)
	}
}

// conversation draws turns of rounds. It may last beyond the agent's hours.
func (d *drawer) conversation(conv int, at time.Duration) {
	a, context, shared := d.a, d.a.Prefix, int64(0)
	for turn := range int(max(1, d.in(a.Turns))) {
		if turn > 0 {
			at += d.span(a.Pause)
		}
		for round := range 1 + int(d.in(a.Rounds)) {
			add := a.User
			if round > 0 {
				at += d.span(a.Tool)
				add = a.Result
			}
			if a.Context > 0 && context > a.Context {
				context = a.Prefix + (context-a.Prefix)/16 // what a summary leaves of it
				shared = a.Prefix
			}
			context += max(1, d.in(add))
			r := Request{Conv: conv, At: at, Turn: turn + 1, Within: round > 0, Input: context, Shared: shared, Output: max(1, d.in(a.Output))}
			d.to = append(d.to, r)
			context += r.Output
			shared = context
			at += time.Millisecond // a conversation asks one thing at a time
		}
	}
}

// sameTurn is how soon after the one before it a recorded request is taken to bring a tool's result.
const sameTurn = time.Minute

// Record takes what a history recorded in the place of agents. Requests without a
// conversation, or that nobody answered, tell nothing of their tokens and are passed over.
func (w *Workload) Record(routes []trace.Route) {
	routes = slices.DeleteFunc(slices.Clone(routes), func(r trace.Route) bool { return r.Session == "" || r.Tokens.Input <= 0 })
	slices.SortStableFunc(routes, func(a, b trace.Route) int { return a.Time.Compare(b.Time) })
	if len(routes) == 0 {
		return
	}
	w.Start = routes[0].Time.UTC().Truncate(24 * time.Hour)
	w.Days = int(routes[len(routes)-1].Time.Sub(w.Start)/(24*time.Hour)) + 1
	last, number := map[string]Request{}, map[string]int{}
	for i := range routes {
		t := &routes[i]
		key := t.Agent + " " + t.Session + " " + t.Asked
		before, known := last[key]
		r := Request{At: t.Time.Sub(w.Start), Turn: 1, Input: t.Tokens.Input, Output: t.Tokens.Output}
		if !known {
			number[key] = len(number) + 1
		} else {
			r.Within = r.At-before.At < sameTurn
			r.Turn = before.Turn
			if !r.Within {
				r.Turn++
			}
			r.At = max(r.At, before.At+time.Millisecond)
			if r.Input > before.Input {
				r.Shared = min(before.Input+before.Output, r.Input)
			} else {
				r.Shared = min(t.Tokens.CacheRead, r.Input)
			}
		}
		r.Conv = number[key]
		last[key] = r
		w.recorded = append(w.recorded, r)
	}
}
