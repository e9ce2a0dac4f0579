// Package sse cuts a byte stream into server-sent events without copying them twice.
package sse

import (
	"bytes"
	"errors"
)

// MaxEvent is the largest single event that a Splitter holds, in bytes.
const MaxEvent = 64 << 20

// ErrTooLong says that one event grew past MaxEvent.
var ErrTooLong = errors.New("one event of the stream is larger than 64 MiB")

// bom may stand before the first event of a stream, and is no part of it.
var bom = []byte("\xef\xbb\xbf")

// Splitter gathers chunks and gives back whole events as the bytes came, with the
// blank line that ends each. The zero value is ready.
type Splitter struct {
	buf  []byte
	from int // start of what was not given back
	seen int // how far the search for an end has come
}

// Feed appends a chunk. Slices given back before are no longer good after it.
func (s *Splitter) Feed(chunk []byte) error {
	if s.from > 0 && s.from == len(s.buf) {
		s.buf = s.buf[:0]
		s.from, s.seen = 0, 0
	} else if s.from > 4096 && s.from > len(s.buf)/2 {
		n := copy(s.buf, s.buf[s.from:])
		s.buf = s.buf[:n]
		s.seen -= s.from
		s.from = 0
	}
	if len(s.buf)-s.from+len(chunk) > MaxEvent {
		return ErrTooLong
	}
	s.buf = append(s.buf, chunk...)
	return nil
}

// Next returns the next whole event with its ending blank line, or nil when there is none yet.
func (s *Splitter) Next() []byte {
	end := End(s.buf, s.from, s.seen)
	if end < 0 {
		s.seen = max(s.from, len(s.buf)-3)
		return nil
	}
	ev := s.buf[s.from:end]
	s.from, s.seen = end, end
	return ev
}

// Events calls each for every whole event that is there, and returns all of them as the
// one run of bytes that they are; nil when there is none.
func (s *Splitter) Events(each func(event []byte)) []byte {
	at := s.from
	for ev := s.Next(); ev != nil; ev = s.Next() {
		each(ev)
	}
	if s.from == at {
		return nil
	}
	return s.buf[at:s.from]
}

// Rest returns what is no whole event yet, and forgets it.
func (s *Splitter) Rest() []byte {
	r := s.buf[s.from:]
	s.from, s.seen = len(s.buf), len(s.buf)
	return r
}

// Pending is how many bytes wait for the end of their event.
func (s *Splitter) Pending() int { return len(s.buf) - s.from }

// Reset empties the splitter and drops a buffer that has grown large.
func (s *Splitter) Reset() {
	if cap(s.buf) > 64<<10 {
		s.buf = nil
	}
	s.buf = s.buf[:0]
	s.from, s.seen = 0, 0
}

// End finds where the event that begins at from ends, its blank line included; seen is
// where to look from. It is -1 when the event does not end in b. Lines end in LF, CRLF or CR.
func End(b []byte, from, seen int) int {
	for i := max(from, seen); i < len(b); {
		n := bytes.IndexByte(b[i:], '\n')
		stop := len(b)
		if n >= 0 {
			stop = i + n
		}
		if end, ok := bareCR(b, from, i, stop); ok {
			return end
		}
		if n < 0 {
			return -1
		}
		p := stop
		if p > from && b[p-1] == '\r' {
			p--
		}
		if begins(b, from, p) {
			return stop + 1
		}
		i = stop + 1
	}
	return -1
}

// begins says whether a line begins at i.
func begins(b []byte, from, i int) bool {
	return i == from || b[i-1] == '\n' || b[i-1] == '\r'
}

// bareCR looks for a blank line that a CR without LF ends, from i up to stop. A CR at the
// very end of b says nothing yet: its LF may follow.
func bareCR(b []byte, from, i, stop int) (end int, ok bool) {
	for i < stop {
		n := bytes.IndexByte(b[i:stop], '\r')
		if n < 0 {
			return 0, false
		}
		i += n
		if i+1 == len(b) {
			return -1, true
		}
		if b[i+1] == '\n' {
			return 0, false
		}
		if begins(b, from, i) {
			return i + 1, true
		}
		i++
	}
	return 0, false
}

// Parse reads an event's name and data. One data line is returned without a copy; several
// are joined by newlines. Both are nil for a comment.
func Parse(event []byte) (name, data []byte) {
	event = bytes.TrimPrefix(event, bom)
	lines := 0
	for len(event) > 0 {
		var line []byte
		line, event = cutLine(event)
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = value
		case "data":
			lines++
			if lines == 1 {
				data = value
				if data == nil {
					data = []byte{}
				}
				continue
			}
			data = append(append(data[:len(data):len(data)], '\n'), value...)
		}
	}
	return name, data
}

// cutLine takes the first line off b; it ends in LF, CRLF or CR.
func cutLine(b []byte) (line, rest []byte) {
	n := bytes.IndexByte(b, '\n')
	line, rest = b, nil
	if n >= 0 {
		line, rest = b[:n], b[n+1:]
	}
	r := bytes.IndexByte(line, '\r')
	switch {
	case r < 0:
		return line, rest
	case r == len(line)-1 && n >= 0:
		return line[:r], rest
	}
	return b[:r], b[r+1:]
}

// Looks says whether a body of an unnamed type begins as an event stream does.
func Looks(first []byte) bool {
	first = bytes.TrimLeft(bytes.TrimPrefix(first, bom), "\r\n")
	return bytes.HasPrefix(first, []byte("data:")) || bytes.HasPrefix(first, []byte("event:")) || bytes.HasPrefix(first, []byte(":"))
}
