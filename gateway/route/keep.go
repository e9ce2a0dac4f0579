package route

import (
	"cmp"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Modes of affinity, as the config spells them.
const (
	affinityOff     = "off"
	affinityTurn    = "turn"
	affinitySession = "session"
	affinityAuto    = "auto"
)

const (
	worthCache = 1024   // tokens: less is no cache to stay for
	warmFor    = 5 * 60 // seconds that vendors keep a cache
)

// ScopeOf names what a conversation is remembered in: a provider's model, as each has a cache of
// its own, or a group.
func ScopeOf(t *provider.Target) string {
	if t.Group != nil {
		return GroupKey(t.Group.ID)
	}
	return t.Provider.ID + "/" + provider.Unmarked(t.Model)
}

// Ruled says whether the group, or one in it, has rules: several conversations of one session may
// then be sent apart.
func Ruled(cat *provider.Catalog, g *provider.Group) bool { return ruled(cat, g, 1) }

func ruled(cat *provider.Catalog, g *provider.Group, depth int) bool {
	if g == nil || depth > maxDepth {
		return false
	}
	if len(g.Rules) > 0 {
		return true
	}
	for i := range g.Members {
		if id := g.Members[i].Group; id != "" && ruled(cat, cat.Group(id), depth+1) {
			return true
		}
	}
	return false
}

// Spreads says whether new conversations of a target go where the fewest are, so that planning
// wants to know who holds how many.
func (s *Snapshot) Spreads(t *provider.Target) bool { return s.targetRouting(t) == rotated }

func (s *Snapshot) targetRouting(t *provider.Target) string {
	if t.Group != nil {
		return s.groupRouting(t.Group)
	}
	return s.routingOf(t.Provider)
}

// keepFirst puts who answered the conversation first, where that is worth it, and notes why or why
// not. Where nobody is kept, turns go on by the conversation and new ones are spread.
func keepFirst(d *draft) {
	if len(d.in) < 2 {
		return
	}
	c := &d.c
	a := &trace.Affinity{Mode: cmp.Or(d.s.affinityOf(&c.Target), affinityAuto), Scope: c.Scope, Turn: c.Turn, Within: c.Within}
	d.plan.Affinity = a
	at := -1
	if c.Keep != nil {
		a.Last, a.CacheRead = string(c.Keep.ID), c.Keep.CacheRead
		at = d.lastAnswerer()
	}
	a.Kept, a.Why = d.keeps(at, a.Mode)
	switch {
	case a.Kept:
		d.keep(at, a.Why)
	case !d.s.Spreads(&c.Target):
	case a.Why == trace.KeepNewTurn:
		d.nextAfter(at)
	case a.Why == trace.KeepFirst:
		d.spread()
	}
	if top := d.pinnedTop(); a.Kept && top != nil && top != &d.in[0] {
		a.Kept, a.Why = false, trace.KeepPinned
	}
}

// lastAnswerer is the place of who answered last: with its model and effort, else with its model,
// else by itself; -1 for nowhere.
func (d *draft) lastAnswerer() int {
	k, best, at := d.c.Keep, 0, -1
	for i := range d.in {
		t, like := &d.in[i], 1
		switch {
		case t.who.ID != k.ID:
			continue
		case t.model == k.Model && t.effort == k.Effort:
			like = 3
		case t.model == k.Model:
			like = 2
		}
		if like > best {
			best, at = like, i
		}
	}
	return at
}

// keeps decides whether the conversation stays at that place: the first reason that holds.
func (d *draft) keeps(at int, mode string) (kept bool, why trace.KeepWhy) {
	k := d.c.Keep
	moved := k != nil && k.Moved
	switch {
	case mode == affinityOff && !moved:
		return false, trace.KeepOff
	case k == nil:
		return false, trace.KeepFirst
	case at < 0:
		return false, trace.KeepGone
	case d.in[at].rest != nil:
		return false, trace.KeepResting
	case moved:
		return true, trace.KeepMoved
	case d.usedUp(at):
		return false, trace.KeepSpent
	case mode == affinitySession:
		return true, trace.KeepSession
	case d.c.Within:
		return true, trace.KeepTurn
	case mode == affinityTurn, d.s.Spreads(&d.c.Target):
		return false, trace.KeepNewTurn
	case k.CacheRead < worthCache:
		return false, trace.KeepNoCache
	case d.s.Now.Unix()-k.At > warmFor:
		return false, trace.KeepCold
	}
	return true, trace.KeepCache
}

// usedUp says whether a seat's allowance is known to be gone while another could answer.
func (d *draft) usedUp(at int) bool {
	t := &d.in[at]
	share := d.s.SpentShare(t.of)
	if d.s.targetRouting(&d.c.Target) == bestOf { // also of a group of providers by other orders
		share = 100
	}
	if t.load < share {
		return false
	}
	for i := range d.in {
		if i != at && d.in[i].rest == nil {
			return true
		}
	}
	return false
}

// keep puts the seat at a place first.
func (d *draft) keep(at int, why trace.KeepWhy) {
	r := trace.Reason{Code: trace.WhyWarm}
	switch why { //nolint:exhaustive // the others keep nothing
	case trace.KeepSession:
		r.Code = trace.WhySession
	case trace.KeepTurn:
		r.Code = trace.WhySameTurn
	case trace.KeepMoved:
		r.Code = trace.WhyMoved
	}
	d.toFront(at, r)
	d.moveCharge(&d.in[0])
}

// nextAfter gives a new turn to the next in turn after who answered the last one.
func (d *draft) nextAfter(at int) {
	for i := 1; i < len(d.in); i++ {
		if next := (at + i) % len(d.in); d.turns(&d.in[next]) {
			d.toFront(next, trace.Reason{Code: trace.WhyNextTurn, Text: string(d.in[at].who.ID)})
			return
		}
	}
	d.toFront(at, trace.Reason{Code: trace.WhyNextTurn})
}

// spread gives a new conversation to who has the fewest. A nested group stands as a whole, so among
// such ones the order stays.
func (d *draft) spread() {
	if g := d.c.Target.Group; len(d.c.Held) == 0 || g != nil && nests(g) {
		return
	}
	best, least := -1, 0
	for i := range d.in {
		t := &d.in[i]
		if !d.turns(t) {
			continue
		}
		if n := d.c.Held[Who{ID: t.who.ID, Model: t.model, Effort: t.effort}]; best < 0 || n < least {
			best, least = i, n
		}
	}
	if best > 0 {
		d.toFront(best, trace.Reason{Code: trace.WhyFewest, Count: int64(least)})
	}
}

// turns says whether turns go round to a seat.
func (d *draft) turns(t *seat) bool { return t.rest == nil && !t.aside && !t.place.fallback }

func nests(g *provider.Group) bool {
	for i := range g.Members {
		if g.Members[i].Group != "" {
			return true
		}
	}
	return false
}

// toFront puts a seat before all others.
func (d *draft) toFront(at int, because trace.Reason) {
	t := d.in[at]
	copy(d.in[1:at+1], d.in[:at])
	t.because, t.lead = because, true
	d.in[0] = t
}

// pinnedTop is the seat that a pin puts before all others, nil when none does.
func (d *draft) pinnedTop() (top *seat) {
	for i := range d.in {
		if t := &d.in[i]; t.pin != nil && t.rest == nil && (top == nil || t.pin.Since.After(top.pin.Since)) {
			top = t
		}
	}
	return top
}
