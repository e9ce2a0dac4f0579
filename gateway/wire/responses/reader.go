package responses

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// reader turns a reply into neutral events. The vendor's items may come interleaved; the
// first that isn't done is told as it comes, those behind it wait for their turn.
type reader struct {
	free map[string]bool   // the asker's freeform tools
	back map[string]string // names that were shortened

	out     []wire.Event
	started bool
	ended   bool
	items   []*streamItem // in the order of their beginnings
	byIndex map[int]*streamItem
	byID    map[string]*streamItem
	head    int // the item that is told as it comes
	parts   int // pieces of text and reasoning so far
	calls   int
	called  bool // a call was told
	refused bool // a refusal was
}

var _ wire.Reader = (*reader)(nil)

func newReader(asked *wire.Ask) *reader {
	r := &reader{
		free: map[string]bool{}, back: wire.Restore(asked, wire.ResponsesNames),
		byIndex: map[int]*streamItem{}, byID: map[string]*streamItem{},
	}
	if asked == nil {
		return r
	}
	for i := range asked.Tools {
		if t := &asked.Tools[i]; t.Kind == wire.ToolFree && toolBy(asked, t.Name) == t {
			r.free[t.Name] = true
		}
	}
	return r
}

// streamed is one event of a vendor's stream.
type streamed struct {
	Type, Delta, ItemID, Text, Refusal, Arguments, Input, Name string

	index   int // output_index, -1 = not told
	content int // content_index or summary_index

	Item, Response, Part, Annotation, Error json.RawMessage
}

func parse(data []byte, e *streamed) bool {
	e.index = -1
	w := wire.Walk(data)
	if w.Kind() != '{' {
		return false
	}
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			e.Type = w.Text()
		case "delta":
			e.Delta = w.Text()
		case "item_id":
			e.ItemID = w.Text()
		case "output_index":
			if n, ok := w.Int(); ok {
				e.index = int(n)
			}
		case "content_index", "summary_index":
			n, _ := w.Int()
			e.content = int(n)
		default:
			e.more(key, w)
		}
	})
	return w.Err() == nil
}

func (e *streamed) more(key []byte, w *wire.Walker) {
	switch string(key) {
	case "text":
		e.Text = w.Text()
	case "refusal":
		e.Refusal = w.Text()
	case "arguments":
		e.Arguments = textOrRaw(w)
	case "input":
		e.Input = w.Text()
	case "name":
		e.Name = w.Text()
	case "item":
		e.Item = notNull(w.Raw())
	case "response":
		e.Response = notNull(w.Raw())
	case "part":
		e.Part = notNull(w.Raw())
	case "annotation":
		e.Annotation = notNull(w.Raw())
	case "error":
		e.Error = notNull(w.Raw())
	}
}

// Read takes one event of the stream.
func (r *reader) Read(event []byte) []wire.Event {
	if r.ended {
		return nil
	}
	name, data := sse.Parse(event)
	var e streamed
	if len(data) == 0 || !parse(data, &e) {
		return nil
	}
	if e.Type == "" {
		e.Type = string(name)
	}
	r.out = r.out[:0]
	r.event(&e, data)
	return r.out
}

func (r *reader) event(e *streamed, data []byte) {
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued":
		r.start(e.Response)
	case "response.output_item.added":
		r.added(e)
	case "response.output_item.done":
		it := readItem(e.Item)
		r.finishItem(r.at(e, it.Type, it.ID), &it)
	case "response.completed", "response.done", "response.incomplete":
		r.terminal(e.Response, e.Type == "response.incomplete")
	case "response.failed", "response.cancelled":
		r.fail(wire.Value(e.Response).Get("error"), e.Response)
	case "error":
		r.fault(e, data)
	case "":
		if e.Error != nil {
			r.fault(e, data)
		}
	default:
		r.body(e)
	}
}

func (r *reader) fault(e *streamed, data []byte) {
	if e.Error != nil {
		r.fail(wire.Value(e.Error), nil)
		return
	}
	r.fail(wire.Value(data), nil)
}

// body reads the events of what is in an item.
func (r *reader) body(e *streamed) {
	family, what, ok := cutLast(e.Type)
	if !ok {
		return
	}
	switch family {
	case "response.output_text":
		r.said(e, wire.EventText, what, e.Text)
	case "response.refusal":
		r.said(e, wire.EventRefusal, what, e.Refusal)
	case "response.reasoning_summary_text", "response.reasoning_text":
		raw := family == "response.reasoning_text"
		it := r.at(e, typeReasoning, e.ItemID)
		switch what {
		case "delta":
			r.thought(it, raw, e.content, e.Delta)
		case "done":
			r.fillThought(it, raw, e.content, e.Text)
		}
	case "response.output_text.annotation":
		if c, ok := readCite(wire.Walk(e.Annotation)); ok && what == "added" {
			it := r.at(e, typeMessage, e.ItemID)
			it.cited = true
			r.tell(it, &wire.Event{Kind: wire.EventCite, Cite: &c})
		}
	case "response.function_call_arguments":
		r.args(r.at(e, typeFunction, e.ItemID), e, what, e.Arguments)
	case "response.custom_tool_call_input":
		r.args(r.at(e, typeCustom, e.ItemID), e, what, e.Input)
	}
}

// cutLast cuts a type at its last point.
func cutLast(s string) (head, last string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

func (r *reader) said(e *streamed, kind wire.EventKind, what, whole string) {
	it := r.at(e, typeMessage, e.ItemID)
	switch what {
	case "delta":
		r.text(it, kind, e.content, e.Delta)
	case "done":
		r.fillText(it, kind, e.content, whole)
		it.ripe = true
	}
}

func (r *reader) args(it *streamItem, e *streamed, what, whole string) {
	switch what {
	case "delta":
		r.arg(it, e.Delta)
	case "done":
		if it.name == "" {
			it.name = e.Name
		}
		r.fillArgs(it, whole)
	}
}

// start tells that a reply begins, once.
func (r *reader) start(response json.RawMessage) {
	if r.started {
		return
	}
	r.started = true
	v := wire.Value(response)
	r.out = append(r.out, wire.Event{Kind: wire.EventStart, ID: v.Get("id").Text(), Model: v.Get("model").Text()})
}

// Whole takes a reply that came in one piece.
func (r *reader) Whole(body []byte) []wire.Event {
	if r.ended {
		return nil
	}
	r.out = r.out[:0]
	v, err := wire.ReadValue(body)
	if err != nil || v.Kind() != '{' {
		r.broken("the vendor's reply is not one of this API")
		return r.out
	}
	status := v.Get("status").Text()
	switch {
	case !v.Get("error").None():
		r.fail(v.Get("error"), json.RawMessage(v))
	case status == "failed" || status == "cancelled":
		r.fail(nil, json.RawMessage(v))
	case status == "in_progress" || status == "queued" || v.Get("output").Kind() != '[':
		r.broken("the vendor's reply is not finished")
	default:
		r.terminal(json.RawMessage(v), status == "incomplete")
	}
	return r.out
}

// End is told that the stream ended. A reply without its end is a failure.
func (r *reader) End() []wire.Event {
	if r.ended {
		return nil
	}
	r.out = r.out[:0]
	r.broken("the connection to the vendor was lost in the middle of its reply")
	return r.out
}

func (r *reader) broken(words string) {
	r.start(nil)
	r.ended = true
	r.out = append(r.out, wire.Event{Kind: wire.EventFail, Fail: &wire.Refusal{Status: 502, Code: "server_error", Words: words}})
}

// fail tells that the vendor gave up.
func (r *reader) fail(fault wire.Value, response json.RawMessage) {
	r.start(response)
	r.usage(wire.Value(response).Get("usage"))
	r.ended = true
	r.out = append(r.out, wire.Event{Kind: wire.EventFail, Fail: refusal(fault)})
}

// refusal is an error of a vendor as what the agent is told.
func refusal(fault wire.Value) *wire.Refusal {
	f := &wire.Refusal{Status: 502, Words: fault.Get("message").Text(), Code: fault.Get("code").Text(), Param: fault.Get("param").Text()}
	if fault.Kind() == '"' {
		f.Words = fault.Text()
	}
	if f.Words == "" {
		f.Words = "the vendor's reply failed, and it didn't say why"
	}
	kind := f.Code
	if kind == "" {
		kind = fault.Get("type").Text()
	}
	switch kind {
	case "rate_limit_exceeded", "rate_limit_error", "insufficient_quota", "usage_not_included", "usage_limit_reached":
		f.Status = 429
	case "context_length_exceeded", "invalid_prompt", "invalid_request_error", "invalid_value":
		f.Status = 400
	case "server_is_overloaded", "overloaded", "overloaded_error", "slow_down":
		f.Status = 503
	case "server_error":
		f.Status = 500
	case "authentication_error", "invalid_api_key":
		f.Status = 401
	}
	return f
}

// usage tells what the reply cost.
func (r *reader) usage(v wire.Value) {
	if v.Kind() != '{' {
		return
	}
	number := func(v wire.Value, key string) int64 {
		n, _ := v.Get(key).Int()
		return n
	}
	in, out := v.Get("input_tokens_details"), v.Get("output_tokens_details")
	r.out = append(r.out, wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{
		Input:      number(v, "input_tokens"),
		Output:     number(v, "output_tokens"),
		Reasoning:  number(out, "reasoning_tokens"),
		CacheRead:  number(in, "cached_tokens"),
		CacheWrite: number(in, "cache_write_tokens"),
	}})
}
