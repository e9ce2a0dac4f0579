package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway"
	"dev.magpie/provider"
)

// canaries are secrets that may be met, in the forms of their makers.
var canaries = map[string]string{
	"the config's key":      "sk-canary-config-0123456789abcdef",
	"the agent's key":       "sk-ant-api03-canaryCLIENT0123456789abcdefghij",
	"the agent's token":     "AIzaSyCANARYclient0123456789abcdefghijk",
	"a key of another's":    "AIzaSyCANARYother00123456789abcdefghijk",
	"a refresh token":       "ghp_canaryREFRESH0123456789abcdefghij01",
	"a key without a shape": "plain-canary-word-without-any-shape",
}

// singing is a provider whose two keys are canaries, one of them without a shape.
var singing = `
[providers.a]
chat = "{a}/v1"
responses = "{a}/v1"
messages = "{a}"
gemini = "{a}/v1beta"
keys = [{ name = "k1", value = "` + canaries["the config's key"] + `" }, { name = "k2", value = "` + canaries["a key without a shape"] + `" }]
[providers.gone]
chat = "http://127.0.0.1:9/` + canaries["a key of another's"] + `/v1"
gemini = "http://127.0.0.1:9/v1beta"
keys = [{ name = "k", value = "sk-canary-gone-00123456789abcdef0" }]
`

// silent sees that none of the canaries stands in a text.
func silent(t *testing.T, where, text string) {
	t.Helper()
	for name, secret := range canaries {
		if strings.Contains(text, secret) {
			t.Errorf("%s stands in %s: …%s…", name, where, around(text, secret))
		}
	}
	for _, secret := range []string{"control-token", "sk-canary-gone-00123456789abcdef0"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s stands in %s: …%s…", secret, where, around(text, secret))
		}
	}
}

func around(text, word string) string {
	i := strings.Index(text, word)
	return text[max(0, i-80):min(len(text), i+len(word)+20)]
}

func TestNoSecretIsTold(t *testing.T) {
	key, bare, refresh := canaries["the config's key"], canaries["a key without a shape"], canaries["a refresh token"]
	all := strings.Join([]string{key, bare, refresh, canaries["a key of another's"], canaries["the agent's key"], "Bearer " + key}, " and ")
	for name, v := range map[string]http.Handler{
		"a wrong key that is repeated": &canned{status: 401, kind: "application/json", body: `{"error":{"message":"Incorrect API key provided: ` + all + `. You can find your API key at https://x/?key=` + key + `","code":"invalid_api_key"}}`},
		"a bad request that is":        &canned{status: 400, kind: "application/json", body: `{"error":{"message":"API key not valid: ` + all + `"},"debug":{"authorization":"Bearer ` + key + `","x-api-key":"` + bare + `"}}`},
		"an error in an array":         &canned{status: 429, kind: "application/json", body: `[{"error":{"code":429,"message":"too many requests by ` + all + `","status":"RESOURCE_EXHAUSTED"}}]`},
		"a page's title":               &canned{status: 403, kind: "text/html", body: "<html><title>Denied for " + all + "</title></html>"},
		"no JSON":                      &canned{status: 200, kind: "application/json", body: "upstream said: " + all},
		"an error event":               &canned{status: 200, kind: "text/event-stream", body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"" + all + "\"}}\n\n"},
		"a model's name":               &canned{status: 200, kind: "application/json", body: strings.Replace(ok("chat", "hi"), `"model":"m"`, `"model":"`+key+`"`, 1)},
		"a redirect":                   http.RedirectHandler("https://elsewhere.example/?key="+key, http.StatusFound),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, singing, vendors{"a": v})
				for _, api := range apis {
					for _, model := range []string{"a/m", "gone/m", "a/" + canaries["the agent's key"], canaries["a key of another's"]} {
						path, body := asking(api, model, name == "an error event")
						got := r.ask(path+map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")]+"key="+canaries["the agent's token"], body,
							"Authorization: Bearer "+canaries["the agent's key"], "x-goog-api-key: "+canaries["the agent's token"], "X-Session-Id: "+canaries["a refresh token"])
						if name == "a model's name" && got.status == 200 {
							continue // a good reply is the vendor's own word
						}
						head := ""
						for h, values := range got.header {
							head += h + ": " + strings.Join(values, ",") + "\n"
						}
						silent(t, "the headers of a reply to "+api, head)
						silent(t, "the reply to "+api, got.body)
					}
				}
				r.ask("/v1/"+canaries["the agent's key"], "{}")
				r.do(http.MethodGet, "/v1/models/"+canaries["the agent's key"], "")
				for _, path := range []string{"/v1/magpie/routes", "/v1/magpie/status", "/v1/models", "/v1/magpie/providers"} {
					silent(t, path, r.do(http.MethodGet, path, "").body)
				}
				silent(t, "explain", r.ask("/v1/magpie/explain", `{"model":"a/m","agent":"pi","api":"chat"}`).body)
				events, stop := r.follow()
				for _, e := range until(t, events, "ready") {
					silent(t, "the trace", e.data)
				}
				stop()
				silent(t, "the log", r.logs.text())
				for _, route := range r.kept.all() {
					silent(t, "the history", route.Error+route.Asked+route.Session+route.Path+route.Served)
				}
			})
		})
	}
}

func TestAKeyInAVendorsAddressIsNotTold(t *testing.T) {
	// The dialer's error holds the address; a key in it must not come along.
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, singing, vendors{"a": good("chat", false)})
		for _, api := range []string{"chat", "gemini"} {
			got := r.ask(asking(api, "gone/m", false))
			if got.status != http.StatusBadGateway || strings.Contains(got.body, "?key=") {
				t.Errorf("%s: %d %s", api, got.status, got.body)
			}
			silent(t, "the reply", got.body)
		}
		silent(t, "the log", r.logs.text())
		silent(t, "the routes", r.do(http.MethodGet, "/v1/magpie/routes", "").body)
	})
}

func TestASecretThatCantBeHadIsToldWithoutWhatItsCommandSaid(t *testing.T) {
	secret := canaries["the config's key"]
	secrets := provider.NewSecrets(provider.SecretsOptions{ReadFile: func(string) ([]byte, error) { return nil, io.ErrUnexpectedEOF }})
	toml := "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", file = \"/keys/a\" }]\n[providers.b]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", value = \"" + secret + "\" }]\n"
	r := newRig(t, toml, vendors{"a": good("chat", false)}, func(d *gateway.Deps) { d.Secrets = secrets })
	got := r.ask(asking("chat", "a/m", false))
	if got.status != 401 || !strings.Contains(got.body, "a/k") {
		t.Errorf("%d %s", got.status, got.body)
	}
	silent(t, "the reply", got.body)
	silent(t, "the log", r.logs.text())
}

func TestAKeyInPlaceOfTheModelIsSentNowhere(t *testing.T) {
	for _, model := range []string{canaries["the agent's key"], "a/" + canaries["a key of another's"], "a/x/" + canaries["a key without a shape"]} {
		for _, api := range apis {
			v := good(api, false)
			r := newRig(t, singing, vendors{"a": v})
			path, body := asking(api, model, false)
			e := turnedAway(t, r, v, api, path, body, http.StatusBadRequest)
			if !strings.Contains(e.Message, "looks like a key") {
				t.Errorf("%s: %s", api, e.Message)
			}
			told, err := r.g.Explain(gateway.Question{Model: model, API: api})
			if err != nil || told.Status != http.StatusBadRequest || told.Error != e.Message || len(told.Order) > 0 {
				t.Errorf("%s, explained: %+v, %v", api, told, err)
			}
			said, _ := json.Marshal(told)
			silent(t, "what is explained", string(said))
		}
	}
	for _, model := range []string{
		"accounts/fireworks/models/deepseek-v3p1", "ft:gpt-4.1-mini-2025-04-14:my-org:custom_suffix:BxYz1234AbCdEf", "us.anthropic.claude-sonnet-4-20250514-v1:0",
		"@cf/meta/llama-3.1-8b-instruct", "hf:moonshotai/Kimi-K2-Instruct", "deployments/0123456789abcdef0123456789abcdef", "key/0123456789abcdef0123456789abcdef",
	} {
		v := good("chat", false)
		r := newRig(t, lone, vendors{"a": v})
		if got := r.ask(asking("chat", "a/"+model, false)); got.status != 200 || !strings.Contains(v.seen()[0].body, `"`+model+`"`) {
			t.Errorf("%s: %d %s", model, got.status, got.body)
		}
	}
}
