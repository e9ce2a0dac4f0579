package provider

import (
	"slices"
	"strconv"
	"strings"
)

const groupWord = "group"

// Codes of refusals.
const (
	CodeBadName         = "invalid_model"
	CodeModelNotFound   = "model_not_found"
	CodeProviderUnknown = "provider_not_found"
	CodeProviderOff     = "provider_off"
	CodeAccountUnknown  = "account_not_found"
	CodeGroupUnknown    = "group_not_found"
	CodeGroupOff        = "group_off"
	CodeGroupEmpty      = "group_empty"
)

// Resolve says what a model's name stands for, or why it stands for nothing: a
// provider's model, a group, or a bare id that a group or a provider's list has. A level of
// effort may stand behind it, unless a model is called so.
func (c *Catalog) Resolve(name string, fetched Lists) (Target, *Refusal) {
	name = strings.TrimSpace(name)
	t, refusal := c.resolve(name, fetched)
	return c.guessed(name, t, refusal)
}

func (c *Catalog) resolve(name string, fetched Lists) (Target, *Refusal) {
	head, model, slash := strings.Cut(name, "/")
	switch {
	case name == "":
		return Target{}, &Refusal{Status: 400, Code: CodeBadName, Words: "the request names no model"}
	case !slash:
		return levelled(name, func(name string) (Target, *Refusal) { return c.resolveBare(name, fetched) })
	case head == "" || model == "":
		return Target{}, badName(name)
	case head == groupWord:
		return levelled(name, func(name string) (Target, *Refusal) { return c.resolveGroup(name) })
	}
	id, who, tied := strings.Cut(head, "@")
	if id == "" || tied && who == "" {
		return Target{}, badName(name)
	}
	p := c.index.providers[id]
	if p == nil {
		p = c.index.providers[strings.ToLower(id)]
	}
	if p == nil {
		return levelled(name, func(name string) (Target, *Refusal) { return c.resolveUnknown(name, id, fetched) })
	}
	t := Target{Asked: name, Provider: p, Who: who, Model: model}
	if plain, level := splitLevel(model); level != "" && !p.has(model, fetched[p.ID]) {
		t.Model, t.Effort = plain, level
	}
	return resolveAt(p, t)
}

// levelled resolves a name as it stands, and where it stands for nothing, without the level at its end.
func levelled(name string, resolve func(string) (Target, *Refusal)) (Target, *Refusal) {
	t, refusal := resolve(name)
	if refusal == nil {
		return t, nil
	}
	plain, level := splitLevel(name)
	if level == "" {
		return t, refusal
	}
	t, without := resolve(plain)
	if without != nil {
		return Target{}, without
	}
	t.Asked, t.Effort = name, level
	return t, nil
}

// splitLevel takes the level of effort off a name's end; a long-context mark stays. level is "" when there is none.
func splitLevel(name string) (plain, level string) {
	base := Unmarked(name)
	i := strings.LastIndexByte(base, ':')
	if i <= 0 {
		return name, ""
	}
	level = strings.ToLower(base[i+1:])
	if !slices.Contains(Efforts, level) {
		return name, ""
	}
	return base[:i] + name[len(base):], level
}

// has reports whether the provider is known to have a model of that whole id.
func (p *Provider) has(id string, fetched *List) bool {
	_, static := p.static[id]
	_, listed := p.listed[id]
	return static || listed || fetched.Has(id)
}

// resolveAt checks a model of a provider that is there.
func resolveAt(p *Provider, t Target) (Target, *Refusal) {
	if p.Off {
		return Target{}, offRefusal(p)
	}
	if t.Who != "" {
		a := p.Account(t.Who)
		if a == nil {
			return Target{}, noSuchAccount(p, t.Who)
		}
		t.Who = a.Name
	}
	if len(p.Models) > 0 && !p.lists(t.Model) {
		return Target{}, &Refusal{Status: 404, Code: CodeModelNotFound, Words: "provider " + p.ID + " serves only the models that its list in the config names, and " +
			quote(t.Model) + " is not among them: " + someOf(modelIDs(p.Models)) + nearest(t.Model, modelIDs(p.Models))}
	}
	return t, nil
}

// lists reports whether the provider's own list in the file has the model, with or without its mark.
func (p *Provider) lists(model string) bool {
	if _, ok := p.listed[model]; ok {
		return true
	}
	_, ok := p.listed[Unmarked(model)]
	return ok
}

// resolveUnknown resolves a name whose part before the / is no provider: the whole may
// be an id that a relay lists.
func (c *Catalog) resolveUnknown(name, id string, fetched Lists) (Target, *Refusal) {
	if t, ok := c.lookBare(name, fetched); ok {
		return t, nil
	}
	words := "there is no provider " + quote(id)
	if len(c.Providers) == 0 {
		return Target{}, &Refusal{Status: 404, Code: CodeProviderUnknown, Words: words + ": add one to the config first"}
	}
	ids := make([]string, len(c.Providers))
	for i, p := range c.Providers {
		ids[i] = p.ID
	}
	return Target{}, &Refusal{Status: 404, Code: CodeProviderUnknown, Words: words + ", and no provider's list has " + quote(name) +
		"; providers: " + someOf(ids) + nearest(id, ids)}
}

// resolveBare resolves a name without a provider: a group's id, else an id of a list, else
// what is one by its spelling.
func (c *Catalog) resolveBare(name string, fetched Lists) (Target, *Refusal) {
	g := c.findGroup(name)
	if g != nil && groupRefusal(g) == nil {
		return Target{Asked: name, Group: g}, nil
	}
	if t, ok := c.first(name, c.index.standby[strings.ToLower(Unmarked(name))]); ok {
		return t, nil
	}
	if t, ok := c.lookBare(name, fetched); ok {
		return t, nil
	}
	if t, ok := c.first(name, c.index.standby[autoWord+Slug(name)]); ok {
		return t, nil
	}
	for _, p := range c.Providers {
		if p.Off && (p.lists(name) || fetched[p.ID].Has(name)) {
			return Target{}, offRefusal(p)
		}
	}
	if g != nil && (!g.Auto || strings.EqualFold(g.ID, name)) {
		return Target{}, groupRefusal(g)
	}
	return Target{}, c.unknownModel(name, fetched)
}

// first is the first provider that serves what a found group would hold, while there are no such groups.
func (c *Catalog) first(name string, g *Group) (Target, bool) {
	if g == nil {
		return Target{}, false
	}
	t := Target{Asked: name, Provider: c.Provider(g.Members[0].Provider), Model: g.Members[0].Model}
	for _, r := range g.Members[1:] {
		t.Others = append(t.Others, r.Provider)
	}
	return t, true
}

// lookBare finds a bare id among the lists: the file's and the presets' first by index,
// then the fetched ones. The first provider of the file that has it is taken, of those of
// which somebody can serve, where there are any.
func (c *Catalog) lookBare(name string, fetched Lists) (Target, bool) {
	for _, id := range []string{name, Unmarked(name)} {
		on := c.holders(id, fetched)
		serves := func(p *Provider) bool { return !p.Off && !c.index.idle[p.ID] }
		if !slices.ContainsFunc(on, serves) {
			serves = func(p *Provider) bool { return !p.Off }
		}
		first := slices.IndexFunc(on, serves)
		if first < 0 {
			continue
		}
		t := Target{Asked: name, Provider: on[first], Model: name}
		for _, p := range on[first+1:] {
			if serves(p) {
				t.Others = append(t.Others, p.ID)
			}
		}
		return t, true
	}
	return Target{}, false
}

// holders returns the providers that list the id, in the file's order.
func (c *Catalog) holders(id string, fetched Lists) []*Provider {
	found := c.index.bare[id]
	if len(fetched) == 0 {
		return found
	}
	var more []*Provider
	for _, p := range c.index.loose {
		if fetched[p.ID].Has(id) && !slices.Contains(found, p) {
			more = append(more, p)
		}
	}
	if len(more) == 0 {
		return found
	}
	all := slices.Concat(found, more)
	slices.SortFunc(all, func(a, b *Provider) int { return a.Place - b.Place })
	return all
}

// findGroup finds the group that a name without group/ means: by its id, by a model's
// spelling of it, or the found group of a model of that spelling.
func (c *Catalog) findGroup(name string) *Group {
	groups := c.index.groups
	if len(groups) == 0 {
		return nil
	}
	name = Unmarked(name)
	if g := groups[strings.ToLower(name)]; g != nil {
		return g
	}
	slug := Slug(name)
	if g := groups[slug]; g != nil {
		return g
	}
	return groups[autoWord+slug]
}

// resolveGroup resolves group/<id>.
func (c *Catalog) resolveGroup(name string) (Target, *Refusal) {
	id := strings.TrimPrefix(name, groupWord+"/")
	if g := c.findGroup(id); g != nil {
		if refusal := groupRefusal(g); refusal != nil {
			return Target{}, refusal
		}
		return Target{Asked: name, Group: g}, nil
	}
	for _, key := range []string{strings.ToLower(Unmarked(id)), autoWord + Slug(id)} {
		if t, ok := c.first(name, c.index.standby[key]); ok {
			return t, nil
		}
	}
	words := "there is no group " + quote(id)
	if len(c.Groups) > 0 {
		ids := make([]string, len(c.Groups))
		for i, g := range c.Groups {
			ids[i] = g.ID
		}
		words += "; groups: " + someOf(ids) + nearest(id, ids)
	}
	return Target{}, &Refusal{Status: 404, Code: CodeGroupUnknown, Words: words}
}

// groupRefusal says why a group can't be asked, nil when it can.
func groupRefusal(g *Group) *Refusal {
	switch {
	case g.Off && g.Auto:
		return &Refusal{Status: 404, Code: CodeGroupOff, Words: "group " + g.ID + " was taken away: magpie group restore " + g.ID + " brings it back"}
	case g.Off:
		return &Refusal{Status: 404, Code: CodeGroupOff, Words: "group " + g.ID + " is switched off: take off = true out of [groups." + g.ID + "]"}
	case len(g.Members) == 0:
		return &Refusal{Status: 404, Code: CodeGroupEmpty, Words: "group " + g.ID + " has no members: name some in [groups." + g.ID + "]"}
	}
	return nil
}

func (c *Catalog) unknownModel(name string, fetched Lists) *Refusal {
	if len(c.Providers) == 0 {
		return &Refusal{Status: 404, Code: CodeModelNotFound, Words: "nothing serves " + quote(name) + ": add a provider to the config first"}
	}
	ids := c.names(fetched)
	words := "nothing is called " + quote(name)
	if len(ids) > 0 {
		words += "; there are " + someOf(ids)
	}
	return &Refusal{Status: 404, Code: CodeModelNotFound, Words: words + nearest(name, ids) + "; a model is asked for as provider/model, of " + someOf(c.onIDs())}
}

func (c *Catalog) onIDs() []string {
	var ids []string
	for _, p := range c.Providers {
		if !p.Off {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// names returns what can be asked for by a bare name: groups, then listed models in the file's order.
func (c *Catalog) names(fetched Lists) []string {
	var ids []string
	for _, g := range c.Groups {
		if !g.Off {
			ids = append(ids, g.ID)
		}
	}
	seen := map[string]bool{}
	for _, p := range c.Providers {
		if p.Off || p.Unlisted {
			continue
		}
		for _, m := range p.Listed(fetched[p.ID]) {
			if !seen[m.ID] {
				seen[m.ID] = true
				ids = append(ids, m.ID)
			}
		}
	}
	return ids
}

// Listed returns the models that the provider is known to have: the file's, else the
// fetched, else the preset's own. The slice must not be changed.
func (p *Provider) Listed(fetched *List) []Model {
	switch {
	case len(p.Models) > 0:
		return p.Models
	case len(fetched.Models()) > 0:
		return fetched.Models()
	}
	return p.Static
}

func badName(name string) *Refusal {
	return &Refusal{Status: 400, Code: CodeBadName, Words: "the model's name " + quote(name) + " lacks the part on one side of its /: write provider/model"}
}

func offRefusal(p *Provider) *Refusal {
	return &Refusal{Status: 404, Code: CodeProviderOff, Words: "provider " + p.ID + " is switched off: take off = true out of [providers." + p.ID + "]"}
}

func noSuchAccount(p *Provider, who string) *Refusal {
	var names []string
	for _, a := range p.Accounts {
		if a.Kind != KindProvider {
			names = append(names, a.Name)
		}
	}
	words := "provider " + p.ID + " has no key or account " + quote(who)
	if len(names) > 0 {
		words += "; it has " + someOf(names) + nearest(who, names)
	}
	return &Refusal{Status: 404, Code: CodeAccountUnknown, Words: words}
}

func modelIDs(models []Model) []string {
	ids := make([]string, len(models))
	for i := range models {
		ids[i] = models[i].ID
	}
	return ids
}

// quote puts a name that the asker wrote in quotes, cut to a bearable length.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// someOf lists the first few names and says how many more there are.
func someOf(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
}
