package anthropic_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/anthropic"
)

var at = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

const (
	hour = time.Hour
	day  = 24 * hour
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set("anthropic-ratelimit-unified-"+pairs[i], pairs[i+1])
	}
	return h
}

func window(name string, used float64, resets time.Time, span time.Duration, model string) provider.Window {
	return provider.Window{Name: name, Used: used, Resets: resets, Span: span, Model: model, Partial: true, Read: at}
}

func TestRead(t *testing.T) {
	tests := []struct {
		name string
		h    http.Header
		want []provider.Window
	}{
		{
			"five hours and a week, the shorter first",
			header("7d-status", "allowed", "7d-utilization", "0.25", "7d-reset", "1772985600", "5h-status", "allowed_warning", "5h-utilization", "0.5", "5h-reset", "1772622000",
				"status", "allowed", "reset", "1772622000", "representative-claim", "five_hour", "fallback-percentage", "0.5", "5h-surpassed-threshold", "0.5"),
			[]provider.Window{window("5 hours", 50, time.Unix(1772622000, 0).UTC(), 5*hour, ""), window("7 days", 25, time.Unix(1772985600, 0).UTC(), 7*day, "")},
		},
		{
			"weeks of some models only",
			header("7d-utilization", "0.1", "7d_oi-utilization", "0.2", "7d_opus-utilization", "0.25", "7d_sonnet-utilization", "0.5"),
			[]provider.Window{
				window("7 days", 10, time.Time{}, 7*day, ""), window("7 days · Fable", 20, time.Time{}, 7*day, "fable"),
				window("7 days · Opus", 25, time.Time{}, 7*day, "opus"), window("7 days · Sonnet", 50, time.Time{}, 7*day, "sonnet"),
			},
		},
		{"a scope that is new", header("7d_fable_5_1-utilization", "0.5"), []provider.Window{window("7 days · Fable-5-1", 50, time.Time{}, 7*day, "fable-5-1")}},
		{"one that refuses is full, whatever it says it used", header("5h-status", "rejected", "5h-utilization", "0.97", "5h-reset", "1772622000"), []provider.Window{window("5 hours", 100, time.Unix(1772622000, 0).UTC(), 5*hour, "")}},
		{"one that refuses and says nothing more", header("7d-status", "rejected"), []provider.Window{window("7 days", 100, time.Time{}, 7*day, "")}},
		{"more than all is all", header("5h-utilization", "1.31"), []provider.Window{window("5 hours", 100, time.Time{}, 5*hour, "")}},
		{"a status alone tells no share", header("5h-status", "allowed", "5h-reset", "1772622000"), nil},
		{"a reset that is no time of this window", header("5h-utilization", "0.5", "5h-reset", "1999999999"), []provider.Window{window("5 hours", 50, time.Time{}, 5*hour, "")}},
		{"a reset in letters", header("5h-utilization", "0.5", "5h-reset", "soon"), []provider.Window{window("5 hours", 50, time.Time{}, 5*hour, "")}},
		{"no share that is one", header("5h-utilization", "NaN", "7d-utilization", "-1", "1h-utilization", "+Inf", "2h-utilization", ""), nil},
		{"no claim that is one", header("x-utilization", "0.5", "5y-utilization", "0.5", "0h-utilization", "0.5", "-5h-utilization", "0.5", "5h_-utilization", "0.5", "99999999999h-utilization", "0.5", "utilization", "0.5"), nil},
		{"the limits of a key are another matter", http.Header{"Anthropic-Ratelimit-Requests-Remaining": {"5"}, "Content-Type": {"text/event-stream"}}, nil},
		{"none", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, anthropic.Read(tt.h, at).Windows); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadIsBounded(t *testing.T) {
	h := http.Header{}
	for i := range 1000 {
		h.Set("anthropic-ratelimit-unified-7d_m"+string(rune('a'+i%26))+string(rune('a'+i/26%26))+"-utilization", "0.5")
	}
	if got := anthropic.Read(h, at).Windows; len(got) > 16 {
		t.Errorf("%d windows of one reply", len(got))
	}
}

func FuzzRead(f *testing.F) {
	f.Add("5h-utilization", "0.5", "5h-reset", "1772622000")
	f.Add("7d_opus-status", "rejected", "7d_opus-reset", "-1e300")
	f.Fuzz(func(t *testing.T, key, value, key2, value2 string) {
		h := http.Header{"Anthropic-Ratelimit-Unified-" + key: {value}, "anthropic-ratelimit-unified-" + key2: {value2}}
		h.Set("anthropic-ratelimit-unified-"+key, value)
		for _, w := range anthropic.Read(h, at).Windows {
			if !(w.Used >= 0 && w.Used <= 100) || w.Name == "" || w.Span <= 0 || !w.Resets.IsZero() && w.Resets.Sub(at).Abs() > 2*w.Span+time.Second {
				t.Errorf("%+v", w)
			}
		}
	})
}
