package keys

import (
	"fmt"
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

// normalAll brings a command's keys into the form that the terminal library uses.
func normalAll(id ID, keys []string) ([]string, error) {
	all := make([]string, 0, len(keys))
	for _, k := range keys {
		n, ok := normal(k)
		if !ok {
			return nil, fmt.Errorf("[keys] %s: %q is no key", id, k)
		}
		all = append(all, n)
	}
	return all, nil
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

// suggest names the command that a wrong id is most like.
func suggest(id string) string {
	best, least := "", 4
	for i := range commands {
		if d := distance(id, string(commands[i].ID)); d < least {
			best, least = string(commands[i].ID), d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(`, did you mean "%s"?`, best)
}

// distance counts the letters to change, add or take to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		last := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := last
			if a[i-1] != b[j-1] {
				cost++
			}
			last = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
