package chat

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// longBody is a request of 60 messages and 20 tools, about 200 KB.
func longBody() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"system","content":"s"}`)
	for i := range 60 {
		text := strings.Repeat("some text of a file, with a \\n newline and \\\"quotes\\\" ", 55)
		if i%2 == 0 {
			fmt.Fprintf(&b, `,{"role":"user","content":"%s"}`, text)
		} else {
			fmt.Fprintf(&b, `,{"role":"assistant","content":"ok","tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, i, text)
		}
	}
	b.WriteString(`],"tools":[`)
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"f%d","description":"%s","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}`, i, strings.Repeat("what it does ", 60))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkAsk(b *testing.B) {
	body := longBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		a, err := Codec{}.ReadAsk(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := (Codec{}).WriteAsk(a, wire.Target{Model: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	var chunks []string
	for range 200 {
		chunks = append(chunks, deltaOf(`{"content":"some words "}`))
	}
	text := []byte(stream(append(chunks, finish("stop"), "[DONE]")...))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var s sse.Splitter
		_ = s.Feed(text)
		r := Codec{}.NewReader(nil)
		w := Codec{}.NewWriter(io.Discard, nil, streamed)
		for ev := s.Next(); ev != nil; ev = s.Next() {
			for _, e := range r.Read(ev) {
				_ = w.Event(e)
			}
		}
	}
}

// A megabyte of arguments in pieces of four bytes takes time in proportion to its length.
func BenchmarkArguments(b *testing.B) {
	for _, n := range []int{1 << 18, 1 << 19} {
		text := []byte(stream(deltaOf(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{"}}]}`)) +
			strings.Repeat(stream(deltaOf(`{"tool_calls":[{"index":0,"function":{"arguments":"    "}}]}`)), n/4))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if got := events(nil, string(text)); len(got) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}
