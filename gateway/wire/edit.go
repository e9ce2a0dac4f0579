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
			r.parts[r.n] = part[k:]
			return k, nil
		}
		r.n++
	}
	return 0, io.EOF
}

func (r *bodyReader) Close() error { return nil }
