package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

func TestGeminisEmbeddingsOfSeveralTextsNameTheVendorsModel(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Keys: []string{keyOne, keyTwo}})
	v.Script(keyOne, standin.Must("429 rate op=embed")...)
	r := newRig(t, twoKeys, vendors{"a": v})
	got := r.ask("/v1beta/models/a/m:batchEmbedContents",
		`{"requests":[{"model":"models/a/m","content":{"parts":[{"text":"one"}]}},{"model":"models/a/m","content":{"parts":[{"text":"two"}]}}]}`)
	if got.status != 200 || strings.Count(got.body, `"values"`) != 2 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	calls := v.Calls()
	if last := calls[len(calls)-1]; last.Path != "/v1beta/models/m:batchEmbedContents" || strings.Count(string(last.Body), `"model":"models/m"`) != 2 || last.Key != keyTwo {
		t.Errorf("%s with %s: %s", last.Path, last.Key, last.Body)
	}
}

func TestEmbeddingsAreToldFromTheOtherAPI(t *testing.T) {
	const one, batch = "/v1beta/models/m:embedContent", "/v1beta/models/m:batchEmbedContents"
	gemini := `{"embeddings":[{"values":[0.5,1]},{"values":[-1.50,2]}]}`
	chat := `{"object":"list","model":"m","data":[{"object":"embedding","index":1,"embedding":[-1.50,2]},{"object":"embedding","index":0,"embedding":"AAAAPwAAgD8="}],"usage":{"prompt_tokens":7,"total_tokens":7}}`
	for name, c := range map[string]crossing{
		"texts to Gemini": {
			api: "gemini", path: "/v1/embeddings", body: `{"model":"m","input":["a","b"],"dimensions":2,"encoding_format":"float","user":"u"}`, reply: gemini,
			asked: `{"requests":[{"model":"models/m","content":{"parts":[{"text":"a"}]},"outputDimensionality":2},{"model":"models/m","content":{"parts":[{"text":"b"}]},"outputDimensionality":2}],"user":{"$absent":true}}`,
			want: `{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[0.5,1]},{"object":"embedding","index":1,"embedding":[-1.5,2]}],
				"usage":{"prompt_tokens":{"$gte":1},"total_tokens":{"$gte":1}}}`,
		},
		"packed": {
			api: "gemini", path: "/v1/embeddings", body: `{"model":"m","input":["a","b"],"encoding_format":"base64"}`, reply: gemini,
			want: `{"data":[{"index":0,"embedding":"AAAAPwAAgD8="},{"index":1,"embedding":"AADAvwAAAEA="}]}`,
		},
		"one text, and what it cost": {
			api: "gemini", path: "/v1/embeddings", body: `{"model":"m","input":"a"}`, reply: `{"embedding":{"values":[1]},"usageMetadata":{"promptTokenCount":3}}`,
			asked: `{"requests":[{"content":{"parts":[{"text":"a"}]},"outputDimensionality":{"$absent":true}}]}`,
			want:  `{"data":[{"embedding":[1]}],"usage":{"prompt_tokens":3,"total_tokens":3}}`, tokens: "3/0/0",
		},
		"one text to Chat": {
			api: "chat", model: "m", path: one, body: `{"content":{"parts":[{"text":"a"},{"text":"b"}]},"taskType":"RETRIEVAL_QUERY","outputDimensionality":3}`,
			reply: `{"data":[{"embedding":[0.25]}],"usage":{"prompt_tokens":7}}`, asked: `{"model":"m","input":"a\nb","dimensions":3,"taskType":{"$absent":true}}`,
			want: `{"embedding":{"values":[0.25]},"embeddings":{"$absent":true}}`, tokens: "7/0/0",
		},
		"a batch to Chat, which answers in any order and packed": {
			api: "chat", model: "m", path: batch, body: `{"requests":[{"model":"models/m","content":{"parts":[{"text":"a"}]}},{"model":"models/m","content":{"parts":[{"text":"b"}]}}]}`,
			reply: chat, asked: `{"model":"m","input":["a","b"],"dimensions":{"$absent":true}}`, want: `{"embeddings":[{"values":[0.5,1]},{"values":[-1.5,2]}]}`, tokens: "7/0/0",
		},
	} {
		t.Run(name, func(t *testing.T) { cross(t, c) })
	}
}

func TestEmbeddingsThatTheOtherAPICantBeAskedFor(t *testing.T) {
	const batch = "/v1beta/models/a%2Fm:batchEmbedContents"
	for name, c := range map[string]struct {
		to         wire.Protocol
		path, body string
		status     int
		says       string
	}{
		"tokens":                  {wire.Gemini, "/v1/embeddings", `{"model":"a/m","input":[1,2]}`, 400, `"param":"input"`},
		"lists of tokens":         {wire.Gemini, "/v1/embeddings", `{"model":"a/m","input":[[1],[2]]}`, 400, `"param":"input"`},
		"no text":                 {wire.Gemini, "/v1/embeddings", `{"model":"a/m","input":[]}`, 400, `"param":"input"`},
		"an image":                {wire.Chat, batch, `{"requests":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}]}`, 400, "requests[0].content"},
		"vectors of two lengths":  {wire.Chat, batch, `{"requests":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"a"}]},"outputDimensionality":3}]}`, 400, "requests[1].outputDimensionality"},
		"no request":              {wire.Chat, batch, `{"requests":[]}`, 400, "requests"},
		"a vendor of Messages":    {wire.Messages, "/v1/embeddings", `{"model":"a/m","input":"x"}`, 404, "api_not_supported"},
		"Gemini's, of Responses":  {wire.Responses, batch, `{"requests":[{"content":{"parts":[{"text":"a"}]}}]}`, 404, "NOT_FOUND"},
		"fewer vectors than text": {wire.Gemini, "/v1/embeddings", `{"model":"a/m","input":["x","y"]}`, 502, "1 embeddings of 2 texts"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(`{"embeddings":[{"values":[1]}]}`))
				})
				r := newRig(t, strings.Replace(only(c.to), "[providers.a]\n", "[providers.a]\nmodels = [\"m\"]\n", 1), vendors{"a": v})
				if got := r.ask(c.path, c.body); got.status != c.status || !strings.Contains(got.body, c.says) {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		})
	}
}

func TestEmbeddingsOfTheOtherAPIFailOverLikeAnyOther(t *testing.T) {
	for to, path := range map[wire.Protocol]string{wire.Gemini: "/v1/embeddings", wire.Chat: "/v1beta/models/a%2Fm:embedContent"} {
		for _, step := range []string{"429 rate op=embed", "cut op=embed", "500 op=embed"} {
			t.Run(string(to)+" "+step, func(t *testing.T) {
				v := standin.New(standin.Options{Models: []string{"m"}, APIs: []wire.Protocol{to}})
				v.Script(keyOne, standin.Must(step)...)
				r := newRig(t, only(to), vendors{"a": v})
				got := r.ask(path, `{"model":"a/m","input":"one","content":{"parts":[{"text":"one"}]}}`)
				if route := r.last(); got.status != http.StatusOK || tried(route) != "a/k1 a/k2" {
					t.Fatalf("tried %s: %d %s", tried(route), got.status, got.body)
				}
			})
		}
	}
}
