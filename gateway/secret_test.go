package gateway_test

import (
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
