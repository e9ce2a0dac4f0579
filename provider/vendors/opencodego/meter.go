// Package opencodego reads what a key of OpenCode Go has left of its subscription.
package opencodego

import (
	"errors"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

type window struct {
	Status   string       `json:"status"`
	Percent  loose.Number `json:"percent"`
	Usage    loose.Number `json:"usagePercent"`
	Resets   loose.Time   `json:"resetsAt"`
	ResetSec loose.Number `json:"resetInSec"`
}

type windows struct {
	Rolling      *window `json:"rolling"`
	Weekly       *window `json:"weekly"`
	Monthly      *window `json:"monthly"`
	RollingUsage *window `json:"rollingUsage"`
	WeeklyUsage  *window `json:"weeklyUsage"`
	MonthlyUsage *window `json:"monthlyUsage"`
}

// Parse reads a reply. What a window that nothing was used of says of its reset means nothing.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u struct {
		Usage *windows `json:"usage"`
		windows
	}
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its usage is no JSON object")
	}
	if u.Usage == nil {
		u.Usage = &u.windows
	}
	var r provider.Reading
	for _, each := range []struct {
		w    [2]*window
		name string
		span time.Duration
	}{
		{[2]*window{u.Usage.Rolling, u.Usage.RollingUsage}, "", 5 * time.Hour},
		{[2]*window{u.Usage.Weekly, u.Usage.WeeklyUsage}, "", 7 * 24 * time.Hour},
		{[2]*window{u.Usage.Monthly, u.Usage.MonthlyUsage}, "Month", 0},
	} {
		for _, told := range each.w {
			if told == nil || !told.Percent.Set && !told.Usage.Set {
				continue // what is not told is not unused
			}
			used := told.Percent.Or(told.Usage.V)
			w := provider.Window{Name: each.name, Span: each.span, Used: loose.Percent(used), Read: at}
			if w.Name == "" {
				w.Name = provider.SpanName(w.Span)
			}
			switch {
			case w.Used == 0:
			case !told.Resets.IsZero():
				w.Resets = told.Resets.Time
			case told.ResetSec.V > 0 && told.ResetSec.V < 1e8:
				w.Resets = at.Add(time.Duration(told.ResetSec.V) * time.Second).UTC()
			}
			r.Windows = append(r.Windows, w)
			break
		}
	}
	if len(r.Windows) == 0 {
		return provider.Reading{}, errors.New("its usage tells no window")
	}
	return r, nil
}
