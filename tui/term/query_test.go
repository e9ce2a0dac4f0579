//go:build unix

package term

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// terminal answers questions as a terminal does: it reads until the question is whole, then sends.
func terminal(t *testing.T, answer string) *os.File {
	t.Helper()
	far, near, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	go func() {
		var seen []byte
		buf := make([]byte, 256)
		for !strings.Contains(string(seen), question) {
			n, err := far.Read(buf)
			if err != nil {
				return
			}
			seen = append(seen, buf[:n]...)
		}
		_, _ = far.WriteString(answer)
	}()
	return near
}

func TestTheTerminalIsAskedForItsBackground(t *testing.T) {
	const long = time.Minute // more than any answer takes here
	for _, c := range []struct {
		name, answer string
		want         Answer
	}{
		{"light", lightReply + kindReply, Answer{OK: true}},
		{"dark", "\x1b]11;rgb:1e1e/1e1e/2e2e\a" + kindReply, Answer{Dark: true, OK: true}},
		{"typed ahead", "jj" + lightReply + "q" + kindReply, Answer{OK: true}},
		{"it does not know the question", kindReply, Answer{Open: true}},
		{"an answer that cannot be read", "\x1b]11;?\x1b\\" + kindReply, Answer{}},
	} {
		tty := terminal(t, c.answer)
		before := state(t, tty)
		start := time.Now()
		got := Background(tty, tty, modern, long)
		if d := time.Since(start); d >= long {
			t.Errorf("%s: it waited %v", c.name, d)
		}
		got.rest = replies{}
		if got.OK != c.want.OK || got.Dark != c.want.Dark || got.Open != c.want.Open {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if after := state(t, tty); after != before {
			t.Errorf("%s: the terminal is left in another mode", c.name)
		}
	}
}

func state(t *testing.T, tty *os.File) term.State {
	t.Helper()
	s, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

func TestATerminalThatDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	far, near, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	defer near.Close()
	start := time.Now()
	got := Background(near, near, modern, 20*time.Millisecond)
	if d := time.Since(start); d > 30*time.Second || d < 20*time.Millisecond {
		t.Errorf("it waited %v", d)
	}
	if got.OK || !got.Open {
		t.Errorf("%+v", got)
	}
	// Then it answers after all, when the keys are read: nothing of it is typed.
	if _, err := far.WriteString(lightReply + kindReply + "q\n"); err != nil {
		t.Fatal(err)
	}
	told := make(chan bool, 1)
	in := NewInput(near, got, func(dark bool) { told <- dark })
	var typed string
	buf := make([]byte, 256)
	for !strings.Contains(typed, "q") {
		n, err := in.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		typed += string(buf[:n])
	}
	if typed != "q\n" || <-told {
		t.Errorf("typed %q", typed)
	}
}

func TestNobodyIsAskedWhereNobodyCanAnswer(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	tty := terminal(t, lightReply+kindReply)
	for name, got := range map[string]Answer{
		"input is a pipe":  Background(r, tty, modern, time.Second),
		"output is a pipe": Background(tty, w, modern, time.Second),
		"a dumb terminal":  Background(tty, tty, Facts{Term: "dumb"}, time.Second),
		"a console":        Background(tty, tty, Facts{Term: "linux"}, time.Second),
	} {
		if got.OK || got.Open {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
