package gateway_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/provider"
)

// theSecret is what an agent's user pasted.
const theSecret = "sk-proj-Canary0123456789Canary0123456789"

var placeholder = regexp.MustCompile(`MAGPIE_[A-Z]+_[a-z2-7]{12}`)

// elsewhere lets the gateway reach handlers at addresses of our choice.
func elsewhere(t *testing.T, at map[string]http.Handler) func(*gateway.Deps) {
	t.Helper()
	n := standin.PipeNet()
	for addr, h := range at {
		l, err := n.Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: h}
		go srv.Serve(l)
		t.Cleanup(func() { srv.Close() })
	}
	return func(d *gateway.Deps) {
		dial := d.Dial
		d.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if at[addr] != nil {
				return n.DialContext(ctx, network, addr)
			}
			return dial(ctx, network, addr)
		}
	}
}

const (
	secretBody  = `{"model":"%","messages":[{"role":"user","content":"my key is ` + theSecret + ` here"}]}`
	houses      = "redact = [\"secrets\"]\nno_detect = true\n"
	hereHouse   = "[providers.here]\nchat = \"{here}/v1\"\nmessages = \"{here}\"\n"
	lanHouse    = "[providers.lan]\nchat = \"http://192.168.1.20:8000/v1\"\nmessages = \"http://192.168.1.20:8000\"\nunmasked = true\n"
	vendorHouse = "[providers.far]\nchat = \"http://vendor.example/v1\"\nmessages = \"http://vendor.example\"\nkeys = [{ value = \"key-of-far-0001\" }]\n"
)

func secretTo(model string) string { return strings.Replace(secretBody, "%", model, 1) }

// redacting is a rig with a local server, one in the network, and a vendor.
func redacting(t *testing.T, toml string) (r *rig, here *echo) {
	t.Helper()
	here = &echo{}
	other := &echo{}
	return newRig(t, houses+toml, vendors{"here": here}, elsewhere(t, map[string]http.Handler{"192.168.1.20:8000": other, "vendor.example:80": other})), here
}

func TestWhoGetsARequestWhole(t *testing.T) {
	const set = "unmasked = true\n"
	for name, c := range map[string]struct {
		toml, path, body string
		whole            bool
	}{
		"an unmasked local server alone":                    {hereHouse + set, "/v1/chat/completions", secretTo("here/m"), true},
		"a local server that is not set so":                 {hereHouse, "/v1/chat/completions", secretTo("here/m"), false},
		"one with a fallback to a vendor":                   {hereHouse + set + "fallback = [\"far/m\"]\n" + vendorHouse, "/v1/chat/completions", secretTo("here/m"), false},
		"one with a fallback to an unmasked one on the LAN": {hereHouse + set + "fallback = [\"lan/m\"]\n" + lanHouse, "/v1/chat/completions", secretTo("here/m"), true},
		"a group of it alone":                               {hereHouse + set + "[groups.g]\nmembers = [\"here/m\"]\n", "/v1/chat/completions", secretTo("group/g"), true},
		"a group with a vendor":                             {hereHouse + set + vendorHouse + "[groups.g]\nmembers = [\"here/m\", \"far/m\"]\nrouting = \"order\"\n", "/v1/chat/completions", secretTo("group/g"), false},
		"a count of tokens, whole":                          {hereHouse + set, "/v1/messages/count_tokens", secretTo("here/m"), true},
		"a count of tokens, masked":                         {hereHouse, "/v1/messages/count_tokens", secretTo("here/m"), false},
		"a count of tokens of a group with a vendor":        {hereHouse + set + vendorHouse + "[groups.g]\nmembers = [\"here/m\", \"far/m\"]\nrouting = \"order\"\n", "/v1/messages/count_tokens", secretTo("group/g"), false},
		"embeddings, whole":                                 {hereHouse + set, "/v1/embeddings", `{"model":"here/m","input":["` + theSecret + `"]}`, true},
		"embeddings, masked":                                {hereHouse, "/v1/embeddings", `{"model":"here/m","input":["` + theSecret + `"]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, here := redacting(t, c.toml)
			got := r.ask(c.path, c.body)
			saw := here.bodies()
			if got.status != 200 || len(saw) != 1 {
				t.Fatalf("%d %s, asked %d times", got.status, got.body, len(saw))
			}
			if strings.Contains(saw[0], theSecret) != c.whole || placeholder.MatchString(saw[0]) == c.whole {
				t.Errorf("the vendor read %s", saw[0])
			}
			if m := r.last().Masked; (m == nil) != c.whole || m != nil && m.Secrets != 1 {
				t.Errorf("the route tells %+v", m)
			}
			if strings.Contains(got.body, "MAGPIE_") || strings.Contains(c.path, "completions") && !strings.Contains(got.body, theSecret) {
				t.Errorf("the agent read %s", got.body)
			}
			if told, _ := json.Marshal(r.last()); strings.Contains(string(told)+r.logs.text(), theSecret) {
				t.Error("the secret is in the trace or the log")
			}
		})
	}
}

// What a describer reads in an image comes to the request after it was masked, and may be a secret too.
func TestADescriptionIsMaskedToo(t *testing.T) {
	for _, text := range []string{"what is it?", "what is it, " + theSecret + "?"} {
		v := &echo{}
		e := &canned{status: 200, kind: "application/json", body: ok("chat", "a window that shows "+theSecret)}
		r := newRig(t, "redact = [\"secrets\"]\n"+eyes+eyed("chat"), vendors{"v": v, "e": e})
		body := strings.Replace(withImage["/v1/chat/completions"], "MODEL", "v/dark", 1)
		for range 2 { // asked, and from memory
			got := r.ask("/v1/chat/completions", strings.Replace(body, "what is it?", text, 1))
			if !strings.Contains(got.body, "I read "+theSecret) {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		for _, saw := range v.bodies() {
			if strings.Contains(saw, theSecret) || !strings.Contains(saw, "a window that shows MAGPIE_SECRET_") {
				t.Errorf("the vendor read %s", saw)
			}
		}
		if m := r.last().Masked; m == nil || m.Secrets != 1 {
			t.Errorf("the route tells %+v", m)
		}
	}
}

func TestExplainSaysHowMuchWouldBeMasked(t *testing.T) {
	for toml, want := range map[string]int{oneHouse("chat"): 1, strings.Replace(oneHouse("chat"), `"secrets"`, "", 1): 0} {
		r := newRig(t, toml, vendors{"a": &echo{}})
		route, err := r.g.Explain(gateway.Question{Model: "a/m", API: "chat", Body: json.RawMessage(secretTo("a/m"))})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		if route.Masked != nil {
			got = route.Masked.Secrets
		}
		if got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}

// Two runs that share a folder make the same placeholders.
func TestPlaceholdersStayTheSameInAnotherRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redact.key")
	var saw [2]string
	for i := range saw {
		v := &echo{}
		r := newRig(t, oneHouse("chat"), vendors{"a": v}, func(d *gateway.Deps) { d.RedactKey = path })
		_, body := asks("chat", "a/m", false)
		r.ask("/v1/chat/completions", body)
		saw[i] = v.bodies()[0]
	}
	if saw[0] != saw[1] || !strings.Contains(saw[0], "MAGPIE_") {
		t.Errorf("%s\n%s", saw[0], saw[1])
	}
}

// Without its key masking goes on, and it is told what that costs.
func TestAKeyThatCannotBeReadIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redact.key")
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := &echo{}
	r := newRig(t, oneHouse("chat"), vendors{"a": v}, func(d *gateway.Deps) { d.RedactKey = path })
	_, body := asks("chat", "a/m", false)
	r.ask("/v1/chat/completions", body)
	if strings.Contains(v.bodies()[0], theSecret) || !strings.Contains(r.logs.text(), "holds none: remove it") {
		t.Errorf("%s, logged %s", v.bodies()[0], r.logs.text())
	}
}

// A reload turns masking on and off for the requests that follow.
func TestMaskingFollowsTheConfig(t *testing.T) {
	v := &echo{}
	var next string
	r := newRig(t, strings.Replace(oneHouse("chat"), `"secrets"`, "", 1), vendors{"a": v}, func(d *gateway.Deps) {
		at := d.Catalog.Providers[0].Bases["chat"]
		d.Load = func() (*config.Config, *provider.Catalog, error) {
			cfg, err := config.Parse("config.toml", []byte(strings.Replace(next, "{a}/v1", at, 1)))
			if err != nil {
				return nil, nil, err
			}
			cat, _ := provider.Build(cfg)
			return cfg, cat, nil
		}
	})
	_, body := asks("chat", "a/m", false)
	for i, toml := range []string{"", oneHouse("chat"), strings.Replace(oneHouse("chat"), `"secrets"`, `"words"`, 1)} {
		if next = toml; toml != "" {
			if err := r.g.Reload(); err != nil {
				t.Fatal(err)
			}
		}
		r.ask("/v1/chat/completions", body)
		if got := strings.Contains(v.bodies()[i], theSecret); got != (i != 1) {
			t.Errorf("%d: %s", i, v.bodies()[i])
		}
	}
}
