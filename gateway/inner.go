package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// What the gateway asks models for itself, as the trace names it.
const (
	innerDescriber  = "describer"
	innerClassifier = "classifier"
)

// selfAgent is the agent of what the gateway asks for itself.
const selfAgent = "magpie"

// question is one that the gateway asks a model for itself.
type question struct {
	inner string // which of the above
	of    int64  // the request that it is asked for
	model string
	parts []any         // of the user's message, as Chat has them
	lead  string        // the system's
	wait  time.Duration // for its answer
}

// askSelf asks a model through the same pipeline as an agent would, and returns what it says.
// Such a request is never rewritten by another of its kind.
func (g *Gateway) askSelf(ctx context.Context, q question) (said string, err error) {
	body, err := json.Marshal(map[string]any{
		"model": q.model, "stream": false,
		"messages": []any{map[string]any{"role": "system", "content": q.lead}, map[string]any{"role": "user", "content": q.parts}},
	})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	a := newAsk(r, entry{api: wire.Chat, door: provider.Generate})
	a.agent, a.inner, a.of = selfAgent, q.inner, q.of
	w := &memory{head: http.Header{}, left: innerBytes}
	g.serveSelf(w, r, a)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("no answer within %s", q.wait)
	case w.status != http.StatusOK:
		return "", errors.New(errorWords(w.body.Bytes(), w.status))
	case w.left < 0:
		return "", errors.New("its answer is too long")
	}
	v, err := wire.ReadValue(w.body.Bytes())
	if err != nil {
		return "", errors.New("its answer can't be read")
	}
	v.Get("choices").Elements(func(c wire.Value) {
		if said == "" {
			said = c.Get("message").Get("content").Text()
		}
	})
	if said == "" {
		return "", errors.New("it said nothing")
	}
	return said, nil
}

// serveSelf serves it; a reply that breaks off is what net/http would break a connection for.
func (g *Gateway) serveSelf(w *memory, r *http.Request, a *ask) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			w.status = http.StatusBadGateway
		}
	}()
	g.serve(w, r, a)
}

// errorWords are the words of an error's body.
func errorWords(body []byte, status int) string {
	v, err := wire.ReadValue(body)
	if words := v.Get("error").Get("message").Text(); err == nil && words != "" {
		return words
	}
	return fmt.Sprintf("status %d", status)
}

// innerBytes is how long an answer to the gateway itself may be.
const innerBytes = 1 << 20

// memory is a reply that is kept.
type memory struct {
	head   http.Header
	status int
	body   bytes.Buffer
	left   int
}

func (m *memory) Header() http.Header { return m.head }

func (m *memory) WriteHeader(status int) {
	if m.status == 0 {
		m.status = status
	}
}

func (m *memory) Write(p []byte) (int, error) {
	m.WriteHeader(http.StatusOK)
	if m.left -= len(p); m.left < 0 {
		return 0, io.ErrShortWrite
	}
	return m.body.Write(p)
}

// Flush has nothing to do: it is there for the reply that flushes.
func (m *memory) Flush() {}
