// Package loose reads the numbers and times of vendors' replies, which spell them in many ways:
// a number may be a string, a time RFC 3339, seconds or milliseconds. What can't be read is
// unset, never an error that hides the rest of a reply.
package loose

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// errNoObject is of a reply that tells nothing by names.
var errNoObject = errors.New("no JSON object")

// Decode reads a reply that is an object. A value of another kind than what is looked for is left
// out, and hides nothing of the rest.
func Decode(body []byte, into any) error {
	if b := bytes.TrimSpace(body); len(b) == 0 || b[0] != '{' {
		return errNoObject
	}
	err := json.Unmarshal(body, into)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// Number is a finite number that may be missing.
type Number struct {
	V   float64
	Set bool
}

// UnmarshalJSON takes a number or a string that holds one; anything else leaves it unset.
func (n *Number) UnmarshalJSON(b []byte) error {
	*n = Number{}
	f, err := strconv.ParseFloat(strings.TrimSpace(text(b)), 64)
	if err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		*n = Number{V: f, Set: true}
	}
	return nil
}

// Or returns the number, or f where it is missing.
func (n Number) Or(f float64) float64 {
	if n.Set {
		return n.V
	}
	return f
}

// Bool is a yes or no that may be missing.
type Bool struct{ V, Set bool }

// UnmarshalJSON takes true, false, and both as text or as 1 and 0; anything else leaves it unset.
func (b *Bool) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(text(data))))
	*b = Bool{V: v, Set: err == nil}
	return nil
}

// Time is a moment that may be missing (zero).
type Time struct{ time.Time }

// layouts are the spellings of a moment besides a count of seconds.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05", "2006-01-02"}

// millis is where a count of milliseconds begins: as seconds it would lie 30,000 years ahead.
// Between first and last, in seconds, is what can be a moment of a vendor's: 2001 to 2200.
const (
	millis = 1e12
	first  = 1e9
	last   = 7258118400
)

// UnmarshalJSON takes a moment as text, as seconds or as milliseconds; anything else, and what
// lies before 2001 or after 2200, leaves it unset.
func (t *Time) UnmarshalJSON(b []byte) error {
	*t = Time{}
	s := strings.TrimSpace(text(b))
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case f >= millis && f < last*1000:
			t.Time = time.UnixMilli(int64(f)).UTC()
		case f >= first && f < last:
			t.Time = time.Unix(int64(f), 0).UTC()
		}
		return nil
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, s); err == nil && at.Unix() >= first && at.Unix() < last {
			t.Time = at.UTC()
			return nil
		}
	}
	return nil
}

// Text is a string that a vendor may also write as a number.
type Text string

// UnmarshalJSON takes a string or a number; anything else leaves it empty.
func (s *Text) UnmarshalJSON(b []byte) error {
	*s = ""
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] != '{' && b[0] != '[' && string(b) != "null" {
		*s = Text(text(b))
	}
	return nil
}

// text is what a JSON string or number says, "" for anything else.
func text(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '"' {
		var s string
		if json.Unmarshal(b, &s) != nil {
			return ""
		}
		return s
	}
	return string(b)
}

// Clip makes a vendor's text one line of at most so many signs, and none that moves a cursor.
func Clip(s string, most int) string {
	const sign = 4 // bytes at the most
	if len(s) > sign*most {
		s = s[:sign*most]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// Words is how much of what a vendor says of an error is told.
const Words = 200

// Percent keeps a share within 0 and 100.
func Percent(f float64) float64 { return max(0, min(100, f)) }
