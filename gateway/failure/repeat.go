package failure

import (
	"net/http"
	"time"

	"dev.magpie/gateway/trace"
)

// How often and how soon the last candidate is asked again.
const (
	repeatsOther = 2
	repeatsRate  = 3
	repeatFirst  = time.Second
	repeatLimit  = 8 * time.Second
)

// Repeat reports whether the last candidate is asked again after n repeats, and
// after which pause: what the vendor named, else 1 s doubling. A pause over 8 s
// is none: the agent had better wait by itself.
func Repeat(v trace.Verdict, n int, at time.Time) (wait time.Duration, again bool) {
	limit := repeatsOther
	if v.Kind == trace.Rate {
		limit = repeatsRate
	}
	if !v.Passes || n < 0 || n >= limit {
		return 0, false
	}
	wait = doubled(repeatFirst, n+1, 2*repeatLimit)
	if !v.Until.IsZero() {
		wait = max(v.Until.Sub(at), 0)
	}
	if wait > repeatLimit {
		return 0, false
	}
	return wait, true
}

// AgentStatus is the status that a client of api gets: 529 is known to Messages
// clients alone, others take 503 for it.
func AgentStatus(v trace.Verdict, api string) int {
	switch {
	case v.Status < 400 || v.Status > 599:
		return http.StatusBadGateway
	case v.Status == statusOverloaded && api != "messages":
		return http.StatusServiceUnavailable
	}
	return v.Status
}

// LastError is the index of the try whose error the agent gets: the last one's,
// but when that is a matter of allowance or money and an earlier try failed
// otherwise, the first such. An agent that is told "used up" stops, though another
// member may answer next time. -1 for no tries.
func LastError(tries []trace.Verdict) int {
	last := len(tries) - 1
	if last < 0 || !spent(tries[last].Kind) {
		return last
	}
	for i, v := range tries {
		if !spent(v.Kind) && v.Kind != "" {
			return i
		}
	}
	return last
}

func spent(k trace.Kind) bool { return k == trace.Quota || k == trace.Credit }
