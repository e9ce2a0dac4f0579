package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
)

// tooLong are vendors' words for a conversation that no longer fits.
var tooLong = []string{
	`{"error":{"message":"This model's maximum context length is 262144 tokens. However, you requested 262462 tokens (230462 in the messages, 32000 in the completion).","type":"BadRequestError"}}`,
	`{"object":"error","type":"BadRequestError","message":"This model's maximum context length is 1048576 tokens. However, you requested 1186139 tokens"}`,
	`{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`,
	`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 216000 tokens > 200000 maximum"}}`,
	`{"error":{"message":"Input is too long for requested model."}}`,
	`{"error":{"message":"input length exceeds the context limit"}}`,
	`{"error":{"message":"too many input tokens"}}`,
	`{"error":{"message":"上下文长度超过限制"}}`,
	`{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
	`{"error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`,
	`{"error":{"message":"Please reduce the length of the messages or completion."}}`,
	`{"error":{"message":"exceeds the maximum allowed input length"}}`,
	`{"error":{"message":"the request is longer than the model's context length"}}`,
	`{"error":{"message":"the request exceeds the available context size"}}`,
	`{"error":{"message":"tokens to keep from the initial prompt is greater than the context length"}}`,
	`{"error":{"message":"prompt token count of 140000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`,
	`{"error":{"message":"invalid params, context window exceeds limit (2013)"}}`,
	`{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144"}}`,
	`{"error":{"message":"prompt exceeds the configured context size"}}`,
	`{"error":{"code":"1261","message":"Prompt exceeds max length"}}`,
	`{"error":{"message":"no room","code":"context_window_exceeded"}}`,
	`{"error":{"message":"The request exceeded max context length"}}`,
	`{"error":{"message":"Range of input length should be [1, 98304]"}}`,
	`{"error":{"message":"token limit exceeded"}}`,
}

func TestATooLongConversationReachesTheAgentInItsOwnWords(t *testing.T) {
	for i, body := range tooLong {
		for _, api := range apis {
			for _, status := range []int{400, 422} {
				t.Run(fmt.Sprintf("%d %s %d", i, api, status), func(t *testing.T) {
					v := &canned{status: status, kind: "application/json", body: body}
					r := newRig(t, twoKeys, vendors{"a": v})
					got := r.ask(asking(api, "a/m", i%2 == 0))
					e := errorOf(t, api, got.body)
					if got.status != http.StatusBadRequest || v.asked() != 1 || len(r.rests()) != 0 {
						t.Fatalf("%d %s, asked %d times, rests %v", got.status, got.body, v.asked(), r.rests())
					}
					low := strings.ToLower(e.Message)
					switch api {
					case "messages":
						if !strings.HasPrefix(low, "prompt is too long") && !strings.HasPrefix(low, "input length and `max_tokens` exceed context limit") || e.Type != "invalid_request_error" {
							t.Errorf("Claude Code does not compact on %s", got.body)
						}
					case "gemini":
						if e.Status != "INVALID_ARGUMENT" {
							t.Errorf("%s", got.body)
						}
					default:
						if e.Code != "context_length_exceeded" || e.Type != "invalid_request_error" {
							t.Errorf("%s", got.body)
						}
					}
					if route := r.told(); failKinds(route) != "too-large" || route.Status != 400 {
						t.Errorf("%d %+v", route.Status, route.Tries)
					}
				})
			}
		}
	}
}

func TestOnlyTheReplysLengthIsTooMuch(t *testing.T) {
	// The client lowers max_tokens by itself when it reads these words.
	v := &canned{status: 400, kind: "application/json", body: tooLong[0]}
	r := newRig(t, lone, vendors{"a": v})
	if got := r.ask(asking("messages", "a/m", true)); !strings.Contains(got.body, "input length and `max_tokens` exceed context limit: 230462 + 32000 > 262144") {
		t.Errorf("%s", got.body)
	}
}

func TestWhatOnlySoundsTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		kind   trace.Kind
		calls  int
	}{
		"a 429 about tokens":      {429, `{"error":{"message":"Too many tokens, please wait before trying again."}}`, trace.Rate, 1},
		"tokens a minute at 400":  {400, `{"error":{"message":"too many input tokens per minute, please wait"}}`, "", 0},
		"max_tokens is too large": {400, `{"error":{"message":"max_tokens is too large: 99999. This model supports at most 16384 completion tokens","param":"max_tokens"}}`, trace.Request, 1},
		"output tokens":           {400, `{"error":{"message":"max_output_tokens exceeds the maximum context length"}}`, trace.Request, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &canned{status: c.status, kind: "application/json", body: c.body}
				r := newRig(t, lone, vendors{"a": v})
				got := r.ask(asking("chat", "a/m", false))
				kind := r.told().Tries[0].Fail
				if strings.Contains(got.body, "context_length_exceeded") || kind == trace.TooLarge || c.kind != "" && kind != c.kind {
					t.Errorf("%s: %d %s", kind, got.status, got.body)
				}
			})
		})
	}
}

// windows is a group of models whose windows are known, in an order that puts small ones first.
const windows = `
[providers.a]
chat = "{a}/v1"
messages = "{a}"
keys = [{ name = "k1", value = "sk-test-k1-000000000001" }, { name = "k2", value = "sk-test-k3-000000000003" }]
models = [{ id = "m", context = 160000 }, { id = "wide", context = 1000000 }, { id = "small", context = 32000 }]
[providers.b]
chat = "{b}/v1"
messages = "{b}"
keys = [{ name = "k", value = "sk-test-k2-000000000002" }]
models = [{ id = "unknown" }, { id = "big", context = 400000 }]
[groups.g]
routing = "order"
members = ["a/m", "a/small", "b/unknown", "b/big", "a/wide"]
`

// chatOf is a Chat request that is estimated at just so many tokens.
func chatOf(t *testing.T, model string, tokens int) string {
	t.Helper()
	make := func(n int) string {
		return `{"model":"` + model + `","messages":[{"role":"user","content":"` + strings.Repeat("x", n) + `"}]}`
	}
	none, err := wire.Read([]byte(make(0)), wire.Chat)
	if err != nil {
		t.Fatal(err)
	}
	body := make(tokens*4 - none.Text)
	if env, err := wire.Read([]byte(body), wire.Chat); err != nil || env.Estimate() != tokens {
		t.Fatalf("%d tokens, %v", env.Estimate(), err)
	}
	return body
}

func TestATooLongConversationGoesOnlyToAModelThatHoldsIt(t *testing.T) {
	for name, c := range map[string]struct {
		tokens int
		status int
		want   string
	}{
		"20,000 tokens: any window that is known to be larger": {20_000, 400, "a/k1 a/k1"},
		"170,000: the larger ones":                             {170_000, 400, "a/k1 b/k"},
		"500,000: the widest":                                  {500_000, 400, "a/k1 a/k1"},
		"too many bytes: any other model":                      {170_000, 413, "a/k1 a/k1"},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"error":{"message":"prompt is too long","code":"context_length_exceeded"}}`
			if c.status == 413 {
				body = `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`
			}
			a := byModel{"m": cannedOf(c.status, body), "": good("chat", false)}
			b := good("chat", false)
			r := newRig(t, windows, vendors{"a": a, "b": b})
			got := r.ask("/v1/chat/completions", chatOf(t, "group/g", c.tokens))
			route := r.told()
			if got.status != 200 || tried(route) != c.want || len(r.rests()) != 0 {
				t.Errorf("%d %s, tried %s, rests %v", got.status, got.body, tried(route), r.rests())
			}
			for _, try := range route.Tries[1:] {
				if try.Model == "m" || c.status == 400 && try.Model == "unknown" {
					t.Errorf("tried %s again, or one of unknown window", try.Model)
				}
			}
		})
	}
}

func TestNoModelHoldsATooLongConversation(t *testing.T) {
	a := byModel{"": cannedOf(400, `{"error":{"message":"prompt is too long","code":"context_length_exceeded"}}`)}
	b := good("chat", false)
	r := newRig(t, windows, vendors{"a": a, "b": b})
	got := r.ask("/v1/chat/completions", chatOf(t, "group/g", 1_100_000))
	if got.status != 400 || errorOf(t, "chat", got.body).Code != "context_length_exceeded" || b.asked() != 0 || len(r.told().Tries) != 1 {
		t.Errorf("%d %s, b asked %d times, %+v", got.status, got.body, b.asked(), r.told().Tries)
	}
}

// byModel answers by the model that is asked, "" any other.
type byModel map[string]*canned

func (m byModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var buf strings.Builder
	body := http.MaxBytesReader(w, r.Body, 64<<20)
	chunk := make([]byte, 64<<10)
	for {
		n, err := body.Read(chunk)
		buf.Write(chunk[:n])
		if err != nil {
			break
		}
	}
	for model, v := range m {
		if model != "" && strings.Contains(buf.String()[:min(buf.Len(), 200)], `"`+model+`"`) {
			v.ServeHTTP(w, r)
			return
		}
	}
	m[""].ServeHTTP(w, r)
}

func TestAnUnsaidOverflowIsToldFromAFifthAbove(t *testing.T) {
	toml := strings.Replace(lone, "[providers.a]\n", "[providers.a]\nmodels = [{ id = \"m\", context = 160000 }, { id = \"open\" }]\n", 1)
	for name, c := range map[string]struct {
		model  string
		tokens int
		status int
		body   string
		told   bool
	}{
		"190,000 tokens pass on as they are":           {"m", 190_000, 500, `{"error":{"message":"internal error"}}`, false},
		"192,000 are told as an overflow":              {"m", 192_000, 500, `{"error":{"message":"internal error"}}`, true},
		"at 400, too":                                  {"m", 192_000, 400, `{"error":{"message":"bad request"}}`, true},
		"at 413, too":                                  {"m", 192_000, 413, `{"error":{"message":"no"}}`, true},
		"at 504, too":                                  {"m", 192_000, 504, `{"error":{"message":"no"}}`, true},
		"not where quota is named":                     {"m", 192_000, 500, `{"error":{"message":"usage limit reached for your plan"}}`, false},
		"not where the model is not served":            {"m", 192_000, 400, `{"error":{"message":"The model m does not exist","code":"model_not_found"}}`, false},
		"not where the window is unknown":              {"open", 192_000, 500, `{"error":{"message":"internal error"}}`, false},
		"not at a status that says something else":     {"m", 192_000, 401, `{"error":{"message":"no"}}`, false},
		"not at a 429":                                 {"m", 192_000, 429, `{"error":{"message":"slow down"}}`, false},
		"not where a refusal is named":                 {"m", 192_000, 400, `{"error":{"message":"no","code":"content_filter"}}`, false},
		"not where the vendor names a field's mistake": {"m", 192_000, 400, `{"error":{"message":"bad","code":"invalid_value","param":"temperature"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := cannedOf(c.status, c.body)
				r := newRig(t, toml, vendors{"a": v})
				got := r.ask("/v1/chat/completions", chatOf(t, "a/"+c.model, c.tokens))
				told := got.status == 400 && strings.Contains(got.body, "context_length_exceeded")
				if told != c.told {
					t.Errorf("%d %s", got.status, got.body)
				}
				if c.told && (v.asked() != 1 || len(r.rests()) != 0 || failKinds(r.told()) != "too-large") {
					t.Errorf("asked %d times, rests %v, %+v", v.asked(), r.rests(), r.told().Tries)
				}
			})
		})
	}
}

func TestATooLargeBodyIsToldAsBytes(t *testing.T) {
	for _, api := range apis {
		v := &canned{status: 413, kind: "application/json", body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`}
		r := newRig(t, lone, vendors{"a": v})
		got := r.ask(asking(api, "a/m", false))
		if got.status != 413 && got.status != 400 || v.asked() != 1 || len(r.rests()) != 0 {
			t.Errorf("%s: %d %s, asked %d times", api, got.status, got.body, v.asked())
		}
		if !strings.Contains(got.body, "bytes") {
			t.Errorf("%s: nothing says that bytes are meant: %s", api, got.body)
		}
	}
}
