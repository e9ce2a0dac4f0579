package state

import (
	"net/http"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
)

// Outcomes lists everything that can become of a request, in the order in which help explains it.
func Outcomes() []trace.Outcome {
	return []trace.Outcome{trace.Live, trace.Answered, trace.Later, trace.Failed, trace.Declined, trace.Left}
}

// LastTry returns the newest try, of those in which somebody was asked where there are any; nil before the first.
func LastTry(r *trace.Route) *trace.Try { return r.Last() }

// ModelOf returns the model that a request is about: the one that was asked last,
// else the one that would be asked first, else the name that the agent asked for.
func ModelOf(r *trace.Route) string {
	if t := LastTry(r); t != nil && t.Model != "" {
		return t.Model
	}
	if len(r.Order) > 0 && r.Order[0].Model != "" {
		return r.Order[0].Model
	}
	return r.Asked
}

// AnsweredBy returns who answers a request, in a word or two where nobody does.
// Asking is true while that account has been asked and has not spoken yet.
func (s *State) AnsweredBy(r *trace.Route) (who string, asking bool) {
	switch r.Outcome() {
	case trace.Live:
		t := LastTry(r)
		if t == nil {
			return "", false
		}
		return s.Name(t.ID), t.TTFTMS == 0 && r.TTFTMS == 0
	case trace.Answered, trace.Later:
		if t := LastTry(r); t != nil {
			return s.Name(t.ID), false
		}
		return "magpie", false
	case trace.Failed:
		return s.failedBy(r), false
	case trace.Declined:
		return refusedAs(r), false
	case trace.Left:
		return "agent left", false
	}
	return "", false
}

func (s *State) failedBy(r *trace.Route) string {
	for i := range r.Tries {
		if r.Tries[i].ID != r.Tries[0].ID {
			return "all failed"
		}
	}
	return s.Name(r.Tries[0].ID)
}

// refusedAs says in at most eleven cells why nobody was asked.
func refusedAs(r *trace.Route) string {
	switch r.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "none ready"
	case http.StatusNotFound:
		return "unknown"
	case http.StatusUnauthorized, http.StatusForbidden:
		if len(r.Left) > 0 { // the agent was let in; whoever could have answered lacks a key
			return "no key"
		}
		return "not let in"
	case http.StatusRequestEntityTooLarge:
		return "too large"
	case http.StatusNotImplemented:
		return "not spoken"
	default:
		return "refused"
	}
}

// CachedShare returns which part of a request's input the vendor had cached, 0 to
// 100, and 100 only when it was all; false while the vendor has not told.
func CachedShare(t trace.Tokens) (int, bool) {
	if t.Input <= 0 || t.CacheRead+t.CacheWrite+t.Output <= 0 {
		return 0, false
	}
	share := int(float64(t.CacheRead)/float64(t.Input)*100 + 0.5)
	if share >= 100 && t.CacheRead < t.Input {
		share = 99
	}
	return min(max(share, 0), 100), true
}

// Lasted returns how long a request took, or has taken so far.
func Lasted(r *trace.Route, c *Clock) string {
	if r.Done {
		return Took(time.Duration(r.MS) * time.Millisecond)
	}
	return c.Running(r.Time)
}

// TryOf returns the newest try at a candidate with its model, nil when it was not asked.
func TryOf(r *trace.Route, c *trace.Candidate) *trace.Try {
	for i := len(r.Tries) - 1; i >= 0; i-- {
		if r.Tries[i].ID == c.ID && (r.Tries[i].Model == c.Model || c.Model == "") {
			return &r.Tries[i]
		}
	}
	return nil
}

// Earliest returns when the first of a request's candidates is back, zero when none says or one of them did not rest:
// then it is not for a rest that nobody answered.
func Earliest(r *trace.Route) (at time.Time, id string) {
	for i := range r.Order {
		c := &r.Order[i]
		if c.Rest == nil && !slices.ContainsFunc(r.Tries, func(t trace.Try) bool { return t.ID == c.ID && t.Rest != nil }) {
			return time.Time{}, ""
		}
	}
	note := func(rest *trace.Rest, who string) {
		if rest != nil && !rest.Until.IsZero() && (at.IsZero() || rest.Until.Before(at)) {
			at, id = rest.Until, who
		}
	}
	for i := range r.Order {
		note(r.Order[i].Rest, r.Order[i].ID)
	}
	for i := range r.Tries {
		note(r.Tries[i].Rest, r.Tries[i].ID)
	}
	return at, id
}
