package standin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"mime"
	"net/http"
	"slices"
	"time"

	"dev.magpie/gateway/wire"
)

// exchange is one request being answered.
type exchange struct {
	v    *Vendor
	w    http.ResponseWriter
	r    *http.Request
	call *entry
	n    int
	api  wire.Protocol
	key  string
	id   string // of the request
	over bool   // all that was to be sent is sent
	left bool   // the client went before that
}

// close ends the call's record.
func (x *exchange) close() { x.call.end(x.left || !x.over && x.r.Context().Err() != nil) }

// serve walks the request through the house.
func (x *exchange) serve() {
	first := x.call.read()
	x.n, x.id = first.N, x.v.makeID("req_", first.N, "request")
	d, wrongPath := x.v.enter(x.r)
	x.api = d.api
	key, wrongKey := x.v.admit(x.r, d.api)
	x.key, d.key = key, key
	x.call.note(func(c *Call) {
		c.Key, c.API, c.Op, c.Model = key, d.api, d.op, d.model
		c.Leaks = x.v.leaks(x.r, c.Body, d.api)
	})
	if page := x.v.leftReply(x.r); page != nil && wrongKey == nil {
		x.whole(Fault{}, page)
		return
	}
	if p := firstProblem(wrongKey, wrongPath, x.unread(first)); p != nil {
		x.object(p)
		return
	}
	a, p := x.v.read(x.r, d, first.Body)
	x.call.note(func(c *Call) {
		if a != nil {
			c.Model, c.Stream = a.model, a.stream
		}
	})
	if p != nil {
		x.object(p)
		return
	}
	x.answer(a, d)
}

// unread is what the vendor says to a body that it can't take.
func (x *exchange) unread(c Call) *problem {
	switch enc := c.Header.Get("Content-Encoding"); {
	case x.call.readErr != nil:
		return bad("The body could not be read")
	case c.Method != http.MethodPost:
		return nil
	case enc != "":
		return &problem{status: http.StatusUnsupportedMediaType, why: WhyBad, words: "Unsupported content encoding: '" + enc + "'", code: "unsupported_content_encoding"}
	case !isJSONType(c.Header.Get("Content-Type")):
		return &problem{status: http.StatusUnsupportedMediaType, why: WhyBad, words: "Unsupported content type: '" + c.Header.Get("Content-Type") + "'. This API method only accepts 'application/json' requests.", code: "unsupported_content_type"}
	case len(c.Body) > 32<<20 && x.api == wire.Messages, len(c.Body) > 64<<20:
		return &problem{status: http.StatusRequestEntityTooLarge, why: WhyTooLarge, words: "Request exceeds the maximum size"}
	}
	return nil
}

// isJSONType tells a content type that says JSON.
func isJSONType(kind string) bool {
	name, _, err := mime.ParseMediaType(kind)
	return err == nil && name == "application/json"
}

// firstProblem is the first that there is.
func firstProblem(all ...*problem) *problem {
	for _, p := range all {
		if p != nil {
			return p
		}
	}
	return nil
}

// answer does what the key's script says, or answers well.
func (x *exchange) answer(a *ask, d door) {
	f := x.step(a)
	h := x.w.Header()
	x.v.tellWindows(h, x.key, f)
	x.v.usualHeaders(h, x.id, a)
	if x.short(f, a) {
		return
	}
	switch a.op {
	case OpCreate, OpCompact:
		x.reply(a, f)
	case OpCount:
		x.whole(f, x.v.countReply(a))
	case OpEmbed:
		x.whole(f, x.v.embedReply(a, d))
	case OpModels:
		x.whole(f, x.v.listReply(a, x.r))
	case OpModel:
		x.model(f, a)
	case OpStored:
		x.stored(d)
	case OpNone, OpAny:
	}
}

// step is what answers the request: the refusal of a full window, else the script's
// next step. The zero step is a good answer.
func (x *exchange) step(a *ask) Fault {
	if left := x.v.full(x.key); left > 0 && a.op == OpCreate {
		return QuotaFull("", left)
	}
	f, scripted := x.v.step(x.key, a)
	if scripted {
		x.call.note(func(c *Call) { c.Step = f.String() })
	}
	return f
}

// short does the steps that need no answer of the model, and tells whether it did.
func (x *exchange) short(f Fault, a *ask) bool {
	switch f.Do {
	case Refuse:
		x.first(f)
		r := x.v.refuse(f, x.occasion(a))
		if a.array && !bytes.HasPrefix(r.body, []byte("[")) {
			r.body = slices.Concat([]byte("["), r.body, []byte("]"))
		}
		x.refuse(r)
	case Page:
		x.first(f)
		x.page(f)
	case Empty:
		x.first(f)
		x.send(f, pick(f.Type, "application/json"), nil)
	case Raw:
		x.first(f)
		x.send(f, pick(f.Type, "application/json"), []byte(f.Body))
	case Drop:
		x.hangUp(false)
	case Answer, Error, Cut, Fin, Reset, Silence, Withhold:
		return false
	}
	return true
}

// occasion is what the words of a refusal may speak of.
func (x *exchange) occasion(a *ask) occasion {
	m, _ := x.v.model(a.model)
	return occasion{api: x.api, model: a.model, limit: m.context, tokens: max(estimate(len(a.body)), m.context+m.context/8), id: x.id, now: time.Now()}
}

// object refuses a request that the vendor finds wrong.
func (x *exchange) object(p *problem) {
	if p.status == 0 {
		asked := x.call.read().Model
		x.call.note(func(c *Call) { c.Refused = p.words })
		x.refuse(x.v.refuse(Status(0, p.why), occasion{api: x.api, model: asked, id: x.id, now: time.Now()}))
		return
	}
	p.id = x.id
	x.call.note(func(c *Call) { c.Refused = p.words })
	x.refuse(refusal{status: p.status, kind: "application/json", body: shapeError(x.api, *p)})
}

// refuse sends an error reply.
func (x *exchange) refuse(r refusal) {
	h := x.w.Header()
	x.v.usualHeaders(h, x.id, nil)
	for name, values := range r.header {
		name = http.CanonicalHeaderKey(name)
		if h[name] == nil { // what the key's windows tell stands
			h[name] = values
		}
	}
	x.send(Fault{Status: r.status}, r.kind, r.body)
}

// page sends a web page.
func (x *exchange) page(f Fault) {
	title := f.Title
	if title == "" {
		title = "Just a moment..."
	}
	body := fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en-US\"><head><title>%s</title></head>\n<body><p>Enable JavaScript and cookies to continue</p></body></html>\n", title)
	if f.Body != "" {
		body = f.Body
	}
	if f.Type == "text/event-stream" {
		body = "\n" + body
	}
	if f.Status == http.StatusForbidden || f.Status == http.StatusServiceUnavailable {
		x.w.Header().Set("Cf-Mitigated", "challenge")
	}
	x.w.Header().Set("Cf-Ray", x.id)
	x.send(f, pick(f.Type, "text/html; charset=UTF-8"), []byte(body))
}

// whole sends a JSON value, as the step wants it laid out.
func (x *exchange) whole(f Fault, v any) {
	x.first(f)
	x.sendWhole(f, marshal(v))
}

// usualHeaders are those of every reply.
func (v *Vendor) usualHeaders(h http.Header, id string, a *ask) {
	if v.speaks(wire.Messages) && v.house.words == "anthropic" {
		h.Set("Request-Id", id)
		h.Set("Anthropic-Organization-Id", "00000000-0000-4000-8000-000000000000")
	} else {
		h.Set("X-Request-Id", id)
	}
	if v.house.rates && a != nil {
		h.Set("X-Ratelimit-Limit-Requests", "10000")
		h.Set("X-Ratelimit-Remaining-Requests", "9999")
		h.Set("X-Ratelimit-Reset-Requests", "6ms")
		h.Set("Openai-Processing-Ms", "412")
		h.Set("Openai-Version", "2020-10-01")
	}
}

// makeID is an id of a kind for the n-th request, the same in every run.
func (v *Vendor) makeID(prefix string, n int, what string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", v.Name(), v.opts.Seed, n, what))
	return prefix + hex.EncodeToString(sum[:12])
}

// chance gives the n-th request its own run of numbers, the same in every run.
func (v *Vendor) chance(n int) *rand.Rand {
	return rand.New(rand.NewPCG(v.opts.Seed, uint64(n))) //nolint:gosec // the same in every run is what is wanted
}

// draw is a length between the bounds.
func (s Span) draw(r *rand.Rand) time.Duration {
	if s.Max <= s.Min {
		return s.Min
	}
	return s.Min + time.Duration(r.Int64N(int64(s.Max-s.Min)))
}
