package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays of a request may nest.
const MaxDepth = 1000

// ErrDepth says that a body nests deeper than MaxDepth.
var ErrDepth = errors.New("nests deeper than 1,000 levels")

// SyntaxError is a body that is not JSON, and where.
type SyntaxError struct {
	Offset int
	Text   string
}

func (e *SyntaxError) Error() string { return e.Text + " at byte " + strconv.Itoa(e.Offset) }

// span is a piece of a body, from start up to end.
type span struct{ start, end int }

func (s span) of(b []byte) []byte { return b[s.start:s.end] }

// cursor walks a JSON text once, checking it wholly as encoding/json would.
// After the first error every call is a no-op.
type cursor struct {
	b     []byte
	i     int
	depth int
	err   error
	text  int // bytes of string values seen
}

func (c *cursor) fail(text string) {
	if c.err == nil {
		c.err = &SyntaxError{Offset: c.i, Text: text}
	}
}

func (c *cursor) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\n', '\r', '\t':
			c.i++
		default:
			return
		}
	}
}

// peek returns the next byte that is no blank, 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.err != nil || c.i >= len(c.b) {
		return 0
	}
	return c.b[c.i]
}

func (c *cursor) enter() bool {
	c.i++
	c.depth++
	if c.depth > MaxDepth {
		if c.err == nil {
			c.err = ErrDepth
		}
		return false
	}
	return true
}

// object walks the members of the object at the cursor. member gets the key between
// its quotes, as written, and may take the value; one not taken is skipped.
func (c *cursor) object(member func(key []byte)) {
	if c.peek() != '{' {
		c.fail("expected an object")
		return
	}
	if !c.enter() {
		return
	}
	if c.peek() == '}' {
		c.i++
		c.depth--
		return
	}
	for c.err == nil {
		if c.peek() != '"' {
			c.fail("expected a key")
			return
		}
		key := c.str()
		if c.peek() != ':' {
			c.fail("expected a colon")
			return
		}
		c.i++
		c.space() // or a member that only looks would seem to have taken the value
		at := c.i
		member(key.of(c.b))
		if c.i == at {
			c.skip()
		}
		switch c.peek() {
		case ',':
			c.i++
		case '}':
			c.i++
			c.depth--
			return
		default:
			c.fail("expected a comma or a closing brace")
		}
	}
}

// array walks the elements of the array at the cursor; element may take the value.
func (c *cursor) array(element func(n int)) {
	if c.peek() != '[' {
		c.fail("expected an array")
		return
	}
	if !c.enter() {
		return
	}
	if c.peek() == ']' {
		c.i++
		c.depth--
		return
	}
	for n := 0; c.err == nil; n++ {
		c.space()
		at := c.i
		element(n)
		if c.i == at {
			c.skip()
		}
		switch c.peek() {
		case ',':
			c.i++
		case ']':
			c.i++
			c.depth--
			return
		default:
			c.fail("expected a comma or a closing bracket")
		}
	}
}

// skip passes over one value, checking it.
func (c *cursor) skip() {
	switch ch := c.peek(); {
	case ch == '{':
		c.object(nothing)
	case ch == '[':
		c.array(nothingAt)
	case ch == '"':
		s := c.str()
		c.text += s.end - s.start
	case ch == 't':
		c.word("true")
	case ch == 'f':
		c.word("false")
	case ch == 'n':
		c.word("null")
	case ch == '-' || ch >= '0' && ch <= '9':
		c.number()
	default:
		c.fail("expected a value")
	}
}

func nothing([]byte) {}
func nothingAt(int)  {}

func (c *cursor) word(w string) {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		c.fail("expected " + w)
		return
	}
	c.i += len(w)
}

func (c *cursor) digits() bool {
	at := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		c.i++
	}
	return c.i > at
}

func (c *cursor) number() span {
	s := span{start: c.i}
	if c.b[c.i] == '-' {
		c.i++
	}
	switch {
	case c.i < len(c.b) && c.b[c.i] == '0':
		c.i++
	case !c.digits():
		c.fail("a number without digits")
	}
	if c.i < len(c.b) && c.b[c.i] == '.' {
		c.i++
		if !c.digits() {
			c.fail("a number without digits after its point")
		}
	}
	if c.i < len(c.b) && (c.b[c.i] == 'e' || c.b[c.i] == 'E') {
		c.i++
		if c.i < len(c.b) && (c.b[c.i] == '+' || c.b[c.i] == '-') {
			c.i++
		}
		if !c.digits() {
			c.fail("a number without digits in its exponent")
		}
	}
	s.end = c.i
	return s
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, of eight bytes, those that are a quote, a backslash or a control
// character. Its lowest mark is exact; what lies above it may be a borrow's.
func special(x uint64) uint64 {
	quote := x ^ (ones * '"')
	slash := x ^ (ones * '\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*0x20)&^x) & highs
}

// run passes over the bytes of a string up to the next special one, eight at a time; wide
// gathers all of them.
func run(b []byte, i int, wide uint64) (int, uint64) {
	for len(b)-i >= 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		wide |= x
		if m := special(x); m != 0 {
			return i + bits.TrailingZeros64(m)>>3, wide
		}
		i += 8
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
		wide |= uint64(b[i])
		i++
	}
	return i, wide
}

// str passes over the string at the cursor and returns what stands between its quotes.
func (c *cursor) str() span {
	b := c.b
	s := span{start: c.i + 1}
	var wide uint64
	for i := s.start; ; {
		i, wide = run(b, i, wide)
		c.i = i
		switch {
		case i >= len(b):
			c.fail("a string that does not end")
			return span{i, i}
		case b[i] == '"':
			s.end, c.i = i, i+1
			if wide&highs != 0 && !utf8.Valid(s.of(b)) {
				c.i = s.start
				c.fail("invalid UTF-8 in a string")
			}
			return s
		case b[i] == '\\':
			if i+1 < len(b) && short[b[i+1]] {
				i += 2
				continue
			}
			n := escape(b[i:])
			if n == 0 {
				c.fail("an unknown escape in a string")
				return span{i, i}
			}
			i += n
		default:
			c.fail("a bare control character in a string")
			return span{i, i}
		}
	}
}

// short are the letters of the escapes of two bytes.
var short = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// escape returns the length of the escape that b begins with, 0 for none that JSON has.
func escape(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case short[b[1]]:
		return 2
	case b[1] != 'u' || len(b) < 6:
		return 0
	}
	for _, h := range b[2:6] {
		if (h < '0' || h > '9') && (h < 'a' || h > 'f') && (h < 'A' || h > 'F') {
			return 0
		}
	}
	return 6
}

// finish checks that nothing but blanks follows.
func (c *cursor) finish() error {
	c.space()
	if c.err == nil && c.i < len(c.b) {
		c.fail("something after the end of the JSON")
	}
	return c.err
}

// stringValue takes the value at the cursor when it is a string; ok is false, and nothing taken, when it is none.
func (c *cursor) stringValue() (s span, ok bool) {
	if c.peek() != '"' {
		return span{}, false
	}
	s = c.str()
	c.text += s.end - s.start
	return s, c.err == nil
}

// intValue takes the value at the cursor when it is a number.
func (c *cursor) intValue() (int64, bool) {
	if ch := c.peek(); ch != '-' && (ch < '0' || ch > '9') {
		return 0, false
	}
	s := c.number()
	if c.err != nil {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(s.of(c.b)), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(s.of(c.b)), 64)
	if err != nil || f > 1e15 || f < -1e15 {
		return 0, false
	}
	return int64(f), true
}

// unquote decodes what stands between a string's quotes.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') >= 0 {
		return unescape(raw)
	}
	return string(raw)
}

func unescape(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 >= len(raw) {
			out = append(out, raw...)
			break
		}
		out = append(out, raw[:n]...)
		r, size := unescapeOne(raw[n:])
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		} else {
			out = utf8.AppendRune(out, r)
		}
		raw = raw[n+size:]
	}
	return string(out)
}

func unescapeOne(b []byte) (rune, int) {
	switch b[1] {
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
		hi := hex4(b[2:])
		if hi >= 0xD800 && hi < 0xDC00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if lo := hex4(b[8:]); lo >= 0xDC00 && lo < 0xE000 {
				return (hi-0xD800)<<10 | (lo - 0xDC00) + 0x10000, 12
			}
		}
		return hi, 6
	}
	return rune(b[1]), 2
}

func hex4(b []byte) rune {
	if len(b) < 4 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// Quote writes s as a JSON string without escaping <, > and &.
func Quote(s string) []byte {
	return AppendQuoted(make([]byte, 0, len(s)+2), s)
}

// AppendQuoted appends s as a JSON string without escaping <, > and &. What is no UTF-8
// becomes U+FFFD.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		for len(s)-i >= 8 && plainEight(s[i:i+8]) {
			i += 8
		}
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			b = appendEscape(append(b, s[from:i]...), c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == 0x2028 || r == 0x2029 {
			b = append(b, s[from:i]...)
			if n == 1 {
				b = utf8.AppendRune(b, r)
			} else {
				b = fmt.Appendf(b, `\u%04x`, r)
			}
			from = i + n
		}
		i += n
	}
	return append(append(b, s[from:]...), '"')
}

// plainEight says whether eight bytes are ASCII that a JSON string holds as it is.
func plainEight(s string) bool {
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	del := x ^ (ones * 0x7f)
	return (x|special(x)|(del-ones)&^del)&highs == 0
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return fmt.Appendf(b, `\u%04x`, c)
}

func appendQuoted(b []byte, s string) []byte { return AppendQuoted(b, s) }
