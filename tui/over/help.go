package over

import (
	"strings"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/state"
	"dev.magpie/tui/theme"
)

// Help is the page of keys: those for here, those that work everywhere, and what the marks mean.
type Help struct {
	From      keys.Scope // whose keys come first
	Searching bool       // keys go to Search
	Search    Input
	Scroll    int
}

const (
	keysWide   = 10 // cells of the column of keys
	twoAbreast = 76 // from this width on two columns stand side by side
)

// Title is the head of the page.
func (h *Help) Title(set *canvas.GlyphSet) string {
	return "keys " + set.Sep + " " + string(h.From)
}

// Lines is the page in a width.
func (h *Help) Lines(set *canvas.GlyphSet, reg *keys.Registry, width int) []Row {
	word := strings.ToLower(strings.TrimSpace(h.Search.String()))
	if word != "" {
		return h.found(set, reg, word, width)
	}
	here := append([]Row{heading("here")}, entries(reg.In(h.From), set, column(width))...)
	var moves, others []keys.Command
	for _, c := range reg.Everywhere() {
		if strings.HasPrefix(string(c.ID), "move.") {
			moves = append(moves, c)
		} else {
			others = append(others, c)
		}
	}
	here = append(here, nil, heading("move"))
	here = append(here, entries(moves, set, column(width))...)
	everywhere := append([]Row{heading("everywhere")}, entries(others, set, column(width))...)
	lines := abreast(set, here, everywhere, width)
	lines = append(lines, nil)
	return append(lines, legend(set, width)...)
}

// Row is one line of the page.
type Row = []canvas.Span

func heading(s string) Row { return Row{{Text: s, Pen: theme.Title}} }

func column(width int) int {
	if width >= twoAbreast {
		return width/2 - 1
	}
	return width - 2
}

// entries are commands, each with its keys and what it does.
func entries(cs []keys.Command, set *canvas.GlyphSet, width int) []Row {
	var rows []Row
	for i := range cs {
		rows = append(rows, entry(&cs[i], set, width)...)
	}
	return rows
}

func entry(c *keys.Command, set *canvas.GlyphSet, width int) []Row {
	wide := min(keysWide, max(width/3, 1))
	pressed := shown(c)
	var rows []Row
	for i, l := range set.Wrap(c.Help, max(width-wide, 1)) {
		if i > 0 {
			pressed = ""
		}
		rows = append(rows, Row{{Text: fill(set, within(set, pressed, wide-1), wide), Pen: theme.Key}, {Text: l, Pen: theme.FG}})
	}
	return rows
}

// shown is how a command's keys are written.
func shown(c *keys.Command) string {
	var names []string
	for _, k := range c.Keys {
		parts := strings.Split(k, " ")
		if k == " " {
			parts = []string{k}
		}
		for j := range parts {
			parts[j] = keys.Shown(parts[j])
		}
		names = append(names, strings.Join(parts, " "))
	}
	return strings.Join(names, "  ")
}

// within is as many of a command's keys as fit a width.
func within(set *canvas.GlyphSet, pressed string, width int) string {
	for set.Width(pressed) > width {
		i := strings.LastIndex(pressed, "  ")
		if i < 0 {
			return set.Cut(pressed, width)
		}
		pressed = pressed[:i]
	}
	return pressed
}

func fill(set *canvas.GlyphSet, s string, w int) string {
	if n := set.Width(s); n < w {
		s += strings.Repeat(" ", w-n)
	}
	return s
}

// abreast sets two columns side by side, or below each other where there is no room.
func abreast(set *canvas.GlyphSet, left, right []Row, width int) []Row {
	if width < twoAbreast {
		return append(append(left, nil), right...)
	}
	rows := make([]Row, max(len(left), len(right)))
	for i := range rows {
		used := 0
		if i < len(left) {
			rows[i] = left[i]
			for _, s := range left[i] {
				used += set.Width(s.Text)
			}
		}
		if i < len(right) {
			rows[i] = append(rows[i : i+1 : i+1][0], canvas.Span{Text: strings.Repeat(" ", max(width/2-used, 1))})
			rows[i] = append(rows[i], right[i]...)
		}
	}
	return rows
}

// found lists every command whose key, words or help hold a word, with where it works.
func (h *Help) found(set *canvas.GlyphSet, reg *keys.Registry, word string, width int) []Row {
	var rows []Row
	all := reg.All()
	for i := range all {
		c := &all[i]
		text := strings.ToLower(shown(c) + " " + c.Help + " " + c.Words + " " + c.Hint + " " + string(c.ID))
		if !strings.Contains(text, word) {
			continue
		}
		where := "everywhere"
		if c.In != nil {
			names := make([]string, len(c.In))
			for j, s := range c.In {
				names[j] = string(s)
			}
			where = strings.Join(names, ", ")
		}
		rows = append(rows, entry(c, set, width-2)...)
		for _, l := range set.Wrap(where, max(width-2-keysWide, 1)) {
			rows = append(rows, Row{{Text: strings.Repeat(" ", keysWide)}, {Text: l, Pen: theme.Faint}})
		}
	}
	if len(rows) == 0 {
		return []Row{{{Text: "no key does that", Pen: theme.Muted}}}
	}
	return rows
}

// legend says what the marks, the bars and the filter's words mean.
func legend(set *canvas.GlyphSet, width int) []Row {
	type mark struct {
		glyph string
		pen   theme.Role
		words string
	}
	marks := []mark{
		{set.Fine, theme.Fine, "fine"},
		{set.Low, theme.Low, "low, from 90%"},
		{set.Spent, theme.Spent, "spent"},
		{set.Resting, theme.Resting, "resting"},
		{set.Paused, theme.Paused, "paused"},
		{set.Held, theme.Held, "held"},
		{set.Pinned, theme.Pinned, "pinned"},
		{set.Unready, theme.Failed, "not ready"},
		{set.Off, theme.Faint, "off"},
	}
	requests := []mark{
		{set.Live, theme.Live, "live"},
		{set.Answered, theme.Fine, "answered"},
		{set.Rerouted, theme.Resting, "on a later try"},
		{set.Failed, theme.Failed, "failed"},
		{set.Refused, theme.Refused, "refused"},
		{set.Left, theme.Muted, "agent left"},
	}
	bars := []mark{
		{set.BarUsed, theme.Bar, "used"}, {set.Pace, theme.Pace, "where an even pace would be"}, {set.Ahead, theme.BarOver, "ahead of it by more than 5 points"},
	}
	var rows []Row
	put := func(name string, ms []mark) {
		const at = keysWide
		row, used := Row{{Text: fill(set, name, at), Pen: theme.Title}}, at
		for _, m := range ms {
			n := set.Width(m.glyph) + 1 + set.Width(m.words)
			if used > at && used+2+n > width-1 {
				rows = append(rows, row)
				row, used = Row{{Text: strings.Repeat(" ", at)}}, at
			}
			if used > at {
				row = append(row, canvas.Span{Text: "  "})
				used += 2
			}
			row = append(row, canvas.Span{Text: m.glyph + " ", Pen: m.pen}, canvas.Span{Text: m.words, Pen: theme.FG})
			used += n
		}
		rows = append(rows, row)
	}
	rows = append(rows, paragraph(set, "header", "what is live now, requests and errors of the last minute, then today", width)...)
	put("accounts", marks)
	put("requests", requests)
	put("bars", bars)
	return append(rows, paragraph(set, "filter", "words match anywhere, field:value narrows, - negates: "+strings.Join(state.Fields(), " ")+
		"; try:>1 ttfb:>2s state:failed since:10m -agent:claude", width)...)
}

// paragraph is a text with its name at the left.
func paragraph(set *canvas.GlyphSet, name, words string, width int) []Row {
	var rows []Row
	for i, l := range set.Wrap(words, max(width-keysWide-1, 1)) {
		if i > 0 {
			name = ""
		}
		rows = append(rows, Row{{Text: fill(set, name, keysWide), Pen: theme.Title}, {Text: l, Pen: theme.FG}})
	}
	return rows
}

// Top is the first line shown in a height.
func (h *Help) Top(lines, height int) int { return min(max(h.Scroll, 0), max(lines-height, 0)) }

// Draw draws the page under its title.
func (h *Help) Draw(c *canvas.Canvas, reg *keys.Registry) {
	lines := h.Lines(c.Glyphs(), reg, c.W()-1)
	top := h.Top(len(lines), c.H())
	for y := 0; y < c.H() && top+y < len(lines); y++ {
		c.Spans(1, y, c.W()-1, lines[top+y]...)
	}
}

// Below counts the lines that a height does not show.
func (h *Help) Below(set *canvas.GlyphSet, reg *keys.Registry, width, height int) int {
	lines := len(h.Lines(set, reg, width))
	return max(lines-h.Top(lines, height)-height, 0)
}
