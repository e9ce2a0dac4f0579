package redact

import "strings"

const (
	shown    = 4  // letters of a secret that stay
	enough   = 12 // letters of a secret that are never shown in one piece
	ellipsis = "…"
	nearby   = 64 // bytes after a word like "key" in which a random run is one
)

// Mask hides keys and tokens in any text.
func Mask(s string) string {
	c := scan{s: s}
	c.run()
	return c.text()
}

// scan walks over a text once and writes down what stays.
type scan struct {
	s    string
	out  strings.Builder
	done int // up to here it is written down
	near int // up to here a random run is a secret

	finds *[]find // where what is surely a secret is noted instead of being hidden, nil = it is hidden

	// What was found out of the rest of a text holds for all of its places: looked for
	// again at each, one long run would take minutes.
	tokens stretch // of tokenly letters
	values stretch // that no mark ends which ends a value
	dull   stretch // in which nothing looks made by chance
}

// stretch is a part of the text whose end is known.
type stretch struct{ from, to int }

// end is where the stretch around i ends; length measures one that begins at i.
func (s *stretch) end(i int, text string, length func(string) int) int {
	if i < s.from || i >= s.to {
		*s = stretch{i, i + length(text[i:])}
	}
	return s.to
}

// chance says whether the tokenly letters from i on look made by chance. Where they do not,
// no later part of them does.
func (c *scan) chance(i, end int) bool {
	if i >= c.dull.from && end <= c.dull.to {
		return false
	}
	if random(c.s[i:end]) {
		return true
	}
	c.dull = stretch{i, end}
	return false
}

func (c *scan) run() {
	for i := 0; i < len(c.s); {
		switch b := c.s[i]; {
		case alnum(b):
			i = c.word(i)
		case b == ':' && strings.HasPrefix(c.s[i:], "://"):
			i = c.userinfo(i + len("://"))
		case b == '-' && strings.HasPrefix(c.s[i:], pemBegin):
			i = c.pem(i)
		default:
			i++
		}
	}
}

// text is the outcome: the text itself when nothing was hidden.
func (c *scan) text() string {
	if c.done == 0 {
		return c.s
	}
	c.out.WriteString(c.s[c.done:])
	return c.out.String()
}

// hide replaces a part by its mask.
func (c *scan) hide(from, to int) int {
	if from >= to {
		return to
	}
	if c.finds != nil {
		*c.finds = append(*c.finds, find{part{from, to}, Secret})
		return to
	}
	if c.out.Len() == 0 {
		c.out.Grow(len(c.s))
	}
	c.out.WriteString(c.s[c.done:from])
	c.out.WriteString(masked(c.s[from:to]))
	c.done = to
	return to
}

// masked is what is shown of a secret.
func masked(v string) string {
	if len(v) < enough {
		return ellipsis
	}
	for i := range shown {
		if !alnum(v[i]) && v[i] != '-' && v[i] != '_' {
			return ellipsis
		}
	}
	return v[:shown] + ellipsis
}

// isMasked says whether a value is what masked made of another.
func isMasked(v string) bool {
	rest, ok := strings.CutSuffix(v, ellipsis)
	return ok && len(rest) <= shown
}

// word looks at the word that begins at i, and returns where to go on.
func (c *scan) word(i int) int {
	j := i
	for ; j < len(c.s) && wordly(c.s[j]); j++ {
		if byFirst[c.s[j]] != nil && (c.finds == nil || c.boundary(j)) {
			if end := c.token(j); end > 0 {
				return c.hide(j, end)
			}
		}
	}
	word := c.s[i:j]
	switch {
	case scheme(word):
		if from, to := c.credentials(word, j); to > from && (c.finds == nil || literal(c.s[from:to], 8)) {
			return c.hide(from, to)
		}
	case i < c.near:
		if end := c.tokens.end(i, c.s, run); end > i && !requestID(word) && c.chance(i, end) && (c.finds == nil || sureRun(c.s[i:end])) {
			return c.hide(i, end)
		}
	}
	name := nameOf(word)
	if name == ordinary {
		return j
	}
	far := nearby
	if c.finds != nil {
		far = nearSure
	}
	c.near = max(c.near, j+far)
	from, to := c.value(word, name, j)
	if from == to {
		return j
	}
	return c.hide(from, to)
}

// userinfo hides what stands before the @ of a URL's authority, which begins at i.
func (c *scan) userinfo(i int) int {
	end := strings.IndexAny(c.s[i:], "/?#\"'`<>\\ \t\r\n")
	if end < 0 {
		end = len(c.s) - i
	}
	at := strings.LastIndexByte(c.s[i:i+end], '@')
	if at <= 0 {
		return i
	}
	user := c.s[i : i+at]
	if c.finds != nil {
		if from, ok := sureUser(user); ok {
			return c.hide(i+from, i+at)
		}
		return i
	}
	if isMasked(user) || !strings.Contains(user, ":") && len(user) < enough {
		return i
	}
	return c.hide(i, i+at)
}

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
)

// pem hides a private key in its armour, up to its end or that of the text.
func (c *scan) pem(i int) int {
	head := c.s[i+len(pemBegin):]
	kind, body, ok := strings.Cut(head, "-----")
	if !ok || !strings.HasSuffix(kind, "PRIVATE KEY") || len(kind) > 64 {
		return i + len(pemBegin)
	}
	from := len(c.s) - len(body)
	to := len(c.s)
	if c.finds != nil {
		body = body[:min(len(body), pemMost)]
	}
	if end := strings.Index(body, pemEnd); end >= 0 {
		to = from + end
	} else if c.finds != nil {
		to = from + armour(body)
	}
	if c.finds != nil && (to-from < pemLeast || strings.Contains(c.s[from:min(to, from+pemMost)], "...")) {
		return from
	}
	if isMasked(strings.TrimSpace(c.s[from:to])) {
		return to
	}
	return c.hide(from, to)
}

// pemLeast is how long the shortest private key is.
const pemLeast = 40

// pemMost is how long the longest is, about.
const pemMost = 16 << 10

// armour is how much of a text can be the inside of a key that is cut off.
func armour(s string) int {
	n := 0
	for n < min(len(s), pemMost) && (tokenly(s[n]) || strings.IndexByte(" \r\n\t\\,:", s[n]) >= 0) && !strings.HasPrefix(s[n:], pemBegin) {
		n++
	}
	return n
}

func alnum(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func wordly(b byte) bool { return alnum(b) || b == '_' || b == '-' }

// tokenly is a letter of a token that may have others around it on both sides.
func tokenly(b byte) bool {
	return wordly(b) || b == '.' || b == '/' || b == '+' || b == '=' || b == '~' || b == '%'
}

// run is the length of the token at the beginning of s, without what may be the
// sentence's.
func run(s string) int {
	n := 0
	for n < len(s) && tokenly(s[n]) {
		n++
	}
	for n > 0 && !wordly(s[n-1]) && s[n-1] != '=' {
		n--
	}
	return n
}

// random says whether a run looks made by chance: a piece of twelve letters and more
// with digits among them, or with capitals where no word has them.
func random(s string) bool {
	if len(s) < 16 {
		return false
	}
	for len(s) > 0 {
		n := 0
		for n < len(s) && alnum(s[n]) {
			n++
		}
		if n >= enough && mixed(s[:n]) {
			return true
		}
		s = s[min(len(s), n+1):]
	}
	return false
}

// mixed says whether a piece holds digits and letters, or changes from small letters to
// capitals three times.
func mixed(s string) bool {
	digits, letters, turns := 0, 0, 0
	for i := range len(s) {
		switch b := s[i]; {
		case b <= '9':
			digits++
		default:
			letters++
			if i > 0 && b <= 'Z' && s[i-1] >= 'a' {
				turns++
			}
		}
	}
	return digits > 0 && letters > 0 || turns >= 3
}

// requestID says whether a word is the name of a request or reply, which people need.
func requestID(word string) bool {
	for _, p := range []string{"req_", "msg_", "resp_", "chatcmpl-", "conv_", "trace_"} {
		if strings.HasPrefix(word, p) {
			return true
		}
	}
	return false
}
