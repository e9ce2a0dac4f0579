package redact

import "strings"

// named says what kind of field a word names.
type named int

const (
	ordinary named = iota
	loose          // "key", "token" alone: prose as often as a field
	firm           // "api_key", "accessToken"
	strict         // "password", "secret": whatever follows is one
	line           // "cookie": the rest of the line is one
	plural         // "keys": no field, but a key may follow
)

// ending is how the name of such a field ends.
type ending struct {
	text  string
	alone named // when the word is nothing else
	after named // when it is the end of a longer name
}

var endings = []ending{
	{"key", loose, firm},
	{"token", loose, firm},
	{"auth", loose, firm},
	{"jwt", loose, firm},
	{"authorization", firm, firm},
	{"credential", strict, strict},
	{"secret", strict, strict},
	{"password", strict, strict},
	{"passwd", strict, strict},
	{"passphrase", strict, strict},
	{"pwd", strict, strict},
	{"cookie", line, line},
	{"keys", plural, plural},
	{"tokens", plural, plural},
	{"credentials", plural, plural},
}

// byLast has the endings by their last letter, small and capital.
var byLast = func() (t [256][]ending) {
	for _, e := range endings {
		last := e.text[len(e.text)-1]
		t[last] = append(t[last], e)
		t[last-'a'+'A'] = append(t[last-'a'+'A'], e)
	}
	return t
}()

// joined are the words that stand before an ending without a mark between.
var joined = []string{
	"", "api", "auth", "access", "refresh", "secret", "private", "session", "client", "id", "bearer", "master", "user",
	"account", "provider", "license", "signing", "oauth",
	"u0026", "u003f", "26", "3f", // an escaped & or ?
}

// innocent are the words before an ending that make it something else.
var innocent = []string{"cache", "public", "primary", "foreign", "sort", "partition", "page", "eos", "pad", "stop", "first", "per", "max", "idempotency"}

// nameOf says what kind of field a word names.
func nameOf(word string) named {
	for _, e := range byLast[word[len(word)-1]] {
		if len(word) < len(e.text) {
			continue
		}
		head, tail := word[:len(word)-len(e.text)], word[len(word)-len(e.text):]
		if !strings.EqualFold(tail, e.text) {
			continue
		}
		if head == "" {
			return e.alone
		}
		last := head[len(head)-1]
		switch {
		case last == '_' || last == '-':
			if endsIn(strings.TrimRight(head, "_-"), innocent) {
				return ordinary
			}
			if hasFold(word, "x-") { // a header, whose value is never prose
				return max(e.after, strict)
			}
			return e.after
		case tail[0] <= 'Z' && last > 'Z': // apiKey
			if endsIn(head, innocent) {
				return ordinary
			}
			return e.after
		case endsIn(head, joined[1:]):
			return e.after
		}
	}
	return ordinary
}

func endsIn(s string, words []string) bool {
	for _, w := range words {
		if len(s) >= len(w) && strings.EqualFold(s[len(s)-len(w):], w) && (len(s) == len(w) || !alnum(s[len(s)-len(w)-1]) || s[len(s)-len(w)] <= 'Z') {
			return true
		}
	}
	return false
}

// value finds the value of a field whose name ends at i, empty when there is none to hide.
func (c *scan) value(word string, name named, i int) (from, to int) {
	if name == plural {
		return i, i
	}
	sep, at := c.separator(i)
	if sep == 0 {
		return i, i
	}
	v := c.open(at)
	if v.quote == "" && name != line {
		v.skipSchemes()
	}
	switch {
	case v.quote != "":
		v.to = v.from + quoted(c.s[v.from:], v.quote)
	case name == line:
		v.to = v.from + restOfLine(c.s[v.from:])
	default:
		v.to = c.values.end(v.from, c.s, unquoted)
	}
	if !v.secret(name, sep) || c.finds != nil && !v.sure(word, name, sep) {
		return i, i
	}
	return v.from, v.to
}

// separator finds the = or : behind a name, and where what follows it begins.
func (c *scan) separator(i int) (sep byte, at int) {
	s := c.s
	for n := 0; i < len(s) && n < 8; n++ {
		switch {
		case s[i] == ' ' || s[i] == '\t' || s[i] == '"' || s[i] == '\'' || s[i] == '\\' || s[i] == ']':
			i++
		case s[i] == ':' || s[i] == '=':
			sep = s[i]
			i++
			if i < len(s) && (s[i] == '=' || s[i] == '>') {
				i++
			}
			return sep, i
		case hasFold(s[i:], "%3d"):
			return '=', i + 3
		case hasFold(s[i:], "%3a"):
			return ':', i + 3
		case hasFold(s[i:], "%22") || hasFold(s[i:], "%20"):
			i += 3
		default:
			return 0, 0
		}
	}
	return 0, 0
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// held is the value of a field.
type held struct {
	s        string
	from, to int
	quote    string // what opens and closes it: ", ', \", … "" = nothing
	spaced   bool   // a blank stands before it
}

// open finds the beginning of the value behind a separator.
func (c *scan) open(i int) held {
	s := c.s
	h := held{s: s}
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
		h.spaced = true
	}
	j := i
	for j < len(s) && s[j] == '\\' {
		j++
	}
	switch {
	case j < len(s) && (s[j] == '"' || s[j] == '\'' || s[j] == '`'):
		h.quote = s[i : j+1]
		i = j + 1
	case hasFold(s[i:], "%22"):
		h.quote = s[i : i+3]
		i += 3
	}
	h.from = i
	return h
}

// skipSchemes goes over a word like Bearer before the value itself.
func (h *held) skipSchemes() {
	for _, w := range []string{"bearer", "basic", "token", "apikey", "key", "digest"} {
		if hasFold(h.s[h.from:], w) {
			if n := blanks(h.s[h.from+len(w):]); n > 0 {
				h.from += len(w) + n
				h.spaced = false
				return
			}
		}
	}
}

// secret says whether a value is to be hidden.
func (h *held) secret(name named, sep byte) bool {
	v := h.s[h.from:h.to]
	if v == "" || isMasked(v) {
		return false
	}
	switch v {
	case "true", "false", "null", "nil", "none", "undefined":
		return false
	}
	switch name {
	case strict, line:
		return true
	case ordinary, plural:
		return false
	case loose, firm:
	}
	switch {
	case sep == '=':
		return true
	case numeric(v):
		return false
	case name == firm:
		return h.quote != "" || !h.spaced || len(v) >= enough || !small(v)
	}
	return !strings.ContainsRune(v, ' ') && (len(v) >= 16 || len(v) >= 6 && strings.ContainsAny(v, "0123456789"))
}

// numeric says whether a value is a number, maybe with a unit, too short to be a secret.
func numeric(v string) bool {
	if len(v) >= enough {
		return false
	}
	digits := strings.TrimRight(v, "mshkMB%")
	for i := range len(digits) {
		if (digits[i] < '0' || digits[i] > '9') && digits[i] != '.' {
			return false
		}
	}
	return digits != ""
}

// unquoted is the length of a value that ends where something else begins.
func unquoted(s string) int {
	if n := strings.IndexAny(s, " \t\r\n,;&|\"'`\\<>(){}[]"); n >= 0 {
		s = s[:n]
	}
	for s != "" && (s[len(s)-1] == '.' || s[len(s)-1] == ':' || s[len(s)-1] == '!' || s[len(s)-1] == '?') {
		s = s[:len(s)-1]
	}
	return len(s)
}

func restOfLine(s string) int {
	if n := strings.IndexAny(s, "\r\n\"'`\\"); n >= 0 {
		return n
	}
	return len(s)
}

// quoted is the length of a value up to the quote that closes it. Inside a plain quote
// a backslash takes the next letter with it.
func quoted(s, quote string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], quote):
			return i
		case s[i] == '\\' && len(quote) == 1 && i+1 < len(s):
			i++
		}
	}
	return len(s)
}
