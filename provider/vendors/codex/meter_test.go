package codex_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
)

var at = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

const (
	hour = time.Hour
	day  = 24 * hour
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set("x-codex-"+pairs[i], pairs[i+1])
	}
	return h
}

func window(name string, used float64, resets time.Time, span time.Duration) provider.Window {
	return provider.Window{Name: name, Used: used, Resets: resets, Span: span, Partial: true, Read: at}
}

func TestRead(t *testing.T) {
	tests := []struct {
		name string
		h    http.Header
		want provider.Reading
	}{
		{
			"five hours and a week, with plan and credits",
			header("primary-used-percent", "42", "primary-window-minutes", "300", "primary-reset-at", "1772622000", "primary-reset-after-seconds", "9",
				"secondary-used-percent", "87.5", "secondary-window-minutes", "10080", "secondary-reset-after-seconds", "90000", "secondary-reset-at", "",
				"plan-type", "plus", "credits-has-credits", "True", "credits-unlimited", "false", "credits-balance", "120.5"),
			provider.Reading{
				Windows: []provider.Window{window("5 hours", 42, time.Unix(1772622000, 0).UTC(), 5*hour), window("7 days", 87.5, at.Add(25*hour), 7*day)},
				Plan:    "plus", Credits: &provider.Credits{Has: true, Balance: "120.5"},
			},
		},
		{
			"a week as the first and no second", header("primary-used-percent", "100", "primary-window-minutes", "10080", "credits-has-credits", "false", "credits-unlimited", "true"),
			provider.Reading{Windows: []provider.Window{window("7 days", 100, time.Time{}, 7*day)}, Credits: &provider.Credits{Unlimited: true}},
		},
		{"more than all is all", header("secondary-used-percent", "140", "secondary-window-minutes", "1440"), provider.Reading{Windows: []provider.Window{window("1 day", 100, time.Time{}, day)}}},
		{"a length that is neither hours nor days", header("primary-used-percent", "1", "primary-window-minutes", "299"), provider.Reading{Windows: []provider.Window{window("Allowance", 1, time.Time{}, 299*time.Minute)}}},
		{"no length", header("primary-used-percent", "1", "primary-window-minutes", "0"), provider.Reading{Windows: []provider.Window{window("Allowance", 1, time.Time{}, 0)}}},
		{
			"a slot full of zeros is no window", header("primary-used-percent", "35", "primary-window-minutes", "10080", "secondary-used-percent", "0", "secondary-window-minutes", "0", "secondary-reset-after-seconds", "0", "secondary-reset-at", ""),
			provider.Reading{Windows: []provider.Window{window("7 days", 35, time.Time{}, 7*day)}},
		},
		{
			"a reset that has passed by this clock, and is to come by the vendor's", header("primary-used-percent", "100", "primary-window-minutes", "300", "primary-reset-at", "1772610000", "primary-reset-after-seconds", "3600"),
			provider.Reading{Windows: []provider.Window{window("5 hours", 100, at.Add(hour), 5*hour)}},
		},
		{"a reset far away is none; what is left is read", header("primary-used-percent", "1", "primary-reset-at", "9999999999999", "primary-reset-after-seconds", "60"), provider.Reading{Windows: []provider.Window{window("Allowance", 1, at.Add(time.Minute), 0)}}},
		{"garbage", header("primary-used-percent", "lots", "secondary-used-percent", "-3", "primary-window-minutes", "NaN", "secondary-reset-at", "x"), provider.Reading{}},
		{"garbage beside a share", header("primary-used-percent", "5", "primary-window-minutes", "1e300", "primary-reset-at", "NaN", "primary-reset-after-seconds", "1e300"), provider.Reading{Windows: []provider.Window{window("Allowance", 5, time.Time{}, 0)}}},
		{"none", http.Header{"Content-Type": {"text/event-stream"}}, provider.Reading{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, codex.Read(tt.h, at)); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add("42", "300", "1772622000", "60")
	f.Add("NaN", "-1", "", "1e308")
	f.Fuzz(func(t *testing.T, used, minutes, resetAt, after string) {
		h := header("primary-used-percent", used, "primary-window-minutes", minutes, "primary-reset-at", resetAt, "primary-reset-after-seconds", after)
		for _, w := range codex.Read(h, at).Windows {
			if !(w.Used >= 0 && w.Used <= 100) || w.Name == "" || w.Span < 0 || !w.Resets.IsZero() && w.Resets.Sub(at).Abs() > 401*day {
				t.Errorf("%+v", w)
			}
		}
	})
}
