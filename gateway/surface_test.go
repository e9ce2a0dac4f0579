package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
)

func TestEveryFormOfAPathIsServed(t *testing.T) {
	model := "a/m"
	for path, c := range map[string]struct {
		body   string
		vendor string // the path and query that the vendor sees
	}{
		"/v1/chat/completions":                              {chatBody(model), "/v1/chat/completions"},
		"/chat/completions":                                 {chatBody(model), "/v1/chat/completions"},
		"/v1/v1/chat/completions":                           {chatBody(model), "/v1/chat/completions"},
		"/v1/responses":                                     {responsesBody(model), "/v1/responses"},
		"/responses":                                        {responsesBody(model), "/v1/responses"},
		"/v1/v1/responses":                                  {responsesBody(model), "/v1/responses"},
		"/v1/messages":                                      {messagesBody(model), "/v1/messages"},
		"/messages":                                         {messagesBody(model), "/v1/messages"},
		"/v1/v1/messages":                                   {messagesBody(model), "/v1/messages"},
		"/v1/messages?beta=true":                            {messagesBody(model), "/v1/messages?beta=true"},
		"/v1/messages?beta=true&key=CLIENT&utm=1":           {messagesBody(model), "/v1/messages?beta=true"},
		"/v1beta/models/a/m:generateContent":                {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1beta/models/a%2Fm:generateContent":              {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1beta/models/a/m%3AgenerateContent":              {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1beta/models/a%2fm%3agenerateContent":            {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1beta/models/m:generateContent":                  {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1/models/a/m:generateContent":                    {geminiBody, "/v1beta/models/m:generateContent"},
		"/models/a/m:generateContent":                       {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1beta/v1beta/models/a/m:generateContent":         {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1/v1beta/models/a/m:generateContent":             {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1alpha/models/a/m:generateContent":               {geminiBody, "/v1beta/models/m:generateContent"},
		"/v1beta/models/a/m:streamGenerateContent?alt=sse":  {geminiBody, "/v1beta/models/m:streamGenerateContent?alt=sse"},
		"/v1beta/models/a/m:streamGenerateContent":          {geminiBody, "/v1beta/models/m:streamGenerateContent"},
		"/v1beta/models/a/x:7b:generateContent":             {geminiBody, "/v1beta/models/x:7b:generateContent"},
		"/v1beta/models/a/m:streamGenerateContent?key=K%26": {geminiBody, "/v1beta/models/m:streamGenerateContent"},
	} {
		t.Run(path, func(t *testing.T) {
			v := standin.New(standin.Options{Models: []string{"m", "x:7b"}, Text: "hello", Keys: []string{keyOne}, Secrets: []string{"CLIENT"}})
			r := newRig(t, strings.Replace(lone, "keys =", "models = [\"m\", \"x:7b\"]\nkeys =", 1), vendors{"a": v})
			got := r.ask(path, c.body)
			calls := v.Calls()
			if got.status != 200 || len(calls) != 1 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			seen := calls[0].Path
			if calls[0].RawQuery != "" {
				seen += "?" + calls[0].RawQuery
			}
			if seen != c.vendor || len(calls[0].Leaks) != 0 || calls[0].Refused != "" {
				t.Errorf("the vendor saw %s, %v %s", seen, calls[0].Leaks, calls[0].Refused)
			}
			if route := r.told(); route.Asked == "" || route.Status != 200 || route.Stream != strings.Contains(path, "stream") {
				t.Errorf("%+v", route)
			}
		})
	}
}

func TestAGeminiStreamWithoutEventsIsOneArray(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Text: "hello"})
	r := newRig(t, lone, vendors{"a": v})
	got := r.ask("/v1beta/models/a/m:streamGenerateContent", geminiBody)
	var chunks []json.RawMessage
	if err := json.Unmarshal([]byte(got.body), &chunks); err != nil || len(chunks) < 2 || r.told().Tokens.Output == 0 {
		t.Errorf("%v in %s, %+v", err, got.body, r.told().Tokens)
	}
}

func TestOnlyTheModelOfARelayedBodyChanges(t *testing.T) {
	for name, body := range map[string]string{
		"odd blanks":          "{ \"model\" :\t\"a/m\" ,\n \"messages\":[ {\"role\":\"user\",\"content\":\"hi\"} ]  }\n",
		"escapes as they are": `{"messages":[{"role":"user","content":"\u00e9\u0041 <b>&\/ \ud83d\ude00 é"}],"model":"a/m","zeta":1.50,"alpha":1e5}`,
		"an escaped name":     `{"mod\u0065l":"a/m","messages":[{"role":"user","content":"hi"}]}`,
		"other duplicates":    `{"model":"a/m","seed":1,"seed":2,"messages":[{"role":"user","content":"a/m"}],"metadata":{"model":"a/m","x":1,"x":2}}`,
		"fields of tomorrow":  `{"model":"a/m","messages":[{"role":"user","content":"hi"}],"brand_new":{"deep":[null,true,{"model":"a/m"}]}}`,
		"a long body":         `{"model":"a/m","messages":[{"role":"user","content":"` + strings.Repeat(`naïve \"quoted\" text `, 12_000) + `"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			v := good("chat", false)
			r := newRig(t, lone, vendors{"a": v})
			if got := r.ask("/v1/chat/completions", body); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			want := strings.Replace(body, `"a/m"`, `"m"`, 1)
			if seen := v.seen()[0]; seen.body != want || seen.length != int64(len(want)) {
				t.Errorf("the vendor read %.300s (length %d)", seen.body, seen.length)
			}
		})
	}
}

// listed is a config with models of every sort.
const listed = `
[providers.a]
chat = "{a}/v1"
messages = "{a}"
keys = [{ name = "k", value = "sk-test-k1-000000000001" }]
models = [{ id = "claude-x", context = 200000, max_output = 64000, inputs = ["text", "image"], efforts = ["low", "high"] }, "plain"]
[providers.b]
responses = "{b}/v1"
gemini = "{b}/v1beta"
keys = [{ name = "k", value = "sk-test-k2-000000000002" }]
models = ["vendor/slashed"]
[providers.hidden]
chat = "{b}/v1"
unlisted = true
keys = [{ name = "k", value = "sk-test-k3-000000000003" }]
models = ["secret"]
[groups.pair]
routing = "order"
members = ["a/claude-x", "b/vendor/slashed"]
`

func TestModelsAreListedInTheAskersShape(t *testing.T) {
	want := []string{"group/pair", "a/claude-x", "a/plain", "b/vendor/slashed"}
	r := newRig(t, listed, vendors{"a": good("chat", false), "b": good("chat", false)})
	for name, c := range map[string]struct {
		path    string
		headers []string
		gemini  bool
	}{
		"OpenAI's":                  {"/v1/models", nil, false},
		"without a version":         {"/models", nil, false},
		"doubled":                   {"/v1/v1/models", nil, false},
		"Anthropic's":               {"/v1/models?limit=1000", []string{"anthropic-version: 2023-06-01", "x-api-key: magpie", "Authorization: "}, false},
		"Anthropic's, newer":        {"/v1/models", []string{"anthropic-version: 2026-10-21"}, false},
		"Gemini's, by its key":      {"/v1/models", []string{"x-goog-api-key: magpie", "Authorization: "}, true},
		"Gemini's, by its path":     {"/v1beta/models", nil, true},
		"Gemini's, by a key in URL": {"/v1/models?key=magpie", []string{"Authorization: "}, true},
		"Gemini's, by its client":   {"/v1/models", []string{"x-goog-api-client: google-genai-sdk/3.3"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.do(http.MethodGet, c.path, "", c.headers...)
			if got.status != 200 || got.header.Get("Content-Type") != "application/json" {
				t.Fatalf("%d %s", got.status, got.body)
			}
			var ids []string
			if c.gemini {
				var list struct {
					Models []map[string]any `json:"models"`
				}
				strict(t, got.body, &list)
				for _, m := range list.Models {
					ids = append(ids, strings.TrimPrefix(m["name"].(string), "models/"))
				}
				if m := list.Models[1]; m["inputTokenLimit"] != 200000.0 || m["outputTokenLimit"] != 64000.0 || m["thinking"] != true || len(m["supportedGenerationMethods"].([]any)) < 3 {
					t.Errorf("%v", m)
				}
			} else {
				var list struct {
					Object  string           `json:"object"`
					Data    []map[string]any `json:"data"`
					HasMore bool             `json:"has_more"`
					First   string           `json:"first_id"`
					Last    string           `json:"last_id"`
				}
				strict(t, got.body, &list)
				for _, m := range list.Data {
					ids = append(ids, m["id"].(string))
				}
				if list.Object != "list" || list.First != want[0] || list.Last != want[len(want)-1] {
					t.Errorf("%+v", list)
				}
				m := list.Data[1]
				if m["object"] != "model" || m["type"] != "model" || m["created"] != 0.0 || m["created_at"] == "" || m["owned_by"] != "a" || m["display_name"] == "" || m["reasoning"] != true ||
					m["context_window"] != 200000.0 || m["context_length"] != 200000.0 || m["max_input_tokens"] != 200000.0 || m["max_output_tokens"] != 64000.0 ||
					fmt.Sprint(m["supported_reasoning_levels"]) != "[map[effort:low] map[effort:high]]" || fmt.Sprint(m["native_endpoints"]) != "[/v1/chat/completions /v1/messages]" ||
					fmt.Sprint(m["modalities"]) != "map[input:[text image]]" {
					t.Errorf("%v", m)
				}
				if list.Data[0]["native_endpoints"] != nil || list.Data[2]["context_window"] != nil {
					t.Errorf("a group, and what is unknown: %v %v", list.Data[0], list.Data[2])
				}
			}
			if !slices.Equal(ids, want) {
				t.Errorf("%v", ids)
			}
		})
	}
	if got := r.do(http.MethodGet, "/v1/models?format=text", ""); got.body != strings.Join(want, "\n")+"\n" || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%q %s", got.body, got.header.Get("Content-Type"))
	}
	if got := r.do(http.MethodHead, "/v1/models", ""); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: %d %q", got.status, got.body)
	}
}

func TestOneModelIsToldInTheAskersShape(t *testing.T) {
	r := newRig(t, listed, vendors{"a": good("chat", false), "b": good("chat", false)})
	for path, want := range map[string]string{
		"/v1/models/a/claude-x":           "a/claude-x",
		"/v1/models/a%2Fclaude-x":         "a/claude-x",
		"/models/claude-x":                "a/claude-x",
		"/v1/models/b/vendor/slashed":     "b/vendor/slashed",
		"/v1/models/b%2Fvendor%2Fslashed": "b/vendor/slashed",
		"/v1/models/group/pair":           "group/pair",
		"/v1/models/pair":                 "group/pair",
		"/v1/models/hidden/secret":        "hidden/secret",
	} {
		var m map[string]any
		got := r.do(http.MethodGet, path, "")
		strict(t, got.body, &m)
		if got.status != 200 || m["id"] != want || m["object"] != "model" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		got = r.do(http.MethodGet, path, "", "x-goog-api-key: magpie")
		strict(t, got.body, &m)
		if got.status != 200 || m["name"] != "models/"+want {
			t.Errorf("%s for Gemini: %d %s", path, got.status, got.body)
		}
	}
	for headers, api := range map[string]string{"x-none: 1": "chat", "anthropic-version: 2023-06-01": "messages", "x-goog-api-key: magpie": "gemini"} {
		for _, path := range []string{"/v1/models/nowhere/x", "/v1/models/nope", "/v1/models/a/other"} {
			got := r.do(http.MethodGet, path, "", headers)
			if e := errorOf(t, api, got.body); got.status != 404 || e.Message == "" {
				t.Errorf("%s %s: %d %s", path, api, got.status, got.body)
			}
		}
	}
}

func TestResponsesOverAWebSocketIsPointedToHTTP(t *testing.T) {
	for _, path := range []string{"/v1/responses", "/responses", "/v1/v1/responses"} {
		r := newRig(t, lone, vendors{"a": good("responses", false)})
		got := r.do(http.MethodGet, path, "", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x")
		if errorWords(t, "responses", got.body); got.status != http.StatusUpgradeRequired {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		plain := r.do(http.MethodGet, path, "")
		if errorWords(t, "responses", plain.body); plain.status != http.StatusMethodNotAllowed || plain.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d %s, Allow %q", path, plain.status, plain.body, plain.header.Get("Allow"))
		}
		if got := r.ask(asking("responses", "a/m", false)); got.status != 200 {
			t.Errorf("POST behind it: %d", got.status)
		}
	}
}

func TestWhoIsThereIsTold(t *testing.T) {
	r := newRig(t, listed, vendors{"a": good("chat", false), "b": good("chat", false)})
	for _, path := range []string{"/", "/v1", "/v1/"} {
		var info struct {
			Name, Version string
			Models, PID   int
			Window, Demo  bool
			APIs          []string
			Started       string
		}
		got := r.do(http.MethodGet, path, "")
		strict(t, got.body, &info)
		if info.Name != "magpie" || info.Version != "test" || info.Models != 4 || len(info.APIs) != 4 {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	if got := r.do(http.MethodGet, "/api/hello", ""); got.body != `{"name":"magpie","version":"test"}`+"\n" {
		t.Errorf("%s", got.body)
	}
	for _, path := range []string{"/", "/api/hello"} {
		if got := r.do(http.MethodHead, path, ""); got.status != 200 || got.body != "" {
			t.Errorf("HEAD %s: %d %q", path, got.status, got.body)
		}
	}
	if got := r.do(http.MethodGet, "/healthz", ""); got.status != 200 {
		t.Errorf("/healthz: %d", got.status)
	}
}
