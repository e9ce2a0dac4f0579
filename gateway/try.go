package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/upstream"
	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
	"dev.magpie/provider"
)

// Bounds of what is read of a vendor.
const (
	errorBytes = 1 << 20  // of an error's body
	pageBytes  = 64 << 10 // of a web page, for its title
	peekBytes  = 4 << 10  // before a reply is judged to be one
	wholeBytes = 64 << 20 // of a reply that is kept whole to be read for a refusal
	firstBytes = 1 << 20  // room for a reply before any of it has come
	bufBytes   = 16 << 10
	errorWait  = 10 * time.Second // for an error's body
)

var buffers = sync.Pool{New: func() any { b := make([]byte, bufBytes); return &b }}

// try is one attempt at one candidate.
type try struct {
	s    *service
	c    *trace.Candidate
	p    *provider.Provider
	acct *provider.Account
	last bool
	w    watched
	ctx  context.Context
	resp *http.Response
	api  wire.Protocol // that the vendor is asked on
	x    *translation  // nil where that is the agent's own
	h    shape         // what of the request is another for this candidate

	speaks bool         // the provider has the model on that API, so that a request may be written in it
	body   wire.Body    // what is sent
	things []mend.Thing // that it is sent without

	sub     *sub   // nil of a key
	session string // that an account's vendor keeps the cache by
	began   time.Time

	hooks httptrace.ClientTrace // of its connection
	idled bool                  // it lay idle for a while before
}

func (s *service) newTry(c *trace.Candidate, last bool) *try {
	t := &s.one
	if t.s != nil { // a transport may hold on to what an earlier try told it
		t = new(try)
	}
	t.s, t.c, t.last = s, c, last
	t.p, t.acct, t.sub = s.lv.cat.Provider(c.Provider), s.lv.cat.Account(provider.AccountID(c.ID)), s.lv.subs[provider.AccountID(c.ID)]
	return t
}

// settle settles on which API the vendor is asked, and what of the request is another for it.
func (t *try) settle() {
	s := t.s
	t.api, s.asking, s.sent = s.a.api, s.a.api, nil
	if s.a.embeds() {
		t.settleEmbed()
		return
	}
	if !s.a.thinking() && s.a.door != provider.Count {
		return
	}
	if s.a.tail == "" {
		if api, ok := s.askOn(t.c, s.unfit(t.c)); ok {
			t.api, t.speaks = api, true
		}
		t.things = s.things(t.c, t.api)
	}
	t.shape(t.api)
	if t.onePiece() || s.a.summed {
		t.h.anew = true // its vendor only streams, or is asked for a summary
	}
	if w := t.h.wish; w.level != "" {
		s.rec.thinks(w)
	}
}

// write makes what the vendor is sent: the agent's own bytes, or a translation. An outcome
// says why that can't be.
func (t *try) write() *outcome {
	err := t.speak()
	if err == nil {
		err = t.dress()
	}
	if err == nil {
		return nil
	}
	o := t.s.unwritten(err)
	return &o
}

// unwritten makes an outcome of a request that can't be made what the vendor is sent.
func (s *service) unwritten(err error) (o outcome) {
	var dark *blindError
	switch {
	case errors.Is(err, errNoCount):
		o = noCount()
	case errors.As(err, &dark):
		o = s.undescribed(dark)
	default:
		o = s.unsayable(err)
	}
	return o
}

// speak translates where the vendor's API is not the agent's.
func (t *try) speak() (err error) {
	s := t.s
	if t.p.Program != "" {
		return t.speakProgram()
	}
	if t.sub != nil && s.a.counting() {
		return errNoCount // an account's vendor counts nothing beforehand
	}
	if !t.speaks || t.api == s.a.api && !t.h.anew {
		t.api = s.a.api
		t.relay()
		return nil
	}
	s.asking = t.api
	if s.a.embeds() {
		if t.x, err = s.translateEmbed(t); err == nil {
			t.tells()
		}
		return err
	}
	if s.a.door == provider.Count && t.p.URL(t.api, provider.Count, t.c.Model) == "" {
		return errNoCount
	}
	if t.h.describes { // which takes its time
		defer s.keepAlive()()
	}
	if t.x, err = s.translate(t); err == nil {
		t.tells()
	}
	return err
}

// tells takes a translation for what the vendor is sent.
func (t *try) tells() {
	t.s.sent, t.body = t.x.body, wire.Whole(t.x.body)
	t.s.rec.translated(fromTo(t.x.from, t.x.to, t.x.lost))
}

// do asks the candidate. It ends when its reply was sent or has failed.
func (t *try) do() outcome {
	s := t.s
	t.began = time.Now()
	if t.x != nil && t.x.warm {
		return t.warmed()
	}
	secret, err := t.credential()
	if err != nil && t.sub != nil {
		return t.signedOut(err)
	}
	if err != nil {
		return s.unready(t.acct, err)
	}
	var cancel context.CancelCauseFunc
	t.ctx, cancel = context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.call.trying(cancel)
	t.watch(cancel)
	defer s.out.unwatch()
	if o := t.send(secret); o != nil {
		return *o
	}
	defer t.resp.Body.Close() //nolint:errcheck // a broken end was told by Read
	t.w.hear(time.Now())
	if s.vault != nil {
		t.unpack()
	}
	if t.p.Program == "" { // a program told of them when it heard of them
		t.readHeaders(t.began)
	}
	if t.resp.StatusCode < 200 || t.resp.StatusCode >= 300 {
		return t.refusal()
	}
	return t.answer()
}

// unready makes an outcome of a secret that could not be had. The vendor was not asked.
func (s *service) unready(acct *provider.Account, err error) outcome {
	if s.gone() {
		return left()
	}
	s.g.secrets.Delete(acct.ID)
	s.g.unready(acct.ID, s.g.masker.Mask(err.Error()))
	v := &trace.Verdict{Row: "no-secret", Kind: trace.Auth, Next: true, Status: http.StatusUnauthorized, Words: s.g.masker.Mask(err.Error())}
	return outcome{verdict: v, words: v.Words, status: v.Status, reply: vendorError{mine: true}}
}

func (t *try) watch(cancel context.CancelCauseFunc) {
	s := t.s
	t.w.cancel, t.w.start, t.w.events = cancel, time.Now(), s.a.stream && s.a.api != wire.Gemini
	t.w.headers, t.w.stall = headersNext, stallAfter
	if t.last {
		t.w.headers = headersLast
	}
	for _, d := range []time.Duration{s.lv.cfg.HeaderTimeout, t.p.HeaderTimeout} {
		if d > 0 {
			t.w.headers = d
		}
	}
	for _, d := range []time.Duration{s.lv.cfg.StallTimeout, t.p.StallTimeout} {
		if d > 0 {
			t.w.stall = d
		}
	}
	if g := s.target.Group; g != nil && s.a.stream && !t.last {
		t.w.slow = g.FirstToken
	}
	s.out.watch(&t.w)
}

// send asks the vendor and waits for its headers; an outcome is a failure on the way.
func (t *try) send(secret config.Secret) *outcome {
	s := t.s
	via := t.acct.Proxy
	if via == "" {
		via = t.p.Proxy
	}
	if via == "" {
		via = s.lv.cfg.Proxy
	}
	if t.p.Program != "" {
		return t.runProgram(via)
	}
	rt, err := s.g.pool.For(via)
	if err == nil {
		t.resp, err = t.roundTrip(rt, secret) //nolint:bodyclose // try closes it
	}
	if err == nil {
		return nil
	}
	o := t.broken(phaseOf(err), err)
	return &o
}

// phaseOf says how far a request came that got no answer.
func phaseOf(err error) failure.Phase {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" || strings.Contains(err.Error(), "proxyconnect") || strings.Contains(err.Error(), "socks connect") {
		return failure.PhaseDial
	}
	return failure.PhaseHeader
}

// broken makes an outcome of a connection that failed, or of a try that was ended.
func (t *try) broken(phase failure.Phase, err error) outcome {
	switch cause := context.Cause(t.ctx); {
	case t.s.gone():
		return left()
	case errors.Is(cause, errSlow):
		return slow()
	case cause != nil:
		err = cause
	}
	return t.s.failed(t.c, failure.Seen{Phase: phase, Err: err})
}

// refusal makes an outcome of a status that is no success.
func (t *try) refusal() outcome {
	r := t.resp
	head, body := r.Header, t.errorBody()
	if enc := head.Get("Content-Encoding"); enc != "" {
		if plain, err := upstream.Decode(body, enc, errorBytes); err == nil {
			body, head = plain, head.Clone()
			head.Del("Content-Encoding")
		}
	}
	if t.s.gone() {
		return left()
	}
	o := t.s.failed(t.c, failure.Seen{Phase: failure.PhaseReply, Status: r.StatusCode, Header: head, Body: body})
	o.raw, o.asked, o.said = body, t.api, body
	o.request = t.s.g.namedBy(head, body)
	if r.StatusCode == http.StatusUnauthorized {
		t.s.g.d.Secrets.Forget(t.acct.ID)
	}
	switch {
	case o.verdict.Page:
		o.named(t.p.Name)
	case t.x == nil && saysJSON(head, body) && json.Valid(body): // no half of one
		o.reply = vendorError{header: t.s.g.passable(head), body: t.s.g.masker.MaskBytes(body)}
	}
	return o
}

// errorBody reads what is told of an error. Its status is known, so nobody waits for long.
// What follows a 101 is no body, but a connection that may stay open for ever.
func (t *try) errorBody() []byte {
	if t.resp.StatusCode < http.StatusOK {
		return nil
	}
	out := &t.s.out
	out.mu.Lock()
	t.w.stall = min(t.w.stall, errorWait)
	out.rearm(&t.w, time.Now())
	out.mu.Unlock()
	return upstream.ReadSome(t.resp.Body, errorBytes)
}

// saysJSON says whether a body is JSON by its type and its first byte. An error that is none
// does not go to the agent as it is.
func saysJSON(h http.Header, body []byte) bool {
	ct := h.Get("Content-Type")
	if ct != "" && !strings.Contains(ct, "json") {
		return false
	}
	for _, b := range body {
		switch b {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			return true
		default:
			return false
		}
	}
	return false
}

// answer relays a success, once it is known to be an API's answer at all.
func (t *try) answer() outcome {
	bp := buffers.Get().(*[]byte)
	defer buffers.Put(bp)
	if t.resp.StatusCode == http.StatusNoContent {
		return t.whole(nil, io.EOF)
	}
	first, err := t.peek(*bp)
	if err != nil && !errors.Is(err, io.EOF) && len(first) == 0 {
		return t.broken(failure.PhaseStream, err)
	}
	if !plainly(t.resp.Header, first) {
		if _, bad := failure.NotAnAnswer(t.resp.StatusCode, t.resp.Header, first); bad {
			return t.noAnswer(first)
		}
	}
	if t.x != nil && t.s.a.counting() {
		return t.countReply(first)
	}
	if t.x != nil && t.x.embed != nil {
		return t.embedded(first, err)
	}
	if t.x != nil {
		return t.translated(first, err, *bp)
	}
	if streamed(t.resp.Header, first) {
		if t.unstream() {
			return t.folded(first, err, *bp)
		}
		return t.events(first, err, *bp)
	}
	return t.whole(first, err)
}

// plainly says whether a reply is JSON by its type and its first byte, as nearly all are.
func plainly(h http.Header, first []byte) bool {
	ct := h["Content-Type"]
	return len(ct) == 1 && ct[0] == "application/json" && len(first) > 0 && (first[0] == '{' || first[0] == '[')
}

// peek reads until something other than blanks came: vendors send empty lines while a
// request waits in their queue, for many minutes.
func (t *try) peek(buf []byte) (first []byte, err error) {
	n := 0
	for n < peekBytes && err == nil && len(bytes.TrimSpace(buf[:n])) == 0 {
		var k int
		k, err = t.resp.Body.Read(buf[n:])
		n += k
		t.w.hear(time.Now())
	}
	return buf[:n], err
}

func streamed(h http.Header, first []byte) bool {
	if packed(h) {
		return false
	}
	ct := strings.ToLower(h.Get("Content-Type"))
	if strings.HasPrefix(ct, "text/event-stream") {
		return true
	}
	return (ct == "" || strings.HasPrefix(ct, "text/plain")) && sse.Looks(first)
}

// packed says whether a body can't be read as it is.
func packed(h http.Header) bool {
	enc := h.Get("Content-Encoding")
	return enc != "" && !strings.EqualFold(enc, "identity")
}

// noAnswer makes an outcome of a 2xx that is a web page, empty, or no JSON.
func (t *try) noAnswer(first []byte) outcome {
	body := append([]byte(nil), first...)
	if bytes.HasPrefix(bytes.TrimLeft(body, "\ufeff \t\r\n"), []byte("<")) { // its title may stand past the first bytes
		body = append(body, upstream.ReadSome(t.resp.Body, pageBytes)...)
	}
	o := t.s.failed(t.c, failure.Seen{Phase: failure.PhaseReply, Status: t.resp.StatusCode, Header: t.resp.Header, Body: body})
	o.named(t.p.Name)
	return o
}
