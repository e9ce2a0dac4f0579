package failure

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// beijing is the clock of Zhipu's texts.
var beijing = time.FixedZone("CST", 8*60*60)

var (
	unixText   = regexp.MustCompile(`limit reached\s*\|\s*(\d{10})\b`)
	glmText    = regexp.MustCompile(`(\d{4}-\d{2}-\d{2})[ t](\d{2}:\d{2}(?::\d{2})?)`)
	waitText   = regexp.MustCompile(`\b(?:(?:try|retry)(?:ing)?(?: again| your request)?|retry[- ]?after|wait(?: for)?|available(?: again)?|resets?|renews?|cool(?:s|ing)?[- ]?down|back)(?: again)?[:=]?(?: in| after| for)? (?:about |approximately |another |at least |~)?(\d[\d.]*\s*[a-z]+(?:(?:,| and|,? )?\s*\d[\d.]*\s*[a-z]+)*)`)
	bareWait   = regexp.MustCompile(`\bretry[- ]after[:=]? (\d+(?:\.\d+)?)(?:[.,;)]|\s*$| ·)`)
	waitHan    = regexp.MustCompile(`(\d+(?:\.\d+)?)\s*(毫秒|秒|分钟|分|小时|天)(?:钟)?(?:之?后|内)`)
	waitPart   = regexp.MustCompile(`(\d+(?:\.\d+)?)\s*([a-z]+)`)
	isoText    = regexp.MustCompile(`\b(?:resets?|renews?|available|access|again|until|after)\b[^.]{0,40}?(\d{4}-\d{2}-\d{2})(?:[t ,]+(?:at )?(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?\s*(?:z\b|\(?(?:utc|gmt)?\s*([+-]\d{1,2}(?::?\d{2})?)\b)?`)
	monthText  = regexp.MustCompile(`\b(?:resets?|renews?|available|access|again|until|after)\b[^.]{0,30}?\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?:,? (?:at )?(\d{1,2})(?::(\d{2}))?\s*(am|pm)?)?(?:[ (]+([a-z]+(?:/[a-z_]+)*(?:[+-]\d{1,2}(?::?\d{2})?\b)?)\)?)?`)
	clockWords = regexp.MustCompile(`\bresets?(?: at)? (\d{1,2})(?::(\d{2}))?\s*(am|pm)?(?:[ (]+([a-z]+(?:/[a-z_]+)*(?:[+-]\d{1,2}(?::?\d{2})?\b)?)\)?)?`)
	offsetText = regexp.MustCompile(`^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d{2}))?$`)
)

// units are the words for spans of time.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
	"毫秒": time.Millisecond, "秒": time.Second, "分": time.Minute, "分钟": time.Minute, "小时": time.Hour, "天": 24 * time.Hour,
}

// bodyUnix reads Claude's "usage limit reached|1790000000".
func bodyUnix(r *reply) (time.Time, bool) {
	m := unixText.FindStringSubmatch(r.text)
	if m == nil {
		return time.Time{}, false
	}
	return instant(m[1])
}

// beijingText reads "will reset at 2026-04-20 02:00:00", which Zhipu means in Beijing.
func beijingText(r *reply) (time.Time, bool) {
	if r.glm == 0 && !slices.Contains(zhipu, r.Vendor) {
		return time.Time{}, false
	}
	m := glmText.FindStringSubmatch(r.text)
	if m == nil {
		return time.Time{}, false
	}
	return onDay(m[1], m[2], beijing)
}

func onDay(day, clock string, zone *time.Location) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, day+" "+clock, zone); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// relativeText reads "try again in 58 hours", "Please retry in 38.9s", "reset
// after 1h16m0.66s", "请在 30 秒后重试".
func relativeText(r *reply) (time.Time, bool) {
	for _, m := range waitText.FindAllStringSubmatch(r.text, 4) {
		if t, ok := r.after(span(m[1])); ok {
			return t, true
		}
	}
	if m := bareWait.FindStringSubmatch(r.text); m != nil {
		return r.after(seconds(m[1]))
	}
	if m := waitHan.FindStringSubmatch(r.text); m != nil {
		return r.after(measure(m[1], m[2]))
	}
	return time.Time{}, false
}

// span adds up "1 hour 20 minutes" or "1h20m"; false when the first part is none.
func span(s string) (time.Duration, bool) {
	var sum time.Duration
	for i, m := range waitPart.FindAllStringSubmatch(s, 6) {
		d, ok := measure(m[1], m[2])
		if !ok && i == 0 {
			return 0, false
		}
		if !ok {
			break
		}
		sum += d
	}
	return sum, sum > 0 && sum <= absurd
}

func measure(n, unit string) (time.Duration, bool) {
	u, ok := units[unit]
	if !ok {
		return 0, false
	}
	return number64(n, u)
}

// dateText reads "reset on April 20, 2026 at 2:00 AM" and "regain access on
// 2026-05-01 at 00:00 UTC". A date without a zone is a server's: UTC.
func dateText(r *reply) (time.Time, bool) {
	if m := isoText.FindStringSubmatch(r.text); m != nil {
		return isoDate(m)
	}
	m := monthText.FindStringSubmatch(r.text)
	if m == nil {
		return time.Time{}, false
	}
	zone, ok := r.zone(m[7], time.UTC)
	if !ok {
		return time.Time{}, false
	}
	month := time.Month(slices.Index(months, m[1]) + 1)
	day, hour, minute := small(m[2]), clockHour(m[4], m[6]), small(m[5])
	if day < 1 || day > 31 || hour < 0 || minute > 59 {
		return time.Time{}, false
	}
	if year := small(m[3]); year != 0 {
		return time.Date(year, month, day, hour, minute, 0, 0, zone), true
	}
	t := time.Date(r.At.Year(), month, day, hour, minute, 0, 0, zone)
	if t.Before(r.At) {
		t = t.AddDate(1, 0, 0)
	}
	return t, true
}

var months = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

func isoDate(m []string) (time.Time, bool) {
	zone := time.UTC
	if m[3] != "" {
		var ok bool
		if zone, ok = offset(m[3]); !ok {
			return time.Time{}, false
		}
	}
	clock := m[2]
	if clock == "" {
		clock = "00:00"
	}
	clock, _, _ = strings.Cut(clock, ".")
	if len(clock) == 4 || len(clock) == 7 {
		clock = "0" + clock
	}
	return onDay(m[1], clock, zone)
}

// clockText reads "resets 5pm": the next time that the clock shows it, here
// unless a zone is named. A zone that isn't known gives no time.
func clockText(r *reply) (time.Time, bool) {
	m := clockWords.FindStringSubmatch(r.text)
	if m == nil || m[2] == "" && m[3] == "" {
		return time.Time{}, false
	}
	zone, ok := r.zone(m[4], r.At.Location())
	hour, minute := clockHour(m[1], m[3]), small(m[2])
	if !ok || hour < 0 || minute > 59 {
		return time.Time{}, false
	}
	now := r.At.In(zone)
	t := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, zone)
	if !t.After(r.At) {
		t = t.AddDate(0, 0, 1)
	}
	return t, true
}

// zones are the zone names that vendors write, in minutes from UTC.
var zones = map[string]int{
	"utc": 0, "gmt": 0, "z": 0, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360,
	"pst": -480, "pdt": -420, "cet": 60, "cest": 120, "bst": 60, "ist": 330, "jst": 540, "kst": 540,
	"asia/shanghai": 480, "asia/tokyo": 540, "asia/kolkata": 330,
}

// zone finds the named zone. A word that isn't a zone's name says nothing; a
// place that isn't known makes the time unknown.
func (r *reply) zone(name string, usual *time.Location) (*time.Location, bool) {
	if name == "" {
		return usual, true
	}
	if strings.EqualFold(name, r.At.Location().String()) {
		return r.At.Location(), true
	}
	if z, ok := offset(name); ok {
		return z, true
	}
	if minutes, ok := zones[name]; ok {
		return time.FixedZone(strings.ToUpper(name), minutes*60), true
	}
	return usual, !strings.Contains(name, "/")
}

// offset reads how far a clock is from UTC: "+0800", "+08:00", "gmt-3".
func offset(v string) (*time.Location, bool) {
	m := offsetText.FindStringSubmatch(v)
	if m == nil || small(m[2]) > 14 || small(m[3]) > 59 {
		return nil, false
	}
	seconds := small(m[2])*3600 + small(m[3])*60
	if m[1] == "-" {
		seconds = -seconds
	}
	return time.FixedZone("UTC"+strings.TrimLeft(v, "utcgm"), seconds), true
}

// clockHour is the hour of the day, -1 when it is none. No hour is midnight.
func clockHour(hour, half string) int {
	if hour == "" {
		return 0
	}
	h := small(hour)
	switch {
	case h > 23 || half != "" && (h > 12 || h == 0):
		return -1
	case half == "pm" && h < 12:
		return h + 12
	case half == "am" && h == 12:
		return 0
	}
	return h
}

func small(v string) int {
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return n
}
