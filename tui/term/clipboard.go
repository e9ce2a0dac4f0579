package term

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
)

// Clipboard takes text where the person can paste it from.
type Clipboard struct {
	Out   *Output
	Facts Facts
	Tools Tools // nil = those of this machine
}

// Tools are the programs that hold a clipboard.
type Tools interface {
	// Has reports whether a program is there.
	Has(name string) bool
	// Run gives a program the text on its input.
	Run(ctx context.Context, text string, argv []string) error
}

// ErrTooLong says that the text is longer than a terminal takes.
var ErrTooLong = errors.New("it is too long for the terminal's clipboard")

const (
	// maxEncoded is how much terminals take of a clipboard at once, encoded.
	maxEncoded = 74994
	// toolTime is how long a program may take.
	toolTime = 2 * time.Second
)

// Copy takes text to the clipboard and says by which way it went. On this machine a program does it; in tmux,
// tmux; else the terminal is asked to, which cannot be checked.
func (c Clipboard) Copy(ctx context.Context, text string) (how string, err error) {
	tools := c.Tools
	if tools == nil {
		tools = machine{}
	}
	for _, argv := range c.ways() {
		if tools.Has(argv[0]) && tools.Run(ctx, text, argv) == nil {
			return "copied with " + argv[0], nil
		}
	}
	return c.send(text)
}

// ways are the programs to try, first things first.
func (c Clipboard) ways() [][]string {
	var ways [][]string
	if !c.Facts.SSH {
		ways = append(ways, []string{"pbcopy"})
		if c.Facts.Wayland {
			ways = append(ways, []string{"wl-copy"})
		}
		if c.Facts.X11 {
			ways = append(ways, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
		}
		ways = append(ways, []string{"clip.exe"}, []string{"termux-clipboard-set"})
	}
	if c.Facts.Tmux {
		ways = append(ways, []string{"tmux", "load-buffer", "-w", "-"})
	}
	return ways
}

// send asks the terminal, through what stands in between.
func (c Clipboard) send(text string) (how string, err error) {
	if c.Facts.plain() || c.Out == nil {
		return "", errors.New("there is no clipboard here")
	}
	if (len(text)+2)/3*4 > maxEncoded {
		return "", ErrTooLong
	}
	s := osc52.New(text)
	switch {
	case c.Facts.Tmux:
		s = s.Tmux()
	case c.Facts.Screen:
		s = s.Screen()
	}
	if _, err := c.Out.WriteString(s.String()); err != nil {
		return "", fmt.Errorf("ask the terminal to copy: %w", err)
	}
	return "sent to the terminal; if it did not arrive, allow OSC 52", nil
}

// machine is the programs of this machine.
type machine struct{}

// Has looks a program up.
func (machine) Has(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// Run runs one, bounded in time. Some stay to hold the clipboard, so their output is not waited for.
func (machine) Run(ctx context.Context, text string, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the names are a table of ours
	cmd.Stdin = bytes.NewReader([]byte(text))
	cmd.WaitDelay = toolTime
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", strings.Join(argv, " "), err)
	}
	return nil
}
