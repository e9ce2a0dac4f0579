// Package route decides whom to ask: pure functions over a snapshot. No clock,
// no lock, no I/O; every placement carries its reason.
package route

import (
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// Snapshot is everything that planning may know, taken once and never written again.
type Snapshot struct {
	Now      time.Time
	Catalog  *provider.Catalog
	Standing map[provider.AccountID]Standing
	Rests    map[string]trace.Rest // by rest key and model rest id; ended ones may still stand
}

// Standing is how one account stands.
type Standing struct {
	Unready string // why its secret is missing, "" = ready
	Paused  *trace.Paused
	Pinned  *trace.Pinned
	Windows []provider.Window // as last read
	Read    time.Time      // when; zero = never
}

// Call is what planning needs of a request.
type Call struct {
	Target   provider.Target
	Agent    string
	Protocol wire.Protocol      // the API that the agent speaks
	Only     provider.AccountID // X-Magpie-Account: this one alone
	Made     provider.AccountID // made what the request goes on from: this one alone
}
