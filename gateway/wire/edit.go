package wire

import (
	"bytes"
	"io"
	"slices"
)

// maxEdits is how many pieces of one body are ever written anew: the model, two that say how
// hard to think, and the one that says whom to bill.
const maxEdits = 4

// Body is a request body as it goes on: the agent's own bytes around the pieces that are
// written anew or cut. It holds no copy of them.
type Body struct{ parts [2*maxEdits + 1][]byte }

// Edit is a piece of a body that is written anew.
type Edit struct {
	at   span
	with []byte
}

// Whole is a body that goes on as it came.
func Whole(b []byte) Body {
	var out Body
	out.parts[0] = b
	return out
}

// SwapModel puts another model in the place of the one that e was read from, and the
// edits in theirs. Every other byte stays; the same model leaves all of them.
func SwapModel(body []byte, e *Envelope, model string, edits ...Edit) Body {
	if e.model != (span{}) {
		if quoted := Quote(model); string(e.model.of(body)) != string(quoted) {
			edits = append(edits, Edit{e.model, quoted})
		}
	}
	return Edited(body, edits)
}

// Edited puts edits, which do not overlap, into a body. There are few of them: more than a
// Body has room for are no edits of ours.
func Edited(body []byte, edits []Edit) Body {
	if len(edits) == 0 || len(edits) > maxEdits {
		return Whole(body)
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.at.start - b.at.start })
	var out Body
	end := 0
	for i, e := range edits {
		out.parts[2*i], out.parts[2*i+1] = body[end:e.at.start], e.with
		end = e.at.end
	}
	out.parts[2*len(edits)] = body[end:]
	return out
}

// SwapPlain is SwapModel for a vendor that is not the maker of the agent: the block of the system
// prompt by which the agent tells its maker whom to bill goes. It may be another with each request, and
// nothing behind it could then be read from a cache.
func SwapPlain(body []byte, e *Envelope, model string, edits ...Edit) Body {
	if e.billing != (span{}) {
		edits = append(edits, Edit{at: withComma(body, e.billing)})
	}
	return SwapModel(body, e, model, edits...)
}

// Billed says whether the agent tells its maker whom to bill.
func (e *Envelope) Billed() bool { return e.billing != (span{}) }

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
	parts [2*maxEdits + 1][]byte
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
