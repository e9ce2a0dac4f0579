package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/client"
	"dev.magpie/tui/canvas"
)

var update = flag.Bool("update", false, "write the golden files and the pages that are made")

// buffer is an output that several goroutines may write to.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *buffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b.Reset()
}

// shell is a process in a test: a home of its own, no terminal, a fixed time in a fixed zone.
type shell struct {
	*process
	t        *testing.T
	home     string // MAGPIE_HOME
	stdout   *buffer
	stderr   *buffer
	mu       sync.Mutex
	env      map[string]string
	watching map[chan<- os.Signal][]os.Signal
}

// long is more than anything takes that does end, however busy the machine is.
const long = time.Minute

var noon = time.Date(2026, 11, 29, 14, 2, 0, 0, time.FixedZone("here", 2*3600))

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, home: t.TempDir(), stdout: &buffer{}, stderr: &buffer{}, env: map[string]string{}, watching: map[chan<- os.Signal][]os.Signal{}}
	s.env["MAGPIE_HOME"] = s.home
	s.process = &process{
		in: strings.NewReader(""), out: s.stdout, err: s.stderr, home: filepath.Join(s.home, "person"), zone: noon.Location(),
		now: func() time.Time { return noon }, tty: func() bool { return false }, cells: func() int { return screenWidth },
		probe:     func(ctx context.Context, addr string) (client.Info, error) { return client.ProbeFor(ctx, addr, long) },
		startWait: long,
		getenv: func(name string) string {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.env[name]
		},
		notify: func(c chan<- os.Signal, sig ...os.Signal) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.watching[c] = append(s.watching[c], sig...)
		},
		stop: func(c chan<- os.Signal) {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.watching, c)
		},
	}
	return s
}

// send gives the process a signal, and says whether anyone waits for it.
func (s *shell) send(sig os.Signal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard := false
	for c, sigs := range s.watching {
		if slices.Contains(sigs, sig) {
			heard = true
			select {
			case c <- sig:
			default:
			}
		}
	}
	return heard
}

// run carries out a command line and returns the exit code, with what was printed since the last.
func (s *shell) run(args ...string) (code int, out, errs string) {
	s.t.Helper()
	s.stdout.reset()
	s.stderr.reset()
	s.args = args
	code = run(s.process)
	return code, s.stdout.String(), s.stderr.String()
}

// write makes a file in the home.
func (s *shell) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// canned is a gateway that answers what it was given, and keeps what it was asked.
type canned struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // method, path and query, then the token and the body of changes
}

// newCanned answers "GET /path" and "POST /path" with JSON values; a value that is an int is a status.
func newCanned(t *testing.T, answers map[string]any) *canned {
	t.Helper()
	c := &canned{}
	if answers["GET /"] == nil {
		answers["GET /"] = map[string]any{"name": "magpie", "version": "0.1.0", "pid": 4121}
	}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		line := r.Method + " " + r.URL.RequestURI()
		if r.Method == http.MethodPost {
			line += " " + r.Header.Get("Authorization") + " " + body.String()
		}
		c.mu.Lock()
		c.asked = append(c.asked, line)
		c.mu.Unlock()
		answer, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if status, ok := answer.(int); ok {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *canned) addr() string { return c.Listener.Addr().String() }

// all is what was asked so far.
func (c *canned) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

// last is what was asked last.
func (c *canned) last() string {
	all := c.all()
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// nowhere is an address that nobody listens at: no system gives a port so low away by itself.
const nowhere = "127.0.0.1:1"

// freePort is an address to listen at. Its port is none of those that systems give to connections
// and to whoever asks for any: one of another test could take it in the meantime.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		four, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		six, err := net.Listen("tcp", "[::1]:"+port)
		taken := errors.Is(err, syscall.EADDRINUSE) // a machine may have no such family
		if err == nil {
			_ = six.Close()
		}
		if _ = four.Close(); !taken {
			return four.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// golden compares with a file of testdata; all of it fits 80 columns and holds no control character.
func golden(t *testing.T, name, got string) {
	t.Helper()
	for line := range strings.SplitSeq(got, "\n") {
		if w := canvas.Width(line); w > screenWidth {
			t.Errorf("%s: %d columns: %s", name, w, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%s: a control character in %q", name, line)
		}
	}
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: (-want +got)\n%s", name, d)
	}
}

// eventually waits for a condition against real sockets and files.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(long)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("never %s", what)
		}
	}
}
