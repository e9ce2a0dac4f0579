package gateway

import (
	"fmt"
	"net/http"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// outcome is how one try ended.
type outcome struct {
	of      *trace.Candidate
	verdict *trace.Verdict // nil: it answered
	words   string         // the verdict's words, without secrets
	status  int            // the vendor's, or what the failure stands for
	seen    int            // the vendor's own, 0 for none
	passed  bool           // bytes of its reply are out
	gone    bool           // the agent left
	turned  bool           // its lane had no slot for the request: nobody was asked
	since   bool           // nor here, for what came since the plan was made
	rests   *trace.Rest    // since then, where that is why
	facts   wire.Facts
	began   time.Time
	sent    time.Time
	reply   vendorError
	raw     []byte // a refusal's body as it came
	param   string // of a request that could not be translated: the field at fault
	detail  string
	takes   []string // of a level that was refused: those that there are

	asked wire.Protocol // the API in which the vendor failed, "" where it said nothing
	said  []byte        // its error

	request string // the vendor's name for the request
}

// unasked says that nobody was asked: it tells nothing of the account.
func (o *outcome) unasked() bool { return o.turned || o.since }

// vendorError is a vendor's error as it came, to be relayed when nobody does better.
type vendorError struct {
	header http.Header
	body   []byte
	mine   bool // there is none: the words are ours
}

// failed makes an outcome of what was seen.
func (s *service) failed(c *trace.Candidate, seen failure.Seen) outcome {
	s.fill(c, &seen)
	v := failure.Classify(seen)
	o := s.judged(&v, seen.Status)
	o.seen = seen.Status
	if seen.Phase == failure.PhaseReply {
		s.silent(&o, c, seen.Status)
	}
	return o
}

// failedEvent makes an outcome of an error event inside of a 200.
func (s *service) failedEvent(c *trace.Candidate, resp *http.Response, fault *wire.Fault) outcome {
	if fault.Code == wire.EmptyReply {
		return s.empty(fault)
	}
	seen := failure.Seen{Phase: failure.PhaseStream, Status: http.StatusOK, Header: resp.Header, Body: fault.Raw}
	s.fill(c, &seen)
	v := failure.ClassifyEvent(seen)
	o := s.judged(&v, v.Status)
	o.asked, o.said = s.asking, fault.Raw
	o.request = s.g.namedBy(resp.Header, fault.Raw)
	s.silent(&o, c, resp.StatusCode)
	return o
}

// silent finds words for a failure without any, where the agent is told another status than came.
func (s *service) silent(o *outcome, c *trace.Candidate, came int) {
	if o.words != "" || came >= http.StatusBadRequest && came <= 599 {
		return
	}
	o.words = fmt.Sprintf("answered %d and doesn't say what is wrong", came)
	o.named(s.lv.cat.Provider(c.Provider).Name)
}

// empty makes an outcome of a reply that ended and said nothing. The account is fine.
func (s *service) empty(fault *wire.Fault) outcome {
	v := &trace.Verdict{Row: emptyReply, Kind: trace.Other, Scope: trace.ScopeNone, Next: true, Passes: true, Status: http.StatusBadGateway, Words: fault.Words}
	return outcome{verdict: v, words: v.Words, status: v.Status, reply: vendorError{mine: true}}
}

// emptyReply is the row of a reply that says nothing.
const emptyReply = "empty-reply"

// emptyMost is how often a candidate is asked again at once whose reply said nothing, before
// that counts as a failure like another.
const emptyMost = 2

// emptied says whether a candidate is asked again since its reply said nothing.
func (s *service) emptied(c *trace.Candidate, o *outcome) bool {
	if o.verdict.Row != emptyReply {
		return false
	}
	if s.empties == nil {
		s.empties = map[string]int{}
	}
	s.empties[c.ID]++
	return s.empties[c.ID] <= emptyMost
}

func (s *service) fill(c *trace.Candidate, seen *failure.Seen) {
	p := s.lv.cat.Provider(c.Provider)
	seen.Vendor, seen.Protocol, seen.Model, seen.Kind = p.Dialect.Vendor, string(s.asking), c.Model, c.Kind
	seen.At = time.Now()
	seen.Estimate = s.a.env.Estimate()
	seen.Window = s.window(c.Provider, c.Model)
}

// window is a model's context in tokens, 0 for unknown.
func (s *service) window(id, model string) int {
	p := s.lv.cat.Provider(id)
	if p == nil {
		return 0
	}
	return p.Model(model, s.lv.fetched()[id]).Context
}

func (s *service) judged(v *trace.Verdict, status int) outcome {
	if v.Status != 0 {
		status = v.Status
	}
	words := s.g.masker.Mask(v.Words)
	v.Words = words
	return outcome{verdict: v, words: words, status: status, reply: vendorError{mine: true}}
}

// named begins the words with who answered so.
func (o *outcome) named(who string) {
	o.words = who + " " + o.words
	o.verdict.Words = o.words
}

// refused makes an outcome of a reply that says nothing but a refusal.
func (s *service) refused(reason string) outcome {
	v := &trace.Verdict{
		Row: "refused-reply", Kind: trace.Refused, Next: true, Status: http.StatusBadRequest,
		Words: "the model refused the request (" + reason + ")", Code: "content_filter",
	}
	return outcome{verdict: v, words: v.Words, status: http.StatusOK, reply: vendorError{mine: true}}
}

// verifyHold is how long the last candidate is not asked again after its vendor wanted its
// owner to prove who they are: it would only learn the same.
const verifyHold = time.Minute

// unproven answers from memory for an account whose owner was just told to verify it.
func (s *service) unproven(c *trace.Candidate, last bool) (outcome, bool) {
	r := c.Rest
	if !last || r == nil || r.Why != trace.Verify || time.Since(r.Since) >= verifyHold {
		return outcome{}, false
	}
	v := &trace.Verdict{Row: "verify", Kind: trace.Verify, Status: r.Status, Words: r.Text, Link: r.Link}
	return outcome{verdict: v, words: v.Words, status: v.Status, reply: vendorError{mine: true}}, true
}

// slow makes an outcome of a member that gave nothing in its group's time.
func slow() outcome {
	v := &trace.Verdict{Row: "first-token", Kind: trace.Slow, Next: true, Status: http.StatusGatewayTimeout, Words: errSlow.Error()}
	return outcome{verdict: v, words: v.Words, status: v.Status, reply: vendorError{mine: true}}
}

// left makes an outcome of an agent that is gone. Nobody rests for it.
func left() outcome {
	v := &trace.Verdict{Row: "agent-left", Kind: trace.Cancelled, Status: trace.Gone, Words: "the agent left"}
	return outcome{verdict: v, words: v.Words, status: trace.Gone, gone: true, reply: vendorError{mine: true}}
}

// decide asks the table of steps what follows.
func (s *service) decide(o *outcome) decision {
	switch {
	case o.turned:
		return s.turnedAway()
	case o.since:
		return s.passedOver(o)
	}
	return after(situation{
		order: s.order, at: s.at, last: s.isLast(), again: s.again, v: o.verdict, now: time.Now(), status: o.status,
		window: s.window, estimate: s.a.env.Estimate(),
	})
}

// rest puts a failed candidate behind the others for as long as its failure says.
func (g *Gateway) rest(cat *provider.Catalog, c *trace.Candidate, o *outcome, now time.Time) *trace.Rest {
	acct := cat.Account(provider.AccountID(c.ID))
	if acct == nil {
		return nil
	}
	full, pooled := g.fullUntil(cat, acct, c.Model, now)
	scoped, v := *o, *o.verdict
	if v.Scope == trace.ScopeWhole && v.Kind == trace.Quota && pooled && acct.Kind == provider.KindAccount {
		v.Scope = trace.ScopeModel
	}
	scoped.verdict = &v
	rest, ok := g.putRest(acct, c.Model, &scoped, full, now)
	if !ok {
		return nil
	}
	g.restTold(&rest, now)
	return &rest
}

// denied notes that a vendor turned the secret of a candidate away, or has no credit for it, whether or not it rests for that.
func (g *Gateway) denied(c *trace.Candidate, o *outcome, now time.Time) {
	if v := o.verdict; (v.Kind == trace.Auth || v.Kind == trace.Credit) && v.Scope == trace.ScopeWhole && o.seen != 0 {
		g.d.State.NoteDenied(provider.AccountID(c.ID), trace.Denied{Since: now, Why: v.Kind, Status: o.seen, Text: o.words}, o.began)
	}
}

// fullUntil is when a full window of the account renews, zero for none; pooled says that
// only windows of single models are full.
func (g *Gateway) fullUntil(cat *provider.Catalog, acct *provider.Account, model string, now time.Time) (full time.Time, pooled bool) {
	ws := g.d.State.Windows(acct.ID)
	if len(ws) == 0 {
		return time.Time{}, false
	}
	spent := g.d.State.Snapshot(cat, now).SpentShare(cat.Provider(acct.Provider))
	return provider.FullUntil(ws, model, spent, now), provider.Pooled(ws, model, spent, now)
}

// limited notes whom its vendor told to slow down while there was room in its windows. A
// pool that all of the vendor's users share says nothing of the one who asked.
func (g *Gateway) limited(cat *provider.Catalog, c *trace.Candidate, v *trace.Verdict, now time.Time) {
	acct := cat.Account(provider.AccountID(c.ID))
	if v.Kind != trace.Rate || v.Scope == trace.ScopeModel || acct == nil {
		return
	}
	spent := g.d.State.Snapshot(cat, now).SpentShare(cat.Provider(acct.Provider))
	if provider.Share(g.d.State.Windows(acct.ID), c.Model, now) < spent {
		g.d.State.Sink(acct.ID, now)
	}
}
