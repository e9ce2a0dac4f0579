package gateway

import (
	"sync"

	"dev.magpie/provider"
)

// bookMost bounds what is looked up of models: names are the agents' to choose.
const bookMost = 4096

// book is what was looked up of models and groups on one set of lists and one catalogue, so
// that a request that names one looks nothing up. The zero value is ready.
type book struct {
	mu     sync.RWMutex
	lists  *provider.Lists
	view   *provider.Catalog
	models map[bookKey]*provider.Model
	groups map[string]*provider.Model
}

type bookKey struct{ provider, model string }

// model is what is known of a provider's model. It must not be changed.
func (l *live) model(p *provider.Provider, id string) *provider.Model {
	b, key := &l.book, bookKey{p.ID, id}
	lists, view := l.lists.Load(), l.view.Load()
	b.mu.RLock()
	m, fresh := b.models[key], b.lists == lists && b.view == view
	b.mu.RUnlock()
	if m != nil && fresh {
		return m
	}
	var fetched *provider.List
	if lists != nil {
		fetched = (*lists)[p.ID]
	}
	found := p.Model(id, fetched)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(lists, view)
	b.models[key] = &found
	return &found
}

// group is what agents are told of a group as a model. It must not be changed.
func (l *live) group(g *provider.Group) *provider.Model {
	b := &l.book
	lists, view := l.lists.Load(), l.view.Load()
	b.mu.RLock()
	m, fresh := b.groups[g.ID], b.lists == lists && b.view == view
	b.mu.RUnlock()
	if m != nil && fresh {
		return m
	}
	var fetched provider.Lists
	if lists != nil {
		fetched = *lists
	}
	found := l.catalog().GroupModel(g, fetched)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(lists, view)
	b.groups[g.ID] = &found
	return &found
}

// open begins a new book where what it stands on is another, or it has grown too long.
func (b *book) open(lists *provider.Lists, view *provider.Catalog) {
	if b.models == nil || b.lists != lists || b.view != view || len(b.models)+len(b.groups) >= bookMost {
		b.lists, b.view = lists, view
		b.models, b.groups = map[bookKey]*provider.Model{}, map[string]*provider.Model{}
	}
}
