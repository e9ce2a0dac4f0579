package wire

import (
	"bytes"
	"encoding/json"

	"dev.magpie/gateway/wire/sse"
)

type messagesEvent struct {
	Type    string          `json:"type"`
	Error   json.RawMessage `json:"error"`
	Message *messagesReply  `json:"message"`
	Usage   *messagesUsage  `json:"usage"`
	Block   struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"content_block"`
	Delta struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
		Partial  string `json:"partial_json"`
		Stop     string `json:"stop_reason"`
	} `json:"delta"`
}

type messagesReply struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Stop    string         `json:"stop_reason"`
	Usage   *messagesUsage `json:"usage"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

type messagesUsage struct {
	Input   *int64 `json:"input_tokens"`
	Output  *int64 `json:"output_tokens"`
	Read    *int64 `json:"cache_read_input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	OutMore struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// add folds a usage told later over one told before: what it leaves out stands, and so does all
// input where it counts none.
func (u *messagesUsage) add(to *Usage) {
	before := *to
	fresh := to.Input - to.CacheRead - to.CacheWrite
	set := func(v *int64, to *int64) {
		if v != nil {
			*to = *v
		}
	}
	set(u.Input, &fresh)
	set(u.Read, &to.CacheRead)
	set(u.Written, &to.CacheWrite)
	set(u.Output, &to.Output)
	to.Input = fresh + to.CacheRead + to.CacheWrite
	if to.Input == 0 {
		to.Input, to.CacheRead, to.CacheWrite = before.Input, before.CacheRead, before.CacheWrite
	}
	to.Reasoning = max(to.Reasoning, u.OutMore.Thinking)
}

func (r *Reply) judgeMessages(name, data []byte) Class {
	var e messagesEvent
	if !decode(data, &e) {
		return Content
	}
	if e.Type == "" {
		e.Type = string(name)
	}
	if e.Message != nil {
		r.messageFacts(e.Message)
	}
	if e.Usage != nil {
		e.Usage.add(&r.Usage)
		r.Counted = true
	}
	switch e.Type {
	case "message_start", "ping", "content_block_stop":
		return Lead
	case "error":
		return r.fault(data, e.Error)
	case "message_stop":
		r.Whole = true
		return Content
	case "message_delta":
		if e.Delta.Stop == "refusal" && !r.Said {
			r.Refusal = "refusal"
			return Refused
		}
		if e.Delta.Stop == "" {
			return Lead
		}
		r.Stopped = true
		return Content
	case "content_block_start":
		return r.judgeBlock(&e)
	case "content_block_delta":
		return r.judgeDelta(&e)
	}
	if some(e.Error) {
		return r.fault(data, e.Error)
	}
	return Content
}

func (r *Reply) judgeBlock(e *messagesEvent) Class {
	switch e.Block.Type {
	case "thinking", "redacted_thinking":
		return Thinking
	case "text":
		if e.Block.Text == "" {
			return Lead
		}
	}
	r.Said = true
	return Content
}

func (r *Reply) judgeDelta(e *messagesEvent) Class {
	switch e.Delta.Type {
	case "signature_delta":
		return Lead
	case "thinking_delta":
		if e.Delta.Thinking == "" {
			return Lead
		}
		return Thinking
	case "text_delta":
		if e.Delta.Text == "" {
			return Lead
		}
	case "input_json_delta":
		if e.Delta.Partial == "" {
			return Lead
		}
	}
	r.Said = true
	return Content
}

func (r *Reply) messageFacts(m *messagesReply) {
	if m.ID != "" {
		r.ID = m.ID
	}
	if m.Model != "" {
		r.Model = m.Model
	}
	if m.Usage != nil {
		m.Usage.add(&r.Usage)
		r.Counted = true
	}
}

func (r *Reply) noteMessages(event []byte) {
	k := kind(event)
	if bytes.HasPrefix(k, []byte("content_block")) || string(k) == "ping" {
		return
	}
	if name, data := sse.Parse(event); data != nil {
		r.judgeMessages(name, data)
	}
}
