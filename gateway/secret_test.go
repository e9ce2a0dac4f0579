package gateway_test

import (
	"strings"
	"testing"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestASecretThatChangedIsAskedWithOnceMore(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Text: "ok", Keys: []string{"sk-new-000000000000000001"}})
	reads := 0
	secrets := provider.NewSecrets(provider.SecretsOptions{ReadFile: func(string) ([]byte, error) {
		reads++
		if reads == 1 {
			return []byte("sk-old-000000000000000001\n"), nil
		}
		return []byte("sk-new-000000000000000001\n"), nil
	}})
	toml := "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", file = \"/keys/a\" }]\n"
	r := newRig(t, toml, vendors{"a": v}, func(d *gateway.Deps) { d.Secrets = secrets })
	got := r.ask("/v1/chat/completions", chatBody("a/m"))
	route := r.last()
	if got.status != 200 || len(route.Tries) != 2 || route.Tries[0].Fail != trace.Auth || !route.Tries[1].Again {
		t.Fatalf("%d %s, %+v", got.status, got.body, route.Tries)
	}
	if calls := v.Calls(); calls[0].Key != "sk-old-000000000000000001" || calls[1].Key != "sk-new-000000000000000001" {
		t.Errorf("%+v", calls)
	}
}

func TestASecretThatDidNotChangeIsNotAskedWithAgain(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Keys: []string{"another"}})
	secrets := provider.NewSecrets(provider.SecretsOptions{ReadFile: func(string) ([]byte, error) { return []byte("sk-old-000000000000000001"), nil }})
	toml := "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", file = \"/keys/a\" }]\n"
	r := newRig(t, toml, vendors{"a": v}, func(d *gateway.Deps) { d.Secrets = secrets })
	if got := r.ask("/v1/chat/completions", chatBody("a/m")); got.status != 401 || len(v.Calls()) != 1 {
		t.Errorf("%d, %d calls", got.status, len(v.Calls()))
	}
}

func TestAKeyThatAVendorNamesNeverReachesTheAgentOrTheStatus(t *testing.T) {
	// One that looks like no maker's key, in each place of an error that the agent gets.
	const key = "CanaryOfNoMaker4711x"
	toml := "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", value = \"" + key + "\" }]\n"
	v := &canned{status: 400, kind: "application/json", body: `{"error":{"message":"no field for ` + key + `"}}`, headers: []string{"Request-Id: req_1", "X-Request-Id: " + key}}
	r := newRig(t, toml, vendors{"a": v})
	got := r.ask("/v1/chat/completions", chatBody("a/m"))
	if got.status != 400 || got.header.Get("Request-Id") != "req_1" || strings.Contains(got.body+got.header.Get("X-Request-Id"), key) {
		t.Errorf("%d %s %v", got.status, got.body, got.header)
	}
	r.g.Warn([]string{"not carried out: balance_url = https://relay.example/?k=" + key})
	for _, path := range []string{"/v1/magpie/status", "/v1/magpie/routes"} {
		if told := r.do("GET", path, ""); strings.Contains(told.body, key) {
			t.Errorf("%s: %s", path, told.body)
		}
	}
}
