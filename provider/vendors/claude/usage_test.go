package claude_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/claude"
)

func when(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func draw(ws []provider.Window) string {
	var all []string
	for _, w := range ws {
		s := fmt.Sprintf("%s %g%%", w.Name, w.Used)
		if !w.Resets.IsZero() {
			s += " till " + w.Resets.Format("2006-01-02T15:04Z")
		}
		if w.Model != "" {
			s += " only " + w.Model
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func TestWhatTheProgramPrints(t *testing.T) {
	for _, tt := range []struct{ name, now, out, want string }{
		{
			"three lines", "2026-03-04T10:00:00Z",
			"You are currently using your subscription to power your Claude Code usage\n\n\x1b[1mCurrent session: 13% used · resets 2pm (UTC)\x1b[0m\nCurrent week (all models): 40% used · resets Mar 9 at 7:59am (UTC)\nCurrent week (Opus): 71% used · resets Mar 9 at 8am (UTC)\n",
			"5 hours 13% till 2026-03-04T14:00Z; 7 days 40% till 2026-03-09T07:59Z; 7 days · Opus 71% till 2026-03-09T08:00Z only opus",
		},
		{"a model with a number", "2026-03-04T10:00:00Z", "Current week (Fable 5.1): 5% used", "7 days · Fable 5.1 5% only fable-5-1"},
		{"a model alone", "2026-03-04T10:00:00Z", "Current week (Sonnet only): 5% used · Resets Mar 6, 1pm (Europe/Berlin)", "7 days · Sonnet 5% till 2026-03-06T12:00Z only sonnet"},
		{"the date lies in last year", "2026-01-01T00:30:00Z", "Current session: 88% used · resets Dec 31 at 11pm (UTC)", "5 hours 88% till 2025-12-31T23:00Z"},
		{"the date lies in next year", "2026-12-31T22:00:00Z", "Current week (all models): 1% used · resets Jan 3 at 2pm (UTC)", "7 days 1% till 2027-01-03T14:00Z"},
		{"a year is named", "2026-12-31T22:00:00Z", "Current week (all models): 1% used · resets Jan 3, 2027 at 2:30 PM (UTC)", "7 days 1% till 2027-01-03T14:30Z"},
		{"a time that is tomorrow's", "2026-03-04T23:30:00Z", "Current session: 1% used · resets 1:10am (UTC)", "5 hours 1% till 2026-03-05T01:10Z"},
		{"summer time begins between", "2026-03-28T20:00:00Z", "Current week (all models): 1% used · resets Mar 29, 10am (Europe/Berlin)", "7 days 1% till 2026-03-29T08:00Z"},
		{"further ahead than the window reaches", "2026-03-04T10:00:00Z", "Current session: 1% used · resets Mar 9 at 2pm (UTC)", "5 hours 1%"},
		{"an unknown zone", "2026-03-04T10:00:00Z", "Current session: 1% used · resets 2pm (Mars/Base)", "5 hours 1%"},
		{"only the notice", "2026-03-04T10:00:00Z", "You are currently using your subscription to power your Claude Code usage", "unavailable"},
		{"refused beside old numbers", "2026-03-04T10:00:00Z", "Current session: 13% used\nAPI Error: 401 OAuth token has expired", "error: the program was refused: API Error: 401 OAuth token has expired"},
		{"not signed in", "2026-03-04T10:00:00Z", "Not logged in · Please run /login", "error: the program was refused: Not logged in · Please run /login"},
		{"something else", "2026-03-04T10:00:00Z", "hello 40%", "error: the program's answer tells no window"},
		{"nothing", "2026-03-04T10:00:00Z", "", "error: the program's answer tells no window"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws, err := claude.ParseUsage(tt.out, when(tt.now))
			got := draw(ws)
			switch {
			case errors.Is(err, claude.ErrUnavailable):
				got = "unavailable"
			case err != nil:
				got = "error: " + err.Error()
			}
			if got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestWhatTheProgramWritesWhileItAnswers(t *testing.T) {
	for event, want := range map[string]string{
		`{"status":"allowed","rateLimitType":"five_hour","utilization":0.42,"resetsAt":1772622000}`: "5 hours 42% till 2026-03-04T11:00Z",
		`{"status":"allowed_warning","rateLimitType":"seven_day_opus","utilization":0.9}`:           "7 days · Opus 90% only opus",
		`{"status":"rejected","rateLimitType":"seven_day","resetsAt":1772622000}`:                   "7 days 100% till 2026-03-04T11:00Z",
		`{"status":"allowed","rateLimitType":"seven_day_overage_included","utilization":1.7}`:       "7 days · Fable 100% only fable",
		`{"status":"allowed","rateLimitType":"seven_day"}`:                                          "",
		`{"status":"allowed","rateLimitType":"overage","utilization":0.1}`:                          "",
	} {
		var e claude.Event
		if err := json.Unmarshal([]byte(event), &e); err != nil {
			t.Fatal(err)
		}
		got := ""
		if w, ok := e.Window(when("2026-03-04T10:00:00Z")); ok {
			got = draw([]provider.Window{w})
			if !w.Partial {
				t.Errorf("%s: one window is taken for all", event)
			}
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", event, got, want)
		}
	}
}

func FuzzWhatTheProgramPrints(f *testing.F) {
	f.Add("Current session: 13% used · resets Jan 3, 2027 at 2:30 PM (UTC)\nCurrent week (Fable 5.1): 5% used")
	f.Fuzz(func(t *testing.T, out string) {
		now := when("2026-03-04T10:00:00Z")
		ws, err := claude.ParseUsage(out, now)
		if (len(ws) > 0) == (err != nil) {
			t.Fatalf("%d windows and %v", len(ws), err)
		}
		for _, w := range ws {
			if !(w.Used >= 0 && w.Used <= 100) || w.Name == "" {
				t.Fatalf("%+v", w)
			}
		}
	})
}
