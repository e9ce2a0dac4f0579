package route

import (
	"cmp"
	"slices"
	"strings"

	"dev.magpie/provider"
)

// many is room for the seats of most plans.
const many = 48

// maxDepth is how deep groups may stand in groups, the first included.
const maxDepth = 8

// unit is what one routing orders: a provider's pool for one model, or a group of units.
// It stands before what it holds; the first of all holds all that is asked.
type unit struct {
	of      *provider.Provider // of a pool
	group   *provider.Group    // of a group; neither: a provider with its fallbacks
	routing string
	end     int // the next unit that is not within it
	first   int // of a pool: its first seat
	n       int // and how many it has
}

// key names where a unit's turns are kept.
func (u *unit) key() string {
	if u.group != nil {
		return GroupKey(u.group.ID)
	}
	return u.of.ID
}

// put is a member that is met where nobody goes to: in a group that is switched off, or
// in a manual one that uses another.
type put struct {
	ref   provider.Ref
	group *provider.Group // instead of a ref
	place place
	depth int
}

// expand writes down every candidate of the target, each once, in the file's order: a
// provider's own keys and then its fallback models', or a group's members'.
func expand(d *draft) {
	t := &d.c.Target
	switch {
	case t.Group != nil:
		d.plan.Routing = d.s.groupRouting(t.Group)
		d.group(t.Group, place{}, 1)
	case t.Provider != nil:
		d.plan.Routing = d.s.routingOf(t.Provider)
		d.own(t)
	}
	// A candidate that is also met where somebody goes to was met there.
	for len(d.later) > 0 {
		next := d.later[0]
		d.later = d.later[1:]
		if next.group != nil {
			d.group(next.group, next.place, next.depth)
			continue
		}
		d.ref(next.ref, next.place, next.depth, "")
	}
}

// own expands a provider: its keys with the model asked for, then its fallback models.
func (d *draft) own(t *provider.Target) {
	p := t.Provider
	d.room = slices.Grow(d.room, len(p.Accounts)+2*len(p.Fallback))
	d.enter(unit{routing: listed})
	pool := d.enter(unit{of: p, routing: d.s.routingOf(p)})
	like := candidate{of: p, model: t.Model, effort: t.Effort, unit: pool, place: place{of: len(p.Accounts)}}
	for i, a := range d.s.accounts(p) {
		like.place.n, like.place.tied = i+1, t.Who != "" && !strings.EqualFold(a.Name, t.Who)
		d.add(a, &like, false)
	}
	d.leave(pool)
	for i, ref := range p.Fallback {
		d.ref(ref, place{n: i + 1, of: len(p.Fallback), by: p.ID, fallback: true, tied: t.Who != ""}, 1, "")
	}
	d.leave(0)
}

func (d *draft) enter(u unit) int {
	if len(d.units) == cap(d.units) {
		d.units = slices.Grow(d.units, max(many/2, len(d.units)))
	}
	d.units = append(d.units, u)
	return len(d.units) - 1
}

func (d *draft) leave(u int) { d.units[u].end = len(d.units) }

// group expands a group's members where they stand; what a group that was met before holds was met there.
func (d *draft) group(g *provider.Group, at place, depth int) {
	if depth > maxDepth || slices.Contains(d.walked, g) {
		return
	}
	d.walked = append(d.walked, g)
	at.by, at.of = g.ID, len(g.Members)
	u, picked, within := d.enter(unit{group: g, routing: d.s.groupRouting(g)}), -1, ""
	if d.units[u].routing == manual {
		picked, within = d.s.picked(g), smartly
	}
	for i, ref := range g.Members {
		at.n = i + 1
		if picked >= 0 && i != picked {
			aside := at
			aside.unpicked = true
			d.later = append(d.later, put{ref: ref, place: aside, depth: depth})
			continue
		}
		d.ref(ref, at, depth, within)
	}
	d.leave(u)
}

// ref expands one member or fallback, its keys under a routing, "" = the provider's. One
// that names nothing is passed over: the config's check told of it.
func (d *draft) ref(ref provider.Ref, at place, depth int, routing string) {
	if ref.Group != "" {
		d.nested(ref.Group, at, depth+1)
		return
	}
	p := d.s.Catalog.Provider(ref.Provider)
	if p == nil {
		return
	}
	effort := ref.Effort
	if effort == "" && !at.fallback {
		effort = d.c.Target.Effort
	}
	at.unlisted = len(p.Models) > 0 && !lists(p.Models, ref.Model)
	met := slices.ContainsFunc(d.units, func(u unit) bool { return u.of == p })
	d.again = d.again || met
	pool := d.enter(unit{of: p, routing: cmp.Or(routing, d.s.routingOf(p))})
	like := candidate{of: p, model: ref.Model, effort: effort, unit: pool, place: at}
	for i, a := range d.s.accounts(p) {
		if ref.Who == "" || strings.EqualFold(a.Name, ref.Who) {
			if ref.Who == "" && len(p.Accounts) > 1 {
				like.place.mate = i + 1
			}
			d.add(a, &like, met)
		}
	}
	d.leave(pool)
}

func (d *draft) nested(id string, at place, depth int) {
	g := d.s.Catalog.Group(id)
	switch {
	case g == nil:
	case g.Off && !at.off:
		at.off = true
		d.later = append(d.later, put{group: g, place: at, depth: depth})
	default:
		d.group(g, at, depth)
	}
}

// add gives an account a seat like those of its pool, unless the candidate has one: the
// same account, model and effort, of a fallback the same account and model. It is looked
// for where its provider was met before.
func (d *draft) add(who *provider.Account, like *candidate, met bool) {
	if met {
		for _, o := range d.in {
			if o.who == who && o.model == like.model && (o.effort == like.effort || like.place.fallback) {
				return
			}
		}
	}
	if len(d.room) == cap(d.room) { // those that have a place keep it
		d.room = make([]candidate, 0, max(8, 2*cap(d.room)))
	}
	d.room = d.room[:len(d.room)+1]
	t := &d.room[len(d.room)-1]
	t.who, t.of, t.model, t.effort, t.unit, t.place = who, like.of, like.model, like.effort, like.unit, like.place
	if len(d.in) == cap(d.in) {
		d.in = slices.Grow(d.in, max(many, len(d.in)))
	}
	d.in = append(d.in, seat{t})
}

// lists says whether a provider's own list has the model, with or without its mark.
func lists(models []provider.Model, id string) bool {
	bare := provider.Unmarked(id)
	return slices.ContainsFunc(models, func(m provider.Model) bool { return m.ID == id || m.ID == bare })
}
