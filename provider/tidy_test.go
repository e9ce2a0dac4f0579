package provider_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/provider"
)

func TestAReadingIsKeptWithinWhatAVendorCanTell(t *testing.T) {
	at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	sane := provider.Window{Name: "7 days", Used: 40, Resets: at.Add(time.Hour), Span: 7 * 24 * time.Hour, Read: at}
	with := func(change func(*provider.Window)) provider.Window {
		w := sane
		change(&w)
		return w
	}
	for _, tt := range []struct {
		name      string
		got, want provider.Window
	}{
		{"as it is", sane, sane},
		{"more than all", with(func(w *provider.Window) { w.Used = 1e308 }), with(func(w *provider.Window) { w.Used = 100 })},
		{"less than nothing", with(func(w *provider.Window) { w.Used = math.Inf(-1) }), with(func(w *provider.Window) { w.Used = 0 })},
		{"renews in the year 40000", with(func(w *provider.Window) { w.Resets = at.AddDate(38000, 0, 0) }), with(func(w *provider.Window) { w.Resets = time.Time{} })},
		{"renewed long ago", with(func(w *provider.Window) { w.Resets = at.AddDate(-20, 0, 0) }), with(func(w *provider.Window) { w.Resets = at.AddDate(-20, 0, 0) })},
		{"longer than any", with(func(w *provider.Window) { w.Span = math.MaxInt64 }), with(func(w *provider.Window) { w.Span = 0 })},
		{"shorter than any", with(func(w *provider.Window) { w.Span = -1 }), with(func(w *provider.Window) { w.Span = 0 })},
		{"an amount that is none", with(func(w *provider.Window) { w.Amount, w.Limit = math.NaN(), 5 }), sane},
		{"an amount of all there is", with(func(w *provider.Window) { w.Amount, w.Limit = 1, 1e300 }), sane},
		{"without a name", with(func(w *provider.Window) { w.Name = " \x1b" }), sane},
		{"a name that clears the screen", with(func(w *provider.Window) { w.Name = "a\x1b[2J\r\nb\u202e" }), with(func(w *provider.Window) { w.Name = "a[2J  b" })},
		{"a name without end", with(func(w *provider.Window) { w.Name = strings.Repeat("é", 1e6) }), with(func(w *provider.Window) { w.Name = strings.Repeat("é", 59) + "…" })},
		{"in its own script", with(func(w *provider.Window) { w.Name = "7 天" }), with(func(w *provider.Window) { w.Name = "7 天" })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := []provider.Window{tt.got}
			got := provider.TidyWindows(given, at)
			if d := cmp.Diff([]provider.Window{tt.want}, got); d != "" {
				t.Error(d)
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		})
	}
	if got := provider.TidyWindows([]provider.Window{with(func(w *provider.Window) { w.Used = math.NaN() }), sane}, at); len(got) != 1 {
		t.Errorf("a share that is no number: %+v", got)
	}
	if got := provider.TidyWindows(make([]provider.Window, 5000), at); len(got) != 32 {
		t.Errorf("%d windows", len(got))
	}
	same := []provider.Window{sane, sane}
	if n := testing.AllocsPerRun(100, func() { same = provider.TidyWindows(same, at) }); n != 0 {
		t.Errorf("what is tidy costs %v allocations", n)
	}
	r := provider.Reading{
		Plan: strings.Repeat("p", 1000), Balance: "$5.00\n\x07", Credits: &provider.Credits{Balance: strings.Repeat("9", 1000)},
		Resets: &provider.Resets{Count: -5, Until: at.AddDate(9000, 0, 0)},
	}
	tidy := r.Tidy(at)
	if len(tidy.Plan) > 70 || tidy.Balance != "$5.00" || len(tidy.Credits.Balance) > 70 || tidy.Resets.Count != 0 || !tidy.Resets.Until.IsZero() || r.Resets.Count != -5 {
		t.Errorf("%+v %+v", tidy, tidy.Resets)
	}
}
