package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// TestAVendorsErrorIsToldAsTheAgentsOwnVendorsWould: by its status, in the words of the agent's API.
func TestAVendorsErrorIsToldAsTheAgentsOwnVendorsWould(t *testing.T) {
	open := func(kind, code string) string {
		return `{"error":{"message":"w","type":"` + kind + `","param":null,"code":` + code + `}}`
	}
	anthropic := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"w"}}`
	}
	google := func(code, status string) string {
		return `{"error":{"code":` + code + `,"message":"w","status":"` + status + `"}}`
	}
	for name, c := range map[string]struct {
		api    string // the vendor's
		status int
		body   string
		path   string
		told   int
		want   string
	}{
		"a field and a code of OpenAI's":   {"chat", 400, `{"error":{"message":"w","type":"invalid_request_error","param":"messages[1]","code":"x"}}`, "/v1/responses", 400, `{"error":{"message":"w","type":"invalid_request_error","param":"messages[1]","code":"x"}}`},
		"400 to Gemini":                    {"chat", 400, open("invalid_request_error", `"x"`), "/v1beta/models/m:generateContent", 400, google("400", "INVALID_ARGUMENT")},
		"400 to Messages":                  {"gemini", 400, google("400", "INVALID_ARGUMENT"), "/v1/messages", 400, anthropic("invalid_request_error")},
		"401 to Chat":                      {"messages", 401, anthropic("authentication_error"), "/v1/chat/completions", 401, open("authentication_error", `"invalid_api_key"`)},
		"401 in an array":                  {"gemini", 401, "[" + google("401", "UNAUTHENTICATED") + "]", "/v1/messages", 401, anthropic("authentication_error")},
		"402 to Messages":                  {"chat", 402, open("x", "null"), "/v1/messages", 402, anthropic("billing_error")},
		"402 to Responses":                 {"messages", 402, anthropic("billing_error"), "/v1/responses", 402, open("insufficient_quota", `"insufficient_quota"`)},
		"403 to Gemini":                    {"messages", 403, anthropic("permission_error"), "/v1beta/models/m:generateContent", 403, google("403", "PERMISSION_DENIED")},
		"a model that is missing, to Chat": {"messages", 404, anthropic("not_found_error"), "/v1/chat/completions", 404, open("invalid_request_error", `"model_not_found"`)},
		"the same to Messages":             {"chat", 404, open("invalid_request_error", `"model_not_found"`), "/v1/messages", 404, anthropic("not_found_error")},
		"429 to Chat":                      {"gemini", 429, google("429", "RESOURCE_EXHAUSTED"), "/v1/chat/completions", 429, open("rate_limit_error", `"rate_limit_exceeded"`)},
		"429 to Messages":                  {"responses", 429, open("rate_limit_error", `"rate_limit_exceeded"`), "/v1/messages", 429, anthropic("rate_limit_error")},
		"500 to Responses":                 {"messages", 500, anthropic("api_error"), "/v1/responses", 500, open("server_error", "null")},
		"500 to Messages":                  {"chat", 500, open("server_error", "null"), "/v1/messages", 500, anthropic("api_error")},
		"504 to Messages":                  {"chat", 504, open("x", "null"), "/v1/messages", 504, anthropic("timeout_error")},
		"529 to Chat":                      {"messages", 529, anthropic("overloaded_error"), "/v1/chat/completions", 503, open("server_error", `"server_is_overloaded"`)},
		"529 to Gemini":                    {"messages", 529, anthropic("overloaded_error"), "/v1beta/models/m:generateContent", 503, google("503", "UNAVAILABLE")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cr := crossing{api: c.api, model: "m"}
				r := newRig(t, cr.provided(), vendors{"v": &canned{status: c.status, kind: "application/json", body: c.body}})
				body := map[string]string{"anthropic": messagesBody("m"), "openai-responses": responsesBody("m"), "openai-chat": chatBody("m"), "gemini": geminiBody}[doorOf(c.path)]
				got := r.ask(c.path, body)
				want := parsed(t, strings.Replace(c.want, `"message":"w"`, `"message":{"$contains":"w"}`, 1))
				if errs := newMatcher().match(want, parsed(t, got.body), "reply"); len(errs) > 0 || got.status != c.told {
					t.Errorf("%d %s: %v", got.status, got.body, errs)
				}
			})
		})
	}
}

// TestAnErrorInTheMiddleIsToldAsTheAgentsOwnVendorsWould: behind words that are out, by the same table.
func TestAnErrorInTheMiddleIsToldAsTheAgentsOwnVendorsWould(t *testing.T) {
	replies := map[string]string{
		"chat":      eventsOf("chat", deltaLine(`{"content":"a"}`), `{"error":{"message":"w","type":"server_error","code":"server_is_overloaded"}}`),
		"messages":  eventsOf("messages", `message_start {"message":{"id":"m","content":[]}}`, `content_block_start {"index":0,"content_block":{"type":"text","text":""}}`, `content_block_delta {"index":0,"delta":{"type":"text_delta","text":"a"}}`, `error {"error":{"type":"overloaded_error","message":"w"}}`),
		"responses": eventsOf("responses", `response.output_text.delta {"output_index":0,"delta":"a"}`, `error {"error":{"type":"rate_limit_error","code":null,"message":"w"}}`),
		"gemini":    eventsOf("gemini", `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}]}`, `{"error":{"code":500,"message":"w","status":"INTERNAL"}}`),
	}
	for name, c := range map[string]struct{ api, path, want string }{
		"Chat to Messages":      {"chat", "/v1/messages", `{"type":"error","error":{"type":"overloaded_error","message":"w"}}`},
		"Chat to Responses":     {"chat", "/v1/responses", `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_is_overloaded","message":"w"}}}`},
		"Chat to Gemini":        {"chat", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"error":{"code":503,"message":"w","status":"UNAVAILABLE"}}`},
		"Messages to Chat":      {"messages", "/v1/chat/completions", `{"error":{"message":"w","type":"server_error","code":"server_is_overloaded"}}`},
		"Messages to Responses": {"messages", "/v1/responses", `{"type":"response.failed","response":{"error":{"code":"server_is_overloaded","message":"w"}}}`},
		"Messages to Gemini":    {"messages", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"error":{"code":503,"message":"w","status":"UNAVAILABLE"}}`},
		"Responses to Chat":     {"responses", "/v1/chat/completions", `{"error":{"message":"w","type":"rate_limit_error","code":"rate_limit_exceeded"}}`},
		"Responses to Messages": {"responses", "/v1/messages", `{"type":"error","error":{"type":"rate_limit_error","message":"w"}}`},
		"Responses to Gemini":   {"responses", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"error":{"code":429,"message":"w","status":"RESOURCE_EXHAUSTED"}}`},
		"Gemini to Chat":        {"gemini", "/v1/chat/completions", `{"error":{"message":"w","type":"server_error","code":null}}`},
		"Gemini to Messages":    {"gemini", "/v1/messages", `{"type":"error","error":{"type":"api_error","message":"w"}}`},
		"Gemini to Responses":   {"gemini", "/v1/responses", `{"type":"response.failed","response":{"error":{"code":"server_error","message":"w"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cr := crossing{api: c.api, model: "m", reply: replies[c.api]}
				r := newRig(t, cr.provided(), vendors{"v": &crossed{c: &cr}})
				body := map[string]string{"anthropic": messagesStream("m"), "openai-responses": responsesStream("m"), "openai-chat": chatStream("m"), "gemini": geminiBody}[doorOf(c.path)]
				n := normalise(doorOf(c.path), r.ask(c.path, body).body)
				if errs := newMatcher().match(parsed(t, c.want), n.events[len(n.events)-1], "last"); len(errs) > 0 {
					t.Errorf("%v in %v", errs, n.events)
				}
			})
		})
	}
}
