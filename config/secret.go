package config

import "log/slog"

// Reveal returns the value itself. Call it only where a request is signed.
func (s Secret) Reveal() string { return string(s) }

// String returns the mask: the first and last four characters, all masked up to eight.
func (s Secret) String() string { return Mask(string(s)) }

// GoString keeps %#v from showing the value.
func (s Secret) GoString() string { return "Secret(" + Mask(string(s)) + ")" }

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
