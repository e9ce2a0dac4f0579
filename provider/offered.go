package provider

import "slices"

// Offered returns the levels of reasoning that a group offers to agents: its own, else those
// that all its members have. It is nil where that is not known of one of them.
func (c *Catalog) Offered(g *Group, fetched Lists) []string { return c.offered(g, fetched, 1) }

func (c *Catalog) offered(g *Group, fetched Lists, depth int) []string {
	if len(g.Efforts) > 0 {
		return g.Efforts
	}
	if depth > maxNesting {
		return nil
	}
	var shared []string
	for i, ref := range g.Members {
		has := c.levelsOf(ref, fetched, depth)
		if len(has) == 0 {
			return nil
		}
		if i == 0 {
			shared = slices.Clone(has)
			continue
		}
		shared = slices.DeleteFunc(shared, func(l string) bool { return !slices.Contains(has, l) })
	}
	return shared
}

// maxNesting is how deep groups stand in groups.
const maxNesting = 8

func (c *Catalog) levelsOf(ref Ref, fetched Lists, depth int) []string {
	if ref.Group != "" {
		g := c.Group(ref.Group)
		if g == nil {
			return nil
		}
		return c.offered(g, fetched, depth+1)
	}
	p := c.Provider(ref.Provider)
	if p == nil {
		return nil
	}
	return p.Model(ref.Model, fetched[p.ID]).Efforts
}
