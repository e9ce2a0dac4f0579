package state

import (
	"slices"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// jitter is how far two readings of one renewal may lie apart: vendors count in whole
// seconds from now, or round to the minute.
const jitter = time.Minute

// Read takes in what a vendor told of an account's windows. A partial reading changes
// only the windows that it names; one that began before what is known was told changes
// only what was not told since.
// One that finds a full window renewed ends the rests that waited for it.
func (s *Store) Read(id provider.AccountID, windows []provider.Window, at time.Time) {
	if len(windows) == 0 {
		return
	}
	windows = provider.TidyWindows(windows, at)
	s.change(func(e *edit) { e.read(s, id, windows, provider.SpentShare, at) })
}

// unseen are the windows of a reading that comes late, as parts of one, which nothing newer has
// told of. What is known has forgotten those that a newer whole reading did not name.
func unseen(known, late []provider.Window) []provider.Window {
	var left []provider.Window
	for _, w := range late {
		i := slices.IndexFunc(known, func(k provider.Window) bool { return k.Name == w.Name })
		told := i >= 0 && !known[i].Read.Before(w.Read)
		gone := i < 0 && !slices.ContainsFunc(known, func(k provider.Window) bool { return k.Partial || k.Read.Before(w.Read) })
		if !told && !gone {
			w.Partial = true
			left = append(left, w)
		}
	}
	return left
}

// Windows returns an account's windows as last read. They must not be changed.
func (s *Store) Windows(id provider.AccountID) []provider.Window {
	return s.facts.Load().standing[id].Windows
}

// comparison is of two readings of one account, by the windows that are in both.
type comparison struct {
	before, after []provider.Window
	share         float64 // from which on a window is full
	now           time.Time
}

// renewed says whether a rest has lost its ground: it waited for allowance, and what
// was full then is full no more, or not for as long.
func (c comparison) renewed(model string, r trace.Rest) bool {
	if r.Why != trace.Quota && r.By != trace.ByWindow {
		return false
	}
	if model != "" {
		return c.sooner(func(w *provider.Window) bool { return provider.Applies(*w, model) })
	}
	if c.sooner(func(w *provider.Window) bool { return w.Model == "" }) {
		return true
	}
	for i := range c.before {
		word := c.before[i].Model
		if word != "" && c.sooner(func(w *provider.Window) bool { return w.Model == "" || w.Model == word }) {
			return true
		}
	}
	return false
}

// sooner says whether the windows that count were full before and are so no more, or
// till an earlier time. A short window that starts again under a long full one is no news.
func (c comparison) sooner(counts func(*provider.Window) bool) bool {
	before := fullUntil(c.before, c.share, time.Time{}, c.both(counts))
	if before.IsZero() {
		return false
	}
	after := fullUntil(c.after, c.share, c.now, c.both(counts))
	return after.IsZero() || after.Before(before.Add(-jitter))
}

func (c comparison) both(counts func(*provider.Window) bool) func(*provider.Window) bool {
	return func(w *provider.Window) bool {
		return !w.Aside && counts(w) && has(c.before, w) && has(c.after, w)
	}
}

func has(windows []provider.Window, w *provider.Window) bool {
	return slices.ContainsFunc(windows, func(o provider.Window) bool { return o.Name == w.Name && o.Model == w.Model })
}

// forever stands for a renewal that nobody knows.
var forever = time.Unix(1<<40, 0)

// fullUntil is when the last of the full windows renews, zero when none is full.
func fullUntil(windows []provider.Window, share float64, now time.Time, counts func(*provider.Window) bool) time.Time {
	var until time.Time
	for i := range windows {
		w := &windows[i]
		if w.Used < share || !counts(w) {
			continue
		}
		ends := w.Resets
		if ends.IsZero() {
			ends = forever
		}
		if ends.After(now) && ends.After(until) {
			until = ends
		}
	}
	return until
}
