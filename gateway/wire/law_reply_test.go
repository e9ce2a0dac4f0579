package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// asker is a client that shows reasoning, wants usage, and has a freeform tool.
func asker(api wire.Protocol) *wire.Ask {
	return &wire.Ask{
		API: api, Model: "m", Show: wire.ShowSummary, Effort: "high", Usage: true,
		Tools: []wire.Tool{{Name: "read"}, {Kind: wire.ToolFree, Name: "patch"}},
	}
}

// drawEvents draws a reply as a vendor's reader tells it. Parallel calls come one after
// another or piece by piece in turns.
func drawEvents(t *rapid.T) []wire.Event {
	events := []wire.Event{{Kind: wire.EventStart, ID: "r1", Model: "m"}}
	part := 0
	if drawMaybe(t, "thinks") {
		part++
		for range rapid.IntRange(1, 3).Draw(t, "pieces") {
			events = append(events, wire.Event{Kind: wire.EventThinking, Text: drawWord(t, "thought"), Part: part})
		}
		if drawMaybe(t, "sealed") {
			events = append(events, wire.Event{Kind: wire.EventSeal, Seal: &wire.Seal{API: wire.Messages, Data: "EqQBAA=="}})
		}
	}
	calls := rapid.IntRange(0, 3).Draw(t, "calls")
	if calls == 0 || drawMaybe(t, "speaks") {
		part++
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			events = append(events, wire.Event{Kind: wire.EventText, Text: drawWord(t, "text"), Part: part})
		}
	}
	events = append(events, drawCalls(t, calls)...)
	why := rapid.SampledFrom([]wire.FinishWhy{wire.FinishStop, wire.FinishLength}).Draw(t, "end")
	if calls > 0 {
		why = wire.FinishCalls
	}
	return append(events,
		wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: 100, Output: 50, Reasoning: rapid.Int64Range(0, 20).Draw(t, "reasoning"), CacheRead: rapid.Int64Range(0, 60).Draw(t, "cached")}},
		wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: why}})
}

func drawCalls(t *rapid.T, n int) (events []wire.Event) {
	var bodies [][]wire.Event
	for i := range n {
		c := &wire.Call{ID: fmt.Sprintf("call_%d", i), Name: "read"}
		args := `{"p":` + string(wire.Quote(drawWord(t, "argument"))) + `,"n":1.50}`
		if drawMaybe(t, "freeform") {
			c.Name, c.Free = "patch", true
			args = drawWord(t, "input")
		}
		body := []wire.Event{{Kind: wire.EventCall, Index: i, Call: c}}
		runes := []rune(args)
		for len(runes) > 0 {
			k := min(len(runes), rapid.IntRange(1, 9).Draw(t, "cut"))
			body = append(body, wire.Event{Kind: wire.EventArgs, Index: i, Text: string(runes[:k])})
			runes = runes[k:]
		}
		whole := *c
		if c.Free {
			whole.Input = args
		} else {
			whole.Args = json.RawMessage(args)
		}
		bodies = append(bodies, append(body, wire.Event{Kind: wire.EventCallEnd, Index: i, Call: &whole}))
	}
	if !drawMaybe(t, "interleaved") {
		return slices.Concat(bodies...)
	}
	for k := 0; ; k++ {
		some := false
		for _, b := range bodies {
			if k < len(b) {
				events, some = append(events, b[k]), true
			}
		}
		if !some {
			return events
		}
	}
}

// written is a reply in an API.
func written(t *rapid.T, api wire.Protocol, events []wire.Event, streamed bool) string {
	var b bytes.Buffer
	w := codecs[api].NewWriter(&b, asker(api), wire.WriterOptions{Stream: streamed, ID: "1", Now: 1, Model: "m"})
	for _, e := range events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if !w.Done() {
		t.Fatalf("%s: no end was written", api)
	}
	end := b.Len()
	for _, e := range []wire.Event{{Kind: wire.EventText, Text: "late"}, {Kind: wire.EventFinish}, {Kind: wire.EventFail, Fail: &wire.Refusal{Status: 502}}} {
		_ = w.Event(e)
	}
	_ = w.Ping()
	if b.Len() != end {
		t.Fatalf("%s: something was written behind the end: %s", api, b.Bytes()[end:])
	}
	return b.String()
}

// readStream reads events cut into pieces of n bytes.
func readStream(api wire.Protocol, text string, n int) []wire.Event {
	r := codecs[api].NewReader(asker(api))
	var out []wire.Event
	var split sse.Splitter
	for len(text) > 0 {
		k := min(n, len(text))
		_ = split.Feed([]byte(text[:k]))
		text = text[k:]
		for ev := split.Next(); ev != nil; ev = split.Next() {
			out = append(out, r.Read(ev)...)
		}
	}
	if rest := split.Rest(); len(rest) > 0 {
		out = append(out, r.Read(append(append([]byte(nil), rest...), "\n\n"...))...)
	}
	return append(out, r.End()...)
}

// told is what a reply comes to, without what only some APIs say of it.
func told(events []wire.Event) string {
	var f wire.Fold
	for _, e := range events {
		f.Add(e)
	}
	a := f.Answer()
	var said, thought strings.Builder
	var calls []string
	for _, p := range a.Parts {
		switch p.Kind {
		case wire.KindThinking:
			thought.WriteString(p.Text)
		case wire.KindCall:
			args := string(p.Call.Args)
			if p.Call.Name == "patch" {
				if !p.Call.Free {
					p.Call.Input = wire.FreeInput(args)
				}
				args = p.Call.Input
			}
			calls = append(calls, p.Call.ID+" "+p.Call.Name+" "+args)
		default:
			said.WriteString(p.Text)
		}
	}
	fail := ""
	if a.Fail != nil {
		fail = a.Fail.Words
	}
	return fmt.Sprintf("thought %q said %q calls %q usage %+v end %s %s", thought.String(), said.String(), calls, a.Usage, a.Finish.Why, fail)
}

func TestAReplyIsTheSameStreamedAndWholeInEveryAPI(t *testing.T) {
	for _, api := range wire.Protocols {
		t.Run(string(api), func(t *testing.T) {
			law(t, 1, func(t *rapid.T) {
				events := drawEvents(t)
				want := told(events)
				stream := written(t, api, events, true)
				if again := written(t, api, events, true); again != stream {
					t.Fatalf("the same reply was written differently:\n%s\n%s", stream, again)
				}
				if got := told(readStream(api, stream, rapid.IntRange(1, 400).Draw(t, "pieces of"))); got != want {
					t.Fatalf("streamed it is\n%s\nnot\n%s\n%s", got, want, stream)
				}
				whole := written(t, api, events, false)
				if got := told(codecs[api].NewReader(asker(api)).Whole([]byte(whole))); got != want {
					t.Fatalf("whole it is\n%s\nnot\n%s\n%s", got, want, whole)
				}
			})
		})
	}
}

func TestAReplyOfEachAPIIsTheSameInEveryOther(t *testing.T) {
	for _, from := range wire.Protocols {
		for _, to := range wire.Protocols {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				law(t, 1, func(t *rapid.T) {
					events := drawEvents(t)
					want := told(events)
					heard := readStream(from, written(t, from, events, true), 64)
					if got := told(readStream(to, written(t, to, heard, true), 64)); got != want {
						t.Fatalf("streamed it is\n%s\nnot\n%s", got, want)
					}
					if got := told(codecs[to].NewReader(asker(to)).Whole([]byte(written(t, to, heard, false)))); got != want {
						t.Fatalf("whole it is\n%s\nnot\n%s", got, want)
					}
				})
			})
		}
	}
}

// TestAReplyThatIsCutNeverReadsAsFinished cuts a stream of each API at every byte.
func TestAReplyThatIsCutNeverReadsAsFinished(t *testing.T) {
	for _, api := range wire.Protocols {
		t.Run(string(api), func(t *testing.T) {
			law(t, 50, func(t *rapid.T) {
				stream := written(t, api, drawEvents(t), true)
				whole := told(readStream(api, stream, len(stream)))
				for n := range len(stream) {
					events := readStream(api, stream[:n], n+1)
					last := events[len(events)-1]
					if last.Kind == wire.EventFail {
						continue
					}
					// An end may be told before the last bytes: then all that matters was there.
					if got := told(events); withoutUsage(got) != withoutUsage(whole) {
						t.Fatalf("cut at %d of %d it reads as\n%s\nnot as\n%s\n%s", n, len(stream), got, whole, stream[:n])
					}
				}
			})
		})
	}
}

func withoutUsage(told string) string {
	head, rest, _ := strings.Cut(told, " usage {")
	_, end, _ := strings.Cut(rest, "}")
	return head + end
}
