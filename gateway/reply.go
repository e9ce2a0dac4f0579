package gateway

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
)

// reply is the agent's side of one request: what was sent, under one lock, since the
// try and its watcher both write. It outlives the tries.
type reply struct {
	mu  sync.Mutex
	w   http.ResponseWriter
	api wire.Protocol
	id  string // X-Magpie-Request

	begun  bool // status and headers are out
	status int
	passed bool      // bytes of a vendor's reply are out
	line   bool      // the last byte was the end of a line
	wrote  time.Time // the last write
	sent   int64
	err    error     // the first failed write: the agent is gone
	back   *restorer // of a reply to a masked request
	short  bool      // the reply ends before its end: the agent's connection must too

	timer   *time.Timer // the watcher's
	stopped bool
	watched *watched // the try that is watched, nil between two
}

func (r *reply) to(w http.ResponseWriter, a *ask, id int64) {
	r.w, r.api, r.id = w, a.api, strconv.FormatInt(id, 10)
}

// keepalive is a comment that every API but Gemini's allows between events.
var keepalive = []byte(": keepalive\n")

// beginStream sends status and headers of an event stream before any vendor answered.
func (r *reply) beginStream() {
	if r.begun {
		return
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	streamHeaders(h)
	h["X-Magpie-Request"] = []string{r.id}
	if r.api == wire.Messages {
		nameRequest(h, "") // an error in it can't name another any more
	}
	r.begun, r.status = true, http.StatusOK
	r.w.WriteHeader(http.StatusOK)
}

// Header values that never change are never written either.
var noCache, noBuffer = []string{"no-cache"}, []string{"no"}

func streamHeaders(h http.Header) {
	h["Cache-Control"], h["X-Accel-Buffering"] = noCache, noBuffer
}

// passedOn are the vendor's headers that the agent gets.
var passedOn = []string{"Content-Type", "Content-Encoding", "Request-Id", "X-Request-Id"}

// eventType is what a stream is where its vendor names no type.
var eventType = []string{"text/event-stream"}

// beginPass sends the vendor's status and headers, unless a stream's are out already. kind
// is the type of a reply whose vendor names none, nil for one that we can't tell.
func (r *reply) beginPass(resp *http.Response, c *trace.Candidate, length int64, kind []string) {
	if r.begun {
		return
	}
	h := r.w.Header()
	h["Content-Type"] = kind // net/http would guess by the first bytes
	for _, name := range passedOn {
		if v := resp.Header[name]; len(v) > 0 {
			h[name] = v
		}
	}
	own := [...]string{c.Provider, headerValue(c.Model), r.id, ""} // one piece of memory for all
	h["X-Magpie-Provider"], h["X-Magpie-Model"], h["X-Magpie-Request"] = own[0:1:1], own[1:2:2], own[2:3:3]
	if len(kind) > 0 && kind[0] == eventType[0] || strings.HasPrefix(h.Get("Content-Type"), eventType[0]) {
		streamHeaders(h)
	}
	if length >= 0 {
		own[3] = strconv.FormatInt(length, 10)
		h["Content-Length"] = own[3:4:4]
	}
	r.begun, r.status = true, resp.StatusCode
	r.w.WriteHeader(resp.StatusCode)
}

// beginTranslated sends the headers of a translated reply. The vendor's own say nothing of it.
func (r *reply) beginTranslated(resp *http.Response, c *trace.Candidate, x *translation, length int64) {
	if r.begun {
		return
	}
	h := r.w.Header()
	for _, name := range []string{"Request-Id", "X-Request-Id"} {
		if v := resp.Header[name]; len(v) > 0 {
			h[name] = v
		}
	}
	h["Content-Type"] = []string{x.contentType()}
	x.request = cmp.Or(h.Get(requestHeader), x.request)
	own := [...]string{c.Provider, headerValue(c.Model), r.id}
	h["X-Magpie-Provider"], h["X-Magpie-Model"], h["X-Magpie-Request"] = own[0:1:1], own[1:2:2], own[2:3:3]
	if x.stream {
		streamHeaders(h)
	}
	if length >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	r.begun, r.status = true, http.StatusOK
	r.w.WriteHeader(http.StatusOK)
}

// headerValue makes a model's id fit a header: agents' libraries give a whole reply up for
// one that holds a control character, or is very long.
func headerValue(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return '?'
		}
		return c
	}, bounded(s))
}

// write sends b; the first failure stays. flush sends what net/http still holds.
func (r *reply) write(b []byte, flush bool) {
	if r.err != nil || len(b) == 0 {
		return
	}
	began := time.Now()
	n, err := r.w.Write(b)
	r.sent += int64(n)
	if err == nil && flush {
		err = http.NewResponseController(r.w).Flush()
	}
	r.err = err
	if w := r.watched; w != nil {
		w.waited(began)
	}
	r.line = b[len(b)-1] == '\n'
}

// refuse ends the reply with a refusal: whole, or as an event where a stream has begun.
func (r *reply) refuse(ref *wire.Refusal, facts *wire.Facts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		r.begun, r.status = true, ref.Status
		r.w.Header()["X-Magpie-Request"] = []string{r.id}
		writeRefusal(r.w, r.api, ref)
		return
	}
	if r.short { // it is no stream that an error could end
		return
	}
	if !r.line && r.sent > 0 {
		r.write([]byte("\n\n"), false)
	}
	if r.api == wire.Messages {
		named := *ref
		named.Request = cmp.Or(r.w.Header().Get(requestHeader), ownRequest(r.id))
		ref = &named
	}
	r.write(ref.Event(r.api, facts, r.passed), true)
}

// passable returns those of an error's headers that the agent gets, without secrets: a vendor
// that names the key that it refuses may do so anywhere.
func (g *Gateway) passable(h http.Header) http.Header {
	out := make(http.Header, len(passedOn))
	for _, name := range passedOn {
		for _, v := range h[name] {
			out[name] = append(out[name], g.masker.Mask(v))
		}
	}
	return out
}

// relayError ends the reply with the vendor's own error bytes, under the names of whoever
// sent them.
func (r *reply) relayError(status int, o *outcome, retry int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.w.Header()
	h["Content-Type"] = jsonType
	for _, name := range passedOn {
		if v := o.reply.header[name]; len(v) > 0 {
			h[name] = v
		}
	}
	h["X-Magpie-Provider"], h["X-Magpie-Model"], h["X-Magpie-Request"] = []string{o.of.Provider}, []string{headerValue(o.of.Model)}, []string{r.id}
	body := o.reply.body
	if r.api == wire.Messages {
		body = naming(body, nameRequest(h, o.request))
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if retry > 0 {
		h.Set("Retry-After", strconv.FormatInt(retry, 10))
	}
	r.begun, r.status = true, status
	r.w.WriteHeader(status)
	r.write(body, false)
}

// cutShort has the agent's connection broken off: an end would make half a reply whole.
func (r *reply) cutShort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.short = true
}

// isShort says whether the agent's connection is to be broken off.
func (r *reply) isShort() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.short
}

// headersOut says whether the agent was told a status already.
func (r *reply) headersOut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.begun
}
