package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// twoKeys is a relay of every API with two keys.
const twoKeys = `
[providers.a]
chat = "{a}/v1"
responses = "{a}/v1"
messages = "{a}"
gemini = "{a}/v1beta"
keys = [{ name = "k1", value = "sk-test-k1-000000000001" }, { name = "k2", value = "sk-test-k2-000000000002" }]
`

const (
	keyOne = "sk-test-k1-000000000001"
	keyTwo = "sk-test-k2-000000000002"
)

// doors are the ways in which the four APIs are asked, whole and streamed.
func doors(model string) map[string]struct{ path, body string } {
	return map[string]struct{ path, body string }{
		"chat":               {"/v1/chat/completions", chatBody(model)},
		"chat streamed":      {"/v1/chat/completions", chatStream(model)},
		"responses":          {"/v1/responses", responsesBody(model)},
		"responses streamed": {"/v1/responses", responsesStream(model)},
		"messages":           {"/v1/messages", messagesBody(model)},
		"messages streamed":  {"/v1/messages?beta=true", messagesStream(model)},
		"gemini":             {"/v1beta/models/" + model + ":generateContent", geminiBody},
		"gemini streamed":    {"/v1beta/models/" + model + ":streamGenerateContent?alt=sse", geminiBody},
	}
}

func TestEachAPIIsRelayedToItsVendor(t *testing.T) {
	for name, d := range doors("a/m") {
		t.Run(name, func(t *testing.T) {
			v := standin.New(standin.Options{Models: []string{"m"}, Text: "hello from a", Keys: []string{keyOne, keyTwo}})
			r := newRig(t, twoKeys, vendors{"a": v})
			got := r.ask(d.path, d.body)
			if got.status != http.StatusOK || !strings.Contains(strings.NewReplacer("\"", "", " ", "").Replace(got.body), "hello") {
				t.Fatalf("%d %s", got.status, got.body)
			}
			calls := v.Calls()
			if len(calls) != 1 || calls[0].Model != "m" || calls[0].Key != keyOne || len(calls[0].Leaks) > 0 || calls[0].Refused != "" {
				t.Fatalf("%+v", calls)
			}
			route := r.last()
			if !route.Done || route.Status != 200 || tried(route) != "a/k1" || route.Tokens.Input == 0 || route.Tokens.Output == 0 {
				t.Errorf("%+v", route)
			}
			if got.header.Get("X-Magpie-Provider") != "a" || got.header.Get("X-Magpie-Model") != "m" || got.header.Get("X-Magpie-Request") == "" {
				t.Errorf("headers %v", got.header)
			}
		})
	}
}

func TestARateLimitedKeyGivesWayBeforeAByteIsOut(t *testing.T) {
	for name, d := range doors("a/m") {
		t.Run(name, func(t *testing.T) {
			v := standin.New(standin.Options{Models: []string{"m"}, Text: "hello"})
			v.Script(keyOne, standin.RateLimited(0))
			r := newRig(t, twoKeys, vendors{"a": v})
			got := r.ask(d.path, d.body)
			route := r.last()
			if got.status != http.StatusOK || tried(route) != "a/k1 a/k2" {
				t.Fatalf("%d %s, tried %s", got.status, got.body, tried(route))
			}
			first := route.Tries[0]
			if first.Status != 429 || first.Fail != trace.Rate || first.Rest == nil || first.Rest.By != trace.ByCooldown {
				t.Errorf("%+v %+v", first, first.Rest)
			}
			r.ask(d.path, d.body)
			if route = r.last(); ordered(route.Order) != "a/k2 a/k1" || route.Order[1].Rest == nil || len(route.Tries) != 1 {
				t.Errorf("the second request: %s, tried %s", ordered(route.Order), tried(route))
			}
		})
	}
}
