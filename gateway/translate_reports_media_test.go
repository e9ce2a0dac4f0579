package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

const pixel = "iVBORw0KGgo="

func TestAnImageInAResultReachesChat(t *testing.T) {
	body := `{"model":"m-chat","max_tokens":1024,"messages":[{"role":"user","content":"shot"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"shot","input":{}},{"type":"tool_use","id":"u","name":"shot","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"here"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}]},{"type":"tool_result","tool_use_id":"u","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}]}]}]}`
	cross(t, crossing{
		api: "chat", path: "/v1/messages", body: body, reply: ok("chat", "ok"), refuse: func(body map[string]any) string {
			behind := false
			for _, m := range list(body["messages"]) {
				text := textOf(at(m, "content"))
				switch {
				case at(m, "role") != "tool":
				case strings.Contains(text, pixel) || text == "":
					return "a tool message that is empty, or base64: " + text
				case behind:
					return "tool messages apart"
				}
				behind = behind || at(m, "role") == "user" && strings.Contains(show(m), pixel)
			}
			return ""
		},
		asked: `{"messages":[{"role":"user"},{"role":"assistant"},{"role":"tool","tool_call_id":"t","content":{"$text":{"$contains":"here"}}},{"role":"tool","tool_call_id":"u"},{"role":"user","content":{"$has":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `"}}]}}]}`,
	})
}

func TestAnImageInAnOutputReachesMessages(t *testing.T) {
	body := `{"model":"m-claude","input":[{"role":"user","content":"look"},{"type":"function_call","call_id":"c","name":"view_image","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"img:"},{"type":"input_image","image_url":"URL","detail":"high"}]}]}`
	for name, c := range map[string][2]string{
		"bytes":            {"data:image/png;base64," + pixel, `{"type":"base64","media_type":"image/png","data":"` + pixel + `"}`},
		"an address":       {"https://example.com/a.png", `{"type":"url","url":"https://example.com/a.png"}`},
		"the wrong type":   {"data:image/jpeg;base64," + pixel, `{"type":"base64","media_type":"image/png","data":"` + pixel + `"}`},
		"no type worth it": {"data:application/octet-stream;base64," + pixel, `{"type":"base64","media_type":"image/png","data":"` + pixel + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{
				api: "messages", path: "/v1/responses", body: strings.Replace(body, "URL", c[0], 1), reply: messagesOK,
				asked: `{"messages":[{"role":"user"},{"role":"assistant"},{"role":"user","content":{"$has":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"img:"},{"type":"image","source":` + c[1] + `}]}]}}]}`,
			})
		})
	}
	t.Run("the other way", func(t *testing.T) {
		cross(t, crossing{
			api: "responses", path: "/v1/messages", reply: ok("responses", "ok"),
			body:  `{"model":"m","max_tokens":99,"messages":[{"role":"user","content":"shot"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"shot","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}]}]}]}`,
			asked: `{"input":{"$has":[{"type":"function_call_output","call_id":"t","output":{"$has":[{"type":"input_image","image_url":"data:image/png;base64,` + pixel + `"}]}}]}}`,
		})
	})
}

func TestAModelThatReadsNoImagesIsSentNone(t *testing.T) {
	body := `{"model":"m-text-only","input":[{"role":"user","content":"look"},{"type":"function_call","call_id":"c","name":"view_image","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,` + pixel + `"}]}]}`
	refuse := func(body map[string]any) string {
		answered := false
		for _, m := range list(body["messages"]) {
			if strings.Contains(show(m), "image_url") {
				return "this model does not support image input"
			}
			answered = answered || at(m, "role") == "tool" && at(m, "tool_call_id") == "c"
		}
		if !answered {
			return "No tool output found for tool call c"
		}
		return ""
	}
	asked := `{"messages":{"$has":[{"role":"tool","tool_call_id":"c","content":{"$regex":"."}}]}}`
	t.Run("known from its entry", func(t *testing.T) {
		cross(t, crossing{api: "chat", config: "models = [{ id = \"m-text-only\", inputs = [\"text\"] }]\n", path: "/v1/responses", body: body, reply: ok("chat", "ok"), refuse: refuse, asked: asked})
	})
	for name, in := range map[string][2]string{
		"learned":            {"/v1/responses", body},
		"learned by a relay": {"/v1/chat/completions", `{"model":"m-text-only","messages":[{"role":"user","content":"look"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"v","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `"}}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := crossing{api: "chat", model: "m-text-only", reply: ok("chat", "ok"), refuse: refuse}
				v := &crossed{c: &c}
				r := newRig(t, c.provided(), vendors{"v": v})
				for _, want := range []int{2, 3} {
					if got := r.ask(in[0], in[1]); got.status != 200 || len(v.got) != want || len(r.rests()) != 0 {
						t.Fatalf("%d %s, asked %d times, want %d: %v", got.status, got.body, len(v.got), want, v.raw)
					}
				}
			})
		})
	}
}

func TestTheFirstEventEstimatesTheInput(t *testing.T) {
	reply := eventsOf("responses", `response.output_text.delta {"output_index":0,"delta":"ok"}`, `response.completed {"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":17}}}`)
	for _, api := range []string{"responses", "chat"} {
		if api == "chat" {
			reply = eventsOf("chat", deltaLine(`{"content":"ok"}`), finishStop, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":17,"prompt_tokens_details":{"cached_tokens":4}}}`, "[DONE]")
		}
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: api, model: "m-chat", reply: reply}
			r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
			got := r.ask("/v1/messages", messagesStream("m-chat"))
			var ends int
			for _, e := range normalise("anthropic", got.body).events {
				switch {
				case at(e, "type") == "message_start":
					if n, _ := at(e, "message", "usage", "input_tokens").(float64); n <= 0 {
						t.Errorf("%s: it begins with %v tokens", api, n)
					}
				case at(e, "type") == "message_delta":
					ends++
					if errs := newMatcher().match(parsed(t, `{"input_tokens":6,"cache_read_input_tokens":4,"output_tokens":17}`), at(e, "usage"), api); len(errs) > 0 {
						t.Error(errs)
					}
				}
			}
			if tokens := r.last().Tokens; ends != 1 || tokens.Input != 10 || tokens.Output != 17 || tokens.CacheRead != 4 {
				t.Errorf("%s: %d ends, %+v\n%s", api, ends, tokens, got.body)
			}
		})
	}
}

func TestUsageCountsOnWhateverChunkItStands(t *testing.T) {
	counted := func(usage string) string { return `"usage":{"prompt_tokens":287,"completion_tokens":8,` + usage + `}` }
	details := counted(`"prompt_tokens_details":{"cached_tokens":256}`)
	for name, lines := range map[string][]string{
		"on an empty delta":         {finishStop, `{"choices":[{"index":0,"delta":{}}],` + details + `}`},
		"on the end":                {`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],` + details + `}`},
		"behind the end":            {finishStop, `{"choices":[],` + details + `}`},
		"twice":                     {`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, `{"choices":[],` + details + `}`},
		"followed by none":          {finishStop, `{"choices":[],` + details + `}`, `{"choices":[],"usage":null}`},
		"with DeepSeek's hits":      {finishStop, `{"choices":[],` + counted(`"prompt_cache_hit_tokens":256,"prompt_cache_miss_tokens":31`) + `}`},
		"with Moonshot's own field": {finishStop, `{"choices":[],` + counted(`"cached_tokens":256`) + `}`},
	} {
		reply := eventsOf("chat", append(append([]string{deltaLine(`{"content":"hi"}`)}, lines...), "[DONE]")...)
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "chat", path: "/v1/chat/completions", body: chatStream("m-chat"), reply: reply, tokens: "287/8/256"})
			cross(t, crossing{api: "chat", path: "/v1/messages", body: messagesBody("m-chat"), reply: reply, tokens: "287/8/256", want: `{"usage":{"input_tokens":31,"cache_read_input_tokens":256,"output_tokens":8}}`})
			cross(t, crossing{api: "chat", path: "/v1/responses", body: responsesBody("m-chat"), reply: reply, tokens: "287/8/256", want: `{"usage":{"input_tokens":287,"input_tokens_details":{"cached_tokens":256},"output_tokens":8}}`})
		})
	}
}

// TestTheEndCountsOverTheBeginning: some vendors of Messages tell the input at the beginning, some at the end.
func TestTheEndCountsOverTheBeginning(t *testing.T) {
	full := `{"input_tokens":30,"cache_read_input_tokens":60,"cache_creation_input_tokens":10,"output_tokens":20}`
	for name, c := range map[string][2]string{
		"at the beginning":                {full, `{"output_tokens":20}`},
		"at the end":                      {`{"input_tokens":0,"output_tokens":0}`, full},
		"an estimate, then what it was":   {`{"input_tokens":777,"output_tokens":1}`, full},
		"at the beginning, noughts later": {full, `{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":20}`},
	} {
		reply := eventsOf("messages", `message_start {"message":{"id":"m","content":[],"usage":`+c[0]+`}}`, `content_block_start {"index":0,"content_block":{"type":"text","text":""}}`,
			`content_block_delta {"index":0,"delta":{"type":"text_delta","text":"a"}}`, `content_block_stop {"index":0}`, `message_delta {"delta":{"stop_reason":"end_turn"},"usage":`+c[1]+`}`, "message_stop")
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "messages", path: "/v1/messages", body: messagesStream("m"), reply: reply, tokens: "100/20/60"})
			cross(t, crossing{api: "messages", path: "/v1/chat/completions", body: chatBody("m"), reply: reply, tokens: "100/20/60", want: `{"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60}}}`})
			cross(t, crossing{api: "messages", path: "/v1beta/models/m:generateContent", model: "m", body: geminiBody, reply: reply, tokens: "100/20/60", want: `{"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":20,"totalTokenCount":120}}`})
		})
	}
}

func TestGeminisThoughtsCountAsOutput(t *testing.T) {
	usage := `"usageMetadata":{"promptTokenCount":55021,"cachedContentTokenCount":50000,"candidatesTokenCount":923,"thoughtsTokenCount":785,"totalTokenCount":56729}`
	part := `"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]}`
	whole := `{` + part + `,"finishReason":"STOP"}],` + usage + `}`
	streamed := eventsOf("gemini", `{`+part+`}],"usageMetadata":{"promptTokenCount":55021,"candidatesTokenCount":900,"thoughtsTokenCount":700}}`, `{`+part+`,"finishReason":"STOP"}],`+usage+`}`)
	for how, reply := range map[string]string{"whole": whole, "streamed": streamed} {
		t.Run(how, func(t *testing.T) {
			cross(t, crossing{api: "gemini", path: "/v1/messages", body: messagesBody("gemini-x"), reply: reply, tokens: "55021/1708/50000", want: `{"usage":{"input_tokens":5021,"cache_read_input_tokens":50000,"output_tokens":1708}}`})
			cross(t, crossing{api: "gemini", path: "/v1/chat/completions", body: chatBody("gemini-x"), reply: reply, tokens: "55021/1708/50000", want: `{"usage":{"prompt_tokens":55021,"completion_tokens":1708,"total_tokens":56729,"completion_tokens_details":{"reasoning_tokens":785}}}`})
			cross(t, crossing{api: "gemini", path: "/v1/responses", body: responsesBody("gemini-x"), reply: reply, tokens: "55021/1708/50000", want: `{"usage":{"input_tokens":55021,"output_tokens":1708,"total_tokens":56729,"output_tokens_details":{"reasoning_tokens":785}}}`})
		})
	}
}

func TestRolesThatAVendorDoesNotKnowAreOnesThatItDoes(t *testing.T) {
	body := `{"model":"m-chat","instructions":"I","input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"D"}]},{"role":"user","content":"hi"}]}`
	t.Run("developer at Chat", func(t *testing.T) {
		cross(t, crossing{api: "chat", path: "/v1/responses", body: body, reply: ok("chat", "ok"), refuse: func(body map[string]any) string {
			for _, m := range list(body["messages"]) {
				if r := at(m, "role"); r != "system" && r != "user" && r != "assistant" && r != "tool" {
					return fmt.Sprint("unknown variant ", r)
				}
			}
			heads := ""
			for _, m := range list(body["messages"]) {
				if at(m, "role") == "system" {
					heads += textOf(m)
				}
			}
			if !strings.Contains(heads, "I") || !strings.Contains(heads, "D") || at(any(body), "messages", 0, "role") != "system" {
				return "system: " + heads
			}
			return ""
		}})
	})
	t.Run("developer at OpenAI", func(t *testing.T) {
		cross(t, crossing{api: "chat", config: "preset = \"openai\"\n", path: "/v1/responses", body: body, reply: ok("chat", "ok"), asked: `{"messages":{"$has":[{"role":"developer","content":{"$text":{"$contains":"D"}}}]}}`})
	})
	t.Run("system at Responses", func(t *testing.T) {
		cross(t, crossing{api: "responses", path: "/v1/chat/completions", body: `{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"system","content":"T"},{"role":"user","content":"c"}]}`, reply: ok("responses", "ok"), refuse: func(body map[string]any) string {
			for _, it := range list(body["input"]) {
				if at(it, "role") == "system" {
					return "System messages are not allowed"
				}
			}
			return ""
		}, asked: `{"instructions":"S"}`})
	})
}

func TestMessagesAlwaysHasItsLimitOfOutput(t *testing.T) {
	limit := func(body map[string]any) string {
		n, ok := body["max_tokens"].(float64)
		switch {
		case !ok || n < 1:
			return "max_tokens: Field required"
		case n > 64000:
			return fmt.Sprintf("max_tokens: %v > 64000, which is the maximum allowed number of output tokens for m-claude", n)
		}
		return ""
	}
	for name, c := range map[string]struct {
		path, body, config, asked string
		tries                     int
	}{
		"none":              {path: "/v1/chat/completions", body: chatBody("m-claude"), asked: `{"max_tokens":{"$gte":8192}}`},
		"the model's own":   {path: "/v1/chat/completions", body: chatBody("m-claude"), config: "models = [{ id = \"m-claude\", max_output = 32000 }]\n", asked: `{"max_tokens":32000}`},
		"more than is":      {path: "/v1/chat/completions", body: chatBody("m-claude"), config: "models = [{ id = \"m-claude\", max_output = 128000 }]\n", asked: `{"max_tokens":64000}`, tries: 2},
		"null":              {path: "/v1/chat/completions", body: `{"model":"m-claude","max_completion_tokens":null,"messages":[{"role":"user","content":"hi"}]}`, asked: `{"max_tokens":{"$gte":8192}}`},
		"nought":            {path: "/v1/chat/completions", body: `{"model":"m-claude","max_tokens":0,"messages":[{"role":"user","content":"hi"}]}`, asked: `{"max_tokens":{"$gte":8192}}`},
		"of Chat":           {path: "/v1/chat/completions", body: `{"model":"m-claude","max_completion_tokens":777,"messages":[{"role":"user","content":"hi"}]}`, asked: `{"max_tokens":777}`},
		"of Responses":      {path: "/v1/responses", body: `{"model":"m-claude","max_output_tokens":778,"input":"hi"}`, asked: `{"max_tokens":778}`},
		"none of Responses": {path: "/v1/responses", body: responsesBody("m-claude"), asked: `{"max_tokens":{"$gte":8192}}`},
	} {
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "messages", config: c.config, path: c.path, body: c.body, reply: messagesOK, refuse: limit, asked: c.asked, tries: c.tries})
		})
	}
}

func TestAFailedResponseSaysWhyInside(t *testing.T) {
	for name, c := range map[string][2]string{
		"an error":     {`{"error":{"message":"boom","code":"server_error"}}`, `{"code":"server_error","message":{"$contains":"boom"}}`},
		"a rate limit": {`{"error":{"message":"Rate limit reached, please try again in 7s","code":"rate_limit_exceeded","type":"rate_limit_error"}}`, `{"code":"rate_limit_exceeded","message":{"$contains":"try again in 7s"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cr := crossing{api: "chat", model: "m-chat", reply: eventsOf("chat", deltaLine(`{"content":"a"}`), c[0])}
				r := newRig(t, cr.provided(), vendors{"v": &crossed{c: &cr}})
				got := r.ask("/v1/responses", responsesStream("m-chat"))
				n := normalise("openai-responses", got.body)
				want := `{"type":"response.failed","error":{"$absent":true},"response":{"id":{"$regex":"^resp_"},"object":"response","status":"failed","error":` + c[1] + `,"output":{"$type":"array"}}}`
				if errs := append(newMatcher().match(parsed(t, want), any(n.last()), "event"), n.problems...); len(errs) > 0 {
					t.Errorf("%v\n%s", errs, got.body)
				}
			})
		})
	}
}

func TestGeminisCommandLineIsServedByChat(t *testing.T) {
	body := `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"S"}]}}`
	reply := eventsOf("chat", deltaLine(`{"content":"hi"}`), finishStop, "[DONE]")
	for _, key := range []string{"?key=agent-key-123", "x-goog-api-key: agent-key-123"} {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "chat", model: "m-chat", reply: reply}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			ask := func(path string) answer {
				headers := []string{"Authorization: ", "x-goog-api-key: agent-key-123"}
				if key[0] == '?' {
					headers, path = headers[:1], path+map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]+key[1:]
				}
				return r.do(http.MethodPost, path, body, headers...)
			}
			for _, path := range []string{"/v1beta/models/m-chat%3AstreamGenerateContent?alt=sse", "/v1beta/models/v%2Fm-chat:streamGenerateContent?alt=sse"} {
				if got := ask(path); got.status != 200 || inBrief("gemini", got.body) != "hi finish STOP usage <nil>/<nil>/<nil>" {
					t.Errorf("%s: %d %s", path, got.status, got.body)
				}
			}
			if got := ask("/v1beta/models/v%2Fm-chat:generateContent"); got.status != 200 || at(parsed(t, got.body), "candidates", 0, "content", "parts", 0, "text") != "hi" || at(parsed(t, got.body), "candidates", 0, "finishReason") != "STOP" {
				t.Errorf("%d %s", got.status, got.body)
			}
			asked := len(v.got)
			if n, _ := at(parsed(t, ask("/v1beta/models/m-chat%3AcountTokens").body), "totalTokens").(float64); n <= 0 || len(v.got) != asked {
				t.Errorf("%v tokens, asked %d times", n, len(v.got)-asked)
			}
			for i, a := range v.got {
				if textOf(at(a.body, "messages", 0)) != "S" || at(a.body, "messages", 0, "role") != "system" || strings.Contains(a.path+fmt.Sprint(a.header)+v.raw[i], "agent-key-123") {
					t.Errorf("asked %s %v %s", a.path, a.header, v.raw[i])
				}
			}
		})
	}
}
