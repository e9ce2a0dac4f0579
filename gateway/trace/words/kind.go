package words

import (
	"strconv"
	"time"

	"dev.magpie/gateway/trace"
)

// Kind names why a try failed, "" when it did not.
func Kind(k trace.Kind) string {
	if s, ok := kinds[k]; ok {
		return s
	}
	return string(k)
}

// kinds has a word or two for each.
var kinds = map[trace.Kind]string{
	trace.Credit:     "out of credit",
	trace.Quota:      "out of quota",
	trace.Rate:       "rate limit",
	trace.Auth:       "key or sign-in not taken",
	trace.Overloaded: "overloaded",
	trace.Refused:    "refused for safety",
	trace.TooLarge:   "conversation too long",
	trace.Slow:       "too slow to start",
	trace.Shape:      "a field of the request not known",
	trace.Prompt:     "client or prompt turned away",
	trace.Effort:     "effort not in its plan",
	trace.Proxy:      "proxy failed",
	trace.Verify:     "account to be verified by its owner",
	trace.Cancelled:  "agent left",
	trace.Model:      "model not available",
	trace.Request:    "the request is wrong",
	trace.Network:    "connection failed",
	trace.Other:      "failed",
}

// Fail is Kind for a try.
func Fail(k trace.Kind) string { return Kind(k) }

// Verdict says what the failure table made of a failed try: "429 rate limit".
func Verdict(v trace.Verdict) string {
	s := Kind(v.Kind)
	if v.Status > 0 {
		s = strconv.Itoa(v.Status) + " " + s
	}
	if v.Scope == trace.ScopeModel {
		s += ", with this model only"
	}
	return s
}

// By says what the length of a rest came from.
func By(b trace.RestBy) string {
	if s, ok := origins[b]; ok {
		return s
	}
	return string(b)
}

// origins has a sentence for each.
var origins = map[trace.RestBy]string{
	trace.ByCredit:     "credit is looked for again then",
	trace.ByResets:     "the vendor named the time",
	trace.ByWindow:     "its allowance window renews then",
	trace.ByRetryAfter: "the vendor asked to wait that long",
	trace.ByQuota:      "no time was named: its quota is tried again then",
	trace.ByCooldown:   "a short pause",
	trace.ByBackoff:    "longer after each failure in a row",
	trace.ByVerify:     "its owner must verify the account",
	trace.ByAuth:       "its key or sign-in must be mended",
	trace.ByModel:      "it has not this model",
}

// Rest says how long someone rests and why: "rests 0:48: rate limit x2".
func Rest(r trace.Rest, now time.Time) string {
	s := "rests"
	if !r.Until.IsZero() {
		if !r.Until.After(now) {
			return "rested until " + Clock(r.Until, now) + ": " + cause(r)
		}
		s += " " + In(r.Until.Sub(now))
	}
	return s + ": " + cause(r)
}

// Rested is the line of the log when a rest begins: "relay/a rests 60s: rate limit".
func Rested(id string, r trace.Rest) string {
	if r.Until.IsZero() {
		return id + " rests: " + cause(r)
	}
	return id + " rests " + Lasts(r) + ": " + cause(r)
}

// Lasts says how long a rest is in all: what is left of a wait when it is noted is a little less than was asked for.
func Lasts(r trace.Rest) string {
	d := r.Until.Sub(r.Since)
	if d > 100*time.Second {
		return Span(d.Round(time.Minute))
	}
	return Span(d.Round(time.Second))
}

// cause is why someone rests, and how often in a row.
func cause(r trace.Rest) string {
	s := or(Kind(r.Why), "failed")
	if r.Failures > 1 {
		s += " x" + strconv.Itoa(r.Failures)
	}
	return s
}
