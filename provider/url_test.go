package provider_test

import (
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func TestURL(t *testing.T) {
	c := build(t, `
[providers.p]
chat = "https://x.example/api/paas/v4"
responses = "https://x.example/v1"
messages = "https://x.example"
gemini = "https://x.example/v1beta"
keys = [{ env = "X" }]
[providers.q]
chat = "https://x.example/v1"
keys = [{ env = "X" }]
`)
	p := c.Provider("p")
	tests := []struct {
		api   wire.Protocol
		door  provider.Door
		model string
		want  string
	}{
		{wire.Chat, provider.Generate, "m", "https://x.example/api/paas/v4/chat/completions"},
		{wire.Chat, provider.Stream, "m", "https://x.example/api/paas/v4/chat/completions"},
		{wire.Chat, provider.Embeddings, "m", "https://x.example/api/paas/v4/embeddings"},
		{wire.Chat, provider.ModelList, "", "https://x.example/api/paas/v4/models"},
		{wire.Chat, provider.Count, "m", ""},
		{wire.Responses, provider.Generate, "m", "https://x.example/v1/responses"},
		{wire.Responses, provider.Count, "m", "https://x.example/v1/responses/input_tokens"},
		{wire.Responses, provider.Embeddings, "m", ""},
		{wire.Messages, provider.Stream, "m", "https://x.example/v1/messages"},
		{wire.Messages, provider.Count, "m", "https://x.example/v1/messages/count_tokens"},
		{wire.Messages, provider.ModelList, "", "https://x.example/v1/models?limit=1000"},
		{wire.Gemini, provider.Generate, "gemini-3.1-pro", "https://x.example/v1beta/models/gemini-3.1-pro:generateContent"},
		{wire.Gemini, provider.Stream, "gemini-3.1-pro", "https://x.example/v1beta/models/gemini-3.1-pro:streamGenerateContent?alt=sse"},
		{wire.Gemini, provider.Count, "gemini-3.1-pro", "https://x.example/v1beta/models/gemini-3.1-pro:countTokens"},
		{wire.Gemini, provider.Embeddings, "e", "https://x.example/v1beta/models/e:embedContent"},
		{wire.Gemini, provider.Batch, "e", "https://x.example/v1beta/models/e:batchEmbedContents"},
		{wire.Gemini, provider.ModelList, "", "https://x.example/v1beta/models?pageSize=1000"},
		{wire.Gemini, provider.Generate, "a/b?c#d ", "https://x.example/v1beta/models/a/b%3Fc%23d%20:generateContent"},
		{wire.Gemini, provider.Generate, "../../v1/x", "https://x.example/v1beta/models/..%2F..%2Fv1%2Fx:generateContent"},
	}
	for _, tt := range tests {
		if got := p.URL(tt.api, tt.door, tt.model); got != tt.want {
			t.Errorf("%s %s %q:\n got %s\nwant %s", tt.api, tt.door, tt.model, got, tt.want)
		}
	}
	q := c.Provider("q")
	if got := q.URL(wire.Messages, provider.Generate, "m"); got != "" || q.Speaks(wire.Messages) {
		t.Errorf("an API without a base has the address %q", got)
	}
}

func TestNormalBase(t *testing.T) {
	tests := []struct {
		api       wire.Protocol
		raw, want string // want "" = refused
	}{
		{wire.Chat, "https://x.example/v1", "https://x.example/v1"},
		{wire.Chat, " https://x.example/v1/ ", "https://x.example/v1"},
		{wire.Chat, "https://x.example/v1//", "https://x.example/v1"},
		{wire.Chat, "x.example/v1", "https://x.example/v1"},
		{wire.Chat, "localhost:1234/v1", "http://localhost:1234/v1"},
		{wire.Chat, "127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"},
		{wire.Chat, "https://x.example/v1/chat/completions", "https://x.example/v1"},
		{wire.Chat, "https://x.example/v1/chat/completions/", "https://x.example/v1"},
		{wire.Chat, "https://ark.example/api/v3", "https://ark.example/api/v3"},
		{wire.Responses, "https://x.example/v1/responses", "https://x.example/v1"},
		{wire.Messages, "https://x.example/v1/messages", "https://x.example"},
		{wire.Messages, "https://x.example/v1/", "https://x.example"},
		{wire.Messages, "https://x.example/anthropic/v1", "https://x.example/anthropic"},
		{wire.Messages, "https://x.example/v1beta", "https://x.example/v1beta"},
		{wire.Gemini, "https://x.example/v1beta/", "https://x.example/v1beta"},
		{wire.Gemini, "https://x.example/v1beta/models", "https://x.example/v1beta"},
		{wire.Chat, "ftp://x.example", ""},
		{wire.Chat, "https://", ""},
		{wire.Chat, "", ""},
		{wire.Chat, "https://user:pw@x.example/v1", ""},
		{wire.Chat, "https://x.example/v1?key=1", ""},
		{wire.Chat, "https://x.example/v1#x", ""},
		{wire.Chat, "https://x.example:port/", ""},
	}
	for _, tt := range tests {
		got, err := provider.NormalBase(tt.api, tt.raw)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s %q: %q, %v; want %q", tt.api, tt.raw, got, err, tt.want)
		}
		if err != nil {
			continue
		}
		if again, err := provider.NormalBase(tt.api, got); err != nil || again != got {
			t.Errorf("%q is not its own normal form: %q, %v", got, again, err)
		}
	}
}

func TestSpeaksFor(t *testing.T) {
	c := build(t, `
[providers.commandcode]
keys = [{ env = "X" }]
[providers.bedrock]
keys = [{ env = "X" }]
[providers.openai]
keys = [{ env = "X" }]
[providers.relay]
chat = "https://x.example/v1"
messages = "https://x.example"
keys = [{ env = "X" }]
models = [{ id = "a", apis = ["messages"] }, "b"]
`)
	lists := provider.NewList([]provider.Model{{ID: "fetched", APIs: []wire.Protocol{wire.Responses}}, {ID: "bare"}})
	tests := []struct {
		id, model string
		api       wire.Protocol
		want      bool
	}{
		{"commandcode", "Claude-Sonnet-5", wire.Messages, true},
		{"commandcode", "claude-sonnet-5", wire.Chat, false},
		{"commandcode", "glm-5.3", wire.Chat, true},
		{"commandcode", "glm-5.3", wire.Messages, false},
		{"bedrock", "global.anthropic.claude-sonnet-5", wire.Messages, true},
		{"bedrock", "global.anthropic.claude-sonnet-5", wire.Chat, false},
		{"bedrock", "openai.gpt-oss-120b", wire.Responses, false},
		{"openai", "gpt-5.4", wire.Chat, true},
		{"openai", "gpt-5.4", wire.Messages, false},
		{"openai", "fetched", wire.Chat, false},
		{"openai", "fetched[1m]", wire.Responses, true},
		{"openai", "bare", wire.Chat, true},
		{"relay", "a", wire.Chat, false},
		{"relay", "a[1m]", wire.Messages, true},
		{"relay", "b", wire.Chat, true},
	}
	for _, tt := range tests {
		if got := c.Provider(tt.id).SpeaksFor(tt.api, tt.model, lists); got != tt.want {
			t.Errorf("%s %s on %s: %v", tt.id, tt.model, tt.api, got)
		}
	}
}

func TestAuthHeader(t *testing.T) {
	for style, want := range map[provider.AuthStyle][2]string{
		provider.AuthBearer:  {"Authorization", "Bearer k"},
		provider.AuthXAPIKey: {"X-Api-Key", "k"},
		provider.AuthGoogle:  {"X-Goog-Api-Key", "k"},
		provider.AuthAPIKey:  {"Api-Key", "k"},
	} {
		if name, value := style.Header("k"); name != want[0] || value != want[1] {
			t.Errorf("%s: %s: %s", style, name, value)
		}
	}
}
