package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dev.magpie/gateway/route"
	"dev.magpie/provider"
)

// Chosen is what the person chose at run time, besides pauses and pins. It is immutable;
// each of its maps may be nil.
type Chosen struct {
	route.Choices
	Hidden  map[string]bool     // found groups that were taken away, by id
	Members map[string][]string // by a group's id: its members as spelled, first first
}

// Chosen returns what is chosen now. It must not be changed.
func (s *Store) Chosen() *Chosen { return s.facts.Load().choosing() }

var none = &Chosen{}

func (f *facts) choosing() *Chosen {
	if f.chosen == nil {
		return none
	}
	return f.chosen
}

// clone copies the maps, and makes those that are missing: a value in them that is a map
// or a list must be replaced, not written.
func (c *Chosen) clone() *Chosen {
	next := *c
	next.Routing, next.Affinity, next.Sink = own(c.Routing), own(c.Affinity), own(c.Sink)
	next.Order, next.Pick, next.Caps = own(c.Order), own(c.Pick), own(c.Caps)
	next.Hidden, next.Members = own(c.Hidden), own(c.Members)
	return &next
}

func own[V any, K comparable](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

// Choose changes what is chosen, as one change to be taken back: words say which, ids whom
// it concerns. set says whether it changed anything; so does Choose.
func (s *Store) Choose(words string, ids []provider.AccountID, set func(*Chosen) bool) bool {
	changed := false
	s.change(func(e *edit) {
		before := e.choosing()
		next := before.clone()
		if changed = set(next); !changed {
			return
		}
		e.choose(next)
		for _, id := range ids {
			e.concerns(id)
		}
		s.push(change{words: words, chosen: before})
	})
	return changed
}

func (e *edit) choose(c *Chosen) {
	e.chosen, e.chose = c, true
	e.dirty[choices] = true
}

// Prune drops choices that name what a catalogue no longer has, and says which. A found
// group may come again, so that what was chosen of one stays.
func (s *Store) Prune(cat *provider.Catalog) []string {
	if s.facts.Load().chosen == nil {
		return nil
	}
	var dropped []string
	s.change(func(e *edit) {
		p := pruning{cat: cat, c: e.choosing().clone()}
		p.all()
		if dropped = p.dropped; len(dropped) > 0 {
			e.choose(p.c)
		}
	})
	return dropped
}

type pruning struct {
	cat     *provider.Catalog
	c       *Chosen
	dropped []string
}

func (p *pruning) drop(format string, args ...any) bool {
	p.dropped = append(p.dropped, fmt.Sprintf(format, args...))
	return true
}

// there says whether a provider, or a group as group/<id>, is in the catalogue.
func (p *pruning) there(name string) bool {
	if id, ok := strings.CutPrefix(name, "group/"); ok {
		return provider.IsAuto(id) || p.cat.Group(id) != nil
	}
	return p.cat.Provider(name) != nil
}

func (p *pruning) all() {
	c := p.c
	gone := func(what string) func(name string) bool {
		return func(name string) bool { return !p.there(name) && p.drop("%s of %s", what, name) }
	}
	dropKeys(c.Routing, gone("routing"))
	dropKeys(c.Affinity, gone("affinity"))
	dropKeys(c.Sink, gone("sink"))
	dropKeys(c.Caps, func(id provider.AccountID) bool { return p.cat.Account(id) == nil && p.drop("cap of %s", id) })
	dropKeys(c.Hidden, func(id string) bool { return !provider.IsAuto(id) && p.drop("hiding of group/%s", id) })
	for _, id := range slices.Sorted(maps.Keys(c.Order)) {
		left := slices.DeleteFunc(slices.Clone(c.Order[id]), func(a provider.AccountID) bool { return p.cat.Account(a) == nil })
		switch {
		case len(left) == len(c.Order[id]):
		case len(left) == 0:
			delete(c.Order, id)
			p.drop("order of %s", id)
		default:
			c.Order[id] = left
			p.drop("places in the order of %s", id)
		}
	}
	dropKeys(c.Pick, func(id string) bool { return p.lost(id, c.Pick[id]) && p.drop("pick %s of group/%s", c.Pick[id], id) })
	for _, id := range slices.Sorted(maps.Keys(c.Members)) {
		left := slices.DeleteFunc(slices.Clone(c.Members[id]), func(m string) bool { return p.lost(id, m) })
		switch {
		case len(left) == len(c.Members[id]):
		case len(left) == 0:
			delete(c.Members, id)
			p.drop("order of group/%s", id)
		default:
			c.Members[id] = left
			p.drop("places in the order of group/%s", id)
		}
	}
}

// lost says whether a group has no such member any more.
func (p *pruning) lost(id, member string) bool {
	g := p.cat.Group(id)
	if g == nil {
		return !provider.IsAuto(id)
	}
	return !slices.Contains(g.Spelled, member)
}

func dropKeys[V any, K ~string](m map[K]V, drop func(K) bool) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if drop(key) {
			delete(m, key)
		}
	}
}

// capFile is one account's cap in choices.json.
type capFile struct {
	Percent int            `json:"percent,omitempty"` // -1: none, whatever the config says
	Windows map[string]int `json:"windows,omitempty"`
	Credits *bool          `json:"credits,omitempty"`
	Reset   *bool          `json:"auto_reset,omitempty"`
}

// chosenFile is the part of choices.json that Chosen is kept in.
type chosenFile struct {
	Routing  map[string]string               `json:"routing,omitempty"`
	Affinity map[string]string               `json:"affinity,omitempty"`
	Sink     map[string]bool                 `json:"sink,omitempty"`
	Order    map[string][]provider.AccountID `json:"order,omitempty"`
	Members  map[string][]string             `json:"members,omitempty"`
	Pick     map[string]string               `json:"pick,omitempty"`
	Caps     map[provider.AccountID]capFile  `json:"caps,omitempty"`
	Hidden   []string                        `json:"hidden,omitempty"`
}

// chosenKeys are the keys that chosenFile has.
var chosenKeys = []string{"routing", "affinity", "sink", "order", "members", "pick", "caps", "hidden"}

func (c *Chosen) file() chosenFile {
	f := chosenFile{
		Routing: c.Routing, Affinity: c.Affinity, Sink: c.Sink, Order: c.Order, Members: c.Members, Pick: c.Pick,
		Hidden: slices.Sorted(maps.Keys(c.Hidden)),
	}
	if len(c.Caps) > 0 {
		f.Caps = make(map[provider.AccountID]capFile, len(c.Caps))
		for id, one := range c.Caps {
			f.Caps[id] = capFile(one)
		}
	}
	return f
}

// chosen is what was chosen, nil for nothing. What can't be a cap is none.
func (f *chosenFile) chosen() *Chosen {
	c := Chosen{Members: f.Members, Choices: route.Choices{
		Routing: f.Routing, Affinity: f.Affinity, Sink: f.Sink, Order: f.Order, Pick: f.Pick,
	}}
	next := c.clone()
	for _, id := range f.Hidden {
		next.Hidden[id] = true
	}
	for id, one := range f.Caps {
		if one.Percent < -1 || one.Percent > 99 {
			one.Percent = 0
		}
		maps.DeleteFunc(one.Windows, func(_ string, percent int) bool { return percent < 1 || percent > 100 })
		next.Caps[id] = route.Cap(one)
	}
	if next.empty() {
		return nil
	}
	return next
}

func (c *Chosen) empty() bool {
	return len(c.Routing)+len(c.Affinity)+len(c.Sink)+len(c.Order)+len(c.Pick)+len(c.Caps)+len(c.Hidden)+len(c.Members) == 0
}

// capped is how much of an account's windows may be used, in percent; 0 = all.
func (f *facts) capped(a *provider.Account) int {
	switch c := f.choosing().Caps[a.ID]; {
	case c.Percent < 0:
		return 0
	case c.Percent > 0:
		return c.Percent
	}
	return a.Cap
}
