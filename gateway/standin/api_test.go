package standin_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

// full are requests that bring out thinking, text and a call in each API.
var full = map[wire.Protocol]string{
	wire.Chat:      `{"model":"glm-5.3","thinking":{"type":"enabled"},"stream_options":{"include_usage":true},"stream":%v,"messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}]}`,
	wire.Responses: `{"model":"gpt-5.4","reasoning":{"effort":"medium","summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":%v,"instructions":"S","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}],"tools":[{"type":"function","name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`,
	wire.Messages:  `{"model":"claude-sonnet-5","max_tokens":4096,"thinking":{"type":"adaptive","display":"summarized"},"stream":%v,"system":"S","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"read","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`,
	wire.Gemini:    `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"S"}]},"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"tools":[{"functionDeclarations":[{"name":"read","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}]}`,
}

// vendorOf is a vendor that speaks the API with all its habits.
var vendorOf = map[wire.Protocol]string{wire.Chat: "glm", wire.Responses: "openai", wire.Messages: "anthropic", wire.Gemini: "gemini"}

func fullAsking(api wire.Protocol, stream bool) asking {
	q := asking{api: api, body: full[api]}
	switch {
	case api == wire.Gemini && stream:
		q.path = "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
	case api == wire.Gemini:
	case stream:
		q.body = fmt.Sprintf(full[api], true)
	default:
		q.body = strings.Replace(fmt.Sprintf(full[api], false), `"stream_options":{"include_usage":true},`, "", 1)
	}
	return q
}

func TestEachAPIAnswersAsItsVendorDoes(t *testing.T) {
	for _, api := range wire.Protocols {
		for name, step := range map[string]string{
			"text": `ok text="one two three four five"`,
			"call": `ok text="let me look" call="read={\"path\":\"a.go\"}"`,
			"long": `ok text="one two" finish=length usage=2000/1500/7`,
			"safe": `refuse after-thinking`,
		} {
			for _, stream := range []bool{false, true} {
				kind := map[bool]string{true: "stream", false: "whole"}[stream]
				t.Run(fmt.Sprintf("%s %s %s", api, name, kind), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s, stop := up(t, standin.Options{Vendor: vendorOf[api], Think: "a thought or two"})
						defer stop()
						s.vendor.Script("k1", standin.Must(step)...)
						a := s.ask(fullAsking(api, stream))
						if a.status != http.StatusOK || a.err != nil {
							t.Fatalf("status %d, %v: %s", a.status, a.err, a.body)
						}
						golden(t, fmt.Sprintf("%s-%s-%s.txt", api, name, kind), pretty(a.body))
					})
				})
			}
		}
	}
}

func TestAStreamAndAWholeReplySayTheSame(t *testing.T) {
	for _, api := range wire.Protocols {
		t.Run(string(api), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{Vendor: vendorOf[api]})
				defer stop()
				whole, stream := s.ask(fullAsking(api, false)), s.ask(fullAsking(api, true))
				said := ""
				for _, e := range stream.events() {
					var v map[string]any
					if json.Unmarshal([]byte(e), &v) != nil {
						continue
					}
					text := at(v, map[wire.Protocol][]any{
						wire.Chat:      {"choices", 0, "delta", "content"},
						wire.Responses: {"delta"},
						wire.Messages:  {"delta", "text"},
						wire.Gemini:    {"candidates", 0, "content", "parts", 0, "text"},
					}[api]...)
					if api == wire.Responses && v["type"] != "response.output_text.delta" || at(v, "candidates", 0, "content", "parts", 0, "thought") == true {
						continue
					}
					if text != nil {
						said += text.(string)
					}
				}
				if said == "" || !strings.Contains(whole.body, said) {
					t.Errorf("the stream says %q, the whole reply %s", said, whole.body)
				}
			})
		})
	}
}

func TestGeminiWithoutSSEStreamsOneArray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "gemini", Text: "one two three four five"})
		defer stop()
		a := s.ask(asking{api: wire.Gemini, path: "/v1beta/models/gemini-3.8-flash:streamGenerateContent", body: bodies[wire.Gemini]})
		var all []map[string]any
		if err := json.Unmarshal([]byte(a.body), &all); err != nil || len(all) != 3 {
			t.Fatalf("%d values, %v: %s", len(all), err, a.body)
		}
		if kind := a.header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("content type %q", kind)
		}
	})
}

func TestGeminiWithoutSSERefusesInAnArray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "gemini"})
		defer stop()
		s.vendor.Script("k1", standin.Must("429 rate", "error server after=1")...)
		for range 2 {
			a := s.ask(asking{api: wire.Gemini, path: "/v1beta/models/gemini-3.8-flash:streamGenerateContent", body: bodies[wire.Gemini]})
			var all []map[string]any
			if err := json.Unmarshal([]byte(a.body), &all); err != nil || all[len(all)-1]["error"] == nil {
				t.Errorf("%d, %v: %s", a.status, err, a.body)
			}
		}
	})
}

func TestListsCountsAndEmbeddings(t *testing.T) {
	q := func(api wire.Protocol, method, path, body string) asking {
		return asking{api: api, method: method, path: path, body: body}
	}
	for name, c := range map[string]struct {
		vendor string
		asking
	}{
		"models-chat":        {"glm", q(wire.Chat, "GET", "/v1/models", "")},
		"models-messages":    {"anthropic", q(wire.Messages, "GET", "/v1/models?limit=2", "")},
		"models-gemini":      {"gemini", q(wire.Gemini, "GET", "/v1beta/models", "")},
		"model-chat":         {"glm", q(wire.Chat, "GET", "/v1/models/glm-5.3", "")},
		"model-messages":     {"anthropic", q(wire.Messages, "GET", "/v1/models/claude-sonnet-5", "")},
		"model-gemini":       {"gemini", q(wire.Gemini, "GET", "/v1/models/gemini-3.8-flash", "")},
		"count-responses":    {"openai", q(wire.Responses, "POST", "/v1/responses/input_tokens", bodies[wire.Responses])},
		"count-messages":     {"anthropic", q(wire.Messages, "POST", "/v1/messages/count_tokens?beta=true", `{"model":"claude-sonnet-5","messages":[{"role":"user","content":"hi"}],"tools":[]}`)},
		"count-gemini":       {"gemini", q(wire.Gemini, "POST", "/v1beta/models/gemini-3.8-flash%3AcountTokens", `{"generateContentRequest":{"model":"models/gemini-3.8-flash","contents":[{"parts":[{"text":"hi"}]}]}}`)},
		"embed-openai":       {"openai", q(wire.Chat, "POST", "/v1/embeddings", `{"model":"text-embedding-3-small","input":["a","b"],"dimensions":2}`)},
		"embed-gemini":       {"gemini", q(wire.Gemini, "POST", "/v1beta/models/gemini-embedding-001:embedContent", `{"content":{"parts":[{"text":"a"}]},"outputDimensionality":2}`)},
		"embed-gemini-batch": {"gemini", q(wire.Gemini, "POST", "/v1beta/models/gemini-embedding-001:batchEmbedContents", `{"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"a"}]},"outputDimensionality":2}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{Vendor: c.vendor})
				defer stop()
				a := s.ask(c.asking)
				if a.status != http.StatusOK {
					t.Fatalf("status %d: %s", a.status, a.body)
				}
				golden(t, name+".txt", pretty(a.body))
			})
		})
	}
}

func TestEmbeddingsInBase64AreLittleEndianFloats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "openai"})
		defer stop()
		a := s.ask(asking{api: wire.Chat, path: "/v1/embeddings", body: `{"model":"text-embedding-3-small","input":[1,2,3],"encoding_format":"base64","dimensions":3}`})
		data, err := base64.StdEncoding.DecodeString(at(a.value(t), "data", 0, "embedding").(string))
		if err != nil || len(data) != 12 {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		if at(a.value(t), "data", 1) != nil {
			t.Error("one list of tokens is one input")
		}
	})
}

func TestAmbiguousModelListFollowsTheHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		for api, field := range map[wire.Protocol]string{wire.Chat: "object", wire.Messages: "has_more", wire.Gemini: "models"} {
			a := s.ask(asking{api: api, method: http.MethodGet, path: "/v1/models"})
			if a.value(t)[field] == nil {
				t.Errorf("%s: %s", api, a.body)
			}
		}
	})
}

func TestAWebSocketIsToldToComeOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "openai"})
		defer stop()
		a := s.ask(asking{api: wire.Responses, method: http.MethodGet, head: map[string]string{"Upgrade": "websocket", "Connection": "Upgrade"}})
		b := s.ask(asking{api: wire.Responses, method: http.MethodGet})
		if a.status != http.StatusUpgradeRequired || b.status != http.StatusMethodNotAllowed {
			t.Errorf("upgrade %d, plain %d", a.status, b.status)
		}
	})
}

func TestStoredResponsesAreThereForTheVendorThatMadeThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "openai"})
		defer stop()
		first := s.ask(asking{api: wire.Responses, body: bodies[wire.Responses]})
		id := first.value(t)["id"].(string)
		next := `{"model":"gpt-4.1","input":"and then","previous_response_id":"` + id + `"}`
		if a := s.ask(asking{api: wire.Responses, body: next}); a.status != http.StatusOK {
			t.Errorf("the next turn: %d %s", a.status, a.body)
		}
		if a := s.ask(asking{api: wire.Responses, key: "k2", body: next}); at(a.value(t), "error", "code") != "previous_response_not_found" {
			t.Errorf("another key: %d %s", a.status, a.body)
		}
		if a := s.ask(asking{api: wire.Responses, method: http.MethodGet, path: "/v1/responses/" + id}); a.value(t)["id"] != id {
			t.Errorf("read back: %d %s", a.status, a.body)
		}
		if a := s.ask(asking{api: wire.Responses, method: http.MethodDelete, path: "/v1/responses/" + id}); a.value(t)["deleted"] != true {
			t.Errorf("deleted: %d %s", a.status, a.body)
		}
		a := s.ask(asking{api: wire.Responses, body: next})
		if at(a.value(t), "error", "code") != "previous_response_not_found" {
			t.Errorf("after that: %d %s", a.status, a.body)
		}
	})
}

func TestMessageThreadsGoOnWhereTheyBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "anthropic"})
		defer stop()
		beta := map[string]string{"anthropic-beta": "message-threads-2026-08-12"}
		body := func(thread string) string {
			return `{"model":"claude-sonnet-5","max_tokens":99,"thread":` + thread + `,"messages":[{"role":"user","content":"hi"}]}`
		}
		first := s.ask(asking{api: wire.Messages, head: beta, body: body(`{"type":"create"}`)})
		id := first.value(t)["id"].(string)
		if a := s.ask(asking{api: wire.Messages, head: beta, body: body(`{"type":"continue","previous_message_id":"` + id + `"}`)}); a.status != http.StatusOK {
			t.Errorf("continued: %d %s", a.status, a.body)
		}
		a := s.ask(asking{api: wire.Messages, head: beta, body: body(`{"type":"continue","previous_message_id":"msg_of_another"}`)})
		if a.status != http.StatusNotFound || at(a.value(t), "error", "details", "error_code") != "thread_not_found" {
			t.Errorf("another's: %d %s", a.status, a.body)
		}
		if a := s.ask(asking{api: wire.Messages, key: "k2", head: beta, body: body(`{"type":"continue","previous_message_id":"` + id + `"}`)}); a.status != http.StatusNotFound {
			t.Errorf("another key: %d %s", a.status, a.body)
		}
		if a := s.ask(asking{api: wire.Messages, body: body(`{"type":"create"}`)}); a.status != http.StatusBadRequest {
			t.Errorf("without the beta: %d %s", a.status, a.body)
		}
	})
}

func TestACompactionTriggerYieldsOneSealedItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "openai"})
		defer stop()
		a := s.ask(asking{api: wire.Responses, body: `{"model":"gpt-5.4","stream":true,"input":[{"role":"user","content":"hi"},{"type":"compaction_trigger"}]}`})
		events := a.events()
		var last map[string]any
		if err := json.Unmarshal([]byte(events[len(events)-1]), &last); err != nil {
			t.Fatal(err)
		}
		sealed, _ := at(last, "response", "output", 0, "encrypted_content").(string)
		if at(last, "response", "output", 0, "type") != "compaction" || at(last, "response", "output", 1) != nil || sealed == "" {
			t.Fatalf("it ends in %s", events[len(events)-1])
		}
		back := s.ask(asking{api: wire.Responses, body: `{"model":"gpt-5.4","input":[{"type":"compaction","encrypted_content":"` + sealed + `"},{"role":"user","content":"go on"}]}`})
		if back.status != http.StatusOK {
			t.Errorf("taken back: %d %s", back.status, back.body)
		}
	})
}
