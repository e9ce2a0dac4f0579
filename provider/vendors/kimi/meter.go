// Package kimi reads what a Kimi Code key has left of its plan.
package kimi

import (
	"errors"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

const week = 7 * 24 * time.Hour

type detail struct {
	Limit     loose.Number `json:"limit"`
	Used      loose.Number `json:"used"`
	Remaining loose.Number `json:"remaining"`
	ResetTime loose.Time   `json:"resetTime"`
	ResetAt   loose.Time   `json:"resetAt"`
	Reset     loose.Time   `json:"reset_at"`
	ResetLong loose.Time   `json:"reset_time"`
}

type reply struct {
	Usage  *detail `json:"usage"`
	Limits []struct {
		Window struct {
			Duration loose.Number `json:"duration"`
			Unit     string       `json:"timeUnit"`
		} `json:"window"`
		Detail detail `json:"detail"`
	} `json:"limits"`
}

// Parse reads a reply of the plan's usage: the week, and shorter windows before it.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u reply
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its usage is no JSON object")
	}
	var r provider.Reading
	for _, l := range u.Limits {
		if w, ok := l.Detail.window(length(l.Window.Duration.V, l.Window.Unit), at); ok {
			r.Windows = append(r.Windows, w)
		}
	}
	if u.Usage != nil {
		if w, ok := u.Usage.window(week, at); ok {
			r.Windows = append(r.Windows, w)
		}
	}
	if len(r.Windows) == 0 {
		return provider.Reading{}, errors.New("its usage tells no window")
	}
	return r, nil
}

func length(n float64, unit string) time.Duration {
	if n <= 0 || n > 1e6 {
		return 0
	}
	switch strings.ToUpper(strings.TrimPrefix(strings.ToUpper(unit), "TIME_UNIT_")) {
	case "SECOND":
		return time.Duration(n) * time.Second
	case "MINUTE":
		return time.Duration(n) * time.Minute
	case "HOUR":
		return time.Duration(n) * time.Hour
	case "DAY":
		return time.Duration(n) * 24 * time.Hour
	case "WEEK":
		return time.Duration(n) * week
	}
	return 0
}

// window makes a window of a count; one without a limit is none.
func (d *detail) window(span time.Duration, at time.Time) (provider.Window, bool) {
	if d.Limit.V <= 0 || !d.Used.Set && !d.Remaining.Set {
		return provider.Window{}, false
	}
	used := d.Used.V
	if !d.Used.Set {
		used = d.Limit.V - d.Remaining.V
	}
	w := provider.Window{Name: provider.SpanName(span), Span: span, Used: loose.Percent(used / d.Limit.V * 100), Read: at}
	for _, t := range []loose.Time{d.ResetTime, d.ResetAt, d.Reset, d.ResetLong} {
		if !t.IsZero() {
			w.Resets = t.Time
			break
		}
	}
	return w, true
}
