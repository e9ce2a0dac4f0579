package claude_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"dev.magpie/provider/vendors/claude"
)

// As Claude Code 2.1.332 writes them.
const (
	limitLine  = `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1772700000,"rateLimitType":"seven_day","utilization":0.81,"isUsingOverage":false,"unifiedWindows":{"five_hour":{"utilization":0.42,"resetsAt":1772630000,"status":"allowed"},"seven_day":{"utilization":0.81,"resetsAt":1772700000,"status":"allowed_warning"},"something_new":{"utilization":0.5}}}}`
	failedLine = `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"api_error_type":"rate_limit_error","result":"API Error: Server is temporarily limiting requests (not your usage limit)"}`
	signedIn   = `{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty","email":null,"subscriptionType":"max"}`
)

func TestEveryWindowOfAnEvent(t *testing.T) {
	l, ok := claude.ParseLine([]byte(limitLine))
	if !ok {
		t.Fatal("it is a line of the program's")
	}
	ws := l.Limit.Windows(when("2026-03-04T10:00:00Z"))
	if got := draw(ws); len(ws) != 2 || !strings.Contains(got, "5 hours") || ws[1].Used != 81 || ws[0].Used != 42 || !ws[0].Partial {
		t.Errorf("got %s", got)
	}
	if got := slices.Sorted(maps.Keys(l.Limit.Claims())); !slices.Equal(got, []string{"5h", "7d"}) {
		t.Errorf("the headers tell of %v", got)
	}
}

func TestAFailedResult(t *testing.T) {
	l, ok := claude.ParseLine([]byte(failedLine))
	if !ok {
		t.Fatal("it is a line of the program's")
	}
	if !l.Failed || l.Status != 429 || strings.Contains(l.Words(), "usage limit") {
		t.Errorf("got %+v, %q", l, l.Words())
	}
}

// A value that is not as it should be hides nothing of the rest of its line.
func TestAnOddValueInALineHidesNothingOfTheRest(t *testing.T) {
	for _, odd := range []string{`null`, `true`, `-1`, `1e400`, `""`, `"x"`, `[]`, `{}`, `[1]`, `{"a":1}`} {
		for _, at := range []string{`"success"`, `429`, `"rate_limit_error"`} {
			l, ok := claude.ParseLine([]byte(strings.Replace(failedLine, at, odd, 1)))
			if !ok || l.Type != "result" || !l.Failed || l.Words() == "" {
				t.Errorf("%s for %s: %v %+v", odd, at, ok, l)
			}
		}
		for _, at := range []string{`"allowed_warning"`, `1772700000`, `"seven_day"`, `0.81`, `false`, `0.42`, `1772630000`, `"allowed"`, `{"utilization":0.5}`} {
			l, ok := claude.ParseLine([]byte(strings.Replace(limitLine, at, odd, 1)))
			if !ok || l.Limit == nil {
				t.Fatalf("%s for %s: %v %+v", odd, at, ok, l)
			}
			if ws := l.Limit.Windows(when("2026-03-04T10:00:00Z")); len(ws) == 0 {
				t.Errorf("%s for %s: no window", odd, at)
			}
		}
		a, err := claude.ParseAccount([]byte(strings.Replace(signedIn, `"claude.ai"`, odd, 1)))
		if err != nil || !a.SignedIn || a.Plan != "max" {
			t.Errorf("%s: %+v, %v", odd, a, err)
		}
	}
	for _, people := range []string{"", "Update available", "[]", "7", `"x"`, "null", "{"} {
		if l, ok := claude.ParseLine([]byte(people)); ok {
			t.Errorf("%q is %+v", people, l)
		}
	}
	for status, in := range map[string]bool{`"true"`: true, `1`: true, `"false"`: false, `false`: false} {
		if a, err := claude.ParseAccount([]byte(strings.Replace(signedIn, "true", status, 1))); err != nil || a.SignedIn != in {
			t.Errorf("%s: %+v, %v", status, a, err)
		}
	}
	for _, status := range []string{`null`, `"perhaps"`, `[]`} {
		if a, err := claude.ParseAccount([]byte(strings.Replace(signedIn, "true", status, 1))); err == nil {
			t.Errorf("%s: %+v", status, a)
		}
	}
}

func TestAnAccount(t *testing.T) {
	if a, err := claude.ParseAccount([]byte(signedIn)); err != nil || !a.SignedIn || a.Plan != "max" {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := claude.ParseAccount([]byte("no such command")); err == nil {
		t.Error("words are no account")
	}
}

func FuzzALineOfTheProgram(f *testing.F) {
	f.Add(limitLine)
	f.Add(failedLine)
	f.Fuzz(func(t *testing.T, line string) {
		l, ok := claude.ParseLine([]byte(line))
		if !ok || l.Limit == nil {
			return
		}
		for _, w := range l.Limit.Windows(when("2026-03-04T10:00:00Z")) {
			if !(w.Used >= 0 && w.Used <= 100) || w.Name == "" {
				t.Fatalf("%+v", w)
			}
		}
	})
}
