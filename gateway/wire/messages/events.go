package messages

import (
	"encoding/json"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// open begins an event of the stream, up to its type.
func (w *writer) open(name string) {
	w.buf = append(w.buf, "event: "...)
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, "\ndata: {\"type\":\""...)
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"')
}

func (w *writer) shut() { w.buf = append(w.buf, "}\n\n"...) }

// number writes the index of the block that is open.
func (w *writer) number(n int) {
	w.buf = append(w.buf, `,"index":`...)
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

func (w *writer) writeStart() {
	w.open("message_start")
	w.buf = append(w.buf, `,"message":{"id":`...)
	w.buf = wire.AppendQuoted(w.buf, w.o.ID)
	w.buf = append(w.buf, `,"type":"message","role":"assistant","model":`...)
	w.buf = wire.AppendQuoted(w.buf, w.o.Model)
	w.buf = append(w.buf, `,"content":[],"container":null,"diagnostics":null,"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":`...)
	u := w.usage
	if !w.counted {
		u.Input = w.o.Input
	}
	w.buf = appendUsage(w.buf, &u)
	w.buf = append(w.buf, '}')
	w.shut()
}

// appendUsage writes the counts: this API counts what was cached beside the input.
func appendUsage(b []byte, u *wire.Usage) []byte {
	b = append(b, `{"input_tokens":`...)
	b = strconv.AppendInt(b, max(0, u.Input-u.CacheRead-u.CacheWrite), 10)
	b = append(b, `,"output_tokens":`...)
	b = strconv.AppendInt(b, u.Output, 10)
	b = append(b, `,"cache_creation_input_tokens":`...)
	b = strconv.AppendInt(b, u.CacheWrite, 10)
	b = append(b, `,"cache_read_input_tokens":`...)
	b = strconv.AppendInt(b, u.CacheRead, 10)
	b = append(b, `,"cache_creation":null,"inference_geo":null,"output_tokens_details":`...)
	if u.Reasoning > 0 {
		b = append(b, `{"thinking_tokens":`...)
		b = append(strconv.AppendInt(b, u.Reasoning, 10), '}')
	} else {
		b = append(b, "null"...)
	}
	return append(b, `,"server_tool_use":null,"service_tier":null,"speed":null}`...)
}

// final are the counts at the end: the vendor's, else what can be guessed.
func (w *writer) final() *wire.Usage {
	u := w.usage
	if !w.counted {
		u.Input = w.o.Input
	}
	return &u
}

func (w *writer) writeStop(f wire.Finish) {
	w.open("message_delta")
	w.buf = append(w.buf, `,"delta":{"container":null,`...)
	w.buf = w.appendWhy(w.buf, &f)
	w.buf = append(w.buf, `},"usage":`...)
	w.buf = appendUsage(w.buf, w.final())
	w.shut()
	w.open("message_stop")
	w.shut()
}

// appendWhy writes why the reply ends.
func (w *writer) appendWhy(b []byte, f *wire.Finish) []byte {
	why := w.stopReason(f)
	b = append(b, `"stop_reason":"`+why+`","stop_sequence":`...)
	if why == "stop_sequence" {
		b = wire.AppendQuoted(b, f.String)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"stop_details":`...)
	if why != "refusal" || f.Explanation() == "" {
		return append(b, "null"...)
	}
	b = append(b, `{"type":"refusal","category":null,"explanation":`...)
	return append(wire.AppendQuoted(b, f.Detail), '}')
}

func (w *writer) writeBlockStart(p *pending) {
	if !w.o.Stream {
		w.whole = wholeBlock{}
		return
	}
	w.open("content_block_start")
	w.number(w.count)
	w.buf = append(w.buf, `,"content_block":{"type":`...)
	switch {
	case p.kind == pendText:
		w.buf = append(w.buf, `"text","text":"","citations":null`...)
	case p.kind == pendCall:
		w.buf = append(w.buf, `"tool_use","id":`...)
		w.buf = wire.AppendQuoted(w.buf, p.id)
		w.buf = append(w.buf, `,"name":`...)
		w.buf = wire.AppendQuoted(w.buf, p.name)
		w.buf = append(w.buf, `,"input":{},"caller":{"type":"direct"}`...)
	case p.redacted:
		w.buf = append(w.buf, `"redacted_thinking","data":`...)
		w.buf = wire.AppendQuoted(w.buf, p.seal)
	default:
		w.buf = append(w.buf, `"thinking","thinking":"","signature":""`...)
	}
	w.buf = append(w.buf, '}')
	w.shut()
}

// deltas are the names of the pieces of each kind of block, and of their text.
var deltas = [...]struct{ kind, field string }{
	pendText:     {"text_delta", "text"},
	pendThinking: {"thinking_delta", "thinking"},
	pendCall:     {"input_json_delta", "partial_json"},
}

// writeDelta writes a piece of the block that is open, and what its text rests on.
func (w *writer) writeDelta(p *pending, text string) {
	if !w.o.Stream {
		w.whole.text.WriteString(text)
		return
	}
	if text != "" {
		d := &deltas[p.kind]
		w.delta(d.kind, d.field, text)
	}
	for i := range p.cites {
		w.open("content_block_delta")
		w.number(w.count - 1)
		w.buf = append(w.buf, `,"delta":{"type":"citations_delta","citation":`...)
		w.buf = appendCite(w.buf, &p.cites[i])
		w.buf = append(w.buf, '}')
		w.shut()
	}
	p.cites = nil
}

func (w *writer) delta(kind, field, text string) {
	w.open("content_block_delta")
	w.number(w.count - 1)
	w.buf = append(w.buf, `,"delta":{"type":"`...)
	w.buf = append(w.buf, kind...)
	w.buf = append(w.buf, `","`...)
	w.buf = append(w.buf, field...)
	w.buf = append(w.buf, `":`...)
	w.buf = wire.AppendQuoted(w.buf, text)
	w.buf = append(w.buf, '}')
	w.shut()
}

func appendCite(b []byte, c *wire.Cite) []byte {
	b = append(b, `{"type":"web_search_result_location","url":`...)
	b = wire.AppendQuoted(b, c.URL)
	b = append(b, `,"title":`...)
	b = wire.AppendQuoted(b, c.Title)
	b = append(b, `,"encrypted_index":"","cited_text":`...)
	return append(wire.AppendQuoted(b, c.Text), '}')
}

func (w *writer) writeBlockEnd(p *pending) {
	if !w.o.Stream {
		w.keep(p)
		return
	}
	if p.kind == pendThinking && p.seal != "" && !p.redacted {
		w.delta("signature_delta", "signature", p.seal)
	}
	w.open("content_block_stop")
	w.number(w.count - 1)
	w.shut()
}

// wholeBlock gathers the block that is open, for a reply in one piece.
type wholeBlock struct{ text strings.Builder }

// keep adds a block that is over to the reply's content.
func (w *writer) keep(p *pending) {
	b := w.content
	if len(b) > 0 {
		b = append(b, ',')
	}
	text := w.whole.text.String()
	switch {
	case p.kind == pendText:
		b = append(b, `{"type":"text","text":`...)
		b = wire.AppendQuoted(b, text)
		b = append(b, `,"citations":`...)
		b = appendCites(b, p.cites)
	case p.kind == pendCall:
		b = append(b, `{"type":"tool_use","id":`...)
		b = wire.AppendQuoted(b, p.id)
		b = append(b, `,"name":`...)
		b = wire.AppendQuoted(b, p.name)
		b = append(b, `,"input":`...)
		b = append(b, objectArgs(json.RawMessage(text))...)
		b = append(b, `,"caller":{"type":"direct"}`...)
	case p.redacted:
		b = append(b, `{"type":"redacted_thinking","data":`...)
		b = wire.AppendQuoted(b, p.seal)
	default:
		b = append(b, `{"type":"thinking","thinking":`...)
		b = wire.AppendQuoted(b, text)
		b = append(b, `,"signature":`...)
		b = wire.AppendQuoted(b, p.seal)
	}
	w.content = append(b, '}')
}

func appendCites(b []byte, cites []wire.Cite) []byte {
	if len(cites) == 0 {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range cites {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCite(b, &cites[i])
	}
	return append(b, ']')
}

// writeWhole writes the reply in one piece.
func (w *writer) writeWhole(f wire.Finish) {
	b := append(make([]byte, 0, len(w.content)+512), `{"id":`...)
	b = wire.AppendQuoted(b, w.o.ID)
	b = append(b, `,"type":"message","role":"assistant","model":`...)
	b = wire.AppendQuoted(b, w.o.Model)
	b = append(b, `,"content":[`...)
	b = append(b, w.content...)
	b = append(b, `],"container":null,"diagnostics":null,`...)
	b = w.appendWhy(b, &f)
	b = append(b, `,"usage":`...)
	b = appendUsage(b, w.final())
	w.buf = append(b, '}')
}
