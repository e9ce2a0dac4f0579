package provider

import (
	"cmp"
	"slices"

	"dev.magpie/config"
)

// group makes one group. That its members exist, and that no group leads back to itself,
// the config's own checks have seen to.
func (b *builder) group(cg *config.Group) {
	g := &Group{
		ID: cg.ID, Name: cmp.Or(cg.Name, cg.ID),
		Routing: cmp.Or(cg.Routing, b.cat.Routing),
		Off:     cg.Off, Context: cg.Context, FirstToken: cg.FirstToken,
		Place:    len(b.cat.Groups),
		Affinity: cmp.Or(cg.Affinity, b.cat.Affinity), Sink: b.cfg.Sink,
		Sticky: cg.Sticky, Pick: cg.Pick, Classifier: cg.Classifier, Effort: cg.Effort, Efforts: cg.Efforts,
	}
	if cg.Sink != nil {
		g.Sink = *cg.Sink
	}
	for i, s := range cg.Members {
		r, err := ParseRef(s)
		if err != nil {
			b.problem(place(cg.MemberPos, i, cg.Pos), "group "+cg.ID+": member "+err.Error(), "")
			continue
		}
		g.Members = append(g.Members, b.whole(r))
		g.Spelled = append(g.Spelled, s)
	}
	for _, r := range cg.Rules {
		use := slices.Index(g.Spelled, r.Use)
		if use < 0 {
			continue // the member's own problem was told
		}
		g.Rules = append(g.Rules, Rule{
			Use: use, Tokens: r.Tokens, Images: r.Images, Effort: r.Effort, Agents: r.Agents, Intent: r.Intent, Compact: r.Compact,
		})
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
