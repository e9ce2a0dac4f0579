package failure

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// longest is how much of a vendor's message is kept, in runes.
const longest = 300

// CleanErr is what a transport's error says, without any address's query or
// userinfo, without anything that looks like a key, and without addresses of
// the person's own network: agents hand it on.
func CleanErr(err error) string {
	if err == nil {
		return ""
	}
	var u *url.Error
	if errors.As(err, &u) && u.Op == "parse" { // its reason quotes pieces of the address
		return "the address can't be read"
	}
	text := lookedUp.ReplaceAllString(err.Error(), "lookup $1: ")
	return tidy(ownEnd.ReplaceAllString(text, "$1"))
}

var (
	// What a look-up says of the name server that it asked, and how far it came there.
	lookedUp = regexp.MustCompile(`\blookup (\S+) on \S+: (?:(?:dial|read|write) (?:udp|tcp)[46]? \S+: )?(?:(?:connect|read|write): )?`)
	// This machine's end of a connection.
	ownEnd = regexp.MustCompile(`\b((?:dial|read|write) (?:tcp|udp)[46]? )\S+->`)

	anyURL = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^\s"'<>` + "`" + `]+`)
	tags   = regexp.MustCompile(`(?s)<!--.*?-->|<(?:script|style)\b.*?(?:</(?:script|style)\s*>|$)|<[!/a-zA-Z][^<>]*>`)
	// Things that are a secret by their looks.
	secrets = regexp.MustCompile(`(?i)\b(?:bearer\s+[a-z0-9._~+/=-]{6,}|` +
		`(?:sk|pk|rk|xai|gsk|pplx|tgp|nvapi|hf|ghp|gho|ghu|ghs|ghr|github_pat|glpat)[-_][a-z0-9_*-]{8,}|` +
		`aiza[a-z0-9_-]{10,}|akia[a-z0-9]{12,}|ya29\.[a-z0-9_.-]{10,}|1//[a-z0-9_-]{20,}|` +
		`eyj[a-z0-9_-]{6,}\.[a-z0-9_-]{4,}(?:\.[a-z0-9_-]*)?|` +
		`[0-9a-f]{32}\.[a-z0-9]{8,}|[0-9a-f]{40,})`)
	assigned = regexp.MustCompile(`(?i)\b((?:api[-_ ]?key|access[-_ ]?token|refresh[-_ ]?token|client[-_ ]?secret|password|secret)["']?\s*[:=]\s*["']?)([^\s"',;&]{6,})`)
)

// tidy makes a foreign text fit to be shown: no markup, no secrets, no control
// characters, blanks folded, at most 300 runes.
func tidy(s string) string {
	s = cut(s, 16<<10)
	s = tags.ReplaceAllString(s, " ")
	s = strings.Map(printable, s)
	s = anyURL.ReplaceAllStringFunc(s, bareURL)
	s = secrets.ReplaceAllStringFunc(s, mask)
	s = assigned.ReplaceAllString(s, "${1}…")
	return clip(fold(s), longest)
}

func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == unicode.ReplacementChar, !unicode.IsPrint(r):
		return -1
	}
	return r
}

// bareURL keeps scheme, host and path.
func bareURL(u string) string {
	scheme, rest, _ := strings.Cut(u, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	return scheme + "://" + rest
}

// mask keeps of a secret what tells its kind.
func mask(s string) string {
	if len(s) >= 6 && strings.EqualFold(s[:6], "bearer") {
		return s[:6] + " …"
	}
	return s[:min(4, len(s))] + "…"
}

// clip shortens s to at most n runes.
func clip(s string, n int) string {
	seen := 0
	for i := range s {
		if seen == n-1 && len(s) > i && len([]rune(s[i:])) > 1 {
			return s[:i] + "…"
		}
		seen++
	}
	return s
}
