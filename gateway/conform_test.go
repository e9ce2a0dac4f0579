package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// conformCase is one case of testdata/conformance.
type conformCase struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Client struct {
		API     string            `json:"api"`
		Method  string            `json:"method"`
		Path    string            `json:"path"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"client"`
	Upstream struct {
		API    string `json:"api"`
		Vendor string `json:"vendor"`
		Model  string `json:"model"`
		Expect *struct {
			Path    any `json:"path"`
			Headers any `json:"headers"`
			Body    any `json:"body"`
		} `json:"expect"`
		Never bool `json:"never"`
		Reply struct {
			Status  int               `json:"status"`
			Headers map[string]string `json:"headers"`
			JSON    json.RawMessage   `json:"json"`
			SSE     string            `json:"sse"`
		} `json:"reply"`
	} `json:"upstream"`
	Expect struct {
		Status  any   `json:"status"`
		Headers any   `json:"headers"`
		JSON    any   `json:"json"`
		Events  []any `json:"events"`
		Allow   bool  `json:"allow_problems"`
	} `json:"expect"`
}

// asked is what the vendor of a case was asked.
type asked struct {
	path   string
	header http.Header
	body   any
}

// conformVendor answers every POST with the case's reply, in pieces of 37 bytes.
func conformVendor(c *conformCase, got *[]asked) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body any
		_ = json.Unmarshal(raw, &body)
		*got = append(*got, asked{r.URL.RequestURI(), r.Header, body})
		reply, text := &c.Upstream.Reply, c.Upstream.Reply.SSE
		w.Header().Set("Content-Type", "text/event-stream")
		if text == "" {
			w.Header().Set("Content-Type", "application/json")
			text = string(reply.JSON)
		}
		for k, v := range reply.Headers {
			w.Header().Set(k, v)
		}
		if reply.Status != 0 {
			w.WriteHeader(reply.Status)
		}
		for len(text) > 0 {
			n := min(37, len(text))
			_, _ = io.WriteString(w, text[:n])
			w.(http.Flusher).Flush()
			text = text[n:]
		}
	})
}

// provider is the config's entry for a case: a vendor's own preset where its quirks matter.
func (c *conformCase) provider() string {
	api := map[string]string{"openai-chat": "chat", "openai-responses": "responses", "anthropic": "messages", "gemini": "gemini"}[c.Upstream.API]
	base := map[string]string{"chat": "{v}/v1", "responses": "{v}/v1", "messages": "{v}", "gemini": "{v}/v1beta"}[api]
	preset := map[string]string{"openai": "openai", "anthropic": "anthropic", "google": "google", "deepseek": "deepseek"}[c.Upstream.Vendor]
	toml := "[providers.v]\n"
	if preset != "" {
		toml += "preset = \"" + preset + "\"\n"
	}
	for _, one := range []string{"chat", "responses", "messages", "gemini"} {
		switch {
		case one == api:
			toml += one + " = \"" + base + "\"\n"
		case preset != "":
			toml += one + " = \"\"\n"
		}
	}
	return toml + "keys = [{ name = \"k\", value = \"sk-test-k1-000000000001\" }]\nmodels = [\"" + c.Upstream.Model + "\"]\n"
}

func TestTranslationConforms(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/*.json")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var c conformCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		t.Run(c.ID, func(t *testing.T) { synctest.Test(t, c.run) })
	}
}

func (c *conformCase) run(t *testing.T) {
	var got []asked
	r := newRig(t, c.provider(), vendors{"v": conformVendor(c, &got)})
	headers := []string{}
	for k, v := range c.Client.Headers {
		headers = append(headers, k+": "+v)
	}
	body := string(c.Client.Body)
	if body == "null" {
		body = ""
	}
	answer := r.do(c.Client.Method, c.Client.Path, body, headers...)
	var errs []string
	switch {
	case c.Upstream.Never && len(got) > 0:
		errs = append(errs, "the vendor was asked")
	case c.Upstream.Expect != nil && len(got) == 0:
		errs = append(errs, "the vendor was not asked")
	case c.Upstream.Expect != nil:
		errs = append(errs, c.asked(got[len(got)-1])...)
	}
	errs = append(errs, c.replied(answer)...)
	if len(errs) > 0 {
		t.Errorf("%s\n  %s\nasked %s\ngot %d %s", c.Title, strings.Join(errs, "\n  "), show1(got), answer.status, answer.body)
	}
}

func show1(got []asked) string {
	if len(got) == 0 {
		return "nothing"
	}
	b, _ := json.MarshalIndent(got[len(got)-1].body, "", " ")
	return got[len(got)-1].path + "\n" + string(b)
}

func (c *conformCase) asked(a asked) (errs []string) {
	want := c.Upstream.Expect
	if want.Path != nil {
		path, err := url.PathUnescape(a.path)
		if err != nil {
			path = a.path
		}
		if e := newMatcher().match(want.Path, a.path, "path"); len(e) > 0 {
			errs = append(errs, newMatcher().match(want.Path, path, "path")...)
		}
	}
	if want.Headers != nil {
		errs = append(errs, newMatcher().match(want.Headers, lower(a.header), "headers")...)
	}
	if want.Body != nil {
		errs = append(errs, newMatcher().match(want.Body, a.body, "body")...)
	}
	return errs
}

func (c *conformCase) replied(a answer) []string {
	x := newMatcher()
	want := c.Expect.Status
	if want == nil {
		want = 200.0
	}
	errs := x.match(want, float64(a.status), "status")
	if c.Expect.Headers != nil {
		errs = append(errs, newMatcher().match(c.Expect.Headers, lower(a.header), "headers")...)
	}
	if c.Expect.JSON != nil {
		var j any
		if json.Unmarshal([]byte(a.body), &j) != nil {
			return append(errs, "the body is no JSON")
		}
		errs = append(errs, x.match(c.Expect.JSON, j, "$")...)
	}
	if c.Expect.Events != nil {
		n := normalise(c.Client.API, a.body)
		if !c.Expect.Allow {
			errs = append(errs, n.problems...)
		}
		errs = append(errs, x.matchEvents(c.Expect.Events, n.events)...)
	}
	return errs
}
