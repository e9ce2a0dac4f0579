package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

const (
	finishCalls = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	finishStop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	messagesGo  = `{"model":"m-chat","max_tokens":1024,"stream":true,"messages":[{"role":"user","content":"go"}]}`
)

func deltaLine(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

func TestPartsOfParallelCallsGoToTheirOwnCall(t *testing.T) {
	reply := eventsOf("chat",
		deltaLine(`{"tool_calls":[{"index":0,"id":"call_A","type":"function","function":{"name":"read","arguments":""}},{"index":1,"id":"call_B","type":"function","function":{"name":"read","arguments":""}}]}`),
		deltaLine(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":"}}]}`),
		deltaLine(`{"tool_calls":[{"index":1,"function":{"arguments":"{\"p\":\"b\""}}]}`),
		deltaLine(`{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}},{"index":1,"function":{"arguments":"}"}}]}`),
		finishCalls, "[DONE]")
	for path, events := range map[string]string{
		"/v1/messages":  `start +tool_use call_A read {"p":"a"} - +tool_use call_B read {"p":"b"} - end tool_use stop`,
		"/v1/responses": `+function_call o0 function_call_arguments.delta o0 {"p":"a"} function_call_arguments.done o0 {"p":"a"} -function_call call_A read {"p":"a"} +function_call o1 function_call_arguments.delta o1 {"p":"b"} function_call_arguments.done o1 {"p":"b"} -function_call call_B read {"p":"b"} completed`,
		"/v1beta/models/m-chat:streamGenerateContent?alt=sse": `call {"args":{"p":"a"},"id":"call_A","name":"read"} call {"args":{"p":"b"},"id":"call_B","name":"read"} finish STOP usage <nil>/<nil>/<nil>`,
	} {
		body := map[string]string{
			"anthropic":        `{"model":"m-chat","max_tokens":1024,"stream":true,"tools":[{"name":"read","input_schema":{"type":"object","properties":{"p":{"type":"string"}}}}],"messages":[{"role":"user","content":"read a and b"}]}`,
			"openai-responses": `{"model":"m-chat","stream":true,"input":"read a and b","tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]}`,
			"gemini":           `{"contents":[{"parts":[{"text":"read a and b"}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}]}`,
		}[doorOf(path)]
		t.Run(doorOf(path), func(t *testing.T) {
			cross(t, crossing{api: "chat", model: "m-chat", path: path, body: body, reply: reply, events: events})
		})
	}
}

func TestTextBehindACallIsABlockOfItsOwn(t *testing.T) {
	reply := func(between string) string {
		return eventsOf("chat",
			deltaLine(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`),
			deltaLine(`{"content":"`+between+`"}`),
			deltaLine(`{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"pwd","arguments":"{}"}}]}`), finishCalls, "[DONE]")
	}
	t.Run("words", func(t *testing.T) {
		cross(t, crossing{
			api: "chat", path: "/v1/messages", body: messagesGo, reply: reply("so"),
			events: `start +tool_use c1 ls {} - +text so - +tool_use c2 pwd {} - end tool_use stop`,
		})
	})
	t.Run("a blank line", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "chat", path: "/v1/messages", body: messagesGo, reply: reply(`\n`)}
			r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
			told := inBrief("anthropic", r.ask(c.path, c.body).body)
			// Blanks alone may be left out, but nothing else may change.
			if without := strings.Replace(told, "+text - ", "", 1); without != `start +tool_use c1 ls {} - +tool_use c2 pwd {} - end tool_use stop` {
				t.Error(told)
			}
		})
	})
}

func TestCallsAreNumberedFromNought(t *testing.T) {
	call := func(index, id, city string) []string {
		return []string{
			`content_block_start {"index":` + index + `,"content_block":{"type":"tool_use","id":"` + id + `","name":"w","input":{}}}`,
			`content_block_delta {"index":` + index + `,"delta":{"type":"input_json_delta","partial_json":"{\"c\":\"` + city + `\"}"}}`,
			`content_block_stop {"index":` + index + `}`,
		}
	}
	items := []string{
		`message_start {"message":{"id":"m1","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
		`content_block_start {"index":0,"content_block":{"type":"text","text":""}}`,
		`content_block_delta {"index":0,"delta":{"type":"text_delta","text":"ok"}}`,
		`content_block_stop {"index":0}`,
	}
	items = append(append(items, call("1", "t1", "A")...), call("2", "t2", "B")...)
	reply := eventsOf("messages", append(items, `message_delta {"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}}`, "message_stop")...)
	body := `{"model":"m-claude","stream":true,"messages":[{"role":"user","content":"weather in A and B"}],"tools":[{"type":"function","function":{"name":"w","parameters":{"type":"object"}}}]`
	events := `role ok call 0 t1 w args 0 {"c":"A"} call 1 t2 w args 1 {"c":"B"} finish tool_calls`
	t.Run("without usage", func(t *testing.T) {
		cross(t, crossing{api: "messages", path: "/v1/chat/completions", body: body + "}", reply: reply, events: events + " [DONE]"})
	})
	t.Run("with usage", func(t *testing.T) {
		cross(t, crossing{api: "messages", path: "/v1/chat/completions", body: body + `,"stream_options":{"include_usage":true}}`, reply: reply, events: events + " usage 9/20/0 [DONE]"})
	})
}

func TestAnInputIsStreamedThoughTheVendorAnsweredInOnePiece(t *testing.T) {
	reply := `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Write","arguments":"{\"file_path\":\"/t\",\"content\":\"x\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":4,"completion_tokens":9}}`
	cross(t, crossing{
		api: "chat", path: "/v1/messages", body: messagesGo, reply: reply,
		events: `start +tool_use c1 Write {"file_path":"/t","content":"x"} - end tool_use stop`, tokens: "4/9/0",
	})
	synctest.Test(t, func(t *testing.T) {
		c := crossing{api: "chat", path: "/v1/messages", body: messagesGo, reply: reply}
		r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
		if got := r.ask(c.path, c.body); got.header.Get("Content-Type") != "text/event-stream" {
			t.Error(got.header)
		}
	})
}

func TestAContentIndexCountsThePartsOfOneItem(t *testing.T) {
	reply := eventsOf("messages",
		`content_block_start {"index":0,"content_block":{"type":"thinking","thinking":""}}`, `content_block_delta {"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`content_block_stop {"index":0}`, `content_block_start {"index":1,"content_block":{"type":"text","text":""}}`,
		`content_block_delta {"index":1,"delta":{"type":"text_delta","text":"hi"}}`, `content_block_stop {"index":1}`,
		`message_delta {"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`, "message_stop")
	cross(t, crossing{
		api: "messages", path: "/v1/responses", body: `{"model":"m-claude","stream":true,"input":"hi"}`, reply: reply,
		events: `+reasoning o0 reasoning_summary_text.delta o0 s0 hm -reasoning +message o1 output_text.delta o1 c0 hi -message completed`,
	})
}

func TestAReplyIsGatheredThoughTheLastEventHasNone(t *testing.T) {
	reply := eventsOf("responses",
		`response.output_item.added {"output_index":0,"item":{"type":"message","id":"i1","role":"assistant","content":[]}}`,
		`response.output_text.delta {"output_index":0,"content_index":0,"item_id":"i1","delta":"yes"}`,
		`response.output_item.done {"output_index":0,"item":{"type":"message","id":"i1","role":"assistant","content":[{"type":"output_text","text":"yes"}]}}`,
		`response.completed {"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":1}}}`)
	for name, c := range map[string]crossing{
		"chat":     {path: "/v1/chat/completions", body: `{"model":"gpt-x","stream":false,"messages":[{"role":"user","content":"test"}]}`, want: `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1}}`},
		"messages": {path: "/v1/messages", body: messagesBody("gpt-x"), want: `{"content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":1}}`},
		"gemini":   {path: "/v1beta/models/gpt-x:generateContent", model: "gpt-x", body: geminiBody, want: `{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":1}}`},
	} {
		c.api, c.reply, c.tokens = "responses", reply, "7/1/0"
		t.Run(name, func(t *testing.T) { cross(t, c) })
	}
}

func TestACallAloneMakesAReplyOneThatCalls(t *testing.T) {
	whole := func(message, finish string) string {
		return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"` + finish + `"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`
	}
	said, call := `{"role":"assistant","content":"I'll call ls."}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	body := strings.Replace(messagesGo, `"stream":true,`, "", 1)
	cross(t, crossing{api: "chat", path: "/v1/messages", body: body, reply: whole(said, "tool_calls"), want: `{"content":[{"type":"text","text":"I'll call ls."}],"stop_reason":"end_turn"}`})
	cross(t, crossing{api: "chat", path: "/v1/messages", body: body, reply: whole(call, "stop"), want: `{"content":[{"type":"tool_use","id":"c","name":"ls","input":{}}],"stop_reason":"tool_use"}`})
	cross(t, crossing{api: "chat", path: "/v1/messages", body: messagesGo, reply: eventsOf("chat", deltaLine(`{"content":"I'll"}`), finishCalls, "[DONE]"), events: `start +text I'll - end end_turn stop`})
	cross(t, crossing{api: "chat", path: "/v1/messages", body: messagesGo, reply: eventsOf("chat", deltaLine(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}`), finishStop, "[DONE]"), events: `start +tool_use c ls {} - end tool_use stop`})
}

func TestAReplyThatIsIncompleteNeverReadsAsDone(t *testing.T) {
	for reason, want := range map[string][2]string{"content_filter": {"content_filter", "refusal"}, "max_output_tokens": {"length", "max_tokens"}, "something_new": {"length", "max_tokens"}} {
		whole := `{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"` + reason + `"},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"par"}]}],"usage":{"input_tokens":1,"output_tokens":1}}`
		streamed := eventsOf("responses", `response.output_text.delta {"output_index":0,"content_index":0,"item_id":"i","delta":"par"}`, `response.incomplete {"response":`+whole+`}`)
		for how, reply := range map[string]string{"whole": whole, "streamed": streamed} {
			t.Run(reason+" "+how, func(t *testing.T) {
				cross(t, crossing{api: "responses", path: "/v1/chat/completions", body: chatBody("gpt-x"), reply: reply, want: `{"choices":[{"message":{"content":"par"},"finish_reason":"` + want[0] + `"}]}`})
				cross(t, crossing{api: "responses", path: "/v1/messages", body: messagesBody("gpt-x"), reply: reply, want: `{"content":[{"type":"text","text":"par"}],"stop_reason":"` + want[1] + `"}`})
				cross(t, crossing{api: "responses", path: "/v1/messages", body: messagesStream("gpt-x"), reply: reply, events: `start +text par - end ` + want[1] + ` stop`})
			})
		}
	}
}

func TestACallOfGeminisIsACall(t *testing.T) {
	reply := eventsOf("gemini", `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"p":"SOUL.md"}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":5,"totalTokenCount":13}}`)
	asked := `{"tools":[{"functionDeclarations":[{"name":"read"}]}]}`
	body := `{"model":"gemini-x","stream":STREAM,"messages":[{"role":"user","content":"read SOUL.md"}],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"p":{"type":"string"}}}}}]}`
	cross(t, crossing{
		api: "gemini", path: "/v1/chat/completions", body: strings.Replace(body, "STREAM", "false", 1), reply: reply, asked: asked,
		want: `{"choices":[{"message":{"tool_calls":[{"id":{"$regex":"^[a-zA-Z0-9_-]{1,40}$"},"function":{"name":"read","arguments":"{\"p\":\"SOUL.md\"}"}}]},"finish_reason":"tool_calls"}]}`,
	})
	cross(t, crossing{
		api: "gemini", path: "/v1/messages", body: `{"model":"gemini-x","max_tokens":99,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"read","input_schema":{"type":"object","properties":{"p":{"type":"string"}}}}]}`, reply: reply, asked: asked,
		want: `{"content":[{"type":"tool_use","id":{"$regex":"^[a-zA-Z0-9_-]+$"},"name":"read","input":{"p":"SOUL.md"}}],"stop_reason":"tool_use"}`,
	})
	synctest.Test(t, func(t *testing.T) {
		c := crossing{api: "gemini", path: "/v1/chat/completions", body: strings.Replace(body, "STREAM", "true", 1), reply: reply}
		r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
		n := normalise("openai-chat", r.ask(c.path, c.body).body)
		want := parsed(t, `[{"role":"assistant"},{"tool_call":{"index":0,"type":"function","name":"read","id":{"$regex":"^[a-zA-Z0-9_-]{1,40}$"}}},{"tool_args":{"index":0,"arguments":"{\"p\":\"SOUL.md\"}"}},{"finish_reason":"tool_calls"},"[DONE]"]`).([]any)
		if errs := append(newMatcher().matchEvents(want, n.events), n.problems...); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

func TestACallWithoutAnIndexGetsOne(t *testing.T) {
	reply := eventsOf("chat", `{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"id":"f1","type":"function","function":{"name":"read","arguments":"{\"p\":\"a\"}"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]")
	two := eventsOf("chat", deltaLine(`{"tool_calls":[{"id":"f1","type":"function","function":{"name":"read","arguments":"{}"}}]}`), deltaLine(`{"tool_calls":[{"id":"f2","type":"function","function":{"name":"read","arguments":"{}"}}]}`), finishCalls, "[DONE]")
	cross(t, crossing{api: "chat", path: "/v1/messages", body: messagesGo, reply: reply, events: `start +tool_use f1 read {"p":"a"} - end tool_use stop`})
	cross(t, crossing{api: "chat", path: "/v1/messages", body: messagesGo, reply: two, events: `start +tool_use f1 read {} - +tool_use f2 read {} - end tool_use stop`})
	synctest.Test(t, func(t *testing.T) {
		c := crossing{api: "chat", path: "/v1/chat/completions", body: chatStream("gemini-x"), reply: reply}
		r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
		got := r.ask(c.path, c.body)
		n := normalise("openai-chat", got.body)
		if errs := newMatcher().match(parsed(t, `{"tool_call":{"index":0,"id":"f1","name":"read","type":"function"}}`), n.events[1], "event"); len(errs) > 0 || got.status != http.StatusOK {
			t.Errorf("relayed: %v\n%s", errs, got.body)
		}
	})
}
