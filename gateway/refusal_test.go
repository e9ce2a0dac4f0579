package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/trace"
)

// refusing are replies that say nothing but a refusal, by API.
var refusing = map[string]struct {
	api    string
	status int
	body   string // "data:" or "event:" at its head: a stream
}{
	"Messages, whole":                      {"messages", 200, `{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":"refusal","usage":{"input_tokens":9,"output_tokens":1}}`},
	"Messages, whole, after thinking":      {"messages", 200, `{"id":"m","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"bad","signature":"AA=="}],"stop_reason":"refusal"}`},
	"Messages, whole, an empty text":       {"messages", 200, `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":""}],"stop_reason":"refusal"}`},
	"Messages, streamed":                   {"messages", 200, msgStart + msgRefuse},
	"Messages, streamed, empty text":       {"messages", 200, msgStart + "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" + msgRefuse},
	"Chat, whole":                          {"chat", 200, `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"content_filter"}]}`},
	"Chat, whole, an empty text":           {"chat", 200, `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"content_filter"}]}`},
	"Chat, streamed":                       {"chat", 200, chatRole + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\ndata: [DONE]\n\n"},
	"Chat, a code at 400":                  {"chat", 400, `{"error":{"message":"The response was filtered","type":"invalid_request_error","param":null,"code":"content_filter"}}`},
	"Chat, another code at 400":            {"chat", 400, `{"error":{"message":"Your request was rejected","type":"invalid_request_error","param":null,"code":"content_policy_violation"}}`},
	"Chat, a policy's code":                {"chat", 400, `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"bio_policy"}}`},
	"Chat, a policy's code at 403":         {"chat", 403, `{"error":{"message":"no","type":"cyber_policy","param":null,"code":null}}`},
	"Chat, a flagged prompt":               {"chat", 400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`},
	"Chat, a code as first event":          {"chat", 200, "data: {\"error\":{\"message\":\"filtered\",\"type\":\"x\",\"code\":\"content_filter\"}}\n\n"},
	"Responses, whole":                     {"responses", 200, `{"id":"resp_a","object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`},
	"Responses, whole, after reasoning":    {"responses", 200, `{"id":"resp_a","object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"reasoning","id":"rs","summary":[]}]}`},
	"Responses, streamed":                  {"responses", 200, respStart + respRefuse},
	"Responses, a policy's code, streamed": {"responses", 200, respStart + "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":1,\"response\":{\"id\":\"resp_1\",\"status\":\"failed\",\"error\":{\"code\":\"bio_policy\",\"message\":\"no\"}}}\n\n"},
	"Responses, a flagged prompt":          {"responses", 400, `{"error":{"message":"Invalid prompt: flagged by the usage policies","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`},
	"Gemini, SAFETY":                       {"gemini", 200, gemRefuse},
	"Gemini, SAFETY, whole":                {"gemini", 200, `{"candidates":[{"finishReason":"SAFETY"}]}`},
	"Gemini, PROHIBITED_CONTENT":           {"gemini", 200, `{"candidates":[{"finishReason":"PROHIBITED_CONTENT"}]}`},
	"Gemini, BLOCKLIST":                    {"gemini", 200, `{"candidates":[{"content":{"role":"model"},"finishReason":"BLOCKLIST"}]}`},
	"Gemini, SPII":                         {"gemini", 200, "data: {\"candidates\":[{\"finishReason\":\"SPII\"}]}\n\n"},
	"Gemini, IMAGE_SAFETY":                 {"gemini", 200, `{"candidates":[{"finishReason":"IMAGE_SAFETY"}]}`},
	"Gemini, RECITATION":                   {"gemini", 200, `{"candidates":[{"finishReason":"RECITATION"}]}`},
	"Gemini, a blocked prompt":             {"gemini", 200, `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":4}}`},
	"Gemini, a blocked prompt, streamed":   {"gemini", 200, "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\n\n"},
}

// cannedOf is a vendor that answers with a body, as a stream where it looks like one.
func cannedOf(status int, body string) *canned {
	v := &canned{status: status, kind: "application/json", body: body}
	if strings.HasPrefix(body, "data:") || strings.HasPrefix(body, "event:") {
		v.kind = "text/event-stream"
	}
	return v
}

func TestARefusalInAnyFormGoesToTheNext(t *testing.T) {
	for name, c := range refusing {
		t.Run(name, func(t *testing.T) {
			a := cannedOf(c.status, c.body)
			streamed := a.kind == "text/event-stream"
			b := good(c.api, streamed)
			r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
			got := r.ask(asking(c.api, "group/g", streamed))
			if got.status != 200 || got.body != b.body || a.asked() != 1 || b.asked() != 1 {
				t.Fatalf("%d %s; a asked %d times, b %d times", got.status, got.body, a.asked(), b.asked())
			}
			route := r.told()
			if failKinds(route) != "refused " || route.Tries[0].Rest != nil || len(r.rests()) != 0 {
				t.Errorf("%+v, rests %v", route.Tries, r.rests())
			}
		})
	}
}

func TestARefusalThatNobodyTakesOverNamesModelAndProvider(t *testing.T) {
	for name, c := range refusing {
		t.Run(name, func(t *testing.T) {
			a := cannedOf(c.status, c.body)
			r := newRig(t, lone, vendors{"a": a})
			got := r.ask(asking(c.api, "a/m", a.kind == "text/event-stream"))
			e := errorOf(t, c.api, got.body)
			if got.status != http.StatusBadRequest || !strings.HasPrefix(e.Message, "m of a: ") || a.asked() != 1 {
				t.Errorf("%d %s, asked %d times", got.status, got.body, a.asked())
			}
			if route := r.told(); route.Status != 400 || failKinds(route) != "refused" || len(r.rests()) != 0 {
				t.Errorf("%d %+v", route.Status, route.Tries)
			}
		})
	}
}

func TestARefusalBehindSomethingSaidIsTheReply(t *testing.T) {
	for name, c := range map[string]struct{ api, body string }{
		"Messages":            {"messages", `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"I can't"}],"stop_reason":"refusal"}`},
		"Messages, streamed":  {"messages", msgStart + msgText + msgRefuse},
		"Chat":                {"chat", `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"half"},"finish_reason":"content_filter"}]}`},
		"Chat, streamed":      {"chat", chatRole + chatText + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\ndata: [DONE]\n\n"},
		"Chat, a call":        {"chat", `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"content_filter"}]}`},
		"Responses":           {"responses", `{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"half"}]}]}`},
		"Responses, cut":      {"responses", `{"id":"r","object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`},
		"Responses, streamed": {"responses", respStart + respText + respRefuse},
		"Gemini":              {"gemini", `{"candidates":[{"content":{"role":"model","parts":[{"text":"half"}]},"finishReason":"SAFETY"}]}`},
		"Gemini, streamed":    {"gemini", gemText + gemRefuse},
		"Gemini, its length":  {"gemini", `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := cannedOf(200, c.body)
			b := &canned{status: 200, kind: "application/json", body: "{}"}
			r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
			got := r.ask(asking(c.api, "group/g", a.kind == "text/event-stream"))
			if got.status != 200 || got.body != c.body || b.asked() != 0 {
				t.Errorf("%d %s, b asked %d times", got.status, got.body, b.asked())
			}
		})
	}
}

// spread is a group whose order puts a's second key behind b.
const spread = `
[providers.a]
chat = "{a}/v1"
messages = "{a}"
keys = [{ name = "k1", value = "sk-test-k1-000000000001" }, { name = "k2", value = "sk-test-k3-000000000003" }]
[providers.b]
chat = "{b}/v1"
messages = "{b}"
keys = [{ name = "k", value = "sk-test-k2-000000000002" }]
[groups.g]
routing = "order"
members = ["a@k1/m", "b/other", "a@k2/m"]
`

func TestWhoComesAfterAFailureOfItsOwnKind(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		rests bool
		want  string
		kinds string
	}{
		"a refusal: its mates first":             {`{"error":{"message":"no","type":"x","code":"content_filter"}}`, false, "a/k1 a/k2 b/k", "refused refused "},
		"a client turned away: its mates last":   {`{"error":{"message":"unapproved channel: this client may not use the API"}}`, false, "a/k1 b/k", "prompt "},
		"an illegal invocation: its mates last":  {`{"error":{"message":"Illegal API invocation"}}`, false, "a/k1 b/k", "prompt "},
		"a field that it doesn't know: the next": {`{"error":{"message":"Failed to deserialize the JSON body: unknown variant 'developer'"}}`, false, "a/k1 b/k", "shape "},
		"out of credit: the next":                {`{"error":{"message":"Insufficient balance"}}`, true, "a/k1 b/k", "credit "},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := &canned{status: 400, kind: "application/json", body: c.body}, good("chat", false)
			r := newRig(t, spread, vendors{"a": a, "b": b})
			got := r.ask(asking("chat", "group/g", false))
			route := r.told()
			if got.status != 200 || tried(route) != c.want || failKinds(route) != c.kinds {
				t.Errorf("%d %s; tried %s, failed %q", got.status, got.body, tried(route), failKinds(route))
			}
			if rests := r.rests(); (len(rests) > 0) != c.rests {
				t.Errorf("rests %v", rests)
			}
		})
	}
}

func TestARestingMateDoesNotGoFirstAfterARefusal(t *testing.T) {
	a, b := &canned{status: 400, kind: "application/json", body: `{"error":{"message":"no","type":"x","code":"content_filter"}}`}, good("chat", false)
	r := newRig(t, spread, vendors{"a": a, "b": b})
	now := time.Now()
	r.store.PutRest(trace.Rest{Key: "a/k2", Why: trace.Rate, By: trace.ByCooldown, Since: now, Until: now.Add(time.Minute)}, 0)
	r.ask(asking("chat", "group/g", false))
	if route := r.told(); tried(route) != "a/k1 b/k" {
		t.Errorf("tried %s", tried(route))
	}
}

func TestARefusalIsToldByWhoRefused(t *testing.T) {
	// b is out of its allowance: the agent is told of a's refusal, and by a's name.
	a := &canned{status: 400, kind: "application/json", body: `{"error":{"message":"no","type":"x","code":"content_filter"}}`}
	b := &canned{status: 429, kind: "application/json", body: `{"error":{"message":"usage limit reached for your plan"}}`}
	r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
	got := r.ask(asking("chat", "group/g", false))
	if got.status != 400 || !strings.HasPrefix(errorWords(t, "chat", got.body), "m of a: ") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestASafetyCheckOfTheVendorHoldsTheReplyLonger(t *testing.T) {
	buffering := "event: response.metadata\ndata: {\"type\":\"response.metadata\",\"sequence_number\":1,\"metadata\":{\"safety_buffering\":true}}\n\n"
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, respStart + buffering}, {2 * time.Minute, respRefuse}}}
		b := &timeline{lines: []line{{0, respStart + respText + respStop}}}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
		got := r.watch(asking("responses", "group/g", true))
		if text := strings.ReplaceAll(got.text(), comment, ""); text != respStart+respText+respStop || failKinds(r.told()) != "refused " {
			t.Errorf("%q, %+v", got.text(), r.told().Tries)
		}
	})
}

func TestMoreThanAMebibyteIsNotHeld(t *testing.T) {
	long := strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\""+strings.Repeat("x", 4000)+"\"}}\n\n", 300)
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, msgStart + msgThink + long}, {time.Minute, msgText + msgStop}}}
		b := &timeline{}
		r := newRig(t, abOf("claude-x"), vendors{"a": a, "b": b})
		got := r.watch(asking("messages", "group/g", true))
		if got.at("let me see") != 0 || got.text() != msgStart+msgThink+long+strings.Repeat(comment, 4)[:got.count(comment)*len(comment)]+msgText+msgStop || b.calls.Load() != 0 {
			t.Errorf("thinking came after %s, %d comments, %d bytes", got.at("let me see"), got.count(comment), len(got.text()))
		}
	})
}
