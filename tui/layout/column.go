package layout

// Col is a column's name.
type Col uint8

// The columns of the lists.
const (
	ColMark Col = iota
	ColTime
	ColAgent
	ColModel
	ColWho // answered by
	ColTry
	ColFirst // time to the first byte
	ColDur
	ColIn
	ColCached
	ColOut
	ColCost
	ColConv

	ColName
	ColProvider
	ColWindow
	ColBar
	ColAhead
	ColUsed
	ColRenews
	ColNote
)

// Column is a column's place in a row.
type Column struct {
	Col   Col
	X, W  int
	Right bool // numbers end at the column's right edge
}

// titles is indexed by Col; columns that need none are not in it.
var titles = [...]string{
	ColTime: "TIME", ColAgent: "AGENT", ColModel: "MODEL", ColWho: "ANSWERED BY", ColTry: "TRY", ColFirst: "TTFB",
	ColDur: "DUR", ColIn: "IN", ColCached: "CACH", ColOut: "OUT", ColCost: "COST", ColConv: "CONV",
}

// Title heads a column, "" where its contents say it.
func (c Col) Title() string {
	if int(c) >= len(titles) {
		return ""
	}
	return titles[c]
}

// field is a column before it has a place.
type field struct {
	col   Col
	w     int
	right bool
	gap   int // cells before it
	most  int // grows up to this when there is room, 0 = never
}

// place sets fields side by side, gives what room is left to those that grow, in their order, and
// leaves out nothing: the caller chose fields that fit.
func place(width int, fields []field) []Column {
	spare := width
	for _, f := range fields {
		spare -= f.gap + f.w
	}
	for spare > 0 {
		grown := false
		for i := range fields {
			if f := &fields[i]; spare > 0 && f.w < f.most {
				f.w++
				spare--
				grown = true
			}
		}
		if !grown {
			break
		}
	}
	columns := make([]Column, 0, len(fields))
	x := 0
	for _, f := range fields {
		x += f.gap
		columns = append(columns, Column{Col: f.col, X: x, W: f.w, Right: f.right})
		x += f.w
	}
	return columns
}

var (
	mark   = field{col: ColMark, w: 1, gap: 1} // the first cell is the cursor's
	clock  = field{col: ColTime, w: 5, gap: 1}
	agent  = field{col: ColAgent, w: 7, gap: 1, most: 8}
	try    = field{col: ColTry, w: 3, gap: 1, right: true}
	ttfb   = field{col: ColFirst, w: 5, gap: 1, right: true}
	dur    = field{col: ColDur, w: 5, gap: 1, right: true}
	in     = field{col: ColIn, w: 6, gap: 1, right: true}
	cached = field{col: ColCached, w: 4, gap: 1, right: true}
	out    = field{col: ColOut, w: 5, gap: 1, right: true}
	cost   = field{col: ColCost, w: 7, gap: 1, right: true}
	who    = field{col: ColWho, w: 11, gap: 1, most: 24}
	conv   = field{col: ColConv, w: 4, gap: 1}
)

func model(w int) field { return field{col: ColModel, w: w, gap: 1, most: 32} }

// RequestColumns are the columns of the list of requests in a pane of a width. Whole columns
// leave, least needed first; what stays keeps its width.
func RequestColumns(width int) []Column {
	return place(width, requestFields(width))
}

func requestFields(width int) []field {
	switch {
	case width >= 96:
		return []field{mark, clock, agent, model(15), who, try, ttfb, dur, in, cached, out, cost, conv}
	case width >= 78:
		return []field{mark, clock, agent, model(15), who, try, ttfb, dur, in, cached, out}
	case width >= 60:
		return []field{mark, clock, model(12), who, try, ttfb, dur, cached, out}
	case width >= 46:
		return []field{mark, clock, model(12), who, dur, cached}
	case width >= 40:
		return []field{mark, model(12), who, dur, cached}
	case width >= 18:
		return []field{mark, model(8), dur}
	case width >= 4:
		return []field{mark, model(1)}
	}
	return []field{{col: ColMark, w: min(max(width, 0), 1)}}
}
