package route

import (
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
	old, from := d.s.Rounds[key], len(d.weights)
	if d.weights == nil {
		d.weights = make([]Weight, 0, 2*len(d.in)) // a group within a group has one of its own
	}
	c, best := charge{key: key}, 0
	for _, b := range blocks {
		id, next := b.who.ID, Weights(d.weights[from:])
		if d.again && next.at(id, 0) >= 0 {
			continue
		}
		one := Weight{ID: id}
		if i := old.Current.at(id, len(next)); i >= 0 {
			one.Has = old.Current[i].Has
		}
		if b.rest == nil {
			w := weightOf(b.who)
			one.Has += w
			c.total += w
			if c.id == "" || one.Has > next[best].Has {
				c.id, best = id, len(next)
			}
		}
		d.weights = append(d.weights, one)
	}
	if c.id == "" {
		return c, false
	}
	next := d.weights[from:len(d.weights):len(d.weights)]
	next[best].Has -= c.total
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
		current := d.effects.Rounds[c.key].Current // this plan's own: nobody else has it yet
		from, at := current.at(c.id, 0), current.at(to.who.ID, 0)
		if from < 0 || at < 0 || c.id == to.who.ID || to.of != d.providerOf(c.id) {
			continue
		}
		current[from].Has += c.total
		current[at].Has -= c.total
		c.id = to.who.ID
	}
}

func (d *draft) providerOf(id provider.AccountID) *provider.Provider {
	return d.s.Catalog.Provider(d.s.Catalog.Account(id).Provider)
}
