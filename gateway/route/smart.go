package route

import (
	"cmp"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// smart spends what renews soonest: those with room first, of them whoever's reply will
// tell what nobody knows yet, then by their renewals. Those with little room left come
// behind, the emptier first.
func smart(blocks []block) {
	slices.SortStableFunc(blocks, func(a, b block) int {
		if c := tiers(a, b); c != 0 || a.tier() != provider.Fine {
			return c
		}
		return cmp.Or(cmp.Compare(rank(a.learns), rank(b.learns)), sooner(a.renews, b.renews))
	})
	saySmart(blocks)
}

// tiers compares by tier, and within those that have little room left by what is used.
func tiers(a, b block) int {
	ta, tb := a.tier(), b.tier()
	if c := cmp.Compare(tierRank(ta), tierRank(tb)); c != 0 || ta == provider.Fine {
		return c
	}
	return cmp.Compare(a.load, b.load)
}

func (t *candidate) tier() provider.Tier { return provider.TierOf(t.load) }

func tierRank(t provider.Tier) int {
	switch t {
	case provider.Fine:
		return 0
	case provider.Low:
		return 1
	case provider.Spent:
		return 2
	}
	return 0
}

// sooner compares two lists of renewals place by place, by the hour of the clock: 13:55 and
// 14:05 differ. A known one goes before one that is not.
func sooner(a, b []time.Time) int {
	for i := range max(len(a), len(b)) {
		if c := cmp.Compare(hour(a, i), hour(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

// hour is the hour of the i-th renewal, after all others when it is unknown.
func hour(renews []time.Time, i int) int64 {
	if i >= len(renews) || renews[i].IsZero() {
		return 1 << 62
	}
	return renews[i].Unix() / 3600
}

func saySmart(blocks []block) {
	var first *candidate // of those with room, the first that renews
	for _, b := range blocks {
		switch {
		case sayTier(b.candidate):
		case b.learns:
			b.because = trace.Reason{Code: trace.WhyLearns}
		case first == nil && (len(b.renews) == 0 || b.renews[0].IsZero()):
			// nothing is known of anyone: as listed
		case hour(b.renews, 0) == hour(nil, 0):
			b.because = trace.Reason{Code: trace.WhyUnknown, Share: b.used}
		default:
			if first == nil {
				first = b.candidate
			}
			code := trace.WhySooner
			if sooner(first.renews, b.renews) != 0 {
				code = trace.WhyLater
			}
			b.because = trace.Reason{Code: code, Share: b.used, At: b.renews[0]}
		}
	}
}

// sayTier notes that a candidate has little room left; false = it has room.
func sayTier(t *candidate) bool {
	switch t.tier() {
	case provider.Spent:
		t.because = spentBy(t)
	case provider.Low:
		t.because = trace.Reason{Code: trace.WhyLow, Share: t.used}
	case provider.Fine:
		return false
	}
	return true
}

// spentBy says why a candidate counts as spent.
func spentBy(t *candidate) trace.Reason {
	if t.load == shut {
		return trace.Reason{Code: trace.WhyShut, Share: t.used}
	}
	return trace.Reason{Code: trace.WhySpent, Share: t.used}
}
