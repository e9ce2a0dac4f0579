package responses

import (
	"encoding/json"
	"strconv"

	"dev.magpie/gateway/wire"
)

// event begins an event; end ends it.
func (w *writer) event(name string) object {
	b := append(append(w.buf, "event: "...), name...)
	o := newObject(append(b, "\ndata: "...))
	o.key("type")
	o.b = append(append(append(o.b, '"'), name...), '"')
	o.key("sequence_number")
	o.b = strconv.AppendInt(o.b, w.seq, 10)
	w.seq++
	return o
}

func (w *writer) end(o object) { w.buf = append(o.end(), "\n\n"...) }

// bodyEvent begins an event of what is in the open item.
func (w *writer) bodyEvent(name string) object {
	o := w.event(name)
	o.str("item_id", w.open.id)
	o.int("output_index", int64(w.index))
	return o
}

// contentEvent begins an event of a part of the open message.
func (w *writer) contentEvent(name string) object {
	o := w.bodyEvent(name)
	o.int("content_index", int64(w.open.content))
	return o
}

// itemEvent tells an item.
func (w *writer) itemEvent(name string, item []byte) {
	o := w.event(name)
	o.int("output_index", int64(w.index))
	o.raw("item", item)
	w.end(o)
}

// doneItem tells that an item is whole, and keeps it for the reply's end.
func (w *writer) doneItem(item []byte) {
	w.itemEvent("response.output_item.done", item)
	if len(w.output) > 0 {
		w.output = append(w.output, ',')
	}
	w.output = append(w.output, item...)
	w.index++
	w.open = openItem{}
}

// progress tells of a reply that goes on.
func (w *writer) progress(name string) {
	o := w.event(name)
	o.key("response")
	o.b = w.response(o.b, reply{status: "in_progress"})
	w.end(o)
}

// terminal ends the reply.
func (w *writer) terminal(status, reason string, f *wire.Refusal) {
	w.over = true
	r := reply{status: status, reason: reason, fail: f, output: w.output, usage: true}
	if !w.o.Stream {
		r.echo = true
		w.buf = w.response(w.buf[:0], r)
		return
	}
	o := w.event("response." + status)
	o.key("response")
	o.b = w.response(o.b, r)
	w.end(o)
	w.output = nil
}

// reply is what of a response changes while it comes.
type reply struct {
	status, reason string
	fail           *wire.Refusal
	output         []byte
	usage          bool
	echo           bool // the request's tools are repeated
}

// response writes the response as it stands, with all fields that it must have.
func (w *writer) response(b []byte, r reply) []byte {
	o := newObject(b)
	o.str("id", w.id)
	if w.a.Alone {
		o.str("object", "response.compaction")
		o.int("created_at", w.o.Now)
		return w.outcome(&o, r)
	}
	o.str("object", "response")
	o.int("created_at", w.o.Now)
	o.str("status", r.status)
	o.bool("background", false)
	o.orNull("error", fault(r.fail))
	if r.reason == "" {
		o.lit("incomplete_details", "null")
	} else {
		o.lit("incomplete_details", `{"reason":"`+r.reason+`"}`)
	}
	w.echo(&o, r.echo)
	return w.outcome(&o, r)
}

// outcome writes what was made, and what it took.
func (w *writer) outcome(o *object, r reply) []byte {
	o.key("output")
	o.b = append(append(append(o.b, '['), r.output...), ']')
	if r.usage {
		w.usageOf(o)
	} else {
		o.lit("usage", "null")
	}
	return o.end()
}

// fault is why a reply failed, in the words of this API.
func fault(f *wire.Refusal) json.RawMessage {
	if f == nil {
		return nil
	}
	code := f.Code
	switch {
	case code == "" && f.Status == 429, code == "rate_limit_error":
		code = "rate_limit_exceeded"
	case code == "" && (f.Status == 400 || f.Status == 413 || f.Status == 422), code == "invalid_request_error":
		code = "invalid_prompt"
	case code == "" && f.Busy, code == "overloaded_error":
		code = "server_is_overloaded"
	case code == "", code == "api_error":
		code = "server_error"
	}
	o := newObject(nil)
	o.str("code", code)
	o.str("message", f.Words)
	return o.end()
}

// echo repeats the request.
func (w *writer) echo(o *object, tools bool) {
	a := w.a
	var instructions json.RawMessage
	if len(a.System) > 0 && tools {
		instructions = a.System[0].Raw
	}
	o.orNull("instructions", instructions)
	if a.Max != nil {
		o.int("max_output_tokens", *a.Max)
	} else {
		o.lit("max_output_tokens", "null")
	}
	if a.Metadata != nil {
		o.raw("metadata", oneLine(a.Metadata))
	} else {
		o.lit("metadata", "{}")
	}
	model := w.o.Model
	if model == "" {
		model = a.Model
	}
	o.str("model", model)
	o.bool("parallel_tool_calls", !a.OneCall)
	o.lit("previous_response_id", "null")
	in := newObject(nil)
	in.strOrNull("effort", a.Effort)
	in.lit("summary", "null")
	if a.Show == wire.ShowSummary {
		in.b = append(in.b[:len(in.b)-len("null")], `"auto"`...)
	}
	o.raw("reasoning", in.end())
	o.bool("store", false)
	o.orNull("temperature", json.RawMessage(a.Temperature))
	format := []byte(`{"type":"text"}`)
	if a.Format != nil {
		format = oneLine(writeFormat(a.Format))
	}
	in = newObject(nil)
	in.raw("format", format)
	in.some("verbosity", a.Verbosity)
	o.raw("text", in.end())
	w.echoTools(o, tools)
	o.orNull("top_p", json.RawMessage(a.TopP))
	o.str("truncation", "disabled")
}

// echoTools repeats the tools in a reply that comes in one piece; the events of a stream
// would repeat them three times.
func (w *writer) echoTools(o *object, tools bool) {
	var in object
	in.comma = true // it goes on behind what stands
	if tools {
		aw := &askWriter{a: w.a, t: &wire.Target{Dialect: wire.Dialect{Searches: []wire.Protocol{wire.Responses}}}}
		in.b = o.b
		aw.tools(&in)
		if aw.offered > 0 {
			o.b = in.b
			if w.a.Choice.Mode == wire.ChoiceUnsaid && w.a.Choice.Allowed == nil {
				o.str("tool_choice", "auto")
			}
			return
		}
	}
	o.str("tool_choice", "auto")
	o.lit("tools", "[]")
}

func (w *writer) usageOf(o *object) {
	u := &w.usage
	o.key("usage")
	in := newObject(o.b)
	in.int("input_tokens", u.Input)
	in.key("input_tokens_details")
	more := newObject(in.b)
	more.int("cached_tokens", u.CacheRead)
	more.int("cache_write_tokens", u.CacheWrite)
	in.b = more.end()
	in.int("output_tokens", u.Output)
	in.key("output_tokens_details")
	more = newObject(in.b)
	more.int("reasoning_tokens", u.Reasoning)
	in.b = more.end()
	in.int("total_tokens", u.Input+u.Output)
	o.b = in.end()
}
