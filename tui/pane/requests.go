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

// Requests is the second pane: who answered what, the newest first.
type Requests struct {
	Cursor state.Cursor[int64]
	Filter state.Filter
}

// Rows returns the requests that pass the filter, the newest first.
func (q *Requests) Rows(v *View) []*trace.Route {
	rows := make([]*trace.Route, 0, len(v.State.Routes))
	for i := len(v.State.Routes) - 1; i >= 0; i-- {
		if r := v.State.Routes[i]; q.Filter.Empty() || q.Filter.Match(v.State, r, v.Clock) {
			rows = append(rows, r)
		}
	}
	return rows
}

// Keys returns the ids of Rows.
func (q *Requests) Keys(v *View) []int64 { return ids(q.Rows(v)) }

func ids(rows []*trace.Route) []int64 {
	keys := make([]int64, len(rows))
	for i, r := range rows {
		keys[i] = r.ID
	}
	return keys
}

// headed says whether a list of that size has a line that names its columns.
func headed(w, h int) bool { return w >= 60 && h >= 4 }

// ListHeight returns how many requests a pane's body of that size shows.
func (q *Requests) ListHeight(w, h int) int {
	if headed(w, h) {
		return h - 1
	}
	return h
}

// Draw draws the pane.
func (q *Requests) Draw(c *canvas.Canvas, v *View, s Shown) {
	rows := q.Rows(v)
	if v.Kind == layout.Sliver {
		rows = liveOf(rows)
	}
	keys := ids(rows)
	if s.Title {
		title(c, s.Focus, "2 requests", q.ends(c, v, keys)...)
	}
	c = body(c, s)
	if s.Summary || c.H() <= 0 {
		return
	}
	if len(rows) == 0 {
		q.nothing(c, v)
		return
	}
	columns := layout.RequestColumns(c.W())
	if headed(c.W(), c.H()) {
		for _, col := range columns {
			if col.Right {
				c.TextRight(col.X, 0, col.W, col.Col.Title(), theme.Faint)
			} else {
				c.Text(col.X, 0, col.W, col.Col.Title(), theme.Faint)
			}
		}
		c = c.Sub(canvas.Rect{Y: 1, W: c.W(), H: c.H() - 1})
	}
	top, selected := q.Cursor.Top(keys, c.H()), q.Cursor.Index(keys)
	if v.Kind == layout.Sliver {
		top, selected = 0, -1
	}
	seen := rows[top:min(top+c.H(), len(rows))]
	models := modelNames(c.Glyphs(), seen, columns)
	for y, r := range seen {
		row := requestRow{v: v, r: r, model: models[y]}
		row.draw(c, y, columns)
		if s.Focus && top+y == selected {
			choose(c, y, 1)
		}
	}
}

func liveOf(rows []*trace.Route) []*trace.Route {
	var live []*trace.Route
	for _, r := range rows {
		if !r.Done {
			live = append(live, r)
		}
	}
	return live
}

// modelNames shortens the models that are seen together, so that two never look the same.
func modelNames(set *canvas.GlyphSet, rows []*trace.Route, columns []layout.Column) []string {
	ids := make([]string, len(rows))
	for i, r := range rows {
		id := state.ModelOf(r)
		// A relay's anthropic/claude-x is the vendor's claude-x: nothing to tell apart.
		if slash := strings.LastIndexByte(id, '/'); slash+1 < len(id) {
			id = id[slash+1:]
		}
		ids[i] = id
	}
	width := 15
	if col, has := column(columns, layout.ColModel); has {
		width = col.W
	}
	return layout.Models(set, ids, width)
}

// ends are the texts at the end of the title, the longest first.
func (q *Requests) ends(c *canvas.Canvas, v *View, keys []int64) []string {
	sep := " " + c.Glyphs().Sep + " "
	all := len(v.State.Routes)
	switch {
	case !q.Filter.Empty() || len(q.Filter.Bad) > 0:
		found := fmt.Sprintf("%s of %s", grouped(int64(len(keys))), grouped(int64(all)))
		text := q.Filter.Text
		if room := c.W() - c.Width(sep+found+sep+"esc clears") - 18; c.Width(text) > room && room >= 12 {
			text = c.Glyphs().Cut(text, room)
		}
		brief := text
		if room := c.W() - c.Width(sep+found) - 18; c.Width(text) > room && room >= 8 {
			brief = c.Glyphs().Cut(text, room)
		}
		return []string{text + sep + found + sep + "esc clears", brief + sep + found, found}
	case all == 0:
		return []string{"none yet"}
	case !q.Cursor.Follows():
		held := "held still"
		if n := q.Cursor.New(keys); n > 0 {
			held += sep + plus(n) + " new"
		}
		if v.Keys != nil && v.Keys("move.first") != "" {
			return []string{held + sep + v.Keys("move.first") + " to go live", held}
		}
		return []string{held}
	}
	live := c.Glyphs().Ahead + " live"
	switch {
	case v.Kind == layout.Wide:
		return []string{"all" + sep + "newest first" + sep + live, live}
	case c.W() >= 60:
		return []string{"all" + sep + live, live}
	}
	return []string{live}
}

func (q *Requests) nothing(c *canvas.Canvas, v *View) {
	if len(v.State.Routes) > 0 && v.Kind != layout.Sliver {
		hidden := grouped(int64(len(v.State.Routes))) + " hidden"
		c.Cut(3, min(1, c.H()-1), c.W()-4, "nothing matches "+c.Glyphs().Sep+" "+hidden, theme.Muted)
		return
	}
	noRequests(c, v)
}

// markLook is how a request's mark is drawn.
func markLook(set *canvas.GlyphSet, m trace.Outcome) (glyph string, pen theme.Role) {
	switch m {
	case trace.Live:
		return set.Live, theme.Live
	case trace.Answered:
		return set.Answered, theme.Fine
	case trace.Later:
		return set.Rerouted, theme.Resting
	case trace.Failed:
		return set.Failed, theme.Failed
	case trace.Declined:
		return set.Refused, theme.Refused
	case trace.Left:
		return set.Left, theme.Muted
	}
	return " ", theme.None
}

// requestRow is one request on its way to the canvas.
type requestRow struct {
	v     *View
	r     *trace.Route
	model string // as it is called among those that are seen with it
}

func (q *requestRow) draw(c *canvas.Canvas, y int, columns []layout.Column) {
	mark := q.r.Outcome()
	for _, col := range columns {
		text, pen := cellOf(c, q.v, q.r, col)
		switch col.Col { //nolint:exhaustive // the others are cellOf's
		case layout.ColMark:
			text, pen = markLook(c.Glyphs(), mark)
		case layout.ColModel:
			text, pen = q.model, theme.FG
		case layout.ColWho:
			text, pen = whoOf(c, q.v, q.r, col.W)
		}
		if col.Right {
			c.TextRight(col.X, y, col.W, text, pen)
		} else {
			c.Cut(col.X, y, col.W, text, pen)
		}
	}
}

// whoOf is who answered, or is asked; the blank before a name goes before the name is cut.
func whoOf(c *canvas.Canvas, v *View, r *trace.Route, room int) (string, theme.Role) {
	who, asking := v.State.AnsweredBy(r)
	mark := r.Outcome()
	switch {
	case asking:
		arrow := c.Glyphs().Arrow
		if c.Width(arrow+" "+who) <= room || c.Width(arrow+who) > room {
			arrow += " "
		}
		return arrow + who, theme.Live
	case mark == trace.Failed:
		return who, theme.Failed
	case mark == trace.Declined:
		return who, theme.Refused
	case mark == trace.Left:
		return who, theme.Muted
	}
	return who, theme.FG
}

// cellOf is what the plain columns of a request say.
func cellOf(c *canvas.Canvas, v *View, r *trace.Route, col layout.Column) (string, theme.Role) {
	switch col.Col { //nolint:exhaustive // row draws mark, model and who; the others are the accounts'
	case layout.ColTime:
		return v.Clock.Stamp(r.Time), theme.Muted
	case layout.ColAgent:
		return r.Agent, theme.Muted
	case layout.ColTry:
		return strconv.Itoa(len(r.Tries)), theme.Muted
	case layout.ColFirst:
		if r.TTFTMS > 0 {
			return state.Precise(time.Duration(r.TTFTMS) * time.Millisecond), theme.Muted
		}
	case layout.ColDur:
		return state.Lasted(r, v.Clock), theme.FG
	case layout.ColIn:
		if r.Tokens.Input > 0 {
			return words.Count(r.Tokens.Input), theme.Muted
		}
	case layout.ColCached:
		if share, known := state.CachedShare(r.Tokens); known {
			return strconv.Itoa(share) + "%", theme.FG
		}
	case layout.ColOut:
		switch {
		case !r.Done && r.TTFTMS > 0:
			return c.Glyphs().Ellipsis, theme.Live
		case r.Tokens.Output > 0:
			return words.Count(r.Tokens.Output), theme.Muted
		}
	case layout.ColCost:
		return priced(r.Cost), theme.Muted
	case layout.ColConv:
		return state.Short(r.Session), theme.Faint
	}
	return "", theme.None
}
