package provider

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// autoWord begins the id of a group that was found.
const autoWord = "auto-"

// IsAuto reports whether a group's id is one that found groups have.
func IsAuto(id string) bool { return len(id) > len(autoWord) && strings.HasPrefix(id, autoWord) }

// View is what decides, besides the config, which groups there are and how they stand.
type View struct {
	Lists  Lists               // vendors' fetched lists
	Ready  func(*Account) bool // nil: whoever the config doesn't keep from serving
	Hidden map[string]bool     // found groups that the person took away, by id
	Order  map[string][]string // by a group's id: members as spelled, first first; those not named follow
}

// With returns the catalogue as a view has it: with a group for each model that two or
// more providers have that are ready, and groups' members in the person's order. The
// catalogue itself stays as the config made it: each view is made anew from it.
func (c *Catalog) With(v View) *Catalog {
	next := *c
	next.index.groups = maps.Clone(c.index.groups)
	if next.index.groups == nil {
		next.index.groups = map[string]*Group{}
	}
	next.Groups = slices.Clone(c.Groups)
	next.index.standby, next.index.idle = nil, nil
	for _, p := range c.Providers {
		if p.ready(v.Ready) {
			continue
		}
		if next.index.idle == nil {
			next.index.idle = map[string]bool{}
		}
		next.index.idle[p.ID] = true
	}
	for _, g := range c.findAuto(v) {
		if c.Group(g.ID) != nil {
			continue // the person made one of that name
		}
		if c.AutoOff {
			if next.index.standby == nil {
				next.index.standby = map[string]*Group{}
			}
			next.index.standby[g.ID] = g
			continue
		}
		g.Place = len(next.Groups)
		g.Off = v.Hidden[g.ID]
		next.Groups = append(next.Groups, g)
		next.index.groups[g.ID] = g
	}
	for i, g := range next.Groups {
		moved := g.ordered(v.Order[g.ID])
		if moved == g {
			continue
		}
		next.Groups[i] = moved
		for key, at := range next.index.groups {
			if at == g {
				next.index.groups[key] = moved
			}
		}
	}
	return &next
}

// findAuto makes a group of each model that several ready providers have, whatever each
// calls it, in the order in which the models are met.
func (c *Catalog) findAuto(v View) []*Group {
	type found struct {
		slug string
		refs []Ref
	}
	by := map[string]*found{}
	var all []*found
	for _, p := range c.Providers {
		if !p.ready(v.Ready) {
			continue
		}
		for _, m := range p.Listed(v.Lists[p.ID]) {
			slug := Slug(m.ID)
			f := by[slug]
			if f == nil {
				f = &found{slug: slug}
				by[slug] = f
				all = append(all, f)
			}
			last := len(f.refs) - 1
			switch {
			case last < 0 || f.refs[last].Provider != p.ID:
				f.refs = append(f.refs, Ref{Provider: p.ID, Model: m.ID})
			case m.ID == slug: // of two spellings of one vendor, the plain one
				f.refs[last].Model = m.ID
			}
		}
	}
	var groups []*Group
	for _, f := range all {
		if len(f.refs) < 2 || f.slug == "" {
			continue
		}
		g := &Group{
			ID: autoWord + f.slug, Name: f.slug, Auto: true, Members: f.refs,
			Routing: cmp.Or(c.Routing, "smart"), Affinity: cmp.Or(c.Affinity, "auto"), Sink: c.Sink,
		}
		for _, r := range f.refs {
			g.Spelled = append(g.Spelled, r.String())
		}
		groups = append(groups, g)
	}
	return groups
}

// ready says whether anyone of the provider can serve at all.
func (p *Provider) ready(asks func(*Account) bool) bool {
	return !p.Off && p.ReadOnly == "" && slices.ContainsFunc(p.Accounts, func(a *Account) bool {
		return !a.Off && a.Unready == "" && (asks == nil || asks(a))
	})
}

// ordered returns the group with the named members first, itself where that is how it stands.
func (g *Group) ordered(first []string) *Group {
	if len(first) == 0 {
		return g
	}
	at := make([]int, 0, len(g.Spelled))
	for _, name := range first {
		if i := slices.Index(g.Spelled, name); i >= 0 && !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	for i := range g.Spelled {
		if !slices.Contains(at, i) {
			at = append(at, i)
		}
	}
	if slices.IsSorted(at) {
		return g
	}
	moved := *g
	moved.Members, moved.Spelled, moved.Rules = make([]Ref, len(at)), make([]string, len(at)), slices.Clone(g.Rules)
	for to, from := range at {
		moved.Members[to], moved.Spelled[to] = g.Members[from], g.Spelled[from]
	}
	for i := range moved.Rules {
		moved.Rules[i].Use = slices.Index(at, g.Rules[i].Use)
	}
	return &moved
}

// GroupModel returns what agents are told of a group as a model: the smallest of its
// members' contexts and the levels that all of them have, unless the group says otherwise.
// A member of which something is not known doesn't count for that.
func (c *Catalog) GroupModel(g *Group, fetched Lists) Model {
	f := facts{c: c, fetched: fetched, walked: map[string]bool{}}
	f.group(g, 1)
	m := f.m
	m.ID, m.Name = g.ID, cmp.Or(g.Name, g.ID)
	return m
}

// facts are what the members of a group share.
type facts struct {
	c       *Catalog
	fetched Lists
	walked  map[string]bool
	m       Model
}

const maxNest = 8

func (f *facts) group(g *Group, depth int) {
	if depth > maxNest || f.walked[g.ID] || g.Off {
		return
	}
	f.walked[g.ID] = true
	for _, r := range g.Members {
		if r.Group != "" {
			if inner := f.c.Group(r.Group); inner != nil {
				of := facts{c: f.c, fetched: f.fetched, walked: f.walked}
				of.group(inner, depth+1)
				f.add(of.m)
			}
			continue
		}
		if p := f.c.Provider(r.Provider); p != nil && !p.Off {
			f.add(p.Model(r.Model, f.fetched[p.ID]))
		}
	}
	if g.Context > 0 {
		f.m.Context = g.Context
	}
	if g.Efforts != nil {
		f.m.Efforts = g.Efforts
	}
}

func (f *facts) add(m Model) {
	f.m.Context = least(f.m.Context, m.Context)
	f.m.MaxOutput = least(f.m.MaxOutput, m.MaxOutput)
	f.m.Efforts = shared(f.m.Efforts, m.Efforts)
	f.m.Inputs = shared(f.m.Inputs, m.Inputs)
}

// least is the smaller of two numbers, where 0 is unknown.
func least(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// shared is what both lists have, where nil is unknown.
func shared(a, b []string) []string {
	switch {
	case a == nil:
		return slices.Clone(b)
	case b == nil:
		return a
	}
	return slices.DeleteFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}
