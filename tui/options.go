package tui

import (
	"context"
	"io/fs"
	"os"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/trace"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/feed"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/term"
	"dev.magpie/tui/theme"
)

// Look says what the screen wears.
type Look struct {
	Flag       string       // --theme
	Theme      config.Theme // of the config
	Background string       // of the config: "", dark, light
	Themes     fs.FS        // the person's own themes; may be nil
	Ask        func() (dark, ok bool)
}

// filled fills in what the options leave to the process.
func (o Options) filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	o.Input, o.Output = terminal(o.Input, os.Stdin), terminal(o.Output, os.Stdout)
	return o
}

// newModel makes the screen as it is before its size is known.
func newModel(ctx context.Context, g Gateway, o Options, tty bool) (*model, error) {
	o = o.filled()
	reg, err := keys.New(o.Keys, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	m := &model{ctx: ctx, g: g, o: o, reg: reg, now: o.Now(), focus: layout.Requests}
	m.clock = state.At(m.now)
	m.set = canvas.Glyphs(o.Screen.Glyphs, o.Env)
	m.canvas = canvas.New(0, 0, m.set)
	if err := m.dress(tty); err != nil {
		return nil, err
	}
	m.recall(o.Memory)
	return m, nil
}

// dress chooses the theme and makes its pens.
func (m *model) dress(tty bool) error {
	look := m.o.Look
	m.depth, m.noColor = theme.Depth(m.o.Env, tty)
	wish := theme.Wish{
		Flag: look.Flag, Env: m.o.Env("MAGPIE_THEME"), Name: look.Theme.Name, Dark: look.Theme.Dark, Light: look.Theme.Light,
		Background: look.Background, ColorFGBG: m.o.Env("COLORFGBG"), NoColor: m.noColor,
	}
	if chose := m.o.Memory.Theme; chose != "" && wish.Flag == "" && wish.Env == "" {
		wish.Name = chose
		m.chose = chose
	}
	t, err := theme.Load(theme.Choose(wish, look.Ask), look.Themes)
	if err != nil && m.chose != "" { // the file of a theme chosen with a key may be gone
		m.chose, wish.Name = "", look.Theme.Name
		t, err = theme.Load(theme.Choose(wish, look.Ask), look.Themes)
	}
	if err != nil {
		return err
	}
	m.theme, m.themes = t, theme.IDs(look.Themes)
	m.pens = theme.NewPens(t, m.depth, m.noColor)
	return nil
}

// recall puts the screen as it was left.
func (m *model) recall(mem Memory) {
	if p := layout.Pane(mem.Pane); p >= layout.Accounts && p <= layout.Log {
		m.focus = p
	}
	m.zoom = mem.Zoom
	m.requests.Filter = state.ParseFilter(mem.Filter)
}

// memory is how the screen is left.
func (m *model) memory() Memory {
	p := m.focus
	if p == layout.Detail {
		p = m.origin()
	}
	return Memory{Pane: int(p), Zoom: m.zoom, Filter: m.requests.Filter.Text, Theme: m.chose}
}

// begin shows a view as the state of things.
func (m *model) begin(v trace.View, f trace.Feed) {
	m.st = state.New(v, m.now, m.o.Screen.MaskAccounts)
	m.pump = feed.New(f, feed.Gap(term.FactsOf(m.o.Env).SSH), m.o.Now)
	m.dirty = true
}
