package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// serving is a `serve` that runs in this process.
type serving struct {
	*shell
	addr string
	code chan int
}

// serve starts one with a vendor and waits for its ready line.
func serve(t *testing.T, config string, args ...string) *serving {
	t.Helper()
	s := newShell(t)
	s.now = time.Now
	s.write("config.toml", config)
	return s.serve(args...)
}

func (s *shell) serve(args ...string) *serving {
	s.t.Helper()
	sv := &serving{shell: s, code: make(chan int, 1)}
	s.args = append([]string{"serve"}, args...)
	go func() { sv.code <- run(s.process) }()
	eventually(s.t, "ready", func() bool {
		line, _, ok := strings.Cut(s.stdout.String(), "\n")
		if !ok {
			select {
			case code := <-sv.code:
				s.t.Fatalf("it ended with %d: %s", code, s.stderr.String())
			default:
			}
			return false
		}
		_, rest, _ := strings.Cut(line, "http://")
		sv.addr, _, _ = strings.Cut(rest, " ")
		return true
	})
	return sv
}

// end sends a signal and returns the exit code.
func (sv *serving) end(sig os.Signal) int {
	sv.t.Helper()
	if !sv.send(sig) {
		sv.t.Fatal("nobody waits for the signal")
	}
	return sv.wait()
}

func (sv *serving) wait() int {
	sv.t.Helper()
	select {
	case code := <-sv.code:
		return code
	case <-time.After(long):
		sv.t.Fatalf("it never ended: %s", sv.stderr.String())
		return -1
	}
}

func relay(base string) string {
	return "[providers.a]\nchat = \"" + base + "/v1\"\nkeys = [{ name = \"k\", value = \"" + canary + "\" }]\nmodels = [\"m\"]\n"
}

// vendor is a stand-in that answers slowly enough to be seen at it.
func vendor(t *testing.T, o standin.Options) (*standin.Vendor, string) {
	t.Helper()
	o.Models = []string{"m"}
	v := standin.New(o)
	s := httptest.NewServer(v)
	t.Cleanup(s.Close)
	return v, s.URL
}

func ask(t *testing.T, addr string, stream bool) (*http.Response, error) {
	t.Helper()
	body := `{"model":"a/m","messages":[{"role":"user","content":"hello"}]}`
	if stream {
		body = `{"model":"a/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer magpie")
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
}

func status(t *testing.T, addr string) trace.Status {
	t.Helper()
	s, err := statusAt(addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// statusAt asks over a connection of its own: one that is kept leads to the listener before.
func statusAt(addr string) (s trace.Status, err error) {
	hc := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := hc.Get("http://" + addr + "/v1/magpie/status")
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	return s, json.NewDecoder(resp.Body).Decode(&s)
}

func TestTheReadyLineComesOnceItAnswersAndASignalEndsIt(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	sv := serve(t, relay(base), "--listen", "127.0.0.1:0")
	if got, want := sv.stdout.String(), "magpie is listening on http://"+sv.addr+" (pid "; !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
	resp, err := ask(t, sv.addr, false)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", resp, err)
	}
	_ = resp.Body.Close()
	if code := sv.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, sv.stderr.String())
	}
	if log := sv.stderr.String(); !strings.Contains(log, "request") || !strings.Contains(log, "by=a/k") || strings.Contains(log, canary) {
		t.Errorf("the log: %s", log)
	}
	if sv.home == "" || strings.Contains(sv.stdout.String(), canary) {
		t.Error("the key is printed")
	}
	for name, mode := range map[string]os.FileMode{
		"state": 0o700, "cache": 0o700, "state/control.token": 0o600, "state/history.db": 0o600, "state/start.lock": 0o600, "state/crash-now.txt": 0o600,
	} {
		info, err := os.Stat(filepath.Join(sv.home, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

func TestASecondServeSaysWhoIsThere(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	sv := serve(t, relay(base), "--listen", "127.0.0.1:0")
	defer sv.end(syscall.SIGTERM)
	second := newShell(t)
	second.now = time.Now
	code, out, errs := second.run("serve", "--listen", sv.addr)
	if code != 1 || out != "" || !strings.Contains(errs, sv.addr+" is taken by another magpie (pid ") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, _, errs := second.run("healthcheck", "--listen", sv.addr); code != 0 {
		t.Errorf("the first one was hurt: %d %s", code, errs)
	}
}

func TestADrainFinishesWhatIsUnderWayAndTurnsNewRequestsAway(t *testing.T) {
	gate := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"begun\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-gate
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer slow.Close()
	sv := serve(t, relay(slow.URL), "--listen", "127.0.0.1:0")
	resp, err := ask(t, sv.addr, true)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if first, err := lines.ReadString('\n'); err != nil || !strings.Contains(first, "begun") {
		t.Fatalf("%q %v", first, err)
	}
	sv.send(syscall.SIGTERM)
	eventually(t, "draining", func() bool { return status(t, sv.addr).Draining })
	if r, err := ask(t, sv.addr, false); err != nil || r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "" {
		t.Errorf("a new request is not turned away: %v %v", r, err)
	}
	close(gate)
	rest, err := io.ReadAll(lines)
	if err != nil || !strings.Contains(string(rest), "whole") || !strings.Contains(string(rest), "[DONE]") {
		t.Errorf("the stream was cut: %q %v", rest, err)
	}
	if code := sv.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	gate := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"begun\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-gate:
		case <-r.Context().Done():
		}
	}))
	defer stuck.Close()
	defer close(gate)
	sv := serve(t, relay(stuck.URL), "--listen", "127.0.0.1:0")
	resp, err := ask(t, sv.addr, true)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	sv.send(os.Interrupt)
	eventually(t, "draining", func() bool { return status(t, sv.addr).Draining })
	sv.send(syscall.SIGHUP) // no reason to end
	if code := sv.end(os.Interrupt); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if rest, err := io.ReadAll(resp.Body); err == nil && strings.Contains(string(rest), "[DONE]") {
		t.Errorf("a reply that broke off reads as a whole one: %q", rest)
	}
}

func TestAnotherListenIsBoundBeforeTheOldIsLeft(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	one, two := freePort(t), freePort(t)
	sv := serve(t, "listen = \""+one+"\"\n"+relay(base))
	defer func() { sv.end(syscall.SIGTERM) }()
	if sv.addr != one {
		t.Fatalf("it listens on %s", sv.addr)
	}
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	reload := func(listen string) {
		sv.write("config.toml", "listen = \""+listen+"\"\n"+relay(base))
		sv.send(syscall.SIGHUP)
	}
	reload(taken.Listener.Addr().String())
	eventually(t, "told of the taken address", func() bool { return strings.Contains(status(t, one).Config.Error, "is taken by") })
	reload(two)
	eventually(t, "moved", func() bool {
		c, err := net.Dial("tcp", one)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	eventually(t, "taken", func() bool { return status(t, two).Config.Error == "" })
	if s := status(t, two); s.Listen != two {
		t.Errorf("%+v", s)
	}
	resp, err := ask(t, two, false)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", resp, err)
	}
	_ = resp.Body.Close()
	_, port, err := net.SplitHostPort(two)
	if err != nil {
		t.Fatal(err)
	}
	reload("0.0.0.0:" + port) // covers the old one: it can only be had once that is left
	eventually(t, "widened", func() bool {
		s, err := statusAt(two) // nobody listens there for a moment
		return err == nil && s.Listen == "0.0.0.0:"+port
	})
	sv.addr = two
}

func TestABrokenConfigOnReloadChangesNothing(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	sv := serve(t, relay(base), "--listen", "127.0.0.1:0")
	defer sv.end(syscall.SIGTERM)
	sv.write("config.toml", "[providers.a\n")
	sv.send(syscall.SIGHUP)
	eventually(t, "told", func() bool { return status(t, sv.addr).Config.Error != "" })
	s := status(t, sv.addr)
	if len(s.Accounts) != 1 || !strings.Contains(s.Config.Error, "config.toml:1:") {
		t.Errorf("%+v", s)
	}
	sv.write("config.toml", relay(base)+"[providers.b]\nchat = \""+base+"/v1\"\nkeys = [{ value = \""+canary+"\" }]\n")
	eventually(t, "taken from the file alone", func() bool { return len(status(t, sv.addr).Accounts) == 2 })
	if e := status(t, sv.addr).Config.Error; e != "" {
		t.Errorf("the old trouble is still told: %s", e)
	}
}

func TestWhatIsNotServedIsNamedOnceAtStart(t *testing.T) {
	sv := serve(t, "searcher = \"ollama/x\"\npublic_url = \"http://box.example:3425\"\n[providers.ollama]\n", "--listen", "127.0.0.1:0")
	warned := status(t, sv.addr).Config.Warnings
	sv.end(syscall.SIGTERM)
	if len(warned) != 1 || !strings.Contains(warned[0], "searcher") || !strings.Contains(warned[0], "public_url") {
		t.Errorf("%q", warned)
	}
	if n := strings.Count(sv.stderr.String(), "does not carry out"); n != 1 {
		t.Errorf("told %d times: %s", n, sv.stderr.String())
	}
}

func TestStateThatCannotBeReadIsTold(t *testing.T) {
	s := newShell(t)
	s.now = time.Now
	s.write("config.toml", "[providers.ollama]\n")
	broken := s.write("state/rests.json", "{ half")
	sv := s.serve("--listen", "127.0.0.1:0")
	trouble := strings.Join(status(t, sv.addr).Trouble, "\n")
	_, out, _ := newShell(t).run("status", "--listen", sv.addr)
	sv.end(syscall.SIGTERM)
	if !strings.Contains(trouble, "rests.json could not be read") || !strings.Contains(out, "! ") {
		t.Errorf("%q, %s", trouble, out)
	}
	if data, err := os.ReadFile(broken); err != nil || string(data) != "{ half" {
		t.Errorf("it was written over: %q %v", data, err)
	}
}

func TestTheLogIsJSONWhereAsked(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	sv := serve(t, relay(base), "--listen", "127.0.0.1:0", "--log", "json")
	resp, err := ask(t, sv.addr, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	sv.end(syscall.SIGTERM)
	lines := strings.Split(strings.TrimSpace(sv.stderr.String()), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q", line)
		}
	}
	if len(lines) == 0 {
		t.Error("nothing was logged")
	}
}

func TestADemoHasAHomeOfItsOwn(t *testing.T) {
	s := newShell(t)
	s.now = time.Now
	s.env["ANTHROPIC_API_KEY"] = canary
	s.env["MAGPIE_ADDR"] = "127.0.0.1:1" // nobody may listen there
	s.write("config.toml", "this is = [ no config")
	sv := s.serve("--demo")
	st := status(t, sv.addr)
	if !st.Demo || len(st.Accounts) < 4 {
		t.Errorf("%+v", st)
	}
	_, rest, ok := strings.Cut(sv.stdout.String(), "MAGPIE_HOME=")
	demo, _, _ := strings.Cut(rest, " ")
	if _, err := os.Stat(filepath.Join(demo, "state", "control.token")); !ok || err != nil {
		t.Errorf("%q: %v", demo, err)
	}
	eventually(t, "asked by its agents", func() bool { return status(t, sv.addr).Totals.InFlight > 0 })
	if code := sv.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, sv.stderr.String())
	}
	if _, err := os.Stat(demo); !os.IsNotExist(err) {
		t.Errorf("the demo's home is left behind: %v", err)
	}
	left, err := os.ReadDir(sv.home)
	if err != nil || len(left) != 1 {
		t.Errorf("the person's home was touched: %v %v", left, err)
	}
}
