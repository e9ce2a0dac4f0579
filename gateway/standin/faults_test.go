package standin_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

// endings are what a whole stream of each API has near its end.
var endings = map[wire.Protocol]string{
	wire.Chat: "[DONE]", wire.Responses: `"type":"response.completed"`, wire.Messages: `"type":"message_stop"`, wire.Gemini: `"finishReason":"STOP"`,
}

// firsts are what stands in the first data of a stream that begins with an error.
var firsts = map[wire.Protocol]string{
	wire.Chat: `{"error":`, wire.Responses: `{"type":"response.failed"`, wire.Messages: `{"type":"error"`, wire.Gemini: `{"error":`,
}

func TestFaultsOfAStream(t *testing.T) {
	const text = ` text="one two three four five six seven eight nine ten eleven twelve"`
	for name, c := range map[string]struct {
		step  string
		check func(t *testing.T, api wire.Protocol, a answer)
	}{
		"a good answer ends as its API ends": {"ok" + text, func(t *testing.T, api wire.Protocol, a answer) {
			if a.err != nil || !strings.Contains(a.body, endings[api]) {
				t.Errorf("%v: %s", a.err, a.body)
			}
		}},
		"an error comes as the first event": {"error-first overloaded", func(t *testing.T, api wire.Protocol, a answer) {
			if e := a.events(); len(e) != 1 || !strings.HasPrefix(e[0], firsts[api]) || a.status != 200 {
				t.Errorf("%d %q", a.status, e)
			}
		}},
		"an error after three pieces has three pieces before it and no end": {"error server after=3" + text, func(t *testing.T, api wire.Protocol, a answer) {
			e := a.events()
			if n := strings.Count(a.body, "one two") + strings.Count(a.body, "seven"); n != 2 || strings.Contains(a.body, "ten eleven") || strings.Contains(a.body, endings[api]) {
				t.Errorf("it says %s", a.body)
			}
			if last := e[len(e)-1]; !strings.HasPrefix(last, firsts[api]) {
				t.Errorf("it ends in %s", last)
			}
		}},
		"a cut ends cleanly without an end event": {"cut after=2" + text, func(t *testing.T, api wire.Protocol, a answer) {
			if a.err != nil || !strings.Contains(a.body, "six") || strings.Contains(a.body, "seven") || strings.Contains(a.body, endings[api]) {
				t.Errorf("%v: %s", a.err, a.body)
			}
		}},
		"a cut at the end has all the text and no end event": {"cut after=end" + text, func(t *testing.T, api wire.Protocol, a answer) {
			if a.err != nil || !strings.Contains(a.body, "twelve") || strings.Contains(a.body, endings[api]) {
				t.Errorf("%v: %s", a.err, a.body)
			}
		}},
		"a closed connection is an end that was not expected": {"fin after=2" + text, func(t *testing.T, api wire.Protocol, a answer) {
			if !errors.Is(a.err, io.ErrUnexpectedEOF) || !strings.Contains(a.body, "six") {
				t.Errorf("%v: %s", a.err, a.body)
			}
		}},
		"a reset connection says so": {"rst after=2" + text, func(t *testing.T, api wire.Protocol, a answer) {
			if !errors.Is(a.err, syscall.ECONNRESET) {
				t.Errorf("%v: %s", a.err, a.body)
			}
		}},
		"a dropped connection has no answer": {"drop", func(t *testing.T, _ wire.Protocol, a answer) {
			if a.err == nil || a.status != 0 {
				t.Errorf("%d %v", a.status, a.err)
			}
		}},
		"silence before the headers": {"silence 20s after=headers", func(t *testing.T, api wire.Protocol, a answer) {
			if a.took != 20*time.Second || !strings.Contains(a.body, endings[api]) {
				t.Errorf("%v: %s", a.took, a.body)
			}
		}},
		"silence in the middle": {"silence 7s after=2" + text, func(t *testing.T, api wire.Protocol, a answer) {
			if a.took != 7*time.Second || !strings.Contains(a.body, endings[api]) {
				t.Errorf("%v: %s", a.took, a.body)
			}
		}},
		"a slow answer takes its time to the first byte and between the pieces": {"ok first=2s gap=300ms" + text, func(t *testing.T, _ wire.Protocol, a answer) {
			if a.took != 2*time.Second+3*300*time.Millisecond {
				t.Errorf("%v", a.took)
			}
		}},
		"one line of four megabytes": {"ok huge=4MiB", func(t *testing.T, api wire.Protocol, a answer) {
			if !strings.Contains(a.body, strings.Repeat("x", 4<<20)) || !strings.Contains(a.body, endings[api]) {
				t.Errorf("%d bytes", len(a.body))
			}
		}},
		"forty pieces": {"ok events=40 text=\"a b\"", func(t *testing.T, api wire.Protocol, a answer) {
			if n := len(a.events()); n < 40 {
				t.Errorf("%d events", n)
			}
		}},
		"CR LF and a comment before every event": {"ok crlf tight comment=\" OPENROUTER PROCESSING\"", func(t *testing.T, api wire.Protocol, a answer) {
			if strings.Contains(strings.ReplaceAll(a.body, "\r\n", ""), "\n") || !strings.HasPrefix(a.body, ": OPENROUTER PROCESSING\r\n\r\n") || !strings.Contains(a.body, "\r\ndata:{") && !strings.Contains(a.body, "\r\ndata:[") {
				t.Errorf("%q", a.body)
			}
		}},
		"one JSON value though a stream was asked for": {"ok whole", func(t *testing.T, _ wire.Protocol, a answer) {
			if a.header.Get("Content-Type") != "application/json" || !json.Valid([]byte(a.body)) {
				t.Errorf("%v %s", a.header, a.body)
			}
		}},
		"a web page typed as a stream": {"page 200 type=text/event-stream", func(t *testing.T, _ wire.Protocol, a answer) {
			if a.header.Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(a.body, "\n<!DOCTYPE html>") || !strings.Contains(a.body, "<title>Just a moment...</title>") {
				t.Errorf("%v %s", a.header, a.body)
			}
		}},
		"an empty stream": {"empty 200 type=text/event-stream", func(t *testing.T, _ wire.Protocol, a answer) {
			if a.status != 200 || a.body != "" || a.header.Get("Content-Type") != "text/event-stream" {
				t.Errorf("%d %v %q", a.status, a.header, a.body)
			}
		}},
		"the model refuses at once": {"refuse at-once", func(t *testing.T, api wire.Protocol, a answer) {
			want := map[wire.Protocol]string{wire.Chat: `"finish_reason":"content_filter"`, wire.Responses: `"reason":"content_filter"`, wire.Messages: `"stop_reason":"refusal"`, wire.Gemini: `"blockReason":"PROHIBITED_CONTENT"`}[api]
			if !strings.Contains(a.body, want) {
				t.Errorf("%s", a.body)
			}
		}},
	} {
		for _, api := range wire.Protocols {
			t.Run(name+" on "+string(api), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, stop := up(t, standin.Options{})
					defer stop()
					s.vendor.Script("k1", standin.Must(c.step)...)
					c.check(t, api, s.ask(streamed(api)))
				})
			})
		}
	}
}

func TestFaultsOfAWholeReply(t *testing.T) {
	for name, c := range map[string]struct {
		step  string
		check func(t *testing.T, a answer)
	}{
		"a web page": {"page 403", func(t *testing.T, a answer) {
			if a.status != 403 || a.header.Get("Cf-Mitigated") != "challenge" || !strings.Contains(a.header.Get("Content-Type"), "text/html") {
				t.Errorf("%d %v", a.status, a.header)
			}
		}},
		"a page that is typed as JSON": {"page 200 title=\"Sign in\" type=application/json", func(t *testing.T, a answer) {
			if a.status != 200 || json.Valid([]byte(a.body)) || !strings.Contains(a.body, "<title>Sign in</title>") {
				t.Errorf("%d %s", a.status, a.body)
			}
		}},
		"a body that isn't JSON": {"body 200 say=\"upstream is tired\"", func(t *testing.T, a answer) {
			if a.body != "upstream is tired" || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%v %q", a.header, a.body)
			}
		}},
		"nothing": {"empty", func(t *testing.T, a answer) {
			if a.status != 200 || a.body != "" {
				t.Errorf("%d %q", a.status, a.body)
			}
		}},
		"half a value and a clean end": {"cut", func(t *testing.T, a answer) {
			if a.err != nil || a.body == "" || json.Valid([]byte(a.body)) {
				t.Errorf("%v %q", a.err, a.body)
			}
		}},
		"half a value and a closed connection": {"fin", func(t *testing.T, a answer) {
			if !errors.Is(a.err, io.ErrUnexpectedEOF) {
				t.Errorf("%v", a.err)
			}
		}},
		"half a value and a reset": {"rst", func(t *testing.T, a answer) {
			if !errors.Is(a.err, syscall.ECONNRESET) {
				t.Errorf("%v", a.err)
			}
		}},
		"an error in the stream's place is a status": {"error-first rate", func(t *testing.T, a answer) {
			if a.status != 429 || !json.Valid([]byte(a.body)) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}},
		"silence, then the value": {"silence 5s", func(t *testing.T, a answer) {
			if a.took != 5*time.Second || !json.Valid([]byte(a.body)) {
				t.Errorf("%v %q", a.took, a.body)
			}
		}},
		"a header of its own": {"500 header=X-Should-Retry:false", func(t *testing.T, a answer) {
			if a.status != 500 || a.header.Get("X-Should-Retry") != "false" {
				t.Errorf("%d %v", a.status, a.header)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{})
				defer stop()
				s.vendor.Script("k1", standin.Must(c.step)...)
				c.check(t, s.ask(asking{api: wire.Messages, body: bodies[wire.Messages]}))
			})
		})
	}
}

func TestACompressedStreamReadsAsThePlainOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		s.vendor.Script("k1", standin.Must("ok gzip")...)
		for _, q := range []asking{streamed(wire.Messages), {api: wire.Messages, body: bodies[wire.Messages]}} {
			s.vendor.Script("k1", standin.Must("ok gzip")...)
			a := s.ask(q)
			z, err := gzip.NewReader(strings.NewReader(a.body))
			if err != nil || a.header.Get("Content-Encoding") != "gzip" {
				t.Fatalf("%v %v", err, a.header)
			}
			b, err := io.ReadAll(z)
			if err != nil || !strings.Contains(string(b), "All good") {
				t.Errorf("%v %s", err, b)
			}
		}
	})
}

func TestAnEventCutOverWritesComesInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		s.vendor.Script("k1", standin.Must("error-first overloaded split=7/50ms")...)
		resp, err := s.client.Do(s.request(t.Context(), streamed(wire.Messages)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		buf, reads, longest := make([]byte, 4096), 0, 0
		for {
			n, err := resp.Body.Read(buf)
			if n > 0 {
				reads++
				longest = max(longest, n)
			}
			if err != nil {
				break
			}
		}
		if reads < 10 || longest > 7 {
			t.Errorf("%d reads, the longest %d bytes", reads, longest)
		}
	})
}

func TestSilenceUntilTheClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		s.vendor.Script("k1", standin.Must("silence forever after=1")...)
		resp, err := s.client.Do(s.request(t.Context(), streamed(wire.Chat)))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() { resp.Body.Close() })
		_, _ = io.Copy(io.Discard, resp.Body)
		call, err := s.vendor.WaitCall(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		<-call.Cancelled()
		<-call.Done()
	})
}

func TestStepsGoInOrderAndByWhatTheyFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Models: []string{"a", "b"}})
		defer stop()
		s.vendor.Script("k1", standin.Must("429 rate model=a x*", "500 x2", "ok text=\"third\"", "529 has=\"magic word\"")...)
		s.vendor.Script(standin.AnyKey, standin.Must("402 credit")...)
		ask := func(key, model, words string) int {
			return s.ask(asking{api: wire.Chat, key: key, body: fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}]}`, model, words)}).status
		}
		var got []int
		for _, model := range []string{"b", "a", "b", "a", "b"} {
			got = append(got, ask("k1", model, "hi"))
		}
		got = append(got, ask("k1", "b", "the magic word"), ask("k2", "b", "hi"), ask("k2", "b", "hi"))
		if want := []int{500, 429, 500, 429, 200, 529, 402, 200}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if steps := s.vendor.Calls(); steps[0].Step != "500 x2" || steps[7].Step != "" {
			t.Errorf("steps %q and %q", steps[0].Step, steps[7].Step)
		}
	})
}

func TestStepsForCountsAndListsAreTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		s.vendor.Script("k1", standin.Must("404 op=count", "500 op=models", "429")...)
		list := s.ask(asking{api: wire.Chat, method: http.MethodGet, path: "/v1/models"})
		count := s.ask(asking{api: wire.Messages, path: "/v1/messages/count_tokens", body: `{"model":"claude-sonnet-5","messages":[{"role":"user","content":"hi"}]}`})
		reply := s.ask(asking{api: wire.Messages, body: bodies[wire.Messages]})
		if list.status != 500 || count.status != 404 || reply.status != 429 {
			t.Errorf("list %d, count %d, reply %d", list.status, count.status, reply.status)
		}
	})
}

func TestASocketIsResetToo(t *testing.T) {
	v := standin.New(standin.Options{})
	v.Script("k1", standin.Must("rst after=1")...)
	srv := httptest.NewServer(v)
	defer srv.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	s := &site{t: t, vendor: v, client: &http.Client{Transport: tr}, base: srv.URL}
	if a := s.ask(streamed(wire.Messages)); !errors.Is(a.err, syscall.ECONNRESET) {
		t.Errorf("%v: %s", a.err, a.body)
	}
}
