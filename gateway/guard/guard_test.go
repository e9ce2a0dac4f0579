package guard

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request makes a request as the server would: from is the peer, host the Host header, headers come as "Name: value".
func request(method, from, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/v1/messages", unread{})
	r.RemoteAddr, r.Host = from, host
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// unread is a body that nobody may read before the caller is known.
type unread struct{}

func (unread) Read([]byte) (int, error) { panic("the body was read") }

const (
	here = "127.0.0.1:50000"
	own  = "127.0.0.1:3425"
)

func TestLocalIsALoopbackPeerWithoutForwardingHeaders(t *testing.T) {
	for _, test := range []struct {
		name, from string
		headers    []string
		trust      bool
		want       bool
	}{
		{"127.0.0.1 without headers", here, nil, false, true},
		{"another loopback address", "127.8.9.1:1", nil, false, true},
		{"::1", "[::1]:1", nil, false, true},
		{"IPv4 inside IPv6", "[::ffff:127.0.0.1]:1", nil, false, true},
		{"127.0.0.1 with X-Forwarded-For", here, []string{"X-Forwarded-For: 1.2.3.4"}, false, false},
		{"the same where the proxy is trusted", here, []string{"X-Forwarded-For: 1.2.3.4"}, true, true},
		{"with Forwarded", here, []string{"Forwarded: for=1.2.3.4"}, false, false},
		{"with X-Real-IP", here, []string{"x-real-ip: 1.2.3.4"}, false, false},
		{"with CF-Connecting-IP", here, []string{"CF-Connecting-IP: 1.2.3.4"}, false, false},
		{"with True-Client-IP", here, []string{"True-Client-IP: 1.2.3.4"}, false, false},
		{"with Tailscale-User-Login", here, []string{"Tailscale-User-Login: me@example.com"}, false, false},
		{"with an empty forwarding header", here, []string{"X-Forwarded-For: "}, false, false},
		{"with one that names this machine", here, []string{"X-Forwarded-For: 127.0.0.1"}, false, false},
		{"another machine", "192.168.1.5:1", nil, false, false},
		{"another machine, trusted or not", "192.168.1.5:1", nil, true, false},
		{"a machine that calls itself this one", "192.168.1.5:1", []string{"X-Forwarded-For: 127.0.0.1", "Host: localhost"}, true, false},
		{"a container's host", "172.17.0.2:1", nil, false, false},
		{"a peer that is no address", "@", nil, false, false},
		{"headers that are no proxy's", here, []string{"X-Forwarded-Host: evil.example", "X-Original-URL: /v1/magpie/do", "X-Forwarded-Proto: https"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, ref := New(Options{TrustProxy: test.trust}).Check(request("POST", test.from, own, test.headers...))
			if c.Local != test.want {
				t.Errorf("local is %v; want %v", c.Local, test.want)
			}
			if test.want != (ref == nil) {
				t.Errorf("the refusal is %+v", ref)
			}
		})
	}
}

func TestOtherMachinesAreToldWhyTheyAreRefused(t *testing.T) {
	g := New(Options{Bound: []string{"0.0.0.0:3425"}})
	_, ref := g.Check(request("POST", "192.168.1.5:1", "192.168.1.9:3425", "Authorization: Bearer sk-magpie-any"))
	if ref == nil || ref.Status != 403 || !ref.Plain || ref.Proxied != "" || !strings.Contains(ref.Text, "only the machine that it runs on") {
		t.Errorf("a machine of the network is told %+v", ref)
	}
	_, ref = g.Check(request("POST", here, "magpie.example", "X-Real-IP: 1.2.3.4"))
	if ref == nil || ref.Status != 403 || !ref.Plain || ref.Proxied != "X-Real-Ip" || !strings.Contains(ref.Text, "proxy (X-Real-Ip)") || !strings.Contains(ref.Text, "MAGPIE_TRUST_PROXY") {
		t.Errorf("a request that a proxy hands on is told %+v", ref)
	}
}

func TestTheHostMustBeOneOfOurs(t *testing.T) {
	g := New(Options{Bound: []string{"192.168.1.9:3425", "0.0.0.0:3425", "[::]:3425", "[fe80::9]:3425"}, PublicURL: "https://Magpie.example/base", Hosts: []string{"box.local"}})
	for host, want := range map[string]int{
		"127.0.0.1:3425": 0, "127.0.0.1": 0, "localhost:3425": 0, "LocalHost": 0, "localhost.:3425": 0, "app.localhost:3425": 0, "[::1]:3425": 0, "[::1]": 0,
		"127.1.2.3:99": 0, "[::ffff:127.0.0.1]:3425": 0, "localhost:2222": 0, // a tunnel has another port
		"192.168.1.9:3425": 0, "[fe80::9]:3425": 0, "magpie.example": 0, "MAGPIE.example:443": 0, "box.local:3425": 0,

		"evil.example": 403, "evil.example:3425": 403, "localhost.evil.example": 403, "evillocalhost": 403, "127.0.0.1.evil.example:3425": 403, "192.168.1.8:3425": 403,
		"0.0.0.0:3425": 403, "[::]:3425": 403, "2130706433:3425": 403, "0x7f.1": 403, "magpie.example.evil": 403,

		"": 400, "localhost:3425/#@evil.example": 400, "localhost:3425?@evil": 400, "localhost#": 400, "localhost@evil.example": 400, "local host": 400, "localhost/..": 400,
		`localhost\evil`: 400, "localhost,evil.example": 400, "localhost:80:81": 400, "[::1": 400, "[localhost]": 400, "[::1]x": 400, ":3425": 400, "localhost:port": 400,
		"localhost\x00": 400, "lo\tcalhost": 400, "löcalhost": 400, strings.Repeat("a", 301): 400,
	} {
		_, ref := g.Check(request("POST", here, host, "Authorization: Bearer magpie"))
		got := 0
		if ref != nil {
			got = ref.Status
		}
		if got != want {
			t.Errorf("Host %q gives %d; want %d", host, got, want)
		}
	}
}

// What a crafted Host, path or header makes of a call that changes something: never more than a plain one.
func TestACraftedHostMovesNothing(t *testing.T) {
	g := New(Options{Bound: []string{own}})
	reached := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ref := g.Check(r); ref != nil {
			http.Error(w, ref.Text, ref.Status)
			return
		}
		if !TokenOK(r, "right") {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		reached++
	}))
	defer srv.Close()
	for name, head := range map[string]string{
		"a fragment in Host":                 "POST /v1/magpie/do HTTP/1.1\r\nHost: localhost:3425/#@evil.example\r\n",
		"a query in Host":                    "POST /v1/magpie/do HTTP/1.1\r\nHost: localhost:3425?@evil.example\r\n",
		"a user in Host":                     "POST /v1/magpie/do HTTP/1.1\r\nHost: localhost@evil.example\r\n",
		"a blank in Host":                    "POST /v1/magpie/do HTTP/1.1\r\nHost: localhost evil.example\r\n",
		"two hosts":                          "POST /v1/magpie/do HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n",
		"no Host":                            "POST /v1/magpie/do HTTP/1.1\r\n",
		"no Host, old HTTP":                  "POST /v1/magpie/do HTTP/1.0\r\n",
		"an absolute request line":           "POST http://x/v1/magpie/do HTTP/1.1\r\nHost: localhost:3425\r\n",
		"an absolute line of our own":        "POST http://localhost:3425/v1/magpie/do HTTP/1.1\r\nHost: evil.example\r\n",
		"doubled slashes":                    "POST //v1//magpie/do HTTP/1.1\r\nHost: localhost:3425\r\n",
		"dots":                               "POST /v1/../magpie/do HTTP/1.1\r\nHost: localhost:3425\r\n",
		"encoded dots":                       "POST /v1/%2e%2e/magpie/do HTTP/1.1\r\nHost: localhost:3425\r\n",
		"a slash at the end":                 "POST /v1/magpie/do/ HTTP/1.1\r\nHost: localhost:3425\r\n",
		"X-Forwarded-Host":                   "POST /v1/magpie/do HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost:3425\r\n",
		"X-Original-URL":                     "POST /v1/models HTTP/1.1\r\nHost: localhost:3425\r\nX-Original-URL: /v1/magpie/do\r\n",
		"the right token and a foreign Host": "POST /v1/magpie/do HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer right\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			status := raw(t, srv.Listener.Addr().String(), head+"Content-Length: 2\r\nConnection: close\r\n\r\n{}")
			if status != 400 && status != 401 && status != 403 {
				t.Errorf("status %d", status)
			}
		})
	}
	if reached != 0 {
		t.Errorf("%d calls came through", reached)
	}
	if status := raw(t, srv.Listener.Addr().String(), "POST /v1/magpie/do HTTP/1.1\r\nHost: localhost:3425\r\nAuthorization: Bearer right\r\nConnection: close\r\n\r\n"); status != 200 || reached != 1 {
		t.Errorf("the plain call with the token gives %d", status)
	}
}

// raw sends bytes and returns the status of the answer.
func raw(t *testing.T, addr, sent string) int {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, sent); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestWebPages(t *testing.T) {
	g := New(Options{Bound: []string{own}, PublicURL: "https://magpie.example", CORSOrigins: []string{"https://app.example", "http://localhost:8080", "chrome-extension://good"}})
	for _, test := range []struct {
		name, host, method string
		headers            []string
		want               int    // 0: let in
		origin             string // of the caller
	}{
		{"a program sends no Origin", own, "POST", nil, 0, ""},
		{"an empty Origin is none", own, "POST", []string{"Origin: "}, 0, ""},
		{"a foreign page that posts plain text", own, "POST", []string{"Origin: https://evil.example", "Content-Type: text/plain"}, 403, ""},
		{"a foreign page that reads", own, "GET", []string{"Origin: https://evil.example"}, 403, ""},
		{"a foreign page's preflight", own, "OPTIONS", []string{"Origin: https://evil.example", "Access-Control-Request-Method: POST"}, 403, ""},
		{"a foreign page by plain http", own, "POST", []string{"Origin: http://evil.example"}, 403, ""},
		{"a page that is called like us", own, "POST", []string{"Origin: https://localhost.evil.example"}, 403, ""},
		{"a page on this machine", own, "POST", []string{"Origin: http://localhost:5173"}, 0, ""},
		{"a page on this machine by address", own, "POST", []string{"Origin: http://127.0.0.1:5173", "Sec-Fetch-Site: same-site"}, 0, ""},
		{"a page on this machine by IPv6", own, "POST", []string{"Origin: http://[::1]:5173"}, 0, ""},
		{"a page below localhost", own, "POST", []string{"Origin: https://app.localhost"}, 0, ""},
		{"a page on this machine that the browser calls foreign", own, "POST", []string{"Origin: http://localhost:5173", "Sec-Fetch-Site: cross-site"}, 403, ""},
		{"our own page", "magpie.example", "POST", []string{"Origin: https://magpie.example"}, 0, ""},
		{"our own page with the scheme's port", "magpie.example:443", "POST", []string{"Origin: https://magpie.example"}, 0, ""},
		{"our own page by the other scheme's port", "magpie.example:443", "POST", []string{"Origin: http://magpie.example"}, 403, ""},
		{"a page that made its name ours", "evil.example", "POST", []string{"Origin: http://evil.example"}, 403, ""},
		{"null", own, "POST", []string{"Origin: null"}, 0, ""},
		{"null across sites", own, "POST", []string{"Origin: null", "Sec-Fetch-Site: cross-site"}, 403, ""},
		{"a desktop program", own, "POST", []string{"Origin: app://obsidian.md"}, 0, ""},
		{"a desktop program across sites", own, "POST", []string{"Origin: tauri://localhost", "Sec-Fetch-Site: cross-site"}, 0, ""},
		{"a file", own, "POST", []string{"Origin: file://"}, 0, ""},
		{"an editor's view", own, "POST", []string{"Origin: vscode-webview://abc"}, 0, ""},
		{"an extension that isn't listed", own, "POST", []string{"Origin: chrome-extension://bad"}, 403, ""},
		{"another browser's extension", own, "POST", []string{"Origin: moz-extension://bad"}, 403, ""},
		{"what can't be read, and begins with http", own, "POST", []string{"Origin: http://%zz"}, 403, ""},
		{"a scheme that only begins with http", own, "POST", []string{"Origin: httpx://localhost"}, 403, ""},
		{"no host", own, "POST", []string{"Origin: https://"}, 403, ""},
		{"no scheme", own, "POST", []string{"Origin: localhost"}, 403, ""},
		{"two origins", own, "POST", []string{"Origin: http://localhost", "Origin: https://evil.example"}, 403, ""},
		{"two origins in one", own, "POST", []string{"Origin: http://localhost, https://evil.example"}, 403, ""},
		{"a user in front of the host", own, "POST", []string{"Origin: http://localhost@evil.example"}, 403, ""},

		{"a listed page without a key", own, "POST", []string{"Origin: https://app.example", "Sec-Fetch-Site: cross-site"}, 401, "https://app.example"},
		{"a listed page with some key", own, "POST", []string{"Origin: https://app.example", "Authorization: Bearer sk-magpie-wrong"}, 401, "https://app.example"},
		{"a listed page with the local token", own, "POST", []string{"Origin: https://app.example", "x-api-key: magpie"}, 401, "https://app.example"},
		{"a listed page on this machine", own, "GET", []string{"Origin: http://localhost:8080"}, 401, "http://localhost:8080"},
		{"a listed extension", own, "POST", []string{"Origin: chrome-extension://good"}, 401, "chrome-extension://good"},
		{"a listed page's preflight", own, "OPTIONS", []string{"Origin: https://app.example", "Access-Control-Request-Method: POST", "Sec-Fetch-Site: cross-site"}, 0, "https://app.example"},
		{"a listed page's OPTIONS that is no preflight", own, "OPTIONS", []string{"Origin: https://app.example"}, 401, "https://app.example"},
		{"a page of the listed host by http", own, "POST", []string{"Origin: http://app.example"}, 403, ""},
		{"a listed page from another machine", own, "POST", []string{"Origin: https://app.example", "X-Forwarded-For: 1.2.3.4"}, 403, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, ref := g.Check(request(test.method, here, test.host, test.headers...))
			got := 0
			if ref != nil {
				got = ref.Status
			}
			if got != test.want || c.Origin != test.origin {
				t.Errorf("status %d, origin %q; want %d, %q", got, c.Origin, test.want, test.origin)
			}
			if ref != nil && ref.Plain != (ref.Status != 401) {
				t.Errorf("%d is told as plain text: %v", ref.Status, ref.Plain)
			}
		})
	}
}

func TestEveryMissingOrWrongKeyIsToldTheSame(t *testing.T) {
	g := New(Options{CORSOrigins: []string{"https://app.example"}})
	var texts []string
	for _, key := range []string{"", "wrong-key-123", "sk-magpie-revoked", "magpie"} {
		_, ref := g.Check(request("GET", here, own, "Origin: https://app.example", "Authorization: Bearer "+key))
		texts = append(texts, fmt.Sprint(ref.Status, ref.Text))
		if key != "" && key != "magpie" && strings.Contains(ref.Text, key) {
			t.Errorf("the text repeats the key: %s", ref.Text)
		}
	}
	for _, text := range texts[1:] {
		if text != texts[0] {
			t.Errorf("told apart: %q and %q", texts[0], text)
		}
	}
}

func TestCORSHeadersAreForListedPagesAlone(t *testing.T) {
	g := New(Options{CORSOrigins: []string{"https://app.example/"}})
	preflight := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-api-key, content-type,bad name,é,X_Y", "Access-Control-Request-Private-Network: true"}
	for _, test := range []struct {
		name, method string
		headers      []string
		answered     bool
		want         http.Header
	}{
		{"a program gets none", "POST", nil, false, http.Header{}},
		{"a page on this machine gets none", "POST", []string{"Origin: http://localhost:5173"}, false, http.Header{}},
		{"nor does its preflight", "OPTIONS", append([]string{"Origin: http://localhost:5173"}, preflight...), false, http.Header{}},
		{"a foreign page's preflight gets none", "OPTIONS", append([]string{"Origin: https://evil.example"}, preflight...), false, http.Header{}},
		{"a listed page may read what it is told", "POST", []string{"Origin: https://app.example"}, false, http.Header{
			"Access-Control-Allow-Origin": {"https://app.example"}, "Vary": {"Origin"},
		}},
		{"a listed page's preflight is answered", "OPTIONS", append([]string{"Origin: https://app.example"}, preflight...), true, http.Header{
			"Access-Control-Allow-Origin": {"https://app.example"}, "Vary": {"Origin"}, "Access-Control-Allow-Methods": {"GET, POST, OPTIONS"},
			"Access-Control-Allow-Headers": {"x-api-key, content-type, X_Y"}, "Access-Control-Max-Age": {"600"}, "Access-Control-Allow-Private-Network": {"true"},
		}},
		{"and gets no more than it asked for", "OPTIONS", []string{"Origin: https://app.example", "Access-Control-Request-Method: GET"}, true, http.Header{
			"Access-Control-Allow-Origin": {"https://app.example"}, "Vary": {"Origin"}, "Access-Control-Allow-Methods": {"GET, POST, OPTIONS"}, "Access-Control-Max-Age": {"600"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, w := request(test.method, here, own, test.headers...), httptest.NewRecorder()
			c, _ := g.Check(r)
			if got := g.Preflight(w, r, c); got != test.answered {
				t.Errorf("answered: %v; want %v", got, test.answered)
			}
			if diff := cmp.Diff(test.want, w.Header()); diff != "" {
				t.Error(diff)
			}
			if test.answered && w.Code != http.StatusNoContent {
				t.Errorf("status %d", w.Code)
			}
		})
	}
}

func TestTheGuardCostsNothingWhereNothingIsOdd(t *testing.T) {
	g := New(Options{Bound: []string{own}})
	r := request("POST", here, own, "Authorization: Bearer magpie", "User-Agent: claude-cli/2.1.3 (external, cli)", "X-App: cli", "X-Claude-Code-Session-Id: 1b2c")
	if n := testing.AllocsPerRun(100, func() {
		if _, ref := g.Check(r); ref != nil {
			t.Fatal(ref.Text)
		}
		if Agent(r) != "claude" || Session(r.Header) != "1b2c" {
			t.Fatal("told wrong")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
