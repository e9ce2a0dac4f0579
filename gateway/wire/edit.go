package wire

import (
	"bytes"
	"io"
)

// Body is a request body as it goes on: the agent's own bytes around what was swapped or cut.
// It holds no copy of them.
type Body struct{ parts [5][]byte }

// Whole is a body that goes on as it came.
func Whole(b []byte) Body { return Body{parts: [5][]byte{b}} }

// SwapModel puts another model in the place of the one that e was read from.
// Every other byte stays; the same model leaves all of them.
func SwapModel(body []byte, e *Envelope, model string) Body {
	if e.model == (span{}) {
		return Whole(body)
	}
	quoted := Quote(model)
	if string(e.model.of(body)) == string(quoted) {
		return Whole(body)
	}
	return Body{parts: [5][]byte{body[:e.model.start], quoted, body[e.model.end:]}}
}

// SwapPlain is SwapModel for a vendor that is not the maker of the agent: the block of the system
// prompt by which the agent tells its maker whom to bill goes. It may be another with each request, and
// nothing behind it could then be read from a cache.
func SwapPlain(body []byte, e *Envelope, model string) Body {
	b := SwapModel(body, e, model)
	if e.billing == (span{}) {
		return b
	}
	swapped, cut := b.parts[1], withComma(body, e.billing)
	switch m := e.model; {
	case len(swapped) == 0:
		b.parts = [5][]byte{body[:cut.start], body[cut.end:]}
	case m.start < cut.start:
		b.parts = [5][]byte{body[:m.start], swapped, body[m.end:cut.start], body[cut.end:]}
	default:
		b.parts = [5][]byte{body[:cut.start], body[cut.end:m.start], swapped, body[m.end:]}
	}
	return b
}

// withComma is an element of a list with the comma behind it, else with the one before it.
func withComma(body []byte, s span) span {
	c := cursor{b: body, i: s.end}
	if c.peek() == ',' {
		c.i++
		c.space()
		return span{s.start, c.i}
	}
	if before := bytes.TrimRight(body[:s.start], " \t\r\n"); bytes.HasSuffix(before, []byte(",")) {
		s.start = len(before) - 1
	}
	return s
}

// SwapEmbedModels puts the model in the places where Gemini's requests for embeddings name one:
// at the top, and in each request of a batch. Every other byte stays.
func SwapEmbedModels(body []byte, model string) Body {
	var at []span
	c := cursor{b: body}
	take := func(key []byte) {
		if string(key) == "model" {
			if s, ok := c.stringValue(); ok {
				at = append(at, s)
			}
		}
	}
	c.object(func(key []byte) {
		if string(key) == "requests" && c.peek() == '[' {
			c.array(func(int) {
				if c.peek() == '{' {
					c.object(take)
				}
			})
			return
		}
		take(key)
	})
	if c.finish() != nil || len(at) == 0 {
		return Whole(body)
	}
	quoted, end := Quote(model), 0
	between := quoted[1 : len(quoted)-1]
	out := make([]byte, 0, len(body)+len(at)*len(between))
	for _, s := range at {
		out = append(append(out, body[end:s.start]...), between...)
		end = s.end
	}
	return Whole(append(out, body[end:]...))
}

// Len is the length in bytes.
func (b *Body) Len() int64 {
	n := 0
	for _, p := range b.parts {
		n += len(p)
	}
	return int64(n)
}

// Bytes joins the body into one slice.
func (b *Body) Bytes() []byte {
	out := make([]byte, 0, b.Len())
	for _, p := range b.parts {
		out = append(out, p...)
	}
	return out
}

// Reader reads the body from its start. Each call makes a reader of its own.
func (b *Body) Reader() io.ReadCloser { return &bodyReader{parts: b.parts} }

type bodyReader struct {
	parts [5][]byte
	n     int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	for r.n < len(r.parts) {
		if part := r.parts[r.n]; len(part) > 0 {
			k := copy(p, part)
			r.parts[r.n] = part[k:]
			return k, nil
		}
		r.n++
	}
	return 0, io.EOF
}

func (r *bodyReader) Close() error { return nil }
