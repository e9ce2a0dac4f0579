package sse

import (
	"bytes"
	"strings"
	"testing"
)

// cut splits text into events, fed in pieces of n bytes.
func cut(t *testing.T, text string, n int) (events []string, rest string) {
	t.Helper()
	var s Splitter
	for len(text) > 0 {
		k := min(n, len(text))
		if err := s.Feed([]byte(text[:k])); err != nil {
			t.Fatal(err)
		}
		text = text[k:]
		for ev := s.Next(); ev != nil; ev = s.Next() {
			events = append(events, string(ev))
		}
	}
	return events, string(s.Rest())
}

func TestEventsAreWholeHoweverTheyAreCut(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
		rest string
	}{
		"LF":                     {"event: a\ndata: 1\n\ndata: 2\n\n", []string{"event: a\ndata: 1\n\n", "data: 2\n\n"}, ""},
		"CRLF":                   {"data: 1\r\n\r\ndata: 2\r\n\r\n", []string{"data: 1\r\n\r\n", "data: 2\r\n\r\n"}, ""},
		"CR":                     {"data: 1\r\rdata: 2\r\rdata", []string{"data: 1\r\r", "data: 2\r\r"}, "data"},
		"a comment of its own":   {": keep-alive\n\ndata: 1\n\n", []string{": keep-alive\n\n", "data: 1\n\n"}, ""},
		"an extra blank line":    {"data: 1\n\n\ndata: 2\n\n", []string{"data: 1\n\n", "\n", "data: 2\n\n"}, ""},
		"one that does not end":  {"data: 1\n\ndata: 2\n", []string{"data: 1\n\n"}, "data: 2\n"},
		"nothing at all":         {"", nil, ""},
		"a blank line at first":  {"\ndata: 1\n\n", []string{"\n", "data: 1\n\n"}, ""},
		"mixed LF and CRLF":      {"data: 1\r\n\ndata: 2\n\r\n", []string{"data: 1\r\n\n", "data: 2\n\r\n"}, ""},
		"a long line":            {"data: " + strings.Repeat("x", 5000) + "\n\n", []string{"data: " + strings.Repeat("x", 5000) + "\n\n"}, ""},
		"a CR inside of a value": {"data: a\rdata: b\n\n", []string{"data: a\rdata: b\n\n"}, ""},
	} {
		for _, n := range []int{1, 2, 3, 7, 1 << 20} {
			got, rest := cut(t, c.text, n)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || rest != c.rest {
				t.Errorf("%s, %d bytes at a time: %q rest %q, want %q rest %q", name, n, got, rest, c.want, c.rest)
			}
		}
	}
}

func TestParseReadsNameAndData(t *testing.T) {
	for _, c := range []struct{ event, name, data string }{
		{"event: ping\ndata: {}\n\n", "ping", "{}"},
		{"data:no blank\n\n", "", "no blank"},
		{"data: a\ndata: b\n\n", "", "a\nb"},
		{"data: a\rdata: b\r\r", "", "a\nb"},
		{"event: x\r\ndata: y\r\n\r\n", "x", "y"},
		{"data\n\n", "", ""},
		{"id: 3\nretry: 5\ndata: z\n\n", "", "z"},
		{"data: a: b\n\n", "", "a: b"},
		{"\ufeffdata: behind a mark of the byte order\n\n", "", "behind a mark of the byte order"},
		{"\ufeffevent: x\r\ndata: y\r\n\r\n", "x", "y"},
	} {
		name, data := Parse([]byte(c.event))
		if string(name) != c.name || string(data) != c.data {
			t.Errorf("%q: %q, %q", c.event, name, data)
		}
	}
	if name, data := Parse([]byte(": only a comment\n\n")); name != nil || data != nil {
		t.Errorf("a comment has name %q and data %q", name, data)
	}
}

func TestALineOfFourMiBIsOneEvent(t *testing.T) {
	text := "data: " + strings.Repeat("x", 4<<20) + "\n\n"
	got, rest := cut(t, text+"data: [DONE]\n\n", 16<<10)
	if len(got) != 2 || got[0] != text || rest != "" {
		t.Fatalf("%d events, the first of %d bytes, rest of %d", len(got), len(got[0]), len(rest))
	}
}

func TestAnEventOverTheBoundIsAnError(t *testing.T) {
	var s Splitter
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range MaxEvent/len(chunk) + 1 {
		if err := s.Feed(chunk); err != nil {
			return
		}
		s.Next()
	}
	t.Fatal("an endless line was held without bound")
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("event: a\ndata: 1\n\ndata: 2\r\n\r\n:c\r\r"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		var one, many Splitter
		var a, b []byte
		take := func(to *[]byte) func([]byte) { return func(ev []byte) { *to = append(append(*to, ev...), '|') } }
		if one.Feed(text) != nil {
			return
		}
		one.Events(take(&a))
		k := int(n)%16 + 1
		for at := 0; at < len(text); at += k {
			if many.Feed(text[at:min(at+k, len(text))]) != nil {
				return
			}
			many.Events(take(&b))
		}
		if !bytes.Equal(a, b) {
			t.Fatalf("%q in pieces of %d: %q, whole: %q", text, k, b, a)
		}
		if got := append(bytes.ReplaceAll(a, []byte("|"), nil), one.Rest()...); !bytes.Contains(text, []byte("|")) && !bytes.Equal(got, text) {
			t.Fatalf("%q became %q", text, got)
		}
		Parse(text)
	})
}
