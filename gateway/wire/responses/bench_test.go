package responses

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// longAsk is a request of 200 KB: 60 messages and 20 tools.
func longAsk() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","stream":true,"instructions":"I","input":[`)
	prose := strings.Repeat(`some words of code;\n\t\"quoted\" and more `, 70)
	for i := range 20 {
		fmt.Fprintf(&b, `{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]},`, prose)
		fmt.Fprintf(&b, `{"type":"function_call","call_id":"c%d","name":"tool%d","arguments":"{\"path\":\"a\"}"},`, i, i)
		fmt.Fprintf(&b, `{"type":"function_call_output","call_id":"c%d","output":"%s"},`, i, prose)
	}
	b.WriteString(`{"role":"user","content":"go"}],"tools":[`)
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"function","name":"tool%d","description":"%s","parameters":{"type":"object","properties":{"path":{"type":"string","description":"%s"}}}}`, i, prose[:1200], prose[:600])
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkReadAsk(b *testing.B) {
	body := longAsk()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Codec{}).ReadAsk(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteAsk(b *testing.B) {
	body := longAsk()
	a, err := Codec{}.ReadAsk(body)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := (Codec{}).WriteAsk(a, wire.Target{Model: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteStream(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		w := Codec{}.NewWriter(io.Discard, nil, wire.WriterOptions{Stream: true, ID: "x"})
		for range 200 {
			if err := w.Event(evText("a few words ", 1)); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Event(evFinish(wire.FinishStop)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadStream(b *testing.B) {
	event := []byte("event: response.output_text.delta\ndata: " + delta("output_text", "0", "a few words ") + "\n\n")
	b.ReportAllocs()
	for b.Loop() {
		r := Codec{}.NewReader(nil)
		for range 200 {
			r.Read(event)
		}
		r.End()
	}
}
