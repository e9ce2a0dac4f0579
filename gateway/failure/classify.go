package failure

import (
	"net/http"
	"time"

	"dev.magpie/gateway/trace"
)

// Classify says why a try failed: the verdict of the first row that matches.
// A 2xx that isn't an API's answer, and one that holds an error, are judged too.
func Classify(s Seen) trace.Verdict {
	r := read(s)
	rule := r.row()
	return r.verdict(rule)
}

// ClassifyEvent judges an error event inside a 2xx stream; Body is its JSON or
// the event as it came. The status it stands for is worked out from its words.
func ClassifyEvent(s Seen) trace.Verdict {
	s.Phase = PhaseStream
	if s.Status == 0 {
		s.Status = http.StatusOK
	}
	return Classify(s)
}

// row finds the row; the last matches everything.
func (r *reply) row() *Rule {
	for i := range table {
		if table[i].When.match(r) {
			return r.lengthened(&table[i])
		}
	}
	return &table[len(table)-1]
}

// lengthened turns a 429 of any row that calls it a rate limit into a quota when
// the wait that it names is over an hour.
func (r *reply) lengthened(rule *Rule) *Rule {
	if rule.Then != trace.Rate || r.status != http.StatusTooManyRequests || r.wait() <= longestWait {
		return rule
	}
	long := longWait
	long.Scope, long.Narrow = rule.Scope, rule.Narrow
	return &long
}

func (r *reply) verdict(rule *Rule) trace.Verdict {
	v := trace.Verdict{
		Row:     rule.Name,
		Kind:    rule.Then,
		Scope:   rule.Scope,
		Next:    nextMayDo(rule.Then),
		Status:  r.told(rule),
		Words:   r.message(),
		Code:    rule.Code,
		Page:    r.page.web,
		Account: r.Kind == "account",
	}
	if rule.Narrow != nil && rule.Scope == whole && rule.Narrow.Is(r) {
		v.Scope = model
	}
	if e := r.end(rule); !e.until.IsZero() {
		v.Until, v.By = e.until, e.by
	}
	v.Passes = passes(v)
	if v.Kind == trace.TooLarge {
		v.Code = tooLongCode
	}
	if v.Kind == trace.Verify {
		v.Link = r.link()
	}
	if v.Kind == trace.Credit {
		v.Afford = r.afford()
	}
	return v
}

// end is the named end, where the kind's rest may be named by the vendor.
func (r *reply) end(rule *Rule) reset {
	if rule.Ends != nil {
		return rule.Ends.Read(r)
	}
	switch rule.Then {
	case trace.Quota, trace.Overloaded, trace.Network, trace.Other:
		return r.reset()
	case trace.Rate:
		e := r.reset()
		if limit := r.At.Add(longestWait); e.until.After(limit) {
			e.until = limit
		}
		if !e.until.IsZero() {
			e.by = trace.ByRetryAfter
		}
		return e
	case trace.Credit, trace.Auth, trace.Refused, trace.TooLarge, trace.Slow, trace.Shape, trace.Prompt,
		trace.Effort, trace.Proxy, trace.Verify, trace.Cancelled, trace.Model, trace.Request:
		return reset{}
	}
	return reset{}
}

// nextMayDo reports whether another candidate may do better. What is wrong with
// the request is wrong for every key; another model may still be asked.
func nextMayDo(k trace.Kind) bool {
	switch k {
	case trace.TooLarge, trace.Request, trace.Cancelled:
		return false
	case trace.Credit, trace.Quota, trace.Rate, trace.Auth, trace.Overloaded, trace.Refused, trace.Slow,
		trace.Shape, trace.Prompt, trace.Effort, trace.Proxy, trace.Verify, trace.Model, trace.Network, trace.Other:
		return true
	}
	return true
}

// passes reports whether the last candidate may be asked again: a vendor's hiccup
// or a rate limit.
func passes(v trace.Verdict) bool {
	if v.Kind == trace.Rate {
		return v.Status == http.StatusTooManyRequests
	}
	hiccup := v.Kind == trace.Other || v.Kind == trace.Overloaded || v.Kind == trace.Network || v.Kind == trace.Proxy
	if !hiccup || v.Row == firewallRow || v.Row == redirectRow {
		return false
	}
	switch v.Status {
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		return true
	}
	return false
}

// told is the status that the agent gets, before its API is looked at.
func (r *reply) told(rule *Rule) int {
	switch rule.Then {
	case trace.Cancelled:
		return statusClientGone
	case trace.Refused, trace.Effort:
		return http.StatusBadRequest
	case trace.TooLarge:
		if rule.Bytes {
			return http.StatusRequestEntityTooLarge
		}
		return http.StatusBadRequest
	case trace.Overloaded:
		if r.status < 500 {
			return statusOverloaded
		}
	case trace.Credit, trace.Quota, trace.Rate, trace.Auth, trace.Slow, trace.Shape, trace.Prompt, trace.Proxy,
		trace.Verify, trace.Model, trace.Request, trace.Network, trace.Other: // as the vendor has it
	}
	if r.timedOut() {
		return http.StatusGatewayTimeout
	}
	return vendorStatus(r.status, r.page)
}

const (
	statusOverloaded = 529
	statusClientGone = 499
)

// vendorStatus keeps the vendor's own status where an agent knows it.
func vendorStatus(status int, p page) int {
	switch {
	case p.web && status != http.StatusRequestEntityTooLarge && status != http.StatusTooManyRequests:
		return http.StatusBadGateway
	case status == 524:
		return http.StatusGatewayTimeout
	case status >= 520 && status <= 527, status < 400, status > 599:
		return http.StatusBadGateway
	}
	return status
}

// message is what the vendor said, fit to be shown.
func (r *reply) message() string {
	switch {
	case r.page.reason != "":
		return clip(r.page.reason, longest)
	case r.Err != nil && len(r.words) == 0 && r.Phase == PhaseStream:
		return "the connection was lost mid-reply"
	case r.Err != nil && len(r.words) == 0:
		return CleanErr(r.Err)
	}
	return tidy(r.best)
}

// untold is for rows whose named times are not to be trusted.
var untold = &Ends{Says: "no time is taken from it", Read: func(*reply) reset { return reset{} }}

// within is t as a named end, bounded.
func (r *reply) within(t time.Time, by trace.RestBy) reset {
	if !t.After(r.At) {
		return reset{}
	}
	return reset{until: r.bounded(t), by: by, body: true}
}
