package route

import (
	"slices"

	"dev.magpie/gateway/trace"
)

// rotate begins with whoever's turn it is, one further with each plan that is carried out.
func (d *draft) rotate(u *unit, blocks []block) {
	each := uint64(1) // requests of a turn
	if u.group != nil && u.group.Sticky > 1 {
		each = uint64(u.group.Sticky)
	}
	by := int(d.turn(u.key()) / each % uint64(len(blocks))) //nolint:gosec // less than their number
	slices.Reverse(blocks[:by])
	slices.Reverse(blocks[by:])
	slices.Reverse(blocks)
	for i, b := range blocks {
		b.because = trace.Reason{Code: trace.WhyTurn, Count: int64(i)}
	}
}

// turn takes a turn of a pool: however often the plan meets it, the one that is next in the snapshot.
func (d *draft) turn(key string) uint64 {
	r := d.s.Rounds[key]
	if d.carry {
		d.moves(key, Round{Turn: r.Turn + 1, Current: r.Current})
	}
	return r.Turn
}

// moves notes how a round stands after this plan.
func (d *draft) moves(key string, r Round) {
	if d.effects.Rounds == nil {
		d.effects.Rounds = make(map[string]Round, len(d.units))
	}
	d.effects.Rounds[key] = r
}
