package words

import (
	"fmt"
	"strconv"
	"time"
)

// In writes the time to come until something: 0:48, 4:12, 41m, 2h14m, 2d19h. What is due is 0:00.
func In(d time.Duration) string {
	d = max(d, 0)
	if d < 10*time.Minute {
		s := int64(d / time.Second)
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return Span(d)
}

// Ago writes the time since something: 38s ago, 12m ago, 3h12m ago.
func Ago(d time.Duration) string { return Span(d) + " ago" }

// Span writes a length of time in at most two units: 48s, 41m, 3h12m, 2d19h, 120d.
func Span(d time.Duration) string {
	d = max(d, 0)
	secs, mins, hours := int64(d/time.Second), int64(d/time.Minute), int64(d/time.Hour)
	switch {
	case secs < 100:
		return fmt.Sprintf("%ds", secs)
	case hours < 1:
		return fmt.Sprintf("%dm", mins)
	case hours < 24:
		return fmt.Sprintf("%dh%02dm", hours, mins%60)
	case hours < 100*24:
		return fmt.Sprintf("%dd%02dh", hours/24, hours%24)
	}
	return fmt.Sprintf("%dd", hours/24)
}

// Took writes how long something took: 0.4s, 14.2s, 1m40s, 1h02m.
func Took(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%d.%ds", d/time.Second, d%time.Second/(100*time.Millisecond))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return Span(d)
}

// Clock names a moment in now's zone: 15:04 on the same day, Thu 15:04 in the week to
// come, else 2 Jan 15:04. A zero now knows no day: then it is Thu 15:04 in t's own zone.
func Clock(t, now time.Time) string {
	if now.IsZero() {
		return t.Format("Mon 15:04")
	}
	t = t.In(now.Location())
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	switch {
	case t.Before(today), !t.Before(today.AddDate(0, 0, 7)):
		return t.Format("2 Jan 15:04")
	case t.Before(today.AddDate(0, 0, 1)):
		return t.Format("15:04")
	}
	return t.Format("Mon 15:04")
}

// Count writes a number in at most five cells: 310, 1.2k, 48.1k, 412k, 9.8M.
func Count(n int64) string {
	units := []struct {
		size int64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}
	for _, u := range units {
		tenths := n / (u.size / 10)
		switch {
		case tenths >= 1000:
			return strconv.FormatInt(tenths/10, 10) + u.name
		case tenths >= 10:
			return fmt.Sprintf("%d.%d%s", tenths/10, tenths%10, u.name)
		}
	}
	return strconv.FormatInt(n, 10)
}

// Money writes dollars: $120, $11.42, $0.031.
func Money(usd float64) string {
	digits := 3
	switch {
	case usd >= 100:
		digits = 0
	case usd >= 1:
		digits = 2
	}
	return "$" + strconv.FormatFloat(usd, 'f', digits, 64)
}
