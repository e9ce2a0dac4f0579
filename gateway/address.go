package gateway

import (
	"cmp"

	"dev.magpie/config"
	"dev.magpie/gateway/guard"
)

// address is where the gateway is reached. A reload can move it.
type address struct {
	listen string   // as shown
	bound  []string // host:port of every listener
}

// Moved tells the gateway that it is reached at another address from now on.
func (g *Gateway) Moved(listen string, bound []string) {
	g.address.Store(&address{listen, bound})
	g.guard.Store(g.newGuard(g.live.Load().cfg))
	g.tellStatus()
}

func (g *Gateway) newGuard(cfg *config.Config) *guard.Guard {
	return guard.New(guard.Options{
		Bound: g.address.Load().bound, PublicURL: cmp.Or(g.d.Public, cfg.PublicURL), CORSOrigins: cfg.CORSOrigins, TrustProxy: g.d.Trust,
	})
}
