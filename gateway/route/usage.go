package route

import (
	"cmp"
	"math"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
)

// usage puts the least used first; of those used alike, whoever served the fewest tokens lately.
func (d *draft) usage(blocks []block) {
	slices.SortStableFunc(blocks, func(a, b block) int {
		if c := cmp.Compare(a.used, b.used); c != 0 {
			return c
		}
		return cmp.Compare(d.lately(a.candidate), d.lately(b.candidate))
	})
	alike := blocks[0].used == blocks[len(blocks)-1].used
	for i, b := range blocks {
		r := trace.Reason{Code: trace.WhyMoreUsed, Share: b.used}
		switch first := blocks[0]; {
		case alike:
			r = trace.Reason{Code: trace.WhyMoreTokens, Count: d.count(b.candidate)}
			if i == 0 || r.Count == d.count(first.candidate) {
				r.Code = trace.WhyFewestTokens
			}
		case b.used == first.used:
			r.Code = trace.WhyLeastUsed
		}
		b.because = r
	}
}

func (d *draft) lately(t *candidate) float64 { return d.s.Served[t.who.ID].Since(d.s.Now) }

func (d *draft) count(t *candidate) int64 { return int64(math.Round(d.lately(t))) }

// halfLife is how long it takes until a token served counts half.
const halfLife = time.Hour

// Since returns what is left of the count at now.
func (l Lately) Since(now time.Time) float64 {
	if l.Tokens == 0 || !now.After(l.At) {
		return l.Tokens
	}
	return l.Tokens * math.Exp2(-float64(now.Sub(l.At))/float64(halfLife))
}

// Add returns the count with tokens served at a time.
func (l Lately) Add(tokens int64, at time.Time) Lately {
	if at.Before(l.At) {
		at = l.At
	}
	return Lately{Tokens: l.Since(at) + float64(max(tokens, 1)), At: at}
}
