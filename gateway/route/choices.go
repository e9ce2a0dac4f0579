package route

import (
	"cmp"
	"slices"

	"dev.magpie/provider"
)

// Choices are what the person chose at run time; each beats the config until it is undone.
// Providers are named by id, groups as group/<id>.
type Choices struct {
	Routing  map[string]string
	Affinity map[string]string
	Sink     map[string]bool
	Order    map[string][]provider.AccountID // of a provider's accounts: those named, first first, before its others
	Pick     map[string]string               // of a manual group, by its id: the member as the config spells it
	Caps     map[provider.AccountID]Cap
}

// Cap is how much of an account may be spent. Zero values mean that the config holds.
type Cap struct {
	Percent int            // 1-99 of each window; -1 = none, whatever the config says
	Windows map[string]int // by a window's name in lower case: 1-99, 100 = none on that window
	Credits *bool          // may it spend credits
	Reset   *bool          // may it spend its resets by itself
}

// GroupKey names a group where providers stand beside it.
func GroupKey(id string) string { return groupHead + id }

const groupHead = "group/"

func (s *Snapshot) routingOf(p *provider.Provider) string {
	return cmp.Or(s.Choices.Routing[p.ID], p.Routing)
}

func (s *Snapshot) groupRouting(g *provider.Group) string {
	return cmp.Or(s.Choices.Routing[GroupKey(g.ID)], g.Routing)
}

// accounts are a provider's, in the file's order or in that which the person chose.
func (s *Snapshot) accounts(p *provider.Provider) []*provider.Account {
	first := s.Choices.Order[p.ID]
	if len(first) == 0 {
		return p.Accounts
	}
	place := func(a *provider.Account) int {
		if i := slices.Index(first, a.ID); i >= 0 {
			return i
		}
		return len(first)
	}
	ordered := slices.Clone(p.Accounts)
	slices.SortStableFunc(ordered, func(a, b *provider.Account) int { return place(a) - place(b) })
	return ordered
}

// picked is the place of the member that a manual group uses: the one chosen last that is
// a member still, else the first.
func (s *Snapshot) picked(g *provider.Group) int {
	for _, pick := range []string{s.Choices.Pick[g.ID], g.Pick} {
		if i := slices.Index(g.Spelled, pick); i >= 0 {
			return i
		}
	}
	return 0
}

// SpentShare is the share used, in percent, from which a provider's account counts as used
// up: "order" and "best" use each to the last.
func (s *Snapshot) SpentShare(p *provider.Provider) float64 {
	if r := s.routingOf(p); r == listed || r == bestOf {
		return 100
	}
	return provider.SpentShare
}

func (s *Snapshot) affinityOf(t *provider.Target) string {
	if t.Group != nil {
		return cmp.Or(s.Choices.Affinity[GroupKey(t.Group.ID)], t.Group.Affinity)
	}
	return cmp.Or(s.Choices.Affinity[t.Provider.ID], t.Provider.Affinity)
}

func (s *Snapshot) sinks(p *provider.Provider) bool {
	if on, ok := s.Choices.Sink[p.ID]; ok {
		return on
	}
	return p.Sink
}

func (s *Snapshot) groupSinks(g *provider.Group) bool {
	if on, ok := s.Choices.Sink[GroupKey(g.ID)]; ok {
		return on
	}
	return g.Sink
}
