package provider_test

import (
	"fmt"
	"testing"

	"dev.magpie/provider"
)

func TestSkipsRedaction(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want bool
	}{
		"a local server that is set so":       {"[providers.a]\nchat = \"http://127.0.0.1:8000/v1\"\nunmasked = true", true},
		"one that is not":                     {"[providers.a]\nchat = \"http://127.0.0.1:8000/v1\"", false},
		"a vendor that is set so":             {"[providers.a]\nchat = \"https://api.example/v1\"\nunmasked = true\nkeys = [{ env = \"A\" }]", false},
		"by its name":                         {"[providers.a]\nchat = \"http://localhost:8000/v1\"\nunmasked = true", true},
		"in the network by name":              {"[providers.a]\nchat = \"http://Box.local:8000/v1\"\nunmasked = true", true},
		"in the network by address":           {"[providers.a]\nchat = \"http://192.168.1.20:8000/v1\"\nunmasked = true", true},
		"ten and the like":                    {"[providers.a]\nchat = \"http://10.1.2.3/v1\"\nmessages = \"http://172.16.0.1\"\nunmasked = true", true},
		"IPv6":                                {"[providers.a]\nchat = \"http://[::1]:8000/v1\"\ngemini = \"http://[fd00::1]/v1beta\"\nunmasked = true", true},
		"one address elsewhere":               {"[providers.a]\nchat = \"http://127.0.0.1:8000/v1\"\nmessages = \"https://api.example\"\nunmasked = true", false},
		"a public address":                    {"[providers.a]\nchat = \"http://8.8.8.8/v1\"\nunmasked = true", false},
		"a name that only begins so":          {"[providers.a]\nchat = \"http://localhost.example/v1\"\nunmasked = true", false},
		"a preset's local server":             {"[providers.ollama]\nunmasked = true", true},
		"with a key of its own":               {"[providers.ollama]\nunmasked = true\nkeys = [{ value = \"abcdefghijkl\" }]", true},
		"another magpie":                      {"[providers.remote-magpie]\nchat = \"http://127.0.0.1:3426/v1\"\nunmasked = true", false},
		"an account, wherever its address is": {"[providers.codex]\nresponses = \"http://127.0.0.1:9/v1\"\nunmasked = true\naccounts = [{ name = \"me\" }]", false},
		"a program's sign-in":                 {"[providers.claude]\nunmasked = true\naccounts = [{ name = \"me\" }]", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := build(t, c.file).Providers[0].SkipsRedaction(); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestWhichTargetsSkipRedaction(t *testing.T) {
	const some = `
[providers.here]
chat = "http://127.0.0.1:8000/v1"
unmasked = true
%s
[providers.lan]
chat = "http://192.168.1.20:8000/v1"
unmasked = true
[providers.vendor]
chat = "https://api.example/v1"
keys = [{ env = "A" }]
[providers.off]
chat = "https://off.example/v1"
keys = [{ env = "A" }]
off = true
[groups.own]
members = ["here/m"]
[groups.both]
members = ["here/m", "vendor/m"]
[groups.inner]
members = ["group/own", "lan/m"]
[groups.deep]
members = ["group/both", "lan/m"]
`
	for name, c := range map[string]struct {
		fallback, model string
		want            bool
	}{
		"alone":                               {"", "here/m", true},
		"not set":                             {"", "vendor/m", false},
		"with a fallback to a vendor":         {`fallback = ["vendor/m"]`, "here/m", false},
		"with one in the network":             {`fallback = ["lan/m"]`, "here/m", true},
		"with one in the network and another": {`fallback = ["lan/m", "vendor/m"]`, "here/m", false},
		"with one that is switched off":       {`fallback = ["off/m"]`, "here/m", true},
		"a group of it alone":                 {"", "group/own", true},
		"a group with a vendor":               {"", "group/both", false},
		"a group of groups":                   {"", "group/inner", true},
		"a group of groups with a vendor":     {"", "group/deep", false},
		"a group's member has a fallback":     {`fallback = ["vendor/m"]`, "group/own", true},
	} {
		t.Run(name, func(t *testing.T) {
			cat := build(t, fmt.Sprintf(some, c.fallback))
			target, refusal := cat.Resolve(c.model, nil)
			if refusal != nil {
				t.Fatal(refusal)
			}
			if got := cat.SkipsRedaction(&target); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if (&provider.Catalog{}).SkipsRedaction(&provider.Target{Group: &provider.Group{ID: "x"}}) {
		t.Error("a group of nobody takes requests whole")
	}
}
