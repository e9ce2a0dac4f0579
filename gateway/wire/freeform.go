package wire

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// freeSchema is what a freeform tool takes where there are only functions.
var freeSchema = json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)

// FreeFunction is a freeform tool as a function with one string argument, for APIs and
// vendors that know functions alone. Its grammar is told in the description.
func FreeFunction(t Tool) Tool {
	f := t
	f.Kind, f.Grammar, f.Raw, f.Strict = ToolFunction, nil, nil, nil
	f.Schema = freeSchema
	if t.Grammar == nil {
		return f
	}
	var b strings.Builder
	b.Grow(len(t.Description) + len(t.Grammar.Definition) + 64)
	b.WriteString(t.Description)
	if t.Description != "" {
		b.WriteString("\n\n")
	}
	b.WriteString("Input is raw text following this ")
	b.WriteString(t.Grammar.Syntax)
	b.WriteString(" grammar:\n")
	b.WriteString(t.Grammar.Definition)
	f.Description = b.String()
	return f
}

// FreeArgs are a freeform call's input as the arguments of its function.
func FreeArgs(input string) json.RawMessage {
	b := append(make([]byte, 0, len(input)+len(input)/16+16), `{"input":`...)
	return append(appendQuoted(b, input), '}')
}

// FreeInput is the input that a function's arguments mean: the string of {"input":"…"}, a
// bare JSON string, or else the text of the arguments as it is.
func FreeInput(args string) string {
	var d FreeDecoder
	return d.Add(args) + d.End()
}

// leadMost is how many bytes may stand before the string; real ones are about ten.
const leadMost = 1 << 10

// freeState is where a FreeDecoder stands.
type freeState uint8

const (
	freeLead  freeState = iota // before the string: all is kept, for it may be something else
	freeInner                  // inside of the string
	freeOver                   // behind it
	freeRaw                    // it is something else
)

// FreeDecoder turns the arguments of a freeform tool's function into the tool's input,
// piece by piece. The zero value is ready.
type FreeDecoder struct {
	state freeState
	held  strings.Builder // the lead, or all of what is something else
	tail  []byte          // the beginning of an escape whose rest is still to come
}

// Add takes the next piece of the arguments and returns what it says of the input, often nothing.
func (d *FreeDecoder) Add(piece string) string {
	switch d.state {
	case freeLead:
		return d.lead(piece)
	case freeInner:
		return d.inner(piece)
	case freeRaw:
		d.held.WriteString(piece)
	case freeOver:
	}
	return ""
}

// lead looks for the string's beginning.
func (d *FreeDecoder) lead(piece string) string {
	d.held.WriteString(piece)
	all := d.held.String()
	n, whole := freeString(all)
	switch {
	case n < 0 || !whole && len(all) > leadMost:
		d.state = freeRaw
	case whole:
		d.state = freeInner
		d.held.Reset()
		return d.inner(all[n:])
	}
	return ""
}

// freeString finds where the string in {"input":" begins. whole is false while s may
// still become that; n is -1 when it can't.
func freeString(s string) (n int, whole bool) {
	for _, want := range [...]string{"{", `"input"`, ":", `"`} {
		n += len(s[n:]) - len(strings.TrimLeft(s[n:], " \t\r\n"))
		rest := s[n:]
		if len(rest) < len(want) {
			if strings.HasPrefix(want, rest) {
				return 0, false
			}
			return -1, false
		}
		if !strings.HasPrefix(rest, want) {
			return -1, false
		}
		n += len(want)
	}
	return n, true
}

// inner decodes up to the string's end, and keeps an escape that is not whole.
func (d *FreeDecoder) inner(piece string) string {
	if len(d.tail) == 0 {
		if i := strings.IndexAny(piece, "\\\""); i < 0 {
			return piece
		}
	}
	b := append(d.tail, piece...)
	out := make([]byte, 0, len(b))
	i := 0
	for i < len(b) {
		switch {
		case b[i] == '"':
			d.state, d.tail = freeOver, nil
			return string(out)
		case b[i] != '\\':
			out = append(out, b[i])
			i++
		case cutEscape(b[i:]):
			d.tail = append([]byte(nil), b[i:]...)
			return string(out)
		default:
			r, n := unescapeOne(b[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	d.tail = d.tail[:0]
	return string(out)
}

// cutEscape says whether the escape that b begins with may go on behind b's end: so may
// the first half of a surrogate pair.
func cutEscape(b []byte) bool {
	if len(b) < 2 || b[1] == 'u' && len(b) < 6 {
		return true
	}
	if b[1] != 'u' || len(b) >= 12 {
		return false
	}
	if r := hex4(b[2:]); r < 0xD800 || r >= 0xDC00 {
		return false
	}
	return len(b) == 6 || b[6] == '\\' && (len(b) == 7 || b[7] == 'u')
}

// End is told that the arguments are over and returns what of the input is left.
func (d *FreeDecoder) End() string {
	state, tail := d.state, d.tail
	d.state, d.tail = freeOver, nil
	switch state {
	case freeInner:
		return string(tail)
	case freeLead, freeRaw:
		all := d.held.String()
		d.held.Reset()
		return freeOther(all)
	case freeOver:
	}
	return ""
}

// freeOther is the input of arguments that don't begin as {"input":"…" does.
func freeOther(args string) string {
	var s string
	if json.Unmarshal([]byte(args), &s) == nil {
		return s
	}
	var o struct {
		Input *string `json:"input"`
	}
	if json.Unmarshal([]byte(args), &o) == nil && o.Input != nil {
		return *o.Input
	}
	return args
}
