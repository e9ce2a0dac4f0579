package term

import (
	"bytes"
	"strconv"
	"strings"
)

// What is asked: the background's colour, then what kind of terminal it is. Every terminal answers the
// second, so its answer says that the first will not come.
const question = "\x1b]11;?\x1b\\\x1b[c"

// replies takes the answers to the question out of what a terminal sends. What is left is what the person typed.
type replies struct {
	colour string // the background as the terminal named it
	kind   bool   // the second answer came
	held   []byte // a piece that may be the beginning of an answer
	esc    bool   // the last byte given out was an escape, which may be the first of what comes now
}

// maxReply bounds an answer: what is longer is none.
const maxReply = 64

// complete reports that both answers came.
func (r *replies) complete() bool { return r.kind && r.colour != "" }

// feed takes what the terminal sent and gives out what is no answer, in its order. An answer may come in pieces;
// only an escape that ends a piece is not kept back, since it may be the key.
func (r *replies) feed(p []byte) []byte {
	b := append(r.held, p...)
	r.held = nil
	if r.esc && len(b) > 0 {
		n, whole := r.match(append([]byte{0x1b}, b...))
		if n > 0 && !whole {
			r.held = b
			return nil
		}
		r.esc = false
		b = b[max(n-1, 0):]
	}
	var out []byte
	for len(b) > 0 {
		i := bytes.IndexByte(b, 0x1b)
		if i < 0 {
			return append(out, b...)
		}
		out, b = append(out, b[:i]...), b[i:]
		n, whole := r.match(b)
		switch {
		case whole:
			b = b[n:]
		case n == 1:
			r.esc = true
			return append(out, 0x1b)
		case n > 1:
			r.held = bytes.Clone(b)
			return out
		default:
			out, b = append(out, 0x1b), b[1:]
		}
	}
	return out
}

// rest gives out what was kept back, when no answer is waited for any more.
func (r *replies) rest() []byte {
	b := r.held
	r.held = nil
	return b
}

// match looks for an answer at the start of b, which is an escape. n is its length when it is whole, the length of b
// when b may be the beginning of one, and 0 when it is none.
func (r *replies) match(b []byte) (n int, whole bool) {
	if n, whole = matchColour(b); whole {
		r.colour = string(b[len(colourHead) : bytes.IndexAny(b[1:n], "\a\x1b")+1])
		return n, true
	}
	if n > 0 {
		return n, false
	}
	if n, whole = matchKind(b); whole {
		r.kind = true
	}
	return n, whole
}

const (
	colourHead = "\x1b]11;"
	kindHead   = "\x1b[?"
)

// matchColour knows ESC ] 11 ; text, ended by a bell or by ESC \.
func matchColour(b []byte) (n int, whole bool) {
	if !begins(b, colourHead) {
		return 0, false
	}
	for i := len(colourHead); i < len(b); i++ {
		switch c := b[i]; {
		case i >= maxReply:
			return 0, false
		case c == '\a':
			return i + 1, true
		case c == 0x1b && i+1 == len(b):
			return len(b), false
		case c == 0x1b && b[i+1] == '\\':
			return i + 2, true
		case c < 0x20 || c > 0x7e:
			return 0, false
		}
	}
	return len(b), false
}

// matchKind knows ESC [ ? numbers c.
func matchKind(b []byte) (n int, whole bool) {
	if !begins(b, kindHead) {
		return 0, false
	}
	for i := len(kindHead); i < len(b); i++ {
		switch c := b[i]; {
		case i >= maxReply:
			return 0, false
		case c == 'c':
			return i + 1, true
		case c != ';' && (c < '0' || c > '9'):
			return 0, false
		}
	}
	return len(b), false
}

// begins reports whether b begins with head, as far as b goes.
func begins(b []byte, head string) bool {
	n := min(len(b), len(head))
	return string(b[:n]) == head[:n]
}

// dark reads a colour as terminals write it, rgb:rrrr/gggg/bbbb with one to four digits each or #rrggbb, and tells
// whether it is a dark one.
func dark(colour string) (isDark, ok bool) {
	var parts []string
	if hex, found := strings.CutPrefix(colour, "#"); found {
		if len(hex) != 6 && len(hex) != 12 {
			return false, false
		}
		n := len(hex) / 3
		parts = []string{hex[:n], hex[n : 2*n], hex[2*n:]}
	} else if _, rest, found := strings.Cut(colour, ":"); found && strings.HasPrefix(colour, "rgb") {
		parts = strings.Split(rest, "/")
	}
	if len(parts) != 3 && len(parts) != 4 { // rgba: has a fourth
		return false, false
	}
	sum := 0.0
	for i, weight := range []float64{0.299, 0.587, 0.114} { // as bright as they seem
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return false, false
		}
		sum += weight * float64(n) / float64(uint(1)<<(4*len(parts[i]))-1)
	}
	return sum < 0.5, true
}
