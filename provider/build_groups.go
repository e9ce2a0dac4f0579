package provider

import (
	"cmp"

	"dev.magpie/config"
)

// group makes one group. That its members exist, and that no group leads back to itself,
// the config's own checks have seen to.
func (b *builder) group(cg *config.Group) {
	g := &Group{
		ID: cg.ID, Name: cmp.Or(cg.Name, cg.ID),
		Routing: cmp.Or(cg.Routing, b.cat.Routing),
		Off:     cg.Off, Context: cg.Context, FirstToken: cg.FirstToken,
		Place: len(b.cat.Groups),
	}
	for i, s := range cg.Members {
		r, err := ParseRef(s)
		if err != nil {
			b.problem(place(cg.MemberPos, i, cg.Pos), "group "+cg.ID+": member "+err.Error(), "")
			continue
		}
		g.Members = append(g.Members, b.whole(r))
	}
	b.cat.Groups = append(b.cat.Groups, g)
}

// place returns where entry i of a list stands in the file, else where its table does.
func place(at []config.Pos, i int, table config.Pos) config.Pos {
	if i < len(at) {
		return at[i]
	}
	return table
}
