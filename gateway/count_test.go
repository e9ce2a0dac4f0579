package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

const (
	countPath  = "/v1/messages/count_tokens?beta=true"
	countReply = `{"input_tokens":4321}`
)

func countBody(model string) string {
	return `{"model":"` + model + `","tools":[],"messages":[{"role":"user","content":"how many is this?"}]}`
}

func TestACountIsRelayed(t *testing.T) {
	v := &canned{status: 200, kind: "application/json", body: countReply}
	r := newRig(t, lone, vendors{"a": v})
	got := r.ask(countPath, countBody("a/m"), "anthropic-beta: token-counting-2024-11-01")
	call := v.seen()[0]
	if got.status != 200 || got.body != countReply || call.path != "/v1/messages/count_tokens" || call.query != "beta=true" || call.body != countBody("m") || call.header.Get("Anthropic-Beta") == "" {
		t.Errorf("%d %s, the vendor saw %+v", got.status, got.body, call)
	}
	if route := r.told(); route.Status != 200 || tried(route) != "a/k1" || route.API != "messages" {
		t.Errorf("%+v", route)
	}
}

func TestARateLimitedCountGoesToTheNextKeyAndRestsTheFirst(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}})
	v.Script(keyOne, standin.Must("429 rate op=count x*")...)
	r := newRig(t, twoKeys, vendors{"a": v})
	got := r.ask(countPath, countBody("a/m"))
	route := r.told()
	if got.status != 200 || !strings.Contains(got.body, "input_tokens") || tried(route) != "a/k1 a/k2" || r.rests()["a/k1"].Why != trace.Rate {
		t.Errorf("%d %s, tried %s, rests %v", got.status, got.body, tried(route), r.rests())
	}
	r.ask(countPath, countBody("a/m"))
	if tried(r.told()) != "a/k2" {
		t.Errorf("the next went to %s", tried(r.told()))
	}
}

func TestACountThatAVendorDoesNotServeIsEstimated(t *testing.T) {
	for name, v := range map[string]*canned{
		"404 of the path":    {status: 404, kind: "application/json", body: `{"error":{"message":"Invalid URL (POST /v1/messages/count_tokens)","type":"invalid_request_error"}}`},
		"404 without words":  {status: 404, kind: "text/plain", body: "404 page not found"},
		"405":                {status: 405, kind: "application/json", body: `{"detail":"Method Not Allowed"}`},
		"501":                {status: 501, kind: "application/json", body: `{"error":{"message":"not implemented"}}`},
		"400 that says so":   {status: 400, kind: "application/json", body: `{"error":{"message":"count_tokens is not supported by this endpoint"}}`},
		"404 page, as HTML":  {status: 404, kind: "text/html", body: "<html><title>404</title></html>"},
		"200 page, as HTML":  {status: 200, kind: "text/html", body: "<html><title>Welcome</title></html>"},
		"501 after a repeat": {status: 501, kind: "application/json", body: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v.calls = nil
				r := newRig(t, twoKeys, vendors{"a": v})
				got := r.ask(countPath, countBody("a/m"))
				var n struct {
					Tokens int `json:"input_tokens"`
				}
				strict(t, got.body, &n)
				if got.status != 200 || n.Tokens < 1 || n.Tokens > 100 {
					t.Errorf("%d %s", got.status, got.body)
				}
				if len(r.rests()) != 0 || v.asked() != 1 {
					t.Errorf("a path that is not there rested %v, asked %d times", r.rests(), v.asked())
				}
				if route := r.told(); route.Status != 200 || !route.Done || len(route.Tries) != 1 || route.Tries[0].Fail == "" {
					t.Errorf("%+v", route)
				}
			})
		})
	}
}

func TestACountNeverGoesToAFallbackModel(t *testing.T) {
	for name, c := range map[string]struct {
		step   string
		status int
	}{
		"where the key is limited":    {"429 rate retry-after=60s op=count x*", 429},
		"where it is out of credit":   {"402 credit op=count x*", 402},
		"where the vendor has failed": {"500 server op=count x*", 500},
		"where the body is wrong":     {"400 bad op=count x*", 400},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan, spare := relay("", c.step), relay("")
				r := newRig(t, planAndSpare, vendors{"plan": plan, "spare": spare})
				got := r.ask(countPath, countBody("plan/m"))
				if got.status != c.status || len(spare.Calls()) != 0 {
					t.Errorf("%d %s, spare asked %d times", got.status, got.body, len(spare.Calls()))
				}
				if e := r.told(); e.Status != c.status || len(e.Order) != 1 {
					t.Errorf("%d, order %s", e.Status, ordered(e.Order))
				}
			})
		})
	}
	t.Run("where the own key is paused: an estimate", func(t *testing.T) {
		plan, spare := relay(""), relay("")
		r := newRig(t, planAndSpare, vendors{"plan": plan, "spare": spare})
		r.do(http.MethodPost, "/v1/magpie/do", `{"verb":"pause","who":"plan/main"}`, "Authorization: Bearer control-token")
		got := r.ask(countPath, countBody("plan/m"))
		if got.status != 200 || !strings.Contains(got.body, `{"input_tokens":`) || len(spare.Calls()) != 0 {
			t.Errorf("%d %s, spare asked %d times", got.status, got.body, len(spare.Calls()))
		}
	})
}

func TestGeminiCountsWithoutAVendor(t *testing.T) {
	for _, path := range []string{"/v1beta/models/a/m:countTokens", "/v1beta/models/a%2Fm%3AcountTokens", "/v1/models/m:countTokens", "/v1beta/models/a/m:countTokens?key=TOKEN"} {
		v := good("gemini", false)
		r := newRig(t, strings.Replace(lone, "keys =", "models = [\"m\"]\nkeys =", 1), vendors{"a": v})
		for _, body := range []string{geminiBody, `{"generateContentRequest":{"model":"models/m","contents":[{"role":"user","parts":[{"text":"hi there, all of you"}]}]}}`} {
			got := r.ask(path, body)
			var n struct {
				Total int `json:"totalTokens"`
			}
			strict(t, got.body, &n)
			if got.status != 200 || n.Total < 1 || v.asked() != 0 {
				t.Errorf("%s: %d %s, asked %d times", path, got.status, got.body, v.asked())
			}
		}
		if route := r.told(); route.Status != 200 || !route.Done || len(route.Tries) != 0 {
			t.Errorf("%+v", route)
		}
	}
}

func TestACountForAModelThatIsNotThereIsA404(t *testing.T) {
	r := newRig(t, lone, vendors{"a": good("messages", false)})
	for path, body := range map[string]string{countPath: countBody("nowhere/m"), "/v1beta/models/nowhere/m:countTokens": geminiBody, "/v1/responses/input_tokens": responsesBody("nowhere/m")} {
		if got := r.ask(path, body); got.status != 404 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

func TestResponsesCountsAndCompacts(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Keys: []string{keyOne}})
	r := newRig(t, lone, vendors{"a": v})
	if got := r.ask("/v1/responses/input_tokens", responsesBody("a/m")); got.status != 200 || !strings.Contains(got.body, `"input_tokens"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.ask("/v1/responses/compact", responsesBody("a/m")); got.status != 200 || !strings.Contains(got.body, "compaction") {
		t.Errorf("%d %s", got.status, got.body)
	}
	calls := v.Calls()
	if len(calls) != 2 || calls[0].Path != "/v1/responses/input_tokens" || calls[1].Path != "/v1/responses/compact" || calls[1].Model != "m" {
		t.Errorf("%+v", calls)
	}
	gone := &canned{status: 404, kind: "application/json", body: `{"error":{"message":"Invalid URL (POST /v1/responses/input_tokens)"}}`}
	r = newRig(t, lone, vendors{"a": gone})
	if got := r.ask("/v1/responses/input_tokens", responsesBody("a/m")); got.status != 200 || !strings.Contains(got.body, `"object":"response.input_tokens"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestEmbeddingsAreRelayed(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Keys: []string{keyOne, keyTwo}})
	v.Script(keyOne, standin.Must("429 rate op=embed")...)
	r := newRig(t, twoKeys, vendors{"a": v})
	for _, path := range []string{"/v1/embeddings", "/embeddings"} {
		got := r.ask(path, `{"model":"a/m","input":["one","two"],"encoding_format":"base64"}`)
		if got.status != 200 || !strings.Contains(got.body, `"embedding"`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	got := r.ask("/v1beta/models/a/m:embedContent", `{"content":{"parts":[{"text":"one"}]}}`)
	if got.status != 200 || !strings.Contains(got.body, `"embedding"`) {
		t.Errorf("Gemini: %d %s", got.status, got.body)
	}
	for _, c := range v.Calls() {
		if len(c.Leaks) > 0 || c.Refused != "" {
			t.Errorf("%+v", c)
		}
	}
}

// What has no counterpart elsewhere is not translated: embeddings, which Messages has none of.
func TestWhatAVendorsAPIHasNotIsToldInTheAgentsShape(t *testing.T) {
	v := good("messages", false)
	r := newRig(t, "[providers.a]\nmessages = \"{a}\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\n", vendors{"a": v})
	got := r.ask("/v1/embeddings", responsesBody("a/m"))
	if got.status != http.StatusNotFound || v.asked() != 0 || !strings.Contains(got.body, "messages") {
		t.Errorf("%d %s, asked %d times", got.status, got.body, v.asked())
	}
	if route := r.told(); route.Status != http.StatusNotFound || len(route.Tries) != 0 || len(route.Left) != 1 || route.Left[0].Out != "protocol" {
		t.Errorf("%+v", route)
	}
}
