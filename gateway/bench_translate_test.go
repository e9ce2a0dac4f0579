package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/chat"
	"dev.magpie/gateway/wire/gemini"
	"dev.magpie/gateway/wire/messages"
	"dev.magpie/gateway/wire/responses"
)

// These compare a translated reply with the relay of the same reply from a vendor that
// speaks the agent's own API, in the same run, taking turns.

var codecs = map[wire.Protocol]wire.Codec{
	wire.Chat: chat.Codec{}, wire.Responses: responses.Codec{}, wire.Messages: messages.Codec{}, wire.Gemini: gemini.Codec{},
}

// framesOf is a reply's stream in an API, event by event.
func framesOf(tb testing.TB, api wire.Protocol, events []wire.Event) [][]byte {
	tb.Helper()
	var b bytes.Buffer
	asked := &wire.Ask{API: api, Model: "m", Usage: true, Tools: []wire.Tool{{Name: "read"}}}
	w := codecs[api].NewWriter(&b, asked, wire.WriterOptions{Stream: true, ID: "1", Now: 1, Model: "m"})
	for i := range events {
		if err := w.Event(events[i]); err != nil {
			tb.Fatal(err)
		}
	}
	return bytes.SplitAfter(bytes.TrimSuffix(b.Bytes(), []byte("\n\n")), []byte("\n\n"))
}

// spoken is a reply of n pieces of text, called one whose call has n pieces of four bytes.
func spoken(n int, text string) []wire.Event {
	events := []wire.Event{{Kind: wire.EventStart, ID: "r1", Model: "m"}}
	for range n {
		events = append(events, wire.Event{Kind: wire.EventText, Text: text, Part: 1})
	}
	return append(events, wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: 12, Output: 150}},
		wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishStop}})
}

func called(n int) []wire.Event {
	events := []wire.Event{
		{Kind: wire.EventStart, ID: "r1", Model: "m"},
		{Kind: wire.EventCall, Call: &wire.Call{ID: "call_1", Name: "read"}},
		{Kind: wire.EventArgs, Text: `{"p":"`},
	}
	for range n {
		events = append(events, wire.Event{Kind: wire.EventArgs, Text: `a\nb`})
	}
	return append(events, wire.Event{Kind: wire.EventArgs, Text: `"}`},
		wire.Event{Kind: wire.EventCallEnd, Call: &wire.Call{ID: "call_1", Name: "read", Args: json.RawMessage(`{"p":"` + strings.Repeat(`a\nb`, n) + `"}`)}},
		wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: 12, Output: 150}},
		wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishCalls}})
}

// babel answers on all four APIs with the same reply, flushed event by event.
type babel struct {
	streams map[wire.Protocol][][]byte
	hold    int           // events after which it waits
	until   chan struct{} // for this
	held    sync.WaitGroup
}

func newBabel(tb testing.TB, events []wire.Event) *babel {
	tb.Helper()
	v := &babel{streams: map[wire.Protocol][][]byte{}}
	for _, api := range wire.Protocols {
		v.streams[api] = framesOf(tb, api, events)
	}
	return v
}

func (v *babel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	for i, ev := range v.streams[wire.Protocol(apiAt(r.URL.Path))] {
		if v.until != nil && i == v.hold {
			v.held.Done()
			<-v.until
		}
		_, _ = w.Write(ev)
		_ = flush()
	}
}

// fourDoors is a gateway with a provider for each API, all at one vendor: the provider is
// named as the API.
type fourDoors struct{ pair }

func newFourDoors(tb testing.TB, vendor http.Handler) *fourDoors {
	tb.Helper()
	v := httptest.NewServer(vendor)
	tb.Cleanup(v.Close)
	toml := ""
	for _, api := range wire.Protocols {
		toml += "[providers." + string(api) + "]\n" + strings.ReplaceAll(bases[api], "{a}", v.URL) + benchKey
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	tb.Cleanup(client.CloseIdleConnections)
	return &fourDoors{pair{ours: serveReal(tb, toml).base, client: client}}
}

// door is where a client of an API asks a provider, and with what.
func door(from, at wire.Protocol) (path, body string) {
	d := doors(string(at) + "/m")[string(from)+" streamed"]
	return d.path, d.body
}

func (c *fourDoors) stream(b *testing.B, from, at wire.Protocol, n, conns int) time.Duration {
	b.Helper()
	path, body := door(from, at)
	return c.load(b, c.ours, path, []byte(body), n, conns)
}

func BenchmarkTranslatedStreamAgainstRelay(b *testing.B) {
	c := newFourDoors(b, newBabel(b, spoken(200, "some words")))
	for _, from := range wire.Protocols {
		for _, at := range wire.Protocols {
			for _, conns := range []int{1, 16} {
				if at == from || conns == 16 && (from != wire.Messages || at != wire.Chat) {
					continue
				}
				b.Run(fmt.Sprintf("%s on %s, %d connections", from, at, conns), func(b *testing.B) {
					for b.Loop() {
						ratio := inTurn(9, func() time.Duration { return c.stream(b, from, from, 96, conns) }, func() time.Duration { return c.stream(b, from, at, 96, conns) })
						b.ReportMetric(ratio, "of-relay-events/s")
					}
				})
			}
		}
	}
}

// workBody is a request of Messages as agents send it, 200 KB with 60 messages and 20 tools.
func workBody(model string) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"` + model + `","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"You are a coding agent."}],"messages":[{"role":"user","content":"Mend it."}`)
	for i := range 30 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_%d","name":"tool_%d","input":{"path":"a/b/%d.go","n":1}}]}`, i, i%20, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"`, i)
		for j := range 60 {
			fmt.Fprintf(&b, `\tif err := run(ctx, %d); err != nil {\n\t\treturn fmt.Errorf(\"step: %%w\", err) // naïve\n\t}\n`, j)
		}
		b.WriteString(`"}]}`)
	}
	b.WriteString(`],"tools":[`)
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"%s","input_schema":{"type":"object","properties":{"path":{"type":"string","description":"where"},"n":{"type":"integer","minimum":1},`+
			`"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"]}}},"required":["path"]}}`, i, strings.Repeat("What it does, and when. ", 20))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkTranslatedAgentBodyAgainstRelay(b *testing.B) {
	c := newFourDoors(b, newBabel(b, spoken(3, "some words")))
	for _, at := range wire.Protocols {
		if at == wire.Messages {
			continue
		}
		b.Run("messages on "+string(at), func(b *testing.B) {
			bodies := map[wire.Protocol][]byte{wire.Messages: workBody("messages/m"), at: workBody(string(at) + "/m")}
			for b.Loop() {
				var relayed, translated []time.Duration
				for range 100 {
					for _, side := range []struct {
						at wire.Protocol
						to *[]time.Duration
					}{{wire.Messages, &relayed}, {at, &translated}} {
						first, err := c.post(c.ours, "/v1/messages", bodies[side.at])
						if err != nil {
							b.Fatal(err)
						}
						*side.to = append(*side.to, first)
					}
				}
				more := median(translated) - median(relayed)
				b.ReportMetric(float64(more.Microseconds())/1000, "ms-more-at-p50")
				b.ReportMetric(float64(median(relayed).Microseconds())/1000, "ms-relay")
			}
		})
	}
}

// openHeap is what n open streams hold, for each of them, with all that is at their other ends.
func openHeap(tb testing.TB, path string, body []byte, n int) int64 {
	tb.Helper()
	v := newBabel(tb, spoken(200, "some words"))
	v.hold, v.until = 100, make(chan struct{})
	v.held.Add(n)
	c := newFourDoors(tb, v)
	before := liveHeap()
	var read, done sync.WaitGroup
	read.Add(n)
	for range n {
		done.Go(func() {
			if err := c.half(path, body, read.Done); err != nil {
				tb.Error(err)
			}
		})
	}
	v.held.Wait()
	read.Wait()
	after := liveHeap()
	close(v.until)
	done.Wait()
	return (after - before) / int64(n)
}

// half reads a stream, and tells once a good part of it came.
func (c *fourDoors) half(path string, body []byte, told func()) error {
	resp, err := c.client.Post(c.ours+path, "application/json", bytes.NewReader(body))
	if err != nil {
		told()
		return err
	}
	defer resp.Body.Close()
	_, err = io.CopyN(io.Discard, resp.Body, 50*int64(len("some words")))
	told()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func BenchmarkTranslatedStreamsMemory(b *testing.B) {
	for _, c := range []struct {
		name string
		body func(model string) []byte
	}{
		{"small body", func(model string) []byte { return []byte(messagesStream(model)) }},
		{"200 KB body", workBody},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				relay := openHeap(b, "/v1/messages", c.body("messages/m"), 200)
				b.ReportMetric(float64(relay)/1024, "KB-relay")
				for _, at := range wire.Protocols {
					if at != wire.Messages {
						more := openHeap(b, "/v1/messages", c.body(string(at)+"/m"), 200) - relay
						b.ReportMetric(float64(more)/1024, "KB-more-on-"+string(at))
					}
				}
			}
		})
	}
}

// A stream may stay open for long: it holds nothing of the request that it answers.
func TestAnOpenStreamHoldsNothingOfItsRequest(t *testing.T) {
	const said, most = 400 << 10, 200 << 10
	for _, from := range wire.Protocols {
		for _, at := range wire.Protocols {
			path, body := door(from, at)
			body = strings.Replace(body, `"hi"`, `"`+strings.Repeat("word ", said/5)+`"`, 1)
			if len(body) < said {
				t.Fatalf("%s: %s", from, body)
			}
			if each := openHeap(t, path, []byte(body), 10); each > most {
				t.Errorf("%s on %s: an open stream holds %d KB", from, at, each>>10)
			}
		}
	}
}

// arguments is how long a stream takes that brings a call's arguments in pieces of four bytes.
func (c *fourDoors) arguments(tb testing.TB, from, at wire.Protocol) time.Duration {
	tb.Helper()
	path, body := door(from, at)
	start := time.Now()
	if _, err := c.post(c.ours, path, []byte(body)); err != nil {
		tb.Fatal(err)
	}
	return time.Since(start)
}

func BenchmarkAMegabyteOfArgumentsInPieces(b *testing.B) {
	one := newFourDoors(b, newBabel(b, called(1<<18)))
	two := newFourDoors(b, newBabel(b, called(1<<19)))
	for _, from := range wire.Protocols {
		for _, at := range wire.Protocols {
			b.Run(string(from)+" on "+string(at), func(b *testing.B) {
				for b.Loop() {
					var short, long []time.Duration
					for range 3 {
						short = append(short, one.arguments(b, from, at))
						long = append(long, two.arguments(b, from, at))
					}
					b.ReportMetric(median(short).Seconds(), "s-for-1MB")
					b.ReportMetric(float64(median(long))/float64(median(short)), "x-for-2MB")
				}
			})
		}
	}
}

func TestALineOfFiveMegabytesPassesFromEachAPIToEachOther(t *testing.T) {
	text := strings.Repeat("0123456789", 5<<20/10)
	c := newFourDoors(t, newBabel(t, spoken(1, text)))
	for _, from := range wire.Protocols {
		for _, at := range wire.Protocols {
			path, body := door(from, at)
			resp, err := c.client.Post(c.ours+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || !bytes.Contains(got, []byte(text)) {
				t.Errorf("%s on %s: %d bytes, %v: %.300s", from, at, len(got), err, got)
			}
		}
	}
}
