package failure

import (
	"time"

	"dev.magpie/gateway/trace"
)

// Lengths of rests.
const (
	creditRest     = 30 * time.Minute
	quotaRest      = 15 * time.Minute
	verifyRest     = 30 * time.Minute
	modelRest      = 30 * time.Minute
	cooldown       = time.Minute
	rateCap        = 30 * time.Minute
	rateForgotten  = 30 * time.Minute
	otherCap       = 10 * time.Minute
	overloadedRest = 15 * time.Second
	overloadedCap  = 2 * time.Minute
	authRest       = 5 * time.Minute
	authCap        = time.Hour
)

// RestFor is how long the candidate sits out after v, and false when it doesn't.
// full is when a full window of its allowance renews, zero when none is known to
// be full. Key and Print are the caller's to fill. Whether the last candidate of
// a request rests is the caller's business too.
func RestFor(v trace.Verdict, past Past, full, at time.Time) (trace.Rest, bool) {
	if v.Scope == trace.ScopeNone {
		return trace.Rest{}, false
	}
	rest := trace.Rest{Why: v.Kind, Status: v.Status, Since: at, Link: v.Link, Text: v.Words}
	switch v.Kind {
	case trace.Credit:
		rest.Until, rest.By = at.Add(creditRest), trace.ByCredit
	case trace.Quota:
		rest.Until, rest.By = quotaEnd(v, full, at)
	case trace.Rate:
		if !rateRest(&rest, v, past) {
			return trace.Rest{}, false
		}
	case trace.Verify:
		rest.Until, rest.By = at.Add(verifyRest), trace.ByVerify
	case trace.Model:
		rest.Until, rest.By = at.Add(modelRest), trace.ByModel
	case trace.Auth:
		grow(&rest, past, authRest, authCap)
		rest.By = trace.ByAuth
	case trace.Overloaded:
		grow(&rest, past, overloadedRest, overloadedCap)
	case trace.Network:
		grow(&rest, past, cooldown, otherCap)
	case trace.Other:
		if v.Account && !v.Page && full.After(at) {
			rest.Until, rest.By = sooner(full, at.Add(longestRest)), trace.ByWindow
			break
		}
		grow(&rest, past, cooldown, otherCap)
	case trace.Refused, trace.TooLarge, trace.Slow, trace.Shape, trace.Prompt, trace.Effort,
		trace.Proxy, trace.Cancelled, trace.Request:
		return trace.Rest{}, false
	}
	return rest, !outlasted(rest, past)
}

// quotaEnd: what the vendor's reply names, else the full window, else what its
// headers say, else a quarter of an hour. A header that names more than an hour
// and outlasts the window as read is the newer word.
func quotaEnd(v trace.Verdict, full, at time.Time) (time.Time, trace.RestBy) {
	limit := at.Add(longestRest)
	named := v.Until.After(at)
	switch {
	case named && v.By == trace.ByResets:
		return sooner(v.Until, limit), trace.ByResets
	case full.After(at) && (!named || v.Until.Before(full) || v.Until.Sub(at) <= longestWait):
		return sooner(full, limit), trace.ByWindow
	case named:
		return sooner(v.Until, limit), trace.ByRetryAfter
	}
	return at.Add(quotaRest), trace.ByQuota
}

// rateRest: the named wait when it is the longer one, else the backoff. The first
// time the vendor's word counts as it is, however short. False for a named wait
// that is over already.
func rateRest(rest *trace.Rest, v trace.Verdict, past Past) bool {
	n := rateCount(past, rest.Since)
	backoff := doubled(cooldown, n, rateCap)
	named := min(v.Until.Sub(rest.Since), longestWait)
	rest.Failures = n
	switch {
	case !v.Until.IsZero() && n == 1 && named <= 0:
		return false
	case !v.Until.IsZero() && (n == 1 || named >= backoff):
		rest.Until, rest.By = rest.Since.Add(named), trace.ByRetryAfter
	case n == 1:
		rest.Until, rest.By = rest.Since.Add(backoff), trace.ByCooldown
	default:
		rest.Until, rest.By = rest.Since.Add(backoff), trace.ByBackoff
	}
	return true
}

// rateCount is how many times in a row the candidate was limited: once more when
// the last rest ended less than 30 minutes ago, the same while it lasts (the
// repeats of one request don't stretch it), the first when it was forgotten.
func rateCount(past Past, at time.Time) int {
	switch {
	case past.Kind != trace.Rate || past.Failures < 1, at.Sub(past.Until) > rateForgotten:
		return 1
	case at.Before(past.Until):
		return past.Failures
	}
	return past.Failures + 1
}

// grow doubles the rest with each failure in a row. Those of requests that were under way at once are one: a
// moment's trouble must not rest a vendor for long because many asked it in that moment.
func grow(rest *trace.Rest, past Past, first, limit time.Duration) {
	rest.Failures = 1
	if family(past.Kind) == family(rest.Why) {
		rest.Failures = max(past.Failures, 0) + 1
		if past.Beside {
			rest.Failures = max(past.Failures, 1)
		}
	}
	rest.Until, rest.By = rest.Since.Add(doubled(first, rest.Failures, limit)), trace.ByBackoff
}

// family puts a broken connection and a failing vendor in one row of failures.
func family(k trace.Kind) trace.Kind {
	if k == trace.Network {
		return trace.Other
	}
	return k
}

func doubled(first time.Duration, n int, limit time.Duration) time.Duration {
	d := first
	for ; n > 1 && d < limit; n-- {
		d *= 2
	}
	return min(d, limit)
}

// outlasted reports whether a rest for money or allowance that stands lasts longer
// than a new one of guessed length: a hiccup doesn't end it.
func outlasted(rest trace.Rest, past Past) bool {
	if past.Kind != trace.Credit && past.Kind != trace.Quota {
		return false
	}
	return past.Until.After(rest.Until) && rest.Why != trace.Credit && rest.Why != trace.Quota && rest.Why != trace.Verify && rest.Why != trace.Model
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
