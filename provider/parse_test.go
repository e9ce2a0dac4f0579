package provider_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func TestParseModels(t *testing.T) {
	tests := []struct {
		name string
		api  wire.Protocol
		body string
		want []provider.Model
	}{
		{
			"OpenAI", wire.Chat, `{"object":"list","data":[{"id":"gpt-5.4","object":"model","created":1,"owned_by":"openai"},{"id":"gpt-5.4-mini"}]}`,
			[]provider.Model{{ID: "gpt-5.4"}, {ID: "gpt-5.4-mini"}},
		},
		{
			"Anthropic", wire.Messages, `{"data":[{"type":"model","id":"claude-sonnet-5","display_name":"Claude Sonnet 5","created_at":"2026-06-30T00:00:00Z",
			  "max_input_tokens":1000000,"max_tokens":128000,"capabilities":{"effort":{"low":{"supported":true}}}}],"has_more":false,"first_id":"a","last_id":"a"}`,
			[]provider.Model{{ID: "claude-sonnet-5", Name: "Claude Sonnet 5", Context: 1000000, MaxOutput: 128000}},
		},
		{
			"Gemini, without what generates nothing", wire.Gemini, `{"models":[
			  {"name":"models/gemini-3.1-pro-preview","displayName":"Gemini 3.1 Pro","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"]},
			  {"name":"models/aqa","supportedGenerationMethods":["generateAnswer"]},
			  {"name":"models/gemini-embedding-001","supportedGenerationMethods":["embedContent"]},
			  {"name":"models/unsaid"}],"nextPageToken":"x"}`,
			[]provider.Model{
				{ID: "gemini-3.1-pro-preview", Name: "Gemini 3.1 Pro", Context: 1048576, MaxOutput: 65536},
				{ID: "gemini-embedding-001"},
				{ID: "unsaid"},
			},
		},
		{
			"Ollama", wire.Chat, `{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5,"details":{"family":"qwen3"}}]}`,
			[]provider.Model{{ID: "qwen3:8b"}},
		},
		{
			"OpenRouter, with prices a token and a router whose price depends", wire.Chat, `{"data":[
			  {"id":"z-ai/glm-5.3","name":"Z.ai: GLM 5.3","context_length":1048576,"architecture":{"input_modalities":["text"]},
			   "top_provider":{"context_length":1000000,"max_completion_tokens":131072},"pricing":{"prompt":"0.0000014","completion":"0.0000044","input_cache_read":"0.00000026"}},
			  {"id":"openrouter/auto","pricing":{"prompt":"-1","completion":"-1"}},
			  {"id":"free/x:free","pricing":{"prompt":"0","completion":"0"}}]}`,
			[]provider.Model{
				{ID: "z-ai/glm-5.3", Name: "Z.ai: GLM 5.3", Context: 1048576, MaxOutput: 131072, Inputs: []string{"text"}, Price: &provider.Price{Input: usd(1.4), Output: usd(4.4), CacheRead: usd(0.26)}},
				{ID: "openrouter/auto"},
				{ID: "free/x:free", Price: &provider.Price{Input: usd(0), Output: usd(0)}},
			},
		},
		{
			"another magpie, with APIs and levels", wire.Chat, `{"data":[{"id":"a/m","context_window":200000,"max_output_tokens":64000,"modalities":{"input":["text","image"]},
			  "supported_reasoning_levels":[{"effort":"low"},{"effort":"high"}],"native_endpoints":["/v1/chat/completions","/v1/messages"]}]}`,
			[]provider.Model{{
				ID: "a/m", Context: 200000, MaxOutput: 64000, Inputs: []string{"text", "image"}, Efforts: []string{"low", "high"},
				APIs: []wire.Protocol{wire.Chat, wire.Messages},
			}},
		},
		{"a bare array", wire.Chat, `[{"id":"a"},{"id":"b","max_model_len":"32768"}]`, []provider.Model{{ID: "a"}, {ID: "b", Context: 32768}}},
		{"repeats and what has no usable id are left out", wire.Chat, `{"data":[{"id":"a"},{"id":"a"},{"id":""},{"id":7},{},null,"x",{"id":"b c"},{"id":"b\u0007"},{"id":" d "}]}`, []provider.Model{{ID: "a"}, {ID: "d"}}},
		{"odd fields cost only themselves", wire.Chat, `{"data":[{"id":"a","context_window":{},"max_output_tokens":-5,"modalities":[1],"pricing":[],"top_provider":null,"supported_endpoints":"x","name":["n"]}]}`, []provider.Model{{ID: "a"}}},
		{"an empty list", wire.Chat, `{"data":[]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := provider.ParseModels(tt.api, []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmp.Comparer(near)); d != "" {
				t.Error(d)
			}
		})
	}
	for _, body := range []string{"", "<html>sign in</html>", `{"error":{"message":"no"}}`, `"x"`, `7`, `null`, `{"data":7}`, `{"data":null}`} {
		if got, err := provider.ParseModels(wire.Chat, []byte(body)); err == nil {
			t.Errorf("%q reads as %v", body, got)
		}
	}
}

func TestParseModelsIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"data":[{"id":"` + strings.Repeat("x", 300) + `"}`)
	for i := range 12_000 {
		b.WriteString(`,{"id":"m` + strings.Repeat("0", i%7) + string(rune('a'+i%26)) + strings.Repeat("1", i/300) + `-` + strings.Repeat("2", i%300) + `"}`)
	}
	b.WriteString(`]}`)
	got, err := provider.ParseModels(wire.Chat, []byte(b.String()))
	if err != nil || len(got) > 10_000 || len(got) < 5_000 {
		t.Errorf("%d models, %v", len(got), err)
	}
	if len(got[0].ID) > 256 {
		t.Error("an id of 300 characters is kept")
	}
}

func FuzzParseModels(f *testing.F) {
	for _, s := range []string{`{"data":[{"id":"a","pricing":{"prompt":"1e-6"}}]}`, `{"models":[{"name":"models/x"}]}`, `[{"id":"a"}]`, `{"data":[{"id":"a","context_window":1e400}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, api := range wire.Protocols {
			models, err := provider.ParseModels(api, []byte(body))
			if err != nil {
				continue
			}
			seen := map[string]bool{}
			for _, m := range models {
				if m.ID == "" || len(m.ID) > 256 || seen[m.ID] || !utf8.ValidString(m.ID) || m.Context < 0 || m.MaxOutput < 0 {
					t.Fatalf("%q gives %+v", body, m)
				}
				seen[m.ID] = true
				if _, err := json.Marshal(m); err != nil {
					t.Fatal(err)
				}
			}
			provider.NewList(models)
		}
	})
}
