package gemini

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// long is a body of 200 KB: 60 contents and 20 tools.
func long() []byte {
	var b strings.Builder
	words := strings.Repeat("all work and no play makes a long body ", 70)
	b.WriteString(`{"systemInstruction":{"parts":[{"text":"` + words + `"}]},"contents":[`)
	for i := range 20 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"role":"user","parts":[{"text":"%s"}]},{"role":"model","parts":[{"text":"ok"},{"functionCall":{"id":"c%d","name":"tool_%d","args":{"path":"%s"}}}]},`, words, i, i, words[:400])
		fmt.Fprintf(&b, `{"role":"user","parts":[{"functionResponse":{"id":"c%d","name":"tool_%d","response":{"output":"%s"}}}]}`, i, i, words+words)
	}
	b.WriteString(`],"tools":[{"functionDeclarations":[`)
	for i := range 20 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"%s","parametersJsonSchema":{"type":"object","properties":{`, i, words[:300])
		for j := range 8 {
			if j > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, `"p%d":{"type":["string","null"],"description":"%s","minLength":1}`, j, words[:60])
		}
		b.WriteString(`},"required":["p0"],"additionalProperties":false}}`)
	}
	b.WriteString(`]}]}`)
	return []byte(b.String())
}

func BenchmarkReadAndWriteAsk(b *testing.B) {
	body := long()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		a, err := Codec{}.ReadAsk(body)
		if err != nil {
			b.Fatal(err)
		}
		a.API = wire.Messages
		if _, _, err := (Codec{}).WriteAsk(a, three); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	var events [][]byte
	for range 200 {
		events = append(events, []byte(lines(chunkOf(`{"text":"some words of a reply"}`, ""))))
	}
	events = append(events, []byte(lines(chunkOf(`{"text":""}`, stopped))))
	b.ReportAllocs()
	for b.Loop() {
		r := Codec{}.NewReader(shown)
		w := Codec{}.NewWriter(io.Discard, shown, wire.WriterOptions{Stream: true})
		for _, e := range events {
			for _, ev := range r.Read(e) {
				if w.Event(ev) != nil {
					b.Fatal("it can't be written")
				}
			}
		}
		for _, ev := range r.End() {
			if w.Event(ev) != nil {
				b.Fatal("it can't be written")
			}
		}
	}
}
