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
			Amount: w.Amount, Limit: w.Limit, Unit: w.Unit, Aside: w.Aside, Endless: w.Endless, Read: w.Read,
		}
		if !w.Resets.IsZero() {
			resets[i] = w.Resets
			told[i].Resets = &resets[i]
		}
	}
	return told
}

// weigh works out what the last readings say of the candidates that may be asked.
func weigh(d *draft) {
	for i := range d.in {
		d.weigh(&d.in[i])
	}
}

func (d *draft) weigh(t *seat) {
	st := &t.standing
	if st.ShutAt(d.s.Now) {
		t.load = shut
	}
	if len(st.Windows) == 0 {
		t.learns = t.load == 0 && st.Read.IsZero() && t.who.Kind == provider.KindAccount && t.of.Dialect.Vendor == claudesVendor
		return
	}
	for i := range st.Windows {
		t.known = t.known || st.Windows[i].Stops(t.model)
	}
	if !t.known {
		return
	}
	t.used = provider.Share(st.Windows, t.model, d.s.Now)
	t.load = max(t.load, t.used)
	if d.times == nil {
		d.times = make([]time.Time, 0, 2*len(d.in))
	}
	from := len(d.times)
	d.times = provider.AppendRenewals(d.times, d.s.ahead(t), t.model, d.s.Now)
	t.renews = d.times[from:len(d.times):len(d.times)]
}

// shut is the load of an account whose vendor answers nothing: it stands behind those that may be used up.
const shut = 101

// ahead are a candidate's windows as they are to be ordered by: a reset that its account
// would lose before they renew, and spends by itself, is their renewal.
func (s *Snapshot) ahead(t *seat) []provider.Window {
	st := &t.standing
	if r := st.Resets; r != nil && r.Count > 0 && s.spendsResets(t.who) {
		return provider.RenewedBy(st.Windows, r.Until, s.Now)
	}
	return st.Windows
}

// claudesVendor tells what is left with each reply, and only there.
const claudesVendor = "anthropic"

// tellReading fills in what the last reading says of a candidate. Windows are shared with the snapshot.
func tellReading(c *trace.Candidate, t *seat) {
	c.Learns = t.learns
	if t.load == shut {
		c.Tier = string(t.tier())
	}
	if len(t.standing.Windows) == 0 {
		return
	}
	c.Windows = t.standing.Told
	if c.Windows == nil {
		c.Windows = Told(t.standing.Windows)
	}
	if !t.known {
		return
	}
	c.Known, c.Used, c.Tier, c.Pace = true, t.used, string(t.tier()), t.pace
	// A renewal that nobody knows is no time to show.
	c.Renews = slices.DeleteFunc(t.renews, time.Time.IsZero)
}
