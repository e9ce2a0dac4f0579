package claude_test

import (
	"encoding/json"
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
	var l claude.Line
	if err := json.Unmarshal([]byte(limitLine), &l); err != nil {
		t.Fatal(err)
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
	var l claude.Line
	if err := json.Unmarshal([]byte(failedLine), &l); err != nil {
		t.Fatal(err)
	}
	if !l.Failed || l.Status != 429 || strings.Contains(l.Words(), "usage limit") {
		t.Errorf("got %+v, %q", l, l.Words())
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
		var l claude.Line
		if json.Unmarshal([]byte(line), &l) != nil || l.Limit == nil {
			return
		}
		for _, w := range l.Limit.Windows(when("2026-03-04T10:00:00Z")) {
			if !(w.Used >= 0 && w.Used <= 100) || w.Name == "" {
				t.Fatalf("%+v", w)
			}
		}
	})
}
