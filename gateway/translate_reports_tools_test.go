package gateway_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

const messagesOK = `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":1}}`

// at walks into parsed JSON: names of fields, and numbers of elements.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

func list(v any) []any { l, _ := v.([]any); return l }

func TestEveryResultOfGeminisClientsFindsItsCall(t *testing.T) {
	body := `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{ID1"name":"read","args":{"p":"1"}}},{"functionCall":{ID2"name":"read","args":{"p":"2"}}}]},{"role":"user","parts":[RESULTS]}],"tools":[{"functionDeclarations":[{"name":"read","parameters":{"type":"OBJECT","properties":{"p":{"type":"STRING"}}}}]}]}`
	result := func(id, said string) string {
		return `{"functionResponse":{` + id + `"name":"read","response":{"output":"` + said + `"}}}`
	}
	named := strings.NewReplacer("ID1", `"id":"x1",`, "ID2", `"id":"x2",`, "RESULTS", result(`"id":"x2",`, "two")+","+result(`"id":"x1",`, "one")).Replace(body)
	bare := strings.NewReplacer("ID1", "", "ID2", "", "RESULTS", result("", "one")+","+result("", "two")).Replace(body)
	late := strings.Replace(bare, `{"contents":[`, `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"read","args":{"p":"0"}}}]},{"role":"user","parts":[`+result("", "zero")+`]},`, 1)
	paired := func(body map[string]any) string {
		called := map[any]string{}
		for _, m := range list(body["messages"]) {
			for _, b := range list(at(m, "content")) {
				switch at(b, "type") {
				case "tool_use":
					if _, twice := called[at(b, "id")]; twice {
						return "two calls of one id"
					}
					called[at(b, "id")] = map[any]string{"0": "zero", "1": "one", "2": "two"}[at(b, "input", "p")]
				case "tool_result":
					if called[at(b, "tool_use_id")] != textOf(b) {
						return fmt.Sprintf("unexpected tool_use_id: %v is not %s", at(b, "tool_use_id"), textOf(b))
					}
				}
			}
		}
		return ""
	}
	asked := `{"tools":[{"input_schema":{"type":"object","properties":{"p":{"type":"string"}}}}]}`
	for name, in := range map[string]string{"with ids": named, "without ids": bare, "without ids, after another round": late} {
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "messages", model: "m-claude", path: "/v1beta/models/m-claude:generateContent", body: in, refuse: paired, reply: messagesOK, asked: asked})
		})
	}
	t.Run("ids stay the same over turns", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "messages", model: "m-claude", refuse: paired, reply: messagesOK}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			more := strings.Replace(bare, `],"tools"`, `,{"role":"model","parts":[{"text":"ok"}]},{"role":"user","parts":[{"text":"on"}]}],"tools"`, 1)
			for _, b := range []string{bare, more} {
				if got := r.ask("/v1beta/models/m-claude:generateContent", b); got.status != 200 {
					t.Fatal(got.body)
				}
			}
			if a, b := show(at(v.got[0].body, "messages", 1)), show(at(v.got[1].body, "messages", 1)); a != b {
				t.Errorf("%s\n%s", a, b)
			}
		})
	})
	t.Run("to the other two", func(t *testing.T) {
		cross(t, crossing{api: "chat", model: "m", path: "/v1beta/models/m:generateContent", body: bare, reply: ok("chat", "ok")})
		cross(t, crossing{
			api: "responses", model: "m", path: "/v1beta/models/m:generateContent", body: named, reply: ok("responses", "ok"),
			asked: `{"input":{"$has":[{"type":"function_call","call_id":"x1"},{"type":"function_call","call_id":"x2"},{"type":"function_call_output","call_id":"x2","output":"two"},{"type":"function_call_output","call_id":"x1","output":"one"}]}}`,
		})
	})
}

func TestAPatchComesBackAsFreeText(t *testing.T) {
	body := `{"model":"m-chat","stream":STREAM,"input":[{"role":"user","content":"patch f"}],"tools":[{"type":"custom","name":"apply_patch","description":"edit","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/s"}}]}`
	asked := `{"tools":[{"type":"function","function":{"name":"apply_patch","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}}]}`
	for name, args := range map[string]string{
		"an object":     `{\"input\":\"*** Begin Patch\\n*** End Patch\"}`,
		"a bare string": `\"*** Begin Patch\\n*** End Patch\"`,
		"raw text":      `*** Begin Patch\n*** End Patch`,
	} {
		reply := eventsOf("chat", deltaLine(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"apply_patch","arguments":"`+args+`"}}]}`), finishCalls, "[DONE]")
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "chat", path: "/v1/responses", body: strings.Replace(body, "STREAM", "true", 1), reply: reply, asked: asked, events: `+custom_tool_call o0
				custom_tool_call_input.delta o0 *** Begin Patch *** End Patch custom_tool_call_input.done o0 *** Begin Patch *** End Patch
				-custom_tool_call c1 apply_patch *** Begin Patch *** End Patch completed`})
			cross(t, crossing{
				api: "chat", path: "/v1/responses", body: strings.Replace(body, "STREAM", "false", 1), reply: reply, asked: asked,
				want: `{"output":[{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** End Patch"}]}`,
			})
		})
	}
}

func TestGeminiIsSentOnlySchemasThatItTakes(t *testing.T) {
	schema := `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{"n":{"type":"integer","exclusiveMinimum":0},"pair":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"uniqueItems":true},"k":{"const":"x"},"u":{"type":["string","null"]},"ref":{"$ref":"#/$defs/D"},"format":{"type":"string"},"default":{"type":"string"},"title":{"type":"string"},"list":{"type":"array"}},"required":["n","gone","format"],"$defs":{"D":{"type":"object","properties":{"a":{"type":"string"}}}}}`
	openAPI := strings.Fields("type format title description nullable enum items properties required propertyOrdering minItems maxItems minimum maximum minLength maxLength pattern anyOf default example")
	jsonSchema := strings.Fields("$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required propertyOrdering")
	refuse := func(body map[string]any) string {
		for _, d := range list(at(body, "tools", 0, "functionDeclarations")) {
			if bad := unknownKey(at(d, "parameters"), openAPI); bad != "" {
				return `Unknown name "` + bad + `"`
			}
			if bad := unknownKey(at(d, "parametersJsonSchema"), jsonSchema); bad != "" {
				return `Unknown name "` + bad + `"`
			}
			if at(d, "parameters") == nil && at(d, "parametersJsonSchema") == nil {
				return "no parameters"
			}
		}
		return ""
	}
	schemaOf := func(key, text string) string {
		return `{"tools":[{"functionDeclarations":[{"name":"t","` + key + `":` + text + `}]}]}`
	}
	kept := `{"type":{"$in":["OBJECT","object"]},"required":["n","format"],"properties":{"format":{"$any":true},"default":{"$any":true},"title":{"$any":true},"k":{"enum":["x"]},"list":{"items":{"$optional":{}}}}}`
	bodies := map[string][2]string{
		"messages":  {"/v1/messages", `{"model":"gemini-x","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"t","input_schema":` + schema + `}]}`},
		"chat":      {"/v1/chat/completions", `{"model":"gemini-x","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"t","parameters":` + schema + `}}]}`},
		"responses": {"/v1/responses", `{"model":"gemini-x","input":"hi","tools":[{"type":"function","name":"t","parameters":` + schema + `}]}`},
	}
	for name, b := range bodies {
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "gemini", path: b[0], body: b[1], refuse: refuse, reply: ok("gemini", "hi"), asked: schemaOf("parametersJsonSchema", kept)})
		})
	}
}

// unknownKey is a schema's keyword that is not among those known; names of properties are no keywords.
func unknownKey(schema any, known []string) string {
	m, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	for k, v := range m {
		if !slices.Contains(known, k) {
			return k
		}
		inner := []any{v}
		switch k {
		case "properties", "$defs":
			inner = nil
			for _, p := range v.(map[string]any) {
				inner = append(inner, p)
			}
		case "anyOf", "oneOf", "prefixItems":
			inner = list(v)
		case "enum", "required", "type", "default", "example":
			inner = nil
		}
		for _, one := range inner {
			if bad := unknownKey(one, known); bad != "" {
				return bad
			}
		}
	}
	return ""
}

func TestACallWithoutItsResultStopsNoConversation(t *testing.T) {
	body := `{"model":"MODEL","max_tokens":1024,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}},{"type":"tool_use","id":"t2","name":"pwd","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"text","text":"stopped, go on"}]}]}`
	t.Run("Gemini", func(t *testing.T) {
		cross(t, crossing{api: "gemini", path: "/v1/messages", body: strings.Replace(body, "MODEL", "gemini-x", 1), reply: ok("gemini", "ok"), refuse: func(body map[string]any) string {
			calls, results := 0, 0
			for _, c := range list(body["contents"]) {
				if calls > 0 && results > 0 && calls != results {
					return "Please ensure that the number of function response parts is equal to the number of function call parts"
				}
				for _, p := range list(at(c, "parts")) {
					if at(p, "functionCall") != nil {
						calls++
					}
					if at(p, "functionResponse") != nil {
						results++
					}
				}
			}
			if calls != results {
				return "calls without responses"
			}
			return ""
		}, asked: `{"contents":{"$has":[{"role":"user","parts":{"$has":[{"functionResponse":{"name":"ls"}},{"functionResponse":{"name":"pwd"}}]}}]}}`})
	})
	t.Run("Chat", func(t *testing.T) {
		cross(t, crossing{
			api: "chat", path: "/v1/messages", body: strings.Replace(body, "MODEL", "m", 1), reply: ok("chat", "ok"),
			asked: `{"messages":{"$has":[{"role":"assistant"},{"role":"tool","tool_call_id":"t1"},{"role":"tool","tool_call_id":"t2","content":{"$contains":"interrupted"}},{"role":"user"}]}}`,
		})
	})
	t.Run("Messages", func(t *testing.T) {
		chat := `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"t2","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t1","content":"a"},{"role":"user","content":"on"}]}`
		cross(t, crossing{
			api: "messages", path: "/v1/chat/completions", body: chat, reply: messagesOK,
			asked: `{"messages":[{"role":"user"},{"role":"assistant"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"tool_result","tool_use_id":"t2","is_error":true},{"type":"text","text":"on"}]}]}`,
		})
	})
	t.Run("a relay changes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "messages", model: "m", reply: messagesOK}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			sent := strings.Replace(body, "MODEL", "m", 1)
			if r.ask("/v1/messages", sent); v.raw[0] != sent {
				t.Error(v.raw[0])
			}
		})
	})
}

func TestAnIdIsWrittenAlikeInCallAndResult(t *testing.T) {
	long := "call_very-long-id-longer-than-sixty-four-characters-0123456789-abcdefghij"
	ids := []string{"toolu_01A", long, long + "k", "with.dots:and/slashes", "with.dots:and/slashes_"}
	var messages []string
	for i, id := range ids {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"%d"},{"role":"assistant","content":[{"type":"tool_use","id":"%s","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"x%d"}]}`, i, id, id, i))
	}
	body := `{"model":"m-chat","max_tokens":1024,"messages":[` + strings.Join(messages, ",") + `]}`
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	check := func(id any, open map[any]bool, call bool) string {
		s, _ := id.(string)
		switch {
		case !legal.MatchString(s):
			return "an id that is none: " + s
		case call && open[id]:
			return "two calls of one id: " + s
		case !call && !open[id]:
			return "No tool call found for function call output with call_id " + s
		}
		open[id] = true
		return ""
	}
	t.Run("Responses", func(t *testing.T) {
		cross(t, crossing{api: "responses", path: "/v1/messages", body: body, reply: ok("responses", "ok"), asked: `{"input":{"$has":[{"call_id":"toolu_01A"}]}}`, refuse: func(body map[string]any) (bad string) {
			open := map[any]bool{}
			for _, it := range list(body["input"]) {
				if k := at(it, "type"); k == "function_call" || k == "function_call_output" {
					bad += check(at(it, "call_id"), open, k == "function_call")
				}
			}
			return bad
		}})
	})
	t.Run("Chat", func(t *testing.T) {
		cross(t, crossing{api: "chat", path: "/v1/messages", body: body, reply: ok("chat", "ok"), refuse: func(body map[string]any) (bad string) {
			open := map[any]bool{}
			for _, m := range list(body["messages"]) {
				for _, c := range list(at(m, "tool_calls")) {
					bad += check(at(c, "id"), open, true)
				}
				if at(m, "role") == "tool" {
					bad += check(at(m, "tool_call_id"), open, false)
				}
			}
			return bad
		}})
	})
}

func TestLongNamesOfToolsAreCutAndRestored(t *testing.T) {
	first := "mcp__plugin_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz__repo_search"
	second := "mcp__plugin_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz__repo_list"
	body := `{"model":"m-chat","max_tokens":50,"tool_choice":{"type":"tool","name":"` + first + `"},"messages":[{"role":"user","content":"search"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"` + second + `","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}],"tools":[{"name":"` + first + `","input_schema":{"type":"object"}},{"name":"` + second + `","input_schema":{"type":"object"}},{"name":"ok","input_schema":{"type":"object"}}]}`
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for api, c := range map[string]struct {
		at    []any // a tool's name in the request
		reply string
	}{
		"responses": {[]any{"tools", 0, "name"}, `{"id":"r","status":"completed","output":[{"type":"function_call","call_id":"c","name":NAME,"arguments":"{}"}]}`},
		"gemini":    {[]any{"tools", 0, "functionDeclarations", 0, "name"}, `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c","name":NAME,"args":{}}}]},"finishReason":"STOP"}]}`},
	} {
		cross(t, crossing{api: api, path: "/v1/messages", body: body, refuse: func(body map[string]any) string {
			if name, _ := at(body, c.at...).(string); !legal.MatchString(name) {
				return "Invalid name " + name
			}
			return ""
		}, answer: func(body map[string]any) string {
			return strings.Replace(c.reply, "NAME", marshalled(t, at(body, c.at...)), 1)
		}, want: `{"content":[{"type":"tool_use","id":"c","name":"` + first + `","input":{}}],"stop_reason":"tool_use"}`})
	}
	cross(t, crossing{api: "chat", path: "/v1/messages", body: body, refuse: func(body map[string]any) string {
		one, two, short := at(body, "tools", 0, "function", "name"), at(body, "tools", 1, "function", "name"), at(body, "tools", 2, "function", "name")
		switch {
		case !legal.MatchString(one.(string)) || !legal.MatchString(two.(string)) || one == two || short != "ok":
			return fmt.Sprint("Invalid 'tools[0].function.name': ", one, two, short)
		case at(body, "tool_choice", "function", "name") != one || at(body, "messages", 1, "tool_calls", 0, "function", "name") != two:
			return "names that are not in tools"
		}
		return ""
	}, answer: func(body map[string]any) string {
		name, _ := json.Marshal(at(body, "tools", 0, "function", "name"))
		return `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":` + string(name) + `,"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	}, want: `{"content":[{"type":"tool_use","id":"c","name":"` + first + `","input":{}}],"stop_reason":"tool_use"}`})
	odd := `{"model":"gemini-x","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"9lives","parameters":{"type":"object","properties":{"p":{"type":"string"}}}}}]}`
	cross(t, crossing{api: "gemini", path: "/v1/chat/completions", body: odd, refuse: func(body map[string]any) string {
		if n, _ := at(body, "tools", 0, "functionDeclarations", 0, "name").(string); !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`).MatchString(n) {
			return "Invalid function name " + n
		}
		return ""
	}, answer: func(body map[string]any) string {
		name, _ := json.Marshal(at(body, "tools", 0, "functionDeclarations", 0, "name"))
		return `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":` + string(name) + `,"args":{}}}]},"finishReason":"STOP"}]}`
	}, want: `{"choices":[{"message":{"tool_calls":[{"function":{"name":"9lives","arguments":"{}"}}]}}]}`})
}

func TestNoEmptyTextGoesToMessages(t *testing.T) {
	body := `{"model":"m-claude","messages":[{"role":"system","content":""},{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"t","type":"function","function":{"name":"ls","arguments":""}}]},{"role":"tool","tool_call_id":"t","content":""},{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"next"}]}]}`
	for name, in := range map[string]string{"empty": body, "blanks": strings.ReplaceAll(strings.Replace(body, `"content":"",`, `"content":" \n",`, 1), `"text":""`, `"text":"  "`)} {
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "messages", path: "/v1/chat/completions", body: in, reply: messagesOK, refuse: func(body map[string]any) string {
				for _, m := range list(body["messages"]) {
					for _, b := range list(at(m, "content")) {
						if at(b, "type") == "text" && strings.TrimSpace(textOf(at(b, "text"))) == "" {
							return "messages: text content blocks must be non-empty"
						}
					}
				}
				if s, ok := body["system"]; ok {
					return fmt.Sprint("system: ", s)
				}
				return ""
			}, asked: `{"messages":[{"role":"user"},{"role":"assistant","content":[{"type":"tool_use","id":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"next"}]}]}`})
		})
	}
}
