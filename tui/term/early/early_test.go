//go:build unix

package early_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"

	_ "dev.magpie/tui/term/early"
)

const child = "MAGPIE_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		_ = tea.Quit // the library whose loading asks the terminal
		fmt.Println("loaded")
		return
	}
	os.Exit(m.Run())
}

// A terminal that answers nothing must not hold up a command: whoever asks it nothing waits for nothing. The child is this very program, with Bubble Tea in it.
func TestAMuteTerminalHoldsUpNothing(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "CI=") && !strings.HasPrefix(e, "TERM=") && !strings.HasPrefix(e, "TMUX") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, child+"=1", "TERM=xterm-256color")
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	var said []byte
	buf := make([]byte, 256)
	for !strings.Contains(string(said), "loaded") {
		n, err := tty.Read(buf)
		if said = append(said, buf[:n]...); err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := string(said); strings.Contains(got, "\x1b") || !strings.Contains(got, "loaded") {
		t.Errorf("the terminal was asked: %q", got)
	}
}
