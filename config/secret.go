package config

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// Reveal returns the value itself. Call it only where a request is signed.
func (s Secret) Reveal() string { return string(s) }

// String returns the mask: the first and last four characters, all masked up to eight.
func (s Secret) String() string { return Mask(string(s)) }

// GoString keeps %#v from showing the value.
func (s Secret) GoString() string { return "Secret(" + Mask(string(s)) + ")" }

// Format keeps every verb from showing the value: the wrong ones print it otherwise.
func (s Secret) Format(f fmt.State, verb rune) {
	shown := s.String()
	switch {
	case verb == 'v' && f.Flag('#'):
		shown = s.GoString()
	case verb == 'q':
		shown = strconv.Quote(shown)
	}
	_, _ = io.WriteString(f, shown) // fmt's own writer never fails
}

// LogValue keeps slog from showing the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(Mask(string(s))) }

// MarshalText keeps encoders from showing the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Mask(string(s))), nil }

// Mask shows a key as its first four and last four characters; one of eight or fewer is masked whole.
func Mask(s string) string {
	switch {
	case s == "":
		return ""
	case len(s) <= 8:
		return "…"
	default:
		return s[:4] + "…" + s[len(s)-4:]
	}
}
