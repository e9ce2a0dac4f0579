package provider

import (
	"cmp"
	"slices"
	"strings"

	"dev.magpie/config"
)

// maxNesting is how many groups may stand inside one another.
const maxNesting = 8

func (b *builder) group(cg *config.Group) {
	g := &Group{
		ID: cg.ID, Name: cmp.Or(cg.Name, cg.ID),
		Routing: cmp.Or(cg.Routing, b.cat.Routing),
		Off:     cg.Off, Context: cg.Context, FirstToken: cg.FirstToken,
		Place: len(b.cat.Groups),
	}
	for _, s := range cg.Members {
		r, err := ParseRef(s)
		if err != nil {
			b.problem(cg.Pos, "group "+cg.ID+": member "+err.Error(), "")
			continue
		}
		g.Members = append(g.Members, b.whole(r))
	}
	b.cat.Groups = append(b.cat.Groups, g)
}

// checkMembers reports members that name nothing and groups that lead back to themselves.
func (b *builder) checkMembers() {
	n := nest{b: b, depth: make(map[*Group]int, len(b.cat.Groups))}
	for i, g := range b.cat.Groups {
		for _, m := range g.Members {
			if text, hint := b.missing(m); text != "" {
				b.problem(b.cfg.Groups[i].Pos, "group "+g.ID+": member "+quote(m.String())+" names nothing: "+text, hint)
			}
		}
		n.visit(g)
	}
}

// missing says what a member's reference fails on, "" when it names something.
func (b *builder) missing(r Ref) (text, hint string) {
	if r.Group != "" {
		if b.cat.index.groups[r.Group] != nil {
			return "", ""
		}
		var names []string
		for _, g := range b.cat.Groups {
			names = append(names, g.ID)
		}
		return "there is no group " + quote(r.Group), config.DidYouMean(r.Group, names)
	}
	p := b.cat.Provider(r.Provider)
	if p == nil {
		var names []string
		for _, q := range b.cat.Providers {
			names = append(names, q.ID)
		}
		return "there is no provider " + quote(r.Provider), config.DidYouMean(r.Provider, names)
	}
	if r.Who != "" && p.Account(r.Who) == nil {
		var names []string
		for _, a := range p.Accounts {
			names = append(names, a.Name)
		}
		return "provider " + p.ID + " has no key or account " + quote(r.Who), config.DidYouMean(r.Who, names)
	}
	if len(p.Models) > 0 && !p.lists(r.Model) {
		return "provider " + p.ID + " lists no model " + quote(r.Model), config.DidYouMean(r.Model, modelIDs(p.Models))
	}
	return "", ""
}

// nest follows groups inside groups, each once.
type nest struct {
	b     *builder
	way   []*Group
	depth map[*Group]int // of those that were followed to their end
}

// visit returns how many groups deep g is, itself included, and reports what leads back to it.
func (n *nest) visit(g *Group) int {
	if d, done := n.depth[g]; done {
		return d
	}
	n.way = append(n.way, g)
	deepest := 0
	for _, m := range g.Members {
		inner := n.b.cat.index.groups[m.Group]
		if m.Group == "" || inner == nil {
			continue
		}
		if i := slices.Index(n.way, inner); i >= 0 {
			n.b.problem(n.b.cfg.Groups[inner.Place].Pos, "group "+inner.ID+" leads back to itself: "+ids(n.way[i:])+" → "+inner.ID, "")
			continue
		}
		deepest = max(deepest, n.visit(inner))
	}
	n.way = n.way[:len(n.way)-1]
	n.depth[g] = deepest + 1
	if deepest == maxNesting {
		n.b.problem(n.b.cfg.Groups[g.Place].Pos, "group "+g.ID+" holds groups inside groups, more than 8 deep", "")
	}
	return deepest + 1
}

func ids(groups []*Group) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.ID
	}
	return strings.Join(names, " → ")
}
