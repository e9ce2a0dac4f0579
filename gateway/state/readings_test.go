package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func window(name string, used float64, resets time.Duration) provider.Window {
	w := provider.Window{Name: name, Used: used, Read: now}
	if resets != 0 {
		w.Resets = now.Add(resets)
	}
	return w
}

func of(model string, w provider.Window) provider.Window {
	w.Model = model
	return w
}

func TestAReadingThatFindsAFullWindowRenewedEndsItsRest(t *testing.T) {
	const h = time.Hour
	quota := rest("codex/me", trace.Quota, trace.ByQuota, 90*h)
	for _, tt := range []struct {
		name          string
		before, after []provider.Window
		rest          trace.Rest
		lifted        bool
	}{
		{"full no more", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 80, 72*h)}, quota, true},
		{"full till sooner", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 100, 20*h)}, quota, true},
		{"as full as before", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 100, 72*h)}, quota, false},
		{"the same renewal, rounded another way", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 100, 72*h-30*time.Second)}, quota, false},
		{"full till later", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 100, 80*h)}, quota, false},
		{"it was not full", []provider.Window{window("7 days", 60, 72*h)}, []provider.Window{window("7 days", 50, 72*h)}, quota, false},
		{"98 is full", []provider.Window{window("7 days", 98, 72*h)}, []provider.Window{window("7 days", 97, 72*h)}, quota, true},
		{"the first reading tells nothing", nil, []provider.Window{window("7 days", 0, 72*h)}, quota, false},
		{"the 5 hours start again while the week is full", []provider.Window{window("5 hours", 100, 3*h), window("7 days", 100, 72*h)}, []provider.Window{window("5 hours", 1, 5*h), window("7 days", 100, 72*h)}, quota, false},
		{"the week starts again while the 5 hours are full", []provider.Window{window("5 hours", 100, 3*h), window("7 days", 100, 72*h)}, []provider.Window{window("5 hours", 100, 3*h), window("7 days", 1, 168*h)}, quota, true},
		{"full until nobody knows when, now known", []provider.Window{window("7 days", 100, 0)}, []provider.Window{window("7 days", 100, 72*h)}, quota, true},
		{"full until nobody knows when, still", []provider.Window{window("7 days", 100, 0)}, []provider.Window{window("7 days", 100, 0)}, quota, false},
		{"its reset has passed", []provider.Window{window("5 hours", 100, -time.Second)}, []provider.Window{window("5 hours", 100, -time.Second)}, quota, true},
		{"a window that is in one reading only", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("5 hours", 1, h)}, quota, false},
		{"spending that stops nothing", []provider.Window{{Name: "extra", Used: 100, Aside: true}}, []provider.Window{{Name: "extra", Used: 1, Aside: true}}, quota, false},

		{"a rest that goes by the window", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 0, 72*h)}, rest("codex/me", trace.Other, trace.ByWindow, 72*h), true},
		{"a rest for pace", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 0, 72*h)}, rest("codex/me", trace.Rate, trace.ByRetryAfter, 72*h), false},
		{"a rest for money", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 0, 72*h)}, rest("codex/me", trace.Credit, trace.ByCredit, 72*h), false},
		{"a rest for verification", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 0, 72*h)}, rest("codex/me", trace.Verify, trace.ByVerify, 72*h), false},
		{"another account's rest", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 0, 72*h)}, rest("codex/third", trace.Quota, trace.ByQuota, 72*h), false},
		{"an account's whose name begins alike", []provider.Window{window("7 days", 100, 72*h)}, []provider.Window{window("7 days", 0, 72*h)}, rest("codex/me2", trace.Quota, trace.ByQuota, 72*h), false},

		{
			"one model's, by the window that counts it",
			[]provider.Window{window("7 days", 20, 72*h), of("opus", window("7 days opus", 100, 72*h))},
			[]provider.Window{window("7 days", 20, 72*h), of("opus", window("7 days opus", 3, 72*h))},
			rest("codex/me/Claude-Opus-5", trace.Quota, trace.ByWindow, 72*h), true,
		},
		{
			"one model's, by a window of another",
			[]provider.Window{of("opus", window("opus", 100, 72*h)), of("sonnet", window("sonnet", 100, 72*h))},
			[]provider.Window{of("opus", window("opus", 100, 72*h)), of("sonnet", window("sonnet", 3, 72*h))},
			rest("codex/me/claude-opus-5", trace.Quota, trace.ByWindow, 72*h), false,
		},
		{
			"one model's, while the whole account is full for longer",
			[]provider.Window{window("7 days", 100, 72*h), of("opus", window("opus", 100, 24*h))},
			[]provider.Window{window("7 days", 100, 72*h), of("opus", window("opus", 3, 24*h))},
			rest("codex/me/claude-opus-5", trace.Quota, trace.ByWindow, 72*h), false,
		},
		{
			"the whole account's, by the only window, which counts some models",
			[]provider.Window{of("opus", window("opus", 100, 72*h))},
			[]provider.Window{of("opus", window("opus", 3, 72*h))},
			quota, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, state.Options{})
			s.Read("codex/me", tt.before, now)
			put(t, s, tt.rest)
			s.Read("codex/me", tt.after, now)
			_, stands := s.Snapshot(nil, now).Rests[tt.rest.Key]
			if stands == tt.lifted {
				t.Errorf("lifted is %v, want %v", !stands, tt.lifted)
			}
		})
	}
}

func TestReadingsMeet(t *testing.T) {
	s := open(t, state.Options{})
	partial := func(name string, used float64, at time.Time) provider.Window {
		return provider.Window{Name: name, Used: used, Partial: true, Read: at}
	}
	s.Read("codex/me", []provider.Window{window("5 hours", 10, time.Hour), window("7 days", 20, time.Hour)}, now)
	s.Read("codex/me", []provider.Window{partial("5 hours", 11, now.Add(time.Second))}, now.Add(time.Second))
	s.Read("codex/me", nil, now.Add(2*time.Second))
	s.Read("codex/me", []provider.Window{partial("7 days", 99, now.Add(-time.Second))}, now.Add(-time.Second))
	w := s.Windows("codex/me")
	if len(w) != 2 || w[0].Used != 11 || w[1].Used != 20 {
		t.Errorf("a partial reading changes what it names, an older one nothing: %+v", w)
	}
	st := s.Snapshot(nil, now).Standing["codex/me"]
	if !st.Read.Equal(now.Add(time.Second)) || len(st.Told) != 2 || st.Told[0].Used != 11 {
		t.Errorf("standing %+v", st)
	}
	s.Read("codex/me", []provider.Window{window("7 days", 30, time.Hour)}, now.Add(time.Minute))
	if w := s.Windows("codex/me"); len(w) != 1 || w[0].Used != 30 {
		t.Errorf("a whole reading replaces all: %+v", w)
	}
	if s.Windows("codex/third") != nil {
		t.Error("nothing was read of another")
	}
}

func TestAReadingThatComesLate(t *testing.T) {
	at := func(w provider.Window, d time.Duration, partial bool) provider.Window {
		w.Read, w.Partial = now.Add(d), partial
		return w
	}
	five, week, opus := window("5 hours", 42, time.Hour), window("7 days", 20, time.Hour), window("7 days Opus", 7, time.Hour)
	for _, tt := range []struct {
		name  string
		known []provider.Window
		late  []provider.Window // asked one second after now
		want  map[string]float64
	}{
		{
			"what a reply told since stands, the rest is taken",
			[]provider.Window{at(five, 2*time.Second, true)},
			[]provider.Window{at(window("5 hours", 13, time.Hour), time.Second, false), at(week, time.Second, false)},
			map[string]float64{"5 hours": 42, "7 days": 20},
		},
		{
			"also a window that is new",
			[]provider.Window{at(five, 2*time.Second, false), at(week, 0, false)},
			[]provider.Window{at(window("5 hours", 13, time.Hour), time.Second, false), at(window("7 days", 21, time.Hour), time.Second, false), at(opus, time.Second, false)},
			map[string]float64{"5 hours": 42, "7 days": 21, "7 days Opus": 7},
		},
		{
			"after a newer whole one it tells nothing",
			[]provider.Window{at(five, 2*time.Second, false), at(week, 2*time.Second, false)},
			[]provider.Window{at(window("5 hours", 13, time.Hour), time.Second, false), at(opus, time.Second, false)},
			map[string]float64{"5 hours": 42, "7 days": 20},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, state.Options{})
			s.Read("claude/me", tt.known, now.Add(2*time.Second))
			s.Read("claude/me", tt.late, now.Add(time.Second))
			got := map[string]float64{}
			for _, w := range s.Windows("claude/me") {
				got[w.Name] = w.Used
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if st := s.Snapshot(nil, now).Standing["claude/me"]; !st.Read.Equal(now.Add(2 * time.Second)) {
				t.Errorf("read %v", st.Read)
			}
		})
	}
}
