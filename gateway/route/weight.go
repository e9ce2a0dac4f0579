package route

import (
	"maps"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// charge is what the one picked in a round of weights pays for it.
type charge struct {
	key   string // the unit's
	id    provider.AccountID
	total int
}

// weight gives each its share of the turns, evenly spread: in each round all gain their
// weight, and whoever has the most goes first and pays the round's total.
func (d *draft) weight(u *unit, blocks []block) {
	key := u.key()
	c, ok := d.charged(key)
	if !ok {
		if c, ok = d.round(key, blocks); !ok {
			return // all rest
		}
		d.charges = append(d.charges, c)
	}
	for i, b := range blocks {
		if b.who.ID == c.id && b.rest == nil {
			copy(blocks[1:i+1], blocks[:i])
			blocks[0] = b
			break
		}
	}
	for _, b := range blocks {
		r := trace.Reason{Code: trace.WhyWeighed, Count: int64(weightOf(b.who)), Limit: c.total}
		if b.who.ID == c.id {
			r.Code = trace.WhyWeight
		}
		b.because = r
	}
}

// charged is what this plan's round of the unit's weights charged already.
func (d *draft) charged(key string) (charge, bool) {
	for _, c := range d.charges {
		if c.key == key {
			return c, true
		}
	}
	return charge{}, false
}

// round plays one round. Who rests has no part in it, and who is there no more is forgotten.
func (d *draft) round(key string, blocks []block) (charge, bool) {
	old, most := d.s.Rounds[key], 0
	next := make(map[provider.AccountID]int, len(blocks))
	c := charge{key: key}
	for _, b := range blocks {
		id := b.who.ID
		if _, twice := next[id]; twice {
			continue
		}
		has := old.Current[id]
		if b.rest == nil {
			w := weightOf(b.who)
			has += w
			c.total += w
			if c.id == "" || has > most {
				c.id, most = id, has
			}
		}
		next[id] = has
	}
	if c.id == "" {
		return c, false
	}
	next[c.id] = most - c.total
	if d.carry {
		d.moves(key, Round{Turn: old.Turn, Current: next})
	}
	return c, true
}

func weightOf(a *provider.Account) int { return max(1, a.Weight) }

// moveCharge has another of a pool pay for the round: the one that is asked first instead
// of the one that was picked.
func (d *draft) moveCharge(to *seat) {
	for i := range d.charges {
		c := &d.charges[i]
		r, moved := d.effects.Rounds[c.key]
		if _, there := r.Current[to.who.ID]; !moved || !there || c.id == to.who.ID || to.of != d.providerOf(c.id) {
			continue
		}
		current := maps.Clone(r.Current)
		current[c.id] += c.total
		current[to.who.ID] -= c.total
		c.id = to.who.ID
		d.moves(c.key, Round{Turn: r.Turn, Current: current})
	}
}

func (d *draft) providerOf(id provider.AccountID) *provider.Provider {
	return d.s.Catalog.Provider(d.s.Catalog.Account(id).Provider)
}
