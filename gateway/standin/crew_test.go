package standin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/BurntSushi/toml"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

// relay is the least that a gateway is: it finds the candidates of a model in a
// config, asks one after the other with that key, and hands on the first good reply.
type relay struct {
	Providers map[string]struct {
		Chat, Responses, Messages, Gemini string
		Keys                              []struct{ Name, Value string }
		Fallback                          []string
	}
	Groups map[string]struct{ Members []string }
	client *http.Client

	mu    sync.Mutex
	asked []time.Time
}

// times are when it was asked.
func (g *relay) times() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

type candidate struct{ base, model, key string }

func (g *relay) candidates(api wire.Protocol, name string) []candidate {
	if id, ok := strings.CutPrefix(name, "group/"); ok {
		var all []candidate
		for _, m := range g.Groups[id].Members {
			all = append(all, g.candidates(api, m)...)
		}
		return all
	}
	provider, model, _ := strings.Cut(name, "/")
	p := g.Providers[provider]
	base := map[wire.Protocol]string{wire.Chat: p.Chat, wire.Responses: p.Responses, wire.Messages: p.Messages, wire.Gemini: p.Gemini}[api]
	var all []candidate
	for _, k := range p.Keys {
		all = append(all, candidate{base, model, k.Value})
	}
	return all
}

func (g *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.asked = append(g.asked, time.Now())
	g.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var tree map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	_ = dec.Decode(&tree)
	name, _ := tree["model"].(string)
	path, api := strings.TrimPrefix(r.URL.Path, "/v1"), wire.Chat
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1beta/models/"):
		api = wire.Gemini
		name, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1beta/models/"), ":")
	case path == "/messages":
		api, path = wire.Messages, "/v1/messages"
	case path == "/responses":
		api = wire.Responses
	}
	for i, all := 0, g.candidates(api, name); i < len(all); i++ {
		c := all[i]
		if api == wire.Gemini {
			path = "/models/" + c.model + ":streamGenerateContent"
		} else {
			tree["model"] = c.model
			body, _ = json.Marshal(tree)
		}
		if g.try(w, r, api, c, path, body, i == len(all)-1) {
			return
		}
	}
	w.WriteHeader(http.StatusBadGateway)
}

// try asks one candidate and tells whether its reply was handed on.
func (g *relay) try(w http.ResponseWriter, r *http.Request, api wire.Protocol, c candidate, path string, body []byte, last bool) bool {
	out, err := http.NewRequestWithContext(r.Context(), http.MethodPost, c.base+path+"?"+r.URL.RawQuery, bytes.NewReader(body))
	if err != nil {
		return false
	}
	for name, values := range r.Header {
		if name != "Authorization" && name != "X-Goog-Api-Key" {
			out.Header[name] = values
		}
	}
	switch api {
	case wire.Gemini:
		out.Header.Set("x-goog-api-key", c.key)
	case wire.Messages:
		out.Header.Set("x-api-key", c.key)
	case wire.Chat, wire.Responses:
		out.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := g.client.Do(out)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	refused := bytes.Contains(reply, []byte(`"stop_reason":"refusal"`)) || bytes.Contains(reply, []byte(`"blockReason"`))
	if !last && (err != nil || resp.StatusCode != http.StatusOK || refused) {
		return false
	}
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(reply)
	return true
}

// newRelay serves a relay of a config on the network.
func newRelay(t *testing.T, n *standin.Net, config string) (g *relay, base string, stop func()) {
	t.Helper()
	tr := n.Transport()
	g = &relay{client: &http.Client{Transport: tr}}
	if err := toml.Unmarshal([]byte(config), g); err != nil {
		t.Fatal(err)
	}
	base, end, err := n.Serve(g)
	if err != nil {
		t.Fatal(err)
	}
	return g, base, func() { end(); tr.CloseIdleConnections() }
}

func TestEveryAgentTalksToItsVendor(t *testing.T) {
	for _, agent := range standin.AgentNames() {
		for _, api := range append([]wire.Protocol{""}, wire.Protocols...) {
			t.Run(agent+" "+string(api), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := standin.PipeNet()
					v := standin.New(standin.Options{Busy: true, Think: "a thought"})
					vendor, stopVendor, err := n.Serve(v)
					if err != nil {
						t.Fatal(err)
					}
					defer stopVendor()
					_, base, stop := newRelay(t, n, fmt.Sprintf("[providers.v]\nchat=%q\nresponses=%q\nmessages=%q\ngemini=%q\nkeys=[{name=\"k\",value=\"k1\"}]\n", vendor+"/v1", vendor+"/v1", vendor, vendor+"/v1beta"))
					defer stop()
					model := "claude-sonnet-5"
					if api == wire.Gemini || api == "" && agent == "gemini" {
						model = "gemini-3.8-flash"
					}
					var mu sync.Mutex
					var heard []standin.Heard
					tr := n.Transport()
					defer tr.CloseIdleConnections()
					crew := standin.Crew{Base: base, Client: &http.Client{Transport: tr}, Tell: func(h standin.Heard) {
						mu.Lock()
						defer mu.Unlock()
						heard = append(heard, h)
					}, Plan: []standin.Visit{{Agent: agent, API: api, Model: "v/" + model, Say: []string{"one", "two", "three"}, Pause: standin.Span{Min: time.Second, Max: 2 * time.Second}}}}
					if err := crew.Play(t.Context()); err != nil {
						t.Fatal(err)
					}
					calls, texts := 0, 0
					for _, h := range heard {
						if h.Err != "" {
							t.Fatalf("%s %s", h.Err, h.Body)
						}
						calls += h.Calls
						if h.Text != "" {
							texts++
						}
					}
					if texts != 3 || calls == 0 {
						t.Errorf("%d texts, %d calls", texts, calls)
					}
					for _, c := range v.Calls() {
						if c.Refused != "" || c.Leaks != nil || c.Header.Get("User-Agent") == "" {
							t.Errorf("%s %v", c.Refused, c.Leaks)
						}
					}
				})
			})
		}
	}
}

func TestAnAgentHearsWhatWentWrong(t *testing.T) {
	for name, c := range map[string]struct{ step, want string }{
		"a status":                {"429 rate x*", "429"},
		"an error in the stream":  {"error server after=1 x*", "Internal server error"},
		"a stream that is cut":    {"cut after=1 x*", "ended before the reply was over"},
		"a refusal of the model":  {"refuse x*", "refus"},
		"a web page for a stream": {"page 200 x*", "ended before the reply was over"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := standin.PipeNet()
				v := standin.New(standin.Options{Lenient: true})
				v.Script(standin.AnyKey, standin.Must(c.step)...)
				base, stop, err := n.Serve(v)
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				tr := n.Transport()
				defer tr.CloseIdleConnections()
				var heard []standin.Heard
				crew := standin.Crew{
					Base: base, Client: &http.Client{Transport: tr}, Tell: func(h standin.Heard) { heard = append(heard, h) },
					Plan: []standin.Visit{{Agent: "claude", Model: "claude-sonnet-5", Say: []string{"one", "two"}, Retry: 1}},
				}
				if err := crew.Play(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(heard) != 2 || !strings.Contains(heard[1].Err, c.want) {
					t.Errorf("heard %+v", heard)
				}
			})
		})
	}
}

func TestACrewStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := standin.PipeNet()
		v := standin.New(standin.Options{Lenient: true})
		v.Script(standin.AnyKey, standin.Must("silence forever x*")...)
		base, stop, err := n.Serve(v)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		tr := n.Transport()
		defer tr.CloseIdleConnections()
		plan, err := standin.ParsePlan("0s claude claude-sonnet-5 say=hi\n1h codex gpt-5.4 say=hi\n0s gemini gemini-3.8-flash say=hi leave=2s\n")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		if err := (standin.Crew{Base: base, Client: &http.Client{Transport: tr}, Plan: plan}).Play(ctx); err == nil || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		for _, c := range v.Calls() {
			<-c.Cancelled()
		}
	})
}

func TestAPlanOfAnUnknownAgentIsAnError(t *testing.T) {
	if err := (standin.Crew{Plan: []standin.Visit{{Agent: "clod"}}}).Play(t.Context()); err == nil {
		t.Error("it plays")
	}
}
