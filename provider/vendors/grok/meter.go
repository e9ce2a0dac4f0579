// Package grok reads what a Grok subscription has left.
package grok

import (
	"errors"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

type amount struct {
	V loose.Number `json:"val"`
}

type reply struct {
	Config *struct {
		Used   loose.Number `json:"creditUsagePercent"`
		Period struct {
			Type loose.Text `json:"type"`
			End  loose.Time `json:"end"`
		} `json:"currentPeriod"`
		End        loose.Time `json:"billingPeriodEnd"`
		DemandCap  amount     `json:"onDemandCap"`
		DemandUsed amount     `json:"onDemandUsed"`
	} `json:"config"`
}

const day = 24 * time.Hour

// periods are the lengths of a window by the last part of its type; a month has none of its own.
var periods = map[string]time.Duration{"DAILY": day, "WEEKLY": 7 * day}

// Parse reads a reply: the window of the plan, and what may be spent beyond it, which stops nothing.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u reply
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its billing is no JSON object")
	}
	if u.Config == nil || !u.Config.Used.Set {
		return provider.Reading{}, errors.New("its billing tells no window")
	}
	c := u.Config
	w := provider.Window{Used: loose.Percent(c.Used.V), Resets: c.Period.End.Time, Read: at}
	if w.Resets.IsZero() {
		w.Resets = c.End.Time
	}
	kind := string(c.Period.Type)
	kind = kind[strings.LastIndexByte(kind, '_')+1:]
	w.Span = periods[kind]
	if w.Name = provider.SpanName(w.Span); kind == "MONTHLY" {
		w.Name = "Month"
	}
	r := provider.Reading{Windows: []provider.Window{w}}
	if most := c.DemandCap.V.V; most > 0 {
		used := max(0, c.DemandUsed.V.V)
		r.Windows = append(r.Windows, provider.Window{
			Name: "On-demand", Used: loose.Percent(used / most * 100), Amount: used, Limit: most, Aside: true, Read: at,
		})
	}
	return r, nil
}
