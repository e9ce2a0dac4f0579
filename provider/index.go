package provider

import (
	"slices"
	"strings"
)

// index finds things by name; it is made once, in Build.
type index struct {
	providers map[string]*Provider
	groups    map[string]*Group // by id and by slug
	accounts  map[AccountID]*Account
	all       []*Account
	byWho     map[string][]*Account // lower-cased id, provider or bare name
	bare      map[string][]*Provider
	standby   map[string]*Group // found groups by id, while none are wanted
	idle      map[string]bool   // providers by id of which nobody can serve, as a view has it
	loose     []*Provider       // reachable by a bare id, without a list of their own in the file
}

// Provider returns the provider of that id, nil when there is none.
func (c *Catalog) Provider(id string) *Provider { return c.index.providers[id] }

// Group returns the group of that id, nil when there is none.
func (c *Catalog) Group(id string) *Group {
	if g := c.index.groups[id]; g != nil && g.ID == id {
		return g
	}
	return nil
}

// Account returns the key or account of that id, nil when there is none.
func (c *Catalog) Account(id AccountID) *Account { return c.index.accounts[id] }

// AllAccounts returns every key and account, in the file's order. It must not be changed.
func (c *Catalog) AllAccounts() []*Account { return c.index.all }

// Find returns whom a person may mean by who, case ignored: the one whose id it is,
// else all with that bare name, else all of the provider of that name.
func (c *Catalog) Find(who string) []*Account {
	return slices.Clone(c.index.byWho[strings.ToLower(strings.TrimSpace(who))])
}

// Account returns the provider's key or account of that name, case ignored, nil when there is none.
func (p *Provider) Account(name string) *Account {
	for _, a := range p.Accounts {
		if strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

// Serves reports whether the account may serve the model: its own list has it, or it has no list.
func (a *Account) Serves(model string) bool {
	if len(a.Models) == 0 {
		return true
	}
	return slices.Contains(a.Models, model) || slices.Contains(a.Models, Unmarked(model))
}

// HasSecret reports whether the account has a secret to be fetched at all.
func (a *Account) HasSecret() bool { return a.Secret != SecretSource{} }

// NewCatalog makes a catalogue of what a program names, without a config.
func NewCatalog(providers []*Provider, groups []*Group) *Catalog {
	c := &Catalog{Providers: providers, Groups: groups}
	c.seal()
	return c
}

// seal makes the catalogue's indexes; nothing is changed after it.
func (c *Catalog) seal() {
	ix := index{
		providers: make(map[string]*Provider, len(c.Providers)),
		groups:    make(map[string]*Group, 2*len(c.Groups)),
		accounts:  map[AccountID]*Account{},
		byWho:     map[string][]*Account{},
		bare:      map[string][]*Provider{},
	}
	for _, p := range c.Providers {
		ix.providers[p.ID] = p
		ix.addModels(p)
		for _, a := range p.Accounts {
			ix.accounts[a.ID] = a
			ix.all = append(ix.all, a)
		}
	}
	ix.addWho()
	for _, g := range c.Groups {
		ix.groups[g.ID] = g
	}
	for _, g := range c.Groups {
		if slug := Slug(g.ID); ix.groups[slug] == nil {
			ix.groups[slug] = g
		}
	}
	c.index = ix
}

func (ix *index) addModels(p *Provider) {
	p.listed = byID(p.Models)
	p.static = byID(p.Static)
	if p.Unlisted {
		return
	}
	own := p.Models
	if len(own) == 0 {
		own = p.Static
		ix.loose = append(ix.loose, p)
	}
	for _, m := range own {
		if !slices.Contains(ix.bare[m.ID], p) {
			ix.bare[m.ID] = append(ix.bare[m.ID], p)
		}
	}
}

// addWho fills byWho in order of precedence: a whole id hides bare names, which hide providers' ids.
func (ix *index) addWho() {
	for _, a := range ix.all {
		ix.byWho[strings.ToLower(string(a.ID))] = []*Account{a}
	}
	names := map[string][]*Account{}
	providers := map[string][]*Account{}
	for _, a := range ix.all {
		name := strings.ToLower(a.Name)
		names[name] = append(names[name], a)
		providers[a.Provider] = append(providers[a.Provider], a)
	}
	for _, more := range []map[string][]*Account{names, providers} {
		for name, found := range more {
			if _, taken := ix.byWho[name]; !taken {
				ix.byWho[name] = found
			}
		}
	}
}

func byID(models []Model) map[string]int {
	m := make(map[string]int, len(models))
	for i := range models {
		if _, twice := m[models[i].ID]; !twice {
			m[models[i].ID] = i
		}
	}
	return m
}
