package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/trace"
)

const challenge = "<!DOCTYPE html>\n<html><head><title>Just a\n moment...</title></head><body>Enable JavaScript and cookies to continue</body></html>"

// noAnswers are replies of success that no API gave, with a word of the reason told for each.
var noAnswers = map[string]struct{ kind, body, reason string }{
	"a web page":                          {"text/html; charset=UTF-8", challenge, "Just a moment..."},
	"a web page typed as JSON":            {"application/json", challenge, "Just a moment..."},
	"a web page typed as an event stream": {"text/event-stream", "\n" + challenge, "Just a moment..."},
	"nothing typed as JSON":               {"application/json", "", "nothing in it"},
	"nothing typed as an event stream":    {"text/event-stream", "", "nothing in it"},
	"plain text typed as JSON":            {"application/json", "upstream connect error", "isn't JSON"},
}

func TestASuccessThatIsNoAnswerGoesToTheNext(t *testing.T) {
	for name, c := range noAnswers {
		for _, api := range apis {
			for _, streamed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, streamed %v", name, api, streamed), func(t *testing.T) {
					a, b := &canned{status: http.StatusOK, kind: c.kind, body: c.body}, good(api, streamed)
					r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
					got := r.ask(asking(api, "group/g", streamed))
					if got.status != http.StatusOK || got.body != b.body || a.asked() != 1 || b.asked() != 1 {
						t.Fatalf("%d %s; a asked %d times, b %d times", got.status, got.body, a.asked(), b.asked())
					}
					route := r.told()
					first := route.Tries[0]
					if tried(route) != "a/k b/k" || first.Fail != trace.Other || first.Status != 502 || first.Rest == nil || !strings.Contains(first.Error, c.reason) {
						t.Errorf("%+v", route.Tries)
					}
					if strings.ContainsAny(first.Error, "<>") {
						t.Errorf("markup in %q", first.Error)
					}
				})
			}
		}
	}
}

func TestASuccessThatIsNoAnswerIsA502WhenNobodyIsLeft(t *testing.T) {
	for name, c := range noAnswers {
		for _, api := range apis {
			for _, streamed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, streamed %v", name, api, streamed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r := newRig(t, lone, vendors{"a": &canned{status: http.StatusOK, kind: c.kind, body: c.body}})
						got := r.ask(asking(api, "a/m", streamed))
						words := errorWords(t, api, got.body)
						if got.status != http.StatusBadGateway || !strings.HasPrefix(words, "a ") || !strings.Contains(words, c.reason) {
							t.Errorf("%d %s", got.status, got.body)
						}
						if strings.Contains(strings.ToLower(got.body), "<html") || strings.Contains(got.body, "JavaScript") {
							t.Errorf("the page reached the agent: %s", got.body)
						}
						if route := r.told(); route.Status != http.StatusBadGateway || !strings.HasPrefix(route.Error, "a ") {
							t.Errorf("the route tells %d %q", route.Status, route.Error)
						}
					})
				})
			}
		}
	}
}

// errorWords is the message of an error in an API's own shape.
func errorWords(t *testing.T, api, body string) string {
	t.Helper()
	e := errorOf(t, api, body)
	return e.Message
}

// apiError is what an API's error holds.
type apiError struct {
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Code    any     `json:"code"`
	Param   *string `json:"param"`
	Status  string  `json:"status"`
	Details struct {
		ErrorCode string `json:"error_code"`
	} `json:"details"`
}

// errorOf reads an error and sees that it has the API's shape, with nothing beside it.
func errorOf(t *testing.T, api, body string) apiError {
	t.Helper()
	var e struct {
		Type      string   `json:"type"`
		Error     apiError `json:"error"`
		RequestID string   `json:"request_id"`
	}
	strict(t, body, &e)
	switch api {
	case "messages":
		if e.Type != "error" || e.Error.Type == "" || e.Error.Message == "" {
			t.Errorf("no error of Messages: %s", body)
		}
	case "gemini":
		if _, number := e.Error.Code.(float64); !number || e.Error.Status == "" || e.Error.Message == "" || e.Error.Type != "" || e.Type != "" {
			t.Errorf("no error of Gemini: %s", body)
		}
	default:
		if e.Type != "" || e.Error.Type == "" || e.Error.Message == "" || !strings.Contains(body, `"code":`) || !strings.Contains(body, `"param":`) {
			t.Errorf("no error of OpenAI: %s", body)
		}
	}
	return e.Error
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestAnAnswerInAnOddDressIsRelayedAsItCame(t *testing.T) {
	chatOK, sse := ok("chat", "hello"), stream("chat")
	for name, c := range map[string]struct {
		status     int
		kind, body string
		headers    []string
		streamed   bool
		told       string // the type that the agent reads, "" = the vendor's
	}{
		"JSON behind blanks":                {status: 200, kind: "application/json", body: "\n  " + chatOK},
		"JSON with a charset":               {status: 200, kind: "application/json; charset=utf-8", body: chatOK},
		"JSON typed as problem+json":        {status: 200, kind: "application/vnd.api+json", body: chatOK},
		"an array typed as JSON":            {status: 200, kind: "application/json", body: "[" + chatOK + "]"},
		"JSON without a type":               {status: 200, body: chatOK, told: "application/json"},
		"events":                            {status: 200, kind: "text/event-stream", body: sse, streamed: true},
		"events without a type":             {status: 200, body: sse, streamed: true, told: "text/event-stream"},
		"plain text without a type":         {status: 200, body: "hello"},
		"events typed as plain text":        {status: 200, kind: "text/plain", body: sse, streamed: true},
		"events behind a comment":           {status: 200, kind: "text/plain; charset=utf-8", body: ": hi\n\n" + sse, streamed: true},
		"gzip typed as JSON":                {status: 200, kind: "application/json", body: zipped(chatOK), headers: []string{"Content-Encoding: gzip"}},
		"gzip of a page, for what it is":    {status: 200, kind: "application/json", body: zipped(challenge), headers: []string{"Content-Encoding: gzip"}},
		"XML that begins as a page does":    {status: 200, kind: "application/xhtml+xml", body: "<html xmlns=\"x\"></html>"},
		"XML":                               {status: 200, kind: "application/xml", body: "<a/>"},
		"plain text that is no page":        {status: 200, kind: "text/plain", body: "hello"},
		"a text with a page's tag in it":    {status: 200, kind: "text/plain", body: "see <html> there"},
		"204":                               {status: 204},
		"201 with JSON":                     {status: 201, kind: "application/json", body: chatOK},
		"JSON whose text is a page's":       {status: 200, kind: "application/json", body: ok("chat", "<html><title>Just a moment...</title>")},
		"events whose first text is a page": {status: 200, kind: "text/event-stream", body: strings.Replace(sse, "hel", "<html>", 1), streamed: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := &canned{status: c.status, kind: c.kind, body: c.body, headers: c.headers}
			r := newRig(t, lone, vendors{"a": v})
			path, body := asking("chat", "a/m", c.streamed)
			got := r.ask(path, body)
			kind := c.kind
			if c.told != "" {
				kind = c.told
			}
			if got.status != c.status || got.body != c.body || got.header.Get("Content-Type") != kind || v.asked() != 1 {
				t.Errorf("%d %q %q, asked %d times", got.status, got.header.Get("Content-Type"), got.body, v.asked())
			}
			if c.streamed != (got.header.Get("X-Accel-Buffering") == "no") {
				t.Errorf("headers %v", got.header)
			}
			if route := r.told(); route.Status != c.status || failKinds(route) != "" || len(r.rests()) != 0 {
				t.Errorf("%d, %+v, rests %v", route.Status, route.Tries, r.rests())
			}
		})
	}
}

func TestA404PageIsNoModelThatIsMissing(t *testing.T) {
	// A page says nothing of the model: the status is the way's, not the API's.
	a := &canned{status: http.StatusNotFound, kind: "text/html", body: "<html><title>404 Not Found</title></html>"}
	b := good("chat", false)
	r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
	got := r.ask(asking("chat", "group/g", false))
	first := r.told().Tries[0]
	if got.status != 200 || got.body != b.body || first.Fail != trace.Other || !strings.Contains(first.Error, "404 Not Found") {
		t.Errorf("%d %s, %+v", got.status, got.body, first)
	}
}
