package provider_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/provider"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

var now = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

func in(d time.Duration) time.Time { return now.Add(d) }

// The windows of most tests: five hours, a week, and a week of Opus alone.
func three() []provider.Window {
	return []provider.Window{
		{Name: "5 hours", Span: 5 * hour, Used: 95, Resets: in(hour)},
		{Name: "7 days", Span: 7 * day, Used: 40, Resets: in(3 * day)},
		{Name: "7 days · Opus", Span: 7 * day, Used: 100, Resets: in(2 * day), Model: "opus"},
	}
}

func TestApplies(t *testing.T) {
	w := provider.Window{Model: "opus"}
	for model, want := range map[string]bool{"claude-opus-5": true, "Claude-OPUS-5": true, "claude-sonnet-5": false, "": false, "opu": false} {
		if got := provider.Applies(w, model); got != want {
			t.Errorf("%q: %v", model, got)
		}
	}
	if !provider.Applies(provider.Window{}, "anything") {
		t.Error("a window of the whole account counts every model")
	}
}

func TestShare(t *testing.T) {
	ws := three()
	if got := provider.Share(ws, "claude-sonnet-5", now); got != 95 {
		t.Errorf("sonnet: %v", got)
	}
	if got := provider.Share(ws, "claude-opus-5", now); got != 100 {
		t.Errorf("opus: %v", got)
	}
	if got := provider.Share(ws, "claude-sonnet-5", in(hour)); got != 40 {
		t.Errorf("once the five hours renewed: %v", got)
	}
	ws[0].Aside = true
	if got := provider.Share(ws, "claude-sonnet-5", now); got != 40 {
		t.Errorf("a window that stops nothing counts: %v", got)
	}
	if got := provider.Share(nil, "m", now); got != 0 {
		t.Errorf("nothing known: %v", got)
	}
}

func TestFullUntilAndPooled(t *testing.T) {
	ws := three()
	if got := provider.FullUntil(ws, "opus-x", 98, now); !got.Equal(in(2 * day)) {
		t.Errorf("opus is full until %v", got)
	}
	if !provider.Pooled(ws, "opus-x", 98, now) {
		t.Error("only Opus is full, the account's other models go on")
	}
	if got := provider.FullUntil(ws, "sonnet-x", 98, now); !got.IsZero() {
		t.Errorf("sonnet is full until %v", got)
	}
	if provider.Pooled(ws, "sonnet-x", 98, now) {
		t.Error("sonnet has windows of the whole account and none is full")
	}
	ws[1].Used = 99
	if got := provider.FullUntil(ws, "opus-x", 98, now); !got.Equal(in(3 * day)) {
		t.Errorf("the week is full until %v", got)
	}
	if provider.Pooled(ws, "opus-x", 98, now) {
		t.Error("a full window of the whole account is everyone's")
	}
	if got := provider.FullUntil(ws, "opus-x", 98, in(2*day)); !got.Equal(in(3 * day)) {
		t.Errorf("a passed reset counts: %v", got)
	}
	ws[1].Resets = time.Time{}
	ws[2].Resets = time.Time{}
	if got := provider.FullUntil(ws, "opus-x", 98, now); !got.IsZero() {
		t.Errorf("nobody says when, but %v", got)
	}
	if !provider.Pooled([]provider.Window{{Model: "opus", Used: 10}}, "opus-x", 98, now) {
		t.Error("none is full and every window is for some models only")
	}
	if provider.Pooled(nil, "opus-x", 98, now) {
		t.Error("of an account without windows nothing is known")
	}
}

func TestRenewals(t *testing.T) {
	ws := three()
	tests := []struct {
		name  string
		ws    []provider.Window
		model string
		at    time.Time
		want  []time.Time
	}{
		{"the longest span first", ws, "sonnet-x", now, []time.Time{in(3 * day), in(hour)}},
		{"of equal spans the later", ws, "opus-x", now, []time.Time{in(3 * day), in(2 * day), in(hour)}},
		{"of equal spans the later, however they are told", []provider.Window{{Span: day, Resets: in(2 * hour)}, {Span: day, Resets: in(3 * hour)}, {Span: hour, Resets: in(hour)}, {Span: day, Resets: in(4 * hour)}}, "m", now, []time.Time{in(4 * hour), in(3 * hour), in(2 * hour), in(hour)}},
		{"a passed reset renews a span from now", ws, "sonnet-x", in(2 * hour), []time.Time{in(3 * day), in(7 * hour)}},
		{"one not started renews a span from now", []provider.Window{{Span: 5 * hour}}, "m", now, []time.Time{in(5 * hour)}},
		{"of one without span and reset nothing is known", []provider.Window{{Used: 1}, {Span: hour}}, "m", now, []time.Time{in(hour), {}}},
		{"one that stops nothing is left out", []provider.Window{{Span: hour, Aside: true}}, "m", now, nil},
		{"no windows", nil, "m", now, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, provider.Renewals(tt.ws, tt.model, tt.at)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRenewedBy(t *testing.T) {
	ws := append(three(), provider.Window{Span: 7 * day}, provider.Window{Name: "extra", Aside: true})
	got := provider.RenewedBy(ws, in(2*hour), now)
	for i, want := range []time.Time{in(hour), in(2 * hour), in(2 * hour), in(2 * hour), {}} {
		if !got[i].Resets.Equal(want) || got[i].Used != ws[i].Used {
			t.Errorf("window %d renews %v with %v %% used, want %v", i, got[i].Resets, got[i].Used, want)
		}
	}
	if !ws[1].Resets.Equal(in(3 * day)) {
		t.Error("the windows given were changed")
	}
	if got := provider.RenewedBy(three(), now, now); !got[1].Resets.Equal(in(3 * day)) {
		t.Errorf("a time that has passed: %v", got[1].Resets)
	}
	passed := []provider.Window{{Span: 7 * day, Used: 90, Resets: in(-hour)}}
	if got := provider.RenewedBy(passed, in(day), now); provider.Share(got, "m", now) != 0 {
		t.Error("what had renewed is used again")
	}
}

func TestTierOf(t *testing.T) {
	for used, want := range map[float64]provider.Tier{0: "fine", 89.99: "fine", 90: "low", 97.9: "low", 98: "spent", 100: "spent"} {
		if got := provider.TierOf(used); got != want {
			t.Errorf("%v: %s", used, got)
		}
	}
}

func TestEvenPace(t *testing.T) {
	tests := []struct {
		name  string
		w     provider.Window
		share float64
		ok    bool
	}{
		{"half of the week is over", provider.Window{Span: 7 * day, Resets: in(84 * hour)}, 50, true},
		{"nearly all of it", provider.Window{Span: 10 * hour, Resets: in(hour)}, 90, true},
		{"its first twentieth tells nothing", provider.Window{Span: 100 * hour, Resets: in(96 * hour)}, 4, false},
		{"a twentieth tells", provider.Window{Span: 100 * hour, Resets: in(95 * hour)}, 5, true},
		{"length unknown", provider.Window{Resets: in(hour)}, 0, false},
		{"reset unknown", provider.Window{Span: 5 * hour}, 0, false},
		{"reset passed", provider.Window{Span: 5 * hour, Resets: now}, 0, false},
		{"a reset further off than the window is long", provider.Window{Span: 5 * hour, Resets: in(6 * hour)}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			share, ok := provider.EvenPace(tt.w, now)
			if ok != tt.ok || ok && !near(share, tt.share) {
				t.Errorf("%v %v, want %v %v", share, ok, tt.share, tt.ok)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	whole := []provider.Window{{Name: "5 hours", Used: 10, Read: now}, {Name: "7 days", Used: 20, Read: now}}
	tests := []struct {
		name string
		old  []provider.Window
		news []provider.Window
		want []provider.Window
	}{
		{"a whole reading replaces", whole, []provider.Window{{Name: "7 days", Used: 5, Read: in(hour)}}, []provider.Window{{Name: "7 days", Used: 5, Read: in(hour)}}},
		{
			"a partial one changes what it names, and the set stays whole", whole,
			[]provider.Window{{Name: "7 days", Used: 25, Partial: true, Read: in(hour)}},
			[]provider.Window{{Name: "5 hours", Used: 10, Read: now}, {Name: "7 days", Used: 25, Read: in(hour)}},
		},
		{
			"and adds what was not known", whole[:1],
			[]provider.Window{{Name: "7 days", Used: 25, Partial: true, Read: in(hour)}},
			[]provider.Window{{Name: "5 hours", Used: 10, Read: now}, {Name: "7 days", Used: 25, Partial: true, Read: in(hour)}},
		},
		{
			"a partial one that tells no renewal leaves the one that is to come",
			[]provider.Window{{Name: "7 days", Used: 20, Resets: in(day), Read: now}},
			[]provider.Window{{Name: "7 days", Used: 98, Partial: true, Read: in(hour)}},
			[]provider.Window{{Name: "7 days", Used: 98, Resets: in(day), Read: in(hour)}},
		},
		{
			"and not one that has passed",
			[]provider.Window{{Name: "7 days", Used: 20, Resets: in(hour), Read: now}},
			[]provider.Window{{Name: "7 days", Used: 1, Partial: true, Read: in(2 * hour)}},
			[]provider.Window{{Name: "7 days", Used: 1, Read: in(2 * hour)}},
		},
		{"an older partial reading changes nothing", whole, []provider.Window{{Name: "7 days", Used: 1, Partial: true, Read: in(-hour)}}, whole},
		{"a reading of nothing changes nothing", whole, nil, whole},
		{"the first reading stands", nil, []provider.Window{{Name: "x", Partial: true}}, []provider.Window{{Name: "x", Partial: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.old)
			if d := cmp.Diff(tt.want, provider.Merge(tt.old, tt.news)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(before, tt.old); d != "" {
				t.Errorf("the old reading was written: %s", d)
			}
		})
	}
}

func TestPace(t *testing.T) {
	notStarted := []provider.Window{{Name: "5 hours", Span: 5 * hour, Used: 30}}
	partial := []provider.Window{{Name: "5 hours", Span: 5 * hour, Used: 30, Partial: true}}
	tests := []struct {
		name  string
		ws    []provider.Window
		model string
		pace  float64
		due   time.Time
	}{
		{"the week is the budget, not the five hours", three(), "sonnet-x", 60.0 / 72, in(3 * day)},
		{"the tightest week", three(), "opus-x", 0, in(2 * day)},
		{"five hours alone, not started", notStarted, "m", 14, in(5 * hour)},
		{"five hours alone of a partial reading: a week may stand behind it", partial, "m", 70.0 / 168, time.Time{}},
		{"nothing known", nil, "m", 100.0 / 168, time.Time{}},
		{"90 % left for 20 hours", []provider.Window{{Span: 7 * day, Used: 10, Resets: in(20 * hour)}}, "m", 4.5, in(20 * hour)},
		{"a whole week left", []provider.Window{{Span: 7 * day, Resets: in(7 * day)}}, "m", 100.0 / 168, in(7 * day)},
		{"60 % left for 20 hours", []provider.Window{{Span: 7 * day, Used: 40, Resets: in(20 * hour)}}, "m", 3, in(20 * hour)},
		{"the last hour counts as one", []provider.Window{{Span: 7 * day, Used: 40, Resets: in(time.Minute)}}, "m", 60, in(time.Minute)},
		{"length and reset unknown: a week", []provider.Window{{Used: 16}}, "m", 0.5, in(7 * day)},
		{"a passed reset has used nothing and has its span ahead", []provider.Window{{Span: 10 * day, Used: 90, Resets: in(-hour)}}, "m", 100.0 / 240, in(10 * day)},
		{"a day is a budget", []provider.Window{{Span: day, Used: 28, Resets: in(12 * hour)}, {Span: hour, Used: 99, Resets: in(hour)}}, "m", 6, in(12 * hour)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pace, due := provider.Pace(tt.ws, tt.model, now)
			if !near(pace, tt.pace) || !due.Equal(tt.due) {
				t.Errorf("%v due %v, want %v due %v", pace, due, tt.pace, tt.due)
			}
		})
	}
}

func TestSpanName(t *testing.T) {
	for span, want := range map[time.Duration]string{
		5 * hour: "5 hours", hour: "1 hour", day: "1 day", 7 * day: "7 days", 36 * hour: "36 hours", 30 * day: "30 days",
		0: "Allowance", -hour: "Allowance", 90 * time.Minute: "Allowance",
	} {
		if got := provider.SpanName(span); got != want {
			t.Errorf("%v: %q, want %q", span, got, want)
		}
	}
}

// The arithmetic holds for windows of every kind.
func TestAllowanceHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws := rapid.SliceOfN(rapid.Custom(anyWindow), 0, 6).Draw(t, "windows")
		model := rapid.SampledFrom([]string{"claude-opus-5", "claude-sonnet-5"}).Draw(t, "model")
		share := provider.Share(ws, model, now)
		if share < 0 || share > 100 {
			t.Fatalf("share %v", share)
		}
		if until := provider.FullUntil(ws, model, 98, now); !until.IsZero() && (!until.After(now) || provider.TierOf(share) != provider.Spent) {
			t.Fatalf("full until %v at %v %%", until, share)
		}
		pace, due := provider.Pace(ws, model, now)
		if pace < 0 || pace > 100 || !due.IsZero() && !due.After(now) {
			t.Fatalf("pace %v due %v", pace, due)
		}
		for _, r := range provider.Renewals(ws, model, now) {
			if !r.IsZero() && !r.After(now) {
				t.Fatalf("renews at %v", r)
			}
		}
		if later := provider.Share(ws, model, in(365*day)); later > share {
			t.Fatalf("used %v and later %v", share, later)
		}
	})
}

func anyWindow(t *rapid.T) provider.Window {
	w := provider.Window{
		Name:    rapid.SampledFrom([]string{"5 hours", "7 days", "x"}).Draw(t, "name"),
		Used:    rapid.Float64Range(0, 100).Draw(t, "used"),
		Span:    rapid.SampledFrom([]time.Duration{0, hour, 5 * hour, day, 7 * day}).Draw(t, "span"),
		Model:   rapid.SampledFrom([]string{"", "opus"}).Draw(t, "scope"),
		Aside:   rapid.Bool().Draw(t, "aside"),
		Partial: rapid.Bool().Draw(t, "partial"),
	}
	if rapid.Bool().Draw(t, "told") {
		w.Resets = in(time.Duration(rapid.Int64Range(int64(-8*day), int64(8*day)).Draw(t, "reset")))
	}
	return w
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
