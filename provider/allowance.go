package provider

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Window is one allowance window as last read.
type Window struct {
	Name    string        `json:"name"`             // "5 hours", "7 days"
	Used    float64       `json:"used"`             // 0-100
	Resets  time.Time     `json:"resets,omitzero"`  // zero = unknown
	Span    time.Duration `json:"span,omitempty"`   // 0 = unknown
	Model   string        `json:"model,omitempty"`  // counts only models whose id contains this, lower case
	Amount  float64       `json:"amount,omitempty"` // used, in Unit
	Limit   float64       `json:"limit,omitempty"`
	Unit    string        `json:"unit,omitempty"`
	Aside   bool          `json:"aside,omitempty"`   // using it up stops nothing
	Endless bool          `json:"endless,omitempty"` // it has no limit; told for people, and always aside
	Partial bool          `json:"partial,omitempty"` // from a reading that may leave other windows out
	Read    time.Time     `json:"read"`
}

// Reading is what one look at an account told.
type Reading struct {
	Windows []Window
	Plan    string   // the vendor's word for the plan, "" = not told
	Credits *Credits // nil = not told
	Balance string   // money or credits that are left, for people; "" = not told
	Resets  *Resets  // in hand, nil = not told
	Held    bool     // its vendor answers nothing until a window renews, credits or not
}

// Resets are how many resets an account has in hand, and when the first of them runs out.
type Resets struct {
	Count int       `json:"count"`
	Until time.Time `json:"until,omitzero"` // zero = never, or not known
}

// Credits is what can be spent beyond the windows.
type Credits struct {
	Has       bool
	Unlimited bool
	Balance   string // as the vendor writes it
}

// Tier is how much room an account has.
type Tier string

// How much room an account has.
const (
	Fine  Tier = "fine"  // under 90 %
	Low   Tier = "low"   // from 90 %
	Spent Tier = "spent" // from 98 %
)

// Where the tiers begin, in percent used.
const (
	LowShare   = 90
	SpentShare = 98
)

// TierOf returns the tier of a share used.
func TierOf(used float64) Tier {
	switch {
	case used >= SpentShare:
		return Spent
	case used >= LowShare:
		return Low
	}
	return Fine
}

// Applies reports whether the window counts the model.
func Applies(w Window, model string) bool {
	return w.Model == "" || containsFold(model, w.Model)
}

// containsFold is strings.Contains with case ignored in ASCII, and word lower-cased already.
func containsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// passed reports whether the window renewed since it was read.
func (w *Window) passed(now time.Time) bool {
	return !w.Resets.IsZero() && !w.Resets.After(now)
}

// StillHeld reports whether a vendor that answered nothing when the windows were read still does
// so: until the full ones have renewed or, where none was full, all have. Windows of some models
// only tell nothing of it, and without any it is not known to be over.
func StillHeld(ws []Window, now time.Time) bool {
	told, full, left := false, false, false
	for i := range ws {
		w := &ws[i]
		if w.Aside || w.Model != "" {
			continue
		}
		told = true
		switch passed := w.passed(now); {
		case w.Used >= SpentShare && !passed:
			return true
		case w.Used >= SpentShare:
			full = true
		default:
			left = left || !passed
		}
	}
	return !full && (left || !told)
}

// UsedAt returns the window's share at now: nothing once its reset has passed.
func (w *Window) UsedAt(now time.Time) float64 {
	if w.passed(now) {
		return 0
	}
	return w.Used
}

// Stops reports whether the window counts the model and can stop it.
func (w *Window) Stops(model string) bool {
	return !w.Aside && (w.Model == "" || containsFold(model, w.Model))
}

// counting yields the windows that count the model and can stop it.
func counting(ws []Window, model string) func(func(*Window) bool) {
	return func(yield func(*Window) bool) {
		for i := range ws {
			if ws[i].Stops(model) && !yield(&ws[i]) {
				return
			}
		}
	}
}

// Share returns the share used of the fullest window that counts the model, 0 when none does.
func Share(ws []Window, model string, now time.Time) float64 {
	most := 0.0
	for w := range counting(ws, model) {
		most = max(most, w.UsedAt(now))
	}
	return most
}

// FullUntil returns when the last of the windows that count the model and are used to share
// or more renews; zero when none is, or none says when.
func FullUntil(ws []Window, model string, share float64, now time.Time) time.Time {
	var last time.Time
	for w := range counting(ws, model) {
		if w.UsedAt(now) >= share && w.Resets.After(last) {
			last = w.Resets
		}
	}
	return last
}

// Pooled reports whether a refusal of the model leaves the account's other models alone:
// every full window that counts it is for some models only, or none is full and all are.
func Pooled(ws []Window, model string, share float64, now time.Time) bool {
	var whole, some, wholeFull, someFull bool
	for w := range counting(ws, model) {
		full := w.UsedAt(now) >= share
		if w.Model == "" {
			whole, wholeFull = true, wholeFull || full
			continue
		}
		some, someFull = true, someFull || full
	}
	if wholeFull {
		return false
	}
	return someFull || some && !whole
}

// Renewals returns when the windows that count the model renew, the longest first and of
// equal spans the later first. A window that has not started, or whose reset passed, is
// taken to renew its span from now; zero stands for one of which nothing is known.
func Renewals(ws []Window, model string, now time.Time) []time.Time {
	return AppendRenewals(nil, ws, model, now)
}

// AppendRenewals adds what Renewals returns to times.
func AppendRenewals(times []time.Time, ws []Window, model string, now time.Time) []time.Time {
	var room [8]time.Duration // keeps most off the heap
	spans, from := room[:0], len(times)
	for w := range counting(ws, model) {
		at, i := w.renews(now), len(spans)
		spans, times = append(spans, 0), append(times, at)
		for ; i > 0 && (spans[i-1] < w.Span || spans[i-1] == w.Span && times[from+i-1].Before(at)); i-- {
			spans[i], times[from+i] = spans[i-1], times[from+i-1]
		}
		spans[i], times[from+i] = w.Span, at
	}
	return times
}

// RenewedBy returns the windows as they are when all that renew later than at renew then; of
// those that stop nothing it says nothing. A time that has passed, or none, changes nothing.
func RenewedBy(ws []Window, at, now time.Time) []Window {
	if !at.After(now) {
		return ws
	}
	sooner := slices.Clone(ws)
	for i := range sooner {
		w := &sooner[i]
		if own := w.renews(now); !w.Aside && (own.IsZero() || at.Before(own)) {
			if w.passed(now) {
				w.Used = 0
			}
			w.Resets = at
		}
	}
	return sooner
}

func (w *Window) renews(now time.Time) time.Time {
	switch {
	case w.Resets.After(now):
		return w.Resets
	case w.Span > 0:
		return now.Add(w.Span)
	}
	return time.Time{}
}

// EvenPace returns the share that would be used now if the window were used evenly, for the
// mark on a bar. There is none where span or reset is unknown, nor in the first twentieth.
func EvenPace(w Window, now time.Time) (share float64, ok bool) {
	if w.Span <= 0 || !w.Resets.After(now) {
		return 0, false
	}
	left := w.Resets.Sub(now)
	if left > w.Span {
		return 0, false
	}
	share = 100 * (1 - float64(left)/float64(w.Span))
	return share, share >= 5
}

// Merge returns the windows that hold after a reading: a whole one replaces what was read
// before, a partial one changes the windows that it names. An older reading changes nothing.
func Merge(old, news []Window) []Window {
	if len(news) == 0 {
		return old
	}
	if len(old) == 0 || !slices.ContainsFunc(news, func(w Window) bool { return w.Partial }) {
		return news
	}
	merged := slices.Clone(old)
	for _, w := range news {
		i := slices.IndexFunc(merged, func(o Window) bool { return o.Name == w.Name })
		if i < 0 {
			merged = append(merged, w)
			continue
		}
		if w.Read.Before(merged[i].Read) {
			continue
		}
		w.Partial = merged[i].Partial // the set is as whole as it was
		if w.Resets.IsZero() && merged[i].Resets.After(w.Read) {
			w.Resets = merged[i].Resets // which is not told with each share
		}
		merged[i] = w
	}
	return merged
}

// SpanName is what a window of that length is called: "7 days", "5 hours", "1 day"; of
// unknown or odd length, "Allowance".
func SpanName(span time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case span <= 0:
		return "Allowance"
	case span%day == 0:
		return plural(int64(span/day), "day")
	case span%time.Hour == 0:
		return plural(int64(span/time.Hour), "hour")
	}
	return "Allowance"
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.FormatInt(n, 10) + " " + word + "s"
}
