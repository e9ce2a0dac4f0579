package state

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func TestLeftNeverSaysLessThanIsLeft(t *testing.T) {
	for _, tc := range []struct {
		in   time.Duration
		want string
	}{
		{0, ""},
		{-time.Hour, ""},
		{time.Second, "1m"},
		{41 * time.Minute, "41m"},
		{40*time.Minute + time.Second, "41m"},
		{59*time.Minute + time.Second, "1h00m"},
		{2*time.Hour + 14*time.Minute, "2h14m"},
		{24 * time.Hour, "1d00h"},
		{67 * time.Hour, "2d19h"},
		{76 * time.Hour, "3d04h"},
		{1<<63 - 1, "36500d00h"}, // a pause for 292 years
	} {
		if got := At(noon).Left(noon.Add(tc.in)); got != tc.want {
			t.Errorf("%v left reads %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestCountdownShowsSecondsOnlyNearItsEnd(t *testing.T) {
	for _, tc := range []struct {
		in   time.Duration
		want string
	}{
		{48 * time.Second, "0:48"},
		{47*time.Second + time.Millisecond, "0:48"},
		{10 * time.Minute, "10:00"},
		{10*time.Minute + time.Second, "11m"},
		{62 * time.Minute, "1h02m"},
		{0, ""},
	} {
		if got := At(noon).Countdown(noon.Add(tc.in)); got != tc.want {
			t.Errorf("a countdown of %v reads %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestLengthsRead(t *testing.T) {
	for _, tc := range []struct {
		of   time.Duration
		want string
	}{
		{300 * time.Millisecond, "0s"},
		{12 * time.Second, "12s"},
		{99 * time.Second, "99s"},
		{100 * time.Second, "1m40s"},
		{59*time.Minute + 59*time.Second, "59m59s"},
		{62 * time.Minute, "1h02m"},
	} {
		if got := Took(tc.of); got != tc.want {
			t.Errorf("%v reads %q, want %q", tc.of, got, tc.want)
		}
	}
	if got := Precise(14200 * time.Millisecond); got != "14.2s" {
		t.Errorf("14.2 s reads %q", got)
	}
}

func TestDaysAreThoseOfTheClocksZone(t *testing.T) {
	zone := time.FixedZone("far", 11*3600)
	c := At(time.Date(2026, 11, 27, 0, 30, 0, 0, zone))
	if c.Day(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)) {
		t.Error("23:00 of the day before counts as today")
	}
	if !c.Day(time.Date(2026, 11, 26, 13, 10, 0, 0, time.UTC)) {
		t.Error("00:10 of the same day does not count as today")
	}
	if got := c.Stamp(time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)); got != "11-26" {
		t.Errorf("yesterday is stamped %q", got)
	}
	if got := c.Stamp(time.Date(2026, 11, 26, 13, 10, 0, 0, time.UTC)); got != "00:10" {
		t.Errorf("today is stamped %q", got)
	}
	if got := c.When(time.Date(2026, 11, 29, 22, 0, 0, 0, time.UTC)); got != "Mon 09:00" {
		t.Errorf("three days on reads %q", got)
	}
	if got := c.When(time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC)); got != "24 Dec" {
		t.Errorf("a month on reads %q", got)
	}
}

// texts are all the ways in which a moment becomes words.
var texts = map[string]func(*Clock, time.Time) string{
	"left":      (*Clock).Left,
	"countdown": (*Clock).Countdown,
	"in":        (*Clock).In,
	"since":     (*Clock).Since,
	"ago":       (*Clock).Ago,
	"running":   (*Clock).Running,
	"stamp":     (*Clock).Stamp,
	"when":      (*Clock).When,
	"passed": func(c *Clock, at time.Time) string {
		if c.Passed(at) {
			return "passed"
		}
		return "to come"
	},
}

func TestATextStandsUntilTheClockSaysThatItChanges(t *testing.T) {
	for name, text := range texts {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			off := time.Duration(rapid.Int64Range(-int64(100*time.Hour), int64(200*time.Hour)).Draw(t, "moment"))
			at := noon.Add(off)
			c := At(noon)
			said := text(c, at)
			next := c.Next()
			limit := noon.Add(300 * time.Hour)
			if !next.IsZero() {
				if !next.After(noon) {
					t.Fatalf("the next change is %v, which is not to come", next)
				}
				limit = next
			}
			span := limit.Sub(noon)
			part := time.Duration(rapid.Int64Range(0, int64(span)-1).Draw(t, "later"))
			if got := text(At(noon.Add(part)), at); got != said {
				t.Fatalf("%s of %v says %q at first and %q after %v, but the next change was told for %v", name, off, said, got, part, next)
			}
		}))
	}
}

func TestCountingTextsChangeWhenTheClockSaysSo(t *testing.T) {
	for _, name := range []string{"left", "countdown", "since", "running"} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			off := time.Duration(rapid.Int64Range(-int64(30*time.Hour), int64(30*time.Hour)).Draw(t, "moment"))
			at := noon.Add(off)
			c := At(noon)
			said := texts[name](c, at)
			if c.Next().IsZero() || (name == "countdown" && off > 10*time.Minute) {
				return
			}
			if got := texts[name](At(c.Next()), at); got == said {
				t.Fatalf("%s of %v still says %q when it was told to change", name, off, said)
			}
		}))
	}
}
