package wire

import (
	"bytes"
	"encoding/json"

	"dev.magpie/gateway/wire/sse"
)

type chatChunk struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Usage   *chatUsage      `json:"usage"`
	Choices []struct {
		Delta   chatDelta  `json:"delta"`
		Message *chatDelta `json:"message"`
		Text    string     `json:"text"`
		Finish  *string    `json:"finish_reason"`
	} `json:"choices"`
}

type chatDelta struct {
	Content   json.RawMessage `json:"content"`
	Refusal   *string         `json:"refusal"`
	Reasoning json.RawMessage `json:"reasoning"`
	Thought   json.RawMessage `json:"reasoning_content"`
	Calls     json.RawMessage `json:"tool_calls"`
	Call      json.RawMessage `json:"function_call"`
	Audio     json.RawMessage `json:"audio"`
	Extra     struct {
		Google struct {
			Thought bool `json:"thought"`
		} `json:"google"`
	} `json:"extra_content"`
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	CacheHit   int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached     int64 `json:"cached_tokens"`           // Moonshot
	PromptMore struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutMore struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() Usage {
	return Usage{
		Input: u.Prompt, Output: u.Completion, Reasoning: u.OutMore.Reasoning,
		CacheRead: max(u.PromptMore.Cached, u.CacheHit, u.Cached), CacheWrite: u.PromptMore.Written,
	}
}

// some says whether a raw value holds something: no null, no empty string, list or object.
func some(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

func (d *chatDelta) said() bool {
	return some(d.Content) && !d.Extra.Google.Thought || some(d.Calls) || some(d.Call) || some(d.Audio) || d.Refusal != nil && *d.Refusal != ""
}

func (d *chatDelta) thought() bool {
	return some(d.Reasoning) || some(d.Thought) || d.Extra.Google.Thought && some(d.Content)
}

func (r *Reply) judgeChat(data []byte) Class {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		r.Whole = true
		return Content
	}
	var c chatChunk
	if !decode(data, &c) {
		return Content
	}
	r.chatFacts(&c)
	if some(c.Error) {
		return r.fault(data, c.Error)
	}
	class := Lead
	for i := range c.Choices {
		ch := &c.Choices[i]
		d := &ch.Delta
		if ch.Message != nil {
			d = ch.Message
		}
		switch {
		case d.said() || ch.Text != "":
			r.Said = true
			class = Content
		case ch.Finish != nil && *ch.Finish == "content_filter" && !r.Said:
			r.Refusal = "content_filter"
			return Refused
		case ch.Finish != nil && *ch.Finish != "":
			class = Content
		case d.thought():
			class = max(class, Thinking)
		}
	}
	if c.Usage != nil && len(c.Choices) == 0 {
		return Content
	}
	return class
}

func (r *Reply) chatFacts(c *chatChunk) {
	if r.ID == "" {
		r.ID = c.ID
	}
	if r.Model == "" {
		r.Model = c.Model
	}
	if c.Usage != nil {
		r.Usage, r.Counted = c.Usage.usage(), true
	}
	for i := range c.Choices {
		if f := c.Choices[i].Finish; f != nil && *f != "" {
			r.Whole = true
		}
	}
}

// What of a Chat event has to be read when it only passes.
var chatMarks = []markOf{{`usage"`, "{"}, {`error"`, "{\""}, {`finish_reason"`, "\""}}

func (r *Reply) noteChat(event []byte) {
	if bytes.Contains(event, []byte("[DONE]")) && bytes.HasPrefix(event, []byte("data")) {
		if _, data := sse.Parse(event); string(bytes.TrimSpace(data)) == "[DONE]" {
			r.Whole = true
			return
		}
	}
	switch bears := borne(event, chatMarks); {
	case bears&0b011 != 0:
		if _, data := sse.Parse(event); data != nil {
			r.judgeChat(data)
		}
	case bears != 0:
		r.Whole = true
	}
}

// fault notes an error event. An error that is a refusal in an error's clothes stays an
// error here: the failure table tells them apart.
func (r *Reply) fault(data []byte, raw json.RawMessage) Class {
	f := &Fault{Raw: bytes.Clone(data)}
	var e struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Status  string `json:"status"`
		Message string `json:"message"`
	}
	if decode(raw, &e) {
		f.Words = e.Message
		f.Code = e.Type
		if e.Status != "" {
			f.Code = e.Status
		}
		if s, ok := e.Code.(string); ok && s != "" {
			f.Code = s
		}
	} else {
		_ = json.Unmarshal(raw, &f.Words)
	}
	r.Fault = f
	return Failed
}
