package layout

import (
	"slices"

	"dev.magpie/tui/canvas"
)

// Where one layout becomes the next, unless the settings say otherwise.
var (
	wideAt    = Size{110, 28}
	stackedAt = Size{44, 16}
	tinyAt    = Size{32, 8}
	// A wide layout below this would leave its columns without room.
	wideLeast = Size{84, 20}
)

func (s Size) holds(o Size) bool { return s.W >= o.W && s.H >= o.H }

// Arrange lays the screen out.
func Arrange(a Args) Screen {
	a.Size = Size{max(a.Size.W, 0), max(a.Size.H, 0)}
	s := Screen{Kind: kind(a)}
	body := s.frame(a)
	switch {
	case a.Zoom && a.shows(a.Focus):
		s.Panes[a.Focus] = body
	case s.Kind == Wide:
		s.wide(a, body)
	case a.shows(Detail):
		s.Panes[Detail] = body
	case s.Kind == Stacked:
		s.stacked(a, body)
	case s.Kind == Tiny:
		s.tiny(a, body)
	default:
		s.sliver(a, body)
	}
	return s
}

// shows reports whether there is such a pane at all.
func (a Args) shows(p Pane) bool {
	switch p {
	case NoPane:
		return false
	case Detail:
		return a.Detail > 0
	case Accounts, Requests, Conversations, Groups, Log:
	}
	return !a.Without.Has(p)
}

// small is the focused pane when it is one of those that small layouts leave out or shorten.
func (a Args) small() Pane {
	switch a.Focus {
	case Conversations, Groups, Log:
		if a.shows(a.Focus) {
			return a.Focus
		}
	case NoPane, Accounts, Requests, Detail:
	}
	return NoPane
}

func kind(a Args) Kind {
	at := a.WideAt
	if at == (Size{}) {
		at = wideAt
	}
	at = Size{max(at.W, wideLeast.W), max(at.H, wideLeast.H)}
	switch {
	case a.Size.holds(at):
		return Wide
	case a.Size.holds(stackedAt):
		return Stacked
	case a.Size.holds(tinyAt):
		return Tiny
	}
	return Sliver
}

// frame sets header, banner and footer and gives the rest.
func (s *Screen) frame(a Args) canvas.Rect {
	rest := canvas.Rect{W: a.Size.W, H: a.Size.H}
	if rest.Empty() {
		return canvas.Rect{}
	}
	head := 1
	if a.Size.W < 60 && a.Size.H >= 20 && s.Kind != Sliver {
		head = 2
	}
	s.Header, rest = top(rest, head)
	if a.Banner && s.Kind != Sliver {
		s.Banner, rest = top(rest, 1)
	}
	if s.Kind == Wide || s.Kind == Stacked {
		s.Footer = canvas.Rect{X: rest.X, Y: rest.Y + rest.H - 1, W: rest.W, H: 1}
		rest.H--
	}
	return rest
}

// top cuts n lines off a rectangle, or all that it has.
func top(r canvas.Rect, n int) (head, rest canvas.Rect) {
	n = min(max(n, 0), r.H)
	head = canvas.Rect{X: r.X, Y: r.Y, W: r.W, H: n}
	return head, canvas.Rect{X: r.X, Y: r.Y + n, W: r.W, H: r.H - n}
}

// give hands a pane the top n lines and returns the rest.
func (s *Screen) give(a Args, p Pane, r canvas.Rect, n int) canvas.Rect {
	if a.Without.Has(p) {
		return r
	}
	s.Panes[p], r = top(r, n)
	return r
}

// wide puts accounts, conversations, groups and the log at the side of the requests, and what
// was opened below them.
func (s *Screen) wide(a Args, body canvas.Rect) {
	side := min(max(a.Size.W*34/100, 41), 52)
	left := canvas.Rect{X: body.X, Y: body.Y, W: side, H: body.H}
	right := canvas.Rect{X: body.X + side + 1, Y: body.Y, W: body.W - side - 1, H: body.H}
	s.Divider = canvas.Rect{X: body.X + side, Y: body.Y, W: 1, H: body.H}

	accounts, most := 1+2*max(a.Accounts, 1), left.H*45/100
	if accounts > most { // then they have a line each
		accounts = min(1+a.Accounts, most)
	}
	s.column(a, left, []share{
		{Accounts, accounts},
		{Conversations, min(6, left.H*24/100)},
		{Groups, min(5, left.H*20/100)},
		{Log, left.H},
	})

	if a.shows(Detail) {
		lines := min(1+a.Detail, right.H*45/100)
		right, s.Panes[Detail] = top(right, right.H-lines)
	}
	s.give(a, Requests, right, right.H)
}

// share is a pane and the lines that it gets.
type share struct {
	pane  Pane
	lines int
}

// column puts panes below one another; the last one that is shown takes all that is left.
func (s *Screen) column(a Args, r canvas.Rect, shares []share) {
	shares = slices.DeleteFunc(shares, func(x share) bool { return a.Without.Has(x.pane) })
	for i, x := range shares {
		if i == len(shares)-1 {
			x.lines = r.H
		}
		r = s.give(a, x.pane, r, x.lines)
	}
}

// stacked puts the accounts above the requests and gives the others one line each.
func (s *Screen) stacked(a Args, body canvas.Rect) {
	rest := s.give(a, Accounts, body, 1+min(max(a.Accounts, 1), max(3, body.H*35/100)))
	open := a.small()
	var lines []Pane
	for _, p := range []Pane{Conversations, Groups, Log} {
		if p != open && body.H >= 18 && !a.Without.Has(p) {
			lines = append(lines, p)
		}
	}
	rows := rest.H - len(lines)
	if open != NoPane {
		if rows = min(6, rows-4); rows < 3 {
			rows = 0 // a title and one row say nothing
		}
	}
	rest = s.give(a, Requests, rest, rows)
	for _, p := range []Pane{Conversations, Groups, Log} {
		switch {
		case p == open:
			rest = s.give(a, p, rest, rest.H-after(lines, p))
		case slices.Contains(lines, p):
			s.Summary |= Of(p)
			rest = s.give(a, p, rest, 1)
		}
	}
}

// after counts the panes of a list that stand below p.
func after(panes []Pane, p Pane) int {
	n := 0
	for _, q := range panes {
		if q > p {
			n++
		}
	}
	return n
}

// tiny leaves the accounts three lines and one for the rest of them.
func (s *Screen) tiny(a Args, body canvas.Rect) {
	s.Untitled = Of(Accounts)
	rest := s.give(a, Accounts, body, min(max(a.Accounts, 1), 4, body.H-3))
	if p := a.small(); p != NoPane {
		s.give(a, p, rest, rest.H)
		return
	}
	s.give(a, Requests, rest, rest.H)
}

// sliver shows the most loaded accounts and the live requests on as many lines as there are.
func (s *Screen) sliver(a Args, body canvas.Rect) {
	if p := a.small(); p != NoPane {
		s.Panes[p] = body
		return
	}
	s.Untitled = Of(Accounts, Requests)
	live := 0
	if a.Live > 0 {
		live = min(a.Live, max(body.H/3, body.H-max(a.Accounts, 0)))
		if body.H == 2 {
			live = 1
		}
	}
	rest := s.give(a, Accounts, body, body.H-live)
	s.give(a, Requests, rest, rest.H)
}
