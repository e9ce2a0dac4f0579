package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// crossing is a report of what went wrong on the way between two APIs, and what is right.
type crossing struct {
	api    string                           // the vendor's
	config string                           // further lines of its provider
	model  string                           // "" = the one in the body
	path   string                           // the agent's
	body   string                           // the agent's
	refuse func(body map[string]any) string // the words of the vendor's 400, "" = it takes the request
	reply  string                           // the vendor's, JSON or events
	answer func(body map[string]any) string // the same, made of the request

	asked  string // a matcher of the vendor's last request
	want   string // a matcher of a whole reply
	events string // a stream in brief
	tries  int    // how often the vendor is asked, 0 = once
	tokens string // input/output/cached that the trace tells, "" = not looked at
}

// crossed is a vendor of a crossing.
type crossed struct {
	c   *crossing
	mu  sync.Mutex
	raw []string
	got []asked
}

func (v *crossed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	v.mu.Lock()
	v.raw = append(v.raw, string(raw))
	v.got = append(v.got, asked{r.URL.RequestURI(), r.Header, body})
	v.mu.Unlock()
	words := ""
	if v.c.refuse != nil {
		words = v.c.refuse(body)
	}
	if words != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","code":400,"status":"INVALID_ARGUMENT","message":%q}}`, words)
		return
	}
	text := v.c.reply
	if v.c.answer != nil {
		text = v.c.answer(body)
	}
	w.Header().Set("Content-Type", "application/json")
	if !strings.HasPrefix(text, "{") {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for len(text) > 0 {
		n := min(41, len(text))
		_, _ = io.WriteString(w, text[:n])
		w.(http.Flusher).Flush()
		text = text[n:]
	}
}

// doorOf is the API of a path.
func doorOf(path string) string {
	switch {
	case strings.HasPrefix(path, "/v1/messages"):
		return "anthropic"
	case strings.HasPrefix(path, "/v1/responses"):
		return "openai-responses"
	case strings.HasPrefix(path, "/v1/chat"):
		return "openai-chat"
	}
	return "gemini"
}

// provided is the config of a crossing's provider.
func (c *crossing) provided() string {
	model := c.model
	if model == "" {
		var b struct{ Model string }
		_ = json.Unmarshal([]byte(c.body), &b)
		model = b.Model
	}
	base := map[string]string{"chat": "{v}/v1", "responses": "{v}/v1", "messages": "{v}", "gemini": "{v}/v1beta"}[c.api]
	toml := "[providers.v]\n"
	for _, one := range apis {
		switch {
		case one == c.api:
			toml += one + " = \"" + base + "\"\n"
		case strings.Contains(c.config, "preset"):
			toml += one + " = \"\"\n"
		}
	}
	if !strings.Contains(c.config, "models") {
		toml += "models = [\"" + model + "\"]\n"
	}
	return toml + "keys = [{ name = \"k\", value = \"" + keyOne + "\" }]\n" + c.config
}

// cross lets an agent ask, and looks at what its vendor was asked and at the reply.
func cross(t *testing.T, c crossing) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := &crossed{c: &c}
		r := newRig(t, c.provided(), vendors{"v": v})
		got := r.ask(c.path, c.body)
		if len(v.got) != max(1, c.tries) {
			t.Fatalf("the vendor was asked %d times: %d %s", len(v.got), got.status, got.body)
		}
		var errs []string
		if c.asked != "" {
			errs = append(errs, newMatcher().match(parsed(t, c.asked), v.got[len(v.got)-1].body, "asked")...)
		}
		if c.want != "" {
			errs = append(errs, newMatcher().match(parsed(t, c.want), parsed(t, got.body), "reply")...)
		}
		if c.events != "" {
			if told := inBrief(doorOf(c.path), got.body); told != strings.Join(strings.Fields(c.events), " ") {
				errs = append(errs, "the stream is\n  "+told+"\nwant\n  "+strings.Join(strings.Fields(c.events), " "))
			}
		}
		if got.status != http.StatusOK {
			errs = append(errs, fmt.Sprint("status ", got.status))
		}
		if tokens := r.last().Tokens; c.tokens != "" && fmt.Sprintf("%d/%d/%d", tokens.Input, tokens.Output, tokens.CacheRead) != c.tokens {
			errs = append(errs, fmt.Sprintf("tokens %+v", tokens))
		}
		if len(errs) > 0 {
			t.Errorf("%s\nasked %s\ngot %s", strings.Join(errs, "\n"), v.raw[len(v.raw)-1], got.body)
		}
	})
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// eventsOf are a vendor's events: of Chat and Gemini the data alone, else "name {data}".
func eventsOf(api string, items ...string) string {
	var b strings.Builder
	for _, it := range items {
		name, data, ok := strings.Cut(it, " ")
		switch {
		case api == "chat" || api == "gemini":
			b.WriteString("data: " + it + "\n\n")
		case !ok:
			b.WriteString("event: " + it + "\ndata: {\"type\":\"" + it + "\"}\n\n")
		default:
			b.WriteString("event: " + name + "\ndata: {\"type\":\"" + name + "\"," + strings.TrimPrefix(data, "{") + "\n\n")
		}
	}
	return b.String()
}

// inBrief tells a stream in words, with what is wrong with its grammar.
func inBrief(api, body string) string {
	n := normalise(api, body)
	var out []string
	for _, e := range n.events {
		if s, ok := e.(string); ok {
			out = append(out, s)
			continue
		}
		m, _ := e.(map[string]any)
		switch api {
		case "anthropic":
			out = append(out, briefMessages(m))
		case "openai-responses":
			out = append(out, briefResponses(m))
		default:
			out = append(out, briefPlain(m))
		}
	}
	for _, p := range n.problems {
		out = append(out, "PROBLEM: "+p)
	}
	return strings.Join(strings.Fields(strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), " ")), " ")
}

func briefMessages(m map[string]any) string {
	delta, block := inner(m, "delta"), inner(m, "content_block")
	switch word(m, "type") {
	case "message_start":
		return "start"
	case "content_block_start":
		s := strings.TrimSpace("+" + word(block, "type") + " " + word(block, "id") + " " + word(block, "name"))
		if in := inner(block, "input"); len(in) > 0 {
			s += " with an input"
		}
		return s
	case "content_block_delta":
		return word(delta, "text") + word(delta, "thinking") + word(delta, "partial_json") + word(delta, "signature")
	case "content_block_stop":
		return "-"
	case "message_delta":
		return "end " + word(delta, "stop_reason")
	case "message_stop":
		return "stop"
	case "error":
		return "error " + word(inner(m, "error"), "type")
	}
	return word(m, "type")
}

func briefResponses(m map[string]any) string {
	item, kind := inner(m, "item"), strings.TrimPrefix(word(m, "type"), "response.")
	at := ""
	for _, k := range []string{"output_index", "content_index", "summary_index"} {
		if n, ok := m[k].(float64); ok {
			at += fmt.Sprintf(" %s%v", k[:1], n)
		}
	}
	switch kind {
	case "created", "in_progress", "content_part.added", "content_part.done", "reasoning_summary_part.added", "reasoning_summary_part.done", "output_text.done",
		"reasoning_summary_text.done":
		return ""
	case "output_item.added":
		return "+" + word(item, "type") + at
	case "output_item.done":
		return strings.TrimSpace("-" + word(item, "type") + " " + word(item, "call_id") + " " + word(item, "name") + " " + word(item, "input") + word(item, "arguments"))
	case "completed", "incomplete", "failed":
		fault := inner(inner(m, "response"), "error")
		return strings.TrimSpace(kind + " " + word(fault, "code") + " " + word(fault, "message"))
	}
	return kind + at + " " + word(m, "delta") + word(m, "input") + word(m, "arguments")
}

func briefPlain(m map[string]any) string {
	call, args := inner(m, "tool_call"), inner(m, "tool_args")
	switch {
	case m["role"] != nil:
		return "role"
	case call != nil:
		return fmt.Sprintf("call %v %v %v", call["index"], call["id"], call["name"])
	case args != nil:
		return fmt.Sprintf("args %v %v", args["index"], args["arguments"])
	case m["finish_reason"] != nil:
		return "finish " + word(m, "finish_reason")
	case m["finishReason"] != nil:
		return "finish " + word(m, "finishReason")
	case m["usage"] != nil:
		u := inner(m, "usage")
		return fmt.Sprintf("usage %v/%v/%v", u["prompt_tokens"], u["completion_tokens"], inner(u, "prompt_tokens_details")["cached_tokens"])
	case m["thought"] != nil:
		return "thought: " + word(m, "thought")
	case m["functionCall"] != nil:
		return "call " + show(inner(m, "functionCall"))
	case m["error"] != nil:
		return "error"
	}
	return word(m, "content") + word(m, "text") + word(m, "reasoning") + word(m, "refusal")
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
