package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

func TestAGeminiSignatureComesBackOnItsCall(t *testing.T) {
	called := `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"Bash","args":{"command":"ls"}},"thoughtSignature":"U0lH"}]},"finishReason":"STOP"}]}`
	signed := func(want string) func(map[string]any) string {
		return func(body map[string]any) string {
			for _, c := range list(body["contents"]) {
				for _, p := range list(at(c, "parts")) {
					if at(p, "functionCall") != nil && at(p, "thoughtSignature") != want {
						return "Function call is missing a thought_signature in functionCall parts"
					}
				}
			}
			return ""
		}
	}
	tools := `"tools":[{"name":"Bash","input_schema":{"type":"object"}}]`
	thought := strings.Replace(called, `"parts":[`, `"parts":[{"text":"hm","thought":true},{"text":"so"},`, 1)
	for name, reply := range map[string]string{"over Messages": called, "over Messages, behind thoughts and a text": thought} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := crossing{api: "gemini", model: "gemini-3-x", reply: reply, refuse: signed("U0lH")}
				r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
				head := `{"model":"gemini-3-x","max_tokens":99,` + tools + `,"messages":[{"role":"user","content":"ls"}`
				first := r.ask("/v1/messages", head+"]}")
				content := show1of(t, first.body, "content")
				id := at(parsed(t, content), len(list(parsed(t, content)))-1, "id").(string)
				second := r.ask("/v1/messages", head+`,{"role":"assistant","content":`+content+`},{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"a"}]}]}`)
				if second.status != 200 {
					t.Errorf("%s\n%s", first.body, second.body)
				}
			})
		})
	}
	for name, reply := range map[string]string{
		"of a text, in one piece": `{"candidates":[{"content":{"role":"model","parts":[{"text":"said","thoughtSignature":"U0lH"}]},"finishReason":"STOP"}]}`,
		"of a text, behind it": eventsOf("gemini", `{"candidates":[{"content":{"role":"model","parts":[{"text":"sa"}]}}]}`, `{"candidates":[{"content":{"role":"model","parts":[{"text":"id"}]}}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"U0lH"}]},"finishReason":"STOP"}]}`),
	} {
		for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses"} {
			t.Run(name+" on "+path, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := crossing{api: "gemini", model: "gemini-3-x", reply: reply}
					v := &crossed{c: &c}
					r := newRig(t, c.provided(), vendors{"v": v})
					list := map[bool]string{true: "input", false: "messages"}[path == "/v1/responses"]
					r.ask(path, `{"model":"gemini-3-x","max_tokens":9,"`+list+`":[{"role":"user","content":"a"}]}`)
					r.ask(path, `{"model":"gemini-3-x","max_tokens":9,"`+list+`":[{"role":"user","content":"a"},{"role":"assistant","content":"said"},{"role":"user","content":"b"}]}`)
					if got := at(v.got[1].body, "contents", 1, "parts", 0); at(got, "text") != "said" || at(got, "thoughtSignature") != "U0lH" {
						t.Errorf("%s", v.raw[1])
					}
				})
			})
		}
	}
	t.Run("over Responses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "gemini", model: "gemini-3-x", reply: called, refuse: signed("U0lH")}
			r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
			head := `{"model":"gemini-3-x","tools":[{"type":"function","name":"Bash","parameters":{"type":"object"}}],"input":[{"role":"user","content":"ls"}`
			first := r.ask("/v1/responses", head+"]}")
			output := show1of(t, first.body, "output")
			id := at(parsed(t, output), len(list(parsed(t, output)))-1, "call_id").(string)
			second := r.ask("/v1/responses", head+`,`+strings.Trim(output, "[]")+`,{"type":"function_call_output","call_id":"`+id+`","output":"a"}]}`)
			if second.status != 200 {
				t.Errorf("%s\n%s", first.body, second.body)
			}
		})
	})
	t.Run("over Chat", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "gemini", model: "gemini-3-x", reply: called, refuse: signed("U0lH")}
			r := newRig(t, c.provided(), vendors{"v": &crossed{c: &c}})
			head := `{"model":"gemini-3-x","tools":[{"type":"function","function":{"name":"Bash","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"ls"}`
			first := r.ask("/v1/chat/completions", head+"]}")
			message := show1of(t, first.body, "choices", 0, "message")
			id := at(parsed(t, message), "tool_calls", 0, "id").(string)
			second := r.ask("/v1/chat/completions", head+`,`+message+`,{"role":"tool","tool_call_id":"`+id+`","content":"a"}]}`)
			if second.status != 200 {
				t.Errorf("%s\n%s", first.body, second.body)
			}
		})
	})
	foreign := `{"model":"MODEL","max_tokens":2000,` + tools + `,"messages":[{"role":"user","content":"ls"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]}]}`
	t.Run("one that another vendor made", func(t *testing.T) {
		cross(t, crossing{api: "gemini", path: "/v1/messages", body: strings.Replace(foreign, "MODEL", "gemini-3-x", 1), reply: ok("gemini", "ok"), refuse: signed("skip_thought_signature_validator")})
	})
	t.Run("the skip word is for Gemini's models only", func(t *testing.T) {
		cross(t, crossing{api: "gemini", path: "/v1/messages", body: strings.Replace(foreign, "MODEL", "claude-opus-4-6", 1), reply: ok("gemini", "ok"), refuse: func(body map[string]any) string {
			if strings.Contains(show(body["contents"]), "skip_thought") {
				return "Invalid signature"
			}
			return ""
		}})
	})
}

// show1of is a piece of a JSON text, as JSON.
func show1of(t *testing.T, text string, path ...any) string {
	t.Helper()
	return marshalled(t, at(parsed(t, text), path...))
}

func TestReasoningGoesBackToVendorsThatWantIt(t *testing.T) {
	body := `{"model":"deepseek-x","max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"ls"},{"role":"assistant","content":[THOUGHT{"type":"tool_use","id":"t","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]}]}`
	thought := strings.Replace(body, "THOUGHT", `{"type":"thinking","thinking":"need ls","signature":""},`, 1)
	lost := strings.Replace(body, "THOUGHT", "", 1)
	wants := func(body map[string]any) string {
		for _, m := range list(body["messages"]) {
			if s, _ := at(m, "reasoning_content").(string); at(m, "role") == "assistant" && s == "" && at(body, "thinking", "type") != "disabled" {
				return "The reasoning_content in the thinking mode must be passed back to the API."
			}
		}
		return ""
	}
	refuses := func(body map[string]any) string {
		for _, m := range list(body["messages"]) {
			if m.(map[string]any)["reasoning_content"] != nil {
				return "Extra inputs are not permitted: reasoning_content"
			}
		}
		return ""
	}
	for _, preset := range []string{"deepseek", "moonshot", "zhipu"} {
		config := `preset = "` + preset + `"` + "\n"
		t.Run(preset, func(t *testing.T) {
			cross(t, crossing{api: "chat", config: config, path: "/v1/messages", body: thought, reply: ok("chat", "ok"), refuse: wants, asked: `{"messages":{"$has":[{"role":"assistant","reasoning_content":"need ls"}]}}`})
		})
	}
	for _, model := range []string{"deepseek-x", "deepseek/deepseek-v4-pro", "kimi-k3"} {
		t.Run("an address of which nothing is known: "+model, func(t *testing.T) {
			cross(t, crossing{api: "chat", path: "/v1/messages", body: strings.Replace(thought, "deepseek-x", model, 1), reply: ok("chat", "ok"), refuse: wants, asked: `{"messages":{"$has":[{"role":"assistant","reasoning_content":"need ls"}]}}`})
		})
	}
	t.Run("a model of which nothing is known", func(t *testing.T) {
		c := crossing{api: "chat", path: "/v1/messages", body: strings.Replace(thought, "deepseek-x", "thinker", 1), reply: ok("chat", "ok"), refuse: wants, tries: 2}
		cross(t, c)
		c.body = strings.Replace(c.body, `{"role":"user","content":"ls"}`, `{"role":"user","content":"hi"},{"role":"assistant","content":"yes"},{"role":"user","content":"ls"}`, 1)
		cross(t, c)
		c.body = strings.Replace(lost, "deepseek-x", "thinker", 1)
		cross(t, c)
	})
	t.Run("a relay whose agent keeps none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "chat", model: "thinker", reply: ok("chat", "ok"), refuse: wants}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			ask := `{"model":"thinker","messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t","content":"a"}]}`
			for _, want := range []int{2, 3} { // it is learnt
				if got := r.ask("/v1/chat/completions", ask); got.status != 200 || len(v.got) != want || len(r.rests()) != 0 {
					t.Fatalf("%d %s, asked %d times: %v", got.status, got.body, len(v.got), v.raw)
				}
			}
		})
	})
	t.Run("where it was lost", func(t *testing.T) {
		cross(t, crossing{api: "chat", config: "preset = \"deepseek\"\n", path: "/v1/messages", body: lost, reply: ok("chat", "ok"), refuse: wants})
	})
	t.Run("a vendor that takes none", func(t *testing.T) {
		cross(t, crossing{api: "chat", path: "/v1/messages", body: thought, reply: ok("chat", "ok"), refuse: refuses, tries: 2})
		cross(t, crossing{api: "chat", path: "/v1/messages", body: strings.Replace(thought, "deepseek-x", "m", 1), reply: ok("chat", "ok"), refuse: refuses})
	})
}

func TestThinkingOfAnotherIsTakenOutAndTheSameKeyAskedAgain(t *testing.T) {
	body := `{"model":"m-claude","max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"SIGNATURE"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`
	for name, words := range map[string]string{"quoted": "messages.1.content.0: Invalid `signature` in `thinking` block", "bare": "Invalid signature in thinking block"} {
		for _, streams := range []bool{false, true} {
			in := strings.Replace(body, "SIGNATURE", "made-by-gateway", 1)
			if streams {
				in = strings.Replace(in, `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := crossing{api: "messages", model: "m-claude", reply: messagesOK, refuse: func(body map[string]any) string {
						if strings.Contains(show(body["messages"]), "made-by-gateway") {
							return words
						}
						return ""
					}}
					v := &crossed{c: &c}
					r := newRig(t, c.provided(), vendors{"v": v})
					got := r.ask("/v1/messages", in)
					if got.status != 200 || !strings.Contains(got.body, `"ok"`) || len(v.got) != 2 || v.got[0].header.Get("X-Api-Key") != v.got[1].header.Get("X-Api-Key") || len(r.rests()) != 0 {
						t.Fatalf("%d %s; asked %v, rests %v", got.status, got.body, v.raw, r.rests())
					}
					if tried(r.last()) != "v/k v/k" {
						t.Error(tried(r.last()))
					}
				})
			})
		}
	}
	t.Run("where it is lost before a call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "messages", model: "m-claude", reply: messagesOK, refuse: func(body map[string]any) string {
				if at(body, "thinking") != nil {
					return "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block."
				}
				return ""
			}}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			in := `{"model":"m-claude","max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]}`
			if got := r.ask("/v1/messages", in); got.status != 200 || len(v.got) != 2 || len(r.rests()) != 0 || at(v.got[1].body, "messages", 1, "content", 0, "id") != "t" {
				t.Errorf("%d %s: %v", got.status, got.body, v.raw)
			}
		})
	})
	t.Run("what the vendor signed passes byte for byte", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "messages", model: "m-claude", reply: messagesOK}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			in := strings.Replace(body, "SIGNATURE", "EqQB+/=", 1)
			if r.ask("/v1/messages", in); v.raw[0] != in {
				t.Error(v.raw[0])
			}
		})
	})
}

func TestThinkingIsAskedForAndItsSignatureKept(t *testing.T) {
	reply := `{"id":"m","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"deep","signature":"S1"},{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":9}}`
	body := `{"model":"MODEL","reasoning_effort":"medium","max_completion_tokens":8000,"messages":[{"role":"user","content":"hard"}]}`
	thinks := func(body map[string]any) string {
		budget, _ := at(body, "thinking", "budget_tokens").(float64)
		most, _ := at(body, "max_tokens").(float64)
		if at(body, "output_config", "effort") == "medium" || at(body, "thinking", "type") == "enabled" && budget >= 1024 && budget < most {
			return ""
		}
		return "thinks of nothing: " + show(body)
	}
	for _, model := range []string{"m-claude", "claude-opus-4-5", "claude-opus-4-6"} {
		t.Run(model, func(t *testing.T) {
			cross(t, crossing{
				api: "messages", path: "/v1/chat/completions", body: strings.Replace(body, "MODEL", model, 1), reply: reply, refuse: thinks,
				want: `{"choices":[{"message":{"reasoning_content":"deep","content":"ok"},"finish_reason":"stop"}]}`,
			})
		})
	}
	t.Run("the next turn has the signature", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls := `{"id":"m","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"deep","signature":"S1"},{"type":"tool_use","id":"t","name":"ls","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":9}}`
			c := crossing{api: "messages", model: "claude-opus-4-5", config: "preset = \"anthropic\"\n", reply: calls}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			head := `{"model":"claude-opus-4-5","reasoning_effort":"medium","max_completion_tokens":8000,"tools":[{"type":"function","function":{"name":"ls"}}],"messages":[{"role":"user","content":"hard"}`
			first := r.ask("/v1/chat/completions", head+"]}")
			message := show1of(t, first.body, "choices", 0, "message")
			second := r.ask("/v1/chat/completions", head+","+message+`,{"role":"tool","tool_call_id":"t","content":"a"}]}`)
			got := at(v.got[len(v.got)-1].body, "messages", 1, "content", 0)
			if second.status != 200 || at(got, "signature") != "S1" || at(got, "thinking") != "deep" || at(v.got[1].body, "thinking") == nil {
				t.Errorf("%s\n%v", first.body, v.raw)
			}
		})
	})
}

func TestNoBareReasoningGoesToResponses(t *testing.T) {
	cross(t, crossing{
		api: "responses", path: "/v1/chat/completions", body: `{"model":"gpt-x","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_content":"thought"},{"role":"user","content":"c"}]}`,
		reply: ok("responses", "ok"), refuse: func(body map[string]any) string {
			for _, it := range list(body["input"]) {
				m, _ := it.(map[string]any)
				_, summary := m["summary"].([]any)
				id, hasID := m["id"]
				if m["type"] == "reasoning" && (!summary || hasID && id == "" || len(list(m["content"])) > 0) {
					return "Missing required parameter: 'input[1].summary'"
				}
			}
			return ""
		},
		want: `{"choices":[{"message":{"content":"ok"}}]}`,
	})
}

func TestThoughtsReachGeminisClients(t *testing.T) {
	reply := eventsOf("messages",
		`content_block_start {"index":0,"content_block":{"type":"thinking","thinking":""}}`, `content_block_delta {"index":0,"delta":{"type":"thinking_delta","thinking":"5-7-5"}}`,
		`content_block_delta {"index":0,"delta":{"type":"signature_delta","signature":"S1"}}`, `content_block_stop {"index":0}`,
		`content_block_start {"index":1,"content_block":{"type":"text","text":""}}`, `content_block_delta {"index":1,"delta":{"type":"text_delta","text":"rain"}}`,
		`content_block_stop {"index":1}`, `message_delta {"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":30}}`, "message_stop")
	body := func(config string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"haiku"}]}],"generationConfig":{"maxOutputTokens":8000,"thinkingConfig":{` + config + `}}}`
	}
	path := "/v1beta/models/claude-opus-4-5:streamGenerateContent?alt=sse"
	c := crossing{api: "messages", model: "claude-opus-4-5", path: path, reply: reply}
	t.Run("asked for", func(t *testing.T) {
		c := c
		c.body, c.asked = body(`"includeThoughts":true,"thinkingBudget":4096`), `{"thinking":{"type":"enabled","budget_tokens":4096}}`
		c.events = `thought: 5-7-5 rain finish STOP usage <nil>/<nil>/<nil>`
		cross(t, c)
	})
	t.Run("of a Claude model behind a name of somebody's own", func(t *testing.T) {
		c := c
		c.model, c.path = "m-claude", strings.Replace(path, "claude-opus-4-5", "m-claude", 1)
		c.body, c.asked = body(`"includeThoughts":true,"thinkingBudget":4096`), `{"thinking":{"type":"enabled","budget_tokens":4096},"max_tokens":8000}`
		c.events = `thought: 5-7-5 rain finish STOP usage <nil>/<nil>/<nil>`
		cross(t, c)
		c.asked, c.tries = `{"thinking":{"type":"adaptive","budget_tokens":{"$absent":true}}}`, 2
		c.refuse = func(body map[string]any) string {
			if at(body, "thinking", "type") == "enabled" {
				return `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
			}
			return ""
		}
		cross(t, c)
	})
	t.Run("not asked for", func(t *testing.T) {
		c := c
		c.body, c.events = body(`"includeThoughts":false,"thinkingBudget":4096`), `rain finish STOP usage <nil>/<nil>/<nil>`
		cross(t, c)
	})
	t.Run("no thinking", func(t *testing.T) {
		c := c
		c.body, c.refuse = body(`"thinkingBudget":0`), func(body map[string]any) string {
			if k := at(body, "thinking", "type"); k != nil && k != "disabled" {
				return "it thinks"
			}
			return ""
		}
		cross(t, c)
	})
	t.Run("the signature comes back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := c
			c.config = "preset = \"anthropic\"\n"
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			first := r.ask("/v1beta/models/claude-opus-4-5:generateContent", body(`"includeThoughts":true,"thinkingBudget":4096`))
			said := show1of(t, first.body, "candidates", 0, "content")
			second := strings.Replace(body(`"includeThoughts":true,"thinkingBudget":4096`), `}],"generationConfig"`, `},`+said+`,{"role":"user","parts":[{"text":"more"}]}],"generationConfig"`, 1)
			r.ask("/v1beta/models/claude-opus-4-5:generateContent", second)
			got := at(v.got[len(v.got)-1].body, "messages", 1, "content", 0)
			if at(got, "type") != "thinking" || at(got, "signature") != "S1" || at(got, "thinking") != "5-7-5" {
				t.Errorf("%s\n%s", first.body, v.raw[len(v.raw)-1])
			}
		})
	})
}
