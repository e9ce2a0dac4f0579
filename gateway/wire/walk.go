package wire

import (
	"bytes"
	"encoding/json"
	"math"
)

// Walker reads a JSON text in one pass, for codecs: members and elements are taken as they
// come, and what isn't taken is skipped. What it gives back shares the text's memory where
// it can. After the first error every call is a no-op.
type Walker struct{ c cursor }

// Walk begins a walk over b.
func Walk(b []byte) *Walker { return &Walker{c: cursor{b: b}} }

// Kind is the first byte of the value that stands next: one of {["tfn, or '0' for a
// number; 0 when there is none.
func (w *Walker) Kind() byte {
	ch := w.c.peek()
	if ch == '-' || ch >= '0' && ch <= '9' {
		return '0'
	}
	return ch
}

// Object calls member for every member of the object that stands next. A value that is no
// object is skipped.
func (w *Walker) Object(member func(key []byte)) {
	if w.c.peek() != '{' {
		w.c.skip()
		return
	}
	w.c.object(func(key []byte) {
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(unquote(key))
		}
		member(key)
	})
}

// Array calls element for every element of the array that stands next. A value that is no
// array is skipped.
func (w *Walker) Array(element func()) {
	if w.c.peek() != '[' {
		w.c.skip()
		return
	}
	w.c.array(func(int) { element() })
}

// Skip passes over the value that stands next.
func (w *Walker) Skip() { w.c.skip() }

// Raw takes the value that stands next as it is written.
func (w *Walker) Raw() json.RawMessage {
	w.c.space()
	at := w.c.i
	w.c.skip()
	if w.c.err != nil {
		return nil
	}
	return w.c.b[at:w.c.i:w.c.i]
}

// Text takes the string that stands next, decoded; anything else is skipped and gives "".
func (w *Walker) Text() string {
	s, ok := w.c.stringValue()
	if !ok {
		w.c.skip()
		return ""
	}
	return unquote(s.of(w.c.b))
}

// Int takes the number that stands next; anything else is skipped and not ok.
func (w *Walker) Int() (n int64, ok bool) {
	if n, ok = w.c.intValue(); !ok {
		w.c.skip()
	}
	return n, ok
}

// Number takes the number that stands next, as it is spelled; anything else is skipped and gives "".
func (w *Walker) Number() json.Number {
	if w.Kind() != '0' {
		w.c.skip()
		return ""
	}
	s := w.c.number()
	if w.c.err != nil {
		return ""
	}
	return json.Number(s.of(w.c.b))
}

// Float takes the number that stands next; anything else is skipped and gives 0.
func (w *Walker) Float() float64 {
	f, err := w.Number().Float64()
	if err != nil || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// Bool takes what stands next and says whether it is true.
func (w *Walker) Bool() bool {
	yes := w.c.peek() == 't'
	w.c.skip()
	return yes
}

// Err is the first error of the walk, or that something follows the value.
func (w *Walker) Err() error { return w.c.finish() }
