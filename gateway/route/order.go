package route

import (
	"cmp"
	"slices"

	"dev.magpie/gateway/trace"
)

// The orders, as the config spells them.
const (
	smartly  = "smart"
	listed   = "order"
	rotated  = "rotate"
	byUsage  = "usage"
	byPace   = "pace"
	byWeight = "weight"
	bestOf   = "best"
	manual   = "manual"
)

// order puts each pool into the order of its routing, and whoever was rate limited behind
// the others of it. A group that weighs its members against each other is one pool.
func order(d *draft) {
	if len(d.in) < 2 {
		if len(d.units) > 0 && d.units[0].routing == manual {
			sayPicked(d.in)
		}
		return
	}
	for i, t := range d.in {
		u := &d.units[t.unit]
		if u.n == 0 {
			u.first = i
		}
		u.n++
	}
	d.in, d.spare = d.arrange(0, slices.Grow(d.spare[:0], len(d.in))), d.in
}

// arrange adds a unit's seats in their order.
func (d *draft) arrange(at int, to []seat) []seat {
	u := &d.units[at]
	from := len(to)
	switch {
	case u.of != nil:
		to = d.pool(u, to)
	case u.group == nil, u.routing == listed, u.routing == manual:
		for i := at + 1; i < u.end; i = d.units[i].end {
			to = d.arrange(i, to)
		}
		if u.routing == manual {
			sayPicked(to[from:])
		}
	default:
		to = d.pooled(at, to)
	}
	n := len(to)
	for n > from && to[n-1].aside {
		n--
	}
	d.sink(u, to[from:n])
	return to
}

// block is what a routing places: a seat, or all of a group within its pool.
type block struct {
	seat        // by which it is weighed: of a group the first that does not rest
	all  []seat // in their order
}

// pool routes the keys and accounts of one provider. Those that are aside stand behind.
func (d *draft) pool(u *unit, to []seat) []seat {
	all := d.in[u.first : u.first+u.n]
	n := len(all)
	for n > 0 && all[n-1].aside {
		n--
	}
	blocks := d.roomFor(n)
	for i := range blocks {
		blocks[i] = block{seat: all[i], all: all[i : i+1]}
	}
	d.route(u, blocks)
	for _, b := range blocks {
		to = append(to, b.all...)
	}
	for _, t := range all[n:] {
		t.because = trace.Reason{Code: trace.WhyAside}
		to = append(to, t)
	}
	return to
}

// roomFor returns room for n blocks.
func (d *draft) roomFor(n int) []block {
	from := len(d.blocks)
	if cap(d.blocks)-from < n { // what was handed out stays where it is
		d.blocks, from = make([]block, 0, max(many, 2*cap(d.blocks), n)), 0
	}
	d.blocks = d.blocks[:from+n]
	return d.blocks[from : from+n : from+n]
}

// pooled routes all of a group's keys and accounts as one pool, in which a group within it
// is one: its order stands where the first of it that does not rest lands.
func (d *draft) pooled(at int, to []seat) []seat {
	u := &d.units[at]
	blocks := d.roomFor(d.seats(at))[:0]
	var aside []seat
	for i := at + 1; i < u.end; i = d.units[i].end {
		v := &d.units[i]
		if v.group != nil {
			if all := d.arrange(i, make([]seat, 0, d.seats(i))); len(all) > 0 {
				blocks = append(blocks, block{seat: head(all), all: all})
			}
			continue
		}
		all := d.in[v.first : v.first+v.n]
		for j, t := range all {
			if t.aside {
				t.because = trace.Reason{Code: trace.WhyAside}
				aside = append(aside, t)
				continue
			}
			blocks = append(blocks, block{seat: t, all: all[j : j+1]})
		}
	}
	d.route(u, blocks)
	for _, b := range blocks {
		to = append(to, b.all...)
	}
	return append(to, aside...)
}

// seats is how many there are within a unit.
func (d *draft) seats(at int) int {
	n := 0
	for i := at; i < d.units[at].end; i++ {
		n += d.units[i].n
	}
	return n
}

func head(all []seat) seat {
	for _, t := range all {
		if t.rest == nil && !t.aside {
			return t
		}
	}
	return all[0]
}

// route orders blocks by a unit's routing. A routing that this planner has not is smart.
func (d *draft) route(u *unit, blocks []block) {
	if len(blocks) < 2 {
		return
	}
	switch u.routing {
	case listed:
		return
	case rotated:
		d.rotate(u, blocks)
	case byUsage:
		d.usage(blocks)
	case byPace:
		d.byPace(blocks)
	case byWeight:
		d.weight(u, blocks)
	case bestOf:
		d.best(blocks)
	default:
		smart(blocks)
	}
	byFit(blocks)
}

// byFit moves keys that suit the request less behind those that suit it better.
func byFit(blocks []block) {
	best := blocks[0].fit
	for _, b := range blocks[1:] {
		best = min(best, b.fit)
	}
	worse := false
	for _, b := range blocks {
		if b.fit > best {
			worse = true
			b.because = trace.Reason{Code: trace.WhyUnfit, Text: string(b.who.Protocol)}
		}
	}
	if worse {
		slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(a.fit, b.fit) })
	}
}
