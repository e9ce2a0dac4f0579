package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// contextCause is why a try was ended from our side, nil when it was not.
func contextCause(t *try) error {
	cause := context.Cause(t.ctx)
	if cause == nil || errors.Is(cause, context.Canceled) {
		return nil
	}
	return cause
}

// answered records what a success tells: nobody of this candidate rests any more, and who
// made the reply.
func (s *service) answered(c *trace.Candidate, o *outcome) {
	id := provider.AccountID(c.ID)
	acct := s.lv.cat.Account(id)
	if acct == nil {
		return
	}
	s.g.d.State.Answered(route.RestKey(acct), route.ModelRestID(acct, c.Model), o.sent)
	if !s.a.counting() {
		s.g.d.State.Served(id, o.facts.Usage.Input+o.facts.Usage.Output, time.Now())
		s.g.nextSoon()
	}
	s.made(c, &o.facts)
	s.learn(c)
}

// made remembers who made a reply that later requests may go on from. It has to be known before
// the agent reads the reply's id: it may ask on at once.
func (s *service) made(c *trace.Candidate, f *wire.Facts) {
	if s.a.api == wire.Responses || s.a.api == wire.Messages {
		s.g.d.State.NoteMade(f.ID, provider.AccountID(c.ID))
	}
}

// putRest works a rest out over what is remembered and sets it, again when another
// request changed what is remembered meanwhile.
func (g *Gateway) putRest(acct *provider.Account, model string, o *outcome, full, now time.Time) (trace.Rest, bool) {
	v := *o.verdict
	key := route.RestID(acct, model, v.Scope)
	for range 8 {
		past := g.d.State.Past(key)
		r, ok := failure.RestFor(v, failure.Past{
			Kind: past.Kind, Failures: past.Failures, Until: past.Until, Beside: o.began.Before(past.At),
		}, full, now)
		if !ok {
			return trace.Rest{}, false
		}
		r.Key, r.Print, r.Text = key, g.d.State.Print(acct.ID), v.Words
		if g.d.State.PutRest(r, past.Gen) {
			return r, true
		}
	}
	return trace.Rest{}, false
}

// giveUp tells the agent that nobody answered.
func (s *service) giveUp() {
	o := s.lastError()
	if s.gone() {
		gone := left()
		s.endedByHand(&gone)
		s.rec.done(gone.status, gone.words, s.out.bytes())
		return
	}
	ref := s.told(o)
	status := ref.Status
	switch {
	case s.out.headersOut():
		s.out.refuse(ref, &wire.Facts{})
	case o.reply.mine || o.verdict.Kind == trace.TooLarge || o.verdict.Kind == trace.Refused || o.verdict.Kind == trace.Effort || status != o.status:
		s.out.refuse(ref, &wire.Facts{})
	default:
		s.out.relayError(status, o, ref.Seconds())
	}
	s.rec.done(status, o.words, s.out.bytes())
}

// lastError is the failure that the agent is told: the last, but not that an allowance is
// used up where another failed for a cause that passes. An agent stops at the former. That
// somebody was not asked, for what came meanwhile, is told only where nobody was.
func (s *service) lastError() *outcome {
	vs, at := make([]trace.Verdict, 0, len(s.fails)), make([]int, 0, len(s.fails))
	for i := range s.fails {
		if !s.fails[i].since {
			vs, at = append(vs, *s.fails[i].verdict), append(at, i)
		}
	}
	if len(vs) == 0 {
		return &s.fails[len(s.fails)-1]
	}
	return &s.fails[at[failure.LastError(vs)]]
}

// told makes the refusal that stands for a failure.
func (s *service) told(o *outcome) *wire.Refusal {
	v := o.verdict
	ref := &wire.Refusal{Status: failure.AgentStatus(*v, string(s.a.api)), Code: v.Code, Words: v.Words, Param: o.param, Detail: o.detail, Request: o.request}
	if ref.Status < 400 {
		ref.Status = http.StatusBadGateway
	}
	if ref.Words == "" {
		ref.Words = http.StatusText(ref.Status)
	}
	s.asTheirs(ref, o)
	switch v.Kind {
	case trace.TooLarge:
		ref.Words = failure.TooLongWords(string(s.a.api), v.Words)
		if ref.Status == http.StatusRequestEntityTooLarge {
			ref.Words += " (the vendor's limit is one in bytes of the request body)"
		}
	case trace.Refused:
		ref.Status = http.StatusBadRequest
		ref.Words = o.of.Model + " of " + o.of.Name + ": " + v.Words
	case trace.Effort:
		ref.Status, ref.Words = http.StatusBadRequest, s.levelWords(o)
		ref.Param = effortField[s.a.api]
	case trace.Credit, trace.Quota, trace.Rate, trace.Auth, trace.Overloaded, trace.Slow, trace.Shape, trace.Prompt, trace.Proxy,
		trace.Verify, trace.Cancelled, trace.Model, trace.Request, trace.Network, trace.Other:
	}
	ref.RetryAfter = s.earliest(o, ref.Status)
	return ref
}

// asTheirs tells a failure of a vendor of another API as the agent's own API's vendors would,
// by the vendor's own word and field where both APIs are OpenAI's: agents go by the word.
func (s *service) asTheirs(ref *wire.Refusal, o *outcome) {
	if o.asked == "" || ref.Status == 0 {
		return
	}
	if o.asked != s.a.api {
		ref.Theirs, ref.Busy = true, o.verdict.Kind == trace.Overloaded
	}
	if !ofOpenAI(o.asked) || !ofOpenAI(s.a.api) {
		if ref.Code == "" && ofOpenAI(s.a.api) && ref.Status == http.StatusTooManyRequests && o.verdict.Kind == trace.Credit {
			ref.Code = "insufficient_quota"
		}
		return
	}
	v, err := wire.ReadValue(o.said)
	if err != nil {
		return
	}
	e := v.Get("error")
	if in := v.Get("response").Get("error"); in.Kind() == '{' {
		e = in
	}
	if e.None() && v.Get("type").Text() == "error" {
		e = v
	}
	if ref.Param == "" {
		ref.Param = s.g.masker.Mask(bounded(e.Get("param").Text()))
	}
	if ref.Code == "" {
		ref.Code = s.g.masker.Mask(bounded(e.Get("code").Text()))
	}
}

func ofOpenAI(p wire.Protocol) bool { return p == wire.Chat || p == wire.Responses }

// earliest is how long until a candidate is back, for a status that an agent waits at. Nobody's rest is one to wait for
// where the last one, which rests for nothing, was only too busy: it may answer at any moment.
func (s *service) earliest(o *outcome, status int) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable && status != 529 {
		return 0
	}
	now := time.Now()
	at := o.verdict.Until
	snap := s.g.d.State.Snapshot(s.lv.cat, now)
	for i := range s.order {
		c := &s.order[i]
		acct := s.lv.cat.Account(provider.AccountID(c.ID))
		if acct == nil {
			continue
		}
		r, rests := snap.Resting(acct, c.Model)
		switch {
		case rests && (at.IsZero() || r.Until.Before(at)):
			at = r.Until
		case !rests && o.verdict.Kind == trace.Overloaded && o.of != nil && o.of.ID == c.ID && o.of.Model == c.Model:
			return max(o.verdict.Until.Sub(now), 0)
		}
	}
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(now), time.Second)
}

// restTold tells log and screen of a new rest.
func (g *Gateway) restTold(r *trace.Rest, now time.Time) {
	told := *r
	told.Since = now
	g.tell(trace.Log{Time: now, Level: "info", Text: words.Rested(r.Key, told)})
}
