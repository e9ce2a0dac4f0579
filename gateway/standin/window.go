package standin

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Window is one allowance window of a key.
type Window struct {
	Name   string        // "5h", "7d": a number of hours or days, which is also its span
	Used   float64       // percent
	Resets time.Duration // till it renews; 0 = its whole span
	Grow   float64       // percent that each answer uses
}

// ParseWindows reads windows such as "5h:91%/1h40m+0.8,7d:62%/3d".
func ParseWindows(list string) ([]Window, error) {
	var windows []Window
	for word := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		w, err := parseWindow(word)
		if err != nil {
			return nil, fmt.Errorf("window %q: %w", word, err)
		}
		windows = append(windows, w)
	}
	return windows, nil
}

func parseWindow(word string) (Window, error) {
	name, rest, ok := strings.Cut(word, ":")
	if !ok {
		return Window{}, fmt.Errorf("no colon after its name")
	}
	w := Window{Name: name}
	rest, grow, hasGrow := strings.Cut(rest, "+")
	used, resets, hasResets := strings.Cut(rest, "/")
	var err error
	if w.Used, err = strconv.ParseFloat(strings.TrimSuffix(used, "%"), 64); err != nil {
		return Window{}, fmt.Errorf("%q is no share", used)
	}
	if hasResets {
		if w.Resets, err = parseTime(resets); err != nil {
			return Window{}, err
		}
	}
	if hasGrow {
		if w.Grow, err = strconv.ParseFloat(grow, 64); err != nil {
			return Window{}, fmt.Errorf("%q is no share", grow)
		}
	}
	if w.span() <= 0 {
		return Window{}, fmt.Errorf("%q names no span such as 5h or 7d", name)
	}
	return w, nil
}

// span is the window's length, read off its name.
func (w Window) span() time.Duration {
	d, err := parseTime(w.Name)
	if err != nil {
		return 0
	}
	return d
}

// meter is the windows of one key as they stand. Its owner locks it.
type meter struct {
	windows []standing
	credits bool // answers go on when a window is full
}

// standing is one window at a time.
type standing struct {
	Window
	until time.Time // when it renews
}

func newMeter(now time.Time, windows []Window) *meter {
	m := &meter{}
	for _, w := range windows {
		left := w.Resets
		if left == 0 {
			left = w.span()
		}
		m.windows = append(m.windows, standing{Window: w, until: wholeSecond(now.Add(left))})
	}
	return m
}

// wholeSecond is the next moment that can be told in seconds: nothing renews later than was told.
func wholeSecond(at time.Time) time.Time {
	whole := at.Truncate(time.Second)
	if whole.Before(at) {
		whole = whole.Add(time.Second)
	}
	return whole
}

// secondsTo is how long it is till then, told in seconds.
func secondsTo(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// roll renews the windows whose time has come.
func (m *meter) roll(now time.Time) {
	for i := range m.windows {
		w := &m.windows[i]
		for !now.Before(w.until) {
			w.Used, w.until = 0, w.until.Add(w.span())
		}
	}
}

// spend counts one answer.
func (m *meter) spend() {
	for i := range m.windows {
		used := m.windows[i].Used + m.windows[i].Grow
		m.windows[i].Used = min(100, math.Round(used*100)/100)
	}
}

// full is the time left of the full window that renews last.
func (m *meter) full(now time.Time) (left time.Duration, ok bool) {
	if m.credits {
		return 0, false
	}
	for _, w := range m.windows {
		if w.Used >= 100 {
			left, ok = max(left, w.until.Sub(now)), true
		}
	}
	return left, ok
}

// tell writes the windows into a reply's headers the way the vendor does.
func (m *meter) tell(h http.Header, style windowStyle, now time.Time) {
	switch style {
	case unifiedWindows:
		m.tellUnified(h)
	case codexWindows:
		m.tellCodex(h, now)
	case noWindows:
	}
}

// tellUnified is Anthropic's form: shares from 0 to 1, Unix seconds.
func (m *meter) tellUnified(h http.Header) {
	const head = "anthropic-ratelimit-unified-"
	worst, claim := "allowed", ""
	for _, w := range m.windows {
		status := "allowed"
		switch {
		case w.Used >= 100:
			status, worst = "rejected", "rejected"
		case w.Used >= 80:
			status = "allowed_warning"
			if worst == "allowed" {
				worst = status
			}
		}
		if claim == "" || status == worst {
			claim = w.Name
			h.Set(head+"reset", strconv.FormatInt(w.until.Unix(), 10))
		}
		h.Set(head+w.Name+"-status", status)
		h.Set(head+w.Name+"-utilization", strconv.FormatFloat(math.Round(w.Used*100)/10000, 'f', -1, 64))
		h.Set(head+w.Name+"-reset", strconv.FormatInt(w.until.Unix(), 10))
	}
	h.Set(head+"status", worst)
	h.Set(head+"representative-claim", claimNames[claim])
}

var claimNames = map[string]string{"5h": "five_hour", "7d": "seven_day"}

// tellCodex is the ChatGPT backend's form: the first two windows, in percent and minutes.
func (m *meter) tellCodex(h http.Header, now time.Time) {
	for i, w := range m.windows {
		if i > 1 {
			break
		}
		head := [...]string{"x-codex-primary-", "x-codex-secondary-"}[i]
		h.Set(head+"used-percent", strconv.FormatFloat(w.Used, 'f', -1, 64))
		h.Set(head+"window-minutes", strconv.Itoa(int(w.span().Minutes())))
		h.Set(head+"reset-after-seconds", strconv.Itoa(secondsTo(w.until.Sub(now))))
		h.Set(head+"reset-at", strconv.FormatInt(w.until.Unix(), 10))
	}
	h.Set("x-codex-plan-type", "plus")
	h.Set("x-codex-credits-has-credits", "False")
	if m.credits {
		h.Set("x-codex-credits-has-credits", "True")
	}
}

// limitsEvent is the same as an event ahead of a stream, nil where there is nothing to tell.
func (m *meter) limitsEvent(now time.Time) object {
	limits := object{"allowed": true, "limit_reached": false, "primary": nil, "secondary": nil}
	for i, w := range m.windows {
		if i < 2 {
			limits[[...]string{"primary", "secondary"}[i]] = object{
				"used_percent": w.Used, "window_minutes": int(w.span().Minutes()),
				"reset_after_seconds": secondsTo(w.until.Sub(now)), "reset_at": w.until.Unix(),
			}
		}
	}
	return object{"plan_type": "plus", "rate_limits": limits, "credits": object{"has_credits": m.credits, "unlimited": false, "balance": nil}}
}

// Credits says whether a key's answers go on when its windows are used up.
func (v *Vendor) Credits(key string, has bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if m := v.meters[key]; m != nil {
		m.credits = has
	}
}

// Renew begins the windows of a key anew, and says how many those are.
func (v *Vendor) Renew(key string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.meters[key]
	if m == nil {
		return 0
	}
	for i := range m.windows {
		m.windows[i].Used, m.windows[i].until = 0, time.Now().Add(m.windows[i].span())
	}
	return len(m.windows)
}

// Left is how the windows of a key stand.
func (v *Vendor) Left(key string) []Window {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.meterOf(key)
	if m == nil {
		return nil
	}
	all := make([]Window, len(m.windows))
	for i, w := range m.windows {
		all[i] = w.Window
		all[i].Resets = time.Until(w.until)
	}
	return all
}

// windowStyle is how a vendor tells its windows.
type windowStyle int

const (
	noWindows windowStyle = iota
	unifiedWindows
	codexWindows
)

// meterOf is the windows of a key, or those of any key; nil for none. Its caller holds the lock.
func (v *Vendor) meterOf(key string) *meter {
	m := v.meters[key]
	if m == nil {
		m = v.meters[AnyKey]
	}
	if m != nil {
		m.roll(time.Now())
	}
	return m
}

// full is the time till a full window of the key renews, 0 when none is full.
func (v *Vendor) full(key string) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.meterOf(key)
	if m == nil {
		return 0
	}
	left, _ := m.full(time.Now())
	return left
}

// tellWindows writes into a reply's headers what it tells of the key's allowance: the
// step's own windows, else the key's, of which an answer uses some.
func (v *Vendor) tellWindows(h http.Header, key string, f Fault) {
	now := time.Now()
	if f.Windows != nil {
		newMeter(now, f.Windows).tell(h, v.house.windows, now)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.meterOf(key)
	if m == nil {
		return
	}
	if f.Do != Refuse {
		m.spend()
	}
	m.tell(h, v.house.windows, now)
}
