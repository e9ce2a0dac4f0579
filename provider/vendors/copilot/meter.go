// Package copilot reads what a GitHub Copilot plan has left.
package copilot

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

type snapshot struct {
	Unlimited   bool         `json:"unlimited"`
	HasQuota    *bool        `json:"has_quota"`
	Entitlement loose.Number `json:"entitlement"`
	Left        loose.Number `json:"quota_remaining"`
	LeftShort   loose.Number `json:"remaining"`
}

type reply struct {
	Plan      loose.Text          `json:"copilot_plan"`
	ResetUTC  loose.Time          `json:"quota_reset_date_utc"`
	Reset     loose.Time          `json:"quota_reset_date"`
	Snapshots map[string]snapshot `json:"quota_snapshots"`
}

// kinds are what is counted, in the order in which it is told. Completions are an editor's:
// using them up stops no request of an agent.
var kinds = []struct {
	key, name string
	aside     bool
}{{"completions", "Completions", true}, {"premium_interactions", "Premium requests", false}, {"chat", "Chat requests", false}}

// Parse reads a reply. What the plan does not have is no window; what has no limit stands last.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u reply
	if err := json.Unmarshal(body, &u); err != nil {
		return provider.Reading{}, errors.New("its usage is no JSON object")
	}
	if u.Snapshots == nil {
		return provider.Reading{}, errors.New("its usage tells no quota")
	}
	r := provider.Reading{Plan: string(u.Plan)}
	resets := u.ResetUTC.Time
	if resets.IsZero() {
		resets = u.Reset.Time
	}
	var endless []provider.Window
	for _, k := range kinds {
		s, ok := u.Snapshots[k.key]
		if ok && s.Unlimited {
			endless = append(endless, provider.Window{Name: k.name, Aside: true, Endless: true, Read: at})
		}
		if !ok || s.Unlimited || s.HasQuota != nil && !*s.HasQuota || s.Entitlement.V <= 0 {
			continue
		}
		left := cmp.Or(s.Left, s.LeftShort)
		used := max(0, s.Entitlement.V-left.V)
		r.Windows = append(r.Windows, provider.Window{
			Name: k.name, Used: loose.Percent(used / s.Entitlement.V * 100), Amount: used, Limit: s.Entitlement.V, Aside: k.aside, Resets: resets, Read: at,
		})
	}
	r.Windows = append(r.Windows, endless...)
	return r, nil
}
