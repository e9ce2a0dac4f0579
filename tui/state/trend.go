package state

import "time"

// trendOver is how far back the rate of a window looks, and shortest is how much of
// that must have been seen.
const (
	trendOver = 15 * time.Minute
	shortest  = 2 * time.Minute
)

type trendKey struct{ account, window, model string }

type sample struct {
	at   time.Time
	used float64
}

// observe notes how full every window is, so that its rate can be told.
func (s *State) observe(now time.Time) {
	for i := range s.Accounts {
		a := &s.Accounts[i]
		for _, w := range a.Windows {
			at := w.Read
			if at.IsZero() {
				at = now
			}
			key := trendKey{a.ID, w.Name, w.Model}
			s.trends[key] = follow(s.trends[key], sample{at, w.Used})
		}
	}
}

// follow adds a sample, begins anew when the window was renewed, and drops what is
// older than the rate looks back, but for one that anchors it.
func follow(list []sample, next sample) []sample {
	if n := len(list); n > 0 {
		last := list[n-1]
		if !next.at.After(last.at) {
			return list
		}
		if next.used < last.used {
			list = list[:0]
		}
	}
	list = append(list, next)
	for len(list) > 2 && next.at.Sub(list[1].at) >= trendOver {
		list = list[1:]
	}
	return list
}

// FullAt returns when a window will be full at the rate of the last quarter of an
// hour; false when it does not fill or too little was seen.
func (s *State) FullAt(account, window, model string) (time.Time, bool) {
	list := s.trends[trendKey{account, window, model}]
	if len(list) < 2 {
		return time.Time{}, false
	}
	first, last := list[0], list[len(list)-1]
	over := last.at.Sub(first.at)
	grown := last.used - first.used
	if over < shortest || grown <= 0 || last.used >= 100 {
		return time.Time{}, false
	}
	left := (100 - last.used) / grown * float64(over)
	if left > float64(60*24*time.Hour) {
		return time.Time{}, false
	}
	return last.at.Add(time.Duration(left)), true
}
