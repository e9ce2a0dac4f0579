package mend

import (
	"slices"
	"sync"
	"sync/atomic"

	"dev.magpie/gateway/wire"
)

// Key is whose habit a thing is. Without a model it is that of all that the provider
// serves on the API.
type Key struct {
	Provider string
	API      wire.Protocol
	Model    string
}

// Bounds of what is remembered. What is forgotten is learnt again at the cost of one refusal.
const (
	keysMost   = 1024
	thingsMost = 24
)

// Memory is what vendors were learnt to refuse, until the gateway ends. Readers never wait.
// The zero value is ready.
type Memory struct {
	mu    sync.Mutex // of writers
	known atomic.Pointer[map[Key][]Thing]
}

// Of lists what a request of the model on the API is to be sent without. The slice must
// not be changed.
func (m *Memory) Of(provider string, api wire.Protocol, model string) []Thing {
	known := m.known.Load()
	if known == nil {
		return nil
	}
	wide, own := (*known)[Key{provider, api, ""}], (*known)[Key{provider, api, model}]
	if len(wide) == 0 || len(own) == 0 {
		return append(wide[:len(wide):len(wide)], own...)
	}
	return slices.Concat(wide, own)
}

// Learn remembers what made a request good.
func (m *Memory) Learn(k Key, things ...Thing) {
	if len(things) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var old map[Key][]Thing
	if p := m.known.Load(); p != nil {
		old = *p
	}
	had := old[k]
	all := slices.Clone(had)
	for _, t := range things {
		all = slices.DeleteFunc(all, func(o Thing) bool { return t.replaces(o) })
		all = append(all, t)
	}
	if slices.Equal(all, had) {
		return
	}
	if n := len(all) - thingsMost; n > 0 {
		all = all[n:]
	}
	known := make(map[Key][]Thing, len(old)+1)
	if len(old) < keysMost {
		for key, v := range old {
			known[key] = v
		}
	}
	known[k] = all
	m.known.Store(&known)
}

// replaces says that a thing stands in the place of an older one.
func (t Thing) replaces(o Thing) bool {
	if t == o {
		return true
	}
	return t.What == o.What && (t.What == Most || t.What == Level && t.Path == o.Path)
}
