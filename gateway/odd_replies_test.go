package gateway_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAWholeReplyWhereAStreamWasBegun(t *testing.T) {
	// The agent was kept alive, so it reads a stream; a vendor that then answers in one piece has not answered it.
	for api := range commented {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, abOf("m"), vendors{"a": late(20*time.Second, good(api, false)), "b": good(api, true)})
				got := r.watch(asking(api, "group/g", true))
				if got.status != 200 || strings.ReplaceAll(got.text(), comment, "") != stream(api) {
					t.Errorf("%d %q", got.status, got.text())
				}
				if route := r.told(); tried(route) != "a/k b/k" || route.Tries[0].Fail == "" {
					t.Errorf("%+v", route.Tries)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, lone, vendors{"a": late(20*time.Second, good(api, false))})
				got := r.watch(asking(api, "a/m", true))
				if !errorEvent(api, []byte(got.text())) || endOf(api, []byte(got.text())) || strings.Contains(got.text(), "\"hello\"") {
					t.Errorf("alone: %q", got.text())
				}
				if route := r.told(); route.Status < 500 {
					t.Errorf("alone, the route tells %d", route.Status)
				}
			})
		})
	}
}

func TestAWholeReplyInPlaceOfAStreamIsRelayedAsItCame(t *testing.T) {
	for _, api := range apis {
		v := good(api, false)
		r := newRig(t, lone, vendors{"a": v})
		if got := r.ask(asking(api, "a/m", true)); got.status != 200 || got.body != v.body || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", api, got.status, got.body)
		}
	}
}

func TestAStreamInPlaceOfAWholeReplyIsGathered(t *testing.T) {
	said := regexp.MustCompile(`"(content|text)":"hello"`)
	begun := map[string]string{"chat": chatRole + chatText, "responses": respStart + respText, "messages": msgStart + msgText, "gemini": gemText}
	for _, api := range apis {
		r := newRig(t, lone, vendors{"a": good(api, true)})
		got := r.ask(asking(api, "a/m", false))
		if got.status != 200 || got.header.Get("Content-Type") != "application/json" || !json.Valid([]byte(got.body)) || len(said.FindAllString(got.body, -1)) != 1 {
			t.Errorf("%s: %d %s", api, got.status, got.body)
		}
		r = newRig(t, abOf("m"), vendors{"a": cannedOf(200, begun[api]), "b": good(api, true)})
		if got := r.ask(asking(api, "group/g", false)); got.status != 200 || len(said.FindAllString(got.body, -1)) != 1 || tried(r.told()) != "a/k b/k" {
			t.Errorf("%s, cut: %d %s %s", api, got.status, got.body, tried(r.told()))
		}
	}
}

func TestAGatheredThoughtKeepsItsSignature(t *testing.T) {
	thought := eventsOf("messages", `content_block_start {"index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`content_block_delta {"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`content_block_delta {"index":0,"delta":{"type":"signature_delta","signature":"EqQBsig"}}`, `content_block_stop {"index":0}`)
	r := newRig(t, lone, vendors{"a": cannedOf(200, msgStart+thought+msgText+msgMore+msgStop)})
	got := r.ask(asking("messages", "a/m", false))
	if !strings.Contains(got.body, `{"type":"thinking","thinking":"hm","signature":"EqQBsig"}`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// zipping is a vendor that packs its stream, each event for itself.
type zipping struct{ lines []line }

func (v zipping) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	for _, l := range v.lines {
		pass(l.after)
		_, _ = io.WriteString(z, l.text)
		_ = z.Flush()
		w.(http.Flusher).Flush()
	}
	_ = z.Close()
}

func TestAPackedStreamPassesAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, lone, vendors{"a": zipping{[]line{{0, chatRole + chatText}, {4 * time.Minute, chatMore}, {4 * time.Minute, chatStop}}}})
		path, body := asking("chat", "a/m", true)
		began := time.Now()
		resp, err := r.send(t.Context(), http.MethodPost, path, body)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%v", resp.Header)
		}
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, len(chatRole+chatText))
		if _, err := io.ReadFull(z, first); err != nil || time.Since(began) > time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		rest, err := io.ReadAll(z)
		if err != nil || string(first)+string(rest) != chatRole+chatText+chatMore+chatStop {
			t.Errorf("%v %q", err, rest)
		}
	})
}

func TestAReplyLargerThanIsKeptPassesWhole(t *testing.T) {
	big := `{"choices":[{"message":{"content":"` + strings.Repeat("x", 66<<20) + `"},"finish_reason":"stop"}]}`
	v := &canned{status: 200, kind: "application/json", body: big}
	r := newRig(t, lone, vendors{"a": v})
	got := r.ask(asking("chat", "a/m", false))
	if got.err != nil || got.body != big || r.told().Status != 200 {
		t.Errorf("%d bytes, %v", len(got.body), got.err)
	}
}

func TestAHugeToolCallArrivesWhole(t *testing.T) {
	args := strings.Repeat("y", 17<<20)
	for api, text := range map[string]string{
		"chat":      chatRole + `data: {"id":"c1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"` + args + `"}}]}}]}` + "\n\n" + chatStop,
		"responses": respStart + "event: response.output_item.done\n" + `data: {"type":"response.output_item.done","sequence_number":1,"item":{"type":"function_call","id":"fc","call_id":"t","name":"f","arguments":"` + args + `"}}` + "\n\n" + respStop,
		"messages":  msgStart + "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + args + `"}}` + "\n\n" + msgStop,
		"gemini":    `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"x":"` + args + `"}}}]}}]}` + "\n\n" + gemStop,
	} {
		v := cannedOf(200, text)
		r := newRig(t, lone, vendors{"a": v})
		if got := r.ask(asking(api, "a/m", true)); got.err != nil || got.body != text || r.told().Status != 200 {
			t.Errorf("%s: %d bytes, %v, %d", api, len(got.body), got.err, r.told().Status)
		}
	}
}

func TestAHalfErrorIsToldInWordsOfOurOwn(t *testing.T) {
	for name, body := range map[string]string{
		"cut in its middle":   `{"error":{"message":"something is wr`,
		"larger than is read": `{"error":{"message":"` + strings.Repeat("z", 2<<20) + `"}}`,
	} {
		v := &canned{status: 400, kind: "application/json", body: body}
		r := newRig(t, lone, vendors{"a": v})
		got := r.ask(asking("chat", "a/m", false))
		if got.status != 400 || len(got.body) > 4<<10 {
			t.Errorf("%s: %d, %d bytes", name, got.status, len(got.body))
		}
		errorOf(t, "chat", got.body)
	}
}

func TestASlowLargeReplyIsNoSilence(t *testing.T) {
	// Bytes beyond what is kept whole come for longer than a vendor may be silent.
	synctest.Test(t, func(t *testing.T) {
		piece := bytes.Repeat([]byte("x"), 1<<20)
		v := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			for range 65 {
				_, _ = w.Write(piece)
			}
			for range 5 {
				pass(3 * time.Minute)
				_, _ = w.Write(piece)
				w.(http.Flusher).Flush()
			}
		})
		r := newRig(t, lone, vendors{"a": v})
		got := r.ask(asking("chat", "a/m", false))
		if got.err != nil || len(got.body) != 70<<20 {
			t.Errorf("%d bytes, %v", len(got.body), got.err)
		}
	})
}
