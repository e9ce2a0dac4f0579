package wire

import (
	"maps"
	"strings"
	"testing"

	"dev.magpie/gateway/wire/sse"
)

// stream is one reply as its vendor sends it: each event, and what it means while held.
type stream struct {
	p       Protocol
	events  []string
	classes string // one letter an event: l b t f r c
	want    Facts
}

const letters = "lbtfrc"

var streams = map[string]stream{
	"chat text": {
		p: Chat,
		events: []string{
			`: OPENROUTER PROCESSING`,
			`data: {"id":"c1","model":"gpt-x-2026","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}`,
			`data: {"id":"c1","choices":[{"index":0,"delta":{"content":"he"},"finish_reason":null}]}`,
			`data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`data: {"id":"c1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":2}}}`,
			`data: [DONE]`,
		},
		classes: "llcccc",
		want:    Facts{ID: "c1", Model: "gpt-x-2026", Usage: Usage{Input: 10, Output: 4, Reasoning: 2, CacheRead: 6}, Counted: true, Said: true, Whole: true},
	},
	"chat reasoning, without the end mark": {
		p: Chat,
		events: []string{
			`data: {"id":"c1","model":"m","choices":[{"delta":{"role":"assistant"}}]}`,
			`data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}`,
			`data: {"choices":[{"delta":{"reasoning":"hm"}}]}`,
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":""}}]}}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
		},
		classes: "lttcc",
		want:    Facts{ID: "c1", Model: "m", Said: true, Whole: true},
	},
	"chat refused": {
		p:       Chat,
		events:  []string{`data: {"choices":[{"delta":{"role":"assistant"}}]}`, `data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}`},
		classes: "lr",
		want:    Facts{Whole: true, Refusal: "content_filter"},
	},
	"chat error at first": {
		p:       Chat,
		events:  []string{`data: {"error":{"message":"boom","type":"server_error","code":"overloaded"}}`},
		classes: "f",
		want:    Facts{Fault: &Fault{Code: "overloaded", Words: "boom"}},
	},
	"chat error that is a string": {
		p: Chat, events: []string{`data: {"error":"boom"}`}, classes: "f", want: Facts{Fault: &Fault{Words: "boom"}},
	},
	"chat with its vendor's word that all is well": {
		p: Chat,
		events: []string{
			`data: {"code":0,"msg":"ok"}`,
			`data: {"choices":[{"delta":{"content":"he"}}],"base_resp":{"status_code":0,"status_msg":""}}`,
			`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`,
			`data: {"choices":null,"usage":{"prompt_tokens":3,"completion_tokens":1},"base_resp":{"status_code":0,"status_msg":"success"}}`,
		},
		classes: "lccc",
		want:    Facts{Usage: Usage{Input: 3, Output: 1}, Counted: true, Said: true, Whole: true},
	},
	"responses text": {
		p: Responses,
		events: []string{
			"event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"r1\",\"model\":\"gpt-x\"}}",
			"event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":1,\"response\":{\"id\":\"r1\"}}",
			"event: codex.rate_limits\ndata: {\"type\":\"codex.rate_limits\"}",
			"event: response.metadata\ndata: {\"type\":\"response.metadata\",\"safety_buffering\":{\"on\":true}}",
			"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":2,\"item\":{\"type\":\"reasoning\"}}",
			"event: response.reasoning_summary_text.delta\ndata: {\"type\":\"response.reasoning_summary_text.delta\",\"sequence_number\":3,\"delta\":\"hm\"}",
			"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"sequence_number\":4,\"item\":{\"type\":\"message\"}}",
			"event: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"sequence_number\":5}",
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":6,\"delta\":\"he\"}",
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":7,\"response\":{\"id\":\"r1\",\"usage\":{\"input_tokens\":9,\"output_tokens\":3,\"input_tokens_details\":{\"cached_tokens\":4},\"output_tokens_details\":{\"reasoning_tokens\":1}}}}",
		},
		classes: "lllbttllcc",
		want: Facts{
			ID: "r1", Model: "gpt-x", Usage: Usage{Input: 9, Output: 3, Reasoning: 1, CacheRead: 4}, Counted: true, Said: true, Whole: true, Sequence: 7,
		},
	},
	"responses refused": {
		p: Responses,
		events: []string{
			`data: {"type":"response.created","response":{"id":"r1","model":"m"}}`,
			`data: {"type":"response.incomplete","sequence_number":3,"response":{"id":"r1","incomplete_details":{"reason":"content_filter"}}}`,
		},
		classes: "lr",
		want:    Facts{ID: "r1", Model: "m", Whole: true, Refusal: "content_filter", Sequence: 3},
	},
	"responses cut by length is whole": {
		p: Responses,
		events: []string{
			`data: {"type":"response.output_text.delta","delta":"x"}`,
			`data: {"type":"response.incomplete","response":{"id":"r1","incomplete_details":{"reason":"max_output_tokens"}}}`,
		},
		classes: "cc",
		want:    Facts{ID: "r1", Said: true, Whole: true},
	},
	"responses failed": {
		p: Responses,
		events: []string{
			"event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r1\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow\"}}}",
		},
		classes: "f",
		want:    Facts{ID: "r1", Fault: &Fault{Code: "rate_limit_exceeded", Words: "slow"}},
	},
	"responses error with its code at the top": {
		p: Responses, events: []string{"event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"boom\"}"}, classes: "f",
		want: Facts{Fault: &Fault{Code: "server_error", Words: "boom"}},
	},
	"messages with thinking": {
		p: Messages,
		events: []string{
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"claude-x\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":90,\"cache_creation_input_tokens\":7,\"output_tokens\":1}}}",
			"event: ping\ndata: {\"type\":\"ping\"}",
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}}",
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}",
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"he\"}}",
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":12}}",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}",
		},
		classes: "llttlllccc",
		want:    Facts{ID: "msg_1", Model: "claude-x", Usage: Usage{Input: 102, Output: 12, CacheRead: 90, CacheWrite: 7}, Counted: true, Said: true, Whole: true},
	},
	"messages refused after thinking": {
		p: Messages,
		events: []string{
			`data: {"type":"content_block_start","content_block":{"type":"redacted_thinking","data":"x"}}`,
			`data: {"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":2}}`,
		},
		classes: "tr",
		want:    Facts{Usage: Usage{Output: 2}, Counted: true, Refusal: "refusal"},
	},
	"messages a refusal after text is an end": {
		p: Messages,
		events: []string{
			`data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}`,
			`data: {"type":"message_delta","delta":{"stop_reason":"refusal"}}`,
			`data: {"type":"message_stop"}`,
		},
		classes: "ccc",
		want:    Facts{Said: true, Whole: true},
	},
	"messages error": {
		p: Messages, events: []string{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}"}, classes: "f",
		want: Facts{Fault: &Fault{Code: "overloaded_error", Words: "busy"}},
	},
	"messages error without its type": {
		p: Messages, events: []string{"event: error\ndata: {\"error\":{\"code\":\"1305\",\"message\":\"busy\"}}"}, classes: "f",
		want: Facts{Fault: &Fault{Code: "1305", Words: "busy"}},
	},
	"gemini": {
		p: Gemini,
		events: []string{
			`data: {"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}],"usageMetadata":{"promptTokenCount":8},"modelVersion":"gemini-x","responseId":"g1"}`,
			`data: {"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]}}],"modelVersion":"gemini-x","responseId":"g1"}`,
			`data: {"candidates":[{"content":{"parts":[{"text":"he"}]}}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":1}}`,
			`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8,"cachedContentTokenCount":3,"candidatesTokenCount":5,"thoughtsTokenCount":2}}`,
		},
		classes: "tlcc",
		want:    Facts{ID: "g1", Model: "gemini-x", Usage: Usage{Input: 8, Output: 7, Reasoning: 2, CacheRead: 3}, Counted: true, Said: true, Whole: true},
	},
	"gemini blocked": {
		p: Gemini, events: []string{`data: {"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`}, classes: "r", want: Facts{Whole: true, Refusal: "PROHIBITED_CONTENT"},
	},
	"gemini stopped for safety": {
		p: Gemini, events: []string{`data: {"candidates":[{"finishReason":"SAFETY"}]}`}, classes: "r", want: Facts{Whole: true, Refusal: "SAFETY"},
	},
	"gemini error": {
		p: Gemini, events: []string{`data: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`}, classes: "f", want: Facts{Fault: &Fault{Code: "UNAVAILABLE", Words: "busy"}},
	},
	"responses, keys in the order of the alphabet, a number where text should be": {
		p: Responses,
		events: []string{
			`data: {"response":{"id":"r1","model":5,"output":[]},"sequence_number":0,"type":"response.created"}`,
			`data: {"delta":"he","item_id":"x","sequence_number":1,"type":"response.output_text.delta"}`,
			`data: {"response":{"id":"r1","output":[{"content":[],"type":"message"}],"usage":{"input_tokens":3.5,"output_tokens":2}},"sequence_number":2,"type":"response.completed"}`,
		},
		classes: "lcc",
		want:    Facts{ID: "r1", Usage: Usage{Output: 2}, Counted: true, Said: true, Whole: true, Sequence: 2},
	},
	"responses error whose code is a number": {
		p: Responses, events: []string{"event: error\ndata: {\"type\":\"error\",\"code\":500,\"message\":\"boom\"}"}, classes: "f",
		want: Facts{Fault: &Fault{Code: "error", Words: "boom"}},
	},
	"messages, keys in the order of the alphabet": {
		p: Messages,
		events: []string{
			`data: {"delta":{"text":"he","type":"text_delta"},"index":0,"type":"content_block_delta"}`,
			`data: {"error":{"message":"busy","type":"overloaded_error"},"type":"error"}`,
		},
		classes: "cf",
		want:    Facts{Said: true, Fault: &Fault{Code: "overloaded_error", Words: "busy"}},
	},
	"messages with lines that end in CR": {
		p: Messages,
		events: []string{
			"event: content_block_delta\rdata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"he\"}}\r",
			"event: message_stop\rdata: {\"type\":\"message_stop\"}\r",
		},
		classes: "cc",
		want:    Facts{Said: true, Whole: true},
	},
	"chat with an id that is a number": {
		p: Chat,
		events: []string{
			`data: {"id":7,"model":"m","choices":[{"delta":{"role":"assistant"}}]}`,
			`data: {"id":7,"error":{"type":3,"message":"boom"}}`,
		},
		classes: "lf",
		want:    Facts{Model: "m", Fault: &Fault{Words: "boom"}},
	},
	"unreadable data is content": {p: Chat, events: []string{`data: {"choices`}, classes: "c", want: Facts{}},
}

// clothedErrors are errors that their API does not know as such.
var clothedErrors = map[string]stream{
	"chat error that its event names": {
		p: Chat, events: []string{"event: error\ndata: {\"message\":\"boom\",\"code\":\"busy\"}"}, classes: "f", want: Facts{Fault: &Fault{Code: "busy", Words: "boom"}},
	},
	"chat error that its event names, in plain words": {
		p: Chat, events: []string{"event:error\ndata: boom"}, classes: "f", want: Facts{Fault: &Fault{}},
	},
	"chat error of MiniMax's": {
		p: Chat, events: []string{`data: {"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`}, classes: "f", want: Facts{Fault: &Fault{}},
	},
	"gemini error that its event names": {
		p: Gemini, events: []string{"event: error\ndata: {\"message\":\"boom\"}"}, classes: "f", want: Facts{Fault: &Fault{Words: "boom"}},
	},
}

func TestEventsSayWhatTheyMeanWhileHeld(t *testing.T) {
	all := maps.Clone(streams)
	maps.Copy(all, clothedErrors)
	for name, s := range all {
		r := Reply{P: s.p}
		var got strings.Builder
		for _, ev := range s.events {
			got.WriteByte(letters[r.Judge([]byte(ev+"\n\n"))])
		}
		r.Finish()
		if got.String() != s.classes {
			t.Errorf("%s: %s, want %s", name, got.String(), s.classes)
		}
		same(t, name+" judged", r.Facts, s.want)
	}
}

// What passes is read for its marks alone: that must tell the same.
func TestAPassingReplyTellsTheSame(t *testing.T) {
	for name, s := range streams {
		r := Reply{P: s.p}
		for _, ev := range s.events {
			r.Note([]byte(ev + "\n\n"))
		}
		r.Finish()
		want := s.want
		r.Said, want.Said = false, false                    // nobody asks it of a passing reply
		r.Refusal, want.Refusal = "", ""                    // neither
		r.ID, r.Model, want.ID, want.Model = "", "", "", "" // told by the first, held events
		same(t, name+" noted", r.Facts, want)
	}
}

func TestAnErrorThatAnAgentWouldNotKnowEndsNoReplyThatPasses(t *testing.T) {
	for name, s := range clothedErrors {
		r := Reply{P: s.p}
		for _, ev := range s.events {
			r.Note([]byte(ev + "\n\n"))
		}
		if r.Fault != nil || r.Whole {
			t.Errorf("%s: %+v, whole %v", name, r.Fault, r.Whole)
		}
	}
}

func same(t *testing.T, name string, got, want Facts) {
	t.Helper()
	got.usage = nil
	if got.Fault != nil && want.Fault != nil {
		if got.Fault.Code != want.Fault.Code || got.Fault.Words != want.Fault.Words || len(got.Fault.Raw) == 0 {
			t.Errorf("%s: fault %+v, want %+v", name, got.Fault, want.Fault)
		}
		got.Fault, want.Fault = nil, nil
	}
	if got.Fault != nil || want.Fault != nil {
		t.Errorf("%s: fault %v, want %v", name, got.Fault, want.Fault)
		return
	}
	if got.ID != want.ID || got.Model != want.Model || got.Usage != want.Usage || got.Counted != want.Counted ||
		got.Said != want.Said || got.Whole != want.Whole || got.Refusal != want.Refusal || got.Sequence != want.Sequence {
		t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
	}
}

func TestAMarkInsideOfTextIsNoMark(t *testing.T) {
	for p, ev := range map[Protocol]string{
		Chat:     `data: {"choices":[{"delta":{"content":"{\"error\":{\"message\":\"x\"},\"finish_reason\":\"stop\",\"usage\":{\"prompt_tokens\":9}} [DONE]"}}]}`,
		Messages: `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"event: message_stop {\"type\":\"message_stop\"}"}}`,
		Gemini:   `data: {"candidates":[{"content":{"parts":[{"text":"\"finishReason\":\"STOP\",\"usageMetadata\":{\"promptTokenCount\":3}"}]}}]}`,
	} {
		r := Reply{P: p}
		r.Note([]byte(ev + "\n\n"))
		r.Finish()
		if r.Whole || r.Fault != nil || r.Counted {
			t.Errorf("%s: %+v", p, r.Facts)
		}
	}
}

func TestWholeRepliesAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		p     Protocol
		body  string
		class Class
		want  Facts
	}{
		"chat": {
			Chat, `{"id":"c1","model":"m","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"prompt_cache_hit_tokens":2}}`,
			Content,
			Facts{ID: "c1", Model: "m", Usage: Usage{Input: 3, Output: 1, CacheRead: 2}, Counted: true, Said: true, Whole: true},
		},
		"chat refused":                {Chat, `{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}`, Refused, Facts{Whole: true, Refusal: "content_filter"}},
		"chat an error of status 200": {Chat, `{"error":{"message":"no","code":"x"}}`, Failed, Facts{Whole: true, Fault: &Fault{Code: "x", Words: "no"}}},
		"responses": {
			Responses, `{"id":"r1","model":"m","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":1}}`,
			Content,
			Facts{ID: "r1", Model: "m", Usage: Usage{Input: 3, Output: 1}, Counted: true, Said: true, Whole: true},
		},
		"responses refused": {Responses, `{"id":"r1","output":[{"type":"reasoning"}],"incomplete_details":{"reason":"content_filter"}}`, Refused, Facts{ID: "r1", Whole: true, Refusal: "content_filter"}},
		"messages": {
			Messages, `{"id":"m1","type":"message","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}`,
			Content,
			Facts{ID: "m1", Model: "m", Usage: Usage{Input: 3, Output: 1}, Counted: true, Said: true, Whole: true},
		},
		"messages refused": {Messages, `{"type":"message","content":[{"type":"thinking"}],"stop_reason":"refusal"}`, Refused, Facts{Whole: true, Refusal: "refusal"}},
		"gemini's array":   {Gemini, `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2}}]`, Content, Facts{Usage: Usage{Input: 2}, Counted: true, Said: true, Whole: true}},
		"messages with a cache": {
			Messages, `{"id":"m1","model":"m","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":7}}}`,
			Content,
			Facts{ID: "m1", Model: "m", Usage: Usage{Input: 15, Output: 1, CacheRead: 5, CacheWrite: 7}, Counted: true, Said: true, Whole: true},
		},
		"gemini with thoughts": {
			Gemini, `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2,"thoughtsTokenCount":4,"candidatesTokenCount":1},"modelVersion":"g","responseId":"r"}`,
			Content,
			Facts{ID: "r", Model: "g", Usage: Usage{Input: 2, Output: 5, Reasoning: 4}, Counted: true, Said: true, Whole: true},
		},
		"gemini blocked": {Gemini, `{"promptFeedback":{"blockReason":"SAFETY"}}`, Refused, Facts{Whole: true, Refusal: "SAFETY"}},
		"chat with numbers where text should be": {
			Chat, `{"id":7,"model":null,"created":"now","choices":[{"message":{"content":"content_filter"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3.0,"completion_tokens":1}}`,
			Content,
			Facts{Usage: Usage{Output: 1}, Counted: true, Said: true, Whole: true},
		},
		"chat without an answer":                 {Chat, `{"code":401,"msg":"token invalid","data":null}`, Failed, Facts{Whole: true, Fault: &Fault{}}},
		"chat with null for an answer":           {Chat, `{"id":"x","choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, Failed, Facts{ID: "x", Whole: true, Fault: &Fault{}}},
		"messages with null for an answer":       {Messages, `{"id":"m","content":null,"code":500,"msg":"boom"}`, Failed, Facts{ID: "m", Whole: true, Fault: &Fault{}}},
		"responses, an object called an error":   {Responses, `{"object":"error","message":"boom","code":50001}`, Failed, Facts{Whole: true, Fault: &Fault{Words: "boom"}}},
		"messages, an error that is a number":    {Messages, `{"error":{"type":7,"message":"boom"}}`, Failed, Facts{Whole: true, Fault: &Fault{Words: "boom"}}},
		"messages, an empty object":              {Messages, ` {} `, Failed, Facts{Whole: true, Fault: &Fault{}}},
		"gemini, an empty list":                  {Gemini, `[]`, Failed, Facts{Whole: true, Fault: &Fault{}}},
		"chat, an empty list":                    {Chat, `[]`, Failed, Facts{Whole: true, Fault: &Fault{}}},
		"chat, a list":                           {Chat, `[{"choices":[]}]`, Content, Facts{Whole: true}},
		"gemini, blanks alone":                   {Gemini, " \n", Content, Facts{}},
		"messages whose answer speaks of errors": {Messages, `{"id":"m1","content":[{"type":"tool_use","input":{"error":"code"}}],"code":0}`, Content, Facts{ID: "m1", Said: true, Whole: true}},
		"embeddings":                             {Chat, `{"object":"list","model":"e","data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":5,"total_tokens":5}}`, Content, Facts{Model: "e", Usage: Usage{Input: 5}, Counted: true, Whole: true}},
		"no JSON at all":                         {Responses, `hello`, Content, Facts{}},
	} {
		r := Reply{P: c.p}
		if got := r.judgeWhole([]byte(c.body)); got != c.class {
			t.Errorf("%s: class %d, want %d", name, got, c.class)
		}
		same(t, name, r.Facts, c.want)
		// The walk that reads ordinary replies tells the same, but for whether anything was said.
		quick := Reply{P: c.p}
		if got := quick.JudgeWhole([]byte(c.body)); got != c.class {
			t.Errorf("%s, in one walk: class %d, want %d", name, got, c.class)
		}
		quick.Said, c.want.Said = false, false
		same(t, name+", in one walk", quick.Facts, c.want)
	}
}

func TestRefusalsReadInEachShape(t *testing.T) {
	ref := Refusal{Status: 429, Words: "all <rest> \"now\"", Code: "resting"}
	for p, want := range map[Protocol]string{
		Chat:      `{"error":{"message":"all <rest> \"now\"","type":"rate_limit_error","param":null,"code":"resting"}}`,
		Responses: `{"error":{"message":"all <rest> \"now\"","type":"rate_limit_error","param":null,"code":"resting"}}`,
		Messages:  `{"type":"error","error":{"type":"rate_limit_error","message":"all <rest> \"now\"","code":"resting"}}`,
		Gemini:    `{"error":{"code":429,"message":"all <rest> \"now\"","status":"RESOURCE_EXHAUSTED"}}`,
	} {
		if got := string(ref.Body(p)); got != want {
			t.Errorf("%s: %s", p, got)
		}
		if !valid(ref.Body(p)) {
			t.Errorf("%s: no JSON", p)
		}
	}
}

func TestAFailedStreamEndsInItsOwnGrammar(t *testing.T) {
	ref := Refusal{Status: 502, Words: "lost"}
	for name, c := range map[string]struct {
		p     Protocol
		begun bool
		want  []string
	}{
		"chat":                {Chat, true, []string{`data: {"error":{"message":"lost","type":"api_error"`}},
		"messages":            {Messages, true, []string{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"lost\"}}"}},
		"gemini":              {Gemini, true, []string{`data: {"error":{"code":502,"message":"lost","status":"UNAVAILABLE"}}`}},
		"responses":           {Responses, true, []string{"event: response.failed\n", `"sequence_number":8`, `"id":"r1"`, `"status":"failed","error":{"code":"server_error","message":"lost"}`}},
		"responses not begun": {Responses, false, []string{"event: response.created\n", `"sequence_number":0`, "event: response.failed\n", `"sequence_number":1`}},
	} {
		got := string(ref.Event(c.p, &Facts{ID: "r1", Model: "m", Sequence: 7}, c.begun))
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q lacks %q", name, got, part)
			}
		}
		if !strings.HasSuffix(got, "\n\n") {
			t.Errorf("%s: does not end its event", name)
		}
		var s sse.Splitter
		if err := s.Feed([]byte(got)); err != nil {
			t.Fatal(err)
		}
		s.Events(func(ev []byte) {
			if _, data := sse.Parse(ev); !valid(data) {
				t.Errorf("%s: %q is no JSON", name, data)
			}
		})
	}
}
