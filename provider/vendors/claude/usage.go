// Package claude reads what the Claude Code program says of the subscription that it is signed
// in to: its answer to /usage, and the events that it writes while it answers.
package claude

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the zones that the program writes; not every system has them

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

const (
	session = 5 * time.Hour
	week    = 7 * 24 * time.Hour
)

// ErrUnavailable says that the program told nothing of its limits just now.
var ErrUnavailable = errors.New("the program told nothing of its limits this time")

var (
	ansi    = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)")
	percent = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)\s*%`)
	scope   = regexp.MustCompile(`\(([^()]+)\)`)
	refused = regexp.MustCompile(`(?i)\b(?:401|403)\b|not logged in|please run /login|invalid api key|oauth token (?:has )?expired|hit your (?:session|usage|weekly) limit|(?:session|usage|weekly) limit reached`)
	notice  = regexp.MustCompile(`(?i)using your subscription`)
)

// ParseUsage reads what the program printed. That the account was refused counts before any
// window: the numbers beside it are of another time.
func ParseUsage(out string, now time.Time) ([]provider.Window, error) {
	out = ansi.ReplaceAllString(out, "")
	var windows []provider.Window
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if m := refused.FindString(line); m != "" {
			return nil, errors.New("the program was refused: " + clip(line))
		}
		if w, ok := readLine(line, now); ok {
			windows = append(windows, w)
		}
	}
	switch {
	case len(windows) > 0:
		return windows, nil
	case notice.MatchString(out):
		return nil, ErrUnavailable
	}
	return nil, errors.New("the program's answer tells no window")
}

// readLine reads a line such as "Current week (Opus): 12% used · resets Jan 3 at 2pm (UTC)".
func readLine(line string, now time.Time) (provider.Window, bool) {
	lower := strings.ToLower(line)
	m := percent.FindStringSubmatchIndex(line)
	if m == nil {
		return provider.Window{}, false
	}
	used, err := strconv.ParseFloat(line[m[2]:m[3]], 64)
	if err != nil {
		return provider.Window{}, false
	}
	w := provider.Window{Used: loose.Percent(used), Read: now}
	head := line[:m[0]]
	switch {
	case strings.Contains(lower, "current session"):
		w.Span = session
	case strings.Contains(lower, "current week"):
		w.Span = week
	default:
		return provider.Window{}, false
	}
	w.Name = provider.SpanName(w.Span)
	if s := scope.FindStringSubmatch(head); w.Span == week && s != nil && !strings.EqualFold(s[1], "all models") {
		name := strings.TrimSuffix(strings.TrimSpace(s[1]), " only")
		w.Name, w.Model = w.Name+" · "+name, dashed(name)
	}
	if _, tail, found := cutFold(line[m[1]:], "resets"); found {
		w.Resets = parseReset(tail, w.Span, now)
	}
	return w, true
}

// dashed writes a model's name as it stands in ids: "Fable 5.1" is fable-5-1.
func dashed(name string) string {
	return strings.NewReplacer(" ", "-", ".", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}

func cutFold(s, sep string) (before, after string, found bool) {
	i := strings.Index(strings.ToLower(s), sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// The forms of a reset's day and time, without year and with it; minutes may be missing.
var (
	dated = []string{"Jan 2 at 3pm", "Jan 2 at 3:04pm", "Jan 2, 3pm", "Jan 2, 3:04pm", "Jan 2 at 15:04", "Jan 2, 15:04"}
	full  = []string{"Jan 2 2006 at 3pm", "Jan 2 2006 at 3:04pm", "Jan 2 2006, 3pm", "Jan 2 2006, 3:04pm", "Jan 2 2006 at 15:04", "Jan 2 2006, 15:04"}
	timed = []string{"3pm", "3:04pm", "15:04"}
)

// parseReset reads when a window renews, zero where that can't be told.
func parseReset(s string, span time.Duration, now time.Time) time.Time {
	zone := time.Local
	if m := scope.FindStringSubmatchIndex(s); m != nil {
		z, err := time.LoadLocation(strings.TrimSpace(s[m[2]:m[3]]))
		if err != nil {
			return time.Time{}
		}
		zone, s = z, s[:m[0]]
	}
	s = strings.Join(strings.Fields(strings.Trim(s, " .·:")), " ")
	s = strings.NewReplacer(" am", "am", " pm", "pm", " AM", "am", " PM", "pm", "AM", "am", "PM", "pm").Replace(s)
	for _, form := range full {
		for _, text := range []string{s, strings.Replace(s, ", ", " ", 1)} {
			if t, err := time.ParseInLocation(form, text, zone); err == nil {
				return t.UTC()
			}
		}
	}
	for _, form := range dated {
		if t, err := time.ParseInLocation(form, s, time.UTC); err == nil {
			return inYear(t, zone, span, now)
		}
	}
	for _, form := range timed {
		if t, err := time.ParseInLocation(form, s, time.UTC); err == nil {
			return nextTime(t, zone, span, now)
		}
	}
	return time.Time{}
}

// inYear finds the year of a date without one: the first in which it lies less than a day back
// and no further ahead than its window can reach.
func inYear(t time.Time, zone *time.Location, span time.Duration, now time.Time) time.Time {
	for year := now.In(zone).Year() - 1; year <= now.In(zone).Year()+1; year++ {
		at := time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, zone)
		if at.Day() == t.Day() && now.Sub(at) < 24*time.Hour && at.Sub(now) <= span+2*time.Hour {
			return at.UTC()
		}
	}
	return time.Time{}
}

// nextTime finds the day of a time alone: today's, or tomorrow's where that has passed.
func nextTime(t time.Time, zone *time.Location, span time.Duration, now time.Time) time.Time {
	today := now.In(zone)
	for day := range 2 {
		at := time.Date(today.Year(), today.Month(), today.Day()+day, t.Hour(), t.Minute(), 0, 0, zone)
		if at.After(now) && at.Sub(now) <= span+2*time.Hour {
			return at.UTC()
		}
	}
	return time.Time{}
}

func clip(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
