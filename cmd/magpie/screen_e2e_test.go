//go:build e2e

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	xterm "github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"dev.magpie/gateway/standin"
)

// terminal is the program in a terminal of its own.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File // kept open, to look at how the terminal is set
	before *xterm.State
	out    *buffer
	ended  chan error
}

// inTerminal starts magpie on a terminal. Its stderr is the terminal too, as in a shell.
func inTerminal(t *testing.T, home string, args ...string) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	before, err := xterm.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, master: master, slave: slave, before: before, out: &buffer{}, ended: make(chan error, 1), cmd: exec.Command(binary, args...)}
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.Env = []string{"MAGPIE_HOME=" + home, "HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "COLORFGBG=15;0"}
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(x.out, master) }() // until the terminal is gone
	go func() { x.ended <- x.cmd.Wait() }()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = slave.Close()
		_ = master.Close()
	})
	return x
}

func (x *terminal) shows(what string) {
	x.t.Helper()
	defer func() {
		if x.t.Failed() {
			x.t.Logf("the terminal got %q", x.out.String())
		}
	}()
	eventually(x.t, "showed "+what, func() bool { return strings.Contains(x.out.String(), what) })
}

func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

func (x *terminal) wait() int {
	x.t.Helper()
	select {
	case <-x.ended:
		return x.cmd.ProcessState.ExitCode()
	case <-time.After(long):
		x.t.Fatalf("it never ended: %q", x.out.String())
		return -1
	}
}

// restored says that the terminal is as it was before.
func (x *terminal) restored() {
	x.t.Helper()
	after, err := xterm.GetState(x.slave.Fd())
	if err != nil || *after != *x.before {
		x.t.Errorf("the terminal is set differently: %v", err)
	}
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?1003h": "\x1b[?1003l"} {
		eventually(x.t, fmt.Sprintf("took back %q", on), func() bool { // what was written to a terminal comes out of it in its own time
			out := x.out.String()
			i := strings.LastIndex(out, on)
			return i < 0 || strings.LastIndex(out, off) > i
		})
	}
}

// cpu is the processor time that the process took so far.
func (x *terminal) cpu() time.Duration {
	x.t.Helper()
	return cpuOf(x.t, x.cmd.Process.Pid)
}

func cpuOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var ticks time.Duration
	for _, f := range fields[11:13] { // utime, stime in hundredths
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}

// house is a home with one vendor whose streams wait.
func house(t *testing.T, more string) (home, addr string, g *gate) {
	t.Helper()
	home, addr = t.TempDir(), freePort(t)
	g = &gate{vendor: standin.New(standin.Options{Models: []string{"m"}, Text: "this is a reply of some length, and all of it has to arrive"}), opened: make(chan struct{})}
	s := httptest.NewServer(g)
	t.Cleanup(func() {
		g.openOnce()
		s.Close()
	})
	config := "listen = \"" + addr + "\"\n[providers.a]\nmessages = \"" + s.URL + "\"\nkeys = [{ name = \"k\", value = \"" + canary + "\" }]\nmodels = [\"m\"]\n" + more
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, addr, g
}

// stream begins a reply and returns what reads the rest of it.
func stream(t *testing.T, addr string) (rest func() string) {
	t.Helper()
	_, body := doorOf("messages", "a/m", true)
	resp, err := http.Post("http://"+addr+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	first := make([]byte, 16)
	if _, err := io.ReadFull(resp.Body, first); err != nil {
		t.Fatal(err)
	}
	return func() string {
		t.Helper()
		all, err := io.ReadAll(resp.Body)
		if err != nil {
			return string(all) + err.Error()
		}
		return string(all)
	}
}

func whole(t *testing.T, all string) {
	t.Helper()
	if !strings.Contains(all, "event: message_stop") || strings.Contains(all, "event: error") {
		t.Errorf("an agent's stream was cut: %s", all)
	}
}

func TestAClosedTerminalCutsNoStream(t *testing.T) {
	home, addr, g := house(t, "")
	x := inTerminal(t, home)
	x.shows("1 accounts")
	rest := stream(t, addr)
	_ = x.slave.Close()
	_ = x.master.Close() // the kernel tells the program that its terminal is gone
	eventually(t, "went on without a screen", func() bool {
		log, err := os.ReadFile(filepath.Join(home, "state", "magpie.log"))
		return err == nil && strings.Contains(string(log), "goes on without a screen")
	})
	used := time.Hour
	for try := 0; used > 200*time.Millisecond && try < 5; try++ { // it may not be through with what it did before
		before := x.cpu()
		<-time.After(time.Second)
		used = x.cpu() - before
	}
	if used > 200*time.Millisecond {
		t.Errorf("without a terminal it takes %s in a second", used)
	}
	g.openOnce()
	whole(t, rest())
	if s := status(t, addr); s.PID != x.cmd.Process.Pid || s.Totals.Requests != 1 {
		t.Errorf("%+v", s)
	}
	_ = x.cmd.Process.Signal(syscall.SIGTERM)
	if code := x.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAClosedTerminalEndsItWhereThatIsWanted(t *testing.T) {
	home, addr, g := house(t, "[screen]\non_hangup = \"quit\"\n")
	x := inTerminal(t, home)
	x.shows("1 accounts")
	rest := stream(t, addr)
	_ = x.slave.Close()
	_ = x.master.Close()
	eventually(t, "draining", func() bool { return status(t, addr).Draining })
	g.openOnce()
	whole(t, rest())
	if code := x.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestADemoEndsWithItsTerminal(t *testing.T) {
	x := inTerminal(t, t.TempDir(), "tui", "--demo")
	x.shows("1 accounts")
	_ = x.slave.Close()
	_ = x.master.Close()
	if code := x.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestASignalLeavesTheTerminalAsItWasAndCutsNoStream(t *testing.T) {
	home, addr, g := house(t, "")
	x := inTerminal(t, home)
	x.shows("1 accounts")
	rest := stream(t, addr)
	x.types("\x1a") // ctrl+z: nothing stops
	_ = x.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, "draining", func() bool { return status(t, addr).Draining })
	g.openOnce()
	whole(t, rest())
	if code := x.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.restored()
	x.shows("finishing 1 request")
}

func TestQuittingEndsItAndLeavesTheTerminalAsItWas(t *testing.T) {
	home, _, _ := house(t, "")
	x := inTerminal(t, home)
	x.shows("1 accounts")
	x.types("q")
	if code := x.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.restored()
	if out := x.out.String(); strings.Contains(out, canary) {
		t.Error("the key was shown")
	}
}

func TestASecondScreenAttachesAndHurtsNothing(t *testing.T) {
	home, addr, g := house(t, "")
	first := inTerminal(t, home)
	first.shows("1 accounts")
	rest := stream(t, addr)
	second := inTerminal(t, home)
	second.shows("Showing that one.")
	second.shows("attached")
	second.types("q")
	if code := second.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	second.restored()
	g.openOnce()
	whole(t, rest())
	third := inTerminal(t, home, "tui", "--attach", "--read-only")
	third.shows("attached")
	_ = first.cmd.Process.Signal(syscall.SIGTERM)
	if code := first.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	third.shows("lost")
	_ = third.cmd.Process.Signal(syscall.SIGTERM)
	third.wait()
	third.restored()
}

func TestAScreenShowsTheGatewayThatRunsWhileTheConfigIsBad(t *testing.T) {
	home, addr, _ := house(t, "")
	first := inTerminal(t, home)
	first.shows("1 accounts")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("ruting = \"order\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	second := inTerminal(t, home, "--listen", addr)
	second.shows("attached")
	second.shows("did you mean")
	second.types("q")
	if code := second.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	_ = first.cmd.Process.Signal(syscall.SIGTERM)
	first.wait()
	third := inTerminal(t, home, "--listen", addr)
	third.shows("config.toml:1:1")
	if code := third.wait(); code != 2 {
		t.Errorf("with nothing to show: exit code %d", code)
	}
}

func TestTheDemoShowsItselfInTmux(t *testing.T) {
	for _, size := range []struct{ w, h int }{{80, 24}, {46, 30}} {
		t.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("not = [ a config"), 0o600); err != nil {
				t.Fatal(err)
			}
			socket := "magpie-" + filepath.Base(t.TempDir()) + strconv.Itoa(os.Getpid())
			tmux := func(args ...string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), "tmux", append([]string{"-L", socket, "-f", "/dev/null"}, args...)...)
				cmd.Env = []string{"HOME=" + home, "MAGPIE_HOME=" + home, "TERM=screen-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("tmux %v: %v %s", args, err, out)
				}
				return string(out)
			}
			tmux("new-session", "-d", "-s", "demo", "-x", strconv.Itoa(size.w), "-y", strconv.Itoa(size.h), "exec "+binary+" tui --demo")
			pid, err := strconv.Atoi(strings.TrimSpace(tmux("display-message", "-p", "-t", "demo", "#{pane_pid}")))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				_ = exec.Command("tmux", "-L", socket, "kill-server").Run()
			}()
			screen := func() string { return tmux("capture-pane", "-p", "-t", "demo") }
			shows := func(what string) {
				t.Helper()
				re := regexp.MustCompile(what)
				last := ""
				eventually(t, "showed "+what, func() bool {
					last = screen()
					return re.MatchString(last)
				})
			}
			shows("DEMO")
			shows(`work-max`)                // accounts
			shows(`▰▰.* 100%`)               // bars
			shows(`(?m)^.?▸ \d\d:\d\d `)     // a request on its way
			shows(`(?m)^.?[✓↻✗] \d\d:\d\d `) // and one that ended
			first := screen()
			eventually(t, "moved", func() bool { return screen() != first })
			for line := range strings.SplitSeq(strings.TrimRight(screen(), "\n"), "\n") {
				if n := len([]rune(line)); n > size.w {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			tmux("send-keys", "-t", "demo", "Enter")
			shows(`considered`)
			tmux("send-keys", "-t", "demo", "Escape")
			shows(`requests`)
			_ = syscall.Kill(pid, syscall.SIGTERM)
			eventually(t, "ended", func() bool { return syscall.Kill(pid, 0) != nil })
		})
	}
}
