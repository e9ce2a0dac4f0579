package standin_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

var work = &standin.Loop{Path: "/tmp/it's/a.txt", Content: "line 1\nline 2\n", Final: "Done."}

func TestALoopCallsWhicheverToolWritesFiles(t *testing.T) {
	const props = `"type":"object","properties":`
	for name, c := range map[string]struct {
		asking
		path []any // to the call
		name string
		args string // the call's, as JSON or text
	}{
		"Claude Code": {
			messages(hi + `,"tools":[{"name":"Bash","input_schema":{` + props + `{"command":{"type":"string"}}}},{"name":"Write","input_schema":{` + props + `{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path","content"]}}]`),
			[]any{"content", 0},
			"Write", `{"content":"line 1\nline 2\n","file_path":"/tmp/it's/a.txt"}`,
		},
		"Codex": {
			responses(`"input":"hi","tools":[{"type":"function","name":"exec_command","parameters":{` + props + `{"cmd":{"type":"string"}},"required":["cmd"]}},{"type":"web_search"}]`),
			[]any{"output", 0},
			"exec_command", `{"cmd":"mkdir -p \"$(dirname '/tmp/it'\\''s/a.txt')\" && printf %s 'line 1\nline 2\n' > '/tmp/it'\\''s/a.txt'"}`,
		},
		"Codex with its old shell": {
			responses(`"input":"hi","tools":[{"type":"function","name":"shell","parameters":{` + props + `{"command":{"type":"array","items":{"type":"string"}}}}}]`),
			[]any{"output", 0},
			"shell", `{"command":["bash","-c",`,
		},
		"Codex with hidden tools": {
			responses(`"input":[{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}}]}]},{"role":"user","content":"hi"}]`),
			[]any{"output", 0},
			"exec", "const result = await tools.exec_command({cmd: ",
		},
		"Gemini CLI": {
			gemini(hiGemini + `,"tools":[{"functionDeclarations":[{"name":"write_file","parametersJsonSchema":{` + props + `{"file_path":{"type":"string"},"content":{"type":"string"}}}}]}]`),
			[]any{"candidates", 0, "content", "parts", 0, "functionCall"},
			"write_file", `{"content":"line 1\nline 2\n","file_path":"/tmp/it's/a.txt"}`,
		},
		"opencode": {
			chat(hi + `,"tools":[{"type":"function","function":{"name":"write","parameters":{` + props + `{"filePath":{"type":"string"},"content":{"type":"string"},"mode":{"type":"string","enum":["a","b"]}},"required":["filePath","content","mode"]}}}]`),
			[]any{"choices", 0, "message", "tool_calls", 0, "function"},
			"write", `{"content":"line 1\nline 2\n","filePath":"/tmp/it's/a.txt","mode":"a"}`,
		},
		"a tool that applies patches": {
			responses(`"input":"hi","tools":[{"type":"custom","name":"apply_patch"}]`),
			[]any{"output", 0},
			"apply_patch", "*** Begin Patch\n*** Add File: /tmp/it's/a.txt\n+line 1\n+line 2\n*** End Patch\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{Loop: work})
				defer stop()
				v := s.ask(c.asking).value(t)
				call := at(v, c.path...)
				args := at(call, "arguments")
				for _, other := range []string{"input", "args"} {
					if args == nil {
						args = at(call, other)
					}
				}
				text, ok := args.(string)
				if !ok {
					b, _ := json.Marshal(args)
					text = string(b)
				}
				text = strings.ReplaceAll(text, `\u0026`, "&")
				text = strings.ReplaceAll(text, `\u003e`, ">")
				if at(call, "name") != c.name || !strings.HasPrefix(text, c.args) {
					t.Errorf("called %v with %s\nwant %s", at(call, "name"), text, c.args)
				}
			})
		})
	}
}

func TestALoopEndsInItsFinalText(t *testing.T) {
	const tools = `,"tools":[{"name":"Write","input_schema":{"type":"object","properties":{"file_path":{},"content":{}}}}]`
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Loop: work})
		defer stop()
		a := s.ask(messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Write","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]` + tools))
		if v := a.value(t); at(v, "content", 0, "text") != "Done." || v["stop_reason"] != "end_turn" {
			t.Errorf("%s", a.body)
		}
		if title := s.ask(messages(hi)).value(t); at(title, "content", 0, "text") != "A small change" {
			t.Errorf("without tools: %v", title)
		}
		if s.vendor.Refusals() != nil && len(s.vendor.Refusals()) > 0 {
			t.Errorf("refused: %v", s.vendor.Refusals()[0].Refused)
		}
	})
}

func TestJSONThatIsAskedForFitsItsSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"title":{"type":"string","maxLength":7},"n":{"type":"integer","minimum":3},"kind":{"enum":["x","y"]},"list":{"type":"array","minItems":1,"items":{"type":"boolean"}},"maybe":{"anyOf":[{"type":"string"},{"type":"null"}]},"left":{"type":"string"}},"required":["title","n","kind","list","maybe"]}`
	const want = `{"kind":"x","list":[false],"maybe":"A small task.","n":3,"title":"A small"}`
	for api, q := range map[wire.Protocol]asking{
		wire.Chat:      chat(hi + `,"response_format":{"type":"json_schema","json_schema":{"name":"r","schema":` + schema + `}}`),
		wire.Responses: responses(`"input":"hi","text":{"format":{"type":"json_schema","name":"r","schema":` + schema + `}}`),
		wire.Messages:  messages(hi + `,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`),
		wire.Gemini:    gemini(hiGemini + `,"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + schema + `}`),
	} {
		t.Run(string(api), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{})
				defer stop()
				a := s.ask(q)
				text := at(a.value(t), map[wire.Protocol][]any{
					wire.Chat:      {"choices", 0, "message", "content"},
					wire.Responses: {"output", 0, "content", 0, "text"},
					wire.Messages:  {"content", 0, "text"},
					wire.Gemini:    {"candidates", 0, "content", "parts", 0, "text"},
				}[api]...)
				if text != want {
					t.Errorf("%v: %s", text, a.body)
				}
			})
		})
	}
}

func TestAForcedToolIsCalled(t *testing.T) {
	for api, q := range map[wire.Protocol]asking{
		wire.Chat:      chat(hi + `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}],"tool_choice":{"type":"function","function":{"name":"g"}}`),
		wire.Responses: responses(`"input":"hi","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}],"tool_choice":{"type":"function","name":"g"}`),
		wire.Messages:  messages(hi + `,"tools":[{"name":"f","input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"g"}`),
		wire.Gemini:    gemini(hiGemini + `,"tools":[{"functionDeclarations":[{"name":"f"},{"name":"g"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}`),
	} {
		t.Run(string(api), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{})
				defer stop()
				if a := s.ask(q); a.status != 200 || !strings.Contains(a.body, `"name":"g"`) {
					t.Errorf("%d %s", a.status, a.body)
				}
			})
		})
	}
}

func TestNoTokensAtAllIsAWarmUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "anthropic"})
		defer stop()
		v := s.ask(asking{api: wire.Messages, body: `{"model":"claude-sonnet-5","max_tokens":0,` + hi + `}`}).value(t)
		if v["stop_reason"] != "max_tokens" || at(v, "content", 0) != nil {
			t.Errorf("%v", v)
		}
	})
}
