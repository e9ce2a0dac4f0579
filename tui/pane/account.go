package pane

import (
	"fmt"
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

// AccountPage shows all that is known of one account: its windows with their pace, its
// rests, and what it did today. place says where it stands in the list, such as "2 of 6".
func AccountPage(set *canvas.GlyphSet, v *View, a *trace.Account, width int, place string) Page {
	s := &sheet{set: set, v: v, w: width}
	p := Page{Title: joinParts(s.sep(), v.State.Name(a.ID), kindOf(a)), Ends: []string{place, ""}}
	s.verdict(a)
	s.gap()
	for i := range a.Windows {
		s.window(a, a.Windows[i])
	}
	s.reading(a)
	s.gap()
	s.facts(a)
	s.today(a)
	p.Lines = s.lines
	return p
}

// kindOf says what an account is: "claude subscription (Pro)", "anthropic key".
func kindOf(a *trace.Account) string {
	kind := a.Kind
	switch kind {
	case "account":
		kind = "subscription"
	case "provider":
		return "no key needed"
	}
	kind = a.Provider + " " + kind
	if a.Plan != "" {
		kind += " (" + a.Plan + ")"
	}
	return kind
}

// verdict is one sentence on how the account stands and what follows from it.
func (s *sheet) verdict(a *trace.Account) {
	glyph, pen, _ := look(s.set, a.State)
	s.marked(glyph, pen, wrap(s.set, s.verdictWords(a), s.w-4))
	if a.Pinned != nil {
		s.pinned(a)
	}
}

func (s *sheet) pinned(a *trace.Account) {
	said := "pinned " + s.v.Clock.Ago(a.Pinned.Since) + ": asked first"
	if a.Pinned.Only {
		said = "pinned " + s.v.Clock.Ago(a.Pinned.Since) + ": nobody else is asked"
	}
	if who := joinParts(", ", a.Pinned.Agent, a.Pinned.Model); who != "" {
		said += " for " + who
	}
	if left := s.v.Clock.Left(a.Pinned.Until); !a.Pinned.Until.IsZero() && left != "" {
		said += ", for another " + left
	} else {
		said += " until unpinned"
	}
	s.marked(s.set.Pinned, theme.Pinned, wrap(s.set, said, s.w-4))
}

func (s *sheet) verdictWords(a *trace.Account) string {
	r := accountRow{v: s.v, a: a}
	w, known := state.Fullest(a)
	switch a.State {
	case trace.Fine:
		if known {
			return fmt.Sprintf("fine: %s of its %s is used", gauge(w, 0, s.v.Clock).Percent(), windowWords(w))
		}
		if a.ReadOnly != "" {
			return "fine: nothing is known to be used up"
		}
		return "fine: nothing keeps it from being asked"
	case trace.Low:
		if known && a.ReadOnly != "" {
			return fmt.Sprintf("low: %s of its %s is used", gauge(w, 0, s.v.Clock).Percent(), windowWords(w))
		}
		if known {
			return fmt.Sprintf("low: %s of its %s is used, so new conversations go elsewhere first", gauge(w, 0, s.v.Clock).Percent(), windowWords(w))
		}
		return "low: new conversations go elsewhere first"
	case trace.Spent:
		if state.Denied(a) && a.Error != "" {
			return joinParts(": ", "spent", a.Error)
		}
		said := "spent: " + r.outOf()
		if at := state.Back(a); !at.IsZero() {
			said += ", back at " + s.v.Clock.When(at)
		}
		return said
	case trace.Resting:
		rests := strings.TrimSpace("rests " + r.restLeft())
		if a.Error != "" {
			return joinParts(", ", rests, "asked last meanwhile") + ": " + a.Error
		}
		return joinParts(", ", rests, r.cause(), "asked last meanwhile")
	case trace.Held:
		return "held: past its share of the cap, so it is left to its owner"
	case trace.Paused_:
		return r.paused() + ": never asked until it is resumed"
	case trace.Unready:
		return joinParts(": ", "not ready", a.Error)
	case trace.Off:
		return "off in the config: never asked"
	}
	return string(a.State)
}

// windowWords is a window's name in a sentence.
func windowWords(w trace.Window) string {
	if w.Name == "" {
		return "window"
	}
	if w.Model != "" {
		return w.Name + " for " + w.Model
	}
	return w.Name
}

// window draws a bar with its use and renewal, and its pace below.
func (s *sheet) window(a *trace.Account, w trace.Window) {
	barW := min(max(s.w-48, 8), 32)
	if s.narrow() {
		barW = min(max(s.w-34, 4), 16)
	}
	const x = 7
	if w.Endless {
		s.say(x, state.WindowName(w)+": "+words.NoLimit, theme.FG)
		return
	}
	g := gauge(w, barW, s.v.Clock)
	l := Line{Bar: &barSpec{x: x, w: barW, gauge: g, label: canvas.Span{Text: state.WindowName(w), Pen: theme.FG}}}
	used := "  " + g.Percent() + " used"
	if renewed(w, s.v.Clock) {
		used = "  renewed since it was read"
	}
	l.From = x + barW
	l.Spans = []canvas.Span{{Text: used, Pen: theme.FG}}
	renews := ""
	if w.Resets != nil && !renewed(w, s.v.Clock) {
		left, at := s.v.Clock.Left(*w.Resets), s.v.Clock.When(*w.Resets)
		renews = "renews in " + left + ", " + at
	}
	if renews != "" && x+barW+s.set.Width(used)+3+s.set.Width(renews) < s.w {
		l.Spans = append(l.Spans, canvas.Span{Text: "   " + renews, Pen: theme.Muted})
		renews = ""
	}
	s.add(l)
	if renews != "" {
		s.say(x, renews, theme.Muted)
	}
	if amount := words.Amount(&w); amount != "" {
		s.say(x, amount, theme.Muted)
	}
	if pace := s.paceWords(a, w); pace != "" {
		s.say(x, pace, theme.Muted)
	}
	if w.Aside {
		s.say(x, "using it up stops nothing", theme.Muted)
	}
}

// reading says when and from what the windows were read, and why they are not any more.
func (s *sheet) reading(a *trace.Account) {
	read := lastRead(a)
	switch asked := a.Read; {
	case asked != nil && !asked.Before(read):
		s.say(3, "read "+s.v.Clock.Ago(*asked)+", as its vendor told when asked", theme.Muted)
	case !read.IsZero():
		s.say(3, "read "+s.v.Clock.Ago(read)+" from a reply", theme.Muted)
	case len(a.Windows) == 0 && a.ReadError == "":
		s.say(3, "No allowance is known: this "+a.Kind+"'s replies name no window.", theme.Muted)
	}
	if a.ReadError != "" {
		for _, line := range wrap(s.set, "it can't be read now: "+a.ReadError, s.w-4) {
			s.say(3, line, theme.Low)
		}
	}
}

// paceWords says how use compares with the clock, and when the window is full if it goes on so.
func (s *sheet) paceWords(a *trace.Account, w trace.Window) string {
	if renewed(w, s.v.Clock) {
		return ""
	}
	var parts []string
	if n := state.Ahead(w, s.v.Clock); n > 0 {
		parts = append(parts, plural(n, "point")+" ahead of the clock")
	}
	if at, known := s.v.State.FullAt(a.ID, w.Name, w.Model); known {
		left := s.v.Clock.Left(at)
		switch {
		case w.Resets != nil && at.After(*w.Resets):
			parts = append(parts, "lasts until it renews at the last quarter of an hour's rate")
		case left != "":
			parts = append(parts, "full in about "+left+" at the last quarter of an hour's rate")
		}
	}
	return joinParts(s.sep(), parts...)
}

func lastRead(a *trace.Account) time.Time {
	var read time.Time
	for i := range a.Windows {
		if a.Windows[i].Read.After(read) {
			read = a.Windows[i].Read
		}
	}
	return read
}

// fact adds a line with its name at the left.
func (s *sheet) fact(label, said string) {
	if said == "" {
		return
	}
	x := 14
	for i, line := range wrap(s.set, said, s.w-x-1) {
		l := text(x, line, theme.FG)
		if i == 0 {
			l = Line{Spans: []canvas.Span{{Text: "   "}, {Text: pad(s.set, label, x-3), Pen: theme.Muted}, {Text: line, Pen: theme.FG}}}
		}
		s.add(l)
	}
}

// facts are what the config and the vendor say of it.
func (s *sheet) facts(a *trace.Account) {
	if !s.v.State.Masks() {
		s.fact("id", a.ID)
	}
	if a.ReadOnly != "" {
		s.fact("only shown", a.ReadOnly)
	}
	if a.Resets != nil {
		said := strconv.Itoa(a.Resets.Count) + " left"
		if !a.Resets.Until.IsZero() {
			said += " until " + s.v.Clock.When(a.Resets.Until)
		}
		s.fact("resets", said)
	}
	if a.Balance != "" {
		s.fact("balance", a.Balance)
	}
	if a.Cap > 0 {
		s.fact("cap", strconv.Itoa(a.Cap)+"%")
	}
	s.fact("place", strconv.Itoa(a.Place+1)+" of "+strconv.Itoa(len(s.v.State.Accounts))+" in your config")
	s.fact("rests", s.restWords(a))
	if a.InFlight > 0 || a.Waiting > 0 {
		s.fact("under way", underWay(a))
	}
	s.fact("holds", s.holdWords(a))
}

// underWay says how many requests an account has, of how many, and how many wait.
func underWay(a *trace.Account) string {
	said := plural(a.InFlight, "request")
	if a.Limit > 0 {
		said = strconv.Itoa(a.InFlight) + " of " + plural(a.Limit, "request")
	}
	if a.Waiting > 0 {
		said += ", " + strconv.Itoa(a.Waiting) + " waiting"
	}
	return said
}

func (s *sheet) restWords(a *trace.Account) string {
	sum := s.v.State.Today(a.ID, s.v.Clock)
	said := "none now"
	if a.Rest != nil && !s.v.Clock.Passed(a.Rest.Until) {
		said = joinParts(", ", words.Kind(a.Rest.Why), "until "+s.v.Clock.When(a.Rest.Until))
	}
	for i := range a.Rests {
		rest := &a.Rests[i]
		if !s.v.Clock.Passed(rest.Until) {
			said += s.sep() + rest.Key + " until " + s.v.Clock.When(rest.Until)
		}
	}
	if len(sum.Rests) == 0 {
		return said
	}
	var times []string
	for i, r := range sum.Rests {
		if i == 3 {
			break
		}
		times = append(times, words.Kind(r.Kind)+" "+s.v.Clock.Stamp(r.At))
	}
	return said + s.sep() + strconv.Itoa(len(sum.Rests)) + " today (" + strings.Join(times, ", ") + ")"
}

// holdWords names the conversations that this account answered last.
func (s *sheet) holdWords(a *trace.Account) string {
	held, first := 0, ""
	talks := s.v.State.Talks()
	for i := range talks {
		if talks[i].Account != a.ID {
			continue
		}
		held++
		if first == "" {
			age, _ := ageOf(s.v, &talks[i])
			first = joinParts(", ", joinParts(" ", state.Short(talks[i].Session), talks[i].Agent), plural(talks[i].Turns(), "turn"), age)
		}
	}
	if held > 1 {
		first += s.sep() + strconv.Itoa(held-1) + " more"
	}
	return first
}

// today is what it did today, as far as the screen knows its requests.
func (s *sheet) today(a *trace.Account) {
	sum := s.v.State.Today(a.ID, s.v.Clock)
	s.gap()
	if sum.Requests == 0 {
		s.fact("today", "not asked yet")
		return
	}
	share, known := state.CachedShare(sum.Tokens)
	cached := ""
	if known {
		cached = strconv.Itoa(share) + "% cached"
	}
	in := ""
	if sum.Tokens.Input > 0 {
		in = words.Count(sum.Tokens.Input) + " in"
	}
	apart := "   "
	if s.narrow() {
		apart = s.sep() // it may need two lines
	}
	s.fact("today", joinParts(apart, plural(sum.Requests, "request"), strconv.Itoa(sum.Failed)+" failed",
		in, cached, cents(sum.CostUSD, int64(sum.Unpriced))))
	if sum.Median > 0 {
		s.fact("first byte", fmt.Sprintf("%s median, %s worst in twenty", state.Precise(sum.Median), state.Precise(sum.Slow)))
	}
	s.last(sum)
}

// last lists the latest requests that it answered.
func (s *sheet) last(sum state.Sum) {
	if len(sum.Last) == 0 {
		return
	}
	s.gap()
	for i, r := range sum.Last {
		if i == 5 {
			break
		}
		glyph, pen := markLook(s.set, r.Outcome())
		label := ""
		if i == 0 {
			label = "last"
		}
		s.add(Line{Spans: []canvas.Span{
			{Text: "   "},
			{Text: pad(s.set, label, 11), Pen: theme.Muted},
			{Text: s.v.Clock.Stamp(r.Time) + " ", Pen: theme.Muted},
			{Text: glyph + " ", Pen: pen},
			{Text: s.set.Cut(joinParts(" ", layout.Model(state.ModelOf(r)), state.Lasted(r, s.v.Clock)), max(s.w-23, 0)), Pen: theme.FG},
		}})
	}
}
