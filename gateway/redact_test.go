package gateway_test

import (
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"dev.magpie/config"
	"dev.magpie/provider"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
)

// theSecret is what an agent's user pasted.
const theSecret = "sk-proj-Canary0123456789Canary0123456789"

var placeholder = regexp.MustCompile(`MAGPIE_[A-Z]+_[a-z2-7]{12}`)

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

// asks are streamed and whole requests of each API that hold the secret.
func asks(api, model string, streamed bool) (path, body string) {
	stream := map[bool]string{true: `,"stream":true`, false: ""}[streamed]
	switch api {
	case "chat":
		return "/v1/chat/completions", `{"model":"` + model + `"` + stream + `,"messages":[{"role":"user","content":"my key is ` + theSecret + ` here"}]}`
	case "responses":
		return "/v1/responses", `{"model":"` + model + `"` + stream + `,"input":"my key is ` + theSecret + ` here"}`
	case "messages":
		return "/v1/messages", `{"model":"` + model + `","max_tokens":99` + stream + `,"messages":[{"role":"user","content":"my key is ` + theSecret + ` here"}]}`
	}
	verb := map[bool]string{true: "streamGenerateContent?alt=sse", false: "generateContent"}[streamed]
	return "/v1beta/models/" + model + ":" + verb, `{"contents":[{"role":"user","parts":[{"text":"my key is ` + theSecret + ` here"}]}]}`
}

// readBy joins what an agent reads of a reply, streamed or not: its text, or what a tool is called with.
func readBy(t *testing.T, api, body string, streamed bool) string {
	t.Helper()
	var out strings.Builder
	var take func(v any, key string)
	take = func(v any, key string) {
		switch v := v.(type) {
		case map[string]any:
			if kind, _ := v["type"].(string); streamed && api == "responses" && !strings.HasSuffix(kind, ".delta") {
				return
			}
			for k, in := range v {
				if (k == "input" || k == "args") && !streamed || k == "args" {
					if in, ok := in.(map[string]any); ok && len(in) > 0 {
						b, _ := json.Marshal(in)
						out.Write(b)
						continue
					}
				}
				take(in, k)
			}
		case []any:
			for _, in := range v {
				take(in, key)
			}
		case string:
			switch key {
			case "content", "text", "arguments", "partial_json":
				out.WriteString(v)
			case "delta":
				if api == "responses" {
					out.WriteString(v)
				}
			}
		}
	}
	if !streamed {
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		take(v, "")
		return out.String()
	}
	for _, line := range strings.Split(body, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		take(v, "")
	}
	return out.String()
}

// oneHouse is a vendor that speaks one API.
func oneHouse(api string) string {
	tail := map[string]string{"chat": "/v1", "responses": "/v1", "messages": "", "gemini": "/v1beta"}[api]
	return "redact = [\"secrets\"]\nno_detect = true\n[providers.a]\n" + api + " = \"{a}" + tail + "\"\nkeys = [{ value = \"key-of-a-000001\" }]\n"
}

// Every API is asked by every agent, relayed or translated, whole or streamed, for a text and for a
// call: the vendor never reads the secret, and the agent reads nothing else.
func TestAReplyIsTurnedBackInEveryAPI(t *testing.T) {
	apis := []string{"chat", "responses", "messages", "gemini"}
	for _, to := range apis {
		for _, call := range []bool{false, true} {
			v := &echo{call: call}
			r := newRig(t, oneHouse(to), vendors{"a": v})
			for _, from := range apis {
				for _, streamed := range []bool{false, true} {
					v.cut = 9
					path, body := asks(from, "a/m", streamed)
					got := r.ask(path, body)
					want := "I read " + theSecret + "."
					if call {
						want = `{"key":"` + theSecret + `"}`
					}
					if said := readBy(t, from, got.body, streamed); got.status != 200 || said != want {
						t.Errorf("%s to %s, call %v, streamed %v: %d, said %q in\n%s", from, to, call, streamed, got.status, said, got.body)
					}
				}
			}
			for _, saw := range v.bodies() {
				if strings.Contains(saw, theSecret) {
					t.Errorf("%s read %s", to, saw)
				}
			}
		}
	}
}

// A vendor may cut its stream anywhere in a placeholder.
func TestAStreamIsTurnedBackWhereverItIsCut(t *testing.T) {
	for _, api := range []string{"chat", "responses", "messages", "gemini"} {
		for _, call := range []bool{false, true} {
			v := &echo{call: call}
			r := newRig(t, oneHouse(api), vendors{"a": v})
			for v.cut = range len("MAGPIE_SECRET_abcdefghijkl") {
				path, body := asks(api, "a/m", true)
				got := r.ask(path, body)
				want := "I read " + theSecret + "."
				if call {
					want = `{"key":"` + theSecret + `"}`
				}
				if said := readBy(t, api, got.body, true); got.status != 200 || said != want || strings.Contains(got.body, "MAGPIE") {
					t.Fatalf("%s cut at %d: %d, said %q in\n%s", api, v.cut, got.status, said, got.body)
				}
			}
		}
	}
}

// Gemini's agents may read an array that grows.
func TestAnArrayIsTurnedBack(t *testing.T) {
	for _, to := range []string{"chat", "gemini"} {
		v := &echo{cut: 4}
		r := newRig(t, oneHouse(to), vendors{"a": v})
		_, body := asks("gemini", "a/m", true)
		got := r.ask("/v1beta/models/a/m:streamGenerateContent", body)
		if to == "gemini" { // relayed as the vendor has it: events
			if said := readBy(t, "gemini", got.body, true); said != "I read "+theSecret+"." {
				t.Errorf("%d %s", got.status, got.body)
			}
			continue
		}
		if said := readBy(t, "gemini", got.body, false); said != "I read "+theSecret+"." {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

func TestAPackedReplyIsTurnedBack(t *testing.T) {
	for name, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	} {
		v := &echo{cut: 5, pack: func(w http.ResponseWriter, body string) bool {
			w.Header().Set("Content-Encoding", name)
			z := pack(w)
			_, _ = io.WriteString(z, body)
			return z.Close() == nil
		}}
		r := newRig(t, oneHouse("chat"), vendors{"a": v})
		for _, streamed := range []bool{false, true} {
			path, body := asks("chat", "a/m", streamed)
			got := r.ask(path, body)
			if said := readBy(t, "chat", got.body, streamed); got.header.Get("Content-Encoding") != "" || said != "I read "+theSecret+"." {
				t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
			}
		}
	}
}

// What is put in the place of a secret depends on the secret alone: the next request of a
// conversation, in which the agent sends back what it read, begins with the same bytes.
func TestTheNextTurnBeginsWithTheSameBytes(t *testing.T) {
	v := &echo{}
	r := newRig(t, oneHouse("messages"), vendors{"a": v})
	first := `{"model":"a/m","max_tokens":99,"messages":[{"role":"user","content":"the password: hunter2xyz"}`
	got := r.ask("/v1/messages", first+`]}`)
	said := readBy(t, "messages", got.body, false)
	if said != "I read hunter2xyz." {
		t.Fatalf("%s", got.body)
	}
	r.ask("/v1/messages", first+`,{"role":"assistant","content":"`+said+`"},{"role":"user","content":"what of hunter2xyz now?"}]}`)
	saw := v.bodies()
	if !strings.HasPrefix(saw[1], strings.TrimSuffix(saw[0], "]}")) || strings.Contains(saw[1], "hunter2xyz") || len(placeholder.FindAllString(saw[1], -1)) != 3 {
		t.Errorf("asked\n%s\nand then\n%s", saw[0], saw[1])
	}
}

// A request in which there is nothing to mask goes on byte for byte, and so does its reply.
func TestWhereNothingIsFoundNothingChanges(t *testing.T) {
	reply := `{ "id":"c", "object" : "chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"MAGPIE_SECRET_abcdefghijkl \u00e9"},"finish_reason":"stop"}]}`
	v := &canned{status: 200, kind: "application/json", body: reply}
	r := newRig(t, oneHouse("chat"), vendors{"a": v})
	body := `{ "messages" : [{"role":"user","content":"h\u0069, \/ what is a token?"}],"model":"a/m" , "x":1.0}`
	got := r.ask("/v1/chat/completions", body)
	if saw := v.seen()[0].body; saw != strings.Replace(body, "a/m", "m", 1) || got.body != reply || r.last().Masked != nil {
		t.Errorf("asked %s, said %s", saw, got.body)
	}
}

// All but the secret stays byte for byte in a relay.
func TestARelayKeepsEveryOtherByte(t *testing.T) {
	v := &echo{}
	r := newRig(t, oneHouse("chat"), vendors{"a": v})
	body := `{ "messages" : [{"role":"user","content":"h\u0069 \/ ` + theSecret + ` \ud83d\ude00\n"}],"model":"a/m" , "x":1.0 }`
	r.ask("/v1/chat/completions", body)
	saw := v.bodies()[0]
	mask := placeholder.FindString(saw)
	if want := strings.Replace(strings.Replace(body, theSecret, mask, 1), "a/m", "m", 1); saw != want {
		t.Errorf("asked %s\nwant  %s", saw, want)
	}
}

// A vendor that repeats in its error what it was asked does not make placeholders the agent's
// trouble, nor the secret the trace's.
func TestAnErrorIsTurnedBackForTheAgentAlone(t *testing.T) {
	v := &canned{status: 400, kind: "application/json"}
	cloaked := newRig(t, oneHouse("chat"), vendors{"a": &echo{}})
	path, body := asks("chat", "a/m", false)
	cloaked.ask(path, body)
	r := newRig(t, strings.Replace(oneHouse("chat"), "secrets", "personal", 1), vendors{"a": http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		b, _ := io.ReadAll(req.Body)
		v.body = `{"error":{"message":"no mail to ` + placeholder.FindString(string(b)) + `","type":"invalid_request_error"}}`
		v.ServeHTTP(w, req)
	})})
	got := r.ask(path, strings.Replace(body, theSecret, "jane@mail.example.org", 1))
	if !strings.Contains(got.body, "no mail to jane@mail.example.org") || got.status != 400 {
		t.Errorf("%d %s", got.status, got.body)
	}
	told, _ := json.Marshal(r.last())
	if strings.Contains(string(told)+r.logs.text(), "jane@") || !strings.Contains(string(told), "MAGPIE_EMAIL_") {
		t.Errorf("%s", told)
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
