package standin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a vendor that is up on a network in memory.
type site struct {
	t      *testing.T
	vendor *standin.Vendor
	client *http.Client
	base   string
}

// up serves a vendor. Call it inside a bubble; what it starts ends with the returned
// function, which the bubble must call itself.
func up(t *testing.T, o standin.Options) (*site, func()) {
	t.Helper()
	n := standin.PipeNet()
	v := standin.New(o)
	base, stop, err := n.Serve(v)
	if err != nil {
		t.Fatal(err)
	}
	tr := n.Transport()
	return &site{t: t, vendor: v, client: &http.Client{Transport: tr}, base: base}, func() {
		tr.CloseIdleConnections()
		stop()
	}
}

// asking is one request, with what most requests have filled in.
type asking struct {
	api    wire.Protocol
	method string
	path   string // "" = the API's own for a reply
	key    string // "" = "k1"
	head   map[string]string
	body   string
}

// paths are where each API makes a reply, streamed or not.
var paths = map[wire.Protocol]string{
	wire.Chat: "/v1/chat/completions", wire.Responses: "/v1/responses", wire.Messages: "/v1/messages",
	wire.Gemini: "/v1beta/models/gemini-3.8-flash:generateContent",
}

// bodies are the smallest good request of each API; %s stands for more fields.
var bodies = map[wire.Protocol]string{
	wire.Chat:      `{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}`,
	wire.Responses: `{"model":"gpt-4.1","input":"hi"}`,
	wire.Messages:  `{"model":"claude-sonnet-5","max_tokens":1024,"messages":[{"role":"user","content":"hi"}]}`,
	wire.Gemini:    `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
}

// streamed is the good request as a streamed one.
func streamed(api wire.Protocol) asking {
	if api == wire.Gemini {
		return asking{api: api, path: "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse", body: bodies[api]}
	}
	return asking{api: api, body: strings.Replace(bodies[api], `{"model"`, `{"stream":true,"model"`, 1)}
}

func (s *site) request(ctx context.Context, q asking) *http.Request {
	s.t.Helper()
	if q.path == "" {
		q.path = paths[q.api]
	}
	if q.method == "" {
		q.method = http.MethodPost
	}
	if q.key == "" {
		q.key = "k1"
	}
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(ctx, q.method, s.base+q.path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	switch q.api {
	case wire.Messages:
		r.Header.Set("x-api-key", q.key)
		r.Header.Set("anthropic-version", "2023-06-01")
	case wire.Gemini:
		r.Header.Set("x-goog-api-key", q.key)
	case wire.Chat, wire.Responses:
		r.Header.Set("Authorization", "Bearer "+q.key)
	}
	for name, value := range q.head {
		if value == "" {
			r.Header.Del(name)
			continue
		}
		r.Header.Set(name, value)
	}
	return r
}

// answer is a reply that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
	took   time.Duration
}

func (s *site) ask(q asking) answer {
	s.t.Helper()
	start := time.Now()
	resp, err := s.client.Do(s.request(s.t.Context(), q))
	if err != nil {
		return answer{err: err, took: time.Since(start)}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: string(b), err: err, took: time.Since(start)}
}

// events are the data lines of a stream.
func (a answer) events() []string {
	var all []string
	for line := range strings.Lines(a.body) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
			all = append(all, strings.TrimSpace(data))
		}
	}
	return all
}

// value is the body as JSON.
func (a answer) value(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, a.body)
	}
	return v
}

// at walks a JSON value by names and indexes.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not as it was (-want +got):\n%s", path, diff)
	}
}

// pretty lays JSON out for a golden file.
func pretty(body string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(body), "", "  "); err != nil {
		return body
	}
	return b.String() + "\n"
}
