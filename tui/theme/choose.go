package theme

import (
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/muesli/termenv"
)

// Wish is what was said about the theme, by whom.
type Wish struct {
	Flag        string // --theme
	Env         string // MAGPIE_THEME
	Name        string // the config's one name
	Dark, Light string // the config's name for each background
	Background  string // the config's word for the background
	ColorFGBG   string // what some terminals say of theirs
	NoColor     bool
}

const auto = "auto"

// Choose names the theme to wear, and the background if it had to find that out. The first wish that
// says something counts: the flag, the environment, the config, the background. ask asks the
// terminal, and is called only when nothing else tells; without an answer the background is taken as dark.
func Choose(w Wish, ask func() (dark, ok bool)) (id string) {
	if w.NoColor {
		return "mono"
	}
	dark, light := w.Dark, w.Light
	for _, name := range []string{w.Flag, w.Env, w.Name} {
		if name == auto {
			break
		}
		if name != "" {
			return name
		}
	}
	if w.Flag == auto || w.Flag == "" && w.Env == auto {
		dark, light = "", "" // over the config's pair too
	}
	if w.dark(ask) {
		return either(dark, Dark.standard())
	}
	return either(light, Light.standard())
}

func either(name, standard string) string {
	if name == "" || name == auto {
		return standard
	}
	return name
}

// dark finds out the background.
func (w Wish) dark(ask func() (dark, ok bool)) bool {
	switch w.Background {
	case "dark":
		return true
	case "light":
		return false
	}
	if dark, ok := fromFGBG(w.ColorFGBG); ok {
		return dark
	}
	if ask != nil {
		if dark, ok := ask(); ok {
			return dark
		}
	}
	return true
}

// fromFGBG reads COLORFGBG, "15;0" or "15;default;0": colours by number, the background last.
func fromFGBG(v string) (dark, ok bool) {
	i := strings.LastIndexByte(v, ';')
	if i < 0 {
		return false, false
	}
	n, err := strconv.Atoi(v[i+1:])
	if err != nil || n < 0 || n > 15 {
		return false, false
	}
	return n < 7 || n == 8, true
}

// Depth is how many colours a terminal shows, and whether there are to be none: then it is the depth for
// attributes alone, since bold and reverse would go with termenv.Ascii, and the cursor with them. Only a
// terminal without attributes gets that. tty says that the output is a terminal.
func Depth(env func(string) string, tty bool) (depth termenv.Profile, noColor bool) {
	term := env("TERM")
	if !tty || term == "" || term == "dumb" {
		return termenv.Ascii, true
	}
	out := termenv.NewOutput(io.Discard, termenv.WithEnvironment(environ(env)), termenv.WithTTY(true))
	if out.EnvNoColor() {
		return termenv.ANSI, true
	}
	if depth = out.EnvColorProfile(); depth != termenv.Ascii {
		return depth, false
	}
	return termenv.ANSI, !colourful.MatchString(term)
}

// colourful are terminals with colours whose names do not say so.
var colourful = regexp.MustCompile(`^(screen|tmux|rxvt|konsole|putty|st|foot|eterm|cygwin)\b`)

// environ is one variable at a time as the terminal library wants it.
type environ func(string) string

// Environ lists nothing; only single variables are asked for.
func (environ) Environ() []string { return nil }

// Getenv reads one variable.
func (e environ) Getenv(key string) string { return e(key) }
