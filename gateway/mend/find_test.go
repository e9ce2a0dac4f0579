package mend_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/wire"
)

// refused is what a vendor said with a status; words are its message.
func refused(status int, body string) mend.Refusal {
	var b struct {
		Error   struct{ Message string }
		Message string
		Detail  any
	}
	_ = json.Unmarshal([]byte(body), &b)
	words := b.Error.Message + b.Message
	if s, ok := b.Detail.(string); ok {
		words += s
	}
	return mend.Refusal{Status: status, Body: []byte(body), Words: words}
}

func message(words string) string {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": words}})
	return string(b)
}

func TestWhatARefusalAsksToLeaveOut(t *testing.T) {
	everything := `{"model":"m","store":true,"metadata":{"a":"b"},"service_tier":"flex","prompt_cache_key":"k","prompt_cache_retention":"24h","safety_identifier":"u",` +
		`"stream_options":{"include_usage":true},"parallel_tool_calls":false,"verbosity":"low","thinking":{"type":"enabled"},"enable_thinking":true,` +
		`"messages":[{"role":"assistant","content":"x","reasoning_content":"r","reasoning":"r"}]}`
	field := func(paths ...string) []mend.Thing {
		var out []mend.Thing
		for _, p := range paths {
			out = append(out, mend.Thing{What: mend.Field, Path: p})
		}
		return out
	}
	for _, c := range []struct {
		name   string
		api    wire.Protocol
		body   string
		status int
		said   string
		want   []mend.Thing
	}{
		{"a structured error with a loc", wire.Chat, everything, 422, `{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted","input":true}]}`, field("store")},
		{"one whose loc is the field alone", wire.Chat, everything, 400, `{"error":{"message":"validation","details":[{"type":"extra_forbidden","loc":["safety_identifier"]},{"type":"extra_forbidden","loc":["service_tier"]}]}}`, field("safety_identifier", "service_tier")},
		{"one inside of the field is of its value", wire.Chat, everything, 422, `{"detail":[{"type":"extra_forbidden","loc":["body","metadata","a"]}]}`, nil},
		{"one of another type is of its value", wire.Chat, everything, 422, `{"detail":[{"type":"bool_type","loc":["body","store"],"msg":"Input should be a valid boolean"}]}`, nil},
		{"one of reasoning in a message", wire.Chat, everything, 422, `{"detail":[{"type":"extra_forbidden","loc":["body","messages",0,"assistant","reasoning_content"]}]}`, field("messages.*.reasoning_content")},
		{"the code of an unsupported parameter", wire.Chat, everything, 400, `{"error":{"code":"unsupported_parameter","param":"prompt_cache_retention","message":"no"}}`, field("prompt_cache_retention")},
		{"that code with another param", wire.Chat, everything, 400, `{"error":{"code":"unsupported_parameter","param":"temperature","message":"'store' stands beside it"}}`, nil},
		{"an unsupported value", wire.Chat, everything, 400, `{"error":{"code":"unsupported_value","param":"verbosity","message":"Unsupported value: 'low' is not supported with 'verbosity'."}}`, nil},
		{"an invalid value in prose", wire.Chat, everything, 400, message(`Invalid value for 'service_tier': must be one of auto, default`), nil},
		{"unknown in quotes", wire.Chat, everything, 400, message(`Unknown parameter: 'metadata'.`), field("metadata")},
		{"unsupported in quotes", wire.Chat, everything, 400, message(`Unsupported parameter: 'parallel_tool_calls' is not supported with this model.`), field("parallel_tool_calls")},
		{"unrecognized", wire.Chat, everything, 400, message(`Unrecognized request argument supplied: enable_thinking`), field("enable_thinking")},
		{"unknown field in ticks", wire.Chat, everything, 422, message("Failed to deserialize the JSON body: unknown field `stream_options`, expected one of `model`"), field("stream_options")},
		{"not supported", wire.Chat, everything, 400, message(`stream_options is not supported`), field("stream_options")},
		{"extra inputs of a path", wire.Messages, `{"metadata":{"user_id":"u"},"messages":[]}`, 400, message(`metadata: Extra inputs are not permitted`), field("metadata")},
		{"thinking", wire.Chat, everything, 400, message(`unexpected field "thinking"`), field("thinking")},
		{"reasoning in messages in Groq's words", wire.Chat, everything, 400, message(`'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]`), field("messages.*.reasoning_content")},
		{"verbosity of Responses", wire.Responses, `{"text":{"verbosity":"low"}}`, 400, `{"error":{"code":"unsupported_parameter","param":"text.verbosity","message":"Unsupported parameter"}}`, field("text.verbosity")},
		{"a field that was not sent", wire.Chat, `{"model":"m"}`, 400, message(`Unknown parameter: 'metadata'.`), nil},
		{"a field that may not go", wire.Chat, everything, 400, message(`Unknown parameter: 'messages'.`), nil},
		{"thinking settings of Gemini", wire.Chat, `{"extra_body":{"google":{"thinking_config":{"thinking_level":"low"}}}}`, 400, message(`Unknown name "thinking_config": unsupported field 'thinking_config'`), field("extra_body.google.thinking_config")},
		{"another status", wire.Chat, everything, 500, message(`Unknown parameter: 'metadata'.`), nil},

		{"no reasoning, with levels listed", wire.Responses, `{"reasoning":{"effort":"none"}}`, 400, message(`Unsupported value: 'none' is not supported with the 'gpt-5' model. Supported values for reasoning are: 'minimal', 'low', 'medium', and 'high'.`), []mend.Thing{{What: mend.Level, Path: "none", To: "minimal"}}},
		{"minimal, with levels listed", wire.Chat, `{"reasoning_effort":"minimal"}`, 400, message("reasoning_effort must be one of high, medium or low"), []mend.Thing{{What: mend.Level, Path: "minimal", To: "low"}}},
		{"no list", wire.Chat, `{"reasoning_effort":"none"}`, 400, message("reasoning effort can't be turned off"), nil},
		{"high is nobody's off", wire.Chat, `{"reasoning_effort":"high"}`, 400, message("reasoning_effort must be one of medium or low"), nil},
		{"Gemini names the refused level alone", wire.Gemini, `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}}`, 400, message("Thinking level MINIMAL is not supported for this model."), []mend.Thing{{What: mend.Level, Path: "minimal", To: "low"}}},

		{"a required tool", wire.Chat, `{"tool_choice":"required","tools":[]}`, 400, message("tool_choice 'required' is not supported"), []mend.Thing{{What: mend.Choice}}},
		{"a named tool of Messages", wire.Messages, `{"tool_choice":{"type":"tool","name":"f"},"tools":[]}`, 400, message("Thinking may not be enabled when tool_choice forces tool use."), []mend.Thing{{What: mend.Choice}}},
		{"a choice that forces nothing", wire.Chat, `{"tool_choice":"auto"}`, 400, message("tool_choice is not supported"), nil},
		{"a tool that isn't there", wire.Chat, `{"tool_choice":{"type":"function","function":{"name":"f"}}}`, 400, message("tool_choice: tool f not found in tools"), nil},

		{"thinking can't be off", wire.Messages, `{"thinking":{"type":"disabled"}}`, 400, message(`"thinking.type.disabled" is not supported for this model.`), field("thinking")},
		{"too long a reply", wire.Chat, `{"max_tokens":32000}`, 400, message("max_tokens is too large: 32000. This model supports at most 16384 completion tokens"), []mend.Thing{{What: mend.Most, N: 16384}}},
		{"too short a reply", wire.Responses, `{"max_output_tokens":1}`, 400, message("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead."), []mend.Thing{{What: mend.Least, N: 16}}},
		{"at least", wire.Chat, `{"max_tokens":1}`, 422, message("max_tokens must be at least 10"), []mend.Thing{{What: mend.Least, N: 10}}},
		{"reasoning that is missed", wire.Chat, everything, 400, message("The reasoning_content in the thinking mode must be passed back to the API."), []mend.Thing{{What: mend.Recall}}},
		{"in Kimi's words", wire.Chat, everything, 400, message("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"), []mend.Thing{{What: mend.Recall}}},
		{"reasoning that is one field too many", wire.Chat, everything, 400, message("Extra inputs are not permitted: reasoning_content"), field("messages.*.reasoning_content")},
		{"thinking that is missed before calls", wire.Messages, `{"thinking":{"type":"enabled","budget_tokens":2000}}`, 400, message("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"), []mend.Thing{{What: mend.Thoughts}, {What: mend.Field, Path: "thinking"}}},
		{"thinking by a number", wire.Messages, `{"thinking":{"type":"enabled","budget_tokens":2000}}`, 400, message(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".`), []mend.Thing{{What: mend.Adaptive}}},
		{"a model without vision", wire.Chat, `{}`, 400, message("image_url is not available: the model has no vision"), []mend.Thing{{What: mend.Images}}},
		{"one that cannot process any", wire.Chat, `{}`, 400, message("This model cannot process images"), []mend.Thing{{What: mend.Images}}},
		{"no word of images", wire.Chat, `{}`, 400, message("Model does not support vision"), []mend.Thing{{What: mend.Images}}},
		{"no multimodal model", wire.Chat, `{}`, 400, message("m is not a multimodal model"), []mend.Thing{{What: mend.Images}}},
		{"a part's type by its name", wire.Chat, `{}`, 400, message("messages[2].content[0]: Invalid type 'image_url'"), []mend.Thing{{What: mend.Images}}},
		{"an image that was not processed", wire.Messages, `{}`, 400, message("messages.0.content.1.image.source.base64: Could not process image"), nil},
		{"text alone", wire.Chat, `{}`, 400, message("messages.2.content.0.type must be 'text', got image_url"), []mend.Thing{{What: mend.Images}}},
		{"an image that can't be read", wire.Chat, `{}`, 400, message("unsupported image format: could not decode"), nil},
		{"an image that is too large", wire.Chat, `{}`, 400, message("image exceeds 5 MB, which is not allowed"), nil},
		{"images", wire.Chat, `{}`, 404, message("No endpoints found that support image input"), []mend.Thing{{What: mend.Images}}},

		{"a context that it doesn't manage", wire.Messages, `{"context_management":{"edits":[]}}`, 400, message("context_management: Extra inputs are not permitted"), field("context_management")},
		{"a tool's newest field", wire.Messages, `{"tools":[{"name":"a"},{"name":"b","eager_input_streaming":true}]}`, 400, message("tools.1.custom.eager_input_streaming: Extra inputs are not permitted"), field("tools.*.eager_input_streaming")},
		{"how thinking is shown", wire.Messages, `{"thinking":{"type":"adaptive","display":"omitted"}}`, 400, message("thinking.adaptive.display: Extra inputs are not permitted"), field("thinking.display")},
		{"a cache mark's scope", wire.Messages, `{"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","scope":"global"}}]}`, 400, message("system.0.cache_control.scope: Extra inputs are not permitted"), field("system.*.cache_control.scope")},
		{"the form of the answer is no hint", wire.Messages, `{"output_config":{"format":{"type":"json_schema"}}}`, 400, message("output_config: Extra inputs are not permitted"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []mend.Thing
			for _, f := range mend.Find(mend.Sent{API: c.api, Body: []byte(c.body), Lone: true}, refused(c.status, c.said)) {
				got = append(got, f.Thing)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFeaturesThatAreNamedGoElseAll(t *testing.T) {
	sent := mend.Sent{API: wire.Messages, Body: []byte(`{}`), Betas: []string{"context-1m-2025", "fine-tool-2025"}}
	for said, want := range map[string]string{
		"Unexpected value(s) `fine-tool-2025` for the `anthropic-beta` header.": "fine-tool-2025",
		"invalid beta flag":   "context-1m-2025 fine-tool-2025",
		"this is not allowed": "",
	} {
		var got []string
		for _, f := range mend.Find(sent, refused(400, message(said))) {
			got = append(got, f.Path)
			if f.What != mend.Beta || !f.Keep || !f.Wide {
				t.Errorf("%+v", f)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v", said, got)
		}
	}
	things := []mend.Thing{{What: mend.Beta, Path: "b"}}
	if got := mend.Betas([]string{"a, b,c", "b"}, things); strings.Join(got, ";") != "a,c" {
		t.Error(got)
	}
}

func TestACacheKeyOfATranslatedRequestGoesAtAnyRefusal(t *testing.T) {
	body := []byte(`{"model":"m","prompt_cache_key":"k"}`)
	sent := mend.Sent{API: wire.Chat, Body: body, Translated: true}
	got := mend.Find(sent, refused(422, message("bad")))
	if len(got) != 1 || got[0].Path != "prompt_cache_key" || got[0].Now {
		t.Errorf("unnamed: %+v", got)
	}
	got = mend.Find(sent, refused(400, message("Unknown parameter: 'prompt_cache_key'.")))
	if len(got) != 1 || !got[0].Now {
		t.Errorf("named: %+v", got)
	}
	sent.Translated = false
	if got := mend.Find(sent, refused(422, message("bad"))); got != nil {
		t.Errorf("relayed: %+v", got)
	}
}

// TestRefusesInput: which refusals are about the conversation itself.
func TestRefusesInput(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   bool
	}{
		{400, `{"error":{"param":"input","message":"x"}}`, true},
		{422, `{"error":{"param":"input[3].id","message":"x"}}`, true},
		{400, `{"error":{"param":"input.3","message":"x"}}`, true},
		{400, message("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."), true},
		{400, message("input is wrong"), false},
		{400, `{"error":{"param":"inputs","message":"x"}}`, false},
		{400, `{"error":{"param":"reasoning.effort","message":"x"}}`, false},
		{429, `{"error":{"param":"input","message":"x"}}`, false},
		{400, `not json`, false},
	} {
		if got := mend.RefusesInput(c.status, []byte(c.body)); got != c.want {
			t.Errorf("%d %s: %v", c.status, c.body, got)
		}
	}
}

func TestToolsAndReasoningOnChatAreTurnedFromOnlyWhereResponsesAreNot(t *testing.T) {
	said := refused(400, message("Function tools with reasoning_effort are not supported for gpt-5.9 in /v1/chat/completions. Please use /v1/responses instead."))
	sent := mend.Sent{API: wire.Chat, Body: []byte(`{"reasoning_effort":"high","tools":[{}]}`)}
	if got := mend.Find(sent, said); got != nil {
		t.Errorf("with Responses: %+v", got)
	}
	sent.Lone = true
	got := mend.Find(sent, said)
	if len(got) != 1 || got[0].Thing != (mend.Thing{What: mend.Level, Path: "high", To: "none"}) || got[0].Keep {
		t.Errorf("without: %+v", got)
	}
}

func FuzzFindNeverFails(f *testing.F) {
	f.Add(`{"store":true}`, `{"detail":[{"type":"extra_forbidden","loc":["body","store"]}]}`, "unknown field 'store'")
	f.Fuzz(func(t *testing.T, body, raw, words string) {
		for _, api := range wire.Protocols {
			s := mend.Sent{API: api, Body: []byte(body), Translated: true, Lone: true, Betas: []string{"a"}}
			for _, found := range mend.Find(s, mend.Refusal{Status: 400, Body: []byte(raw), Words: words}) {
				out, _ := mend.Apply(api, s.Body, []mend.Thing{found.Thing})
				if _, err := wire.ReadValue(out); err != nil {
					t.Errorf("%q became %q", body, out)
				}
			}
		}
	})
}
