package route

import (
	"cmp"
	"slices"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// band is how far below the highest pace of a band its others may be.
const band = 0.9

// byPace puts first whoever has the most to spend for each hour until it renews. Paces that
// differ little count alike: there, whoever served the fewest tokens lately goes first.
func (d *draft) byPace(blocks []block) {
	paces := d.paces[:0] // of those with room, the highest first
	for _, b := range blocks {
		d.pace(b)
		if b.tier() == provider.Fine && !b.learns {
			paces = append(paces, b.pace)
		}
	}
	d.paces = paces
	slices.SortFunc(paces, func(a, b float64) int { return cmp.Compare(b, a) })
	bands := paces[:0] // the highest of each
	for _, p := range paces {
		if len(bands) == 0 || p < band*bands[len(bands)-1] {
			bands = append(bands, p)
		}
	}
	for _, b := range blocks {
		d.bandOf(b.candidate, bands)
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Or(cmp.Compare(a.band, b.band), cmp.Compare(a.rank, b.rank)) })
	for _, b := range blocks {
		switch {
		case sayTier(b.candidate):
		case b.learns:
			b.because = trace.Reason{Code: trace.WhyLearns}
		default:
			r := trace.Reason{Code: trace.WhyLessPace, Share: b.pace, At: b.due}
			if b.band == 0 {
				r.Code = trace.WhyPace
			}
			b.because = r
		}
	}
}

// bandLearns stands before all bands, those with little room left behind them.
const (
	bandLearns = -1
	bandLow    = 1 << 30
	bandSpent  = 1<<30 + 1
)

// bandOf works out where pace sees a candidate: its band, which is the last whose highest is not
// below its pace, and there what it served lately; with little room left what it used.
func (d *draft) bandOf(t *candidate, bands []float64) {
	switch t.tier() {
	case provider.Low:
		t.band, t.rank = bandLow, t.load
		return
	case provider.Spent:
		t.band, t.rank = bandSpent, t.load
		return
	case provider.Fine:
	}
	if t.learns {
		t.band, t.rank = bandLearns, 0
		return
	}
	t.band = len(bands) - 1
	for t.band > 0 && t.pace > bands[t.band] {
		t.band--
	}
	t.rank = d.lately(t)
}

// pace works out what a candidate may spend in an hour. A key without windows has no haste.
func (d *draft) pace(t block) {
	if !t.known && t.who.Kind != provider.KindAccount {
		return
	}
	t.pace, t.due = provider.Pace(d.s.ahead(&t.seat), t.model, d.s.Now)
}
