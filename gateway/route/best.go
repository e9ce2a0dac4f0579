package route

import (
	"cmp"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// What best goes by. The page says why, and what it measured.
const (
	hasty    = 1.5 * provider.UnknownPace // percent an hour: faster than a whole week lasts by half
	staySlow = 5                          // percent that who answered last may be used more, and yet keep a cold conversation
	stayFast = 1.25                       // so much less pressed may it be
)

// stand is where best sees a candidate: the first that holds.
type stand uint8

const (
	standLearns stand = iota // its reply will tell what nobody knows
	standHaste               // its budget ends unused unless it is spent faster than others
	standRoom                // it has room
	standDark                // nothing is known of its allowance
	standLow                 // a window is nearly used up
	standByUse               // it has no allowance: what it answers is paid for by itself
	standFull                // a window is used up
)

// best spends what is paid for before what costs money: first the budgets that would end
// unused, most pressed first, then whose short windows are used least, so that none runs out
// under a conversation. It spends each to its end, and moves no conversation for a trifle.
func (d *draft) best(blocks []block) {
	for _, b := range blocks {
		d.stand(b)
	}
	slices.SortStableFunc(blocks, func(a, b block) int {
		return cmp.Or(cmp.Compare(a.stand, b.stand), cmp.Compare(a.rank, b.rank), sooner(a.renews, b.renews))
	})
	sayBest(blocks)
}

// stand works out where a candidate stands, and its rank among those that stand alike.
func (d *draft) stand(t block) {
	t.rank = 0
	switch {
	case t.load >= 100:
		t.stand, t.rank = standFull, t.load
		return
	case t.learns:
		t.stand = standLearns
		return
	case !t.known && t.who.Kind == provider.KindAccount:
		t.stand = standDark
		return
	case !t.known:
		t.stand = standByUse
		return
	}
	d.pace(t)
	short, budget := d.short(t.candidate)
	t.short = short
	pace, stays := t.pace, d.c.Keep != nil && d.c.Keep.ID == t.who.ID
	if stays {
		short, pace = max(0, short-staySlow), pace*stayFast
	}
	switch {
	case short >= provider.LowShare:
		t.stand, t.rank = standLow, short
	case budget && pace >= hasty:
		t.stand, t.rank = standHaste, -pace
	default:
		t.stand, t.rank = standRoom, short
	}
}

// short is how much is used of the fullest window shorter than a day, and whether there is a
// budget besides.
func (d *draft) short(t *candidate) (used float64, budget bool) {
	for i := range t.standing.Windows {
		w := &t.standing.Windows[i]
		switch {
		case !w.Stops(t.model):
		case w.Span == 0 || w.Span >= 24*time.Hour:
			budget = true
		default:
			used = max(used, w.UsedAt(d.s.Now))
		}
	}
	return used, budget
}

func sayBest(blocks []block) {
	for _, b := range blocks {
		r := trace.Reason{Share: b.used}
		switch b.stand {
		case standLearns:
			r = trace.Reason{Code: trace.WhyLearns}
		case standHaste:
			r = trace.Reason{Code: trace.WhyHaste, Share: b.pace, At: b.due}
		case standRoom:
			r.Code, r.Share = trace.WhyLevel, b.short
		case standDark:
			r.Code = trace.WhyUnknown
		case standLow:
			r.Code, r.Share = trace.WhyLow, b.short
		case standByUse:
			r.Code = trace.WhyByUse
		case standFull:
			r = spentBy(b.candidate)
		}
		b.because = r
	}
}
