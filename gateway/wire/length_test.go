package wire_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// inPieces is a reply with one call, whose arguments come in n pieces of four bytes.
func inPieces(n int, free bool) []wire.Event {
	c := &wire.Call{ID: "call_1", Name: "read"}
	head, tail := `{"p":"`, `"}`
	if free {
		c = &wire.Call{ID: "call_1", Name: "patch", Free: true}
		head, tail = "*** Begin\n", "*** End"
	}
	piece := "ab c"
	events := []wire.Event{{Kind: wire.EventStart, ID: "r1", Model: "m"}, {Kind: wire.EventCall, Call: c}, {Kind: wire.EventArgs, Text: head}}
	for range n {
		events = append(events, wire.Event{Kind: wire.EventArgs, Text: piece})
	}
	whole, text := *c, head+strings.Repeat(piece, n)+tail
	if free {
		whole.Input = text
	} else {
		whole.Args = json.RawMessage(text)
	}
	return append(events, wire.Event{Kind: wire.EventArgs, Text: tail}, wire.Event{Kind: wire.EventCallEnd, Call: &whole},
		wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: 5, Output: 4}}, wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishCalls}})
}

// cost is how many bytes it takes from the heap to carry a stream from one API to another.
func cost(t *testing.T, from, to wire.Protocol, events []wire.Event) uint64 {
	t.Helper()
	var text, out bytes.Buffer
	w := codecs[from].NewWriter(&text, asker(from), wire.WriterOptions{Stream: true, ID: "1", Model: "m"})
	for i := range events {
		if err := w.Event(events[i]); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := codecs[from].NewReader(asker(from))
	w = codecs[to].NewWriter(&out, asker(to), wire.WriterOptions{Stream: true, ID: "1", Model: "m"})
	var split sse.Splitter
	carry := func(events []wire.Event) {
		for i := range events {
			if err := w.Event(events[i]); err != nil {
				t.Fatal(err)
			}
		}
		out.Reset()
	}
	for stream := text.Bytes(); len(stream) > 0; {
		n := min(len(stream), 4096)
		if err := split.Feed(stream[:n]); err != nil {
			t.Fatal(err)
		}
		stream = stream[n:]
		split.Events(func(ev []byte) { carry(r.Read(ev)) })
	}
	carry(r.End())
	runtime.ReadMemStats(&after)
	if !w.Done() {
		t.Fatal("no end was written")
	}
	return after.TotalAlloc - before.TotalAlloc
}

// Arguments that come in pieces are not joined again and again: twice as many take twice as much.
func TestArgumentsInPiecesCostInProportion(t *testing.T) {
	const n = 1 << 15
	for _, free := range []bool{false, true} {
		short, long := inPieces(n, free), inPieces(2*n, free)
		for _, from := range wire.Protocols {
			for _, to := range wire.Protocols {
				var one, two uint64
				ratio := 10.0
				for try := 0; ratio > 2.2 && try < 5; try++ { // a collection between two empties what is kept for reuse
					one, two = cost(t, from, to, short), cost(t, from, to, long)
					ratio = float64(two) / float64(one)
				}
				if ratio > 2.2 {
					t.Errorf("%s to %s, freeform %v: %d KB and %d KB, %.2f times as much", from, to, free, one>>10, two>>10, ratio)
				}
			}
		}
	}
}
