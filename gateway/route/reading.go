package route

import (
	"slices"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Told puts windows into the trace's shape.
func Told(windows []provider.Window) []trace.Window {
	if len(windows) == 0 {
		return nil
	}
	told := make([]trace.Window, len(windows))
	resets := make([]time.Time, len(windows))
	for i := range windows {
		w := &windows[i]
		told[i] = trace.Window{
			Name: w.Name, Used: w.Used, SpanS: int64(w.Span / time.Second), Model: w.Model,
			Amount: w.Amount, Limit: w.Limit, Unit: w.Unit, Aside: w.Aside, Read: w.Read,
		}
		if !w.Resets.IsZero() {
			resets[i] = w.Resets
			told[i].Resets = &resets[i]
		}
	}
	return told
}

// weigh fills in what the last reading says of a candidate.
func (d *draft) weigh(c *trace.Candidate, t *seat) {
	st := &t.standing
	if len(st.Windows) == 0 {
		return
	}
	c.Windows = st.Told
	if c.Windows == nil {
		c.Windows = Told(st.Windows)
	}
	c.Known = slices.ContainsFunc(st.Windows, func(w provider.Window) bool { return !w.Aside && provider.Applies(w, t.model) })
	if !c.Known {
		return
	}
	c.Used = provider.Share(st.Windows, t.model, d.s.Now)
	c.Tier = string(provider.TierOf(c.Used))
	// A renewal that nobody knows is no time to show.
	c.Renews = slices.DeleteFunc(provider.Renewals(st.Windows, t.model, d.s.Now), time.Time.IsZero)
}
