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
	var paces []float64 // of those with room, the highest first
	for _, b := range blocks {
		d.pace(b)
		if b.tier() == provider.Fine && !b.learns {
			paces = append(paces, b.pace)
		}
	}
	slices.SortFunc(paces, func(a, b float64) int { return cmp.Compare(b, a) })
	bands := paces[:0] // the highest of each
	for _, p := range paces {
		if len(bands) == 0 || p < band*bands[len(bands)-1] {
			bands = append(bands, p)
		}
	}
	slices.SortStableFunc(blocks, func(a, b block) int {
		if c := tiers(a, b); c != 0 || a.tier() != provider.Fine {
			return c
		}
		if c := cmp.Compare(rank(a.learns), rank(b.learns)); c != 0 || a.learns {
			return c
		}
		return cmp.Or(cmp.Compare(bandOf(bands, a.pace), bandOf(bands, b.pace)), cmp.Compare(d.lately(a.candidate), d.lately(b.candidate)))
	})
	for _, b := range blocks {
		switch {
		case sayTier(b.candidate):
		case b.learns:
			b.because = trace.Reason{Code: trace.WhyLearns}
		default:
			r := trace.Reason{Code: trace.WhyLessPace, Share: b.pace, At: b.due}
			if bandOf(bands, b.pace) == 0 {
				r.Code = trace.WhyPace
			}
			b.because = r
		}
	}
}

// bandOf is the place of the band that a pace is in: the last whose highest is not below it.
func bandOf(bands []float64, pace float64) int {
	for i := len(bands) - 1; i > 0; i-- {
		if pace <= bands[i] {
			return i
		}
	}
	return 0
}

// pace works out what a candidate may spend in an hour. A key without windows has no haste.
func (d *draft) pace(t block) {
	if !t.known && t.who.Kind != provider.KindAccount {
		return
	}
	t.pace, t.due = provider.Pace(d.s.ahead(&t.seat), t.model, d.s.Now)
}
