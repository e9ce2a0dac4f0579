package failure_test

import (
	"net/http"
	"strings"
	"testing"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

func header(kv ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(kv); i += 2 {
		h.Set(kv[i], kv[i+1])
	}
	return h
}

const challenge = `<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title></head><body>Enable JavaScript and cookies to continue</body></html>`

// TestNotAnAPIReply: a 2xx that no API gives.
func TestNotAnAPIReply(t *testing.T) {
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		want   string
	}{
		{"html", header("Content-Type", "text/html; charset=utf-8"), challenge, `titled "Just a moment..."`},
		{"html typed json", header("Content-Type", "application/json"), challenge, `titled "Just a moment..."`},
		{"html typed event-stream, after a newline", header("Content-Type", "text/event-stream"), "\n" + challenge, `titled "Just a moment..."`},
		{"empty json", header("Content-Type", "application/json"), "", "nothing in it"},
		{"empty event-stream", header("Content-Type", "text/event-stream"), "", "nothing in it"},
		{"plain text typed json", header("Content-Type", "application/json"), "upstream error", `isn't JSON: "upstream error"`},
		{"html with a byte order mark", header(), "\ufeff \r\n<HTML><body>", "web page"},
		{"a head alone", header("Content-Type", "text/plain"), "<head><title>x</title>", "web page"},
		{"a JSON string", header("Content-Type", "application/json"), `"hello"`, "isn't JSON"},
		{"html, compressed", header("Content-Type", "text/html", "Content-Encoding", "gzip"), "\x1f\x8b\x08", "web page (text/html)"},
	} {
		for _, status := range []int{200, 201, 299} {
			reason, bad := failure.NotAnAnswer(status, c.header, []byte(c.body))
			if !bad || !strings.Contains(reason, c.want) {
				t.Errorf("%s, %d: %q, want %q", c.name, status, reason, c.want)
			}
			if strings.ContainsAny(reason, "<>") {
				t.Errorf("%s: markup in %q", c.name, reason)
			}
		}
	}
}

// TestAPIReplyUntouched: what may be an answer is left alone.
func TestAPIReplyUntouched(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
	}{
		{"json after blanks", 200, header("Content-Type", "application/json"), "\n  {\"id\":1}"},
		{"blanks so far", 200, header("Content-Type", "application/json"), "\n\n"},
		{"an array", 200, header("Content-Type", "application/json"), "[]"},
		{"SSE", 200, header("Content-Type", "text/event-stream"), "event: ping\n\n"},
		{"SSE without a type", 200, header(), "data: {}\n\n"},
		{"SSE as plain text", 200, header("Content-Type", "text/plain"), ": hello\n\n"},
		{"gzip typed json", 200, header("Content-Type", "application/json", "Content-Encoding", "gzip"), "\x1f\x8b\x08"},
		{"identity", 200, header("Content-Type", "application/json", "Content-Encoding", "identity"), "{}"},
		{"xml", 200, header("Content-Type", "application/xml"), "<html xmlns='x'/>"},
		{"204", 204, header(), ""},
		{"404 text/html", 404, header("Content-Type", "text/html"), challenge},
		{"302", 302, header("Content-Type", "text/html"), challenge},
		{"text about html", 200, header("Content-Type", "text/plain"), "The <html> tag"},
	} {
		if reason, bad := failure.NotAnAnswer(c.status, c.header, []byte(c.body)); bad {
			t.Errorf("%s: %s", c.name, reason)
		}
	}
}

// TestTitle: from the first 64 KiB, folded, at most 120 runes, no markup.
func TestTitle(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"<html><TITLE>\n  Sign\n in &amp; more </TITLE>", "Sign in & more"},
		{"<title>a <b>bold</b> one</title>", "a bold one"},
		{"<title lang='en'>x</title>", "x"},
		{"<title>cut", "cut"},
		{"<html>none", ""},
		{"<title>" + strings.Repeat("语", 200) + "</title>", strings.Repeat("语", 119) + "…"},
		{strings.Repeat(" ", 70<<10) + "<title>far</title>", ""},
		{"<title>&lt;script&gt;alert(1)&lt;/script&gt; hi</title>", "hi"},
		{"<title>\x1b[31mred\x00</title>", "[31mred"},
	} {
		if got := failure.Title([]byte(c.page)); got != c.want {
			t.Errorf("%.60q: %q, want %q", c.page, got, c.want)
		}
	}
}

// TestFirewallPages: the block pages that are known, and pages that speak of one.
func TestFirewallPages(t *testing.T) {
	html := header("Content-Type", "text/html")
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		want   string
	}{
		{"Cloudflare's header", header("Cf-Mitigated", "challenge"), "", "Cloudflare"},
		{"Cloudflare's title", html, challenge, "Cloudflare"},
		{"Cloudflare blocked", html, "<html><h1>Sorry, you have been blocked</h1>", "Cloudflare"},
		{"AWS WAF", header("X-Amzn-Waf-Action", "captcha"), "", "AWS WAF"},
		{"Akamai", html, "<HTML><HEAD>\n<TITLE>Access Denied</TITLE></HEAD><BODY>Reference #18.abc", "Akamai"},
		{"Imperva", html, `<html><head></head><iframe src="/_Incapsula_Resource?x">`, "Imperva"},
		{"F5", html, "<html><head><title>Request Rejected</title></head>The requested URL was rejected. Please consult with your administrator.", "F5"},
		{"DataDome", html, `<html><script src="https://ct.captcha-delivery.com/c.js">`, "DataDome"},
		{"CloudFront", html, "<html><title>ERROR: The request could not be satisfied</title>Request blocked.", "CloudFront"},
		{"a sign-in page", html, "<html><title>Sign in</title>", ""},
		{"an access page without a reference", html, "<html><title>Access Denied</title>", ""},
		{"JSON that quotes one", header("Content-Type", "application/json"), `{"error":"<title>Just a moment...</title>"}`, ""},
		{"Cloudflare served it, no more", header("Cf-Ray", "x", "Content-Type", "application/json"), "{}", ""},
	} {
		if got := failure.Firewall(c.header, []byte(c.body)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPagesAreNoKeysFault: at any status a page is a failure of the route.
func TestPagesAreNoKeysFault(t *testing.T) {
	for _, status := range []int{200, 401, 402, 403, 404, 500, 503, 520, 522, 524} {
		s := reply(status, challenge, "Content-Type", "text/html")
		v := failure.Classify(s)
		if v.Kind != trace.Other || v.Status != 502 || !v.Page || !v.Next || v.Passes {
			t.Errorf("%d: %+v", status, v)
		}
		if !strings.Contains(v.Words, "Just a moment...") || strings.ContainsAny(v.Words, "<>") {
			t.Errorf("%d: words %q", status, v.Words)
		}
	}
}
