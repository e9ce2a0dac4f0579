package term

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"dev.magpie/tui/canvas"
)

// A terminal that knows these shows what is between them as one picture; others drop them.
const (
	syncBegin = "\x1b[?2026h"
	syncEnd   = "\x1b[?2026l"
)

// Output is the one way to the terminal: frames, title and clipboard take turns on it, so that none
// tears another. It is a file as the terminal library wants one, for size and raw mode.
type Output struct {
	f     *os.File
	facts Facts
	sync  bool

	mu     sync.Mutex
	buf    []byte
	title  string
	titled bool
}

// NewOutput makes the way to a terminal. setting says whether frames are drawn as one picture: on, off, or
// auto, which leaves it to tmux and screen where they are in between.
func NewOutput(f *os.File, facts Facts, setting string) *Output {
	whole := setting == "on" || setting != "off" && !facts.Tmux && !facts.Screen && !facts.plain()
	return &Output{f: f, facts: facts, sync: whole}
}

// Write writes a frame.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.sync || len(p) == 0 {
		return o.f.Write(p)
	}
	o.buf = append(o.buf[:0], syncBegin...)
	o.buf = append(o.buf, p...)
	o.buf = append(o.buf, syncEnd...)
	n, err := o.f.Write(o.buf)
	return min(max(n-len(syncBegin), 0), len(p)), err
}

// WriteString writes what is no frame: modes, cursor, title.
func (o *Output) WriteString(s string) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.f.WriteString(s)
}

// Read reads from the terminal.
func (o *Output) Read(p []byte) (int, error) { return o.f.Read(p) }

// Close does nothing: whoever opened the file closes it.
func (*Output) Close() error { return nil }

// Fd is the terminal's descriptor.
func (o *Output) Fd() uintptr { return o.f.Fd() }

// maxTitle bounds a title in cells.
const maxTitle = 120

// Title sets the terminal's title, when it changes. The first time it asks the terminal to keep the one
// before.
func (o *Output) Title(s string) error {
	if o.facts.plain() {
		return nil
	}
	s = canvas.Unicode().Cut(s, maxTitle)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.titled && s == o.title {
		return nil
	}
	var b strings.Builder
	if !o.titled {
		b.WriteString("\x1b[22;0t")
	}
	fmt.Fprintf(&b, "\x1b]2;%s\x1b\\", s)
	o.title, o.titled = s, true
	if _, err := o.f.WriteString(b.String()); err != nil {
		return fmt.Errorf("set the title: %w", err)
	}
	return nil
}

// Restore gives the terminal its old title back; one that kept none gets an empty one.
func (o *Output) Restore() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.titled {
		return nil
	}
	o.titled = false
	if _, err := o.f.WriteString("\x1b]2;\x1b\\\x1b[23;0t"); err != nil {
		return fmt.Errorf("restore the title: %w", err)
	}
	return nil
}
