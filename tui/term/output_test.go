package term

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	xterm "github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
)

var modern = Facts{Term: "xterm-256color"}

// The terminal library finds the terminal behind these only if they are files in its sense.
var (
	_ xterm.File        = (*Output)(nil)
	_ xterm.File        = (*Input)(nil)
	_ cancelreader.File = (*Input)(nil)
)

// written gives an output whose bytes can be read once done is called.
func written(t *testing.T, facts Facts, setting string) (o *Output, done func() string) {
	t.Helper()
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return NewOutput(f, facts, setting), func() string {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

func TestFramesAreDrawnAsOnePictureWhereThatHelps(t *testing.T) {
	for _, c := range []struct {
		name    string
		facts   Facts
		setting string
		whole   bool
	}{
		{"a modern terminal", modern, "auto", true},
		{"nothing set", modern, "", true},
		{"inside tmux", Facts{Term: "tmux-256color", Tmux: true}, "auto", false},
		{"inside screen", Facts{Term: "screen", Screen: true}, "auto", false},
		{"inside tmux, wished", Facts{Term: "tmux-256color", Tmux: true}, "on", true},
		{"not wished", modern, "off", false},
		{"a console", Facts{Term: "linux"}, "auto", false},
		{"a dumb one", Facts{Term: "dumb"}, "auto", false},
	} {
		o, done := written(t, c.facts, c.setting)
		if n, err := o.Write([]byte("frame")); n != 5 || err != nil {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
		if n, err := io.WriteString(o, "\x1b[?25l"); n != 6 || err != nil {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
		if _, err := o.Write(nil); err != nil {
			t.Error(err)
		}
		want := "frame\x1b[?25l"
		if c.whole {
			want = "\x1b[?2026hframe\x1b[?2026l\x1b[?25l"
		}
		if got := done(); got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

func TestAFailedWriteTellsHowMuchOfTheFrameWent(t *testing.T) {
	o, _ := written(t, modern, "on")
	if err := o.f.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := o.Write([]byte("frame")); n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := o.Title("x"); err == nil {
		t.Error("a title goes to a closed file")
	}
	if err := o.Restore(); err == nil {
		t.Error("a title is restored on a closed file")
	}
}

func TestTheTitleIsWrittenOnlyWhenItChangesAndGivenBack(t *testing.T) {
	o, done := written(t, modern, "off")
	for _, s := range []string{"magpie ✓ 2 live", "magpie ✓ 2 live", "magpie ! home-pro\x1b]0;evil\a 93%\n"} {
		if err := o.Title(s); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := o.Restore(); err != nil {
			t.Fatal(err)
		}
	}
	want := "\x1b[22;0t\x1b]2;magpie ✓ 2 live\x1b\\\x1b]2;magpie ! home-pro 93% \x1b\\\x1b]2;\x1b\\\x1b[23;0t"
	if got := done(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestATerminalThatWouldPrintATitleGetsNone(t *testing.T) {
	for _, name := range []string{"", "dumb", "linux", "vt100"} {
		o, done := written(t, Facts{Term: name}, "auto")
		if err := o.Title("x"); err != nil {
			t.Fatal(err)
		}
		if err := o.Restore(); err != nil {
			t.Fatal(err)
		}
		if got := done(); got != "" {
			t.Errorf("%q gets %q", name, got)
		}
	}
}

func TestNothingTearsAFrameConcurrentSafe(t *testing.T) {
	o, done := written(t, modern, "on")
	var wg sync.WaitGroup
	frame := []byte(strings.Repeat("f", 300))
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				switch i % 3 {
				case 0:
					_, _ = o.Write(frame)
				case 1:
					_, _ = o.WriteString("\x1b[?25l")
				case 2:
					_ = o.Title(strings.Repeat("t", i+1))
				}
			}
		})
	}
	wg.Wait()
	got := done()
	whole := syncBegin + string(frame) + syncEnd
	if n := strings.Count(got, whole); n != 150 || strings.Count(got, "f") != 150*300 {
		t.Errorf("%d whole frames of 150", n)
	}
}

func TestTheFilesBehindStayOpen(t *testing.T) {
	o, _ := written(t, modern, "off")
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("x")); err != nil {
		t.Errorf("after Close: %v", err)
	}
	if o.Fd() != o.f.Fd() {
		t.Error("another descriptor")
	}
	in := NewInput(o.f, Answer{}, nil)
	if err := in.Close(); err != nil || in.Name() != o.f.Name() || in.Fd() != o.Fd() {
		t.Error("the input is another file")
	}
	if _, err := in.Write([]byte("x")); err != nil {
		t.Error(err)
	}
}

func TestInputWithoutAQuestionReadsAsItComes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct {
		asked Answer
		want  string
	}{{Answer{}, lightReply + "j"}, {Answer{Open: true}, "j"}} {
		in := NewInput(r, c.asked, nil)
		if _, err := w.WriteString(lightReply + "j"); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 256)
		if n, err := in.Read(buf); err != nil || string(buf[:n]) != c.want {
			t.Errorf("%q, %v", buf[:n], err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := NewInput(r, Answer{Open: true}, nil).Read(make([]byte, 9)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

func TestWhatWasKeptBackIsNotLostForWantOfRoom(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const typed = "\x1b]11;x\x01yz"
	if _, err := w.WriteString(typed); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in := NewInput(r, Answer{Open: true}, nil)
	var got []byte
	buf := make([]byte, 1)
	for {
		n, err := in.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			break
		}
	}
	if string(got) != typed {
		t.Errorf("%q, want %q", got, typed)
	}
}

func TestTheEnvironmentTellsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want Facts
	}{
		{"nothing", nil, Facts{}},
		{"a desk", map[string]string{"TERM": "xterm-kitty", "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}, Facts{Term: "xterm-kitty", Wayland: true, X11: true}},
		{"over SSH", map[string]string{"SSH_CONNECTION": "a b c d"}, Facts{SSH: true}},
		{"over SSH, told otherwise", map[string]string{"SSH_TTY": "/dev/pts/1"}, Facts{SSH: true}},
		{"in tmux", map[string]string{"TERM": "tmux-256color", "TMUX": "socket,1,0"}, Facts{Term: "tmux-256color", Tmux: true}},
		{"in screen", map[string]string{"STY": "1.pts"}, Facts{Screen: true}},
	} {
		if got := FactsOf(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
