package standin_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

// sealedBy makes thinking of a vendor that another one must not take.
func sealedBy(t *testing.T, vendor string, api wire.Protocol) string {
	t.Helper()
	s, stop := up(t, standin.Options{Vendor: vendor})
	defer stop()
	v := s.ask(fullAsking(api, false)).value(t)
	var seal any
	switch api {
	case wire.Messages:
		seal = at(v, "content", 0, "signature")
	case wire.Responses:
		seal = at(v, "output", 0, "encrypted_content")
	case wire.Gemini:
		seal = at(v, "candidates", 0, "content", "parts", 1, "thoughtSignature")
	case wire.Chat:
	}
	text, _ := seal.(string)
	if text == "" {
		t.Fatalf("%s sealed nothing: %v", vendor, v)
	}
	return text
}

type refusalCase struct {
	name   string
	vendor string
	asking
	status int
	words  string // in the body
}

func chat(fields string) asking {
	return asking{api: wire.Chat, body: `{"model":"gpt-4.1",` + fields + `}`}
}

func chatTo(model, fields string) asking {
	return asking{api: wire.Chat, body: `{"model":"` + model + `",` + fields + `}`}
}

func responses(fields string) asking {
	return asking{api: wire.Responses, body: `{"model":"gpt-5.4",` + fields + `}`}
}

func messages(fields string) asking {
	return asking{api: wire.Messages, body: `{"model":"claude-sonnet-5","max_tokens":4096,` + fields + `}`}
}

func oldMessages(fields string) asking {
	return asking{api: wire.Messages, body: `{"model":"claude-sonnet-4-5","max_tokens":4096,` + fields + `}`}
}

func gemini(body string) asking { return asking{api: wire.Gemini, body: `{` + body + `}`} }

func (q asking) with(name, value string) asking {
	q.head = map[string]string{name: value}
	return q
}

func (q asking) to(path string) asking {
	q.path = path
	return q
}

const (
	hi       = `"messages":[{"role":"user","content":"hi"}]`
	hiGemini = `"contents":[{"role":"user","parts":[{"text":"hi"}]}]`
)

var longName = strings.Repeat("n", 65)

var refusals = []refusalCase{
	{"chat: an unknown field", "openai", chat(hi + `,"foo":1`), 400, `Unknown parameter: 'foo'.`},
	{"chat: an unknown field in a message", "openai", chat(`"messages":[{"role":"user","content":"hi","foo":1}]`), 400, `Unknown parameter: 'messages[0].foo'.`},
	{"chat: thinking given back to OpenAI", "openai", chat(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a","reasoning_content":"r"},{"role":"user","content":"b"}]`), 400, `reasoning_content`},
	{"chat: a role that there isn't", "openai", chat(`"messages":[{"role":"bot","content":"hi"}]`), 400, `Invalid value: 'bot'. Supported values are: 'assistant', 'developer', 'function', 'system', 'tool', and 'user'.`},
	{"chat: role developer at a vendor that doesn't know it", "deepseek", chatTo("deepseek-v4", `"messages":[{"role":"developer","content":"hi"}]`), 400, "unknown variant `developer`"},
	{"chat: no messages", "openai", chat(`"messages":[]`), 400, `Invalid 'messages': empty array.`},
	{"chat: messages left out", "openai", chat(`"n":1`), 400, `Missing required parameter: 'messages'.`},
	{"chat: messages of the wrong type", "openai", chat(`"messages":"hi"`), 400, `Invalid type for 'messages': expected an array, but got a string instead.`},
	{"chat: a result without a call", "openai", chat(`"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"x","content":"r"}]`), 400, `must be a response to a preceding message with 'tool_calls'`},
	{"chat: a call without a result", "openai", chat(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"go"}]`), 400, `did not have response messages: c1`},
	{"chat: a call without a result at the end", "openai", chat(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}]`), 400, `did not have response messages: c1`},
	{"chat: a tool's name over 64", "openai", chat(hi + `,"tools":[{"type":"function","function":{"name":"` + longName + `"}}]`), 400, `maximum length 64, but got a string with length 65`},
	{"chat: a tool's name with a dot", "openai", chat(hi + `,"tools":[{"type":"function","function":{"name":"a.b"}}]`), 400, `does not match pattern`},
	{"chat: an unknown model", "openai", chatTo("gpt-9", hi), 404, `model_not_found`},
	{"chat: max_tokens at a model that wants the other", "openai", chatTo("gpt-5.4", hi+`,"max_tokens":9`), 400, `unsupported_parameter`},
	{"chat: both limits", "openai", chat(hi + `,"max_tokens":9,"max_completion_tokens":9`), 400, `at the same time`},
	{"chat: temperature at a reasoning model", "openai", chatTo("gpt-5.4", hi+`,"temperature":0.2`), 400, `'temperature' does not support 0.2`},
	{"chat: stream_options without a stream", "openai", chat(hi + `,"stream_options":{"include_usage":true}`), 400, `stream_options`},
	{"chat: tool_choice without tools", "openai", chat(hi + `,"tool_choice":"auto"`), 400, `tool_choice`},
	{"chat: five stop strings", "openai", chat(hi + `,"stop":["a","b","c","d","e"]`), 400, `stop`},
	{"chat: DeepSeek's thinking not given back", "deepseek", chatTo("deepseek-v4", `"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}]`), 400, "`reasoning_content` in the thinking mode must be passed back"},
	{"chat: not JSON", "openai", asking{api: wire.Chat, body: `{"model":`}, 400, `could not parse the JSON body`},
	{"chat: the wrong content type", "openai", chat(hi).with("Content-Type", "text/plain"), 415, `Unsupported content type`},
	{"chat: a compressed body", "openai", chat(hi).with("Content-Encoding", "zstd"), 415, `Unsupported content encoding`},
	{"chat: no key", "openai", chat(hi).with("Authorization", ""), 401, `You didn't provide an API key`},
	{"chat: the key in x-api-key", "openai", asking{api: wire.Chat, body: bodies[wire.Chat], head: map[string]string{"Authorization": "", "x-api-key": "k1"}}, 401, `You didn't provide an API key`},
	{"chat: the gateway's own key", "openai", chat(hi).with("Authorization", "Bearer magpie-codex"), 401, `invalid_api_key`},
	{"chat: a path that isn't there", "openai", chat(hi).to("/v1/v1/chat/completions"), 404, `Invalid URL (POST /v1/v1/chat/completions)`},
	{"chat: another vendor's path", "openai", chat(hi).to("/v1/messages"), 404, `Invalid URL`},
	{"chat: the wrong method", "openai", asking{api: wire.Chat, method: http.MethodGet}, 405, `Not allowed to GET`},
	{"embeddings: a field too many", "openai", chatTo("text-embedding-3-small", `"input":"a","foo":1`).to("/v1/embeddings"), 400, `Unknown parameter: 'foo'.`},

	{"responses: an unknown field", "openai", responses(`"input":"hi","foo":1`), 400, `Unknown parameter: 'foo'.`},
	{"responses: an unknown kind of item", "openai", responses(`"input":[{"type":"foo"}]`), 400, `Invalid value: 'foo'.`},
	{"responses: input_text in an assistant message", "openai", responses(`"input":[{"role":"assistant","content":[{"type":"input_text","text":"a"}]}]`), 400, `Supported values are: 'output_text', and 'refusal'.`},
	{"responses: an output without a call", "openai", responses(`"input":[{"type":"function_call_output","call_id":"c1","output":"r"}]`), 400, `No tool call found for function call output with call_id c1.`},
	{"responses: a call without an output", "openai", responses(`"input":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}]`), 400, `No tool output found for function call c1.`},
	{"responses: a reasoning item without its summary", "openai", responses(`"input":[{"type":"reasoning","id":"rs_1"}]`), 400, `Missing required parameter: 'input[0].summary'.`},
	{"responses: a bare reasoning item that it never stored", "openai", responses(`"input":[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"hi"}]`), 404, `Item with id 'rs_1' not found.`},
	{"responses: an id with the wrong beginning", "openai", responses(`"input":[{"type":"function_call","id":"msg_1","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"r"}]`), 400, `Expected an ID that begins with 'fc'.`},
	{"responses: too few output tokens", "openai", responses(`"input":"hi","max_output_tokens":5`), 400, `Expected a value >= 16, but got 5`},
	{"responses: a call id over 64", "openai", responses(`"input":[{"type":"function_call","call_id":"` + longName + `","name":"f","arguments":"{}"}]`), 400, `maximum length 64`},
	{"responses: an unknown previous response", "openai", responses(`"input":"hi","previous_response_id":"resp_x"`), 400, `previous_response_not_found`},
	{"responses: nothing to answer", "openai", responses(`"stream":true`), 400, `Missing required parameter: 'input'.`},
	{"responses: the backend without a stream", "codex", responses(`"input":"hi","store":false`), 400, `{"detail":"Stream must be set to true"}`},
	{"responses: the backend with a system message", "codex", responses(`"stream":true,"store":false,"input":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]`), 400, `{"detail":"System messages are not allowed"}`},

	{"messages: an unknown field", "anthropic", messages(hi + `,"foo":1`), 400, `foo: Extra inputs are not permitted`},
	{"messages: an unknown field in a tool", "anthropic", messages(hi + `,"tools":[{"name":"f","input_schema":{"type":"object"},"parameters":{}}]`), 400, `tools.0.parameters: Extra inputs are not permitted`},
	{"messages: a field of a beta that isn't named", "anthropic", messages(hi + `,"context_management":{}`), 400, `context_management: Extra inputs are not permitted`},
	{"messages: no max_tokens", "anthropic", asking{api: wire.Messages, body: `{"model":"claude-sonnet-5",` + hi + `}`}, 400, `max_tokens: Field required`},
	{"messages: more tokens than the model writes", "anthropic", asking{api: wire.Messages, body: `{"model":"claude-haiku-4-5","max_tokens":64001,` + hi + `}`}, 400, `max_tokens: 64001 > 64000`},
	{"messages: a role that there isn't", "anthropic", messages(`"messages":[{"role":"bot","content":"hi"}]`), 400, `messages.0.role`},
	{"messages: role system at an older model", "anthropic", oldMessages(`"messages":[{"role":"user","content":"hi"},{"role":"system","content":"s"}]`), 400, `Unexpected role \"system\"`},
	{"messages: role system first", "anthropic", messages(`"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]`), 400, `a system message must follow a user message`},
	{"messages: none", "anthropic", messages(`"messages":[]`), 400, `at least one message is required`},
	{"messages: the assistant first", "anthropic", messages(`"messages":[{"role":"assistant","content":"hi"},{"role":"user","content":"hi"}]`), 400, `first message must use the \"user\" role`},
	{"messages: the assistant last at a newer model", "anthropic", messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"}]`), 400, `does not support assistant message prefill`},
	{"messages: an empty text", "anthropic", messages(`"messages":[{"role":"user","content":[{"type":"text","text":""}]}]`), 400, `text content blocks must be non-empty`},
	{"messages: an empty text in a string", "anthropic", messages(`"messages":[{"role":"user","content":""}]`), 400, `text content blocks must be non-empty`},
	{"messages: a text of blanks", "anthropic", messages(`"messages":[{"role":"user","content":"  "}]`), 400, `non-whitespace`},
	{"messages: a result without a call", "anthropic", messages(`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]`), 400, "unexpected `tool_use_id` found in `tool_result` blocks: t1"},
	{"messages: a call without a result", "anthropic", messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},{"role":"user","content":"go"}]`), 400, "`tool_use` ids were found without `tool_result` blocks immediately after: t1"},
	{"messages: a result behind a text", "anthropic", messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},{"role":"user","content":[{"type":"text","text":"see"},{"type":"tool_result","tool_use_id":"t1"}]}]`), 400, "`tool_use` ids were found without `tool_result` blocks"},
	{"messages: a made-up signature", "anthropic", messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"abc"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}]`), 400, "messages.1.content.0: Invalid `signature` in `thinking` block"},
	{"messages: redacted thinking of another", "anthropic", messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"redacted_thinking","data":"abc"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}]`), 400, "Invalid `data` in `redacted_thinking` block"},
	{"messages: temperature at a newer model", "anthropic", messages(hi + `,"temperature":0.2`), 400, "`temperature` is deprecated for this model."},
	{"messages: temperature in the newer version, even the usual one", "anthropic", oldMessages(hi+`,"temperature":1`).with("anthropic-version", "2026-10-21"), 400, `temperature: this field is not supported`},
	{"messages: top_k in the newer version", "anthropic", oldMessages(hi+`,"top_k":5`).with("anthropic-version", "2026-10-21"), 400, `top_k: this field is not supported`},
	{"messages: citations in the newer version", "anthropic", messages(`"messages":[{"role":"user","content":[{"type":"text","text":"a","citations":[{}]}]}]`).with("anthropic-version", "2026-10-21"), 400, `citations are not supported`},
	{"messages: temperature with top_p", "anthropic", oldMessages(hi + `,"temperature":0.5,"top_p":0.5`), 400, `cannot both be specified`},
	{"messages: enabled thinking at a newer model", "anthropic", messages(hi + `,"thinking":{"type":"enabled","budget_tokens":2048}`), 400, `is not supported for this model`},
	{"messages: a small thinking budget", "anthropic", oldMessages(hi + `,"thinking":{"type":"enabled","budget_tokens":-1}`), 400, `greater than or equal to 1024`},
	{"messages: a budget over max_tokens", "anthropic", oldMessages(hi + `,"thinking":{"type":"enabled","budget_tokens":4096}`), 400, "`max_tokens` must be greater than `thinking.budget_tokens`"},
	{"messages: thinking lost before a call", "anthropic", oldMessages(`"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}]`), 400, "Expected `thinking` or `redacted_thinking`, but found `text`"},
	{"messages: a forced tool with thinking", "anthropic", messages(hi + `,"thinking":{"type":"adaptive"},"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}`), 400, `tool_choice forces tool use`},
	{"messages: five cache marks", "anthropic", messages(`"cache_control":{"type":"ephemeral"},"messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},`, 4), ",") + `]}]`), 400, `A maximum of 4 blocks with cache_control may be provided. Found 5.`},
	{"messages: a tool's name over 128", "anthropic", messages(hi + `,"tools":[{"name":"` + longName + longName + `","input_schema":{"type":"object"}}]`), 400, `String should have at most 128 characters`},
	{"messages: two tools of one name", "anthropic", messages(hi + `,"tools":[{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}]`), 400, `Tool names must be unique`},
	{"messages: a schema that isn't an object's", "anthropic", messages(hi + `,"tools":[{"name":"f","input_schema":{}}]`), 400, `tools.0.input_schema.type: Field required`},
	{"messages: a union at a schema's root", "anthropic", messages(hi + `,"tools":[{"name":"f","input_schema":{"type":"object","oneOf":[]}}]`), 400, `does not support oneOf`},
	{"messages: a blank stop sequence", "anthropic", messages(hi + `,"stop_sequences":[" "]`), 400, `non-whitespace`},
	{"messages: an image of another type", "anthropic", messages(`"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":""}}]}]`), 400, `media_type`},
	{"messages: an unknown model", "anthropic", asking{api: wire.Messages, body: `{"model":"claude-9","max_tokens":9,` + hi + `}`}, 404, `"message":"model: claude-9"`},
	{"messages: no version", "anthropic", messages(hi).with("anthropic-version", ""), 400, `anthropic-version: header is required`},
	{"messages: a version that there isn't", "anthropic", messages(hi).with("anthropic-version", "2027-01-01"), 400, `is not a valid version`},
	{"messages: no key", "anthropic", messages(hi).with("x-api-key", ""), 401, `x-api-key header is required`},
	{"messages: the gateway's own key", "anthropic", messages(hi).with("x-api-key", "magpie-claude"), 401, `invalid x-api-key`},
	{"messages: a count with max_tokens", "anthropic", messages(hi).to("/v1/messages/count_tokens"), 400, `max_tokens: Extra inputs are not permitted`},

	{"gemini: an unknown field", "gemini", gemini(hiGemini + `,"foo":1`), 400, `Unknown name \"foo\": Cannot find field.`},
	{"gemini: an unknown field in a part", "gemini", gemini(`"contents":[{"parts":[{"text":"hi","foo":1}]}]`), 400, `Unknown name \"foo\" at 'contents[0].parts[0]'`},
	{"gemini: an unknown word in parameters", "gemini", gemini(hiGemini + `,"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","additionalProperties":false}}}}]}]`), 400, `Unknown name \"additionalProperties\"`},
	{"gemini: a role that there isn't", "gemini", gemini(`"contents":[{"role":"assistant","parts":[{"text":"hi"}]}]`), 400, `Please use a valid role: user, model.`},
	{"gemini: no contents", "gemini", gemini(`"contents":[]`), 400, `contents is not specified`},
	{"gemini: no parts", "gemini", gemini(`"contents":[{"parts":[]}]`), 400, `must not be empty`},
	{"gemini: a response without a call", "gemini", gemini(`"contents":[{"parts":[{"text":"hi"}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]`), 400, `comes immediately after a function call turn`},
	{"gemini: a response without a name", "gemini", gemini(`"contents":[{"role":"user","parts":[{"functionResponse":{"name":"","response":{}}}]}]`), 400, `Name cannot be empty`},
	{"gemini: fewer responses than calls", "gemini", gemini(`"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]`), 400, `number of function response parts is equal`},
	{"gemini: a call without its signature in the current turn", "gemini", gemini(`"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]`), 400, `missing a thought_signature`},
	{"gemini: a made-up signature", "gemini", gemini(`"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"a","thoughtSignature":"abc"}]},{"parts":[{"text":"b"}]}]`), 400, `Corrupted thought signature.`},
	{"gemini: a function's name that begins with a digit", "gemini", gemini(hiGemini + `,"tools":[{"functionDeclarations":[{"name":"1f"}]}]`), 400, `Invalid function name`},
	{"gemini: six stop sequences", "gemini", gemini(hiGemini + `,"generationConfig":{"stopSequences":["a","b","c","d","e","f"]}`), 400, `stop sequences`},
	{"gemini: level and budget at once", "gemini", gemini(hiGemini + `,"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW","thinkingBudget":5}}`), 400, `only set one of`},
	{"gemini: an unknown model", "gemini", gemini(hiGemini).to("/v1beta/models/gemini-9:generateContent"), 404, `models/gemini-9 is not found`},
	{"gemini: no key", "gemini", gemini(hiGemini).with("x-goog-api-key", ""), 403, `unregistered callers`},
	{"gemini: the key in the URL", "gemini", asking{api: wire.Gemini, path: "/v1beta/models/gemini-3.8-flash:generateContent?key=k1", body: bodies[wire.Gemini], head: map[string]string{"x-goog-api-key": ""}}, 403, `unregistered callers`},
	{"gemini: the key as Bearer", "gemini", asking{api: wire.Gemini, body: bodies[wire.Gemini], head: map[string]string{"x-goog-api-key": "", "Authorization": "Bearer k1"}}, 401, `Expected OAuth 2 access token`},
	{"gemini: the gateway's own key", "gemini", gemini(hiGemini).with("x-goog-api-key", "magpie-gemini"), 400, `API_KEY_INVALID`},
	{"gemini: not JSON", "gemini", asking{api: wire.Gemini, body: `[]`}, 400, `Invalid JSON payload received`},
}

func TestAVendorRefusesWhatItsVendorRefuses(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{Vendor: c.vendor})
				defer stop()
				a := s.ask(c.asking)
				if a.status != c.status || !strings.Contains(a.body, c.words) {
					t.Errorf("got %d %s\nwant %d with %s", a.status, a.body, c.status, c.words)
				}
				if strings.Contains(a.body, `"request_id":""`) {
					t.Errorf("no request id in %s", a.body)
				}
				if got := s.vendor.Refusals(); len(got) != 1 {
					t.Errorf("%d refusals are recorded", len(got))
				}
			})
		})
	}
}

func TestALenientVendorTakesTheSame(t *testing.T) {
	for _, c := range refusals {
		if c.status == 404 || c.status == 405 || c.status == 415 || c.status == 401 || c.status == 403 || strings.HasSuffix(c.name, "JSON") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{Vendor: c.vendor, Lenient: true})
				defer stop()
				if a := s.ask(c.asking); a.status != http.StatusOK {
					t.Errorf("got %d %s", a.status, a.body)
				}
			})
		})
	}
}

func TestAVendorTakesItsOwnThinkingAlone(t *testing.T) {
	history := map[wire.Protocol]func(seal string) asking{
		wire.Messages: func(seal string) asking {
			return messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"` + seal + `"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}]`)
		},
		wire.Responses: func(seal string) asking {
			return responses(`"store":false,"stream":true,"input":[{"type":"reasoning","summary":[],"encrypted_content":"` + seal + `"},{"role":"user","content":"b"}]`)
		},
		wire.Gemini: func(seal string) asking {
			return gemini(`"contents":[{"parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"a","thoughtSignature":"` + seal + `"}]},{"parts":[{"text":"b"}]}]`)
		},
	}
	for _, c := range []struct {
		api       wire.Protocol
		own, from string
		status    int
	}{
		{wire.Messages, "anthropic", "anthropic", 200},
		{wire.Messages, "anthropic", "xai", 400},
		{wire.Messages, "anthropic", "sub2api", 200},
		{wire.Responses, "openai", "openai", 200},
		{wire.Responses, "openai", "azure", 400},
		{wire.Gemini, "gemini", "gemini", 200},
		{wire.Gemini, "gemini", "", 400},
	} {
		t.Run(string(c.api)+" "+c.own+" from "+c.from, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := standin.Options{Vendor: c.own}
				seal := ""
				if c.from == "xai" {
					s, stop := up(t, standin.Options{Vendor: "xai", Models: []string{"claude-sonnet-5"}})
					seal, _ = at(s.ask(fullAsking(c.api, false)).value(t), "content", 0, "signature").(string)
					stop()
				} else {
					seal = sealedBy(t, c.from, c.api)
				}
				s, stop := up(t, o)
				defer stop()
				if a := s.ask(history[c.api](seal)); a.status != c.status {
					t.Errorf("got %d %s", a.status, a.body)
				}
			})
		})
	}
}

func TestChangedThinkingIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seal := sealedBy(t, "anthropic", wire.Messages)
		s, stop := up(t, standin.Options{Vendor: "anthropic"})
		defer stop()
		a := s.ask(messages(`"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"something else","signature":"` + seal + `"},{"type":"text","text":"a"}]},{"role":"user","content":"b"}]`))
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, "Invalid `signature`") {
			t.Errorf("got %d %s", a.status, a.body)
		}
	})
}
