package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asked is what a server was asked.
type asked struct {
	line, auth, origin, kind, body string
}

// serving answers every call alike and notes what it was asked.
func serving(t *testing.T, status int, answer string) (*client.Client, *asked) {
	t.Helper()
	var a asked
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		a = asked{r.Method + " " + r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("Origin"), r.Header.Get("Content-Type"), string(b)}
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(srv.Close)
	c := client.New(strings.TrimPrefix(srv.URL, "http://"), func() (string, error) { return "s3cret", nil }, nil)
	t.Cleanup(c.Close)
	return c, &a
}

func TestEveryCallAsksAsTheInterfaceSays(t *testing.T) {
	at := time.Date(2026, 11, 29, 14, 2, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		answer string
		call   func(ctx context.Context, c *client.Client) (any, error)
		asked  asked
		want   any
	}{
		"status": {
			`{"name":"magpie","pid":7,"totals":{"requests":3}}`,
			func(ctx context.Context, c *client.Client) (any, error) { return c.Status(ctx) },
			asked{line: "GET /v1/magpie/status"},
			trace.Status{Name: "magpie", PID: 7, Totals: trace.Totals{Requests: 3}},
		},
		"routes, waiting": {
			`{"seq":9,"totals":{"in_flight":1},"routes":[{"id":4}]}`,
			func(ctx context.Context, c *client.Client) (any, error) { return c.Routes(ctx, 5, 20*time.Second) },
			asked{line: "GET /v1/magpie/routes?after=5&wait=20"},
			client.Routes{Seq: 9, Totals: trace.Totals{InFlight: 1}, Routes: []trace.Route{{ID: 4}}},
		},
		"routes, all and at once": {
			`{"seq":9,"routes":[]}`,
			func(ctx context.Context, c *client.Client) (any, error) { return c.Routes(ctx, 0, 0) },
			asked{line: "GET /v1/magpie/routes"},
			client.Routes{Seq: 9, Routes: []trace.Route{}},
		},
		"requests": {
			`{"requests":[{"id":4}]}`,
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.Requests(ctx, client.Filter{
					Agent: "codex", Model: "m/x y", Account: "a/b", Session: "s", Status: "5xx", Since: at, Limit: 3, Before: 8,
				})
			},
			asked{line: "GET /v1/magpie/requests?account=a%2Fb&agent=codex&before=8&limit=3&model=m%2Fx+y&session=s&since=2026-11-29T14%3A02%3A00Z&status=5xx"},
			[]trace.Route{{ID: 4}},
		},
		"a conversation's route": {
			`{"route":{"id":4}}`,
			func(ctx context.Context, c *client.Client) (any, error) { return c.Route(ctx, "c02e") },
			asked{line: "GET /v1/magpie/route?session=c02e"},
			&trace.Route{ID: 4},
		},
		"a conversation without one": {
			`{"route":null}`,
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.RouteAfter(ctx, "x", 3, 2*time.Second)
			},
			asked{line: "GET /v1/magpie/route?after=3&session=x&wait=2"},
			(*trace.Route)(nil),
		},
		"explain": {
			`{"asked":"m","order":[{"id":"a/b","reason":"first in your order"}],"left":[]}`,
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.Explain(ctx, client.Question{Model: "m", Agent: "codex", API: "chat", Body: json.RawMessage(`{"n":1}`)})
			},
			asked{"POST /v1/magpie/explain", "Bearer s3cret", "", "application/json", `{"model":"m","agent":"codex","api":"chat","body":{"n":1}}`},
			trace.Route{Asked: "m", Order: []trace.Candidate{{ID: "a/b", Reason: "first in your order"}}, Left: []trace.Candidate{}},
		},
		"preview": {
			`{"class":"ends","words":"ends it","token":"t"}`,
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.Preview(ctx, control.Command{Verb: control.Cancel, Args: control.Args{Request: 4}})
			},
			asked{"POST /v1/magpie/preview", "Bearer s3cret", "", "application/json", `{"verb":"cancel","args":{"request":4}}`},
			control.Effect{Class: control.Ends, Words: "ends it", Token: "t"},
		},
		"do": {
			`{"done":"paused a/b","undo":true,"state":[{"id":"a/b","state":"paused"}],"at":"2026-11-29T14:02:00Z"}`,
			func(ctx context.Context, c *client.Client) (any, error) {
				return c.Do(ctx, control.Command{Verb: control.Pause, Who: "a/b", Args: control.Args{For: "2h"}}, "t")
			},
			asked{"POST /v1/magpie/do", "Bearer s3cret", "", "application/json", `{"verb":"pause","who":"a/b","args":{"for":"2h"},"token":"t"}`},
			control.Done{Words: "paused a/b", Undo: true, At: at, Accounts: []trace.Account{{ID: "a/b", State: trace.Paused_}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cl, got := serving(t, http.StatusOK, c.answer)
			v, err := c.call(t.Context(), cl)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, v); d != "" {
				t.Error("answer:", d)
			}
			if d := cmp.Diff(c.asked, *got, cmp.AllowUnexported(asked{})); d != "" {
				t.Error("asked:", d)
			}
		})
	}
}

func TestWhatTheGatewayRefusesIsItsOwnError(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		want   control.Error
	}{
		"its own words": {
			404, `{"error":{"code":"no_such_who","message":"nobody is called x","matches":["a/x","b/x"]}}`,
			control.Error{Status: 404, Code: "no_such_who", Message: "nobody is called x", Matches: []string{"a/x", "b/x"}},
		},
		"a stale token": {
			409, `{"error":{"code":"stale_token","message":"look again"}}`,
			control.Error{Status: 409, Code: "stale_token", Message: "look again"},
		},
		"an agent's error shape": {
			404, `{"error":{"message":"no such path","type":"not_found_error","code":null}}`,
			control.Error{Status: 404, Message: "no such path"},
		},
		"a proxy between": {
			502, "<html>bad gateway</html>",
			control.Error{Status: 502, Code: "unknown", Message: "the gateway answered 502 Bad Gateway: <html>bad gateway</html>"},
		},
		"a redirect is no answer": {
			302, "", control.Error{Status: 302, Code: "unknown", Message: "the gateway answered 302 Found:"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cl, _ := serving(t, c.status, c.answer)
			_, err := cl.Do(t.Context(), control.Command{Verb: control.Wake}, "")
			var got *control.Error
			if !errors.As(err, &got) {
				t.Fatalf("%v is no control.Error", err)
			}
			if d := cmp.Diff(c.want, *got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnAnswerThatIsNoMagpiesIsAnError(t *testing.T) {
	cl, _ := serving(t, http.StatusOK, "<html>")
	if _, err := cl.Status(t.Context()); err == nil || errors.Is(err, client.ErrNoGateway) {
		t.Errorf("%v", err)
	}
}

func TestATokenThatCannotBeReadSendsNothing(t *testing.T) {
	lost := errors.New("no such file")
	cl := client.New("127.0.0.1:1", func() (string, error) { return "", lost }, nil)
	defer cl.Close()
	if _, err := cl.Do(t.Context(), control.Command{Verb: control.Wake}, ""); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}

// free is an address at which nobody listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestNobodyThereIsToldApart(t *testing.T) {
	addr := free(t)
	cl := client.New(addr, nil, nil)
	defer cl.Close()
	_, status := cl.Status(t.Context())
	_, _, watch := cl.Watch(t.Context())
	_, probe := client.ProbeFor(t.Context(), addr, time.Minute)
	for name, err := range map[string]error{"status": status, "watch": watch, "probe": probe} {
		if !errors.Is(err, client.ErrNoGateway) || !strings.Contains(err.Error(), addr) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProbing(t *testing.T) {
	probe := func(t *testing.T, h http.HandlerFunc) (client.Info, error) {
		srv := httptest.NewServer(h)
		defer srv.Close()
		return client.ProbeFor(t.Context(), srv.Listener.Addr().String(), time.Minute)
	}
	i, err := probe(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/" {
			t.Errorf("asked %s %s", r.Method, r.URL)
		}
		_, _ = io.WriteString(w, `{"name":"magpie","version":"1.2","pid":4121,"started":"2026-11-29T14:02:00Z","more":1}`)
	})
	want := client.Info{Name: "magpie", Version: "1.2", PID: 4121, Started: time.Date(2026, 11, 29, 14, 2, 0, 0, time.UTC)}
	if d := cmp.Diff(want, i); err != nil || d != "" {
		t.Error(err, d)
	}
	for name, c := range map[string]struct {
		h      http.HandlerFunc
		status int
		words  string
	}{
		"another server": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Server", "uvicorn")
			w.WriteHeader(http.StatusNotFound)
		}, 404, "(it answered GET / with 404, Server: uvicorn)"},
		"another one's JSON": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"name":"crow"}`)
		}, 200, "(it answered GET / with 200)"},
		"a page without end": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 32<<10)); err != nil {
					return
				}
			}
		}, 200, "(it answered GET / with 200)"},
		"a redirect to a magpie": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/x", http.StatusFound)
				return
			}
			_, _ = io.WriteString(w, `{"name":"magpie"}`)
		}, 302, "(it answered GET / with 302)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := probe(t, c.h)
			var f *client.ForeignError
			if !errors.As(err, &f) || f.Status != c.status || !strings.HasSuffix(err.Error(), c.words) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestProbingWhoSaysNothing(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer srv.Close()
	_, err := client.Probe(t.Context(), srv.Listener.Addr().String())
	var f *client.ForeignError
	if !errors.As(err, &f) || !f.Silent || f.Status != 0 || !strings.HasSuffix(err.Error(), "did not answer in 700ms, a magpie that hangs or another program") {
		t.Errorf("%v", err)
	}
}

func TestProbingWhatSpeaksNoHTTP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9\r\n")
			_ = c.Close()
		}
	}()
	_, err = client.ProbeFor(t.Context(), l.Addr().String(), time.Minute)
	var f *client.ForeignError
	if !errors.As(err, &f) || f.Status != 0 {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:3425": "http://127.0.0.1:3425", "0.0.0.0:80": "http://127.0.0.1:80", ":3425": "http://127.0.0.1:3425",
		"[::]:3425": "http://127.0.0.1:3425", "[::1]:3425": "http://[::1]:3425", "host:1/": "http://host:1",
		"https://gw.example/": "https://gw.example", "http://127.0.0.1:3425": "http://127.0.0.1:3425", "host": "http://host",
	} {
		if got := client.Base(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
