package gateway_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dev.magpie/gateway/trace"
)

// canned is a vendor that answers every request with the same bytes and keeps what it was
// asked. A header is "Name: value".
type canned struct {
	status  int
	kind    string // content type; "" = none at all
	body    string
	headers []string

	mu    sync.Mutex
	calls []call
}

// call is one request as a canned vendor saw it.
type call struct {
	method, path, query, body string
	header                    http.Header
	length                    int64
}

func (v *canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	v.mu.Lock()
	v.calls = append(v.calls, call{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Clone(), r.ContentLength})
	v.mu.Unlock()
	h := w.Header()
	h["Content-Type"] = nil // net/http guesses none
	if v.kind != "" {
		h.Set("Content-Type", v.kind)
	}
	for _, line := range v.headers {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	if v.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(v.body)))
	}
	w.WriteHeader(v.status)
	_, _ = io.WriteString(w, v.body)
}

func (v *canned) seen() []call {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]call(nil), v.calls...)
}

func (v *canned) asked() int { return len(v.seen()) }

// ok is a good whole answer of each API that says the text.
func ok(api, text string) string {
	switch api {
	case "messages":
		return `{"id":"msg_ok","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"` + text + `"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":1}}`
	case "responses":
		return `{"id":"resp_ok","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"i","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}],"usage":{"input_tokens":10,"output_tokens":1}}`
	case "gemini":
		return `{"candidates":[{"content":{"role":"model","parts":[{"text":"` + text + `"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1}}`
	}
	return `{"id":"c_ok","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + text + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`
}

// stream is a good streamed answer of each API; its text is "hello".
func stream(api string) string {
	switch api {
	case "messages":
		return msgStart + msgText + msgMore + msgStop
	case "responses":
		return respStart + respText + respMore + respStop
	case "gemini":
		return gemText + gemStop
	}
	return chatRole + chatText + chatMore + chatStop
}

// apis are the four, in the order in which they are told.
var apis = []string{"chat", "responses", "messages", "gemini"}

// asking is how a model is asked over an API.
func asking(api, model string, streamed bool) (path, body string) {
	switch api {
	case "messages":
		if streamed {
			return "/v1/messages", messagesStream(model)
		}
		return "/v1/messages", messagesBody(model)
	case "responses":
		if streamed {
			return "/v1/responses", responsesStream(model)
		}
		return "/v1/responses", responsesBody(model)
	case "gemini":
		name := strings.ReplaceAll(model, "/", "%2F")
		if streamed {
			return "/v1beta/models/" + name + ":streamGenerateContent?alt=sse", geminiBody
		}
		return "/v1beta/models/" + name + ":generateContent", geminiBody
	}
	if streamed {
		return "/v1/chat/completions", chatStream(model)
	}
	return "/v1/chat/completions", chatBody(model)
}

// good is a canned vendor that answers well.
func good(api string, streamed bool) *canned {
	if streamed {
		return &canned{status: http.StatusOK, kind: "text/event-stream", body: stream(api)}
	}
	return &canned{status: http.StatusOK, kind: "application/json", body: ok(api, "hello")}
}

// failKinds lists why each try failed, "" for one that answered.
func failKinds(r trace.Route) string {
	kinds := make([]string, len(r.Tries))
	for i := range r.Tries {
		kinds[i] = string(r.Tries[i].Fail)
	}
	return strings.Join(kinds, " ")
}

func seconds(unix int64) string { return strconv.FormatInt(unix, 10) }

// withLeave is the context of an agent that may leave.
func withLeave(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

// eachKey is a vendor that answers each key in its own way.
type eachKey map[string]*canned

func (v eachKey) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")].ServeHTTP(w, r)
}
