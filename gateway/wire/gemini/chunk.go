package gemini

import (
	"encoding/json"

	"dev.magpie/gateway/wire"
)

// chunk is one GenerateContentResponse: of its candidates the first counts.
type chunk struct {
	id, model string
	fault     json.RawMessage
	parts     []json.RawMessage
	finish    string
	block     string
	words     string // what the vendor says of the end
	ground    json.RawMessage
	usage     wire.Usage
	counted   bool
}

func (c *chunk) member(w *wire.Walker, key []byte) {
	switch string(key) {
	case "responseId":
		c.id = w.Text()
	case "modelVersion":
		c.model = w.Text()
	case "error":
		if raw := w.Raw(); !wire.Value(raw).None() {
			c.fault = raw
		}
	case "candidates":
		first := true
		w.Array(func() {
			if !first {
				w.Skip()
				return
			}
			first = false
			c.candidate(wire.Value(w.Raw()))
		})
	case "promptFeedback":
		v := wire.Value(w.Raw())
		if c.block = v.Get("blockReason").Text(); c.block == "BLOCK_REASON_UNSPECIFIED" {
			c.block = ""
		}
		if c.block != "" {
			c.words = v.Get("blockReasonMessage").Text()
		}
	case "usageMetadata":
		c.count(w)
	}
}

func (c *chunk) candidate(v wire.Value) {
	if n, ok := v.Get("index").Int(); ok && n != 0 {
		return
	}
	w := wire.Walk(v)
	w.Object(func(key []byte) {
		switch string(key) {
		case "content":
			w.Object(func(key []byte) {
				if string(key) == "parts" {
					w.Array(func() { c.parts = append(c.parts, w.Raw()) })
				}
			})
		case "finishReason":
			c.finish = w.Text()
		case "finishMessage":
			if words := w.Text(); c.words == "" {
				c.words = words
			}
		case "groundingMetadata":
			c.ground = w.Raw()
		}
	})
}

func (c *chunk) count(w *wire.Walker) {
	if w.Kind() != '{' {
		w.Skip()
		return
	}
	c.counted = true
	u := &c.usage
	w.Object(func(key []byte) {
		switch string(key) {
		case "promptTokenCount", "toolUsePromptTokenCount":
			u.Input += tokens(w)
		case "cachedContentTokenCount":
			u.CacheRead = tokens(w)
		case "candidatesTokenCount":
			u.Output += tokens(w)
		case "thoughtsTokenCount":
			u.Reasoning = tokens(w)
			u.Output += u.Reasoning
		}
	})
}

func tokens(w *wire.Walker) int64 {
	n, _ := w.Int()
	return max(0, n)
}

// replyPart is one part of a reply.
type replyPart struct {
	text    string
	thought bool
	sign    string
	call    *wire.Call
	media   *wire.Media
}

func (p *replyPart) member(w *wire.Walker, key []byte) {
	switch string(key) {
	case "text":
		p.text = w.Text()
	case "thought":
		p.thought = w.Bool()
	case "thoughtSignature":
		p.sign = w.Text()
	case "functionCall":
		p.call = call(w)
	case "inlineData":
		if m := blob(w); mediaKind(m.MIME) == wire.KindImage {
			p.media = m
		}
	case "fileData":
		if m := file(w); mediaKind(m.MIME) == wire.KindImage && m.URL != "" {
			p.media = m
		}
	case "executableCode", "codeExecutionResult":
		p.text = codeText(string(key), wire.Value(w.Raw())) + "\n"
	}
}
