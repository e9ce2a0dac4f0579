package messages

import (
	"strings"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// reader follows a vendor's reply.
type reader struct {
	back    map[string]string // from names as they were sent to the client's
	free    map[string]bool   // the client's freeform tools
	blocks  map[int64]*reading
	calls   int // begun so far
	parts   int // blocks begun so far
	started bool
	usage   usage
	counted bool
	why     string // stop_reason
	finish  wire.Finish
	over    bool
	out     []wire.Event
}

func newReader(asked *wire.Ask) *reader {
	r := &reader{blocks: map[int64]*reading{}}
	if asked == nil {
		return r
	}
	r.back = wire.Restore(asked, wire.MessagesNames, wire.ChatNames)
	for i := range asked.Tools {
		if asked.Tools[i].Kind == wire.ToolFree {
			if r.free == nil {
				r.free = map[string]bool{}
			}
			r.free[asked.Tools[i].Name] = true
		}
	}
	return r
}

// event is one event's members.
type event struct {
	kind    string
	index   int64
	message wire.Value
	block   wire.Value
	delta   wire.Value
	usage   wire.Value
	fault   wire.Value
}

// Read takes one event of the stream. What it returns is good until the next call.
func (r *reader) Read(ev []byte) []wire.Event {
	name, data := sse.Parse(ev)
	if r.over || len(data) == 0 {
		return nil
	}
	r.out = r.out[:0]
	e, ok := readEvent(name, data)
	if !ok {
		if string(data) != "[DONE]" {
			r.fail("the vendor sent an event that can't be read")
		}
		return r.out
	}
	switch e.kind {
	case "message_start":
		r.start(e.message)
	case "content_block_start":
		r.blockStart(e.index, e.block)
	case "content_block_delta":
		r.delta(e.index, e.delta)
	case "content_block_stop":
		r.blockStop(e.index)
	case "message_delta":
		r.count(e.usage)
		r.stopped(e.delta)
	case "message_stop":
		r.stop()
	case "error":
		r.fault(e.fault)
	case "":
		if !e.fault.None() {
			r.fault(e.fault)
		}
	}
	return r.out
}

func readEvent(name, data []byte) (event, bool) {
	e := event{index: -1}
	w := wire.Walk(data)
	if w.Kind() != '{' {
		return e, false
	}
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			e.kind = w.Text()
		case "index":
			if n, ok := w.Int(); ok {
				e.index = n
			}
		case "message":
			e.message = wire.Value(w.Raw())
		case "content_block":
			e.block = wire.Value(w.Raw())
		case "delta":
			e.delta = wire.Value(w.Raw())
		case "usage":
			e.usage = wire.Value(w.Raw())
		case "error":
			e.fault = wire.Value(w.Raw())
		}
	})
	if e.kind == "" {
		e.kind = string(name)
	}
	return e, w.Err() == nil
}

func (r *reader) tell(e wire.Event) { r.out = append(r.out, e) }

// start begins the reply, at the latest before anything that is said.
func (r *reader) start(message wire.Value) {
	if r.started {
		return
	}
	r.started = true
	r.tell(wire.Event{Kind: wire.EventStart, ID: message.Get("id").Text(), Model: message.Get("model").Text()})
	r.count(message.Get("usage"))
	if r.counted {
		r.tell(wire.Event{Kind: wire.EventUsage, Usage: r.usage.total()})
	}
}

func (r *reader) count(v wire.Value) {
	if v.Kind() == '{' {
		r.usage.add(v)
		r.counted = true
	}
}

// stopped notes why the reply ends; the last that tells counts.
func (r *reader) stopped(v wire.Value) {
	why := v.Get("stop_reason").Text()
	if why == "" {
		return
	}
	r.why = why
	r.finish = finishOf(v, why)
}

func finishOf(v wire.Value, why string) wire.Finish {
	f := wire.Finish{Why: wire.FinishStop}
	switch why {
	case "stop_sequence":
		f.Why, f.String = wire.FinishString, v.Get("stop_sequence").Text()
	case "tool_use":
		f.Why = wire.FinishCalls
	case "max_tokens":
		f.Why = wire.FinishLength
	case "model_context_window_exceeded":
		f.Why = wire.FinishWindow
	case "pause_turn":
		f.Why = wire.FinishPause
	case "refusal":
		details := v.Get("stop_details")
		f.Why, f.Detail = wire.FinishWithheld, details.Get("explanation").Text()
		if f.Detail == "" {
			f.Detail = details.Get("category").Text()
		}
	}
	return f
}

// stop ends the reply: blocks first, then usage, then why.
func (r *reader) stop() {
	if r.over {
		return
	}
	r.start(nil)
	r.closeAll()
	if r.counted {
		r.tell(wire.Event{Kind: wire.EventUsage, Usage: r.usage.total()})
	}
	if r.finish.Why == "" || r.finish.Why == wire.FinishCalls && r.calls == 0 {
		r.finish.Why = wire.FinishStop
	}
	r.tell(wire.Event{Kind: wire.EventFinish, Finish: r.finish})
	r.over = true
}

// End is told that the stream is over. Without a word of why, it broke off.
func (r *reader) End() []wire.Event {
	if r.over {
		return nil
	}
	r.out = r.out[:0]
	if r.why != "" {
		r.stop()
		return r.out
	}
	r.fail("the vendor's stream broke off before its end")
	return r.out
}

// Whole takes a reply that came in one piece.
func (r *reader) Whole(body []byte) []wire.Event {
	if r.over {
		return nil
	}
	r.out = r.out[:0]
	v, err := wire.ReadValue(body)
	if err != nil || v.Kind() != '{' {
		r.fail("the vendor sent a reply that can't be read")
		return r.out
	}
	if fault := v.Get("error"); !fault.None() {
		r.fault(fault)
		return r.out
	}
	content := v.Get("content")
	if content.Kind() != '[' {
		r.fail("the vendor sent a reply without content")
		return r.out
	}
	r.start(v)
	index := int64(0)
	content.Elements(func(b wire.Value) {
		r.blockStart(index, b)
		r.blockStop(index)
		index++
	})
	r.stopped(v)
	r.stop()
	return r.out
}

// fail ends the reply for what the vendor did wrong.
func (r *reader) fail(words string) {
	r.failAs(&wire.Refusal{Status: 502, Words: words})
}

func (r *reader) failAs(f *wire.Refusal) {
	if r.over {
		return
	}
	r.over = true
	r.tell(wire.Event{Kind: wire.EventFail, Fail: f})
}

// faultStatus are the statuses of the API's kinds of errors.
var faultStatus = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "conflict_error": 409, "request_too_large": 413, "rate_limit_error": 429,
	"api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// fault reads an error, which may be an object or a bare word.
func (r *reader) fault(v wire.Value) {
	f := &wire.Refusal{Status: 502, Words: v.Get("message").Text(), Detail: v.Get("details").Get("error_code").Text()}
	kind := v.Get("type").Text()
	if status, ok := faultStatus[kind]; ok {
		f.Status = status
	}
	if f.Words == "" {
		f.Words = v.Text()
	}
	if f.Words == "" {
		f.Words = kind
	}
	if f.Words == "" {
		f.Words = "the vendor told an error without words"
	}
	if strings.Contains(strings.ToLower(f.Words), "prompt is too long") {
		f.Code = "context_length_exceeded" // agents of other APIs compact on it
	}
	r.failAs(f)
}

// usage is what the API counts: what was cached beside the input.
type usage struct{ input, output, read, written, thinking int64 }

// add takes what is told; what is left out stands. An end that counts no input at all does not
// take back what the beginning counted.
func (u *usage) add(v wire.Value) {
	before := *u
	split, told := int64(0), false
	v.Members(func(key string, n wire.Value) {
		switch key {
		case "input_tokens":
			take(&u.input, n)
		case "output_tokens":
			take(&u.output, n)
		case "cache_read_input_tokens":
			take(&u.read, n)
		case "cache_creation_input_tokens":
			told = told || !n.None()
			take(&u.written, n)
		case "cache_creation":
			n.Members(func(_ string, each wire.Value) {
				if k, ok := each.Int(); ok {
					split += k
				}
			})
		case "output_tokens_details":
			take(&u.thinking, n.Get("thinking_tokens"))
		}
	})
	if !told && split > 0 {
		u.written = split
	}
	if u.input+u.read+u.written == 0 {
		u.input, u.read, u.written = before.input, before.read, before.written
	}
}

func take(to *int64, v wire.Value) {
	if n, ok := v.Int(); ok && n >= 0 {
		*to = n
	}
}

func (u *usage) total() wire.Usage {
	return wire.Usage{Input: u.input + u.read + u.written, Output: u.output, Reasoning: u.thinking, CacheRead: u.read, CacheWrite: u.written}
}
