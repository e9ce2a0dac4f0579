package pane

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Planned is who would be asked of a group now, as the gateway's planner says.
type Planned struct {
	Known bool
	Route trace.Route // from asked to left; its error where nobody would be asked
	Error string      // why the planner could not be asked
}

// OpenGroup is a group that is open, with what the planner says of it.
type OpenGroup struct {
	trace.Group
	Plan  *Planned
	Place string // where it stands in the list, such as "2 of 6"
}

// Pick is something on a page that keys can mean: a candidate, or a member of the group.
type Pick struct {
	Key     string
	Line, N int    // its lines
	Member  int    // the group's member that it is or is of, -1 = none
	Account string // whom keys about accounts mean, "" = nobody
	Group   string // the group that the member is
}

// deepest is how deep groups are drawn in one another, like the planner walks them.
const deepest = 8

// GroupPage shows who would be asked of a group now and why in that order, how much each has left,
// and the members as they stand in the order, with who is in them.
func GroupPage(set *canvas.GlyphSet, v *View, g *OpenGroup, width int) Page {
	s := &groupSheet{sheet: sheet{set: set, v: v, w: width}, g: &g.Group, plan: g.Plan}
	p := Page{Title: joinParts(s.sep(), g.ID, "group"), Ends: []string{joinParts(s.sep(), g.Place, g.Routing), g.Place, ""}}
	s.verdict()
	s.gap()
	s.order()
	s.gap()
	s.members()
	p.Lines, p.Picks = s.lines, s.picks
	return p
}

type groupSheet struct {
	sheet
	g     *trace.Group
	plan  *Planned
	picks []Pick
	text  int // the column of reasons
}

// pick makes what write draws something that keys can mean.
func (s *groupSheet) pick(p Pick, write func()) {
	p.Line = len(s.lines)
	write()
	p.N = len(s.lines) - p.Line
	s.picks = append(s.picks, p)
}

// verdict says in a sentence how the group stands.
func (s *groupSheet) verdict() {
	g := s.g
	glyph, pen, said := s.set.Fine, theme.Fine, joinParts(" ", ready(g), "ready")
	if g.Of >= g.Ready {
		said = fmt.Sprintf("%d of %d ready", g.Ready, g.Of)
	}
	switch {
	case g.Off && g.Auto:
		glyph, pen, said = s.set.Off, theme.Muted, "taken away: magpie group restore "+g.ID+" brings it back"
	case g.Off:
		glyph, pen, said = s.set.Off, theme.Muted, "switched off in the config: never asked"
	case g.Ready == 0 && g.Next == "":
		glyph, pen, said = s.set.Failed, theme.Failed, "nobody would be asked"
	case g.Ready == 0:
		glyph, pen = s.set.Resting, theme.Resting
		said += ": all rest, " + s.v.State.Name(g.Next) + " would be asked first"
	default:
		said += ", " + s.v.State.Name(g.Next) + " is asked first"
	}
	s.marked(glyph, pen, wrap(s.set, said, s.w-4))
	if g.Auto && !g.Off {
		s.say(3, "found: several providers have this model", theme.Muted)
	}
}

const (
	pickName = 6  // the column of names
	pickText = 18 // the column of reasons beside names that are short
	mostName = 28 // cells that a name takes beside its reason
)

// order lists who would be asked and who is left out.
func (s *groupSheet) order() {
	r := &s.plan.Route
	switch {
	case s.plan.Error != "":
		s.say(1, "who would be asked can't be told now: "+s.plan.Error, theme.Low)
		return
	case !s.plan.Known:
		s.say(1, "asking the planner who would be asked", theme.Muted)
		return
	case len(r.Order)+len(r.Left) == 0:
		s.say(1, joinParts(": ", "an agent would be told "+strconv.Itoa(r.Status), s.v.State.Masked(r.Error)), theme.FG)
		return
	}
	head := text(1, "a new conversation would be asked, in order", theme.Title)
	if s.narrow() {
		head = text(1, "would be asked, in order", theme.Title)
	}
	head.Right = canvas.Span{Text: r.Routing, Pen: theme.Muted}
	s.add(head)
	if len(r.Order) == 0 {
		s.say(pickName, joinParts(": ", "nobody; an agent would be told "+strconv.Itoa(r.Status), s.v.State.Masked(r.Error)), theme.Low)
	}
	mixed := mixedModels(r)
	s.text = pickText
	for _, list := range [][]trace.Candidate{r.Order, r.Left} {
		for i := range list {
			if w := pickName + s.set.Width(s.v.State.Name(list[i].ID)) + 2; w <= min(pickName+mostName, s.w/2) {
				s.text = max(s.text, w)
			}
		}
	}
	for i := range r.Order {
		s.candidate(&r.Order[i], strconv.Itoa(i+1), mixed)
	}
	for i := range r.Left {
		s.candidate(&r.Left[i], "-", mixed)
	}
}

// candidate writes one with its reason, and its fullest window below.
func (s *groupSheet) candidate(c *trace.Candidate, place string, mixed bool) {
	at, via := memberOf(s.v.State, s.g, c)
	why := reasonOf(s.v, c)
	if c.Why.Code == trace.WhyListed && c.Why.By == s.g.ID {
		why = strings.Replace(why, " in group "+s.g.ID, " member", 1)
	}
	model := ""
	if mixed || c.Effort != "" {
		model = layout.Model(c.Model)
	}
	if c.Effort != "" {
		model += ":" + c.Effort
	}
	if via != "" {
		via = "in " + via
	}
	why = joinParts(": ", joinParts(" ", model, via), why)
	p := Pick{Key: strings.Join([]string{"who", c.ID, c.Model, c.Effort}, "\x00"), Member: at, Account: c.ID}
	s.pick(p, func() {
		glyph, pen := s.standing(&trace.Route{}, c, nil)
		if a, known := s.v.State.Account(c.ID); known && c.Out == "" && c.Rest == nil {
			glyph, pen, _ = look(s.set, a.State)
		}
		s.numbered(place, canvas.Span{Text: glyph, Pen: pen}, s.v.State.Name(c.ID), orDash(why))
		s.allowance(c)
	})
}

// numbered writes a line with a number, a mark and a name, and a text beside or below them.
func (s *groupSheet) numbered(place string, mark canvas.Span, name, said string) {
	head := []canvas.Span{{Text: spaces(3-len(place)) + place + " ", Pen: theme.Muted}, {Text: mark.Text + " ", Pen: mark.Pen}}
	x := s.text
	if s.narrow() && x+s.set.Width(said) >= s.w || pickName+s.set.Width(name)+2 > x {
		s.add(Line{Spans: append(head, canvas.Span{Text: s.set.Cut(name, s.w-pickName-1), Pen: theme.FG})})
		s.say(pickName, said, theme.FG)
		return
	}
	for i, line := range wrap(s.set, said, s.w-x-1) {
		if i > 0 {
			s.add(text(x, line, theme.FG))
			continue
		}
		s.add(Line{Spans: append(head, canvas.Span{Text: pad(s.set, name, x-pickName), Pen: theme.FG}, canvas.Span{Text: line, Pen: theme.FG})})
	}
}

// allowance draws the fullest window that counts the candidate's model.
func (s *groupSheet) allowance(c *trace.Candidate) {
	counted := trace.Account{Windows: c.Windows}
	if a, known := s.v.State.Account(c.ID); known {
		counted.Windows = slices.DeleteFunc(slices.Clone(a.Windows), func(w trace.Window) bool {
			return w.Model != "" && !strings.Contains(c.Model, w.Model)
		})
	}
	w, known := state.Fullest(&counted)
	if !known {
		return
	}
	x, cells := s.text+4, min(max(s.w-s.text-46, 8), 24)
	if s.narrow() {
		x, cells = pickName+4, min(max(s.w-34, 4), 12)
	}
	g := gauge(w, cells, s.v.Clock)
	said := "  " + g.Percent()
	if renewed(w, s.v.Clock) {
		said = "  renewed since it was read"
	} else if w.Resets != nil {
		left := "  " + s.v.Clock.Left(*w.Resets)
		if !s.narrow() {
			left = "   renews in" + left[1:]
		}
		said += left
	}
	s.add(Line{
		Bar:   &barSpec{x: x, w: cells, gauge: g, label: canvas.Span{Text: state.WindowName(w), Pen: theme.Muted}},
		From:  x + cells,
		Spans: []canvas.Span{{Text: said, Pen: theme.Muted}},
	})
}

// members lists what the group is made of, as it stands in the order.
func (s *groupSheet) members() {
	head := text(1, "members", theme.Title)
	if later, earlier := s.v.Keys("order.later"), s.v.Keys("order.earlier"); later != "" && earlier != "" && len(s.g.Members) > 1 {
		head.Right = canvas.Span{Text: later + " " + earlier + " moves one", Pen: theme.Muted}
	}
	s.add(head)
	if len(s.g.Members) == 0 {
		s.say(pickName, "none", theme.Muted)
	}
	for i, m := range s.g.Members {
		p := Pick{Key: "member\x00" + m, Member: i, Account: s.firstOf(i, m)}
		if id, nested := nestedID(m); nested {
			p.Group = id
		}
		s.pick(p, func() { s.member(s.g, m, strconv.Itoa(i+1), []string{s.g.ID}) })
	}
}

// member writes one of a group with its accounts; a group with what is in it. within are the groups around it.
func (s *groupSheet) member(of *trace.Group, m, place string, within []string) {
	name, depth := s.v.State.Masked(m), len(within)-1
	if m == of.Pick {
		name += s.sep() + "picked"
	}
	x := 4 + 2*depth
	id, nested := nestedID(m)
	in, known := trace.Group{}, false
	if nested {
		if in, known = s.v.State.Group(id); known {
			name += s.sep() + joinParts(s.sep(), in.Routing, ready(&in)+" ready")
		}
	}
	for i, line := range wrap(s.set, name, s.w-x-1) {
		l := text(x, line, theme.FG)
		if i == 0 {
			l = Line{Spans: []canvas.Span{{Text: pad(s.set, spaces(3-len(place))+place, x), Pen: theme.Muted}, {Text: line, Pen: theme.FG}}}
		}
		s.add(l)
	}
	if !nested {
		s.accountsOf(m, x+2)
		return
	}
	switch {
	case !known:
		s.say(x+2, "there is no such group now", theme.Low)
	case slices.Contains(within, id) || depth >= deepest:
		s.say(x+2, "stands in itself: not asked again", theme.Low)
	case in.Off:
		s.say(x+2, "switched off: nobody of it is asked", theme.Muted)
	default:
		for _, inner := range in.Members {
			s.member(&in, inner, "", append(slices.Clone(within), id))
		}
	}
}

// mostShown is how many accounts of one member are named; a provider may have hundreds of keys.
const mostShown = 12

// accountsOf names the accounts that a member stands for, each with its mark and how full it is.
func (s *groupSheet) accountsOf(m string, x int) {
	all := accountsOf(s.v.State, m)
	if len(all) == 0 {
		s.say(x, "no key or account", theme.Low)
		return
	}
	var spans []canvas.Span
	width := 0
	flush := func() {
		if len(spans) > 0 {
			s.add(Line{From: x, Spans: spans})
		}
		spans, width = nil, 0
	}
	put := func(parts ...canvas.Span) {
		w := 0
		for _, p := range parts {
			w += s.set.Width(p.Text)
		}
		if width > 0 && x+width+3+w >= s.w {
			flush()
		}
		if width > 0 {
			spans, width = append(spans, canvas.Span{Text: "   "}), width+3
		}
		spans, width = append(spans, parts...), width+w
	}
	for i, a := range all {
		if i == mostShown {
			put(canvas.Span{Text: "and " + strconv.Itoa(len(all)-i) + " more", Pen: theme.Muted})
			break
		}
		glyph, pen, word := look(s.set, a.State)
		said := ""
		if w, known := state.Fullest(a); known && (a.State == trace.Fine || a.State == trace.Low || a.State == trace.Spent) {
			said = " " + gauge(w, 0, s.v.Clock).Percent()
		} else if a.State != trace.Fine {
			said = " " + word
		}
		put(canvas.Span{Text: glyph + " ", Pen: pen}, canvas.Span{Text: s.set.Cut(s.v.State.Name(a.ID), 28), Pen: theme.FG}, canvas.Span{Text: said, Pen: theme.Muted})
	}
	flush()
}

// firstOf is the account of a member that would be asked first, else its first account.
func (s *groupSheet) firstOf(i int, m string) string {
	for _, list := range [][]trace.Candidate{s.plan.Route.Order, s.plan.Route.Left} {
		for k := range list {
			if at, _ := memberOf(s.v.State, s.g, &list[k]); at == i {
				return list[k].ID
			}
		}
	}
	if all := accountsOf(s.v.State, m); len(all) > 0 {
		return all[0].ID
	}
	return ""
}

// nestedID is the id of the group that a member is.
func nestedID(m string) (string, bool) { return strings.CutPrefix(m, "group/") }

// accountsOf are the accounts that a member which is no group stands for.
func accountsOf(st *state.State, m string) []*trace.Account {
	head, _, _ := strings.Cut(m, "/")
	provider, who, tied := strings.Cut(head, "@")
	var all []*trace.Account
	for i := range st.Accounts {
		if a := &st.Accounts[i]; a.Provider == provider && (!tied || strings.EqualFold(a.Name, who)) {
			all = append(all, a)
		}
	}
	return all
}

// memberOf finds the member of a group that a candidate is of, the first that fits, and the group within it
// that holds the candidate, "" = itself; -1 for none.
func memberOf(st *state.State, g *trace.Group, c *trace.Candidate) (at int, via string) {
	for i, m := range g.Members {
		if in, ok := holds(st, m, c, 1); ok {
			return i, in
		}
	}
	return -1, ""
}

// holds says whether a member is or holds a candidate, and the innermost group that does.
func holds(st *state.State, m string, c *trace.Candidate, depth int) (via string, ok bool) {
	if id, nested := nestedID(m); nested {
		g, known := st.Group(id)
		if !known || depth > deepest {
			return "", false
		}
		for _, inner := range g.Members {
			if in, ok := holds(st, inner, c, depth+1); ok {
				if in == "" {
					in = id
				}
				return in, true
			}
		}
		return "", false
	}
	head, model, _ := strings.Cut(m, "/")
	provider, who, tied := strings.Cut(head, "@")
	fits := provider == c.Provider && (!tied || strings.EqualFold(who, c.Who)) && (model == c.Model || model == c.Model+":"+c.Effort)
	return "", fits
}
