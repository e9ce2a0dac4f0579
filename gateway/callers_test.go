package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
)

// from asks the gateway's handler as if the connection came from an address.
func (r *rig) from(peer, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.RemoteAddr, req.Host = peer, "127.0.0.1:3425"
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	r.g.ServeHTTP(w, req)
	return w
}

func TestLocalIsALoopbackPeerWithoutForwardingHeaders(t *testing.T) {
	path, body := asking("chat", "a/m", false)
	for name, c := range map[string]struct {
		peer    string
		headers []string
		trust   bool
		status  int
	}{
		"127.0.0.1":                             {"127.0.0.1:5000", nil, false, 200},
		"::1":                                   {"[::1]:5000", nil, false, 200},
		"forwarded for another":                 {"127.0.0.1:5000", []string{"X-Forwarded-For: 1.2.3.4"}, false, 403},
		"forwarded for another, proxy trusted":  {"127.0.0.1:5000", []string{"X-Forwarded-For: 1.2.3.4"}, true, 200},
		"forwarded for this machine":            {"127.0.0.1:5000", []string{"X-Forwarded-For: 127.0.0.1"}, false, 403},
		"Forwarded":                             {"127.0.0.1:5000", []string{"Forwarded: for=1.2.3.4"}, false, 403},
		"X-Real-IP":                             {"127.0.0.1:5000", []string{"X-Real-IP: 1.2.3.4"}, false, 403},
		"Cf-Connecting-IP":                      {"127.0.0.1:5000", []string{"Cf-Connecting-IP: 1.2.3.4"}, false, 403},
		"True-Client-IP":                        {"127.0.0.1:5000", []string{"True-Client-IP: 1.2.3.4"}, false, 403},
		"a tailnet's user":                      {"127.0.0.1:5000", []string{"Tailscale-User-Login: me@example.com"}, false, 403},
		"another machine":                       {"192.168.1.5:5000", nil, false, 403},
		"another machine, proxy trusted":        {"192.168.1.5:5000", nil, true, 403},
		"another machine that says it is local": {"192.168.1.5:5000", []string{"Host: localhost:3425", "Authorization: Bearer magpie"}, false, 403},
	} {
		t.Run(name, func(t *testing.T) {
			v := good("chat", false)
			r := newRig(t, lone, vendors{"a": v}, func(d *gateway.Deps) { d.Trust = c.trust })
			got := r.from(c.peer, http.MethodPost, path, body, c.headers...)
			if got.Code != c.status || v.asked() != map[bool]int{true: 1}[c.status == 200] {
				t.Errorf("%d %s, asked %d times", got.Code, got.Body, v.asked())
			}
			if c.status != 403 {
				return
			}
			if route := r.last(); route.Status != 403 || route.Error == "" || len(route.Tries) != 0 {
				t.Errorf("the trace tells %+v", route)
			}
			if strings.HasPrefix(c.peer, "127.") && !strings.Contains(r.logs.text(), "proxy") {
				t.Errorf("nothing of the proxy in the log: %s", r.logs.text())
			}
			for _, p := range []string{"/", "/v1/models", "/v1/magpie/status", "/healthz", "/nowhere"} {
				if got := r.from(c.peer, http.MethodGet, p, "", c.headers...); got.Code != 403 {
					t.Errorf("GET %s: %d", p, got.Code)
				}
			}
		})
	}
}

// pages is a gateway that lists one page.
const pages = "cors_origins = [\"https://page.example\"]\n" + lone

func TestForeignPagesAreRefusedUnread(t *testing.T) {
	for name, headers := range map[string][]string{
		"another site":                  {"Origin: https://evil.example"},
		"another site, as plain text":   {"Origin: https://evil.example", "Content-Type: text/plain"},
		"another scheme of http":        {"Origin: httpx://evil.example"},
		"an origin that can't be read":  {"Origin: http://[::bad"},
		"a name that begins as ours":    {"Origin: http://localhost.evil.example"},
		"a private page of another's":   {"Origin: null", "Sec-Fetch-Site: cross-site"},
		"a local page across sites":     {"Origin: http://localhost:5173", "Sec-Fetch-Site: cross-site"},
		"a browser extension":           {"Origin: chrome-extension://abcdefgh"},
		"a listed name on another port": {"Origin: https://page.example:444"},
		"a listed name without TLS":     {"Origin: http://page.example"},
		"with a key that looks good":    {"Origin: https://evil.example", "Authorization: Bearer magpie"},
	} {
		t.Run(name, func(t *testing.T) {
			v := good("messages", false)
			r := newRig(t, pages, vendors{"a": v})
			for _, ask := range []struct{ method, path, body string }{
				{http.MethodPost, "/v1/messages", messagesBody("a/m")},
				{http.MethodPost, "/v1/chat/completions", chatBody("a/m")},
				{http.MethodPost, "/v1/magpie/explain", `{"model":"a/m"}`},
				{http.MethodPost, "/v1/magpie/do", `{"verb":"pause","who":"all"}`},
				{http.MethodGet, "/v1/magpie/status", ""},
				{http.MethodGet, "/v1/models", ""},
				{http.MethodGet, "/", ""},
				{http.MethodGet, "/healthz", ""},
				{http.MethodOptions, "/v1/messages", ""},
			} {
				all := append([]string{"Access-Control-Request-Method: POST"}, headers...)
				got := r.do(ask.method, ask.path, ask.body, append(all, "Authorization: Bearer control-token")...)
				if got.status != 403 || v.asked() != 0 {
					t.Errorf("%s %s: %d %s", ask.method, ask.path, got.status, got.body)
				}
				for h := range got.header {
					if strings.HasPrefix(h, "Access-Control-") {
						t.Errorf("%s %s answers %s", ask.method, ask.path, h)
					}
				}
			}
			req := httptest.NewRequest(http.MethodPost, "/v1/messages", unreadable{t})
			req.RemoteAddr, req.Host = "127.0.0.1:1", "127.0.0.1:3425"
			for _, h := range headers {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Set(name, value)
			}
			r.g.ServeHTTP(httptest.NewRecorder(), req)
		})
	}
}

// unreadable is a body that nobody may read.
type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestPagesOfThisMachineAndProgramsPass(t *testing.T) {
	for name, headers := range map[string][]string{
		"no origin":            nil,
		"a local page":         {"Origin: http://localhost:5173"},
		"a local name":         {"Origin: http://app.localhost"},
		"a loopback address":   {"Origin: http://127.0.0.1:8080", "Sec-Fetch-Site: same-site"},
		"the gateway's own":    {"Origin: http://127.0.0.1:3425"},
		"a private page":       {"Origin: null"},
		"a desktop program":    {"Origin: app://obsidian.md"},
		"a file":               {"Origin: file://"},
		"tauri":                {"Origin: tauri://localhost"},
		"an editor's web view": {"Origin: vscode-webview://abc"},
	} {
		v := good("chat", false)
		r := newRig(t, pages, vendors{"a": v})
		path, body := asking("chat", "a/m", false)
		got := r.ask(path, body, headers...)
		if got.status != 200 || v.asked() != 1 || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %s, %v", name, got.status, got.body, got.header)
		}
	}
}

func TestAListedPageNeedsAKeyAndCanReadThatItDoes(t *testing.T) {
	v := good("messages", false)
	r := newRig(t, pages, vendors{"a": v})
	const page = "Origin: https://page.example"
	before := r.do(http.MethodOptions, "/v1/messages", "", page, "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: content-type, x-api-key, bad header, <script>", "Access-Control-Request-Private-Network: true")
	h := before.header
	if before.status != 204 || h.Get("Access-Control-Allow-Origin") != "https://page.example" || h.Get("Vary") != "Origin" || h.Get("Access-Control-Max-Age") != "600" ||
		h.Get("Access-Control-Allow-Methods") != "GET, POST, OPTIONS" || h.Get("Access-Control-Allow-Private-Network") != "true" {
		t.Errorf("%d %v", before.status, h)
	}
	if names := h.Get("Access-Control-Allow-Headers"); names != "content-type, x-api-key" {
		t.Errorf("headers allowed: %q", names)
	}
	for path, api := range map[string]string{"/v1/messages": "messages", "/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1beta/models/a/m:generateContent": "gemini"} {
		var texts []string
		for _, key := range []string{"Authorization: ", "Authorization: Bearer magpie", "Authorization: Bearer wrong-key-123", "x-api-key: sk-magpie-revoked"} {
			got := r.ask(path, "{}", page, key)
			e := errorOf(t, api, got.body)
			texts = append(texts, strings.ReplaceAll(got.body, got.header.Get("X-Magpie-Request"), "N"))
			if got.status != 401 || got.header.Get("Access-Control-Allow-Origin") != "https://page.example" || strings.Contains(got.body, "wrong-key") || strings.Contains(got.body, "revoked") {
				t.Errorf("%s %s: %d %s %v", path, key, got.status, got.body, got.header)
			}
			switch {
			case api == "messages" && e.Type != "authentication_error",
				api == "gemini" && e.Status != "UNAUTHENTICATED",
				(api == "chat" || api == "responses") && e.Code != "invalid_api_key":
				t.Errorf("%s: %s", path, got.body)
			}
		}
		for _, text := range texts[1:] {
			if text != texts[0] {
				t.Errorf("%s: a missing key is told %s, another %s", path, texts[0], text)
			}
		}
	}
	if v.asked() != 0 {
		t.Errorf("asked %d times", v.asked())
	}
	if got := r.do(http.MethodGet, "/v1/magpie/status", "", page); got.status != 401 || strings.Contains(got.body, "accounts") {
		t.Errorf("status: %d %s", got.status, got.body)
	}
}

func TestAForeignHostIsRefused(t *testing.T) {
	for host, want := range map[string]int{
		"127.0.0.1:3425": 200, "localhost:3425": 200, "[::1]:3425": 200, "LOCALHOST": 200, "me.localhost:99": 200, "magpie.example": 200,
		"evil.example": 403, "evil.example:3425": 403, "localhost.evil.example": 403, "192.168.1.9:3425": 403, "0.0.0.0:3425": 403,
	} {
		v := good("chat", false)
		r := newRig(t, lone, vendors{"a": v}, func(d *gateway.Deps) { d.Public = "https://magpie.example" })
		path, body := asking("chat", "a/m", false)
		got := r.ask(path, body, "Host: "+host)
		if got.status != want || v.asked() != map[bool]int{true: 1}[want == 200] {
			t.Errorf("%s: %d %s", host, got.status, got.body)
		}
	}
}

// A crafted request line or Host header must not show the guard one path and the router another.
func TestNothingCraftedReachesACommandWithoutTheToken(t *testing.T) {
	body := `{"verb":"pause","who":"all"}`
	head := func(line string, headers ...string) string {
		return line + " HTTP/1.1\r\n" + strings.Join(headers, "\r\n") + fmt.Sprintf("\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	}
	own := "Host: 127.0.0.1:3425"
	for name, text := range map[string]string{
		"plain":                    head("POST /v1/magpie/do", own),
		"a wrong token":            head("POST /v1/magpie/do", own, "Authorization: Bearer control-tokem"),
		"a token without its word": head("POST /v1/magpie/do", own, "Authorization: control-token"),
		"the token as x-api-key":   head("POST /v1/magpie/do", own, "x-api-key: control-token"),
		"the token in the query":   head("POST /v1/magpie/do?key=control-token", own),
		"a fragment in Host":       head("POST /v1/magpie/do", "Host: localhost:3425/#@evil.example"),
		"a query in Host":          head("POST /v1/magpie/do", "Host: localhost:3425?@evil.example"),
		"a user in Host":           head("POST /v1/magpie/do", "Host: localhost@evil.example"),
		"a blank in Host":          head("POST /v1/magpie/do", "Host: localhost evil"),
		"an absolute line":         head("POST http://x/v1/magpie/do", own),
		"an absolute line of ours": head("POST http://127.0.0.1:3425/v1/magpie/do", own),
		"doubled slashes":          head("POST //v1//magpie/do", own),
		"a dot's way":              head("POST /v1/../v1/magpie/do", own),
		"an escaped dot's way":     head("POST /v1/%2e%2e/v1/magpie/do", own),
		"escaped letters":          head("POST /v1/%6dagpie/do", own),
		"a trailing slash":         head("POST /v1/magpie/do/", own),
		"another host forwarded":   head("POST /v1/magpie/do", own, "X-Forwarded-Host: 127.0.0.1:3425", "X-Original-URL: /v1/magpie/do"),
		"an original URL":          head("POST /healthz", own, "X-Original-URL: /v1/magpie/do", "X-Rewrite-URL: /v1/magpie/do"),
		"a method in a header":     head("GET /v1/magpie/do", own, "X-HTTP-Method-Override: POST"),
		"with the token, a page's": head("POST /v1/magpie/do", own, "Authorization: Bearer control-token", "Origin: http://localhost:1"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, lone, vendors{"a": good("chat", false)})
			c, err := r.net.DialContext(t.Context(), "tcp", strings.TrimPrefix(r.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() { _, _ = io.WriteString(c, text) }()
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			said, _ := io.ReadAll(resp.Body)
			if resp.StatusCode < 400 || resp.StatusCode > 499 {
				t.Errorf("%d %s", resp.StatusCode, said)
			}
			if st := r.g.Status(); st.Accounts[0].Paused != nil {
				t.Error("it was carried out")
			}
			if strings.Contains(string(said), "control-tok") {
				t.Errorf("the token is repeated: %s", said)
			}
		})
	}
}

func TestTheRightTokenIsEnough(t *testing.T) {
	r := newRig(t, lone, vendors{"a": standin.New(standin.Options{})})
	got := r.ask("/v1/magpie/do", `{"verb":"pause","who":"all"}`, "Authorization: Bearer control-token")
	if got.status != 200 || r.g.Status().Accounts[0].Paused == nil {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestAGatewayWithoutAControlTokenTakesNoCommand(t *testing.T) {
	r := newRig(t, lone, vendors{"a": standin.New(standin.Options{})}, func(d *gateway.Deps) { d.Token = "" })
	for _, key := range []string{"Authorization: ", "Authorization: Bearer ", "Authorization: Bearer x"} {
		if got := r.ask("/v1/magpie/do", `{"verb":"pause","who":"all"}`, key); got.status != 401 {
			t.Errorf("%q: %d %s", key, got.status, got.body)
		}
	}
}
