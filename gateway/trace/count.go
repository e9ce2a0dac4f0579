package trace

import (
	"strconv"
	"time"
)

// day knows when the day ends that Today sums.
type day struct {
	loc        *time.Location
	begin, end time.Time
}

// roll begins a new day when t is past the one that is counted.
func (d *day) roll(t time.Time, today *Today) {
	if t.IsZero() || t.Before(d.end) {
		return
	}
	t = t.In(d.loc)
	y, m, n := t.Date()
	d.begin = time.Date(y, m, n, 0, 0, 0, 0, d.loc)
	d.end = time.Date(y, m, n+1, 0, 0, 0, 0, d.loc)
	*today = Today{Day: t.Format(time.DateOnly)}
}

// count keeps totals and today as a route begins or ends. A request belongs to the
// day on which it began, as in the history.
func (b *Bus) count(r *Route, fresh, ended bool) {
	if b.told {
		return
	}
	t, d := &b.status.Totals, &b.status.Today
	b.status.Seq = b.seq
	b.day.roll(r.Time, d)
	switch {
	case fresh && !ended:
		t.InFlight++
	case ended && !fresh:
		t.InFlight--
	}
	if !ended {
		return
	}
	t.Requests++
	t.Rerouted += r.Rerouted()
	if r.Status >= 400 {
		t.Errors++
	}
	if r.Time.Before(b.day.begin) {
		return
	}
	d.Add(r)
}

// Add counts a route that is done into the day.
func (d *Today) Add(r *Route) {
	d.Requests++
	d.Input += r.Tokens.Input
	d.Output += r.Tokens.Output
	d.CacheRead += r.Tokens.CacheRead
	if usd, err := strconv.ParseFloat(r.Cost, 64); err == nil {
		d.CostUSD += usd
	} else if r.Status < 400 && r.Tokens.Input+r.Tokens.Output > 0 {
		d.Unpriced++
	}
}

// Rerouted counts the tries that made their candidate rest and were not the last.
func (r *Route) Rerouted() int64 {
	var n int64
	for i := range max(0, len(r.Tries)-1) {
		if r.Tries[i].Rest != nil {
			n++
		}
	}
	return n
}

// Outcome says what became of a request, as one word.
type Outcome string

// What became of a request.
const (
	Live     Outcome = "live"
	Answered Outcome = "answered" // by the first that was asked
	Later    Outcome = "later"    // answered on a later try
	Failed   Outcome = "failed"   // asked, and nobody answered
	Declined Outcome = "refused"  // nobody was asked
	Left     Outcome = "left"     // the agent left
)

// Gone is the status of a request whose agent left before the end.
const Gone = 499

// Outcome says what became of the request.
func (r *Route) Outcome() Outcome {
	switch {
	case !r.Done:
		return Live
	case r.Status == Gone:
		return Left
	case r.Status < 400 && len(r.Tries) > 1:
		return Later
	case r.Status < 400:
		return Answered
	case len(r.Tries) == 0:
		return Declined
	}
	return Failed
}

// Answerer is the id of the candidate that is asked now or was asked last, "" before any.
func (r *Route) Answerer() string {
	if t := r.Last(); t != nil {
		return t.ID
	}
	return ""
}

// Last is the newest try in which somebody was asked, the newest where nobody was, nil before any.
func (r *Route) Last() *Try {
	for i := len(r.Tries) - 1; i >= 0; i-- {
		if !r.Tries[i].Unasked() {
			return &r.Tries[i]
		}
	}
	if n := len(r.Tries); n > 0 {
		return &r.Tries[n-1]
	}
	return nil
}
