// Package copilot reads what a GitHub Copilot plan has left, with the sign-in of Copilot's own
// programs. No request of an agent goes through it.
package copilot

import (
	"cmp"
	"errors"
	"math"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

type snapshot struct {
	Unlimited   loose.Bool   `json:"unlimited"`
	HasQuota    loose.Bool   `json:"has_quota"`
	Entitlement loose.Number `json:"entitlement"`
	Left        loose.Number `json:"quota_remaining"`
	LeftShort   loose.Number `json:"remaining"`
}

type reply struct {
	Plan      loose.Text          `json:"copilot_plan"`
	SKU       loose.Text          `json:"access_type_sku"`
	ResetUTC  loose.Time          `json:"quota_reset_date_utc"`
	Reset     loose.Time          `json:"quota_reset_date"`
	Snapshots map[string]snapshot `json:"quota_snapshots"`

	// Of plans without charge: what there is of each in a month, and what of it is left.
	Monthly   map[string]loose.Number `json:"monthly_quotas"`
	Limited   map[string]loose.Number `json:"limited_user_quotas"`
	ResetFree loose.Time              `json:"limited_user_reset_date"`
}

// month is how long the windows of every plan are.
const month = 30 * 24 * time.Hour

// kinds are what is counted, in the order in which it is told. Completions are an editor's:
// using them up stops no request of an agent.
var kinds = []struct {
	key, name string
	aside     bool
}{{"completions", "Completions", true}, {"premium_interactions", "Premium requests", false}, {"chat", "Chat requests", false}}

// plans are the names of plans that their sku tells better.
var plans = map[loose.Text]string{"free_educational_quota": "Education", "free_limited_copilot": "Free"}

// Parse reads a reply. What the plan does not have is no window; what has no limit stands last.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u reply
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its usage is no JSON object")
	}
	if u.Snapshots == nil && u.Monthly == nil {
		return provider.Reading{}, errors.New("its usage tells no quota")
	}
	r := provider.Reading{Plan: cmp.Or(plans[u.SKU], string(u.Plan))}
	var endless []provider.Window
	for _, k := range kinds {
		s, ok := u.of(k.key)
		if ok && s.Unlimited.V {
			endless = append(endless, provider.Window{Name: k.name, Aside: true, Endless: true, Read: at})
		}
		if !ok || s.Unlimited.V || s.HasQuota.Set && !s.HasQuota.V || s.Entitlement.V <= 0 {
			continue
		}
		left := cmp.Or(s.Left, s.LeftShort)
		if !left.Set {
			continue // what is not told is not used up
		}
		used := min(max(0, s.Entitlement.V-left.V), math.MaxFloat64)
		r.Windows = append(r.Windows, provider.Window{
			Name: k.name, Used: loose.Percent(used / s.Entitlement.V * 100), Amount: used, Limit: s.Entitlement.V,
			Span: month, Aside: k.aside, Resets: u.resets(), Read: at,
		})
	}
	r.Windows = append(r.Windows, endless...)
	return r, nil
}

// of is what is told of one kind, in either way.
func (u *reply) of(kind string) (snapshot, bool) {
	if u.Snapshots != nil {
		s, ok := u.Snapshots[kind]
		return s, ok
	}
	s := snapshot{Entitlement: u.Monthly[kind], Left: u.Limited[kind]}
	return s, s.Entitlement.Set && s.Left.Set
}

func (u *reply) resets() time.Time {
	for _, t := range []loose.Time{u.ResetUTC, u.Reset, u.ResetFree} {
		if !t.IsZero() {
			return t.Time
		}
	}
	return time.Time{}
}
