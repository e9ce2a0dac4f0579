package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// behind runs a command that goes on until it is interrupted.
func behind(t *testing.T, args ...string) (*shell, chan int) {
	t.Helper()
	s := newShell(t)
	s.now, s.args = time.Now, args
	code := make(chan int, 1)
	go func() { code <- run(s.process) }()
	return s, code
}

func TestWhatIsFollowedGoesOnUntilItIsInterrupted(t *testing.T) {
	v, base := vendor(t, standin.Options{})
	v.Script(canary, standin.Must(`ok`, `402 credit`)...)
	two := strings.Replace(relay(base), " }]", " }, { name = \"k2\", value = \"the-second-of-two\" }]", 1)
	sv := serve(t, two, "--listen", "127.0.0.1:0")
	defer sv.end(syscall.SIGTERM)
	request := func() {
		resp, err := ask(t, sv.addr, false)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	request()
	lines, linesEnd := behind(t, "trace", "-f", "--listen", sv.addr)
	through, follows := followed(t, sv.addr)
	values, valuesEnd := behind(t, "trace", "-f", "-n", "0", "--json", "--listen", through)
	bar, barEnd := behind(t, "line", "--watch", "--listen", sv.addr)
	eventually(t, "printed what was", func() bool { return strings.Contains(lines.stdout.String(), "unknown a/m » a/k 200") })
	eventually(t, "printed the line", func() bool {
		return strings.HasPrefix(bar.stdout.String(), "magpie ✓ ") || strings.HasPrefix(bar.stdout.String(), "magpie + ")
	})
	select {
	case <-follows:
	case <-time.After(long):
		t.Fatal("it follows nothing")
	}
	request()
	eventually(t, "printed what followed", func() bool { return strings.Contains(lines.stdout.String(), "a/m » a/k2 200") })
	eventually(t, "told of the rest", func() bool { return strings.Contains(lines.stdout.String(), "a/k rests ") })
	eventually(t, "told it as JSON", func() bool { return strings.Contains(values.stdout.String(), "\n") })
	for _, c := range []struct {
		s   *shell
		end chan int
	}{{lines, linesEnd}, {values, valuesEnd}, {bar, barEnd}} {
		if !c.s.send(os.Interrupt) {
			t.Fatal("it does not wait for ctrl+c")
		}
		if code := <-c.end; code != exitInterrupted || c.s.stderr.String() != "" {
			t.Errorf("%v: exit code %d, %s", c.s.args, code, c.s.stderr)
		}
	}
	if n := strings.Count(lines.stdout.String(), "a/k 200 "); n != 1 {
		t.Errorf("a request is told %d times: %s", n, lines.stdout)
	}
	var r trace.Route
	if err := json.Unmarshal([]byte(values.stdout.String()), &r); err != nil || len(r.Tries) != 2 {
		t.Errorf("%v: %s", err, values.stdout)
	}
}

// followed is another way to a gateway. The channel is closed once somebody follows it there: all that
// happens from then on is told.
func followed(t *testing.T, addr string) (way string, follows <-chan struct{}) {
	t.Helper()
	begun := make(chan struct{})
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: addr}) },
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // of its end
		ModifyResponse: func(r *http.Response) error {
			if strings.HasSuffix(r.Request.URL.Path, "/trace") {
				close(begun)
			}
			return nil
		},
	})
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), begun
}

func TestOfSeveralStartsAtOnceOneServes(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	addr := freePort(t)
	first := newShell(t)
	first.now = time.Now
	first.write("config.toml", "listen = \""+addr+"\"\n"+relay(base))
	const n = 5
	var all []*shell
	ends := make(chan int, n)
	for range n {
		s := newShell(t)
		s.now, s.home, s.args = time.Now, first.home, []string{"serve"}
		s.env["MAGPIE_HOME"] = first.home
		all = append(all, s)
		go func() { ends <- run(s.process) }()
	}
	for range n - 1 {
		select {
		case code := <-ends:
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
		case <-time.After(long):
			t.Fatal("more than one serves, or none")
		}
	}
	ready, told := 0, 0
	eventually(t, "ready", func() bool { // the one that serves says so once the others may find it
		ready = 0
		for _, s := range all {
			ready += strings.Count(s.stdout.String(), "magpie is listening on http://"+addr)
		}
		return ready > 0
	})
	for _, s := range all {
		told += strings.Count(s.stderr.String(), "is taken by another magpie (pid ")
	}
	if ready != 1 || told != n-1 {
		t.Errorf("%d are ready, %d tell of another", ready, told)
	}
	for _, s := range all {
		s.send(syscall.SIGTERM)
	}
	if code := <-ends; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
