package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestExitCodesAndWhatIsSaidWithThem(t *testing.T) {
	const nobody = nowhere
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "uvicorn")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer foreign.Close()
	sick := newCanned(t, map[string]any{"GET /healthz": http.StatusServiceUnavailable})
	refusing := newCanned(t, map[string]any{
		"POST /v1/magpie/do": http.StatusUnauthorized, "GET /v1/magpie/route": map[string]any{"route": nil},
		"POST /v1/magpie/explain": map[string]any{"asked": "nope", "order": []any{}, "left": []any{}, "status": 404, "error": "no provider has nope"},
	})
	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for _, c := range []struct {
		line string
		addr string
		code int
		says string
	}{
		{"version", nobody, 0, ""},
		{"status", nobody, 3, "no gateway is running at " + nobody + ": start one with `magpie` or `magpie serve`"},
		{"status", at(foreign), 3, "it answered GET / with 404, Server: uvicorn"},
		{"pause a", nobody, 3, "no gateway is running"},
		{"providers", nobody, 3, "no gateway is running"},
		{"provider show a", nobody, 3, "no gateway is running"},
		{"line", nobody, 3, "no gateway is running"},
		{"healthcheck", nobody, 3, "no gateway is running"},
		{"healthcheck", sick.addr(), 1, "is shutting down"},
		{"pause a", refusing.addr(), 1, "401"},
		{"route x", refusing.addr(), 1, "no request of a conversation"},
		{"explain nope", refusing.addr(), 1, "nobody would be asked: an agent would be told 404, no provider has nope"},
		{"explain nope --json", refusing.addr(), 1, ""},
		{"presets", nobody, 0, ""},
		{"simulate", nobody, 2, "name a workload: --workload FILE"},
		{"simulate --workload nosuch.toml", nobody, 2, "there is no file nosuch.toml"},
		{"simulate --workload .", nobody, 2, "can't read the workload from .: is a directory"},
		{"simulate --workload testdata/golden/simulate.txt --config nosuch.toml", nobody, 2, "testdata/golden/simulate.txt"},
		{"explain m --body nosuch.json", refusing.addr(), 2, "there is no file nosuch.json"},
		{"explain m --body .", refusing.addr(), 2, "can't read the body from .: is a directory"},
		{"themes", nobody, 0, ""},
		{"config path", nobody, 0, ""},
		{"config check", nobody, 0, ""},
		{"config check nosuch.toml", nobody, 2, "there is no file nosuch.toml"},
		{"config check .", nobody, 2, "can't read the config from .: is a directory"},
		{"statsu", nobody, 2, `magpie has no command "statsu": did you mean "status"?`},
		{"provider shwo", nobody, 2, `magpie provider has no command "shwo": did you mean "show"?`},
		{"provider", nobody, 2, "needs one of show, add, set, off, on, rm, test, models"},
		{"config", nobody, 2, "needs one of check, path"},
		{"pause", nobody, 2, "usage: magpie pause <who>"},
		{"pause a b", nobody, 2, `takes no "b"`},
		{"unpin", nobody, 2, "needs either whom, or --all"},
		{"unpin a --all", nobody, 2, "needs either whom, or --all"},
		{"status now", nobody, 2, `takes no "now"`},
		{"--frobnicate", nobody, 2, "magpie: unknown flag: --frobnicate see: magpie --help"},
		{"requests --aggent claude", nobody, 2, `unknown flag: --aggent: did you mean "agent"?`},
		{"requests --since yesterday", refusing.addr(), 2, `"yesterday" is no length`},
		{"requests -n 0", refusing.addr(), 2, "-n is a number of requests"},
		{"--version", nobody, 0, ""},
		{"help nothing", nobody, 2, `magpie has no command "nothing"`},
		{"help provdier", nobody, 2, `did you mean "provider"?`},
		{"help provider nothing", nobody, 2, "there are add, models, off"},
		{"help provider show", nobody, 0, ""},
		{"help", nobody, 0, ""},
		{"status", "127.0.0.1:99999", 2, "the port must be a number from 0 to 65535"},
		{"serve", "a b", 2, "the host must be a name or an IP address"},
		{"trace -n x", nobody, 2, `magpie trace: --last takes a whole number, not "x"`},
		{"quota refresh --json=maybe", nobody, 2, `--json takes true or false, not "maybe"`},
		{"config check --json", nobody, 0, ""},
		{"completion csh", nobody, 2, `no completion for "csh"`},
		{"serve --log yaml", nobody, 2, `--log is text or json, not "yaml"`},
		{"tui", nobody, 2, "the screen needs a terminal; magpie serve runs the gateway without one"},
		{"", nobody, 2, "the screen needs a terminal"}, // with a flag it is tui
	} {
		s := newShell(t)
		code, out, errs := s.run(append(strings.Fields(c.line), "--listen", c.addr)...)
		errs = strings.Join(strings.Fields(errs), " ")
		if code != c.code || !strings.Contains(errs, c.says) || c.says == "" && errs != "" {
			t.Errorf("magpie %s: exit code %d, want %d; said %q, want %q", c.line, code, c.code, errs, c.says)
		}
		if code > 1 && out != "" {
			t.Errorf("magpie %s failed, and printed %q", c.line, out)
		}
	}
}

func TestAThemeThatThereIsNotIsBadUsage(t *testing.T) {
	s := newShell(t)
	s.tty = func() bool { return true }
	if code, _, errs := s.run("--theme", "nrod"); code != 2 || !strings.Contains(errs, `did you mean "nord"?`) {
		t.Errorf("%d %q", code, errs)
	}
	if code, _, errs := s.run("tui", "--demo", "--attach"); code != 2 || !strings.Contains(errs, "never attaches") {
		t.Errorf("%d %q", code, errs)
	}
	if code, _, errs := s.run("tui", "--attach", "--listen", nowhere); code != 3 || !strings.Contains(errs, "no gateway is running") {
		t.Errorf("%d %q", code, errs)
	}
}

// closed is an output whose reader has gone.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, &net.OpError{Op: "write", Err: syscall.EPIPE} }

func TestAReaderThatHasReadEnoughEndsItQuietly(t *testing.T) {
	g := everyGateway(t)
	for _, line := range []string{"status", "accounts", "trace", "requests", "presets", "themes", "version", "status --json", "explain m", "config path", "--help", "completion bash"} {
		s := newShell(t)
		s.out = closed{}
		if code, _, errs := s.run(append(strings.Fields(line), "--listen", g.addr())...); code != 0 || errs != "" {
			t.Errorf("magpie %s | true: exit code %d, stderr %q", line, code, errs)
		}
	}
}

func TestWithABrokenConfigARunningGatewayIsStillAsked(t *testing.T) {
	s := newShell(t)
	s.write("config.toml", "listen = [")
	code, _, errs := s.run("status")
	if !strings.Contains(strings.Join(strings.Fields(errs), " "), "127.0.0.1:3425 is asked") || code == 2 {
		t.Errorf("%d %q", code, errs)
	}
	g := everyGateway(t)
	s.env["MAGPIE_ADDR"] = g.addr()
	if code, out, errs := s.run("line"); code != 0 || errs != "" || out == "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

func TestNothingHostileReachesTheTerminal(t *testing.T) {
	g := newCanned(t, map[string]any{
		"GET /v1/magpie/requests": map[string]any{"requests": everyRoutes()},
		"POST /v1/magpie/do":      map[string]any{"done": "paused " + hostile},
	})
	s := newShell(t)
	for _, line := range []string{"requests", "pause x"} {
		_, out, errs := s.run(append(strings.Fields(line), "--listen", g.addr())...)
		if strings.ContainsAny(out+errs, "\x1b\x07\u202e") || !strings.Contains(out, "glm") {
			t.Errorf("magpie %s: %q %q", line, out, errs)
		}
	}
}

func TestAConfigThatCanNotBeReadIsABadOne(t *testing.T) {
	s := newShell(t)
	if err := os.Mkdir(s.paths().Config, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"serve --listen 127.0.0.1:0", "config check", "config check --json"} {
		if code, out, errs := s.run(strings.Fields(line)...); code != exitUsage || out != "" || !strings.Contains(errs, "can't read the config") {
			t.Errorf("magpie %s: exit code %d, %q, %q", line, code, out, errs)
		}
	}
}
