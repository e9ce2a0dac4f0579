package bridge

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// server shows the runs' tools to their programs over MCP, on loopback. Each run has an address
// of its own, which nobody else knows.
type server struct {
	mu   sync.Mutex
	runs map[string]*run // by their secret
	http *http.Server
	base string
}

const (
	mcpBody  = 32 << 20
	mcpPulse = 15 * time.Second // while a call waits for its result
)

// remember opens a run's address, and the server with the first one.
func (s *server) remember(r *run) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http == nil {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		s.runs, s.base = map[string]*run{}, "http://"+l.Addr().String()+"/mcp/"
		s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
		go s.http.Serve(l) //nolint:errcheck // it ends with close
	}
	s.runs[r.secret] = r
	return s.base + r.secret, nil
}

func (s *server) forget(r *run) {
	s.mu.Lock()
	delete(s.runs, r.secret)
	s.mu.Unlock()
}

func (s *server) close() {
	s.mu.Lock()
	srv := s.http
	s.mu.Unlock()
	if srv != nil {
		_ = srv.Close()
	}
}

// asked finds the run that a request is for. Browsers and other programs get no answer.
func (s *server) asked(req *http.Request) *run {
	if req.Header.Get("Origin") != "" {
		return nil
	}
	name, ok := strings.CutPrefix(req.URL.Path, "/mcp/")
	if !ok {
		return nil
	}
	s.mu.Lock()
	r := s.runs[name]
	s.mu.Unlock()
	if r == nil || subtle.ConstantTimeCompare([]byte(req.Header.Get("Authorization")), []byte("Bearer "+r.secret)) != 1 {
		return nil
	}
	return r
}

type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Version string          `json:"protocolVersion"`
		Name    string          `json:"name"`
		Args    json.RawMessage `json:"arguments"`
		Meta    struct {
			Use string `json:"claudecode/toolUseId"`
		} `json:"_meta"`
	} `json:"params"`
}

func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r := s.asked(req)
	switch {
	case r == nil:
		w.WriteHeader(http.StatusNotFound)
		return
	case req.Method != http.MethodPost: // we have nothing to say unasked
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m rpc
	if json.NewDecoder(http.MaxBytesReader(w, req.Body, mcpBody)).Decode(&m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if len(m.ID) == 0 || string(m.ID) == "null" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	switch m.Method {
	case "initialize":
		version := m.Params.Version
		if version == "" {
			version = "2025-06-18"
		}
		answer(w, &m, "result", map[string]any{
			"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]string{"name": serverName, "version": "1"},
		})
	case "ping":
		answer(w, &m, "result", map[string]any{})
	case "tools/list":
		answer(w, &m, "result", map[string]any{"tools": r.shown()})
	case "tools/call":
		r.serveCall(w, req, &m)
	default:
		answer(w, &m, "error", map[string]any{"code": -32601, "message": "method not found"})
	}
}

func answer(w http.ResponseWriter, m *rpc, key string, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(mustJSON(map[string]any{"jsonrpc": "2.0", "id": m.ID, key: v}))
}

// mostResult is how much of a result the program hands its model whole, as long as it is told
// to; of more it shows a part. A longer one is handed to a new run, as a part of its past.
const mostResult = 500_000

// shown are the run's tools as MCP has them.
func (r *run) shown() []map[string]any {
	own := map[string]string{}
	for name, of := range r.names {
		own[of] = name
	}
	list := make([]map[string]any, 0, len(r.tools))
	for i := range r.tools {
		t := &r.tools[i]
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		list = append(list, map[string]any{
			"name": own[t.Name], "description": t.Description, "inputSchema": schema,
			"_meta": map[string]any{"anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": mostResult},
		})
	}
	return list
}

// result is what a tool gave, as MCP has it.
type result struct {
	Content []map[string]any `json:"content"`
	Error   bool             `json:"isError"`
}

// serveCall keeps a call waiting until the agent has brought its result. The agent was told of
// it by the model's own words.
func (r *run) serveCall(w http.ResponseWriter, req *http.Request, m *rpc) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	pulse := time.NewTicker(mcpPulse)
	defer pulse.Stop()
	for {
		res, ok, came := r.brought(m.Params.Meta.Use)
		if ok {
			data := mustJSON(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": res})
			_, _ = w.Write(append(append([]byte("event: message\ndata: "), data...), "\n\n"...))
			return
		}
		select {
		case <-came:
		case <-pulse.C:
			if _, err := w.Write([]byte(": waiting\n\n")); err != nil || flush.Flush() != nil {
				return
			}
		case <-req.Context().Done():
			return
		case <-r.stops:
			return
		}
	}
}

// brought takes a call's result, if it is there.
func (r *run) brought(id string) (res any, ok bool, came chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	res, ok = r.results[id]
	delete(r.results, id)
	return res, ok, r.came
}

// resultOf is a tool's result in MCP's form.
func resultOf(b block) *result {
	res := &result{Content: []map[string]any{}, Error: string(b["is_error"]) == "true"}
	var c content
	if len(b["content"]) > 0 && c.UnmarshalJSON(b["content"]) == nil {
		res.Content = append(res.Content, shownTo(c)...)
	}
	return res
}

// shownTo are blocks of the Messages API in MCP's form.
func shownTo(c content) []map[string]any {
	var out []map[string]any
	for _, b := range c {
		switch b.kind() {
		case "text":
			out = append(out, map[string]any{"type": "text", "text": b.text("text")})
		case "image":
			var src struct {
				Data string `json:"data"`
				MIME string `json:"media_type"`
				URL  string `json:"url"`
			}
			if json.Unmarshal(b["source"], &src) == nil && src.Data != "" {
				out = append(out, map[string]any{"type": "image", "data": src.Data, "mimeType": src.MIME})
			} else {
				out = append(out, map[string]any{"type": "text", "text": "[an image at " + src.URL + "]"})
			}
		default:
			out = append(out, map[string]any{"type": "text", "text": string(mustJSON(b))})
		}
	}
	return out
}
