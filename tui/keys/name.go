package keys

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// aliases are other ways to write a key's name; on the right is what the terminal library calls it.
var aliases = map[string]string{
	"space": " ", "escape": "esc", "return": "enter", "pgdn": "pgdown", "pagedown": "pgdown", "pageup": "pgup",
	"del": "delete", "ins": "insert", "backtab": "shift+tab",
}

// named are the keys with a name of more than one letter.
var named = []string{
	"enter", "esc", "tab", "shift+tab", "backspace", "delete", "insert", "home", "end", "pgup", "pgdown",
	"up", "down", "left", "right", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
}

// normalAll brings keys into the form that the terminal library uses; bad are those that are none.
func normalAll(keys []string) (all, bad []string) {
	all = make([]string, 0, len(keys))
	for _, k := range keys {
		if n, ok := normal(k); ok {
			all = append(all, n)
		} else {
			bad = append(bad, k)
		}
	}
	return all, bad
}

// normal reads a key or a sequence of two.
func normal(k string) (string, bool) {
	if k == " " {
		return k, true
	}
	parts := strings.Fields(k)
	if len(parts) < 1 || len(parts) > 2 {
		return "", false
	}
	for i, p := range parts {
		n, ok := single(p)
		if !ok || len(parts) == 2 && n == " " {
			return "", false
		}
		parts[i] = n
	}
	return strings.Join(parts, " "), true
}

func single(k string) (string, bool) {
	if a, ok := aliases[strings.ToLower(k)]; ok {
		return a, true
	}
	if utf8.RuneCountInString(k) == 1 {
		return k, true
	}
	lower := strings.ToLower(k)
	if slices.Contains(named, lower) {
		return lower, true
	}
	if rest, ok := strings.CutPrefix(lower, "alt+"); ok && rest != "" {
		n, ok := single(k[len("alt+"):])
		return "alt+" + n, ok
	}
	if rest, ok := strings.CutPrefix(lower, "ctrl+"); ok {
		plain := len(rest) == 1 && (rest[0] >= 'a' && rest[0] <= 'z' || strings.Contains(`@\]^_`, rest))
		return lower, plain || slices.Contains([]string{"up", "down", "left", "right", "home", "end", "pgup", "pgdown"}, rest)
	}
	return "", false
}

// shown are keys that are written otherwise for people.
var shown = map[string]string{" ": "space", "pgdown": "pgdn"}

// Shown writes a key for people.
func Shown(key string) string {
	if s, ok := shown[key]; ok {
		return s
	}
	return key
}
