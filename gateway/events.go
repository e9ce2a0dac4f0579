package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// events relays an event stream: held until it says something, then as it comes.
func (t *try) events(first []byte, err error, buf []byte) outcome {
	h := t.newHold()
	// first lies in buf: feed takes a copy before the next read.
	feedErr := h.feed(first, time.Now())
	t.readBeside(&h.reply.Facts)
	room := foldedBytes
	for err == nil && feedErr == nil && !t.over(h) {
		var n int
		n, err = t.resp.Body.Read(buf)
		if n > 0 {
			now := time.Now()
			t.w.hear(now)
			feedErr = h.feed(buf[:n], now)
			t.readBeside(&h.reply.Facts)
		}
		if room -= n; room < 0 && t.x != nil && feedErr == nil { // what ends with all that was said is gathered
			feedErr = errTooMuch
		}
	}
	return t.closed(h, err, feedErr)
}

func (t *try) newHold() *hold {
	s := t.s
	h := &hold{
		out: &s.out, resp: t.resp, c: t.c, reply: wire.Reply{P: t.api}, x: t.x, last: t.last, think: thinksFirst(t.c.Model, t.last),
	}
	h.first = func(now time.Time) {
		s.made(t.c, &h.reply.Facts)
		s.rec.firstByte(now)
		t.spent()
	}
	now := time.Now()
	h.due = now.Add(holdFor)
	if t.w.slow > 0 {
		h.due = now.Add(max(holdFor, t.w.slow+time.Second))
	}
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	t.w.hold = h
	s.out.rearm(&t.w, now)
	return h
}

// spent lets go of what was asked: a stream is under way, which may last long, and nobody
// else will be asked. The lock is held.
func (t *try) spent() {
	t.s.a.body, t.s.a.asked, t.s.sent, t.s.media, t.body = nil, nil, nil, nil, wire.Body{}
	if t.x != nil {
		t.x.body = nil
	}
}

// over says whether the held reply failed.
func (t *try) over(h *hold) bool {
	t.s.out.mu.Lock()
	defer t.s.out.mu.Unlock()
	return h.state == dropped
}

// closed makes an outcome of a stream that ended, failed, or was left.
func (t *try) closed(h *hold, err, feedErr error) outcome {
	s, now := t.s, time.Now()
	tooLong := errors.Is(feedErr, sse.ErrTooLong) || errors.Is(feedErr, errTooMuch)
	var broke *cut
	switch {
	case tooLong:
		broke = &cut{err: feedErr}
	case feedErr == nil:
		broke = h.finish(err, now)
	}
	f := &h.reply
	state, passed := h.settle()
	switch {
	case (feedErr != nil && !tooLong || s.gone()) && !f.Whole:
		o := left()
		o.passed, o.facts = passed, f.Facts
		return o
	case broke != nil:
		return t.cutOff(h, broke, passed)
	case state == dropped && h.class == wire.Refused:
		o := s.refused(f.Refusal)
		o.facts = f.Facts
		return o
	case state == dropped:
		return s.failedEvent(t.c, t.resp, f.Fault)
	case t.x != nil && t.x.failed != nil && f.Fault == nil: // the agent was told of what can't be read
		o := s.failed(t.c, failure.Seen{Phase: failure.PhaseStream, Err: errors.New(t.x.failed.Words)})
		o.passed, o.facts = true, f.Facts
		return o
	case f.Fault != nil: // the vendor's error event passed with the rest
		o := s.failedEvent(t.c, t.resp, f.Fault)
		o.passed, o.facts = true, f.Facts
		return o
	}
	return outcome{status: t.resp.StatusCode, passed: true, facts: f.Facts, sent: now}
}

// settle ends the hold: what did not pass by now never will.
func (h *hold) settle() (state holdState, passed bool) {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	h.drop()
	return h.state, h.out.passed
}

// cutOff makes an outcome of a stream that ended before its reply did. A part that is out
// is ended by an error event: a cut reply never reads as a finished one.
func (t *try) cutOff(h *hold, c *cut, passed bool) outcome {
	s := t.s
	if errors.Is(contextCause(t), errSlow) && !passed {
		return slow()
	}
	words := "the connection to " + t.p.Name + " was lost in the middle of the reply"
	switch {
	case errors.Is(c.err, sse.ErrTooLong), errors.Is(c.err, errTooMuch):
		words = t.p.Name + " sent " + c.err.Error()
	case contextCause(t) != nil:
		words = fmt.Sprintf("%s sent nothing for %s in the middle of the reply", t.p.Name, t.w.stall)
	case c.clean:
		words = "the reply of " + t.p.Name + " ended before it was complete"
	}
	seen := failure.Seen{Phase: failure.PhaseStream, Err: errors.New(words)}
	o := s.failed(t.c, seen)
	o.words, o.verdict.Words = words, words
	if !passed {
		return o
	}
	o.passed, o.facts = true, h.reply.Facts
	if o.status < http.StatusBadRequest {
		o.status = http.StatusBadGateway
	}
	h.fail(&wire.Refusal{Status: o.status, Words: words})
	return o
}

// fail ends a reply of which a part is out, in the agent's API.
func (h *hold) fail(ref *wire.Refusal) {
	if h.x == nil {
		h.out.refuse(ref, &h.reply.Facts)
		return
	}
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	h.out.write(h.x.fail(ref), true)
}

// cutShort makes an outcome of a reply that was gathered and broke off: nothing of it is out.
func (t *try) cutShort(err error) outcome {
	return t.cutOff(nil, &cut{clean: isEnd(err), err: err}, false)
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) }

// finish tells how a request ended whose reply is out, or whose agent is gone.
func (s *service) finish(c *trace.Candidate, o *outcome) {
	now := time.Now()
	var rest *trace.Rest
	switch {
	case o.gone:
		s.endedByHand(o)
	case o.verdict == nil:
		s.answered(c, o)
		s.remember(c, o, now)
	case o.verdict.Kind != trace.TooLarge && o.verdict.Kind != trace.Prompt && o.verdict.Kind != trace.Request && o.verdict.Scope != trace.ScopeNone:
		rest = s.g.rest(s.lv.cat, c, o, now)
		s.g.limited(s.lv.cat, c, o.verdict, now)
	}
	if o.verdict != nil && o.passed && !o.gone {
		s.brokeOff(c)
	}
	s.rec.ended(o, rest, now)
	p := s.lv.cat.Provider(c.Provider)
	s.countedTurn(o.facts.Usage.Input)
	s.rec.facts(&o.facts, p.Model(c.Model, s.lv.fetched()[c.Provider]), p.Rate)
	s.rec.done(o.status, o.words, s.out.bytes())
}

// endedByHand tells an agent that is still there that a person ended its request, or the whole gateway.
func (s *service) endedByHand(o *outcome) {
	if !s.call.cancelled.Load() || s.ctx.Err() != nil {
		return
	}
	o.words, o.status = errCancelled.Error(), http.StatusServiceUnavailable
	code := "cancelled"
	if s.g.draining.Load() {
		o.words, code = errShut.Error(), "shutting_down"
	}
	s.out.refuse(&wire.Refusal{Status: o.status, Code: code, Words: o.words}, &o.facts)
}

func (r *reply) bytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent
}
