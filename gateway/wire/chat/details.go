package chat

import (
	"encoding/json"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// Seals have no place in this API. Where a client gives messages back as they came they
// travel in reasoning_details, as OpenRouter has them: each under our mark, with how many
// bytes of the reasoning text before it are its own.

// appendDetail appends a seal as an element of reasoning_details.
func appendDetail(b []byte, s *wire.Seal, vendor string, covers int) []byte {
	b = append(b, `{"type":"reasoning.encrypted","data":`...)
	b = wire.AppendQuoted(b, s.Mark(vendor))
	b = append(b, `,"bytes":`...)
	return append(strconv.AppendInt(b, int64(covers), 10), '}')
}

// detail is an element of reasoning_details.
type detail struct {
	Data    string `json:"data"`
	Text    string `json:"text"`
	Summary string `json:"summary"`
	Bytes   int    `json:"bytes"`
	Sign    string `json:"signature"`
	seal    *wire.Seal
}

// readThoughts makes parts of a message's reasoning: its text, and the seals beside it.
func readThoughts(text string, raw []byte) []wire.Part {
	var all []detail
	if raw != nil && json.Unmarshal(raw, &all) != nil {
		all = nil
	}
	if text == "" {
		for i := range all {
			text += all[i].Text + all[i].Summary
		}
	}
	if ours(all) {
		return sealed(text, all)
	}
	if text == "" && len(all) == 0 {
		return nil
	}
	p := wire.Part{Kind: wire.KindThinking, Text: text}
	if provable(all) {
		p.Seal = &wire.Seal{API: wire.Chat, Data: string(raw)}
	}
	return []wire.Part{p}
}

// ours says whether all of the details bear our mark, and takes the seals out.
func ours(all []detail) bool {
	for i := range all {
		s := wire.ReadSeal(wire.Chat, all[i].Data)
		if s == nil || s.API == wire.Chat && s.Data == all[i].Data {
			return false
		}
		all[i].seal = s
	}
	return len(all) > 0
}

// provable says whether there is more to details than their text.
func provable(all []detail) bool {
	for i := range all {
		if all[i].Data != "" || all[i].Sign != "" {
			return true
		}
	}
	return false
}

// sealed cuts the text where the seals do.
func sealed(text string, all []detail) []wire.Part {
	parts := make([]wire.Part, 0, len(all)+1)
	for i := range all {
		n := min(max(all[i].Bytes, 0), len(text))
		parts = append(parts, wire.Part{Kind: wire.KindThinking, Text: text[:n], Seal: all[i].seal})
		text = text[n:]
	}
	if text != "" {
		parts = append(parts, wire.Part{Kind: wire.KindThinking, Text: text})
	}
	return parts
}

// details gathers reasoning_details that come in pieces: those of one type and index are one.
type details struct {
	all []*heldDetail
}

// heldDetail is an element of reasoning_details as it grows. What it is beyond its texts
// and proofs is kept as it came.
type heldDetail struct {
	kind, index          string
	text, summary, proof strings.Builder
	data                 string
	rest                 out
}

// add takes a delta's details and returns the text that they tell.
func (d *details) add(raw []byte) string {
	var told strings.Builder
	w := wire.Walk(raw)
	w.Array(func() {
		el := wire.Value(w.Raw())
		h := d.find(el.Get("type").Text(), string(el.Get("index")))
		el.Members(func(key string, v wire.Value) {
			switch key {
			case "type", "index":
			case "text":
				h.text.WriteString(v.Text())
				told.WriteString(v.Text())
			case "summary":
				h.summary.WriteString(v.Text())
				told.WriteString(v.Text())
			case "signature":
				h.proof.WriteString(v.Text())
			case "data":
				h.data += v.Text()
			default:
				if h.rest.b == nil || wire.Value(append(h.rest.b[:len(h.rest.b):len(h.rest.b)], '}')).Get(key) == nil {
					if h.rest.b == nil {
						h.rest.open('{')
					}
					h.rest.raw(key, v)
				}
			}
		})
	})
	return told.String()
}

func (d *details) find(kind, index string) *heldDetail {
	for _, h := range d.all {
		if h.kind == kind && h.index == index && kind != "reasoning.encrypted" {
			return h
		}
	}
	h := &heldDetail{kind: kind, index: index}
	d.all = append(d.all, h)
	return h
}

// take gives what was gathered, as the vendor wants it back, and forgets it; "" when no
// proof is among it.
func (d *details) take() string {
	provable := false
	for _, h := range d.all {
		provable = provable || h.data != "" || h.proof.Len() > 0
	}
	if !provable {
		return ""
	}
	var o out
	o.open('[')
	for _, h := range d.all {
		o.item()
		o.open('{')
		o.str("type", h.kind)
		if h.index != "" {
			o.raw("index", []byte(h.index))
		}
		o.strIf("text", h.text.String())
		o.strIf("summary", h.summary.String())
		o.strIf("data", h.data)
		o.strIf("signature", h.proof.String())
		if len(h.rest.b) > 1 {
			o.b = append(append(o.b, ','), h.rest.b[1:]...)
		}
		o.close('}')
	}
	o.close(']')
	d.all = nil
	return string(o.b)
}
