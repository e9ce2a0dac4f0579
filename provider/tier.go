package provider

import (
	"regexp"
	"slices"
	"strings"
)

// claudeAgent is the agent that asks for Claude's models by their family's tiers.
const claudeAgent = "claude"

// family matches a whole id of Claude's family: claude-[version-]tier, and what follows it.
var family = regexp.MustCompile(`^claude-(?:[0-9][0-9.-]*-)?(opus|sonnet|haiku|fable)(?:[-.@:].*)?$`)

var tiers = []string{"opus", "sonnet", "haiku", "fable"}

// ResolveFor is Resolve for an agent: for Claude Code the models that the person set for
// Claude's tiers go before what is served under the ids, and for every agent its own stand
// in for ids that nothing serves.
func (c *Catalog) ResolveFor(agent, name string, fetched Lists) (Target, *Refusal) {
	name = strings.TrimSpace(name)
	set := c.Tiers[strings.ToLower(agent)]
	if len(set) == 0 {
		return c.Resolve(name, fetched)
	}
	if m := family.FindStringSubmatch(strings.ToLower(Unmarked(name))); m != nil && strings.EqualFold(agent, claudeAgent) && set[m[1]] != "" {
		if plain, _ := splitLevel(name); !c.owned(name) && !c.owned(plain) {
			return c.standIn(agent, m[1], name, fetched)
		}
	}
	t, refusal := c.resolve(name, fetched)
	if refusal == nil || !refusal.nobodys() {
		return t, refusal
	}
	if tier := tierOf(name); set[tier] != "" {
		return c.standIn(agent, tier, name, fetched)
	}
	return c.guessed(name, t, refusal)
}

// owned says whether a name means a group that the person made.
func (c *Catalog) owned(name string) bool {
	g := c.findGroup(name)
	return g != nil && !g.Auto && !g.Off
}

// nobodys says whether a name was refused because nothing serves it.
func (r *Refusal) nobodys() bool {
	return r.Code == CodeModelNotFound || r.Code == CodeProviderUnknown || r.Code == CodeProviderOff
}

// tierOf is the tier that a model's id names, "" for none.
func tierOf(name string) string {
	words := strings.FieldsFunc(Slug(name), func(r rune) bool { return r == '-' || r == ':' || r == '@' || r == '.' })
	for _, t := range tiers {
		if slices.Contains(words, t) {
			return t
		}
	}
	return ""
}

// standIn resolves the model that the person set for a tier.
func (c *Catalog) standIn(agent, tier, name string, fetched Lists) (Target, *Refusal) {
	model := c.Tiers[strings.ToLower(agent)][tier]
	t, refusal := c.Resolve(model, fetched)
	if refusal != nil {
		r := *refusal
		r.Words = "[agents." + strings.ToLower(agent) + "] has " + model + " stand in for " + quote(name) + ", but " + r.Words
		return Target{}, &r
	}
	t.Asked = name
	if _, level := splitLevel(name); t.Effort == "" {
		t.Effort = level
	}
	return t, nil
}
