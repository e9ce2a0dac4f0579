package failure

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// reply is one failed try as the rows see it: what was seen, read once.
type reply struct {
	Seen
	said
	status int    // the HTTP status, or what an error inside a 2xx stands for
	text   string // codes and messages, lower-case, blanks folded
	prose  string // text without addresses, names of fields and what stands in quotes: the vendor's own words
	page   page
	named  *reset // the named reset, once it was looked for
}

// read draws from s everything that rows ask for.
func read(s Seen) *reply {
	r := &reply{Seen: s}
	r.page = s.page()
	if r.page.reason == "" || !r.page.web {
		r.said = hear(s.Body, s.Vendor)
	}
	if h := s.Header.Get("X-Amzn-Errortype"); h != "" {
		name, _, _ := strings.Cut(h, ":")
		r.add(name)
	}
	r.text = r.spoken()
	r.prose = fold(address.ReplaceAllString(quoted.ReplaceAllString(r.text, "$1 "), " "))
	r.prose = fieldName.ReplaceAllString(r.prose, "")
	r.status = r.meant()
	return r
}

// spoken is everything said, in lower case: the codes with blanks for their
// underscores, then the messages.
func (r *reply) spoken() string {
	var b strings.Builder
	for _, c := range r.codes {
		b.WriteString(strings.NewReplacer("_", " ", "-", " ").Replace(c))
		b.WriteString(" · ")
	}
	for _, w := range r.words {
		b.WriteString(strings.ToLower(w))
		b.WriteString(" · ")
	}
	return ends(fold(strings.NewReplacer("’", "'", "‘", "'").Replace(b.String())))
}

// What of a long text the rows see: how it begins, and its end, where the time is.
const (
	seenHead = 1536
	seenTail = 512
)

func ends(s string) string {
	if len(s) <= seenHead+seenTail {
		return s
	}
	return cut(s, seenHead) + " … " + strings.ToValidUTF8(s[len(s)-seenTail:], "")
}

// meant is the status to go by: an error inside a 2xx stands for another.
func (r *reply) meant() int {
	if r.Status >= 300 || r.Status != 0 && r.page.reason != "" {
		return r.Status
	}
	if r.Err != nil && len(r.Body) == 0 {
		return 0
	}
	if r.said.status != 0 {
		return r.said.status
	}
	return StreamStatus(strings.Join(r.codes, " "), r.text)
}

// has reports whether one of the codes was said, whatever its case.
func (r *reply) has(codes ...string) bool {
	for _, c := range r.codes {
		if slices.Contains(codes, c) {
			return true
		}
	}
	return false
}

// find looks for a field in everything that was JSON.
func (r *reply) find(names ...string) *node {
	for _, root := range r.roots {
		if n := root.find(8, names...); n != nil {
			return n
		}
	}
	return nil
}

// wait is how long the vendor's named reset is away, 0 when it named none.
func (r *reply) wait() time.Duration {
	if e := r.reset(); !e.until.IsZero() {
		return e.until.Sub(r.At)
	}
	return 0
}

var (
	// What a vendor quotes is mostly the agent's: a field, a tool, a sentence.
	quoted    = regexp.MustCompile("(^|[\\s(\\[{:=,])(?:'[^']{0,600}'|\"[^\"]{0,600}\"|`[^`]{0,600}`|“[^”]{0,600}”|「[^」]{0,600}」|input_value=.{0,600})")
	fieldName = regexp.MustCompile(`\b[a-z0-9]+(?:_[a-z0-9]+)+\b`)
	address   = regexp.MustCompile(`[a-z][a-z0-9+.-]*://\S+`)
)

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
