//go:build unix

package codex_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dev.magpie/provider/vendors/codex"
)

// asProcess has the test's binary be a process that holds a sign-in.
const asProcess = "CODEX_TEST_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(asProcess); home != "" {
		os.Exit(hold(home, os.Getenv("CODEX_TEST_URL"), os.Getenv("CODEX_TEST_ROOM")))
	}
	os.Exit(m.Run())
}

// hold waits for a word, asks for a token, and prints it.
func hold(home, url, room string) int {
	if room != "" { // files may grow no larger
		var n uint64
		_, _ = fmt.Sscan(room, &n)
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println("ready")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	h := &codex.Holder{Home: home, URL: url, Do: http.DefaultClient.Do}
	t, err := h.Tokens(context.Background(), time.Now())
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println(t.Access)
	return 0
}

// process is one that holds a sign-in.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	say   io.WriteCloser
	lines *bufio.Scanner
}

func startProcess(t *testing.T, home, url, room string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), asProcess+"="+home, "CODEX_TEST_URL="+url, "CODEX_TEST_ROOM="+room)
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.say, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	p.lines = bufio.NewScanner(out)
	if got := p.line(); got != "ready" {
		t.Fatalf("it says %q", got)
	}
	return p
}

func (p *process) line() string {
	if !p.lines.Scan() {
		return ""
	}
	return p.lines.Text()
}

func (p *process) begin() { _, _ = io.WriteString(p.say, "go\n") }

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// tokenServer is the vendor for processes; asked, where it is not nil, holds up each answer.
func tokenServer(t *testing.T, i *issuer, asked chan struct{}) string {
	t.Helper()
	end := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked != nil {
			select {
			case asked <- struct{}{}:
			case <-end:
			}
			select {
			case <-r.Context().Done():
			case <-end:
			}
			return
		}
		resp, err := i.do(r)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(end) })
	return srv.URL
}

func TestManyProcessesSpendOneRefreshToken(t *testing.T) {
	i := &issuer{good: "refresh-0", slow: 50 * time.Millisecond, ends: time.Now().Add(4 * time.Minute)} // they never last
	home := signIn(t, time.Now())
	linked := t.TempDir() // another home with the same sign-in
	if err := os.Symlink(filepath.Join(home, "auth.json"), filepath.Join(linked, "auth.json")); err != nil {
		t.Fatal(err)
	}
	url := tokenServer(t, i, nil)
	var all []*process
	for n := range 6 {
		all = append(all, startProcess(t, []string{home, linked}[n%2], url, ""))
	}
	for _, p := range all {
		p.begin()
	}
	for n, p := range all {
		if got, want := p.line(), access(1, i.ends); got != want {
			t.Errorf("process %d has %s", n, got)
		}
	}
	if i.asked() != 1 || !strings.Contains(read(t, home), "refresh-1") {
		t.Errorf("asked %d times; the file holds %s", i.asked(), read(t, home))
	}
}

func TestAProcessKilledInTheMiddleOfARenewalLosesNothing(t *testing.T) {
	home := signIn(t, time.Now())
	before := read(t, home)
	asked := make(chan struct{})
	p := startProcess(t, home, tokenServer(t, nil, asked), "")
	p.begin()
	<-asked
	p.kill()
	if read(t, home) != before {
		t.Errorf("the file is another: %s", read(t, home))
	}
	i := &issuer{good: "refresh-0", ends: time.Now().Add(time.Hour)}
	next := startProcess(t, home, tokenServer(t, i, nil), "")
	next.begin()
	if got := next.line(); got != access(1, i.ends) {
		t.Errorf("the next process has %q", got)
	}
	onlySignIn(t, home)
}

func TestADiskThatIsFullIsMetBeforeATokenIsSpent(t *testing.T) {
	i := &issuer{good: "refresh-0", ends: time.Now().Add(time.Hour)}
	home := signIn(t, time.Now())
	before := read(t, home)
	url := tokenServer(t, i, nil)
	p := startProcess(t, home, url, "4096")
	p.begin()
	if got := p.line(); !strings.Contains(got, "could not be written") || strings.Contains(got, home) || i.asked() != 0 || read(t, home) != before {
		t.Errorf("%s; asked %d times", got, i.asked())
	}
	onlySignIn(t, home)
	next := startProcess(t, home, url, "")
	next.begin()
	if got := next.line(); got != access(1, i.ends) {
		t.Errorf("with room again: %s", got)
	}
}

func onlySignIn(t *testing.T, home string) {
	t.Helper()
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// A renewal that was cut off once it had written the file, and before that was in its place.
func TestATokenThatWasWrittenAndNotPutInItsPlaceIsAdopted(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(whole string) string
		adopted bool
	}{
		"whole":               {func(s string) string { return s }, true},
		"of another account":  {func(s string) string { return strings.ReplaceAll(s, "acct-1", "acct-2") }, false},
		"older than the file": {func(s string) string { return strings.Replace(s, "2026-03-04T", "2026-02-04T", 1) }, false},
		"cut":                 {func(s string) string { return s[:len(s)/2] }, false},
		"not written yet":     {func(s string) string { return string(make([]byte, len(s))) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			i := &issuer{good: "refresh-0"}
			home := signIn(t, now)
			before := read(t, home)
			if _, err := holder(home, i).Tokens(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			whole := read(t, home)
			write(t, home, before)
			if err := os.WriteFile(filepath.Join(home, ".auth-123.json"), []byte(c.change(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			i = &issuer{good: "refresh-0", n: 6}
			if c.adopted {
				i.good = "refresh-1" // the other is spent
			}
			tok, err := holder(home, i).Tokens(t.Context(), now)
			if err != nil || (tok.Access == access(1, now.Add(time.Hour))) != c.adopted || (i.asked() == 0) != c.adopted {
				t.Errorf("%v, asked %d times, %+v", err, i.asked(), tok)
			}
			onlySignIn(t, home)
		})
	}
}

func TestWhoWantsATokenMayLeaveAndTheNewOneIsNotLost(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	home := signIn(t, now)
	leaving, leave := context.WithCancel(t.Context())
	h := holder(home, i)
	h.Do = func(req *http.Request) (*http.Response, error) {
		leave() // the vendor has the token by now
		if err := req.Context().Err(); err != nil {
			return nil, err
		}
		return i.do(req)
	}
	_, _ = h.Tokens(leaving, now)
	if !strings.Contains(read(t, home), "refresh-1") {
		t.Errorf("the file holds %s", read(t, home))
	}
}

func TestWhoLeavesWhileAnotherRenewsPutsNobodyOff(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	home := signIn(t, now)
	dir, err := os.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	leaving, leave := context.WithCancel(t.Context())
	leave()
	h := holder(home, i)
	if _, err := h.Tokens(leaving, now); err == nil {
		t.Error("it has a token")
	}
	_ = dir.Close()
	if _, err := h.Tokens(t.Context(), now); err != nil {
		t.Errorf("who comes next: %v", err)
	}
}

func TestALapsedSignInDoesNotComeBackByItself(t *testing.T) {
	i := &issuer{status: http.StatusUnauthorized}
	home := signIn(t, now.Add(time.Hour))
	h := holder(home, i)
	good, err := h.Tokens(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := h.Refused(t.Context(), good.Access, now); !errors.Is(err, codex.ErrLapsed) {
			t.Errorf("turned away: %v", err)
		}
		if _, err := h.Tokens(t.Context(), now.Add(time.Minute)); !errors.Is(err, codex.ErrLapsed) {
			t.Errorf("its token is good for an hour as far as that says, and the vendor said no: %v", err)
		}
	}
	if i.asked() != 1 {
		t.Errorf("asked %d times", i.asked())
	}
}

func TestAPageInTheWayLapsesNothing(t *testing.T) {
	h := holder(signIn(t, now), nil)
	h.Do = func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusBadRequest, Body: io.NopCloser(strings.NewReader(" \n<html><title>Sign in to the network</title>"))}, nil
	}
	if _, err := h.Tokens(t.Context(), now); err == nil || errors.Is(err, codex.ErrLapsed) {
		t.Errorf("%v", err)
	}
}

func TestAFileLargerThanTokensHasRoomToo(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	home := signIn(t, now)
	large := strings.Replace(read(t, home), `"auth_mode"`, `"mine": "`+strings.Repeat("x", 100<<10)+`", "auth_mode"`, 1)
	write(t, home, large)
	if _, err := holder(home, i).Tokens(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	got := read(t, home)
	if !json.Valid([]byte(got)) || !strings.Contains(got, strings.Repeat("x", 100<<10)) || !strings.Contains(got, "refresh-1") {
		t.Errorf("%d bytes", len(got))
	}
}
