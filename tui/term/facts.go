// Package term is the terminal beside the frames: what it is, what its background is,
// the one way out to it, its title and its clipboard.
package term

import "strings"

// Facts are what the environment says of the terminal.
type Facts struct {
	Term    string // TERM
	SSH     bool   // it is at the other end of a network
	Tmux    bool
	Screen  bool // GNU screen
	Wayland bool
	X11     bool
}

// FactsOf reads the environment.
func FactsOf(env func(string) string) Facts {
	one := func(names ...string) bool {
		for _, n := range names {
			if env(n) != "" {
				return true
			}
		}
		return false
	}
	return Facts{
		Term:    env("TERM"),
		SSH:     one("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"),
		Tmux:    one("TMUX"),
		Screen:  one("STY"),
		Wayland: one("WAYLAND_DISPLAY"),
		X11:     one("DISPLAY"),
	}
}

// plain reports whether the terminal prints sequences that it does not know instead of dropping them.
func (f Facts) plain() bool {
	return f.Term == "" || f.Term == "dumb" || f.Term == "linux" || strings.HasPrefix(f.Term, "vt")
}
