package provider

import "time"

const (
	budgetSpan  = 24 * time.Hour // a window this long is a budget, a shorter one a throttle
	defaultSpan = 7 * 24 * time.Hour
)

// UnknownPace is the pace of an account of which nothing is known: all of a week left.
const UnknownPace = 100.0 / 168

// Pace returns how many percent an hour may be used until the tightest budget that counts
// the model renews, and when that is. Budgets are windows of a day or more, or of unknown
// length; without one the short windows tell, unless the reading may have left a budget out.
// An account without windows has UnknownPace, and a key without windows is the caller's to
// give 0.
func Pace(ws []Window, model string, now time.Time) (perHour float64, due time.Time) {
	var budget, short tightest
	var partial bool
	for w := range counting(ws, model) {
		partial = partial || w.Partial
		if w.Span == 0 || w.Span >= budgetSpan {
			budget.add(w, now)
			continue
		}
		short.add(w, now)
	}
	switch {
	case budget.found:
		return budget.pace, budget.due
	case !short.found:
		return UnknownPace, time.Time{}
	case partial:
		return (100 - short.used) / defaultSpan.Hours(), time.Time{}
	}
	return short.pace, short.due
}

// tightest keeps the lowest pace of the windows added.
type tightest struct {
	found bool
	pace  float64
	due   time.Time
	used  float64 // the fullest of all added
}

func (t *tightest) add(w *Window, now time.Time) {
	used := w.UsedAt(now)
	due := w.renews(now)
	if due.IsZero() {
		due = now.Add(defaultSpan)
	}
	pace := max(0, 100-used) / max(1, due.Sub(now).Hours())
	t.used = max(t.used, used)
	if !t.found || pace < t.pace {
		t.found, t.pace, t.due = true, pace, due
	}
}
