package state

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"dev.magpie/gateway/trace"
)

// PerMinute counts the requests and the errors of the last minute.
func (s *State) PerMinute(c *Clock) (requests, errors int) {
	for i := len(s.Routes) - 1; i >= 0; i-- {
		r := s.Routes[i]
		if c.Passed(r.Time.Add(time.Minute)) {
			if r.Done {
				break
			}
			continue
		}
		requests++
		if r.Done && r.Status >= http.StatusBadRequest && r.Status != trace.Gone {
			errors++
		}
	}
	return requests, errors
}

// Sum is what an account did today, as far as its requests are in memory.
type Sum struct {
	Requests, Failed int
	Tokens           trace.Tokens
	CostUSD          float64
	Unpriced         int
	Median, Slow     time.Duration // first byte: the middle one, and the worst in twenty
	Rests            []Rested      // newest first
	Last             []*trace.Route
}

// Rested is one rest that began today.
type Rested struct {
	At   time.Time
	Kind trace.Kind
}

// Today sums up an account's day.
func (s *State) Today(account string, c *Clock) Sum {
	sum := Sum{}
	var firsts []time.Duration
	for i := len(s.Routes) - 1; i >= 0; i-- {
		r := s.Routes[i]
		if !c.Day(r.Time) {
			break
		}
		asked := false
		for k := len(r.Tries) - 1; k >= 0; k-- {
			t := &r.Tries[k]
			if t.ID != account || t.Unasked() {
				continue
			}
			asked = true
			if t.Fail != "" && t.Fail != trace.Cancelled {
				sum.Failed++
			}
			if t.Rest != nil {
				sum.Rests = append(sum.Rests, Rested{At: t.Rest.Since, Kind: t.Rest.Why})
			}
		}
		if !asked {
			continue
		}
		sum.Requests++
		if last := LastTry(r); last.ID == account {
			sum.add(r)
			if first := firstByte(r); first > 0 {
				firsts = append(firsts, first)
			}
		}
	}
	if len(firsts) > 0 {
		slices.Sort(firsts)
		sum.Median = firsts[len(firsts)/2]
		sum.Slow = firsts[min(len(firsts)-1, len(firsts)*19/20)]
	}
	return sum
}

func firstByte(r *trace.Route) time.Duration {
	if t := LastTry(r); t != nil && t.TTFTMS > 0 {
		return time.Duration(t.TTFTMS) * time.Millisecond
	}
	return time.Duration(r.TTFTMS) * time.Millisecond
}

func (m *Sum) add(r *trace.Route) {
	m.Last = append(m.Last, r)
	m.Tokens.Input += r.Tokens.Input
	m.Tokens.Output += r.Tokens.Output
	m.Tokens.CacheRead += r.Tokens.CacheRead
	if cost, err := strconv.ParseFloat(r.Cost, 64); err == nil {
		m.CostUSD += cost
	} else if r.Done && r.Tokens.Input > 0 {
		m.Unpriced++
	}
}

// Next returns the account that the first group would ask now; false where no group tells.
func (s *State) Next() (string, bool) {
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Next != "" && !g.Off {
			return g.Next, true
		}
	}
	return "", false
}
