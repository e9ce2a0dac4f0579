package wire

import (
	"bytes"
	"encoding/json"
)

// JudgeWhole reads a reply that came in one piece. It returns Refused for one that says
// nothing but a refusal, Failed for an error with a status of success, else Content.
func (r *Reply) JudgeWhole(body []byte) Class {
	if r.plain(body) {
		return Content
	}
	return r.judgeWhole(body)
}

// judgeWhole reads a reply in full.
func (r *Reply) judgeWhole(body []byte) Class {
	class := r.judgeAs(body)
	if class == Content && r.Whole && disguised(body, r.P) {
		class = r.fault(body, body)
	}
	r.Whole = r.Whole && json.Valid(body)
	return class
}

// answers are the fields of which a reply of each API has one.
var answers = map[Protocol][]string{
	Chat:      {"choices", "output"},
	Responses: {"output"},
	Messages:  {"content", "completion"},
	Gemini:    {"candidates", "promptFeedback", "usageMetadata"},
}

// errorFields are what an error of status 200 has that calls itself none.
var errorFields = []string{
	"code", "msg", "message", "error_code", "error_msg", "errcode", "errmsg", "status_code", "base_resp", "detail", "errors",
}

// disguised says whether a whole reply is an error in other clothes, or nothing at all:
// no field of an answer, and one of an error or none.
func disguised(body []byte, p Protocol) bool {
	if opening(body) == '[' {
		return string(bytes.TrimSpace(body)) == "[]"
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return false
	}
	for _, key := range answers[p] {
		if v, ok := top[key]; ok && string(v) != "null" {
			return false
		}
	}
	for _, key := range errorFields {
		if some(top[key]) {
			return true
		}
	}
	return len(top) == 0 || string(top["object"]) == `"error"`
}

// disguisedChunk says whether an event of a Chat stream is an error that calls itself none: it has no
// choices, and a word or a number of what is wrong.
func disguisedChunk(data []byte) bool {
	var top map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		return false
	}
	if v, ok := top["choices"]; ok && string(v) != "null" || fine(top["code"]) {
		return false
	}
	for _, key := range errorFields {
		if !some(top[key]) || fine(top[key]) {
			continue
		}
		if key != "base_resp" {
			return true
		}
		var base struct { // MiniMax has it in every reply
			Code json.RawMessage `json:"status_code"`
		}
		if json.Unmarshal(top[key], &base) == nil && some(base.Code) && !fine(base.Code) {
			return true
		}
	}
	return false
}

// fine says whether a code is one of success.
func fine(code json.RawMessage) bool {
	switch string(code) {
	case "0", `"0"`, "200", `"200"`:
		return true
	}
	return false
}

func (r *Reply) judgeAs(body []byte) Class {
	switch r.P {
	case Chat:
		class := r.judgeChat(body)
		r.Whole = true
		return settled(class)
	case Responses:
		return r.wholeResponse(body)
	case Messages:
		return r.wholeMessage(body)
	case Gemini:
		return r.wholeGemini(body)
	}
	return Content
}

func settled(c Class) Class {
	if c == Failed || c == Refused {
		return c
	}
	return Content
}

func (r *Reply) wholeResponse(body []byte) Class {
	var p responsesReply
	if !decode(body, &p) {
		return Content
	}
	r.responseFacts(&p)
	r.Whole = true
	if some(p.Error) {
		return r.fault(body, p.Error)
	}
	for i := range p.Output {
		if p.Output[i].Type != "reasoning" && (p.Output[i].Type != "message" || some(p.Output[i].Content)) {
			r.Said = true
		}
	}
	if p.refused() && !r.Said {
		r.Refusal = "content_filter"
		return Refused
	}
	return Content
}

func (r *Reply) wholeMessage(body []byte) Class {
	var m struct {
		messagesReply
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if !decode(body, &m) {
		return Content
	}
	r.messageFacts(&m.messagesReply)
	r.Whole = true
	if m.Type == "error" || some(m.Error) {
		return r.fault(body, m.Error)
	}
	for i := range m.Content {
		if t := m.Content[i].Type; t == "text" && m.Content[i].Text != "" || t != "text" && t != "thinking" && t != "redacted_thinking" {
			r.Said = true
		}
	}
	if m.Stop == "refusal" && !r.Said {
		r.Refusal = "refusal"
		return Refused
	}
	return Content
}

// wholeGemini reads one object, or the array that a stream without alt=sse is.
func (r *Reply) wholeGemini(body []byte) Class {
	defer func() { r.Whole = true }()
	if opening(body) != '[' {
		return r.endedGemini(settled(r.judgeGemini(body)), body)
	}
	var chunks []json.RawMessage
	if json.Unmarshal(body, &chunks) != nil {
		return Content
	}
	for _, c := range chunks {
		if class := r.judgeGemini(c); class == Failed || class == Refused {
			return class
		}
	}
	return r.endedGemini(Content, body)
}

// endedGemini looks at a reply that is all there: one that has candidates and said nothing failed.
func (r *Reply) endedGemini(class Class, body []byte) Class {
	if class == Content && !r.Said && bytes.Contains(body, []byte(`"candidates"`)) && json.Valid(body) {
		return r.spoke(class)
	}
	return class
}
