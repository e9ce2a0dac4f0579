package redact

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// walk goes over JSON text that others have checked: it finds where strings stand and
// takes the rest as it is. What is no JSON makes it stop with bad set.
type walk struct {
	s   string
	i   int
	bad bool
}

// part is a piece of a text.
type part struct{ from, to int }

func (p part) of(s string) string { return s[p.from:p.to] }

// next is the next byte that is no blank, 0 at the end.
func (w *walk) next() byte {
	for w.i < len(w.s) {
		switch w.s[w.i] {
		case ' ', '\n', '\r', '\t':
			w.i++
		default:
			if w.bad {
				return 0
			}
			return w.s[w.i]
		}
	}
	return 0
}

// str takes the string that stands next and returns what is between its quotes.
func (w *walk) str() part {
	if w.next() != '"' {
		w.bad = true
		return part{}
	}
	w.i++
	from := w.i
	for {
		n := strings.IndexByte(w.s[w.i:], '"')
		if n < 0 {
			w.bad = true
			return part{}
		}
		w.i += n + 1
		end, slashes := w.i-1, 0
		for end-slashes-1 >= from && w.s[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return part{from, end}
		}
	}
}

// object calls member for each member of the object that stands next; a value that is not
// taken is passed over.
func (w *walk) object(member func(key string)) {
	if w.next() != '{' {
		w.skip()
		return
	}
	w.i++
	if w.next() == '}' {
		w.i++
		return
	}
	for !w.bad {
		key := w.str()
		if w.next() != ':' {
			w.bad = true
			return
		}
		w.i++
		w.next()
		at := w.i
		member(decoded(key.of(w.s)))
		if w.i == at {
			w.skip()
		}
		if !w.more('}') {
			return
		}
	}
}

// array calls element for each element of the array that stands next.
func (w *walk) array(element func()) {
	if w.next() != '[' {
		w.skip()
		return
	}
	w.i++
	if w.next() == ']' {
		w.i++
		return
	}
	for !w.bad {
		w.next()
		at := w.i
		element()
		if w.i == at {
			w.skip()
		}
		if !w.more(']') {
			return
		}
	}
}

// more says whether another follows, up to the closing mark.
func (w *walk) more(end byte) bool {
	switch w.next() {
	case ',':
		w.i++
		return true
	case end:
		w.i++
		return false
	}
	w.bad = true
	return false
}

// skip passes over the value that stands next.
func (w *walk) skip() {
	switch w.next() {
	case '{':
		w.object(func(string) {})
	case '[':
		w.array(func() {})
	case '"':
		w.str()
	case 0, '}', ']', ',', ':':
		w.bad = true
	default:
		w.i += strings.IndexAny(w.s[w.i:]+",", ",]} \n\r\t")
	}
}

// number takes the whole number that stands next, -1 for anything else.
func (w *walk) number() int {
	w.next()
	from := w.i
	w.skip()
	if n, err := strconv.Atoi(w.s[from:w.i]); err == nil {
		return n
	}
	return -1
}

// text takes the string that stands next, decoded; anything else is passed over and "".
func (w *walk) text() string {
	if w.next() != '"' {
		w.skip()
		return ""
	}
	return decoded(w.str().of(w.s))
}

// decoded is what a string says whose raw form stands between the quotes.
func decoded(raw string) string {
	n := strings.IndexByte(raw, '\\')
	if n < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for n >= 0 {
		out = append(out, raw[:n]...)
		r, size := escaped(raw[n:])
		out = utf8.AppendRune(out, r)
		raw = raw[n+size:]
		n = strings.IndexByte(raw, '\\')
	}
	return string(append(out, raw...))
}

// escaped reads the escape that s begins with: what it stands for, and how long it is.
func escaped(s string) (rune, int) {
	if len(s) < 2 {
		return utf8.RuneError, len(s)
	}
	switch s[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		hi := hex4(s)
		if utf16.IsSurrogate(hi) && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
			if r := utf16.DecodeRune(hi, hex4(s[6:])); r != utf8.RuneError {
				return r, 12
			}
		}
		return hi, min(6, len(s))
	}
	return rune(s[1]), 2
}

// hex4 reads \uXXXX.
func hex4(s string) rune {
	if len(s) < 6 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// ruler turns places of a decoded text, one behind the other, into places of its raw form.
type ruler struct {
	raw      string
	at, raw0 int // a place of the decoded text, and where it stands in raw
}

func (r *ruler) place(at int) int {
	for r.at < at {
		n := strings.IndexByte(r.raw[r.raw0:min(len(r.raw), r.raw0+at-r.at)], '\\')
		if n < 0 {
			r.raw0 += at - r.at
			r.at = at
			break
		}
		c, size := escaped(r.raw[r.raw0+n:])
		r.at += n + len(string(c))
		r.raw0 += n + size
	}
	return r.raw0
}

// quotedInner is s as it stands between a JSON string's quotes.
func quotedInner(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' }) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ':
			b.WriteString(`\u00`)
			b.WriteByte("0123456789abcdef"[c>>4])
			b.WriteByte("0123456789abcdef"[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
