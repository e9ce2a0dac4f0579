// Package sdk_test has the vendors' official Go SDKs talk to stand-in vendors through a gateway.
package sdk_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// The keys of a vendor.
const (
	firstKey  = "sk-test-first-000000000001"
	secondKey = "sk-test-second-00000000002"
)

// answerText is what the vendor says: several pieces of a stream.
const answerText = "The answer is forty-two, as ever it was, and that is all there is to say."

// patience bounds every call of a test: a broken one fails, it does not hang.
const patience = 2 * time.Minute

// house is one vendor of the rig: how the config names it, its base URLs, its models.
type house struct {
	name   string
	bases  string // {at} is the vendor's address
	models []string
}

var (
	openAIHouse    = house{"openai", "chat = \"{at}/v1\"\nresponses = \"{at}/v1\"", []string{"gpt-5.4", "gpt-4.1", "text-embedding-3-small"}}
	anthropicHouse = house{"anthropic", "messages = \"{at}\"", []string{"claude-sonnet-5-5", "claude-sonnet-4-5"}}
	geminiHouse    = house{"gemini", "gemini = \"{at}/v1beta\"", []string{"gemini-3.8-flash", "gemini-2.5-flash", "gemini-embedding-001"}}
)

// rig is a gateway in front of one vendor, both on loopback.
type rig struct {
	vendor  *standin.Vendor
	gateway *gateway.Gateway
	base    string
	routes  *routes
}

// newRig starts a vendor, which has two keys, and a gateway that knows it.
func newRig(t *testing.T, h house) *rig {
	t.Helper()
	return newRigOn(t, h, h.name)
}

// newRigOn is the same with the stand-in of another name, and with the APIs that are given.
func newRigOn(t *testing.T, h house, vendor string, apis ...wire.Protocol) *rig {
	t.Helper()
	v := standin.New(standin.Options{Vendor: vendor, APIs: apis, Models: h.models, Keys: []string{firstKey, secondKey}, Secrets: []string{"magpie-sdk-"}, Text: answerText})
	at := httptest.NewServer(v)
	t.Cleanup(at.Close)

	cfg, err := config.Parse("config.toml", []byte("[providers."+h.name+"]\n"+strings.ReplaceAll(h.bases, "{at}", at.URL)+
		"\nrouting = \"order\"\nkeys = [{ name = \"first\", value = \""+firstKey+"\" }, { name = \"second\", value = \""+secondKey+"\" }]\n"+
		"models = [\""+strings.Join(h.models, "\", \"")+"\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	cat, problems := provider.Build(cfg)
	for _, p := range problems {
		t.Fatal(p.String())
	}
	store, err := state.Open(state.Options{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{vendor: v, routes: &routes{}}
	g := gateway.New(gateway.Deps{
		Config: cfg, Catalog: cat, State: store, Bus: trace.NewBus(trace.Options{Start: time.Now()}), History: r.routes, Version: "test", NoFetch: true,
	})
	r.gateway = g
	front := httptest.NewUnstartedServer(g)
	front.Config = g.Server()
	front.Start()
	r.base = front.URL
	t.Cleanup(func() {
		front.Close()
		g.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		r.tidy(t)
	})
	return r
}

// tidy checks what holds for every test: nothing that is not the vendor's business reached it.
func (r *rig) tidy(t *testing.T) {
	t.Helper()
	for _, c := range r.vendor.Leaks() {
		t.Errorf("%s %s brought the vendor %v", c.Method, c.Path, c.Leaks)
	}
}

// strict checks that the vendor found nothing wrong in any request.
func (r *rig) strict(t *testing.T) {
	t.Helper()
	for _, c := range r.vendor.Refusals() {
		t.Errorf("the vendor refused %s %s: %s\n%s", c.Method, c.Path, c.Refused, c.Body)
	}
}

// script sets what the first key's requests are answered with, in the script language.
func (r *rig) script(steps ...string) { r.vendor.Script(firstKey, standin.Must(steps...)...) }

// routes keeps what the gateway told of its requests.
type routes struct {
	mu  sync.Mutex
	all []trace.Route
}

func (r *routes) Add(one trace.Route) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
}

func (r *routes) Stat() trace.HistoryStat { return trace.HistoryStat{} }

// waitLast returns the newest route once n are done. A route is told after its last byte was read.
func (r *routes) waitLast(t *testing.T, n int) trace.Route {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		r.mu.Lock()
		if len(r.all) >= n {
			defer r.mu.Unlock()
			return r.all[len(r.all)-1]
		}
		r.mu.Unlock()
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("no %d routes were told", n)
		}
	}
}

// within is a context for one call.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// wake ends every rest, so that the next request begins with the first key.
func (r *rig) wake(t *testing.T) {
	t.Helper()
	for _, who := range []string{"first", "second"} {
		if _, err := r.gateway.Do(t.Context(), control.Command{Verb: control.Wake, Who: who}, ""); err != nil {
			t.Fatal(err)
		}
	}
}
