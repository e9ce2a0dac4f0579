package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// byKey is a vendor that misbehaves to the first key and answers the second.
func byKey(first http.Handler, api string) http.Handler {
	second := &canned{status: 200, kind: "application/json", body: ok(api, "from the second")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key"), keyOne) {
			first.ServeHTTP(w, r)
			return
		}
		second.ServeHTTP(w, r)
	})
}

// hijacked is a vendor that writes raw bytes and then keeps the connection open.
func hijacked(t *testing.T, raw string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, raw)
		_, _ = io.Copy(io.Discard, c) // till the other side has gone
	})
}

func TestAVendorThatSwitchesProtocolsIsLeftAtOnce(t *testing.T) {
	// What follows a 101 is no reply's body: nothing ends a reading of it.
	r := newRig(t, twoKeys, vendors{"a": byKey(hijacked(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), "chat")})
	got := r.ask("/v1/chat/completions", chatBody("a/m"))
	if route := r.last(); got.status != 200 || !strings.Contains(got.body, "from the second") || tried(route) != "a/k1 a/k2" {
		t.Errorf("tried %s: %d %s", tried(route), got.status, got.body)
	}
}

func TestBlanksAloneAreNoAnswer(t *testing.T) {
	for name, body := range map[string]string{"few": "\n\n\n", "more than is looked at first": strings.Repeat(" \n", 8<<10)} {
		for _, api := range apis {
			for _, streamed := range []bool{false, true} {
				for _, kind := range []string{"application/json", ""} {
					v := byKey(&canned{status: 200, kind: kind, body: body}, api)
					r := newRig(t, twoKeys, vendors{"a": v})
					got := r.ask(asking(api, "a/m", streamed))
					if route := r.last(); got.status != 200 || !strings.Contains(got.body, "from the second") || tried(route) != "a/k1 a/k2" {
						t.Errorf("%s on %s, typed %q: tried %s: %d %.80q", name, api, kind, tried(route), got.status, got.body)
					}
				}
			}
		}
	}
}

func TestAnErrorInOtherClothesComesFromTheNextKey(t *testing.T) {
	for _, body := range []string{`{}`, `{"object":"error","message":"boom","code":50001}`, `{"code":401,"msg":"token invalid","data":null}`, `[]`} {
		for _, api := range apis {
			r := newRig(t, twoKeys, vendors{"a": byKey(&canned{status: 200, kind: "application/json", body: body}, api)})
			got := r.ask(asking(api, "a/m", false))
			if route := r.last(); got.status != 200 || !strings.Contains(got.body, "from the second") {
				t.Errorf("%s on %s: tried %s: %d %s", body, api, tried(route), got.status, got.body)
			}
		}
	}
}

func TestHalfAnErrorIsToldInWordsOfOurOwn(t *testing.T) {
	for _, api := range apis {
		r := newRig(t, twoKeys, vendors{"a": &canned{status: 400, kind: "application/json", body: `{"error":{"message":"messages: field requ`}})
		got := r.ask(asking(api, "a/m", false))
		var told struct {
			Type  string         `json:"type"`
			Error map[string]any `json:"error"`
			Named string         `json:"request_id"`
		}
		strict(t, got.body, &told)
		if got.status != 400 || told.Error["message"] == "" || (told.Named != "") != (api == "messages") {
			t.Errorf("%s: %d %s", api, got.status, got.body)
		}
	}
}

func TestAnErrorsBodyIsNotWaitedForLong(t *testing.T) {
	drip := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"error":{"message":"`)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "o")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, twoKeys, vendors{"a": byKey(drip, "chat")})
		began := time.Now()
		got := r.ask("/v1/chat/completions", chatBody("a/m"))
		if took := time.Since(began); got.status != 200 || took > 15*time.Second {
			t.Errorf("%d after %s", got.status, took)
		}
		if try := r.last().Tries[0]; try.Status != 500 || try.Fail != trace.Other {
			t.Errorf("%+v", try)
		}
	})
}

// endless begins a JSON reply and writes more of it than is kept whole, then breaks off.
func endless(mebibytes int, end func(w io.Writer)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"`)
		part := strings.Repeat("a", 1<<20)
		for range mebibytes {
			_, _ = io.WriteString(w, part)
		}
		end(w)
	})
}

func TestAReplyTooLargeToBeKeptThatBreaksOffNeverReadsAsAWholeOne(t *testing.T) {
	for name, end := range map[string]func(io.Writer){
		"broken off":                func(io.Writer) { panic(http.ErrAbortHandler) },
		"ended in the middle of it": func(io.Writer) {},
	} {
		r := newRig(t, lone, vendors{"a": endless(66, end)})
		got := r.ask("/v1/chat/completions", chatBody("a/m"))
		if got.err == nil || errors.Is(got.err, io.EOF) {
			t.Errorf("%s: the agent took %d bytes for a whole reply: %v", name, len(got.body), got.err)
		}
		route := r.last()
		if route.Status < 500 || len(route.Tries) != 1 || route.Tries[0].Fail != trace.Network {
			t.Errorf("%s: status %d, tries %+v", name, route.Status, route.Tries)
		}
	}
}

func TestAReplyTooLargeToBeKeptPasses(t *testing.T) {
	r := newRig(t, lone, vendors{"a": endless(66, func(w io.Writer) { _, _ = io.WriteString(w, "\"}\n") })})
	got := r.ask("/v1/chat/completions", chatBody("a/m"))
	if route := r.last(); got.err != nil || len(got.body) < 66<<20 || !strings.HasSuffix(got.body, "\"}\n") || route.Status != 200 {
		t.Errorf("%d bytes, %v, status %d", len(got.body), got.err, route.Status)
	}
}

func TestAnAgentThatReadsLateSaysNothingAgainstItsVendor(t *testing.T) {
	// The vendor has said all long ago; the agent stands still for longer than a vendor may.
	synctest.Test(t, func(t *testing.T) {
		text := strings.ReplaceAll(chatText, "hel", strings.Repeat("hel", 300<<10))
		v := &canned{status: 200, kind: "text/event-stream", body: chatRole + text + chatMore + chatStop}
		r := newRig(t, lone, vendors{"a": v})
		path, body := asking("chat", "a/m", true)
		resp, err := r.send(t.Context(), http.MethodPost, path, body)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		pass(20 * time.Minute)
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != v.body {
			t.Errorf("%d bytes of %d, %v; ends %q", len(got), len(v.body), err, string(got[max(0, len(got)-200):]))
		}
		if route := r.last(); route.Status != 200 || route.Tries[0].Rest != nil {
			t.Errorf("%d, %+v", route.Status, route.Tries)
		}
	})
}

// leaver is a vendor whose connections each serve so many requests, and end in the middle of the
// next one, before a byte of its reply. It counts all that it was sent.
func leaver(t *testing.T, serves int, asked *atomic.Int64) http.Handler {
	whole := ok("chat", "hello")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for n := 0; ; n++ {
			asked.Add(1)
			if n == serves {
				return
			}
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(whole), whole)
			next, err := http.ReadRequest(buf.Reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, next.Body)
		}
	})
}

func TestAConnectionThatItsVendorLeftSaysNothingAgainstTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		r := newRig(t, twoKeys, vendors{"a": leaver(t, 1, &asked)})
		for n := range 3 {
			got := r.ask("/v1/chat/completions", chatBody("a/m"))
			if route := r.last(); got.status != 200 || tried(route) != "a/k1" || route.Tries[0].Rest != nil {
				t.Errorf("request %d: %d, tried %s: %+v", n, got.status, tried(route), route.Tries)
			}
			pass(5 * time.Second)
		}
		if asked.Load() != 5 {
			t.Errorf("the vendor was asked %d times, of which 2 it left", asked.Load())
		}
	})
}

func TestAConnectionThatEndsWhileItIsInUseIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		r := newRig(t, twoKeys, vendors{"a": leaver(t, 1, &asked)})
		r.ask("/v1/chat/completions", chatBody("a/m"))
		got := r.ask("/v1/chat/completions", chatBody("a/m"))
		if route := r.last(); got.status != 200 || tried(route) != "a/k1 a/k2" || route.Tries[0].Fail != trace.Network {
			t.Errorf("%d, tried %s: %+v", got.status, tried(route), route.Tries)
		}
	})
}

func TestAVendorThatLeavesEveryConnectionIsNotAskedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		r := newRig(t, lone, vendors{"a": leaver(t, 0, &asked)})
		got := r.ask("/v1/chat/completions", chatBody("a/m"))
		if route := r.last(); got.status != 502 || asked.Load() != 3 || len(route.Tries) != 3 {
			t.Errorf("%d, asked %d times in %d tries", got.status, asked.Load(), len(route.Tries))
		}
	})
}

func TestAModelsNameNeverBreaksTheReplysHeaders(t *testing.T) {
	for _, name := range []string{`m\u001b]0;x\u0007`, `m\r\nX-Other: 1`, `m\u0000`, strings.Repeat("m", 100<<10)} {
		r := newRig(t, lone, vendors{"a": good("chat", false)})
		got := r.ask("/v1/chat/completions", chatBody("a/"+name))
		if h := got.header.Get("X-Magpie-Model"); got.status != 200 || h == "" || len(h) > 300 || got.header.Get("X-Other") != "" {
			t.Errorf("%.20s: %d, %.80q", name, got.status, h)
		}
	}
}

func TestAStreamThatCantBeReadIsNoWholeReply(t *testing.T) {
	// The agent wants one piece and its vendor streams in another API: an event that is no JSON
	// came out as an error under a status of 200, and nobody else was asked.
	odd := strings.Replace(stream("chat"), "hel", "h\x00l", 1)
	for _, api := range []string{"messages", "responses", "gemini"} {
		v := byKey(&canned{status: 200, kind: "text/event-stream", body: odd}, "chat")
		toml := "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k1\", value = \"" + keyOne + "\" }, { name = \"k2\", value = \"" + keyTwo + "\" }]\n"
		r := newRig(t, toml, vendors{"a": v})
		got := r.ask(asking(api, "a/m", false))
		if route := r.last(); got.status != 200 || !strings.Contains(got.body, "from the second") || tried(route) != "a/k1 a/k2" {
			t.Errorf("%s: tried %s: %d %s", api, tried(route), got.status, got.body)
		}
	}
}

func TestAStreamThatCantBeReadOnIsNoSuccess(t *testing.T) {
	v := &canned{status: 200, kind: "text/event-stream", body: strings.Replace(stream("chat"), "lo", "l\x00o", 1)}
	r := newRig(t, "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k1\", value = \""+keyOne+"\" }]\n", vendors{"a": v})
	for _, api := range []string{"messages", "responses", "gemini"} {
		got := r.ask(asking(api, "a/m", true))
		if route := r.last(); got.status != 200 || !strings.Contains(got.body, `"error":{`) || route.Status != 502 || route.Tries[0].Fail != trace.Network {
			t.Errorf("%s: the agent got %d %s\nthe route tells %d, %+v", api, got.status, got.body, route.Status, route.Tries)
		}
	}
}

func TestAStreamWithoutEndIsNotGatheredForEver(t *testing.T) {
	part := "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("a", 1<<20) + "\"}}]}\n\n"
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, part); err != nil {
				return
			}
		}
	})
	toml := "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k1\", value = \"" + keyOne + "\" }, { name = \"k2\", value = \"" + keyTwo + "\" }]\n"
	r := newRig(t, toml, vendors{"a": byKey(endless, "chat")})
	got := r.ask(asking("messages", "a/m", false))
	if route := r.last(); got.status != 200 || !strings.Contains(got.body, "from the second") {
		t.Errorf("tried %s: %d %.300s, %+v", tried(route), got.status, got.body, route.Tries)
	}
	// A reply that is streamed on ends in an error at last.
	r.store.Wake([]provider.AccountID{"a/k1"}, time.Now())
	got = r.ask(asking("responses", "a/m", true))
	if route := r.last(); tried(route) != "a/k1" || route.Status != 502 || !strings.Contains(got.body[max(0, len(got.body)-2000):], "response.failed") {
		t.Errorf("tried %s: %d, ends %.300q", tried(route), route.Status, got.body[max(0, len(got.body)-300):])
	}
}
