package route

import (
	"cmp"
	"slices"

	"dev.magpie/gateway/trace"
)

// sink moves a unit's seats that were rate limited behind its others, the one limited last
// to the very back. Whoever rotates moves on as it is, and a person's pick is theirs.
func (d *draft) sink(u *unit, seats []seat) {
	if u.routing == rotated || u.routing == manual || !d.sinksIn(u) {
		return
	}
	sunk := false
	for _, t := range seats {
		if t.standing.Sunk.Seq == 0 {
			continue
		}
		sunk = true
		at := t.standing.Sunk.At
		t.sunk = &at
		if len(seats) > 1 {
			t.because = trace.Reason{Code: trace.WhySunk, At: at}
		}
	}
	if sunk {
		slices.SortStableFunc(seats, func(a, b seat) int { return cmp.Compare(a.standing.Sunk.Seq, b.standing.Sunk.Seq) })
	}
}

// sinksIn says whether a unit puts whoever was rate limited at the back.
func (d *draft) sinksIn(u *unit) bool {
	switch {
	case u.group != nil:
		return d.s.groupSinks(u.group)
	case u.of != nil:
		return d.s.sinks(u.of)
	}
	return false
}
