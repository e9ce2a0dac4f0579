package term

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
)

// tools are programs that are there, some of which fail.
type tools struct {
	there, broken []string
	ran           []string
	text          string
}

func (p *tools) Has(name string) bool { return slices.Contains(p.there, name) }

func (p *tools) Run(_ context.Context, text string, argv []string) error {
	p.ran = append(p.ran, strings.Join(argv, " "))
	if slices.Contains(p.broken, argv[0]) {
		return errors.New("broken")
	}
	p.text = text
	return nil
}

func TestTheClipboardIsReachedByTheFirstWayThatWorks(t *testing.T) {
	const terminal = "sent to the terminal; if it did not arrive, allow OSC 52"
	seq := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("c02e")) + "\a"
	for _, c := range []struct {
		name          string
		facts         Facts
		there, broken []string
		how           string
		ran           []string
		sent          string
	}{
		{"a Mac", modern, []string{"pbcopy", "tmux"}, nil, "copied with pbcopy", []string{"pbcopy"}, ""},
		{"Wayland", Facts{Term: "foot", Wayland: true, X11: true}, []string{"wl-copy", "xclip"}, nil, "copied with wl-copy", []string{"wl-copy"}, ""},
		{"Wayland without its program", Facts{Term: "foot", Wayland: true, X11: true}, []string{"xclip"}, nil, "copied with xclip", []string{"xclip -selection clipboard"}, ""},
		{"X11 by another program", Facts{Term: "xterm", X11: true}, []string{"xsel"}, nil, "copied with xsel", []string{"xsel --clipboard --input"}, ""},
		{"no desk, so its programs are not tried", modern, []string{"wl-copy", "xclip", "xsel"}, nil, terminal, nil, seq},
		{"in tmux", Facts{Term: "tmux", Tmux: true}, []string{"tmux"}, nil, "copied with tmux", []string{"tmux load-buffer -w -"}, ""},
		{"in tmux on a desk", Facts{Term: "tmux", Tmux: true, X11: true}, []string{"tmux", "xclip"}, nil, "copied with xclip", []string{"xclip -selection clipboard"}, ""},
		{"over SSH the far desk is not the person's", Facts{Term: "xterm", SSH: true, X11: true}, []string{"xclip", "pbcopy"}, nil, terminal, nil, seq},
		{"over SSH in tmux", Facts{Term: "tmux", SSH: true, Tmux: true}, []string{"tmux", "xclip"}, nil, "copied with tmux", []string{"tmux load-buffer -w -"}, ""},
		{"a program that fails", Facts{Term: "xterm", X11: true}, []string{"xclip"}, []string{"xclip"}, terminal, []string{"xclip -selection clipboard"}, seq},
		{"an old tmux", Facts{Term: "tmux", Tmux: true}, []string{"tmux"}, []string{"tmux"}, terminal, []string{"tmux load-buffer -w -"}, "\x1bPtmux;\x1b" + seq + "\x1b\\"},
		{"in screen", Facts{Term: "screen", Screen: true}, nil, nil, terminal, nil, "\x1bP" + seq + "\x1b\\"},
	} {
		o, done := written(t, c.facts, "off")
		p := &tools{there: c.there, broken: c.broken}
		how, err := Clipboard{Out: o, Facts: c.facts, Tools: p}.Copy(t.Context(), "c02e")
		if err != nil || how != c.how || !slices.Equal(p.ran, c.ran) || done() != c.sent {
			t.Errorf("%s: %q, %v, ran %q, sent %q; want %q, %q, %q", c.name, how, err, p.ran, done(), c.how, c.ran, c.sent)
		}
		if c.sent == "" && p.text != "c02e" {
			t.Errorf("%s: the program got %q", c.name, p.text)
		}
	}
}

func TestTheTerminalsClipboardHasALimit(t *testing.T) {
	o, done := written(t, modern, "off")
	c := Clipboard{Out: o, Facts: modern, Tools: &tools{}}
	if _, err := c.Copy(t.Context(), strings.Repeat("x", 56246)); !errors.Is(err, ErrTooLong) || done() != "" {
		t.Errorf("%v, %d bytes sent", err, len(done()))
	}
	if _, err := c.Copy(t.Context(), strings.Repeat("x", 56244)); err != nil {
		t.Error(err)
	}
	if _, err := (Clipboard{Facts: modern, Tools: &tools{}}).Copy(t.Context(), "x"); err == nil {
		t.Error("without a terminal it went somewhere")
	}
	if _, err := (Clipboard{Out: o, Facts: Facts{Term: "linux"}, Tools: &tools{}}).Copy(t.Context(), "x"); err == nil {
		t.Error("a console has no clipboard")
	}
}
