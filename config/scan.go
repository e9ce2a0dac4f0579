package config

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A file's statements with their bytes, for changes to its text. It reads what the parser
// has found to be TOML, and is lenient about what can't be there.

// statement is one key with its value, or the head of a table.
type statement struct {
	head  bool
	array bool     // of a head: [[…]]
	table []string // the head that it stands under; of a head: its own
	key   []string // the dotted key; nil for a head
	start int      // of its line
	value span
	end   int // behind its line, comment and line end included
}

// path is the whole way to what a statement gives.
func (s *statement) path() []string { return slices.Concat(s.table, s.key) }

// scanner reads statements.
type scanner struct {
	data []byte
	i    int
}

func statements(data []byte) []statement {
	sc := scanner{data: data}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		sc.i = 3
	}
	var all []statement
	var table []string
	for {
		sc.blank()
		if sc.i >= len(data) {
			return all
		}
		s := statement{start: bytes.LastIndexByte(data[:sc.i], '\n') + 1}
		if s.start == 0 && bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
			s.start = 3
		}
		if data[sc.i] == '[' {
			s.head = true
			sc.i++
			if sc.at('[') {
				s.array = true
				sc.i++
			}
			table = sc.key()
			s.table = table
		} else {
			s.table, s.key = table, sc.key()
			if sc.at('=') {
				sc.i++
			}
			sc.inline()
			s.value.from = sc.i
			sc.skipValue()
			s.value.to = sc.i
		}
		if n := bytes.IndexByte(data[sc.i:], '\n'); n >= 0 {
			sc.i += n + 1
		} else {
			sc.i = len(data)
		}
		s.end = sc.i
		all = append(all, s)
	}
}

func (sc *scanner) at(c byte) bool { return sc.i < len(sc.data) && sc.data[sc.i] == c }

// inline skips blanks of a line.
func (sc *scanner) inline() {
	for sc.at(' ') || sc.at('\t') {
		sc.i++
	}
}

// blank skips blanks, line ends and comments.
func (sc *scanner) blank() {
	for sc.i < len(sc.data) {
		switch sc.data[sc.i] {
		case ' ', '\t', '\r', '\n':
			sc.i++
		case '#':
			n := bytes.IndexByte(sc.data[sc.i:], '\n')
			if n < 0 {
				sc.i = len(sc.data)
				return
			}
			sc.i += n
		default:
			return
		}
	}
}

// key reads a dotted key and the blanks behind it.
func (sc *scanner) key() []string {
	var parts []string
	for sc.i < len(sc.data) {
		sc.inline()
		from := sc.i
		switch {
		case sc.at('"'), sc.at('\''):
			quote := sc.data[sc.i]
			sc.skipString()
			raw := string(sc.data[from:sc.i])
			part := strings.Trim(raw, string(quote))
			if s, err := strconv.Unquote(raw); quote == '"' && err == nil {
				part = s
			}
			parts = append(parts, part)
		default:
			for sc.i < len(sc.data) && strings.IndexByte(letters+digits+"_-", sc.data[sc.i]) >= 0 {
				sc.i++
			}
			if sc.i == from {
				return parts
			}
			parts = append(parts, string(sc.data[from:sc.i]))
		}
		sc.inline()
		if !sc.at('.') {
			return parts
		}
		sc.i++
	}
	return parts
}

// skipString goes behind a string.
func (sc *scanner) skipString() {
	quote := sc.data[sc.i]
	if three := bytes.Repeat([]byte{quote}, 3); bytes.HasPrefix(sc.data[sc.i:], three) {
		sc.i += 3
		for sc.i < len(sc.data) && !bytes.HasPrefix(sc.data[sc.i:], three) {
			if quote == '"' && sc.at('\\') {
				sc.i++
			}
			sc.i++
		}
		sc.i = min(sc.i+3, len(sc.data))
		for sc.at(quote) { // up to two more are the string's own
			sc.i++
		}
		return
	}
	for sc.i++; sc.i < len(sc.data) && !sc.at(quote) && !sc.at('\n'); sc.i++ {
		if quote == '"' && sc.at('\\') {
			sc.i++
		}
	}
	sc.i = min(sc.i+1, len(sc.data))
}

// skipValue goes behind a value.
func (sc *scanner) skipValue() {
	if sc.i >= len(sc.data) {
		return
	}
	switch sc.data[sc.i] {
	case '"', '\'':
		sc.skipString()
	case '[':
		sc.skipItems(']', func() { sc.skipValue() })
	case '{':
		sc.skipItems('}', func() { sc.pair() })
	default:
		from := sc.i
		for sc.i < len(sc.data) && strings.IndexByte(",]}#\r\n", sc.data[sc.i]) < 0 {
			sc.i++
		}
		for sc.i > from && (sc.data[sc.i-1] == ' ' || sc.data[sc.i-1] == '\t') {
			sc.i--
		}
	}
}

// skipItems goes behind a list or a table of one line.
func (sc *scanner) skipItems(end byte, item func()) {
	sc.i++
	for {
		sc.blank()
		switch {
		case sc.i >= len(sc.data):
			return
		case sc.at(end):
			sc.i++
			return
		case sc.at(','):
			sc.i++
			continue
		}
		before := sc.i
		item()
		if sc.i == before {
			sc.i++ // what can't be there
		}
	}
}

// pair reads one entry of a table of one line.
func (sc *scanner) pair() pair {
	p := pair{from: sc.i}
	p.key = sc.key()
	if sc.at('=') {
		sc.i++
	}
	sc.inline()
	p.value.from = sc.i
	sc.skipValue()
	p.value.to = sc.i
	return p
}

// pair is one entry of a table of one line.
type pair struct {
	from  int
	key   []string
	value span
}

// pairs reads the entries of the table of one line that begins at from.
func pairs(data []byte, from int) []pair {
	sc := scanner{data: data, i: from}
	var all []pair
	sc.skipItems('}', func() { all = append(all, sc.pair()) })
	return all
}
