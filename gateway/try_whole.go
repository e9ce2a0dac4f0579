package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// whole relays a reply that is no event stream. It is kept until it is all there, to be
// read for a refusal; one that is packed or too large for that passes as it comes.
func (t *try) whole(first []byte, err error) outcome {
	s := t.s
	body, more := first, false
	switch {
	case err != nil:
	case t.unread(): // it can't be read, so it is not waited for
		more = true
	default:
		body, more, err = t.gather(first)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return t.broken(failure.PhaseStream, err)
	}
	if s.out.headersOut() { // a stream was begun to keep the agent alive
		return s.failed(t.c, failure.Seen{Phase: failure.PhaseStream, Err: errors.New(t.p.Name + " did not stream its reply")})
	}
	if !more && t.resp.StatusCode != http.StatusNoContent && len(bytes.TrimSpace(body)) == 0 {
		return t.noAnswer(nil)
	}
	reply := wire.Reply{P: s.a.api}
	if !more && !packed(t.resp.Header) {
		switch s.judge(&reply, body) {
		case wire.Failed:
			return s.failedEvent(t.c, t.resp, reply.Fault)
		case wire.Refused:
			return s.refused(reply.Refusal)
		case wire.Lead, wire.Buffering, wire.Thinking, wire.Content:
		}
		if !reply.Whole && saysJSON(t.resp.Header, body) { // cut off, though the connection ended well
			return t.broken(failure.PhaseStream, io.ErrUnexpectedEOF)
		}
	}
	return t.sendWhole(body, more, &reply)
}

// unread says whether a reply is a packed stream.
func (t *try) unread() bool {
	return packed(t.resp.Header) && strings.HasPrefix(strings.ToLower(t.resp.Header.Get("Content-Type")), "text/event-stream")
}

// judge reads a whole reply: for what it says, where it is a model's; else for its end alone.
func (s *service) judge(reply *wire.Reply, body []byte) wire.Class {
	if s.a.door == provider.Generate || s.a.door == provider.Stream {
		return reply.JudgeWhole(body)
	}
	reply.Whole = json.Valid(body)
	return wire.Content
}

// gather reads the rest of a reply, as far as it is kept whole; more = it goes on.
func (t *try) gather(first []byte) (body []byte, more bool, err error) {
	size, whole := len(first)+512, wholeBytes+1
	if n := t.resp.ContentLength; n > 0 && n <= wholeBytes {
		whole = int(n) + 1
		size = min(whole, firstBytes)
	}
	body = append(make([]byte, 0, size), first...)
	for len(body) <= wholeBytes {
		if len(body) == cap(body) { // what was announced may never come
			body = append(make([]byte, 0, max(len(body)+1, min(2*cap(body), whole))), body...)
		}
		var n int
		n, err = t.resp.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if n > 0 {
			t.w.hear(time.Now())
		}
		if err != nil {
			return body, false, err
		}
	}
	return body, true, nil
}

func (t *try) sendWhole(body []byte, more bool, reply *wire.Reply) outcome {
	out, now := &t.s.out, time.Now()
	length := int64(len(body))
	if more {
		length = t.resp.ContentLength
	}
	if t.resp.StatusCode == http.StatusNoContent {
		length = -1
	}
	t.s.made(t.c, &reply.Facts)
	out.mu.Lock()
	out.passed = true
	out.beginPass(t.resp, t.c, length, kindOf(body))
	t.s.rec.r.TTFTMS = now.Sub(t.s.a.start).Milliseconds()
	out.write(body, t.unread())
	err := out.err
	out.mu.Unlock()
	o := outcome{status: t.resp.StatusCode, passed: true, facts: reply.Facts, sent: now}
	var broke error
	if err == nil && more {
		broke, err = t.pour(len(kindOf(body)) > 0)
	}
	switch {
	case err != nil || t.s.gone():
		o = left()
	case broke != nil:
		o = t.broken(failure.PhaseStream, broke)
	}
	if broke != nil {
		out.cutShort()
	}
	o.facts, o.passed = reply.Facts, true
	return o
}

// pour relays the rest of a reply that is too large to be kept. It says what broke on the
// vendor's side, and what on the agent's. JSON that ends in the middle is broken off, also
// where the connection ended well.
func (t *try) pour(isJSON bool) (broke, gone error) {
	bp := buffers.Get().(*[]byte)
	defer buffers.Put(bp)
	out, last := &t.s.out, byte(0)
	for {
		n, err := t.resp.Body.Read(*bp)
		if said := bytes.TrimRight((*bp)[:n], " \t\r\n"); len(said) > 0 {
			last = said[len(said)-1]
		}
		if n > 0 {
			t.w.hear(time.Now())
			out.mu.Lock()
			out.write((*bp)[:n], t.unread())
			gone = out.err
			out.mu.Unlock()
		}
		switch {
		case gone != nil:
			return nil, gone
		case errors.Is(err, io.EOF) && isJSON && last != '}' && last != ']':
			return io.ErrUnexpectedEOF, nil
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return err, nil
		}
	}
}

// kindOf is the type of a whole reply by its first byte, nil for one that is no JSON.
func kindOf(body []byte) []string {
	if b := bytes.TrimLeft(body, " \t\r\n"); len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		return jsonType
	}
	return nil
}
