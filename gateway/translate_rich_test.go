package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// rich are one reply in each API: reasoning, a text, and two calls at once.
var rich = map[string]string{
	"chat": eventsOf("chat", deltaLine(`{"role":"assistant","content":"","reasoning_content":"thi"}`), deltaLine(`{"reasoning_content":"nk"}`), deltaLine(`{"content":"Text."}`),
		deltaLine(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"p\":"}}]}`), deltaLine(`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"read","arguments":"{}"}}]}`),
		deltaLine(`{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}`), finishCalls,
		`{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70,"prompt_tokens_details":{"cached_tokens":30},"completion_tokens_details":{"reasoning_tokens":7}}}`, "[DONE]"),
	"messages": eventsOf("messages", `message_start {"message":{"id":"m","content":[],"usage":{"input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}`,
		`content_block_start {"index":0,"content_block":{"type":"thinking","thinking":""}}`, `content_block_delta {"index":0,"delta":{"type":"thinking_delta","thinking":"think"}}`, `content_block_stop {"index":0}`,
		`content_block_start {"index":1,"content_block":{"type":"text","text":""}}`, `content_block_delta {"index":1,"delta":{"type":"text_delta","text":"Text."}}`, `content_block_stop {"index":1}`,
		`content_block_start {"index":2,"content_block":{"type":"tool_use","id":"call_a","name":"read","input":{}}}`, `content_block_start {"index":3,"content_block":{"type":"tool_use","id":"call_b","name":"read","input":{}}}`,
		`content_block_delta {"index":3,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `content_block_delta {"index":2,"delta":{"type":"input_json_delta","partial_json":"{\"p\":\"a\"}"}}`,
		`content_block_stop {"index":3}`, `content_block_stop {"index":2}`, `message_delta {"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20,"output_tokens_details":{"thinking_tokens":7}}}`, "message_stop"),
	"responses": eventsOf("responses", `response.created {"response":{"id":"r","status":"in_progress","output":[]}}`,
		`response.output_item.done {"output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"think"}]}}`,
		`response.output_item.added {"output_index":1,"item":{"type":"message","id":"i","role":"assistant","content":[]}}`, `response.output_text.delta {"output_index":1,"content_index":0,"item_id":"i","delta":"Text."}`,
		`response.output_item.done {"output_index":1,"item":{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"Text."}]}}`,
		`response.output_item.added {"output_index":2,"item":{"type":"function_call","id":"f","call_id":"call_a","name":"read","arguments":""}}`,
		`response.output_item.added {"output_index":3,"item":{"type":"function_call","id":"g","call_id":"call_b","name":"read","arguments":""}}`,
		`response.function_call_arguments.done {"output_index":3,"item_id":"g","arguments":"{}"}`, `response.function_call_arguments.delta {"output_index":2,"item_id":"f","delta":"{\"p\":\"a\"}"}`,
		`response.output_item.done {"output_index":3,"item":{"type":"function_call","id":"g","call_id":"call_b","name":"read","arguments":"{}"}}`,
		`response.output_item.done {"output_index":2,"item":{"type":"function_call","id":"f","call_id":"call_a","name":"read","arguments":"{\"p\":\"a\"}"}}`,
		`response.completed {"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":30},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":7}}}}`),
	"gemini": eventsOf("gemini", `{"candidates":[{"content":{"role":"model","parts":[{"text":"think","thought":true}]}}]}`, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Text."}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"call_a","name":"read","args":{"p":"a"}},"thoughtSignature":"U0lH"},{"functionCall":{"id":"call_b","name":"read"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":30,"candidatesTokenCount":13,"thoughtsTokenCount":7,"totalTokenCount":70}}`),
}

// richTold is what each API's clients read of it, streamed and in one piece.
var richTold = map[string]struct{ path, body, events, whole string }{
	"messages": {
		"/v1/messages", `{"model":"m","max_tokens":100,STREAM"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read","input_schema":{"type":"object"}}]}`,
		`start +thinking think - +text Text. - +tool_use call_a read {"p":"a"} - +tool_use call_b read {} - end tool_use stop`,
		`{"content":[{"type":"thinking","thinking":"think"},{"type":"text","text":"Text."},{"type":"tool_use","id":"call_a","name":"read","input":{"p":"a"}},{"type":"tool_use","id":"call_b","name":"read","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":20,"cache_read_input_tokens":30,"output_tokens":20}}`,
	},
	"responses": {
		"/v1/responses", `{"model":"m",STREAM"input":"hi","tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]}`,
		`+reasoning o0 reasoning_summary_text.delta o0 s0 think -reasoning +message o1 output_text.delta o1 c0 Text. -message
			+function_call o2 function_call_arguments.delta o2 {"p":"a"} function_call_arguments.done o2 {"p":"a"} -function_call call_a read {"p":"a"}
			+function_call o3 function_call_arguments.delta o3 {} function_call_arguments.done o3 {} -function_call call_b read {} completed`,
		`{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"think"}]},{"type":"message","content":[{"type":"output_text","text":"Text."}]},{"type":"function_call","call_id":"call_a","name":"read","arguments":{"$json":{"p":"a"}}},{"type":"function_call","call_id":"call_b","arguments":"{}"}],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":30},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":7},"total_tokens":70}}`,
	},
	"chat": {
		"/v1/chat/completions", `{"model":"m",STREAM"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]}`,
		"", // parts of calls may come in any order
		`{"choices":[{"message":{"role":"assistant","content":"Text.","reasoning_content":"think","tool_calls":[{"id":"call_a","type":"function","function":{"name":"read","arguments":{"$json":{"p":"a"}}}},{"id":"call_b","type":"function","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70,"prompt_tokens_details":{"cached_tokens":30},"completion_tokens_details":{"reasoning_tokens":7}}}`,
	},
	"gemini": {
		"/v1beta/models/m", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}`,
		`thought: think Text. call {"args":{"p":"a"},"id":"call_a","name":"read"} call {"args":{},"id":"call_b","name":"read"} finish STOP usage <nil>/<nil>/<nil>`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"think","thought":true},{"text":"Text."},{"functionCall":{"id":"call_a","name":"read","args":{"p":"a"}}},{"functionCall":{"id":"call_b","name":"read","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":30,"candidatesTokenCount":13,"thoughtsTokenCount":7,"totalTokenCount":70}}`,
	},
}

func TestARichReplyIsTheSameInEveryAPI(t *testing.T) {
	for api, reply := range rich {
		for door, c := range richTold {
			if door == api {
				continue
			}
			t.Run(api+" to "+door, func(t *testing.T) {
				streamed, whole := c.path, c.path
				if door == "gemini" {
					streamed, whole = c.path+":streamGenerateContent?alt=sse", c.path+":generateContent"
				}
				cross(t, crossing{api: api, model: "m", path: whole, body: strings.Replace(c.body, "STREAM", "", 1), reply: reply, want: c.whole, tokens: "50/20/30"})
				body := strings.Replace(c.body, "STREAM", `"stream":true,`, 1)
				if c.events != "" {
					cross(t, crossing{api: api, model: "m", path: streamed, body: body, reply: reply, events: c.events, tokens: "50/20/30"})
					return
				}
				synctest.Test(t, func(t *testing.T) {
					cr := crossing{api: api, model: "m", reply: reply}
					r := newRig(t, cr.provided(), vendors{"v": &crossed{c: &cr}})
					n := normalise("openai-chat", r.ask(streamed, body).body)
					want := parsed(t, `{"$has":[{"role":"assistant"},{"reasoning":"think"},{"content":"Text."},{"tool_call":{"index":0,"id":"call_a","name":"read"}},{"tool_call":{"index":1,"id":"call_b","name":"read"}},{"finish_reason":"tool_calls"}]}`)
					args := map[any]any{}
					for _, e := range n.events {
						if index := at(e, "tool_args", "index"); index != nil {
							args[index] = textOf(args[index]) + textOf(at(e, "tool_args", "arguments"))
						}
					}
					if errs := append(newMatcher().match(want, n.events, "events"), n.problems...); len(errs) > 0 || args[0.0] != `{"p":"a"}` || args[1.0] != "{}" {
						t.Errorf("%v: %v, arguments %v", errs, n.events, args)
					}
				})
			})
		}
	}
}
