package state

import (
	"fmt"
	"time"
)

// Clock is one moment, and the next one at which any text made with it differs.
// A frame is drawn with one Clock; the screen then sleeps until Next.
type Clock struct {
	Now  time.Time
	next time.Time
}

// At returns a clock that stands at now.
func At(now time.Time) *Clock { return &Clock{Now: now} }

// Next returns the earliest moment at which a text made with this clock changes,
// zero when none does.
func (c *Clock) Next() time.Time { return c.next }

// Mark says that something on the screen changes at t.
func (c *Clock) Mark(t time.Time) {
	if t.After(c.Now) && (c.next.IsZero() || t.Before(c.next)) {
		c.next = t
	}
}

// Passed says whether t has come, and marks it when it has not.
func (c *Clock) Passed(t time.Time) bool {
	c.Mark(t)
	return !t.After(c.Now)
}

// furthest is as far as times are told apart: a duration holds no more than 292 years.
const furthest = 100 * 365 * 24 * time.Hour

// Left returns how long it is until t in minutes or hours, rounded up so that it
// never says less than is left; "" once t has come.
func (c *Clock) Left(t time.Time) string {
	left := t.Sub(c.Now)
	if left <= 0 {
		return ""
	}
	unit := time.Minute
	if left > 24*time.Hour {
		unit = time.Hour
		left = min(left, furthest)
	}
	whole := (left + unit - 1) / unit
	c.Mark(t.Add(-(whole - 1) * unit))
	return Span(whole * unit)
}

// Countdown is Left, in minutes and seconds while less than ten minutes are left.
func (c *Clock) Countdown(t time.Time) string {
	left := t.Sub(c.Now)
	if left <= 0 {
		return ""
	}
	if left > 10*time.Minute {
		s := c.Left(t)
		c.Mark(t.Add(-10 * time.Minute))
		return s
	}
	secs := (left + time.Second - 1) / time.Second
	c.Mark(t.Add(-(secs - 1) * time.Second))
	return fmt.Sprintf("%d:%02d", secs/60, secs%60)
}

// In is how long it is until t in whole seconds, rounded up; "" once t has come.
func (c *Clock) In(t time.Time) string {
	left := t.Sub(c.Now)
	if left <= 0 {
		return ""
	}
	secs := (left + time.Second - 1) / time.Second
	c.Mark(t.Add(-(secs - 1) * time.Second))
	return Took(secs * time.Second)
}

// Since returns how long ago t was in whole minutes or hours; "" within the first minute.
func (c *Clock) Since(t time.Time) string {
	gone := max(c.Now.Sub(t), 0)
	unit := time.Minute
	if gone >= 24*time.Hour {
		unit = time.Hour
	}
	whole := gone / unit
	c.Mark(t.Add((whole + 1) * unit))
	if whole == 0 {
		return ""
	}
	return Span(whole * unit)
}

// Ago is Since as words: "12m ago", "just now".
func (c *Clock) Ago(t time.Time) string {
	s := c.Since(t)
	if s == "" {
		return "just now"
	}
	return s + " ago"
}

// Running returns how long something that began at t has lasted, in whole seconds.
func (c *Clock) Running(t time.Time) string {
	gone := max(c.Now.Sub(t), 0)
	unit := time.Second
	switch {
	case gone >= 24*time.Hour:
		unit = time.Hour
	case gone >= time.Hour:
		unit = time.Minute
	}
	whole := gone / unit
	c.Mark(t.Add((whole + 1) * unit))
	return Took(whole * unit)
}

// Day says whether t is on the day of the clock, in the clock's own zone.
func (c *Clock) Day(t time.Time) bool {
	y, m, d := c.Now.Date()
	c.Mark(time.Date(y, m, d+1, 0, 0, 0, 0, c.Now.Location()))
	ty, tm, td := t.In(c.Now.Location()).Date()
	return y == ty && m == tm && d == td
}

// Stamp is the time of day in five cells; month and day when it was another day.
func (c *Clock) Stamp(t time.Time) string {
	if !c.Day(t) {
		return t.In(c.Now.Location()).Format("01-02")
	}
	return t.In(c.Now.Location()).Format("15:04")
}

// When names a moment to come: "15:04" today, "Thu 09:00" this week, "12 Nov" later.
func (c *Clock) When(t time.Time) string {
	local := t.In(c.Now.Location())
	if c.Day(t) {
		return local.Format("15:04")
	}
	if t.Sub(c.Now) < 6*24*time.Hour {
		return local.Format("Mon 15:04")
	}
	c.Mark(t.Add(-6 * 24 * time.Hour))
	return local.Format("2 Jan")
}

// Span writes a length of time in its two largest units: 41m, 2h14m, 3d04h.
func Span(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		hours := int64(d / time.Hour)
		return fmt.Sprintf("%dd%02dh", hours/24, hours%24)
	case d >= time.Hour:
		mins := int64(d / time.Minute)
		return fmt.Sprintf("%dh%02dm", mins/60, mins%60)
	default:
		return fmt.Sprintf("%dm", int64(d/time.Minute))
	}
}

// Took writes how long a request lasted: 12s, 1m40s, 1h02m.
func Took(d time.Duration) string {
	secs := int64(d / time.Second)
	switch {
	case secs < 100:
		return fmt.Sprintf("%ds", secs)
	case secs < 3600:
		return fmt.Sprintf("%dm%02ds", secs/60, secs%60)
	default:
		return Span(d)
	}
}

// Precise writes a short length with one decimal: 0.4s, 14.2s; as Took from 100 s on.
func Precise(d time.Duration) string {
	if d >= 100*time.Second {
		return Took(d)
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}
