package gateway_test

import (
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

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
