//go:build unix

package tui

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
)

// terminalUnderTest is a real terminal with a screen on it.
type terminalUnderTest struct {
	t         *testing.T
	far, near *os.File // the emulator's end, the screen's end
	ended     chan Result
	was       *term.State // the terminal's modes before

	mu   sync.Mutex
	seen bytes.Buffer
	came chan struct{}
}

// startScreen runs a screen on a terminal of a size.
func startScreen(t *testing.T, g Gateway, rows, cols uint16, edit func(*Options)) *terminalUnderTest {
	t.Helper()
	far, near, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(far, &pty.Winsize{Rows: rows, Cols: cols}); err != nil {
		t.Fatal(err)
	}
	far = closable(t, far)
	u := &terminalUnderTest{t: t, far: far, near: near, ended: make(chan Result, 1), came: make(chan struct{}, 1)}
	if u.was, err = term.GetState(near.Fd()); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 1<<16)
		for {
			n, err := far.Read(buf)
			u.mu.Lock()
			u.seen.Write(buf[:n])
			u.mu.Unlock()
			select {
			case u.came <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	o := Options{
		Listen: "127.0.0.1:3425", Input: near, Output: near, Screen: config.Screen{Glyphs: "unicode"},
		Env:  func(k string) string { return map[string]string{"TERM": "tmux-256color", "TMUX": "x"}[k] },
		Look: Look{Ask: func() (bool, bool) { return true, true }},
	}
	if edit != nil {
		edit(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		r, err := Run(ctx, g, o)
		if err != nil {
			t.Error(err)
		}
		u.ended <- r
	}()
	t.Cleanup(func() {
		cancel()
		_ = far.Close()
		<-read
	})
	return u
}

// closable gives a file that can be closed while it is being read.
func closable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	return os.NewFile(uintptr(fd), "terminal")
}

func (u *terminalUnderTest) text() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen.String()
}

func (u *terminalUnderTest) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seen.Reset()
}

// wait waits until the terminal was sent a text.
func (u *terminalUnderTest) wait(text string) {
	u.t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(u.text(), text) {
		select {
		case <-u.came:
		case <-deadline:
			u.t.Fatalf("the screen never showed %q; it sent:\n%q", text, u.text())
		}
	}
}

func (u *terminalUnderTest) typed(keys string) {
	u.t.Helper()
	if _, err := u.far.WriteString(keys); err != nil {
		u.t.Fatal(err)
	}
}

func (u *terminalUnderTest) result() Result {
	u.t.Helper()
	select {
	case r := <-u.ended:
		return r
	case <-time.After(time.Minute):
		u.t.Fatal("the screen did not end")
		return Result{}
	}
}

// idleView is a gateway at rest: nothing on the screen counts in seconds.
func idleView() trace.View {
	now := time.Now()
	v := sceneView()
	v.Status.Started = now.Add(-10 * time.Second)
	v.Status.Today.Day = now.Format(time.DateOnly)
	v.Logs, v.Routes = nil, nil
	for i := range v.Status.Accounts {
		a := &v.Status.Accounts[i]
		a.State, a.Rest, a.Windows, a.Paused, a.InFlight = trace.Fine, nil, nil, nil, 0
	}
	return v
}

func TestAnIdleScreenWritesNothingAfterItsFirstSecond(t *testing.T) {
	u := startScreen(t, newFake(idleView()), 24, 80, nil)
	u.wait("work-max")
	<-time.After(time.Second)
	wrote := "its first frames"
	for try := 0; wrote != "" && try < 10; try++ { // where the machine is busy, the first second is a long one
		u.forget()
		<-time.After(2 * time.Second)
		wrote = u.text()
	}
	if wrote != "" {
		t.Errorf("an idle screen wrote %d bytes: %q", len(wrote), wrote)
	}
	u.typed("qQ")
	if r := u.result(); r.Exit != ExitQuit {
		t.Errorf("it ended with %v", r.Exit)
	}
}

func TestCtrlZSaysWhyItDoesNotSuspend(t *testing.T) {
	u := startScreen(t, newFake(idleView()), 24, 80, nil)
	u.wait("work-max")
	u.typed("\x1a")
	u.wait("suspending would freeze the gateway for every agent")
	u.typed("?")
	u.wait("everywhere")
	u.typed("q\x03\x03")
	if r := u.result(); r.Exit != ExitQuit {
		t.Errorf("it ended with %v", r.Exit)
	}
}

// TestTheTerminalIsGivenBack ends a screen in every way and looks at what the terminal is left with.
func TestTheTerminalIsGivenBack(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(*terminalUnderTest, *fakeGateway, chan struct{}, context.CancelFunc)
		want Exit
	}{
		{"a key", func(u *terminalUnderTest, _ *fakeGateway, _ chan struct{}, _ context.CancelFunc) { u.typed("q") }, ExitQuit},
		{"a hangup", func(_ *terminalUnderTest, _ *fakeGateway, h chan struct{}, _ context.CancelFunc) { close(h) }, ExitHangup},
		{"a panic in a command", func(u *terminalUnderTest, g *fakeGateway, _ chan struct{}, _ context.CancelFunc) {
			u.typed("1w")
		}, ExitPanic},
		{"the end of the context", func(_ *terminalUnderTest, _ *fakeGateway, _ chan struct{}, stop context.CancelFunc) { stop() }, ExitStop},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := idleView()
			rest := &trace.Rest{Why: trace.Rate, Until: time.Now().Add(time.Hour)}
			v.Status.Accounts[0].State, v.Status.Accounts[0].Rest = trace.Resting, rest
			g := newFake(v)
			g.do = func(control.Command, control.Token) (control.Done, error) { panic("a hole in the roof") }
			hangup := make(chan struct{})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var reported []byte
			u := startScreen(t, stoppable{g, ctx}, 24, 80, func(o *Options) {
				o.Hangup = hangup
				o.Crash = func(stack []byte) (string, error) { reported = stack; return "crash-1.txt", nil }
			})
			u.wait("work-max")
			u.wait("\x1b]2;magpie")
			tc.end(u, g, hangup, stop)
			r := u.result()
			if r.Exit != tc.want {
				t.Errorf("it ended with %v, want %v", r.Exit, tc.want)
			}
			u.wait("\x1b[23;0t") // the title, which goes last
			got := u.text()
			for what, seq := range map[string]string{"the cursor": "\x1b[?25h", "the paste mode": "\x1b[?2004l", "the title": "\x1b[23;0t"} {
				if strings.LastIndex(got, seq) < 0 {
					t.Errorf("%s is not given back", what)
				}
			}
			if tail := got[strings.LastIndex(got, "\x1b[?1049l"):]; strings.Contains(tail, "accounts") {
				t.Errorf("a frame was drawn after the screen was given back: %q", tail)
			}
			is, err := term.GetState(u.near.Fd())
			if err != nil {
				t.Fatal(err)
			}
			if *u.was != *is && tc.want != ExitHangup {
				t.Error("the terminal's modes are not as they were")
			}
			if tc.want == ExitPanic && (r.Report != "crash-1.txt" || !bytes.Contains(reported, []byte("a hole in the roof")) || !bytes.Contains(reported, []byte("pty_test.go"))) {
				t.Errorf("the report is %q in %q", reported, r.Report)
			}
		})
	}
}

// stoppable is a gateway whose feed ends with a context.
type stoppable struct {
	*fakeGateway
	ctx context.Context
}

func (s stoppable) Watch(context.Context) (trace.View, trace.Feed, error) { return s.bus.Watch(s.ctx) }

func TestATerminalThatIsClosedEndsTheScreenAlone(t *testing.T) {
	u := startScreen(t, newFake(idleView()), 24, 80, nil)
	u.wait("work-max")
	if err := u.far.Close(); err != nil {
		t.Fatal(err)
	}
	if r := u.result(); r.Exit != ExitHangup {
		t.Errorf("it ended with %v, want hangup", r.Exit)
	}
}

func TestAFloodOfEventsLeavesTheScreenRight(t *testing.T) {
	g := newFake(idleView())
	u := startScreen(t, g, 24, 80, nil)
	u.wait("work-max")
	for i := range 40_000 {
		r := liveRoute(int64(100 + i/20))
		r.Tokens.Output = int64(i)
		if i%20 == 19 {
			r.Done, r.Status = true, 200
		}
		g.bus.Publish(r)
	}
	last := liveRoute(9_999)
	last.Agent = "lastone"
	g.bus.Publish(last)
	u.wait("lastone")
	u.wait("behind ")
	u.typed("\x03\x03")
	if r := u.result(); r.Exit != ExitQuit {
		t.Errorf("it ended with %v", r.Exit)
	}
}
