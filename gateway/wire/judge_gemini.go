package wire

import (
	"encoding/json"

	"dev.magpie/gateway/wire/sse"
)

type geminiChunk struct {
	ID         string          `json:"responseId"`
	Model      string          `json:"modelVersion"`
	Error      json.RawMessage `json:"error"`
	Usage      *geminiUsage    `json:"usageMetadata"`
	Candidates []struct {
		Content struct {
			Parts []map[string]json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Feedback *struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
}

type geminiUsage struct {
	Prompt    int64 `json:"promptTokenCount"`
	Tool      int64 `json:"toolUsePromptTokenCount"`
	Cached    int64 `json:"cachedContentTokenCount"`
	Candidate int64 `json:"candidatesTokenCount"`
	Thoughts  int64 `json:"thoughtsTokenCount"`
}

func (u *geminiUsage) usage() Usage {
	return Usage{Input: u.Prompt + u.Tool, Output: u.Candidate + u.Thoughts, Reasoning: u.Thoughts, CacheRead: u.Cached}
}

// geminiRefusals are the reasons that end or block a reply for safety.
var geminiRefusals = map[string]bool{"SAFETY": true, "PROHIBITED_CONTENT": true, "BLOCKLIST": true, "SPII": true, "IMAGE_SAFETY": true, "RECITATION": true}

func (r *Reply) judgeGemini(data []byte) Class {
	var c geminiChunk
	if !decode(data, &c) {
		return Content
	}
	r.geminiFacts(&c)
	if some(c.Error) {
		return r.fault(data, c.Error)
	}
	class := Lead
	for i := range c.Candidates {
		for _, part := range c.Candidates[i].Content.Parts {
			class = max(class, judgePart(part))
		}
		if class == Content {
			r.Said = true
		}
		f := c.Candidates[i].Finish
		if geminiRefusals[f] && !r.Said {
			r.Refusal = f
			return Refused
		}
		if f != "" {
			r.ended, class = f, Content
		}
	}
	if c.Feedback != nil && c.Feedback.Block != "" {
		r.Whole = true
		if !r.Said {
			r.Refusal = c.Feedback.Block
			return Refused
		}
		return Content
	}
	if r.ended != "" {
		return r.spoke(class)
	}
	return class
}

// EmptyReply is the code of a reply that ended, and said nothing.
const EmptyReply = "empty_reply"

// brokenCalls are the ends of replies whose model could not make its call.
var brokenCalls = map[string]bool{
	"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "TOO_MANY_TOOL_CALLS": true, "MALFORMED_RESPONSE": true, "MISSING_THOUGHT_SIGNATURE": true,
}

// spoke makes a failure of a reply that ended well, or for no reason, and said nothing:
// it thought at the most. One that was cut or withheld is none.
func (r *Reply) spoke(class Class) Class {
	if r.Said || r.Fault != nil {
		return class
	}
	words := "the model's reply is empty"
	switch {
	case brokenCalls[r.ended]:
		words = "the model broke its reply off: " + r.ended
	case r.ended != "" && r.ended != "STOP" && r.ended != "FINISH_REASON_UNSPECIFIED":
		return class
	}
	raw := append(append([]byte(`{"error":{"code":502,"status":"UNAVAILABLE","message":`), Quote(words)...), "}}"...)
	r.Fault = &Fault{Code: EmptyReply, Words: words, Raw: raw}
	return Failed
}

func judgePart(part map[string]json.RawMessage) Class {
	if string(part["thought"]) == "true" {
		if some(part["text"]) {
			return Thinking
		}
		return Lead
	}
	for key, v := range part {
		if key != "thought" && key != "thoughtSignature" && some(v) {
			return Content
		}
	}
	return Lead
}

func (r *Reply) geminiFacts(c *geminiChunk) {
	if r.ID == "" {
		r.ID = c.ID
	}
	if c.Model != "" {
		r.Model = c.Model
	}
	if c.Usage != nil {
		r.Usage, r.Counted = c.Usage.usage(), true
	}
	for i := range c.Candidates {
		if f := c.Candidates[i].Finish; f != "" && f != "FINISH_REASON_UNSPECIFIED" {
			r.Whole = true
		}
	}
}

// What of a Gemini event has to be read when it only passes.
var geminiMarks = []markOf{{`error"`, "{"}, {`usageMetadata"`, "{"}, {`finishReason"`, "\""}, {`blockReason"`, "\""}}

// noteGemini keeps the newest event that tells usage: every one does, and the last counts.
func (r *Reply) noteGemini(event []byte) {
	bears := borne(event, geminiMarks)
	if bears&0b1100 != 0 {
		r.Whole = true
	}
	_, data := sse.Parse(event)
	if bears&0b0001 != 0 {
		r.judgeGemini(data)
	}
	if bears&0b0010 != 0 {
		r.usage = append(r.usage[:0], data...)
	}
}
