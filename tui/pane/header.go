package pane

import (
	"fmt"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Header draws the lines at the top: who this is, how busy it is, what today cost.
func Header(c *canvas.Canvas, v *View) {
	if c.H() == 0 || c.W() == 0 {
		return
	}
	switch {
	case !v.State.Link.Lost.IsZero() && v.Kind != layout.Sliver:
		lostHeader(c, v)
	case v.Kind == layout.Sliver:
		digest(c, v)
	case v.Kind == layout.Tiny:
		fit(c.Sub(canvas.Rect{W: c.W() - 3, H: 1}), 1, 0, tinyHeader(c, v))
		c.Text(c.W()-2, 0, 1, helpKey(v), theme.Key)
	case c.H() >= 2:
		narrowHeader(c, v)
	case c.W() >= 110:
		fit(c, 1, 0, wideHeader(c, v))
	default:
		fit(c, 1, 0, plainHeader(c, v))
	}
}

func helpKey(v *View) string {
	if v.Keys == nil {
		return "?"
	}
	return v.Keys("view.help")
}

func brand() piece { return piece{text: "magpie", pen: theme.TitleFocus, rank: 0} }

// address is where the gateway listens: whole, or its port alone.
func address(v *View, whole bool) string {
	if whole {
		return v.Listen
	}
	if i := strings.LastIndexByte(v.Listen, ':'); i >= 0 {
		return v.Listen[i:]
	}
	return v.Listen
}

// origin says whose gateway this is: of the demo, of another process, or nothing.
func origin(c *canvas.Canvas, v *View) []piece {
	sep := c.Glyphs().Sep
	var p []piece
	if v.Demo {
		p = append(p, piece{text: "DEMO", pen: theme.Low, gap: 2, rank: 1})
	}
	if v.Attached != nil {
		p = append(p, piece{text: fmt.Sprintf("%s attached to pid %d", sep, v.Attached.PID), pen: theme.Muted, gap: 1, rank: 2})
	}
	return p
}

func behind(v *View) piece {
	n := v.State.Behind(v.Clock)
	if n == 0 {
		return piece{}
	}
	return piece{text: "behind " + grouped(int64(n)), pen: theme.Low, gap: 3, rank: 2}
}

// up says how long the gateway has been running; in minutes, so that an idle screen is still.
func up(v *View) string {
	if v.State.Status.Started.IsZero() {
		return ""
	}
	if s := v.Clock.Since(v.State.Status.Started); s != "" {
		return "up " + s
	}
	return "just started"
}

type figures struct {
	live, perMinute, errors int
	cached, cost            string
	today                   trace.Today
}

func figuresOf(v *View) figures {
	f := figures{live: len(v.State.Live()), today: v.State.Status.Today}
	f.perMinute, f.errors = v.State.PerMinute(v.Clock)
	share, known := state.CachedShare(trace.Tokens{Input: f.today.Input, CacheRead: f.today.CacheRead})
	if known {
		f.cached = strconv.Itoa(share) + "% cached"
	}
	if f.today.Requests > 0 {
		f.cost = cents(f.today.CostUSD, f.today.Unpriced)
	}
	return f
}

func (f *figures) livePen() theme.Role {
	if f.live > 0 {
		return theme.Live
	}
	return theme.Muted
}

func (f *figures) errorPen() theme.Role {
	if f.errors > 0 {
		return theme.Failed
	}
	return theme.Muted
}

func wideHeader(c *canvas.Canvas, v *View) []piece {
	f := figuresOf(v)
	p := append([]piece{brand(), {text: address(v, true), pen: theme.Muted, gap: 2, rank: 6}}, origin(c, v)...)
	p = append(p,
		piece{text: up(v), pen: theme.Muted, gap: 2, rank: 7},
		behind(v),
		piece{text: fmt.Sprintf("%s %d live", c.Glyphs().Live, f.live), pen: f.livePen(), gap: 4, rank: 0},
		piece{text: fmt.Sprintf("%d/min", f.perMinute), pen: theme.Muted, gap: 3, rank: 4},
		piece{text: plural(f.errors, "error"), pen: f.errorPen(), gap: 3, rank: 3},
	)
	if f.today.Requests > 0 {
		p = append(p,
			piece{text: "today", pen: theme.Muted, gap: 4, rank: 5},
			piece{text: grouped(f.today.Requests) + " req", pen: theme.FG, gap: 1, rank: 5},
			piece{text: words.Count(f.today.Input) + " in", pen: theme.FG, gap: 2, rank: 10},
			piece{text: f.cached, pen: theme.FG, gap: 2, rank: 4},
			piece{text: f.cost, pen: theme.FG, gap: 2, rank: 3},
		)
	}
	return p
}

func plainHeader(c *canvas.Canvas, v *View) []piece {
	f := figuresOf(v)
	at := piece{text: address(v, false), pen: theme.Muted, gap: 1, rank: 8}
	if v.Attached != nil { // whose gateway this is, is worth more than the day's sums
		at = piece{text: address(v, true), pen: theme.Muted, gap: 1, rank: 3}
	}
	if v.Demo { // its port is one that nobody knows
		at.rank = min(at.rank, 6)
	}
	p := append([]piece{brand(), at}, origin(c, v)...)
	cost := f.cost
	if cost != "" {
		cost += " today"
	}
	return append(p,
		piece{text: up(v), pen: theme.Muted, gap: 2, rank: 7},
		behind(v),
		piece{text: fmt.Sprintf("%s %d live", c.Glyphs().Live, f.live), pen: f.livePen(), gap: 3, rank: 0},
		piece{text: fmt.Sprintf("%d/min", f.perMinute), pen: theme.Muted, gap: 2, rank: 4},
		piece{text: plural(f.errors, "error"), pen: f.errorPen(), gap: 2, rank: 3},
		piece{text: f.cached, pen: theme.FG, gap: 3, rank: 5},
		piece{text: cost, pen: theme.FG, gap: 2, rank: 5},
	)
}

func narrowHeader(c *canvas.Canvas, v *View) {
	f := figuresOf(v)
	first := []piece{brand(), {text: address(v, false), pen: theme.Muted, gap: 1, rank: 8}}
	if v.Demo {
		first = append(first, piece{text: "DEMO", pen: theme.Low, gap: 2, rank: 1})
	}
	if v.Attached != nil {
		first = append(first, piece{text: c.Glyphs().Sep + " attached", pen: theme.Muted, gap: 1, rank: 3})
	}
	fit(c, 1, 0, append(first,
		behindShort(v),
		piece{text: fmt.Sprintf("%s%d live", c.Glyphs().Live, f.live), pen: f.livePen(), gap: 3, rank: 0},
		piece{text: fmt.Sprintf("%d/min", f.perMinute), pen: theme.Muted, gap: 2, rank: 5},
		piece{text: fmt.Sprintf("%d err", f.errors), pen: f.errorPen(), gap: 2, rank: 4},
	))
	cost := f.cost
	if cost != "" {
		cost += " today"
	}
	fit(c, 1, 1, []piece{
		{text: up(v), pen: theme.Muted, rank: 3},
		{text: f.cached, pen: theme.FG, gap: 3, rank: 2},
		{text: cost, pen: theme.FG, gap: 3, rank: 1},
	})
}

func behindShort(v *View) piece {
	p := behind(v)
	p.gap = 2
	return p
}

func tinyHeader(c *canvas.Canvas, v *View) []piece {
	f := figuresOf(v)
	p := []piece{brand()}
	if v.Demo {
		p = append(p, piece{text: "DEMO", pen: theme.Low, gap: 1, rank: 1})
	}
	return append(p,
		behindShort(v),
		piece{text: fmt.Sprintf("%s%d", c.Glyphs().Live, f.live), pen: f.livePen(), gap: 2, rank: 0},
		piece{text: fmt.Sprintf("%d/min", f.perMinute), pen: theme.Muted, gap: 2, rank: 5},
		piece{text: fmt.Sprintf("%d err", f.errors), pen: f.errorPen(), gap: 2, rank: 4},
		piece{text: f.cost, pen: theme.FG, gap: 2, rank: 3},
		piece{text: "  ", pen: theme.None, rank: 2},
	)
}

// digest is the header of the smallest screens; on a single line it says what all of it would.
func digest(c *canvas.Canvas, v *View) {
	f := figuresOf(v)
	x := 1
	if c.W() < 24 {
		x = 0
	}
	live := piece{text: fmt.Sprintf("%s%d", c.Glyphs().Live, f.live), pen: f.livePen(), gap: 1}
	p := []piece{{text: "magpie", pen: theme.TitleFocus, rank: 2}, live}
	switch {
	case !v.State.Link.Lost.IsZero():
		p[1].rank = 3
		p = append(p, piece{text: "lost " + v.Clock.Stamp(v.State.Link.Lost), pen: theme.Error, gap: 1})
	case v.Demo:
		p = append(p, piece{text: "DEMO", pen: theme.Low, gap: 1, rank: 3})
	}
	if v.Size.H == 1 {
		p = append(p, nextPiece(c, v))
	}
	p = append(p,
		piece{text: fmt.Sprintf("%d/min", f.perMinute), pen: theme.Muted, gap: 1, rank: 6},
		piece{text: fmt.Sprintf("%d err", f.errors), pen: f.errorPen(), gap: 1, rank: 5},
	)
	fit(c, x, 0, p)
}

// nextPiece names who would be asked next and how full it is.
func nextPiece(c *canvas.Canvas, v *View) piece {
	id, known := v.State.Next()
	a, found := v.State.Account(id)
	if !known || !found {
		use := state.Loaded(v.State.Accounts, 1)
		if len(use) == 0 {
			return piece{}
		}
		a = use[0]
	}
	text := v.State.Name(a.ID)
	if w, has := state.Fullest(&a); has {
		text += " " + gauge(w, 0, v.Clock).Percent()
	}
	return piece{text: c.Glyphs().Sep + " " + text, pen: theme.FG, gap: 1, rank: 4}
}

// lostHeader says since when the gateway does not answer, and when it is asked again.
func lostHeader(c *canvas.Canvas, v *View) {
	link, sep := v.State.Link, c.Glyphs().Sep
	lost := "connection lost " + link.Lost.In(v.Clock.Now.Location()).Format("15:04:05")
	retry := "trying again now"
	if in := v.Clock.In(link.Retry); in != "" {
		retry = "trying again in " + in
	}
	attached := piece{}
	if v.Attached != nil {
		attached = piece{text: sep + " attached", pen: theme.Muted, gap: 1, rank: 6}
	}
	if c.H() >= 2 {
		fit(c, 1, 0, []piece{brand(), {text: address(v, false), pen: theme.Muted, gap: 1, rank: 8}, attached, {text: sep + " " + lost, pen: theme.Error, gap: 1}})
		fit(c, 1, 1, []piece{{text: retry, pen: theme.Muted}})
		return
	}
	if c.W() < 60 {
		fit(c, 1, 0, []piece{brand(), {text: lost, pen: theme.Error, gap: 2}})
		return
	}
	fit(c, 1, 0, []piece{
		brand(),
		{text: address(v, true), pen: theme.Muted, gap: 1, rank: 8},
		attached,
		{text: sep + " " + lost + ",", pen: theme.Error, gap: 1},
		{text: retry, pen: theme.Muted, gap: 1, rank: 3},
	})
}

// LiveLine names a request that is being answered: who asks, what, for how long, who answers. Without
// room it leaves out who asks.
func LiveLine(set *canvas.GlyphSet, v *View, r *trace.Route, room bool) string {
	who, asking := v.State.AnsweredBy(r)
	if asking {
		who = set.Arrow + " " + who
	}
	if n := len(r.Tries); n > 1 {
		who += fmt.Sprintf(" (try %d)", n)
	}
	model := set.Cut(layout.Model(state.ModelOf(r)), 12)
	if !room {
		return pad(set, model, 13) + fmt.Sprintf("%4s  ", state.Lasted(r, v.Clock)) + who
	}
	return pad(set, set.Cut(r.Agent, 7), 8) + pad(set, model, 13) + fmt.Sprintf("%4s   ", state.Lasted(r, v.Clock)) + who
}

// Title is what the terminal's title says: the worst that there is to know.
func Title(set *canvas.GlyphSet, v *View) string {
	if _, wrong := v.State.Trouble(v.Clock); wrong {
		return "magpie " + set.Failed + " " + titleTrouble(v)
	}
	for _, a := range state.Worst(v.State.Accounts) {
		if state.Refused(&a) {
			return canvas.Clean("magpie " + set.Failed + " " + v.State.Name(a.ID) + " " + words.Denied(&a))
		}
		if a.State == trace.Low {
			return canvas.Clean(fmt.Sprintf("magpie %s %s %s", set.Low, v.State.Name(a.ID), canvas.Gauge{Used: a.Used}.Percent()))
		}
	}
	return fmt.Sprintf("magpie %s %d live", set.Fine, len(v.State.Live()))
}

func titleTrouble(v *View) string {
	if !v.State.Link.Lost.IsZero() {
		return "connection lost"
	}
	for _, g := range v.State.Groups {
		if !g.Off && g.Ready == 0 && len(g.Members) > 0 {
			return canvas.Clean(g.ID) + " out"
		}
	}
	if v.State.Status.Config.Error != "" {
		return "config"
	}
	return "see the banner"
}
