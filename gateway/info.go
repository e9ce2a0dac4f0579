package gateway

import (
	"net/http"

	"dev.magpie/gateway/wire"
)

// handleInfo answers who is here: a second magpie looks for it before it takes the port.
func (g *Gateway) handleInfo(w http.ResponseWriter, _ *http.Request) {
	lv := g.live.Load()
	writeJSON(w, http.StatusOK, map[string]any{
		"name": "magpie", "version": g.d.Version, "models": len(lv.listed()), "window": false,
		"apis": wire.Protocols, "pid": g.d.PID, "started": g.started.UTC(), "demo": g.d.Demo,
	})
}

func (g *Gateway) handleHello(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"name": "magpie", "version": g.d.Version})
}

func (g *Gateway) handleHealth(w http.ResponseWriter, _ *http.Request) {
	if g.draining.Load() {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "draining"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}
