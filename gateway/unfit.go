package gateway

import (
	"sync"

	"dev.magpie/gateway/wire"
)

// unfit remembers what a provider's API does not know, until the gateway ends.
type unfit struct {
	mu    sync.RWMutex
	known map[unfitThing]bool
}

type unfitThing struct {
	provider string
	api      wire.Protocol
	thing    string
}

func (u *unfit) has(provider string, api wire.Protocol, thing string) bool {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.known[unfitThing{provider, api, thing}]
}

func (u *unfit) note(provider string, api wire.Protocol, thing string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known == nil {
		u.known = map[unfitThing]bool{}
	}
	u.known[unfitThing{provider, api, thing}] = true
}
