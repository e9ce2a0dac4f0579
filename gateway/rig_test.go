package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// rig is a gateway with stand-in vendors, all over connections in memory, so that it works
// inside a bubble of testing/synctest as well as outside.
type rig struct {
	t     *testing.T
	net   *standin.Net
	g     *gateway.Gateway
	bus   *trace.Bus
	store *state.Store
	cat   *provider.Catalog
	base  string
	http  *http.Client
	kept  *recorder
	logs  *logBook

	mu    sync.Mutex
	n     int
	ended map[string]chan struct{} // by the mark of a request: closed when its handler has returned
}

// mark is a header of the harness; the gateway does not see it.
const mark = "X-Rig-Request"

// logBook is everything that was logged.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// recorder keeps what the history would.
type recorder struct {
	mu     sync.Mutex
	routes []trace.Route
}

func (r *recorder) Add(route trace.Route) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.routes = append(r.routes, route)
}

func (r *recorder) Stat() trace.HistoryStat { return trace.HistoryStat{} }

func (r *recorder) all() []trace.Route {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]trace.Route(nil), r.routes...)
}

// vendors are handlers by the name that stands in the config for their address: {a}.
type vendors map[string]http.Handler

// newRig starts vendors and a gateway on a config in which {name} is a vendor's address.
func newRig(t *testing.T, toml string, vs vendors, opts ...func(*gateway.Deps)) *rig {
	t.Helper()
	r := &rig{t: t, net: standin.PipeNet(), kept: &recorder{}, logs: &logBook{}, ended: map[string]chan struct{}{}}
	token := ""
	for name, h := range vs {
		base, stop, err := r.net.Serve(h)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		toml = strings.ReplaceAll(toml, "{"+name+"}", base)
		if _, ok := h.(*standin.ChatGPT); ok {
			token = base + "/oauth/token"
		}
	}
	cfg, cat := r.parse(toml)
	r.cat = cat
	store, err := state.Open(state.Options{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.store, r.bus = store, trace.NewBus(trace.Options{Start: time.Now()})
	d := gateway.Deps{
		Config: cfg, Catalog: cat, State: store, Bus: r.bus, History: r.kept, Dial: r.net.DialContext, Token: "control-token",
		Version: "test", Listen: "127.0.0.1:3425", Bound: []string{"127.0.0.1:3425"}, NoFetch: true, TokenURL: token,
		Home: t.TempDir(), Getenv: func(string) string { return "" },
		Secrets: provider.NewSecrets(provider.SecretsOptions{Getenv: func(string) string { return "" }}),
		Log:     slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, o := range opts {
		o(&d)
	}
	r.g = gateway.New(d)
	base, stop, err := r.net.Serve(http.HandlerFunc(r.serve))
	if err != nil {
		t.Fatal(err)
	}
	r.base = base
	tr := r.net.Transport()
	r.http = &http.Client{Transport: tr}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		stop()
		r.g.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// serve is the gateway's handler; whoever asked learns when it has returned.
func (r *rig) serve(w http.ResponseWriter, req *http.Request) {
	n := req.Header.Get(mark)
	req.Header.Del(mark)
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if done := r.ended[n]; done != nil {
			close(done)
			delete(r.ended, n)
		}
	}()
	r.g.ServeHTTP(w, req)
}

// settled is a reply whose end is read only when the gateway is through with the request:
// what the trace tells then is all there is to tell.
type settled struct {
	io.ReadCloser
	done <-chan struct{}
}

func (s settled) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		<-s.done
	}
	return n, err
}

func (r *rig) parse(toml string) (*config.Config, *provider.Catalog) {
	r.t.Helper()
	cfg, err := config.Parse("config.toml", []byte(toml))
	if err != nil {
		r.t.Fatal(err)
	}
	cat, problems := provider.Build(cfg)
	for _, p := range problems {
		r.t.Fatal(p.String())
	}
	return cfg, cat
}

// answer is what an agent got.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // reading the body
}

// send asks the gateway; headers are "Name: value", and "Name: " takes one away.
func (r *rig) send(ctx context.Context, method, path, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer magpie")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		if value == "" {
			req.Header.Del(name)
			continue
		}
		req.Header.Set(name, value)
	}
	return r.through(req)
}

// through sends a request whose reply ends when the gateway is through with it.
func (r *rig) through(req *http.Request) (*http.Response, error) {
	done := make(chan struct{})
	r.mu.Lock()
	r.n++
	n := strconv.Itoa(r.n)
	r.ended[n] = done
	r.mu.Unlock()
	req.Header.Set(mark, n)
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, err
	}
	resp.Body = settled{resp.Body, done}
	return resp, nil
}

// ask posts a request and reads the whole answer.
func (r *rig) ask(path, body string, headers ...string) answer {
	r.t.Helper()
	return r.do(http.MethodPost, path, body, headers...)
}

func (r *rig) do(method, path, body string, headers ...string) answer {
	r.t.Helper()
	resp, err := r.send(r.t.Context(), method, path, body, headers...)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: string(b), err: err}
}

// last is the newest route that is done.
func (r *rig) last() trace.Route {
	r.t.Helper()
	all := r.kept.all()
	if len(all) == 0 {
		r.t.Fatal("no route was kept")
	}
	return all[len(all)-1]
}

// told is the newest route as the status API tells it: JSON that a strict reader takes.
func (r *rig) told() trace.Route {
	r.t.Helper()
	all := r.toldAll(0)
	if len(all) == 0 {
		r.t.Fatal("no route is told")
	}
	newest := all[0]
	for _, one := range all {
		if one.ID > newest.ID {
			newest = one
		}
	}
	return newest
}

func (r *rig) toldAll(after uint64) []trace.Route {
	r.t.Helper()
	got := r.do(http.MethodGet, "/v1/magpie/routes?after="+strconv.FormatUint(after, 10), "")
	var page struct {
		Seq    uint64        `json:"seq"`
		Totals trace.Totals  `json:"totals"`
		Routes []trace.Route `json:"routes"`
	}
	strict(r.t, got.body, &page)
	return page.Routes
}

// strict reads JSON into a value that has to have a place for everything.
func strict(t *testing.T, text string, to any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// pass lets time go by in a bubble.
func pass(d time.Duration) { <-time.After(d) }

// tried lists the ids of the tries of a route.
func tried(r trace.Route) string {
	ids := make([]string, len(r.Tries))
	for i := range r.Tries {
		ids[i] = r.Tries[i].ID
	}
	return strings.Join(ids, " ")
}

// ordered lists the ids of a route's order, or of those left out.
func ordered(cs []trace.Candidate) string {
	ids := make([]string, len(cs))
	for i := range cs {
		ids[i] = cs[i].ID
	}
	return strings.Join(ids, " ")
}

// Requests of each API, to a model.
func chatBody(model string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"hi"}]}`
}

func chatStream(model string) string {
	return `{"model":"` + model + `","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
}

func responsesBody(model string) string { return `{"model":"` + model + `","input":"hi"}` }

func responsesStream(model string) string {
	return `{"model":"` + model + `","stream":true,"input":"hi"}`
}

func messagesBody(model string) string {
	return `{"model":"` + model + `","max_tokens":1024,"messages":[{"role":"user","content":"hi"}]}`
}

func messagesStream(model string) string {
	return `{"model":"` + model + `","max_tokens":1024,"stream":true,"messages":[{"role":"user","content":"hi"}]}`
}

const geminiBody = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
