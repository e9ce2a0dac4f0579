package route

import "dev.magpie/gateway/trace"

// rotate begins with whoever's turn it is, one further with each plan that is carried out.
func (d *draft) rotate(u *unit, blocks []block) []block {
	each := uint64(1) // requests of a turn
	if u.group != nil && u.group.Sticky > 1 {
		each = uint64(u.group.Sticky)
	}
	n := len(blocks)
	by := int(d.turn(u.key()) / each % uint64(n)) //nolint:gosec // less than n
	turned := make([]block, 0, n)
	turned = append(append(turned, blocks[by:]...), blocks[:by]...)
	for i, b := range turned {
		b.because = trace.Reason{Code: trace.WhyTurn, Count: int64(i)}
	}
	return turned
}

// turn takes a turn of a pool, one for all of the plan.
func (d *draft) turn(key string) uint64 {
	if r, taken := d.effects.Rounds[key]; taken {
		return r.Turn - 1
	}
	r := d.s.Rounds[key]
	if d.carry {
		d.moves(key, Round{Turn: r.Turn + 1, Current: r.Current})
	}
	return r.Turn
}

// moves notes how a round stands after this plan.
func (d *draft) moves(key string, r Round) {
	if d.effects.Rounds == nil {
		d.effects.Rounds = map[string]Round{}
	}
	d.effects.Rounds[key] = r
}
