package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// echo is a vendor that says again what it was told in place of the secret, and keeps what it was asked.
type echo struct {
	cut  int  // where in a placeholder a stream is cut, 0 = it comes in one piece
	call bool // it calls a tool with it instead
	pack func(w http.ResponseWriter, body string) bool

	mu   sync.Mutex
	saw  []string
	path []string
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	e.saw, e.path = append(e.saw, string(b)), append(e.path, r.URL.Path)
	e.mu.Unlock()
	what := placeholder.FindString(string(b))
	if what == "" {
		what = theSecret
	}
	w.Header().Set("Content-Type", "application/json")
	var body string
	streams := strings.Contains(string(b), `"stream":true`) || strings.Contains(r.URL.Path, "streamGenerate")
	switch p := r.URL.Path; {
	case strings.HasSuffix(p, "/count_tokens"):
		body = `{"input_tokens":12}`
	case strings.HasSuffix(p, "/embeddings"):
		body = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1]}],"model":"` + what + `","usage":{"prompt_tokens":1,"total_tokens":1}}`
	case streams:
		w.Header().Set("Content-Type", "text/event-stream")
		body = e.streamed(apiOf(p), what)
	default:
		body = e.inOne(apiOf(p), what)
	}
	if e.pack != nil && e.pack(w, body) {
		return
	}
	_, _ = io.WriteString(w, body)
}

func apiOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return "chat"
	case strings.HasSuffix(path, "/responses"):
		return "responses"
	case strings.HasSuffix(path, "/messages"):
		return "messages"
	}
	return "gemini"
}

func (e *echo) bodies() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.saw...)
}

// inOne is a whole answer.
func (e *echo) inOne(api, what string) string {
	if !e.call {
		return ok(api, "I read "+what+".")
	}
	args, _ := json.Marshal(map[string]string{"key": what})
	quoted, _ := json.Marshal(string(args))
	switch api {
	case "chat":
		return `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":` + string(quoted) + `}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`
	case "responses":
		return `{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"function_call","id":"fc","call_id":"t1","name":"f","arguments":` + string(quoted) + `,"status":"completed"}],"usage":{"input_tokens":10,"output_tokens":1}}`
	case "messages":
		return `{"id":"msg","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"f","input":` + string(args) + `}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":1}}`
	}
	return `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":` + string(args) + `}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1}}`
}

// streamed is an answer in events.
func (e *echo) streamed(api, what string) string {
	a, b := what[:e.cut], what[e.cut:]
	head, tail := "I read ", "."
	if e.call {
		head, tail = `{"key":"`, `"}`
	}
	q := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	pieces := []string{head + a, b + tail}
	if a == "" || b == "" {
		pieces = []string{head + what + tail}
	}
	var out strings.Builder
	data := func(name, s string) {
		if name != "" {
			out.WriteString("event: " + name + "\n")
		}
		out.WriteString("data: " + s + "\n\n")
	}
	switch api {
	case "chat":
		for i, p := range pieces {
			delta := `{"content":` + q(p) + `}`
			if e.call {
				delta = `{"tool_calls":[{"index":0,"function":{"arguments":` + q(p) + `}}]}`
				if i == 0 {
					delta = `{"role":"assistant","tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"f","arguments":` + q(p) + `}}]}`
				}
			}
			data("", `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":`+delta+`,"finish_reason":null}]}`)
		}
		why := map[bool]string{true: "tool_calls", false: "stop"}[e.call]
		data("", `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"`+why+`"}]}`)
		data("", "[DONE]")
	case "messages":
		data("message_start", `{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}`)
		block, kind, key, why := `{"type":"text","text":""}`, "text_delta", "text", "end_turn"
		if e.call {
			block, kind, key, why = `{"type":"tool_use","id":"t1","name":"f","input":{}}`, "input_json_delta", "partial_json", "tool_use"
		}
		data("content_block_start", `{"type":"content_block_start","index":0,"content_block":`+block+`}`)
		for _, p := range pieces {
			data("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"`+kind+`","`+key+`":`+q(p)+`}}`)
			data("ping", `{"type":"ping"}`)
		}
		data("content_block_stop", `{"type":"content_block_stop","index":0}`)
		data("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+why+`"},"usage":{"output_tokens":5}}`)
		data("message_stop", `{"type":"message_stop"}`)
	case "responses":
		whole := head + what + tail
		item := `{"type":"message","id":"i","role":"assistant","status":"completed","content":[{"type":"output_text","text":` + q(whole) + `,"annotations":[]}]}`
		begun := `{"type":"message","id":"i","role":"assistant","status":"in_progress","content":[]}`
		if e.call {
			item = `{"type":"function_call","id":"i","call_id":"t1","name":"f","status":"completed","arguments":` + q(whole) + `}`
			begun = `{"type":"function_call","id":"i","call_id":"t1","name":"f","status":"in_progress","arguments":""}`
		}
		data("response.created", `{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[]}}`)
		data("response.output_item.added", `{"type":"response.output_item.added","output_index":0,"item":`+begun+`}`)
		for _, p := range pieces {
			if e.call {
				data("response.function_call_arguments.delta", `{"type":"response.function_call_arguments.delta","item_id":"i","output_index":0,"delta":`+q(p)+`}`)
				continue
			}
			data("response.output_text.delta", `{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":`+q(p)+`}`)
		}
		if e.call {
			data("response.function_call_arguments.done", `{"type":"response.function_call_arguments.done","item_id":"i","output_index":0,"arguments":`+q(whole)+`}`)
		} else {
			data("response.output_text.done", `{"type":"response.output_text.done","item_id":"i","output_index":0,"content_index":0,"text":`+q(whole)+`}`)
		}
		data("response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":`+item+`}`)
		data("response.completed", `{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","model":"m","output":[`+item+`],"usage":{"input_tokens":10,"output_tokens":1}}}`)
	case "gemini":
		if e.call {
			data("", `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":`+head+what+tail+`}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1}}`)
			break
		}
		for _, p := range pieces {
			data("", `{"candidates":[{"content":{"role":"model","parts":[{"text":`+q(p)+`}]},"index":0}],"usageMetadata":{"promptTokenCount":10}}`)
		}
		data("", `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1}}`)
	}
	return out.String()
}
