package state

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

// aheadBy is how many points a window must be past an even pace to be marked.
const aheadBy = 5

// youngest is the part of a window that must have gone before its pace says anything.
const youngest = 0.05

// Fullest returns the window that is nearest its end among those that stop
// something, false when none is known.
func Fullest(a *trace.Account) (trace.Window, bool) {
	best, found := trace.Window{}, false
	for i := range a.Windows {
		w := &a.Windows[i]
		if w.Aside {
			continue
		}
		if !found || w.Used > best.Used {
			best, found = *w, true
		}
	}
	return best, found
}

// Second returns the fullest window but one.
func Second(a *trace.Account) (trace.Window, bool) {
	first, found := Fullest(a)
	if !found {
		return trace.Window{}, false
	}
	rest := trace.Account{}
	skipped := false
	for i := range a.Windows {
		if w := a.Windows[i]; !skipped && w.Name == first.Name && w.Model == first.Model {
			skipped = true
			continue
		}
		rest.Windows = append(rest.Windows, a.Windows[i])
	}
	return Fullest(&rest)
}

// WindowName is a window's name in two cells: 5h, 7d, mo.
func WindowName(w trace.Window) string {
	span := time.Duration(w.SpanS) * time.Second
	if span == 0 {
		span = spanOf(w.Name)
	}
	const day = 24 * time.Hour
	switch {
	case span >= 28*day && span <= 31*day:
		return "mo"
	case span >= day && span%day == 0 && span < 10*day:
		return strconv.Itoa(int(span/day)) + "d"
	case span >= time.Hour && span%time.Hour == 0 && span < 10*time.Hour:
		return strconv.Itoa(int(span/time.Hour)) + "h"
	case span >= time.Minute && span < 10*time.Minute:
		return strconv.Itoa(int(span/time.Minute)) + "m"
	}
	name := []rune(strings.ToLower(w.Name))
	return string(name[:min(2, len(name))])
}

// spanOf reads a length from a window's name, 0 when it names none.
func spanOf(name string) time.Duration {
	count, unit, found := strings.Cut(strings.ToLower(name), " ")
	n, err := strconv.Atoi(count)
	if !found || err != nil {
		n, unit = 1, strings.ToLower(name)
	}
	switch strings.TrimSuffix(unit, "s") {
	case "minute":
		return time.Duration(n) * time.Minute
	case "hour":
		return time.Duration(n) * time.Hour
	case "day", "daily":
		return time.Duration(n) * 24 * time.Hour
	case "week", "weekly":
		return time.Duration(n) * 7 * 24 * time.Hour
	case "month", "monthly":
		return time.Duration(n) * 30 * 24 * time.Hour
	}
	return 0
}

// Even returns how far an even pace would have come in a window, 0 to 1; false while
// that says nothing: its length or end is unknown, it has just begun, it is over, or it is used up.
func Even(w trace.Window, c *Clock) (float64, bool) {
	if w.Resets == nil || w.SpanS <= 0 || w.Used >= 100 {
		return 0, false
	}
	span := time.Duration(w.SpanS) * time.Second
	c.Mark(w.Resets.Add(-span + time.Duration(youngest*float64(span))))
	if c.Passed(*w.Resets) {
		return 0, false
	}
	gone := 1 - float64(w.Resets.Sub(c.Now))/float64(span)
	if gone < youngest {
		return 0, false
	}
	return gone, true
}

// EvenCell returns the cell of a bar in which an even pace stands now, -1 for none.
func EvenCell(w trace.Window, cells int, c *Clock) int {
	even, known := Even(w, c)
	if !known || cells <= 0 {
		return -1
	}
	cell := min(int(even*float64(cells)), cells-1)
	c.Mark(share(w, float64(cell+1)/float64(cells)))
	return cell
}

// Ahead returns by how many points a window is past an even pace, 0 when it is not by more than five.
func Ahead(w trace.Window, c *Clock) int {
	even, known := Even(w, c)
	if !known || w.Used-even*100 <= aheadBy {
		return 0
	}
	c.Mark(share(w, (w.Used-aheadBy)/100))
	return int(w.Used - even*100 + 0.5)
}

// share returns when a part of a window will surely have gone: a moment later than
// arithmetic says, because parts of a window are no whole nanoseconds.
func share(w trace.Window, part float64) time.Time {
	span := float64(w.SpanS) * float64(time.Second)
	return w.Resets.Add(-time.Duration(span*(1-part)) + time.Millisecond)
}

// severity puts what needs somebody before what does not.
func severity(a *trace.Account) int {
	if Denied(a) {
		return 0
	}
	switch a.State {
	case trace.Spent:
		return 0
	case trace.Resting:
		return 1
	case trace.Low:
		return 2
	case trace.Fine:
		return 3
	case trace.Unready:
		return 4
	case trace.Held:
		return 5
	case trace.Paused_:
		return 6
	case trace.Off:
		return 7
	}
	return 8
}

// Worst returns accounts with those that need somebody first.
func Worst(accounts []trace.Account) []trace.Account {
	sorted := slices.Clone(accounts)
	slices.SortStableFunc(sorted, func(a, b trace.Account) int {
		if d := cmp.Compare(severity(&a), severity(&b)); d != 0 {
			return d
		}
		return cmp.Compare(b.Used, a.Used)
	})
	return sorted
}

// Denied says whether an account can't be used since its vendor turns its key or sign-in away, or has no
// credit for it; while it rests for that, the rest says so.
func Denied(a *trace.Account) bool {
	return a.Denied != nil && a.Rest == nil && (a.State == trace.Unready || a.State == trace.Spent)
}

// Refused says whether somebody has to put another key in an account's place, or sign in again; it may rest for that.
func Refused(a *trace.Account) bool {
	if a.State == trace.Resting {
		return a.Denied != nil && a.Denied.Why == trace.Auth && a.Rest != nil && a.Rest.Why == trace.Auth
	}
	return Denied(a) && a.State == trace.Unready
}

// Usable says whether an account may be asked without being a last resort.
func Usable(a *trace.Account) bool { return Roomy(a) && a.ReadOnly == "" }

// Roomy says whether an account has room, be it asked or only shown.
func Roomy(a *trace.Account) bool { return a.State == trace.Fine || a.State == trace.Low }

// Loaded returns the n accounts whose windows say most: in use before out of use,
// fuller before emptier. They come in the config's order.
func Loaded(accounts []trace.Account, n int) []trace.Account {
	if len(accounts) <= n {
		return accounts
	}
	ranked := make([]int, len(accounts))
	for i := range ranked {
		ranked[i] = i
	}
	class := func(a *trace.Account) int {
		switch {
		case Usable(a):
			return 0
		case a.State == trace.Spent:
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(ranked, func(x, y int) int {
		a, b := &accounts[x], &accounts[y]
		if d := cmp.Compare(class(a), class(b)); d != 0 {
			return d
		}
		return cmp.Compare(b.Used, a.Used)
	})
	chosen := ranked[:max(n, 0)]
	slices.Sort(chosen)
	out := make([]trace.Account, 0, n)
	for _, i := range chosen {
		out = append(out, accounts[i])
	}
	return out
}
