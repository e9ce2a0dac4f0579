package messages

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// reading is a block that is open.
type reading struct {
	kind  string
	part  int // its number among the blocks
	index int // of a call
	call  wire.Call
	args  strings.Builder
	input json.RawMessage // of a call, where it came with the block's beginning
	free  *wire.FreeDecoder
	seal  string
}

func (r *reader) blockStart(index int64, v wire.Value) {
	r.start(nil)
	r.blockStop(index) // one of that number may still be open
	b := &reading{kind: v.Get("type").Text(), part: r.parts}
	r.parts++
	r.blocks[index] = b
	switch b.kind {
	case "text":
		r.text(b, v.Get("text").Text())
		v.Get("citations").Elements(r.cite)
	case "thinking":
		r.thinking(b, v.Get("thinking").Text())
		b.seal = v.Get("signature").Text()
	case "redacted_thinking":
		r.redacted(v.Get("data").Text())
	case "tool_use":
		r.call(b, v)
	}
}

func (r *reader) text(b *reading, text string) {
	if text != "" {
		r.tell(wire.Event{Kind: wire.EventText, Text: text, Part: b.part})
	}
}

func (r *reader) thinking(b *reading, text string) {
	if text != "" {
		r.tell(wire.Event{Kind: wire.EventThinking, Text: text, Part: b.part})
	}
}

func (r *reader) redacted(data string) {
	if s := wire.ReadSeal(wire.Messages, data); s != nil {
		s.Redacted = true
		r.tell(wire.Event{Kind: wire.EventSeal, Seal: s})
	}
}

// call begins a call. Its name comes back as the client's; one without a name can't be made.
func (r *reader) call(b *reading, v wire.Value) {
	name := v.Get("name").Text()
	if name == "" {
		b.kind = ""
		return
	}
	if own, ok := r.back[name]; ok {
		name = own
	}
	b.index = r.calls
	r.calls++
	b.call = wire.Call{ID: v.Get("id").Text(), Name: name, Free: r.free[name]}
	if b.call.Free {
		b.free = &wire.FreeDecoder{}
	}
	if in := bytes.TrimSpace(v.Get("input")); len(in) > 0 && string(in) != "null" && string(in) != "{}" && string(in) != `""` {
		b.input = slices.Clone(in)
	}
	begun := b.call
	r.tell(wire.Event{Kind: wire.EventCall, Index: b.index, Call: &begun})
}

// delta takes a piece of a block. One of a block that never began begins it.
func (r *reader) delta(index int64, v wire.Value) {
	r.start(nil)
	kind := v.Get("type").Text()
	b := r.blocks[index]
	if b == nil {
		if b = r.unbegun(kind); b == nil {
			return
		}
		r.blocks[index] = b
	}
	switch kind {
	case "text_delta":
		r.text(b, v.Get("text").Text())
	case "thinking_delta":
		r.thinking(b, v.Get("thinking").Text())
	case "signature_delta":
		b.seal = v.Get("signature").Text()
	case "input_json_delta":
		if b.kind == "tool_use" {
			r.args(b, v.Get("partial_json").Text())
		}
	case "citations_delta":
		r.cite(v.Get("citation"))
	}
}

func (r *reader) unbegun(kind string) *reading {
	b := &reading{part: r.parts}
	switch kind {
	case "text_delta":
		b.kind = "text"
	case "thinking_delta":
		b.kind = "thinking"
	default:
		return nil
	}
	r.parts++
	return b
}

// args takes a piece of a call's input. What came with the block's beginning no longer counts.
func (r *reader) args(b *reading, piece string) {
	if piece == "" {
		return
	}
	b.input = nil
	b.args.WriteString(piece)
	if b.free != nil {
		piece = b.free.Add(piece)
	}
	if piece != "" {
		r.tell(wire.Event{Kind: wire.EventArgs, Index: b.index, Text: piece})
	}
}

func (r *reader) cite(v wire.Value) {
	url := v.Get("url").Text()
	if url == "" {
		return
	}
	r.tell(wire.Event{Kind: wire.EventCite, Cite: &wire.Cite{URL: url, Title: v.Get("title").Text(), Text: v.Get("cited_text").Text()}})
}

// blockStop closes a block, if it is open.
func (r *reader) blockStop(index int64) {
	b := r.blocks[index]
	if b == nil {
		return
	}
	delete(r.blocks, index)
	switch b.kind {
	case "thinking":
		if s := wire.ReadSeal(wire.Messages, b.seal); s != nil {
			r.tell(wire.Event{Kind: wire.EventSeal, Seal: s})
		}
	case "tool_use":
		r.callEnd(b)
	}
}

func (r *reader) callEnd(b *reading) {
	if b.input != nil {
		r.args(b, string(b.input))
	}
	whole := b.call
	switch {
	case b.free != nil:
		if rest := b.free.End(); rest != "" {
			r.tell(wire.Event{Kind: wire.EventArgs, Index: b.index, Text: rest})
		}
		whole.Input = wire.FreeInput(b.args.String())
	case b.args.Len() > 0:
		whole.Args = json.RawMessage(b.args.String())
	default:
		whole.Args = json.RawMessage("{}")
	}
	r.tell(wire.Event{Kind: wire.EventCallEnd, Index: b.index, Call: &whole})
}

// closeAll closes what is open, the first begun first.
func (r *reader) closeAll() {
	open := make([]int64, 0, len(r.blocks))
	for i := range r.blocks {
		open = append(open, i)
	}
	slices.Sort(open)
	for _, i := range open {
		r.blockStop(i)
	}
}
