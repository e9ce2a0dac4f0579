package claude

import (
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// kinds are the windows that an event may be of.
var kinds = map[string]struct {
	span        time.Duration
	name, model string
}{
	"five_hour":                  {session, "", ""},
	"seven_day":                  {week, "", ""},
	"seven_day_opus":             {week, "Opus", "opus"},
	"seven_day_sonnet":           {week, "Sonnet", "sonnet"},
	"seven_day_overage_included": {week, "Fable", "fable"},
}

// Event is what the program writes of a limit while it answers.
type Event struct {
	Status string       `json:"status"` // allowed, allowed_warning, rejected
	Kind   string       `json:"rateLimitType"`
	Used   loose.Number `json:"utilization"` // 0-1
	Resets loose.Time   `json:"resetsAt"`

	All map[string]Event `json:"unifiedWindows"` // by kind: every window, where the program tells them
}

// Window returns the window that an event tells; it names one at a time, so others may be there.
func (e Event) Window(at time.Time) (provider.Window, bool) {
	kind, ok := kinds[e.Kind]
	if !ok || !e.Used.Set && e.Status != "rejected" {
		return provider.Window{}, false
	}
	w := provider.Window{
		Name: provider.SpanName(kind.span), Span: kind.span, Model: kind.model,
		Used: loose.Percent(e.Used.V * 100), Resets: e.Resets.Time, Partial: true, Read: at,
	}
	if kind.name != "" {
		w.Name += " · " + kind.name
	}
	if e.Status == "rejected" {
		w.Used = 100
	}
	return w, true
}
