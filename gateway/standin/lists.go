package standin

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"strconv"
	"time"

	"dev.magpie/gateway/wire"
)

// released is when every model here came out.
var released = time.Date(2026, time.September, 1, 0, 0, 0, 0, time.UTC)

// listReply is the list of models in the API's shape.
func (v *Vendor) listReply(a *ask, r *http.Request) object {
	var all list
	for _, m := range v.models {
		all = append(all, v.modelReply(a.api, m))
	}
	if all == nil {
		all = list{}
	}
	switch a.api {
	case wire.Messages:
		return v.messagesPage(r)
	case wire.Gemini:
		return object{"models": all}
	case wire.Chat, wire.Responses:
	}
	return object{"object": "list", "data": all}
}

// messagesPage is one page of the list, as limit and after_id ask for it.
func (v *Vendor) messagesPage(r *http.Request) object {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit <= 0 {
		limit = 20
	}
	page, skipping := list{}, q.Get("after_id") != ""
	more := false
	for _, m := range v.models {
		switch {
		case skipping:
			skipping = m.id != q.Get("after_id")
		case len(page) == limit:
			more = true
		default:
			page = append(page, v.modelReply(wire.Messages, m))
		}
	}
	first, last := any(nil), any(nil)
	if len(page) > 0 {
		first, last = obj(page[0])["id"], obj(page[len(page)-1])["id"]
	}
	return object{"data": page, "has_more": more, "first_id": first, "last_id": last}
}

// modelReply is one model in the API's shape.
func (v *Vendor) modelReply(api wire.Protocol, m model) object {
	switch api {
	case wire.Messages:
		return object{"type": "model", "id": m.id, "display_name": pick(m.name, m.id), "created_at": released.Format(time.RFC3339), "max_input_tokens": m.context, "max_tokens": m.output}
	case wire.Gemini:
		actions := list{"generateContent", "countTokens"}
		if m.embeds {
			actions = list{"embedContent", "batchEmbedContents"}
		}
		return object{
			"name": "models/" + m.id, "displayName": pick(m.name, m.id), "description": pick(m.name, m.id), "version": "001", "inputTokenLimit": m.context,
			"outputTokenLimit": m.output, "supportedGenerationMethods": actions, "thinking": !m.embeds,
		}
	case wire.Chat, wire.Responses:
	}
	return object{"id": m.id, "object": "model", "created": released.Unix(), "owned_by": v.Name()}
}

// model answers a request for one model.
func (x *exchange) model(f Fault, a *ask) {
	m, p := x.v.known(a)
	if p != nil {
		x.object(p)
		return
	}
	x.whole(f, x.v.modelReply(a.api, m))
}

// countReply is a count of the prompt's tokens.
func (v *Vendor) countReply(a *ask) object {
	n := 0
	for _, p := range v.pieces(a) {
		n += p.tokens
	}
	switch a.api {
	case wire.Messages:
		return object{"input_tokens": n}
	case wire.Gemini:
		return object{"totalTokens": n, "promptTokensDetails": list{object{"modality": "TEXT", "tokenCount": n}}}
	case wire.Chat, wire.Responses:
	}
	return object{"object": "response.input_tokens", "input_tokens": n}
}

// embedReply are embeddings: short vectors that depend on the text alone.
func (v *Vendor) embedReply(a *ask, d door) object {
	if a.api == wire.Gemini {
		if d.verb == "embedContent" {
			return object{"embedding": object{"values": vector(string(marshal(a.tree["content"])), dimensions(a.tree["outputDimensionality"]))}}
		}
		all := list{}
		for _, r := range arr(a.tree["requests"]) {
			o := obj(r)
			all = append(all, object{"values": vector(string(marshal(o["content"])), dimensions(o["outputDimensionality"]))})
		}
		return object{"embeddings": all}
	}
	inputs := arr(a.tree["input"])
	if s, ok := a.tree["input"].(string); ok {
		inputs = list{s}
	} else if len(inputs) > 0 {
		if _, tokens := num(inputs[0]); tokens {
			inputs = list{inputs}
		}
	}
	data, tokens := list{}, 0
	for i, in := range inputs {
		words := fmt.Sprint(in)
		tokens += estimate(len(words))
		var e any = vector(words, dimensions(a.tree["dimensions"]))
		if a.tree["encoding_format"] == "base64" {
			e = packed(vector(words, dimensions(a.tree["dimensions"])))
		}
		data = append(data, object{"object": "embedding", "index": i, "embedding": e})
	}
	return object{"object": "list", "model": a.model, "data": data, "usage": object{"prompt_tokens": tokens, "total_tokens": tokens}}
}

// dimensions is how long a vector shall be, short unless asked.
func dimensions(v any) int {
	if n, ok := num(v); ok && n > 0 && n <= 4096 {
		return n
	}
	return 8
}

// vector is a vector of length one made from a text.
func vector(text string, n int) []float32 {
	out := make([]float32, n)
	sum := 0.0
	for i := range out {
		h := fnv.New32a()
		_, _ = fmt.Fprintf(h, "%d %s", i, text) // a hash takes everything
		out[i] = float32(h.Sum32()%2000)/1000 - 1
		sum += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(sum))
	}
	return out
}

// packed is a vector as little-endian floats in base64.
func packed(v []float32) string {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// stored answers for a stored response.
func (x *exchange) stored(d door) {
	conv, ok := x.v.stored.find(storedID{d.key, d.id})
	if !ok {
		x.object(&problem{status: http.StatusNotFound, why: WhyBad, words: "Response with id '" + d.id + "' not found."})
		return
	}
	if x.r.Method == http.MethodDelete {
		x.v.stored.forget(storedID{d.key, d.id})
		x.whole(Fault{}, object{"id": d.id, "object": "response", "deleted": true})
		return
	}
	x.send(Fault{}, "application/json", conv.body)
}

// compaction answers a request to compact the conversation: one sealed item.
func (x *exchange) compaction(a *ask, f Fault) {
	r := x.compose(a, f)
	r.think, r.calls, r.finish = "", nil, finishStop
	r.sealed = x.v.seal(a, "compacted: "+a.said())
	if a.stream && a.op == OpCreate && !f.Line.Whole {
		r.pieces = nil
		x.first(f)
		x.stream(f, a, x.v.responsesFrames(a, r))
		return
	}
	v := responsesWhole(a, r, responsesItemsOf(a, r))
	if a.op == OpCompact {
		v["object"] = "response.compaction"
	}
	x.whole(f, v)
}
