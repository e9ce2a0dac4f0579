package theme

import (
	"testing"

	"github.com/muesli/termenv"
)

func TestTheFirstWishThatSaysSomethingCounts(t *testing.T) {
	yes := func(dark bool) func() (bool, bool) { return func() (bool, bool) { return dark, true } }
	mute := func() (bool, bool) { return false, false }
	never := func() (bool, bool) { t.Error("the terminal was asked"); return false, false }
	for _, c := range []struct {
		name string
		wish Wish
		ask  func() (bool, bool)
		want string
	}{
		{"the flag beats all", Wish{Flag: "nord", Env: "mono", Name: "contrast"}, never, "nord"},
		{"the environment beats the config", Wish{Env: "nord", Name: "contrast"}, never, "nord"},
		{"the config's name", Wish{Name: "contrast"}, never, "contrast"},
		{"auto asks the terminal: light", Wish{Name: "auto"}, yes(false), "magpie-light"},
		{"auto asks the terminal: dark", Wish{Name: "auto"}, yes(true), "magpie-dark"},
		{"no answer is dark", Wish{Name: "auto"}, mute, "magpie-dark"},
		{"nobody to ask is dark", Wish{}, nil, "magpie-dark"},
		{"the config's pair by background", Wish{Dark: "nord", Light: "gruvbox-light"}, yes(false), "gruvbox-light"},
		{"half a pair", Wish{Dark: "nord"}, yes(false), "magpie-light"},
		{"a pair with auto in it", Wish{Dark: "auto"}, yes(true), "magpie-dark"},
		{"the config's background", Wish{Background: "light", ColorFGBG: "15;0"}, never, "magpie-light"},
		{"a dark background", Wish{Background: "dark", ColorFGBG: "0;15"}, never, "magpie-dark"},
		{"COLORFGBG light", Wish{ColorFGBG: "0;15"}, never, "magpie-light"},
		{"COLORFGBG dark", Wish{ColorFGBG: "15;default;0"}, never, "magpie-dark"},
		{"COLORFGBG grey", Wish{ColorFGBG: "0;7"}, never, "magpie-light"},
		{"COLORFGBG dark grey", Wish{ColorFGBG: "15;8"}, never, "magpie-dark"},
		{"COLORFGBG that says nothing", Wish{ColorFGBG: "15;default"}, yes(false), "magpie-light"},
		{"COLORFGBG that is nonsense", Wish{ColorFGBG: "99"}, yes(false), "magpie-light"},
		{"the flag says auto over a config's name", Wish{Flag: "auto", Name: "nord"}, yes(false), "magpie-light"},
		{"the flag says auto over a config's pair", Wish{Flag: "auto", Dark: "nord", Light: "nord"}, yes(true), "magpie-dark"},
		{"the environment says auto", Wish{Env: "auto", Name: "nord"}, yes(false), "magpie-light"},
		{"no colour beats all", Wish{Flag: "nord", NoColor: true}, never, "mono"},
	} {
		if got := Choose(c.wish, c.ask); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTheDepthIsWhatTheTerminalShows(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     map[string]string
		pipe    bool
		depth   termenv.Profile
		noColor bool
	}{
		{name: "a pipe", env: map[string]string{"TERM": "xterm-256color"}, pipe: true, depth: termenv.Ascii, noColor: true},
		{name: "a dumb terminal", env: map[string]string{"TERM": "dumb"}, depth: termenv.Ascii, noColor: true},
		{name: "no terminal named", env: nil, depth: termenv.Ascii, noColor: true},
		{name: "256 colours", env: map[string]string{"TERM": "xterm-256color"}, depth: termenv.ANSI256},
		{name: "all colours", env: map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, depth: termenv.TrueColor},
		{name: "a console", env: map[string]string{"TERM": "linux"}, depth: termenv.ANSI},
		{name: "plain screen", env: map[string]string{"TERM": "screen"}, depth: termenv.ANSI},
		{name: "an old terminal without colours", env: map[string]string{"TERM": "vt220"}, depth: termenv.ANSI, noColor: true},
		{name: "NO_COLOR keeps attributes", env: map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1"}, depth: termenv.ANSI, noColor: true},
		{name: "NO_COLOR empty counts not", env: map[string]string{"TERM": "xterm-256color", "NO_COLOR": ""}, depth: termenv.ANSI256},
		{name: "CLICOLOR=0", env: map[string]string{"TERM": "xterm-256color", "CLICOLOR": "0"}, depth: termenv.ANSI, noColor: true},
		{name: "CI is no reason", env: map[string]string{"TERM": "xterm-256color", "CI": "1"}, depth: termenv.ANSI256},
	} {
		depth, noColor := Depth(func(k string) string { return c.env[k] }, !c.pipe)
		if depth != c.depth || noColor != c.noColor {
			t.Errorf("%s: %s, no colour %v; want %s, %v", c.name, depth.Name(), noColor, c.depth.Name(), c.noColor)
		}
	}
}
