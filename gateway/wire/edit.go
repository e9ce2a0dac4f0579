package wire

import "io"

// Body is a request body as it goes on: the agent's own bytes around one swapped value.
// It holds no copy of them.
type Body struct{ parts [3][]byte }

// Whole is a body that goes on as it came.
func Whole(b []byte) Body { return Body{parts: [3][]byte{b}} }

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
	return Body{parts: [3][]byte{body[:e.model.start], quoted, body[e.model.end:]}}
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
	return int64(len(b.parts[0]) + len(b.parts[1]) + len(b.parts[2]))
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
	parts [3][]byte
	n     int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	for r.n < len(r.parts) {
		if part := r.parts[r.n]; len(part) > 0 {
			k := copy(p, part)
			if r.parts[r.n] = part[k:]; k == len(part) {
				r.parts[r.n] = nil // whoever holds the request until its reply is over holds no body
			}
			return k, nil
		}
		r.n++
	}
	return 0, io.EOF
}

func (r *bodyReader) Close() error { return nil }
