package mend_test

import (
	"strings"
	"testing"

	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/wire"
)

func TestWhatIsLeftOutLeavesTheRestAsItIs(t *testing.T) {
	for _, c := range []struct {
		name       string
		api        wire.Protocol
		t          mend.Thing
		body, want string
	}{
		{"a field", wire.Chat, mend.Thing{What: mend.Field, Path: "store"}, `{"model":"m", "store" : true,"x":1.0}`, `{"model":"m","x":1.0}`},
		{"a field and what it alone stood in", wire.Responses, mend.Thing{What: mend.Field, Path: "text.verbosity"}, `{"a":1,"text":{"verbosity":"low"}}`, `{"a":1}`},
		{"a field beside another", wire.Responses, mend.Thing{What: mend.Field, Path: "text.verbosity"}, `{"text":{"format":{},"verbosity":"low"}}`, `{"text":{"format":{}}}`},
		{"a field of each message", wire.Chat, mend.Thing{What: mend.Field, Path: "messages.*.reasoning_content"}, `{"messages":[{"role":"a","reasoning_content":"r"},{"role":"b"}]}`, `{"messages":[{"role":"a"},{"role":"b"}]}`},
		{"a level", wire.Responses, mend.Thing{What: mend.Level, Path: "none", To: "low"}, `{"reasoning":{"effort":"none","summary":"auto"}}`, `{"reasoning":{"effort":"low","summary":"auto"}}`},
		{"a level of Gemini's", wire.Gemini, mend.Thing{What: mend.Level, Path: "minimal", To: "low"}, `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}}`, `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}}`},
		{"another level", wire.Chat, mend.Thing{What: mend.Level, Path: "none", To: "low"}, `{"reasoning_effort":"high"}`, `{"reasoning_effort":"high"}`},
		{"a level that was not said", wire.Chat, mend.Thing{What: mend.Level, To: "none"}, `{"tools":[]}`, `{"tools":[],"reasoning_effort":"none"}`},
		{"any tool, on Chat", wire.Chat, mend.Thing{What: mend.Choice}, `{"tools":[1,2],"tool_choice":"required"}`, `{"tools":[1,2],"tool_choice":"auto"}`},
		{"one tool, on Chat", wire.Chat, mend.Thing{What: mend.Choice}, `{"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"}}],"tool_choice":{"type":"function","function":{"name":"b"}}}`, `{"tools":[{"type":"function","function":{"name":"b"}}],"tool_choice":"auto"}`},
		{"one tool, on Responses", wire.Responses, mend.Thing{What: mend.Choice}, `{"tools":[{"type":"function","name":"a"},{"type":"function","name":"b"}],"tool_choice":{"type":"function","name":"a"}}`, `{"tools":[{"type":"function","name":"a"}],"tool_choice":"auto"}`},
		{"one tool, on Messages", wire.Messages, mend.Thing{What: mend.Choice}, `{"tools":[{"name":"a"},{"name":"b"}],"tool_choice":{"type":"tool","name":"a","disable_parallel_tool_use":true}}`, `{"tools":[{"name":"a"}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`},
		{"one tool, on Gemini", wire.Gemini, mend.Thing{What: mend.Choice}, `{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["b"]}}}`, `{"tools":[{"functionDeclarations":[{"name":"b"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}`},
		{"a reply that is too short", wire.Responses, mend.Thing{What: mend.Least, N: 16}, `{"max_output_tokens":1}`, `{"max_output_tokens":16}`},
		{"one that is long enough", wire.Responses, mend.Thing{What: mend.Least, N: 16}, `{"max_output_tokens":17}`, `{"max_output_tokens":17}`},
		{"a reply that is too long", wire.Gemini, mend.Thing{What: mend.Most, N: 8192}, `{"generationConfig":{"maxOutputTokens":9000}}`, `{"generationConfig":{"maxOutputTokens":8192}}`},
		{"reasoning without a seal", wire.Responses, mend.Thing{What: mend.Bare}, `{"input":[{"type":"reasoning","encrypted_content":null},{"type":"message"},{"type":"reasoning","encrypted_content":"s"}]}`, `{"input":[{"type":"message"},{"type":"reasoning","encrypted_content":"s"}]}`},
	} {
		got, done := mend.Apply(c.api, []byte(c.body), []mend.Thing{c.t})
		if string(got) != c.want || len(done) > 0 != (c.body != c.want) {
			t.Errorf("%s: %s, want %s; done %v", c.name, got, c.want, done)
		}
	}
}

func TestRepairs(t *testing.T) {
	for _, c := range []struct {
		name       string
		api        wire.Protocol
		model      string
		d          wire.Dialect
		body, want string
	}{
		{"a role that the vendor doesn't know", wire.Chat, "m", wire.Dialect{}, `{"messages":[{"role":"developer","content":"developer"},{"role":"user"}]}`, `{"messages":[{"role":"system","content":"developer"},{"role":"user"}]}`},
		{"a role that it knows", wire.Chat, "m", wire.Dialect{DeveloperRole: true}, `{"messages":[{"role":"developer"}]}`, `{"messages":[{"role":"developer"}]}`},
		{"a field that it refuses", wire.Chat, "m", wire.Dialect{Unsupported: []string{"enable_thinking"}}, `{"enable_thinking":false,"a":1}`, `{"a":1}`},
		{"the limit's name", wire.Chat, "gpt-5", wire.Dialect{TokenField: "max_completion_tokens"}, `{"max_tokens":5,"a":1}`, `{"a":1,"max_completion_tokens":5}`},
		{"the limit's name of another model", wire.Chat, "llama", wire.Dialect{TokenField: "max_completion_tokens", TokenModels: []string{"gpt"}}, `{"max_tokens":5}`, `{"max_tokens":5}`},
		{"OpenAI's own parts", wire.Responses, "m", wire.Dialect{}, `{"input":[{"type":"message","internal_chat_message_metadata_passthrough":{}},{"type":"configuration_update"}],"stream_options":{"include_obfuscation":false}}`, `{"input":[{"type":"message"}]}`},
		{"those at OpenAI", wire.Responses, "m", wire.Dialect{OwnParts: true}, `{"input":[{"type":"configuration_update"}]}`, `{"input":[{"type":"configuration_update"}]}`},
		{"a choice without tools", wire.Responses, "m", wire.Dialect{NoLoneChoice: true}, `{"tool_choice":"auto","tools":[],"a":1}`, `{"tools":[],"a":1}`},
		{"reasoning that is looked up", wire.Responses, "m", wire.Dialect{LooksUp: true}, `{"input":[{"type":"reasoning","id":"rs_1"}]}`, `{"input":[]}`},
		{"reasoning that was stored", wire.Responses, "m", wire.Dialect{LooksUp: true}, `{"store":true,"input":[{"type":"reasoning","id":"rs_1"}]}`, `{"store":true,"input":[{"type":"reasoning","id":"rs_1"}]}`},
		{"a result without its call", wire.Responses, "m", wire.Dialect{}, `{"input":[{"type":"function_call_output","call_id":"c","output":"x"}]}`, `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}]}`},
		{"a result whose call is stored", wire.Responses, "m", wire.Dialect{}, `{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"c","output":"x"}]}`, `{"previous_response_id":"r","input":[{"type":"function_call_output","call_id":"c","output":"x"}]}`},
		{"a result with its call", wire.Responses, "m", wire.Dialect{}, `{"input":[{"type":"custom_tool_call","id":"ctc_1","call_id":"c"},{"type":"custom_tool_call_output","call_id":"c"}]}`, `{"input":[{"type":"custom_tool_call","id":"ctc_1","call_id":"c"},{"type":"custom_tool_call_output","call_id":"c"}]}`},
		{"sampling that a model refuses", wire.Messages, "claude-opus-4-7", wire.Dialect{}, `{"temperature":1,"top_p":0.5,"a":1,"top_k":3}`, `{"a":1}`},
		{"sampling that it takes", wire.Messages, "claude-opus-4-6", wire.Dialect{}, `{"temperature":1,"a":1}`, `{"temperature":1,"a":1}`},
		{"sampling of another maker's", wire.Messages, "glm-5", wire.Dialect{}, `{"temperature":1}`, `{"temperature":1}`},
		{"thinking is off unless it is asked for", wire.Messages, "glm-5", wire.Dialect{ThinkingOff: true}, `{"model":"glm-5"}`, `{"model":"glm-5","thinking":{"type":"disabled"}}`},
		{"a Claude model decides by itself", wire.Messages, "claude-x", wire.Dialect{ThinkingOff: true}, `{"model":"glm-5"}`, `{"model":"glm-5"}`},
		{"thinking that is asked for", wire.Messages, "glm-5", wire.Dialect{ThinkingOff: true}, `{"output_config":{"effort":"high"}}`, `{"output_config":{"effort":"high"}}`},
	} {
		got, done := mend.Repair(c.api, c.model, &c.d, []byte(c.body))
		if string(got) != c.want || len(done) > 0 != (c.body != c.want) {
			t.Errorf("%s: %s, want %s; done %v", c.name, got, c.want, done)
		}
	}
}

func TestIdsOfCallsAreMadeToFit(t *testing.T) {
	long := "call_" + strings.Repeat("0123456789", 7)
	body := `{"input":[{"type":"function_call","id":"msg_1","call_id":"` + long + `"},{"type":"function_call_output","id":"fco_1","call_id":"` + long + `"}]}`
	got, _ := mend.Repair(wire.Responses, "m", &wire.Dialect{}, []byte(body))
	var items []wire.Value
	wire.Value(got).Get("input").Elements(func(v wire.Value) { items = append(items, v) })
	id, one, two := items[0].Get("id").Text(), items[0].Get("call_id").Text(), items[1].Get("call_id").Text()
	if !strings.HasPrefix(id, "fc_") || one != two || len(one) > 64 || items[1].Get("id").Text() != "fco_1" {
		t.Errorf("%s", got)
	}
}

func TestWhatIsLearntIsBounded(t *testing.T) {
	var m mend.Memory
	store, tier := mend.Thing{What: mend.Field, Path: "store"}, mend.Thing{What: mend.Field, Path: "service_tier"}
	m.Learn(mend.Key{Provider: "p", API: wire.Chat}, store)
	m.Learn(mend.Key{Provider: "p", API: wire.Chat, Model: "a"}, tier, mend.Thing{What: mend.Most, N: 9})
	m.Learn(mend.Key{Provider: "p", API: wire.Chat, Model: "a"}, tier, mend.Thing{What: mend.Most, N: 5})
	if got := m.Of("p", wire.Chat, "a"); len(got) != 3 || got[0] != store || got[1] != tier || got[2].N != 5 {
		t.Error(got)
	}
	if got := m.Of("p", wire.Chat, "b"); len(got) != 1 || got[0] != store {
		t.Error(got)
	}
	if got := m.Of("p", wire.Responses, "a"); len(got) != 0 {
		t.Error(got)
	}
	for i := range int64(5000) {
		m.Learn(mend.Key{Provider: "p", API: wire.Chat, Model: string(rune('a' + i%5000))}, mend.Thing{What: mend.Least, N: i})
		m.Learn(mend.Key{Provider: "q", API: wire.Chat}, mend.Thing{What: mend.Least, N: i})
	}
	if got := m.Of("q", wire.Chat, "x"); len(got) > 24 {
		t.Errorf("%d things of one key", len(got))
	}
}
