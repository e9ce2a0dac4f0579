package pane

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// sheet writes the lines of something opened.
type sheet struct {
	set   *canvas.GlyphSet
	v     *View
	w     int
	lines []Line
}

func (s *sheet) add(l Line)   { s.lines = append(s.lines, l) }
func (s *sheet) gap()         { s.add(Line{}) }
func (s *sheet) sep() string  { return " " + s.set.Sep + " " }
func (s *sheet) narrow() bool { return s.w < 60 }

// say adds a text, wrapped between a column and the edge.
func (s *sheet) say(x int, said string, pen theme.Role) {
	for _, line := range wrap(s.set, said, s.w-x-1) {
		s.add(text(x, line, pen))
	}
}

// labelled adds a text with its label at the left; on a narrow page just the text.
func (s *sheet) labelled(label, said string, pen theme.Role) {
	if said == "" {
		return
	}
	x := 10
	if s.narrow() {
		x = 1
	}
	for i, line := range wrap(s.set, said, s.w-x-1) {
		l := text(x, line, pen)
		if i == 0 && !s.narrow() {
			l = Line{Spans: []canvas.Span{{Text: " "}, {Text: pad(s.set, label, x-1), Pen: theme.Muted}, {Text: line, Pen: pen}}}
		}
		s.add(l)
	}
}

func pad(set *canvas.GlyphSet, s string, w int) string {
	return s + spaces(w-set.Width(s))
}

// Number is how a request is called: the end of its id, which runs on from start to start.
func Number(id int64) string { return fmt.Sprintf("#%04d", id%10000) }

// RequestPage explains one request: everybody who could have been asked, in order,
// with the reason for each place, what was tried, and what came of it. place says where it
// stands in the list, such as "3 of 412".
func RequestPage(set *canvas.GlyphSet, v *View, r *trace.Route, width int, place string) Page {
	s := &sheet{set: set, v: v, w: width}
	model := layout.Model(state.ModelOf(r))
	p := Page{}
	talk := ""
	if r.Session != "" {
		talk = "conversation " + state.Short(r.Session)
	}
	if s.narrow() {
		p.Title = Number(r.ID) + " " + model
		p.Ends = []string{place, ""}
		for _, line := range fill(set, s.sep(), s.w-2, r.Agent, talk, r.Resolved.Group) {
			s.add(text(1, line, theme.Muted))
		}
	} else {
		p.Title = joinParts(" ", Number(r.ID), r.Agent, set.Arrow, model)
		group := ""
		if r.Resolved.Group != "" {
			group = "group " + r.Resolved.Group
		}
		p.Ends = []string{joinParts(s.sep(), talk, group), talk, place, ""}
	}
	s.outcome(r)
	s.gap()
	s.considered(r)
	s.gap()
	s.told(r)
	s.figures(r)
	s.shaped(r)
	s.moved(r)
	p.Lines = s.lines
	for len(p.Lines) > 0 && len(p.Lines[len(p.Lines)-1].Spans) == 0 {
		p.Lines = p.Lines[:len(p.Lines)-1]
	}
	return p
}

// outcome says in one line what came of it.
func (s *sheet) outcome(r *trace.Route) {
	glyph, pen := markLook(s.set, r.Outcome())
	who, asking := s.v.State.AnsweredBy(r)
	tries, took := len(r.Tries), ""
	if r.Done {
		took = state.Precise(time.Duration(r.MS) * time.Millisecond)
	} else {
		took = state.Lasted(r, s.v.Clock)
	}
	said, rest := "", []string{}
	switch r.Outcome() {
	case trace.Live:
		said, rest = s.live(who, asking, tries, took)
	case trace.Answered:
		said, rest = who+" answered", []string{took + " in all"}
	case trace.Later:
		said, rest = fmt.Sprintf("%s answered on try %d", who, tries), []string{took + " in all"}
	case trace.Failed:
		said, rest = "nobody could answer", []string{plural2(tries, "try", "tries"), took + " in all"}
		if t := state.LastTry(r); t != nil && r.TTFTMS > 0 {
			said = "the reply of " + s.v.State.Name(t.ID) + " broke off"
		}
	case trace.Declined:
		said = "nobody was asked"
	case trace.Left:
		said = "the agent left after " + took
	}
	if r.TTFTMS > 0 {
		rest = append(rest, "first byte "+state.Precise(time.Duration(r.TTFTMS)*time.Millisecond))
	}
	if r.Done && r.Status != 0 && r.Outcome() != trace.Left {
		rest = append(rest, strconv.Itoa(r.Status))
	}
	s.marked(glyph, pen, fill(s.set, s.sep(), s.w-4, append([]string{said}, rest...)...))
}

// marked adds lines of which the first has a mark before it.
func (s *sheet) marked(glyph string, pen theme.Role, lines []string) {
	for i, line := range lines {
		l := text(3, line, theme.FG)
		if i == 0 {
			l = Line{Spans: []canvas.Span{{Text: " " + glyph + " ", Pen: pen}, {Text: line, Pen: theme.FG}}}
		}
		s.add(l)
	}
}

func (s *sheet) live(who string, asking bool, tries int, took string) (said string, rest []string) {
	if who == "" {
		return "looking for somebody to ask", nil
	}
	if tries > 1 {
		rest = append(rest, fmt.Sprintf("try %d", tries))
	}
	rest = append(rest, took+" so far")
	if asking {
		return "asking " + who, rest
	}
	return who + " is answering", rest
}

func plural2(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// considered lists every candidate, first those in order, then those left out.
func (s *sheet) considered(r *trace.Route) {
	if len(r.Order)+len(r.Left) == 0 {
		return
	}
	head := text(1, "considered, in order", theme.Title)
	head.Right = canvas.Span{Text: r.Routing, Pen: theme.Muted}
	s.add(head)
	mixed := mixedModels(r)
	for i := range r.Order {
		s.candidate(r, &r.Order[i], strconv.Itoa(i+1), mixed)
	}
	for i := range r.Left {
		s.candidate(r, &r.Left[i], "-", mixed)
	}
}

func mixedModels(r *trace.Route) bool {
	first := ""
	for _, list := range [][]trace.Candidate{r.Order, r.Left} {
		for i := range list {
			if first == "" {
				first = list[i].Model
			}
			if list[i].Model != first {
				return true
			}
		}
	}
	return false
}

// candidate writes one: its place, how it stands, its name, why it stands there, its tries.
func (s *sheet) candidate(r *trace.Route, c *trace.Candidate, place string, mixed bool) {
	tries := triesOf(r, c)
	glyph, pen := s.standing(r, c, tries)
	name := s.v.State.Name(c.ID)
	why := reasonOf(s.v, c)
	if mixed && c.Model != "" {
		why = layout.Model(c.Model) + ": " + why
	}
	aside := ""
	switch {
	case place == "-":
		aside = "left out"
	case len(tries) == 0 && !r.Done:
		aside = "not yet"
	case len(tries) == 0:
		aside = "not tried"
	}
	place = spaces(2-len(place)) + place
	head := []canvas.Span{{Text: place + " ", Pen: theme.Muted}, {Text: glyph + " ", Pen: pen}}
	if s.narrow() {
		s.narrowCandidate(head, name, why, aside)
	} else {
		s.wideCandidate(head, name, why, aside)
	}
	for _, t := range tries {
		s.try(r, t)
	}
}

const (
	nameAt  = 5
	textAt  = 16
	asideAt = 19 // from the right
)

func (s *sheet) wideCandidate(head []canvas.Span, name, why, aside string) {
	width := s.w - textAt - 1
	if aside != "" {
		width = s.w - asideAt - textAt - 1
	}
	name = s.set.Cut(name, textAt-nameAt-1)
	head = append(head, canvas.Span{Text: pad(s.set, name, textAt-nameAt), Pen: theme.FG})
	for i, line := range wrap(s.set, orDash(why), width) {
		if i > 0 {
			s.add(text(textAt, line, theme.FG))
			continue
		}
		spans := append(head, canvas.Span{Text: line, Pen: theme.FG})
		if aside != "" {
			spans = append(spans, canvas.Span{Text: spaces(s.w - asideAt - textAt - s.set.Width(line))}, canvas.Span{Text: aside, Pen: theme.Muted})
		}
		s.add(Line{Spans: spans})
	}
}

func (s *sheet) narrowCandidate(head []canvas.Span, name, why, aside string) {
	inline := nameAt + max(s.set.Width(name), 10) + 2
	if aside == "left out" {
		aside = ""
	}
	if aside == "" && inline+s.set.Width(why) < s.w || aside != "" && inline+s.set.Width(why) < s.w {
		s.add(Line{Spans: append(head, canvas.Span{Text: pad(s.set, name, inline-nameAt), Pen: theme.FG}, canvas.Span{Text: why, Pen: theme.FG})})
	} else {
		s.add(Line{Spans: append(head, canvas.Span{Text: name, Pen: theme.FG})})
		s.say(nameAt, why, theme.FG)
	}
	if aside != "" {
		s.say(nameAt, aside, theme.Muted)
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// standing is the mark before a candidate: what came of it, else how it stood.
func (s *sheet) standing(r *trace.Route, c *trace.Candidate, tries []*trace.Try) (string, theme.Role) {
	if n := len(tries); n > 0 {
		switch last := tries[n-1]; {
		case !last.Done && !r.Done:
			return s.set.Live, theme.Live
		case last.Fail == trace.Cancelled:
			return s.set.Left, theme.Muted
		case last.Fail != "":
			return s.set.Failed, theme.Failed
		}
		return s.set.Answered, theme.Fine
	}
	switch {
	case c.Out == "paused":
		return s.set.Paused, theme.Paused
	case c.Out == "held" || c.Out == "capped":
		return s.set.Held, theme.Held
	case c.Out == "unready" || c.Out == "key-not-allowed":
		return s.set.Unready, theme.Failed
	case c.Out != "":
		return s.set.Off, theme.Muted
	case c.Tier == "spent":
		return s.set.Spent, theme.Spent
	case c.Rest != nil && (c.Rest.Why == trace.Quota || c.Rest.Why == trace.Credit):
		return s.set.Spent, theme.Spent
	case c.Rest != nil:
		return s.set.Resting, theme.Resting
	case c.Tier == "low":
		return s.set.Low, theme.Low
	}
	return s.set.Fine, theme.Muted
}

func triesOf(r *trace.Route, c *trace.Candidate) []*trace.Try {
	var tries []*trace.Try
	for i := range r.Tries {
		t := &r.Tries[i]
		if t.ID == c.ID && (t.Model == c.Model || c.Model == "" || t.Model == "") {
			tries = append(tries, t)
		}
	}
	return tries
}

// try writes what one attempt brought.
func (s *sheet) try(r *trace.Route, t *trace.Try) {
	x := textAt
	if s.narrow() {
		x = nameAt
	}
	for _, line := range fill(s.set, s.sep(), s.w-x-1, s.tryParts(r, t)...) {
		s.add(text(x, line, theme.Muted))
	}
	if t.Error != "" && t.Fail != "" && t.Fail != trace.Cancelled {
		s.say(x, quoted(s.v.State.Masked(t.Error)), theme.Faint)
	}
}

func quoted(s string) string {
	const most = 160
	if rs := []rune(s); len(rs) > most {
		s = string(rs[:most]) + "..."
	}
	return `"` + strings.TrimSpace(s) + `"`
}

func (s *sheet) tryParts(r *trace.Route, t *trace.Try) []string {
	parts := make([]string, 0, 6)
	if t.Again {
		parts = append(parts, "again")
	}
	if t.InsteadOf != "" {
		parts = append(parts, "instead of "+s.v.State.Name(t.InsteadOf)+", which was full")
	}
	if t.QueuedMS > 0 {
		parts = append(parts, "queued "+precise(t.QueuedMS))
	}
	switch {
	case t.Queued && !r.Done:
		parts = append(parts, "waits for a slot since "+s.v.Clock.Running(t.Start))
	case t.Fail == trace.Cancelled:
		parts = append(parts, "the agent left after "+precise(t.MS))
	case t.Fail != "":
		parts = append(parts, s.failure(t))
	default:
		parts = append(parts, relayed(s.set, r, t))
		if t.Status != 0 {
			parts = append(parts, strconv.Itoa(t.Status))
		}
		if t.TTFTMS > 0 {
			parts = append(parts, "first byte "+precise(t.TTFTMS))
		}
		if !t.Done && !r.Done && t.TTFTMS == 0 {
			parts = append(parts, "asked "+s.v.Clock.Running(t.Start)+" ago, no answer yet")
		}
	}
	return parts
}

func precise(ms int64) string { return state.Precise(time.Duration(ms) * time.Millisecond) }

// failure is one sentence: what came, how soon, how much was sent on, and the rest that it earned.
func (s *sheet) failure(t *trace.Try) string {
	said := words.Kind(t.Fail)
	if t.Status >= http.StatusBadRequest {
		said = strconv.Itoa(t.Status) + " " + said
	}
	said += " in " + precise(t.MS)
	if t.TTFTMS == 0 {
		said += ", nothing sent"
	}
	if t.Rest == nil {
		return said
	}
	if t.Rest.Until.After(t.Rest.Since) {
		said += "; rests " + words.Lasts(*t.Rest)
	}
	return said + ", goes last"
}

func relayed(set *canvas.GlyphSet, r *trace.Route, t *trace.Try) string {
	if t.Translated != nil {
		return apiName(t.Translated.From) + " " + set.Arrow + " " + apiName(t.Translated.To)
	}
	if r.API == "" {
		return ""
	}
	return apiName(r.API) + " as it came"
}

func apiName(api string) string {
	switch api {
	case "chat":
		return "Chat"
	case "responses":
		return "Responses"
	case "messages":
		return "Messages"
	case "gemini":
		return "Gemini"
	}
	return api
}

// told says what the agent got instead of an answer, word for word, and when to come back.
func (s *sheet) told(r *trace.Route) {
	mark := r.Outcome()
	if mark != trace.Failed && mark != trace.Declined {
		return
	}
	label := "agent was told " + strconv.Itoa(r.Status)
	s.add(text(1, label, theme.Title))
	if r.Error != "" {
		s.say(nameAt, s.v.State.Masked(r.Error), theme.FG)
	}
	if at, who := state.Earliest(r); !at.IsZero() {
		back := "the first to come back is " + s.v.State.Name(who) + ", at " + s.v.Clock.When(at)
		if in := s.v.Clock.Countdown(at); in != "" {
			back += " (" + in + ")"
		}
		s.say(nameAt, back, theme.Muted)
	}
	s.gap()
}

// figures are tokens and cost.
func (s *sheet) figures(r *trace.Route) {
	t := r.Tokens
	if t.Input == 0 && t.Output == 0 {
		return
	}
	share, known := state.CachedShare(t)
	if s.narrow() {
		cached := ""
		if known {
			cached = fmt.Sprintf("cached %d%%", share)
		}
		s.say(1, joinParts("  ", "in "+words.Count(t.Input), cached, "out "+words.Count(t.Output), priced(r.Cost)), theme.FG)
		return
	}
	parts := []string{"in " + grouped(t.Input)}
	if known {
		parts = append(parts, fmt.Sprintf("cached %s (%d%%)", grouped(t.CacheRead), share))
	}
	if t.CacheWrite > 0 {
		parts = append(parts, "written "+grouped(t.CacheWrite))
	}
	parts = append(parts, "out "+grouped(t.Output))
	if t.Reasoning > 0 {
		parts = append(parts, "of it thinking "+grouped(t.Reasoning))
	}
	s.labelled("tokens", strings.Join(parts, "   "), theme.FG)
	cost := priced(r.Cost)
	if cost == "" && r.Done {
		cost = "unknown: no price for " + layout.Model(state.ModelOf(r))
	}
	s.labelled("cost", cost, theme.FG)
}

// shaped says what was guessed, what rules made of the request, and how hard its model was asked to think.
func (s *sheet) shaped(r *trace.Route) {
	if g := r.Resolved.Guessed; g != "" {
		s.labelled("guessed", r.Resolved.Provider+", for the name "+r.Asked+" begins with "+g, theme.Muted)
	}
	if r.Rule != nil {
		s.labelled("rule", s.v.State.Masked(words.Rule(r.Rule)), theme.Muted)
	}
	s.labelled("masked", words.Masked(r.Masked), theme.Muted)
	s.labelled("effort", words.Effort(state.LastTry(r), r.Effort), theme.Muted)
}

// moved says when a conversation changed hands with this request.
func (s *sheet) moved(r *trace.Route) {
	if r.Affinity != nil && r.Affinity.Why != "" {
		s.labelled("kept", s.v.State.Called(words.Keep(*r.Affinity)), theme.Muted)
	}
	last := state.LastTry(r)
	if r.Session == "" || last == nil || !r.Done || r.Status >= http.StatusBadRequest {
		return
	}
	before := s.before(r)
	if before == "" || before == last.ID {
		return
	}
	said := fmt.Sprintf("%s went from %s to %s here", state.Short(r.Session), s.v.State.Name(before), s.v.State.Name(last.ID))
	if s.narrow() {
		s.gap()
	}
	s.labelled("moved", said, theme.Muted)
}

// before is who answered the conversation's request before this one.
func (s *sheet) before(r *trace.Route) string {
	routes := s.v.State.Routes
	i := slices.IndexFunc(routes, func(x *trace.Route) bool { return x.ID == r.ID })
	for i--; i >= 0; i-- {
		if x := routes[i]; x.Session == r.Session && x.Done && x.Status < http.StatusBadRequest {
			if last := state.LastTry(x); last != nil {
				return last.ID
			}
		}
	}
	return ""
}
