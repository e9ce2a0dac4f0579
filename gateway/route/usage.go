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
	for _, b := range blocks {
		b.rank = d.lately(b.candidate)
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Or(cmp.Compare(a.load, b.load), cmp.Compare(a.rank, b.rank)) })
	alike := blocks[0].load == blocks[len(blocks)-1].load
	for i, b := range blocks {
		r := trace.Reason{Code: trace.WhyMoreUsed, Share: b.used}
		switch first := blocks[0]; {
		case b.load == shut:
			r = spentBy(b.candidate)
		case alike:
			r = trace.Reason{Code: trace.WhyMoreTokens, Count: count(b)}
			if i == 0 || r.Count == count(first) {
				r.Code = trace.WhyFewestTokens
			}
		case b.load == first.load:
			r.Code = trace.WhyLeastUsed
		}
		b.because = r
	}
}

func (d *draft) lately(t *candidate) float64 { return d.s.Served[t.who.ID].Since(d.s.Now) }

// count is what was served lately as people read it, of those that are ranked by it.
func count(b block) int64 { return int64(math.Round(b.rank)) }

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
