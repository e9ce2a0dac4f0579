package canvas

import (
	"strings"
	"unicode/utf8"
)

// Clean makes a string safe to show: escape sequences, control characters and the marks
// that reorder text are gone, line ends and tabs are one space, and bytes that are no UTF-8
// are question marks. A string that needs none of it is returned as it is.
func Clean(s string) string {
	for i := range len(s) {
		if b := s[i]; b < 0x20 || b >= 0x7f {
			return clean(s, i)
		}
	}
	return s
}

// clean does the work of Clean; the first from bytes need none.
func clean(s string, from int) string {
	if isClean(s[from:]) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:from])
	for i := from; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteByte('?')
		case isSpace(r):
			if r == '\r' && strings.HasPrefix(s[i+n:], "\n") {
				n++
			}
			b.WriteByte(' ')
		case r == 0x1b || r >= 0x80 && r <= 0x9f:
			n = sequence(s[i:])
		case !isShown(r):
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func isClean(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if isSpace(r) || !isShown(r) {
			return false
		}
	}
	return true
}

// isSpace tells the characters that end lines or jump.
func isSpace(r rune) bool {
	return r == '\n' || r == '\r' || r == '\t' || r == 0x0b || r == 0x0c || r == 0x85 || r == 0x2028 || r == 0x2029
}

// isShown tells what may stand in a cell: no control, no mark that reorders text, nothing
// that is only there to be unseen.
func isShown(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return false
	case r == 0x00ad, r == 0x061c, r == 0x180e, r == 0xfeff:
		return false
	case r == 0x200b, r == 0x200e, r == 0x200f:
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return false
	case r >= 0xfff9 && r <= 0xfffb, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

// sequence measures the escape sequence that s begins with. One that never ends counts
// only its introducer, so that the text after it is still read.
func sequence(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	kind := byte(r - 0x40) // the letter after ESC that an eight-bit control stands for
	if r == 0x1b {
		if len(s) < 2 {
			return n
		}
		kind = s[1]
		if kind < 0x20 || kind > 0x7e {
			return n
		}
		n = 2
	}
	switch kind {
	case '[':
		return n + parameters(s[n:])
	case ']', 'P', 'X', '^', '_':
		return n + untilTerminator(s[n:])
	}
	if r == 0x1b {
		return n + intermediates(s[1:])
	}
	return n
}

// parameters measures a control sequence after its introducer, its final byte with it.
func parameters(s string) int {
	for i := range len(s) {
		switch b := s[i]; {
		case b >= 0x40 && b <= 0x7e:
			return i + 1
		case b < 0x20 || b > 0x3f:
			return i
		}
	}
	return len(s)
}

// intermediates measures what follows the first byte of a two-byte sequence such as ESC ( B.
func intermediates(s string) int {
	if s[0] < 0x20 || s[0] > 0x2f {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch b := s[i]; {
		case b >= 0x30 && b <= 0x7e:
			return i
		case b < 0x20 || b > 0x2f:
			return i - 1
		}
	}
	return len(s) - 1
}

// untilTerminator measures a string sequence after its introducer, terminator and all;
// 0 when it has no end, or when another sequence begins first.
func untilTerminator(s string) int {
	for i := range len(s) {
		switch s[i] {
		case 0x07:
			return i + 1
		case 0x1b:
			if i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			return 0
		case 0xc2:
			if i+1 == len(s) || s[i+1] > 0x9f {
				continue // a letter
			}
			if s[i+1] == 0x9c {
				return i + 2
			}
			return 0
		}
	}
	return 0
}
