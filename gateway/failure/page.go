package failure

import (
	"bytes"
	"fmt"
	"html"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const (
	peekBytes  = 4 << 10
	titleBytes = 64 << 10
	titleRunes = 120
	quoteRunes = 200
)

// page says whether what came is no API's answer at all.
type page struct {
	reason   string // "" = it may be one
	web      bool   // it is a web page
	firewall string // whose block page it is
	moved    bool   // it leads to another address
}

// page looks at the reply as a whole. An error status with plain words is left
// to the rows; a page is one whatever the status.
func (s Seen) page() page {
	if s.Phase == PhaseStream || s.Status == 0 {
		return page{}
	}
	first := skipBlank(s.Body[:min(len(s.Body), titleBytes)])
	name := Firewall(s.Header, first)
	if to := s.Header.Get("Location"); to != "" && name == "" && slices.Contains(redirects, s.Status) {
		return page{reason: movedReason(s.Status, to), web: true, moved: true}
	}
	reason, bad := NotAnAnswer(s.Status, s.Header, first)
	web := webPage(s.Header, first)
	if !bad && (name != "" || s.Status >= 300 && web) {
		reason, bad = pageReason(s.Status, s.Header, first), true
	}
	if !bad {
		return page{}
	}
	return page{reason: reason, web: web || name != "", firewall: name}
}

// redirects are the statuses by which a request is sent to another address.
var redirects = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

// movedReason tells where a redirect leads, and what to do about it.
func movedReason(status int, to string) string {
	to = to[:min(len(to), peekBytes)]
	if i := strings.IndexAny(to, "?#"); i >= 0 {
		to = to[:i]
	}
	return fmt.Sprintf("answered %d, a redirect to %s: it is not followed, for the key would go there too; set the provider's URL to where it is served", status, clip(tidy(to), titleRunes))
}

// NotAnAnswer judges a 2xx by its headers and its first bytes (up to 4 KiB, more
// for a page's title): a web page, an empty body, or a JSON type that isn't JSON.
// No first bytes means that the body ended at once; nothing but blanks is left to
// the reader. The reason never holds markup.
func NotAnAnswer(status int, h http.Header, first []byte) (reason string, bad bool) {
	if status < 200 || status > 299 || status == http.StatusNoContent {
		return "", false
	}
	kind := mediaType(h)
	if strings.HasPrefix(kind, "text/html") {
		return pageReason(status, h, first), true
	}
	if len(first) == 0 {
		return fmt.Sprintf("answered %d with nothing in it", status), true
	}
	if encoded(h) {
		return "", false
	}
	if webPage(h, first) {
		return pageReason(status, h, first), true
	}
	// Blanks alone say nothing yet: DeepSeek sends them while a request waits.
	if b := skipBlank(first); strings.Contains(kind, "json") && len(b) > 0 && b[0] != '{' && b[0] != '[' {
		return fmt.Sprintf("answered %d with %s that isn't JSON: %s", status, kind, quote(b)), true
	}
	return "", false
}

// webPage reports whether type or first bytes are a web page's.
func webPage(h http.Header, first []byte) bool {
	kind := mediaType(h)
	if strings.HasPrefix(kind, "text/html") {
		return true
	}
	return !encoded(h) && !strings.Contains(kind, "xml") && markup(first)
}

// markup reports whether b begins as a web page does.
func markup(b []byte) bool {
	b = skipBlank(b[:min(len(b), peekBytes)])
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if len(b) >= len(tag) && strings.EqualFold(string(b[:len(tag)]), tag) {
			return true
		}
	}
	return false
}

// skipBlank skips leading blanks and a byte order mark.
func skipBlank(b []byte) []byte {
	b = bytes.TrimLeft(b, " \t\r\n")
	if rest, ok := bytes.CutPrefix(b, []byte("\ufeff")); ok {
		return bytes.TrimLeft(rest, " \t\r\n")
	}
	return b
}

func mediaType(h http.Header) string {
	raw := h.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(raw)
	if err != nil {
		kind, _, _ = strings.Cut(raw, ";")
	}
	return strings.ToLower(strings.TrimSpace(kind))
}

func encoded(h http.Header) bool {
	e := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding")))
	return e != "" && e != "identity"
}

// pageReason tells of a web page: status, type, title and whose block page it is.
func pageReason(status int, h http.Header, first []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "answered %d with a web page", status)
	if kind := mediaType(h); kind != "" {
		fmt.Fprintf(&b, " (%s)", clip(tidy(kind), 60))
	}
	if t := Title(first); t != "" && !encoded(h) {
		fmt.Fprintf(&b, " titled %q", t)
	}
	if name := Firewall(h, first); name != "" {
		fmt.Fprintf(&b, ": %s turned the request away before it reached the API", name)
	}
	return b.String()
}

var titleTag = regexp.MustCompile(`(?is)<title[^>]*>(.*?)(?:</title|$)`)

// Title is a page's title: out of its first 64 KiB, blanks folded, at most 120
// runes, no markup.
func Title(page []byte) string {
	m := titleTag.FindSubmatch(page[:min(len(page), titleBytes)])
	if m == nil {
		return ""
	}
	return clip(tidy(html.UnescapeString(strings.ToValidUTF8(cut(string(m[1]), 2<<10), ""))), titleRunes)
}

// quote shows how a body begins that should have been something else.
func quote(b []byte) string {
	s := tidy(strings.ToValidUTF8(cut(string(b[:min(len(b), 2<<10)]), 2<<10), ""))
	return fmt.Sprintf("%q", clip(s, quoteRunes))
}

// wall is a known block page: a header, or marks that all stand in the page.
type wall struct {
	name   string
	header string // the header's name
	value  string // what it holds, lower-case; "" = anything
	marks  []string
}

// walls lists the block pages that are known, the surest marks first.
var walls = []wall{
	{name: "Cloudflare", header: "Cf-Mitigated", value: "challenge"},
	{name: "AWS WAF", header: "X-Amzn-Waf-Action"},
	{name: "Cloudflare", marks: []string{"<title>just a moment"}},
	{name: "Cloudflare", marks: []string{"enable javascript and cookies to continue"}},
	{name: "Cloudflare", marks: []string{"attention required! | cloudflare"}},
	{name: "Cloudflare", marks: []string{"/cdn-cgi/challenge-platform/"}},
	{name: "Cloudflare", marks: []string{"sorry, you have been blocked"}},
	{name: "DataDome", marks: []string{"captcha-delivery.com"}},
	{name: "Akamai", marks: []string{"<title>access denied", "reference #"}},
	{name: "Akamai", marks: []string{"errors.edgesuite.net"}},
	{name: "Imperva", marks: []string{"_incapsula_resource"}},
	{name: "Imperva", marks: []string{"incapsula incident id"}},
	{name: "Sucuri", marks: []string{"sucuri website firewall"}},
	{name: "F5", marks: []string{"the requested url was rejected. please consult with your administrator"}},
	{name: "Vercel", marks: []string{"vercel security checkpoint"}},
	{name: "DDoS-Guard", marks: []string{"<title>ddos-guard"}},
	{name: "PerimeterX", marks: []string{"px-captcha"}},
	{name: "Alibaba Cloud WAF", marks: []string{"errors.aliyun.com"}},
	{name: "Tencent EdgeOne", marks: []string{"t-sec-waf"}},
	{name: "CloudFront", marks: []string{"<title>error: the request could not be satisfied", "request blocked"}},
}

// Firewall names whose block page a reply is, "" when it is none that is known.
// A page's words count in a page alone: a vendor's JSON may quote them.
func Firewall(h http.Header, first []byte) string {
	var low string
	if webPage(h, first) {
		low = strings.ToLower(fold(string(first[:min(len(first), titleBytes)])))
	}
	for _, w := range walls {
		if w.header != "" && h.Get(w.header) != "" && strings.Contains(strings.ToLower(h.Get(w.header)), w.value) {
			return w.name
		}
		if len(w.marks) > 0 && low != "" && holdsAll(low, w.marks) {
			return w.name
		}
	}
	return ""
}

func holdsAll(s string, marks []string) bool {
	for _, m := range marks {
		if !strings.Contains(s, m) {
			return false
		}
	}
	return true
}
