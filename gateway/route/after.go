package route

import (
	"slices"

	"dev.magpie/gateway/trace"
)

// Window tells how many tokens a provider's model takes, 0 = unknown.
type Window func(provider, model string) int

// Larger returns those of the candidates still left that may hold a conversation which
// did not fit the failed one: another model, of a window known to exceed the estimate.
// Estimate 0 asks for another model alone: the vendor minded bytes, not tokens.
func Larger(rest []trace.Candidate, failed *trace.Candidate, window Window, estimate int) []trace.Candidate {
	var fit []trace.Candidate
	for i := range rest {
		c := &rest[i]
		if c.Provider == failed.Provider && c.Model == failed.Model {
			continue
		}
		if estimate > 0 && window(c.Provider, c.Model) <= estimate {
			continue
		}
		fit = append(fit, *c)
	}
	return fit
}

// Mates returns the places in order, after i, of the candidates that stand for the same
// member as order[i]: same provider, model and effort, another who, and not resting.
func Mates(order []trace.Candidate, i int) []int {
	var at []int
	for j := i + 1; j < len(order); j++ {
		if mates(&order[i], &order[j]) && order[j].Rest == nil {
			at = append(at, j)
		}
	}
	return at
}

func mates(a, b *trace.Candidate) bool {
	return a.Provider == b.Provider && a.Model == b.Model && a.Effort == b.Effort && a.ID != b.ID
}

// MatesFirst returns the candidates after i with order[i]'s mates before the others:
// what one account refused for safety, another of the same member may answer.
func MatesFirst(order []trace.Candidate, i int) []trace.Candidate {
	return after(order, i, func(c *trace.Candidate) bool { return c.Rest == nil && mates(&order[i], c) })
}

// MatesLast returns the candidates after i with order[i]'s fellows behind the others: a
// vendor that turns the client or prompt away does so whichever account asks.
func MatesLast(order []trace.Candidate, i int) []trace.Candidate {
	return after(order, i, func(c *trace.Candidate) bool { return !mates(&order[i], c) })
}

// after returns a new list of the candidates after i, those that go first before the others.
func after(order []trace.Candidate, i int, first func(*trace.Candidate) bool) []trace.Candidate {
	rest := slices.Clone(order[i+1:])
	slices.SortStableFunc(rest, func(a, b trace.Candidate) int { return rank(first(&a)) - rank(first(&b)) })
	return rest
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}
