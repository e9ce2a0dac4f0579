package state

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dev.magpie/gateway/trace"
)

func window(name string, used float64, span, left time.Duration) trace.Window {
	resets := noon.Add(left)
	return trace.Window{Name: name, Used: used, SpanS: int64(span / time.Second), Resets: &resets, Read: noon}
}

const (
	fiveHours = 5 * time.Hour
	week      = 7 * 24 * time.Hour
)

func TestAWindowsNameTakesTwoCells(t *testing.T) {
	for want, w := range map[string]trace.Window{
		"5h": {Name: "5 hours", SpanS: 5 * 3600}, "7d": {Name: "weekly"}, "1d": {Name: "daily"}, "mo": {Name: "month"},
		"1m": {Name: "minute"}, "3h": {Name: "3 hours"}, "2d": {SpanS: 48 * 3600}, "cr": {Name: "credits"}, "編輯": {Name: "編輯器"}, "": {},
	} {
		if got := WindowName(w); got != want {
			t.Errorf("%+v is called %q, want %q", w, got, want)
		}
	}
}

func TestTheFullestWindowIsShownFirst(t *testing.T) {
	a := &trace.Account{Windows: []trace.Window{{Name: "5 hours", Used: 40}, {Name: "7 days", Used: 74}, {Name: "extra", Used: 99, Aside: true}}}
	if w, _ := Fullest(a); w.Name != "7 days" {
		t.Errorf("the fullest is %s", w.Name)
	}
	if w, known := Second(a); w.Name != "5 hours" || !known {
		t.Errorf("the second is %s", w.Name)
	}
	if _, known := Fullest(&trace.Account{}); known {
		t.Error("an account without windows has a fullest")
	}
	if _, known := Second(&trace.Account{Windows: a.Windows[:1]}); known {
		t.Error("an account with one window has a second")
	}
}

func TestAnEvenPaceIsToldOnlyWhereItMeansSomething(t *testing.T) {
	c := At(noon)
	if even, known := Even(window("5 hours", 52, fiveHours, 134*time.Minute), c); !known || even < 0.55 || even > 0.56 {
		t.Errorf("2h14m before the end of five hours the even pace is %v", even)
	}
	for why, w := range map[string]trace.Window{
		"a length that nobody told":    window("5 hours", 52, 0, time.Hour),
		"an end that nobody told":      {Used: 52, SpanS: 18000},
		"a window in its first part":   window("5 hours", 52, fiveHours, 5*time.Hour-10*time.Minute),
		"a window that is over":        window("5 hours", 52, fiveHours, 0),
		"a window that is used up":     window("5 hours", 100, fiveHours, time.Hour),
		"a window that begins earlier": window("5 hours", 20, fiveHours, 6*time.Hour),
	} {
		if _, known := Even(w, c); known {
			t.Errorf("%s has an even pace", why)
		}
	}
}

func TestAheadMeansMoreThanFivePoints(t *testing.T) {
	for _, tc := range []struct {
		used float64
		want int
	}{{93, 7}, {91, 0}, {86, 0}, {20, 0}} {
		if got := Ahead(window("5 hours", tc.used, fiveHours, 41*time.Minute), At(noon)); got != tc.want {
			t.Errorf("%v%% with 86%% of the time gone is ahead by %d, want %d", tc.used, got, tc.want)
		}
	}
}

func TestPaceStandsUntilTheClockSaysThatItChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := window("w", float64(rapid.IntRange(0, 100).Draw(t, "used")), fiveHours, time.Duration(rapid.Int64Range(-int64(time.Hour), int64(6*time.Hour)).Draw(t, "left")))
		cells := rapid.IntRange(1, 40).Draw(t, "cells")
		c := At(noon)
		cell, ahead := EvenCell(w, cells, c), Ahead(w, c) > 0
		limit := c.Next()
		if limit.IsZero() {
			limit = noon.Add(10 * time.Hour)
		}
		// A hair less than the change: parts of a window are no whole nanoseconds.
		span := limit.Sub(noon) - 2*time.Millisecond
		if span <= 0 {
			return
		}
		later := At(noon.Add(time.Duration(rapid.Int64Range(0, int64(span)).Draw(t, "later"))))
		if got := EvenCell(w, cells, later); got != cell {
			t.Fatalf("the mark went from cell %d to %d before it was told to", cell, got)
		}
		if got := Ahead(w, later) > 0; got != ahead {
			t.Fatalf("ahead went from %v to %v before it was told to", ahead, got)
		}
	})
}

func TestWhoNeedsSomebodyComesFirst(t *testing.T) {
	low := account("p/low", 0, trace.Low)
	low.Used = 93
	fine := account("p/fine", 1, trace.Fine)
	fine.Used = 50
	finer := account("p/finer", 2, trace.Fine)
	finer.Used = 60
	accounts := []trace.Account{account("p/paused", 3, trace.Paused_), finer, fine, low, account("p/spent", 4, trace.Spent), account("p/rests", 5, trace.Resting)}
	accounts = append(accounts, account("p/unready", 6, trace.Unready), account("p/denied", 7, trace.Unready))
	accounts[len(accounts)-1].Denied = &trace.Denied{Status: 401}
	want := []string{"p/spent", "p/denied", "p/rests", "p/low", "p/finer", "p/fine", "p/unready", "p/paused"}
	for i, a := range Worst(accounts) {
		if a.ID != want[i] {
			t.Errorf("place %d has %s, want %s", i, a.ID, want[i])
		}
	}
	got := Loaded(accounts, 2)
	if len(got) != 2 || got[0].ID != "p/finer" || got[1].ID != "p/low" {
		t.Errorf("the most loaded are %v", got)
	}
	if len(Loaded(accounts, 9)) != 8 || len(Loaded(accounts, 0)) != 0 {
		t.Error("as many are shown as there is room for")
	}
}

func TestTheRateOfAWindowTellsWhenItIsFull(t *testing.T) {
	s := New(trace.View{}, noon, false)
	read := func(after time.Duration, used float64) {
		w := trace.Window{Name: "5 hours", Used: used, Read: noon.Add(after)}
		a := account("p/a", 0, trace.Fine)
		a.Windows = []trace.Window{w}
		s.Apply(trace.Batch{Accounts: []trace.Account{a}}, noon.Add(after))
	}
	full := func() (time.Time, bool) { return s.FullAt("p/a", "5 hours", "") }
	read(0, 70)
	if _, known := full(); known {
		t.Error("one reading has a rate")
	}
	read(time.Minute, 75)
	if _, known := full(); known {
		t.Error("one minute has a rate")
	}
	read(10*time.Minute, 90)
	if at, known := full(); !known || !at.Equal(noon.Add(15*time.Minute)) {
		t.Errorf("two points a minute from 90%% on is full at %v", at)
	}
	read(30*time.Minute, 90)
	read(45*time.Minute, 91)
	if at, known := full(); !known || !at.Equal(noon.Add(45*time.Minute+135*time.Minute)) {
		t.Errorf("a point in a quarter of an hour is full at %v", at)
	}
	read(50*time.Minute, 3)
	if _, known := full(); known {
		t.Error("a window that was renewed keeps its old rate")
	}
}

func TestAGroupOfWhichNobodyIsReadyIsTold(t *testing.T) {
	resting := account("relay/a", 0, trace.Resting)
	resting.Rest = &trace.Rest{Until: noon.Add(48 * time.Second)}
	later := account("relay/b", 1, trace.Resting)
	later.Rest = &trace.Rest{Until: noon.Add(time.Hour)}
	fine := account("claude/me", 2, trace.Fine)
	group := trace.Group{ID: "always-on", Members: []string{"relay@a/gpt", "relay/other:high"}}
	told := func(st trace.Status) string {
		trouble, _ := New(trace.View{Status: st}, noon, false).Trouble(At(noon))
		return trouble.Text
	}
	for _, tc := range []struct {
		why  string
		st   trace.Status
		want string
	}{
		{"nothing is wrong", trace.Status{Accounts: []trace.Account{fine, resting}}, ""},
		{"nothing is configured", trace.Status{}, ""},
		{"a group rests", trace.Status{Accounts: []trace.Account{resting, later, fine}, Groups: []trace.Group{group}}, "all of always-on is resting; the first is back in 0:48 (a)"},
		{"a group has somebody", trace.Status{Accounts: []trace.Account{resting, fine}, Groups: []trace.Group{{ID: "g", Ready: 1, Members: []string{"claude/x"}}}}, ""},
		{"every account rests", trace.Status{Accounts: []trace.Account{resting, later}}, "every account is resting; the first is back in 0:48 (a)"},
		{"every account is paused", trace.Status{Accounts: []trace.Account{account("p/x", 0, trace.Paused_)}}, "no account is ready"},
		{"the config is bad, and lies deep", trace.Status{Config: trace.ConfigStatus{Error: "/home/someone/.config/magpie/config.toml:14:1: unknown key"}}, "config.toml:14:1: unknown key"},
		{"the config is bad", trace.Status{Accounts: []trace.Account{resting}, Config: trace.ConfigStatus{Error: "config.toml:14:1 unknown key\nmore"}}, "config.toml:14:1 unknown key"},
		{"a file cannot be written", trace.Status{Accounts: []trace.Account{fine}, Trouble: []string{"choices.json cannot be written: no space left"}}, "choices.json cannot be written: no space left"},
		{"the history cannot be written", trace.Status{Accounts: []trace.Account{fine}, History: trace.HistoryStat{Error: "disk full"}}, "history cannot be written: disk full"},
		{"it is ending", trace.Status{Accounts: []trace.Account{fine}, Draining: true}, "finishing what is under way; new requests are told to come back"},
	} {
		if got := told(tc.st); got != tc.want {
			t.Errorf("%s: it says %q, want %q", tc.why, got, tc.want)
		}
	}
}

func TestBackIsWhenAnAccountReturnsByItself(t *testing.T) {
	until := noon.Add(time.Hour)
	spent := account("p/s", 0, trace.Spent)
	spent.Windows = []trace.Window{{Used: 100, Resets: &until}}
	paused := account("p/p", 0, trace.Paused_)
	paused.Paused = &trace.Paused{Until: until}
	rests := account("p/r", 0, trace.Resting)
	rests.Rest = &trace.Rest{Until: until}
	for _, a := range []trace.Account{spent, paused, rests} {
		if got := Back(&a); !got.Equal(until) {
			t.Errorf("%s is back at %v", a.ID, got)
		}
	}
	fine := account("p/f", 0, trace.Fine)
	if !Back(&fine).IsZero() {
		t.Error("a fine account comes back")
	}
	broke := account("p/b", 30, trace.Spent)
	broke.Windows, broke.Denied = []trace.Window{{Used: 30, Resets: &until}}, &trace.Denied{Why: trace.Credit}
	if !Back(&broke).IsZero() {
		t.Error("one without credit comes back with a window that has room")
	}
}
