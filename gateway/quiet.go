package gateway

import (
	"bytes"

	"dev.magpie/gateway/wire/sse"
)

// quiet takes comments and idle blank lines out of whole events. Gemini's clients give a
// stream up at the first of either.
func quiet(b []byte) []byte {
	var out []byte
	same := 0 // so many bytes of b stand in the result as they are
	for from := 0; from < len(b); {
		end := sse.End(b, from, from)
		if end < 0 {
			end = len(b)
		}
		ev := b[from:end]
		if said := withoutComments(ev); len(said) != len(ev) {
			if out == nil {
				out = make([]byte, 0, len(b))
			}
			out = append(append(out, b[same:from]...), said...)
			same = end
		}
		from = end
	}
	if same == 0 {
		return b
	}
	return append(out, b[same:]...)
}

// withoutComments returns an event without its comment lines, nil when it says nothing else.
func withoutComments(ev []byte) []byte {
	if _, data := sse.Parse(ev); data == nil {
		return nil
	}
	if ev[0] != ':' && !bytes.Contains(ev, []byte("\n:")) && !bytes.Contains(ev, []byte("\r:")) {
		return ev
	}
	var out []byte
	for len(ev) > 0 {
		n := bytes.IndexAny(ev, "\r\n") + 1
		if n == 0 {
			n = len(ev)
		} else if ev[n-1] == '\r' && n < len(ev) && ev[n] == '\n' {
			n++
		}
		if ev[0] != ':' {
			out = append(out, ev[:n]...)
		}
		ev = ev[n:]
	}
	return out
}
