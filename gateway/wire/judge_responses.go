package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire/sse"
)

type responsesEvent struct {
	Type     string          `json:"type"`
	Sequence int64           `json:"sequence_number"`
	Delta    json.RawMessage `json:"delta"`
	Code     *string         `json:"code"`
	Message  string          `json:"message"`
	Error    json.RawMessage `json:"error"`
	Buffered json.RawMessage `json:"safety_buffering"`
	Item     struct {
		Type string `json:"type"`
	} `json:"item"`
	Response *responsesReply `json:"response"`
}

type responsesReply struct {
	ID         string          `json:"id"`
	Object     string          `json:"object"`
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Usage      *responsesUsage `json:"usage"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
	} `json:"output"`
}

type responsesUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	InMore struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutMore struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) usage() Usage {
	return Usage{Input: u.Input, Output: u.Output, Reasoning: u.OutMore.Reasoning, CacheRead: u.InMore.Cached, CacheWrite: u.InMore.Written}
}

func (r *Reply) judgeResponses(name, data []byte) Class {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		return Content
	}
	var e responsesEvent
	if !decode(data, &e) {
		return Content
	}
	if e.Type == "" {
		e.Type = string(name)
	}
	r.Sequence = max(r.Sequence, e.Sequence)
	if e.Response != nil {
		r.responseFacts(e.Response)
	}
	if strings.HasPrefix(e.Type, besideEvents) {
		r.beside(data)
		return Lead
	}
	switch e.Type {
	case "response.created", "response.in_progress", "response.queued", "keepalive":
		return Lead
	case "response.metadata":
		if some(e.Buffered) || bytes.Contains(data, []byte(`"safety_buffering"`)) {
			return Buffering
		}
		return Lead
	case "error":
		if some(e.Error) {
			return r.fault(data, e.Error)
		}
		return r.fault(data, data)
	case "response.failed":
		if e.Response != nil {
			return r.fault(data, e.Response.Error)
		}
		return r.fault(data, e.Error)
	case "response.incomplete":
		r.Whole = true
		if e.Response != nil && e.Response.refused() && !r.Said {
			r.Refusal = "content_filter"
			return Refused
		}
		return Content
	case "response.completed":
		r.Whole = true
		return Content
	}
	return r.judgeItem(&e)
}

// judgeItem reads the events of items and parts.
func (r *Reply) judgeItem(e *responsesEvent) Class {
	switch {
	case e.Type == "":
		if some(e.Error) {
			return r.fault(e.Error, e.Error)
		}
		return Content
	case strings.HasPrefix(e.Type, "response.reasoning"):
		return Thinking
	case e.Type == "response.content_part.added":
		return Lead
	case e.Type == "response.output_item.added", e.Type == "response.output_item.done":
		switch e.Item.Type {
		case "reasoning":
			return Thinking
		case "message":
			if e.Type == "response.output_item.added" {
				return Lead
			}
		}
	case strings.HasSuffix(e.Type, ".delta") && !some(e.Delta):
		return Lead
	}
	r.Said = true
	return Content
}

func (p *responsesReply) refused() bool {
	return p.Incomplete != nil && p.Incomplete.Reason == "content_filter"
}

func (r *Reply) responseFacts(p *responsesReply) {
	if p.ID != "" {
		r.ID = p.ID
	}
	if p.Model != "" {
		r.Model = p.Model
	}
	if p.Usage != nil {
		r.Usage, r.Counted = p.Usage.usage(), true
	}
}

// besideEvents begin the types of events that tell of the account, among those of a reply.
const besideEvents = "codex."

// beside keeps what such an event says, unless it is longer than any that has something to say.
func (r *Reply) beside(data []byte) {
	if len(data) <= 64<<10 {
		r.Beside = bytes.Clone(data)
	}
}

func (r *Reply) noteResponses(event []byte) {
	if i := mark(event, `"sequence_number"`); i >= 0 {
		rest := bytes.TrimLeft(event[i:], ": ")
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		if seq, err := strconv.ParseInt(string(rest[:n]), 10, 64); err == nil {
			r.Sequence = seq
		}
	}
	k := kind(event)
	switch string(k) {
	case "response.completed", "response.incomplete", "response.failed", "response.created":
	default:
		if bytes.HasPrefix(k, []byte("response.")) {
			return
		}
	}
	if name, data := sse.Parse(event); data != nil {
		r.judgeResponses(name, data)
	}
}
