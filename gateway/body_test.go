package gateway_test

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// pack compresses text in one way.
func pack(t *testing.T, name, text string) string {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch name {
	case "zstd":
		w, err = zstd.NewWriter(&out)
	case "gzip":
		w = gzip.NewWriter(&out)
	case "br":
		w = brotli.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "bare":
		w, err = flate.NewWriter(&out, flate.BestCompression)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(w, text)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// turnedAway sends a body over an API and sees that it is refused in that API's shape,
// nothing goes up, and the trace shows it.
func turnedAway(t *testing.T, r *rig, v *canned, api, path, body string, status int, headers ...string) apiError {
	t.Helper()
	before := len(r.kept.all())
	got := r.ask(path, body, headers...)
	if got.status != status || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: %d instead of %d: %.300s", api, got.status, status, got.body)
		return apiError{}
	}
	e := errorOf(t, api, got.body)
	if v.asked() != 0 {
		t.Errorf("%s: the vendor was asked", api)
	}
	route := r.last()
	if len(r.kept.all()) != before+1 || route.Status != status || route.Error == "" || !route.Done || route.API != api || len(route.Tries) != 0 {
		t.Errorf("%s: the trace shows %+v", api, route)
	}
	if got.header.Get("X-Magpie-Request") != fmt.Sprint(route.ID) {
		t.Errorf("%s: X-Magpie-Request %q, the route is %d", api, got.header.Get("X-Magpie-Request"), route.ID)
	}
	return e
}

func TestABodyThatNoAPITakesIsRefusedInTheAskersShape(t *testing.T) {
	deep := func(api string, n int) string {
		return `{"model":"a/m","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
	}
	for name, c := range map[string]struct {
		body  func(api, good string) string
		words string
		param string
		not   string // an API for which this is no mistake
	}{
		"empty":                      {func(_, _ string) string { return "" }, "empty", "", ""},
		"blank":                      {func(_, _ string) string { return " \r\n\t" }, "empty", "", ""},
		"not JSON":                   {func(_, _ string) string { return "hello" }, "not valid JSON", "", ""},
		"half of it":                 {func(_, g string) string { return g[:len(g)-5] }, "not valid JSON", "", ""},
		"something behind it":        {func(_, g string) string { return g + "x" }, "not valid JSON", "", ""},
		"two objects":                {func(_, g string) string { return g + g }, "not valid JSON", "", ""},
		"null":                       {func(_, _ string) string { return "null" }, "one JSON object", "", ""},
		"an array":                   {func(_, g string) string { return "[" + g + "]" }, "one JSON object", "", ""},
		"a string":                   {func(_, _ string) string { return `"a/m"` }, "one JSON object", "", ""},
		"a number":                   {func(_, _ string) string { return "7" }, "one JSON object", "", ""},
		"no model":                   {func(_, _ string) string { return `{"messages":[]}` }, "names no model", "model", "gemini"},
		"an empty model":             {func(_, _ string) string { return `{"model":""}` }, "names no model", "model", "gemini"},
		"a blank model":              {func(_, _ string) string { return `{"model":"  "}` }, "names no model", "model", "gemini"},
		"a model that is a number":   {func(_, _ string) string { return `{"model":7}` }, "model must be a string", "model", ""},
		"a model that is null":       {func(_, _ string) string { return `{"model":null}` }, "model must be a string", "model", ""},
		"a model of nobody's":        {func(_, g string) string { return strings.Replace(g, "a/m", "/m", 1) }, "", "", "gemini"},
		"a model of nothing":         {func(_, g string) string { return strings.Replace(g, "a/m", "a/", 1) }, "", "", "gemini"},
		"the model twice":            {func(_, g string) string { return strings.Replace(g, "{", `{"model":"a/n",`, 1) }, "model stands twice", "model", "gemini"},
		"the model twice, escaped":   {func(_, g string) string { return strings.Replace(g, "{", `{"mod\u0065l":"a/n",`, 1) }, "model stands twice", "model", "gemini"},
		"stream twice":               {func(_, g string) string { return strings.Replace(g, "{", `{"stream":true,"stream":false,`, 1) }, "stream stands twice", "stream", ""},
		"stream as a word":           {func(_, g string) string { return strings.Replace(g, "{", `{"stream":"yes",`, 1) }, "stream must be true or false", "stream", ""},
		"nested beyond 1,000 levels": {func(api, _ string) string { return deep(api, 1001) }, "1,000 levels", "", ""},
		"nested a hundred thousand":  {func(api, _ string) string { return deep(api, 100_000) }, "1,000 levels", "", ""},
		"a bare NaN":                 {func(_, g string) string { return strings.Replace(g, "{", `{"x":NaN,`, 1) }, "not valid JSON", "", ""},
		"a control byte in a string": {func(_, g string) string { return strings.Replace(g, "hi", "h\x01i", 1) }, "not valid JSON", "", ""},
		"invalid UTF-8":              {func(_, g string) string { return strings.Replace(g, "hi", "h\xff\xfei", 1) }, "UTF-8", "", ""},
		"a cut rune":                 {func(_, g string) string { return strings.Replace(g, "hi", "h\xe2\x82", 1) }, "UTF-8", "", ""},
		"an encoded surrogate":       {func(_, g string) string { return strings.Replace(g, "hi", "\xed\xa0\x80", 1) }, "UTF-8", "", ""},
		"UTF-16":                     {func(_, _ string) string { return "\xff\xfe{\x00}\x00" }, "", "", ""},
	} {
		for _, api := range apis {
			if api == c.not {
				continue
			}
			t.Run(name+" "+api, func(t *testing.T) {
				v := good(api, false)
				r := newRig(t, lone, vendors{"a": v})
				path, body := asking(api, "a/m", false)
				e := turnedAway(t, r, v, api, path, c.body(api, body), http.StatusBadRequest)
				if !strings.Contains(e.Message, c.words) || len(e.Message) > 600 {
					t.Errorf("%q says nothing of %q", e.Message, c.words)
				}
				if c.param != "" && (api == "chat" || api == "responses") && (e.Param == nil || *e.Param != c.param) {
					t.Errorf("param is %v", e.Param)
				}
				if api == "messages" && e.Type != "invalid_request_error" || api == "gemini" && e.Status != "INVALID_ARGUMENT" {
					t.Errorf("%+v", e)
				}
			})
		}
	}
}

func TestABodyAtTheEdgesIsServed(t *testing.T) {
	for name, change := range map[string]func(g string) string{
		"a thousand levels less what is around": func(g string) string {
			return strings.Replace(g, "{", `{"x":`+strings.Repeat("[", 998)+strings.Repeat("]", 998)+",", 1)
		},
		"stream null":             func(g string) string { return strings.Replace(g, "{", `{"stream":null,`, 1) },
		"blanks around the model": func(g string) string { return strings.Replace(g, "a/m", "  a/m ", 1) },
	} {
		for _, api := range apis {
			v := good(api, false)
			r := newRig(t, lone, vendors{"a": v})
			path, body := asking(api, "a/m", false)
			if got := r.ask(path, change(body)); got.status != 200 || v.asked() != 1 {
				t.Errorf("%s, %s: %d %.200s", name, api, got.status, got.body)
			}
			if api != "gemini" && !strings.Contains(v.seen()[0].body, `"model":"m"`) {
				t.Errorf("%s, %s: the vendor read %.200s", name, api, v.seen()[0].body)
			}
		}
	}
}

func TestAnUnknownModelIsA404ThatSaysWhatThereIs(t *testing.T) {
	for _, api := range apis {
		v := good(api, false)
		r := newRig(t, lone, vendors{"a": v})
		path, body := asking(api, "nowhere/m", false)
		e := turnedAway(t, r, v, api, path, body, http.StatusNotFound)
		if !strings.Contains(e.Message, "nowhere") || !strings.Contains(e.Message, "a") {
			t.Errorf("%s: %s", api, e.Message)
		}
	}
}

func TestThirtyMegabytesAreServed(t *testing.T) {
	for _, api := range apis {
		v := good(api, false)
		r := newRig(t, lone, vendors{"a": v})
		path, body := asking(api, "a/m", false)
		body = strings.Replace(body, "hi", strings.Repeat("0123456789", 3_000_000), 1)
		got := r.ask(path, body)
		want := strings.Replace(body, `"a/m"`, `"m"`, 1)
		if got.status != 200 || v.asked() != 1 || v.seen()[0].body != want {
			t.Errorf("%s: %d %.200s", api, got.status, got.body)
		}
		if r.told().BytesIn != int64(len(body)) {
			t.Errorf("%s: %d bytes in the trace", api, r.told().BytesIn)
		}
	}
}

func TestABodyOverTheLimitIsA413(t *testing.T) {
	for _, c := range []struct {
		name, toml string
		size       int
		says       string
	}{
		{"64 MB by default", lone, 64<<20 + 1, "64 MiB"},
		{"a small one that is configured", "body_limit = \"2KB\"\n" + lone, 2049, "2048 bytes"},
	} {
		for _, api := range apis {
			for _, announced := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %s announced %v", c.name, api, announced), func(t *testing.T) {
					v := good(api, false)
					r := newRig(t, c.toml, vendors{"a": v})
					path, _ := asking(api, "a/m", false)
					got := r.chunked(path, &zeros{left: c.size}, announced, int64(c.size))
					if got.status != http.StatusRequestEntityTooLarge || v.asked() != 0 {
						t.Fatalf("%d %s", got.status, got.body)
					}
					e := errorOf(t, api, got.body)
					if !strings.Contains(e.Message, c.says) || !strings.Contains(e.Message, "bytes") || !strings.Contains(e.Message, "body_limit") {
						t.Errorf("%s", e.Message)
					}
					if api == "messages" && e.Type != "request_too_large" || api == "gemini" && e.Status != "INVALID_ARGUMENT" {
						t.Errorf("%+v", e)
					}
					if route := r.last(); route.Status != 413 || route.Error == "" {
						t.Errorf("%+v", route)
					}
				})
			}
		}
	}
}

func TestABodyAtTheLimitIsServed(t *testing.T) {
	v := good("chat", false)
	r := newRig(t, "body_limit = \"2KB\"\n"+lone, vendors{"a": v})
	path, body := asking("chat", "a/m", false)
	body += strings.Repeat(" ", 2048-len(body))
	if got := r.ask(path, body); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// zeros is a body of so many bytes.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	z.left -= n
	return n, nil
}

// chunked posts a body with or without telling its length.
func (r *rig) chunked(path string, body io.Reader, announced bool, length int64) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.base+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.ContentLength = -1
	if announced {
		req.ContentLength = length
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.through(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b), err}
}

func TestABodyWithoutALengthIsServedWithOne(t *testing.T) {
	for _, api := range apis {
		v := good(api, false)
		r := newRig(t, lone, vendors{"a": v})
		path, body := asking(api, "a/m", false)
		got := r.chunked(path, strings.NewReader(body), false, 0)
		want := strings.Replace(body, `"a/m"`, `"m"`, 1)
		if got.status != 200 || v.seen()[0].body != want || v.seen()[0].length != int64(len(want)) {
			t.Errorf("%s: %d %s, the vendor was sent %+v", api, got.status, got.body, v.seen())
		}
	}
}

func TestPackedBodiesAreUnpacked(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		layers []string
	}{
		"zstd":                     {"zstd", []string{"zstd"}},
		"gzip":                     {"gzip", []string{"gzip"}},
		"x-gzip":                   {"x-gzip", []string{"gzip"}},
		"br":                       {"br", []string{"br"}},
		"deflate":                  {"deflate", []string{"deflate"}},
		"deflate without its head": {"deflate", []string{"bare"}},
		"in capitals":              {"ZSTD", []string{"zstd"}},
		"identity":                 {"identity", nil},
		"two layers":               {"gzip, zstd", []string{"gzip", "zstd"}},
		"two other layers":         {"br, deflate", []string{"br", "deflate"}},
		"zstd that isn't named":    {"", []string{"zstd"}},
		"gzip that isn't named":    {"", []string{"gzip"}},
	} {
		for _, api := range apis {
			t.Run(name+" "+api, func(t *testing.T) {
				v := good(api, false)
				r := newRig(t, lone, vendors{"a": v})
				path, body := asking(api, "a/m", false)
				packed := body
				for _, layer := range c.layers {
					packed = pack(t, layer, packed)
				}
				got := r.ask(path, packed, "Content-Encoding: "+c.header)
				want := strings.Replace(body, `"a/m"`, `"m"`, 1)
				if got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if seen := v.seen()[0]; seen.body != want || seen.length != int64(len(want)) || seen.header.Get("Content-Encoding") != "" {
					t.Errorf("the vendor was sent %+v", seen)
				}
			})
		}
	}
}

func TestPackedBodiesThatCantBeTaken(t *testing.T) {
	bomb := pack(t, "zstd", strings.Repeat(" ", 4<<20))
	for name, c := range map[string]struct {
		header, body string
		status       int
	}{
		"an unknown encoding":  {"snappy", "x", http.StatusUnsupportedMediaType},
		"three layers":         {"gzip, gzip, gzip", "x", http.StatusUnsupportedMediaType},
		"JSON called zstd":     {"zstd", chatBody("a/m"), http.StatusBadRequest},
		"JSON called gzip":     {"gzip", chatBody("a/m"), http.StatusBadRequest},
		"JSON called br":       {"br", chatBody("a/m"), http.StatusBadRequest},
		"half of it":           {"gzip", pack(t, "gzip", chatBody("a/m"))[:20], http.StatusBadRequest},
		"a bomb of zstd":       {"zstd", bomb, http.StatusRequestEntityTooLarge},
		"a bomb that is hid":   {"", bomb, http.StatusRequestEntityTooLarge},
		"a bomb of gzip":       {"gzip", pack(t, "gzip", strings.Repeat(" ", 4<<20)), http.StatusRequestEntityTooLarge},
		"a bomb of br":         {"br", pack(t, "br", strings.Repeat(" ", 4<<20)), http.StatusRequestEntityTooLarge},
		"a bomb of deflate":    {"deflate", pack(t, "deflate", strings.Repeat(" ", 4<<20)), http.StatusRequestEntityTooLarge},
		"a bomb in two layers": {"zstd, gzip", pack(t, "gzip", bomb), http.StatusRequestEntityTooLarge},
		"packed that is empty": {"gzip", pack(t, "gzip", ""), http.StatusBadRequest},
		"nothing called gzip":  {"gzip", "", http.StatusBadRequest},
		"packed not JSON":      {"zstd", pack(t, "zstd", "hello"), http.StatusBadRequest},
	} {
		for _, api := range apis {
			t.Run(name+" "+api, func(t *testing.T) {
				v := good(api, false)
				r := newRig(t, "body_limit = \"1MB\"\n"+lone, vendors{"a": v})
				path, _ := asking(api, "a/m", false)
				turnedAway(t, r, v, api, path, c.body, c.status, "Content-Encoding: "+c.header)
			})
		}
	}
}

func TestABodyThatBreaksOffSendsNothingUp(t *testing.T) {
	v := good("chat", false)
	r := newRig(t, lone, vendors{"a": v})
	ctx, cancel := context.WithCancel(t.Context())
	pr, pw := io.Pipe()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/v1/chat/completions", pr)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(pw, `{"model":"a/m","messages":[`)
		cancel()
		_ = pw.CloseWithError(io.ErrUnexpectedEOF)
	}()
	if resp, err := r.http.Do(req); err == nil {
		_ = resp.Body.Close()
	}
	if v.asked() != 0 {
		t.Error("half a body was sent up")
	}
}

func TestPathsThatAreNotServedAreToldInTheirShape(t *testing.T) {
	for path, api := range map[string]string{
		"/v1/messages/batches": "messages", "/v1/responses/resp_1/cancel": "responses", "/v1/chat": "chat", "/v1/images/generations": "chat", "/nowhere": "chat",
		"/v1beta/models/m:undo": "gemini", "/v1beta/models/m": "gemini", "/v1beta/nothing": "gemini", "//v1/messages": "messages", "/v1/chat/completions/": "chat",
		"/v1/messages%2Fcount_tokens": "messages", "/V1/MESSAGES": "chat",
	} {
		v := good(api, false)
		r := newRig(t, lone, vendors{"a": v})
		e := turnedAway(t, r, v, api, path, "{}", http.StatusNotFound)
		if !strings.Contains(e.Message, "/v1/chat/completions") {
			t.Errorf("%s: nothing of the paths that are served: %s", path, e.Message)
		}
	}
}

func TestMethodsThatAreNotServedAreToldWithThoseThatAre(t *testing.T) {
	for what, allow := range map[string]string{
		"GET /v1/messages": "POST", "PUT /v1/chat/completions": "POST", "DELETE /v1/responses": "POST", "PATCH /v1/messages/count_tokens": "POST",
		"DELETE /v1/models": "GET, HEAD", "POST /v1/models": "GET, HEAD", "PUT /v1beta/models/m:generateContent": "GET, HEAD, POST", "POST /v1/magpie/status": "GET", "GET /v1/magpie/do": "POST", "POST /healthz": "GET",
	} {
		method, path, _ := strings.Cut(what, " ")
		v := good("chat", false)
		r := newRig(t, lone, vendors{"a": v})
		got := r.do(method, path, "{}")
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != allow || v.asked() != 0 {
			t.Errorf("%s: %d %s, Allow %q, want %q", what, got.status, got.body, got.header.Get("Allow"), allow)
		}
		if route := r.last(); route.Status != http.StatusMethodNotAllowed || route.Error == "" {
			t.Errorf("%s: the trace shows %+v", what, route)
		}
	}
}
