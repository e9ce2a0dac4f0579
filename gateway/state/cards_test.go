package state_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

const key provider.AccountID = "relay/main"

// weekly is a reading of a week.
func weekly(used float64, resets time.Duration) provider.Reading {
	return provider.Reading{Windows: []provider.Window{window("7 days", used, resets)}}
}

// A key whose owner took its limits away has no windows; what its replies told is another matter.
func TestAReadingWithoutWindowsEndsThoseThatWereRead(t *testing.T) {
	s := open(t, state.Options{})
	s.Take(key, weekly(100, 72*time.Hour), 98, now)
	put(t, s, rest(string(key), trace.Quota, trace.ByWindow, 72*time.Hour))
	told := window("5 hours", 30, time.Hour)
	told.Partial = true
	s.Read(key, []provider.Window{told}, now.Add(time.Second))
	if took := s.Take(key, provider.Reading{Balance: "$3.00"}, 98, now.Add(time.Minute)); len(took.Lifted) != 0 {
		t.Errorf("lifted %+v: that it is back was not told", took.Lifted)
	}
	if ws := s.Windows(key); len(ws) != 1 || ws[0].Name != "5 hours" {
		t.Errorf("%+v", ws)
	}
}

// A key's rest for want of quota ends with a reading that finds its window renewed, and with
// no other; other rests do not end so.
func TestKeyAllowanceRenewed(t *testing.T) {
	const h = time.Hour
	full := weekly(100, 72*h)
	quota := rest(string(key), trace.Quota, trace.ByWindow, 72*h)
	for _, tt := range []struct {
		name   string
		before provider.Reading
		after  provider.Reading
		failed bool
		share  float64
		rest   trace.Rest
		lifted bool
	}{
		{"its limit is raised", full, weekly(60, 72*h), false, 98, quota, true},
		{"its usage is reset", full, weekly(0, 0), false, 98, quota, true},
		{"next to full, where 98 is full", full, weekly(99, 72*h), false, 98, quota, false},
		{"next to full, where 100 is", full, weekly(99, 72*h), false, 100, quota, true},
		{"it was next to full, where 100 is full", weekly(99, 72*h), weekly(50, 72*h), false, 100, quota, false},
		{"full till sooner", full, weekly(100, 24*h), false, 98, quota, true},
		{"as full", full, weekly(100, 72*h), false, 98, quota, false},
		{"full till later", full, weekly(100, 96*h), false, 98, quota, false},
		{"fuller", weekly(60, 72*h), weekly(100, 72*h), false, 98, quota, false},
		{"its window is not told", full, provider.Reading{Windows: []provider.Window{window("1 day", 0, 3*h)}}, false, 98, quota, false},
		{"no window is told", full, provider.Reading{Balance: "$3.00"}, false, 98, quota, false},
		{"its first reading", provider.Reading{}, weekly(10, 72*h), false, 98, quota, false},
		{"a reading that failed", full, weekly(0, 0), true, 98, quota, false},
		{"a rest for the relay's empty pool", full, weekly(0, 0), false, 98, rest(string(key), trace.Other, trace.ByBackoff, h), false},
		{"a rest for too many requests", full, weekly(0, 0), false, 98, rest(string(key), trace.Rate, trace.ByCooldown, h), false},
		{"another key's", full, weekly(0, 0), false, 98, rest("relay/other", trace.Quota, trace.ByWindow, 72*h), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, state.Options{})
			s.Take(key, tt.before, tt.share, now)
			put(t, s, tt.rest)
			var took state.Took
			if tt.failed {
				s.Missed(key, "502")
			} else {
				took = s.Take(key, tt.after, tt.share, now.Add(time.Minute))
			}
			_, stands := s.Snapshot(nil, now.Add(time.Minute)).Rests[tt.rest.Key]
			if stands == tt.lifted || (len(took.Lifted) > 0) != tt.lifted {
				t.Errorf("lifted is %v, want %v; told %v", !stands, tt.lifted, took.Lifted)
			}
		})
	}
}

func TestACardKeepsWhatWasToldLast(t *testing.T) {
	dir := t.TempDir()
	s, err := state.Open(folder(dir), now)
	if err != nil {
		t.Fatal(err)
	}
	s.Take(key, provider.Reading{Plan: "max", Balance: "$20.00", Windows: weekly(40, time.Hour).Windows}, 98, now)
	s.Take("deep/seek", provider.Reading{Balance: "¥3.00"}, 98, now)
	if !s.Missed(key, "its vendor answers 502") || s.Missed(key, "its vendor answers 502") {
		t.Error("the first failure is news, the same again is none")
	}
	cfg, err := config.Parse("config.toml", []byte("[providers.relay]\nchat = \"http://127.0.0.1:9/v1\"\nkeys = [{ name = \"main\", value = \"k\" }]\n[providers.deep]\nchat = \"http://127.0.0.1:9/v1\"\nkeys = [{ name = \"seek\", value = \"k\" }]\n"))
	if err != nil {
		t.Fatal(err)
	}
	cat, _ := provider.Build(cfg)
	a, _ := s.Account(cat, key, now)
	if a.Plan != "max" || a.Balance != "$20.00" || a.ReadError != "its vendor answers 502" || a.Read == nil || !a.Read.Equal(now) || a.State != trace.Fine || a.Error != "" {
		t.Errorf("%+v", a)
	}
	if took := s.Take(key, provider.Reading{Balance: "$19.00", Windows: weekly(40, time.Hour).Windows}, 98, now.Add(time.Minute)); !took.After {
		t.Error("it is read again, and that is no news")
	}
	s.Take(key, provider.Reading{Balance: "$99.00"}, 98, now) // older
	a, _ = s.Account(cat, key, now)
	if a.Plan != "max" || a.Balance != "$19.00" || a.ReadError != "" || len(a.Windows) != 1 {
		t.Errorf("%+v", a)
	}
	shut(t, s)
	again, err := state.Open(folder(dir), now)
	if err != nil {
		t.Fatal(err)
	}
	a, _ = again.Account(cat, key, now)
	if a.Plan != "max" || a.Balance != "$19.00" || !a.Read.Equal(now.Add(time.Minute)) || len(a.Windows) != 1 || a.Windows[0].Used != 40 {
		t.Errorf("after a restart: %+v", a)
	}
	if b, _ := again.Account(cat, "deep/seek", now); b.Balance != "¥3.00" || b.Known || len(b.Windows) != 0 {
		t.Errorf("a balance alone: %+v", b)
	}
	if b, _ := again.Account(cat, "deep/seek", now); b.Read == nil {
		t.Error("when it was read is not told")
	}
	shut(t, again)
	late, err := state.Open(folder(dir), now.Add(40*24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, late)
	if b, _ := late.Account(cat, "deep/seek", now); b.Balance != "" {
		t.Errorf("a month old: %+v", b)
	}
}

// What a vendor tells may be anything: what is kept of it can be written, read and shown.
func TestAReadingOfAnythingIsKeptWithinBounds(t *testing.T) {
	dir := t.TempDir()
	s, err := state.Open(folder(dir), now)
	if err != nil {
		t.Fatal(err)
	}
	huge := strings.Repeat("\x1b[2J", 1<<20)
	r := provider.Reading{Plan: huge, Balance: huge}
	for i := range 5000 {
		r.Windows = append(r.Windows, provider.Window{Name: huge[:i%3000+1], Used: 1e308, Resets: now.AddDate(30000, 0, 0), Read: now})
	}
	s.Take(key, r, 98, now)
	for i := range 100 { // headers, each of windows of its own
		s.Read(key, []provider.Window{{Name: fmt.Sprint(i, " hours"), Used: 1, Partial: true, Read: now.Add(time.Minute)}}, now.Add(time.Minute))
	}
	shut(t, s)
	again, err := state.Open(folder(dir), now)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, again)
	cfg, err := config.Parse("config.toml", []byte("[providers.relay]\nchat = \"http://127.0.0.1:9/v1\"\nkeys = [{ name = \"main\", value = \"k\" }]\n"))
	if err != nil {
		t.Fatal(err)
	}
	cat, _ := provider.Build(cfg)
	a, _ := again.Account(cat, key, now)
	told, err := json.Marshal(a)
	if err != nil || len(told) > 32<<10 || len(a.Windows) == 0 || len(a.Windows) > 32 || strings.Contains(a.Plan, "\x1b") {
		t.Errorf("%v, %d bytes, %d windows", err, len(told), len(a.Windows))
	}
}

func TestAnAccountThatItsVendorHoldsIsFreeOnceItsWindowsRenew(t *testing.T) {
	cat := codexMe(t)
	for name, c := range map[string]struct {
		windows []provider.Window
		at      time.Duration
		want    trace.State
	}{
		"at once":                       {[]provider.Window{window("7 days", 60, time.Hour)}, 0, trace.Spent},
		"it renewed":                    {[]provider.Window{window("7 days", 60, time.Hour)}, 61 * time.Minute, trace.Fine},
		"the full one renewed":          {[]provider.Window{window("5 hours", 100, time.Hour), window("7 days", 60, 72*time.Hour)}, 61 * time.Minute, trace.Fine},
		"one that isn't full renewed":   {[]provider.Window{window("5 hours", 10, time.Hour), window("7 days", 60, 72*time.Hour)}, 61 * time.Minute, trace.Spent},
		"one that stops nothing did":    {[]provider.Window{{Name: "On-demand", Aside: true, Used: 100, Resets: now.Add(time.Hour)}}, 61 * time.Minute, trace.Spent},
		"one of some models did":        {[]provider.Window{{Name: "5 hours · x", Model: "x", Used: 100, Resets: now.Add(time.Hour)}, window("7 days", 60, 72*time.Hour)}, 61 * time.Minute, trace.Spent},
		"nothing is told of a window":   {nil, 61 * time.Minute, trace.Spent},
		"two are full, and one did":     {[]provider.Window{window("5 hours", 100, time.Hour), window("7 days", 99, 72*time.Hour)}, 61 * time.Minute, trace.Spent},
		"two are full, and both did":    {[]provider.Window{window("5 hours", 100, time.Hour), window("7 days", 99, 72*time.Hour)}, 73 * time.Hour, trace.Fine},
		"none is full, and all renewed": {[]provider.Window{window("5 hours", 10, time.Hour), window("7 days", 60, 72*time.Hour)}, 73 * time.Hour, trace.Fine},
	} {
		s := open(t, state.Options{})
		s.Take("codex/me", provider.Reading{Held: true, Windows: c.windows}, 98, now)
		if a, _ := s.Account(cat, "codex/me", now.Add(c.at)); a.State != c.want {
			t.Errorf("%s: %s", name, a.State)
		}
	}
}

func codexMe(t *testing.T) *provider.Catalog {
	t.Helper()
	cfg, err := config.Parse("config.toml", []byte("[providers.codex]\npreset = \"codex\"\naccounts = [{ name = \"me\", home = \"/nowhere\" }]\n"))
	if err != nil {
		t.Fatal(err)
	}
	cat, _ := provider.Build(cfg)
	return cat
}

// That a vendor answers nothing is known to the order of accounts and after a restart, until a
// reading, an answer that began later, or a spent reset says otherwise.
func TestWhatEndsThatAVendorAnswersNothing(t *testing.T) {
	cat := codexMe(t)
	held := provider.Reading{Held: true, Windows: []provider.Window{window("7 days", 60, 72*time.Hour)}}
	told := held
	told.Held = false
	for name, c := range map[string]struct {
		do   func(*state.Store)
		ends bool
	}{
		"nothing":              {func(*state.Store) {}, false},
		"a reading":            {func(s *state.Store) { s.Take("codex/me", told, 98, now.Add(time.Minute)) }, true},
		"an older reading":     {func(s *state.Store) { s.Take("codex/me", told, 98, now.Add(-time.Minute)) }, false},
		"a failed one":         {func(s *state.Store) { s.Missed("codex/me", "502") }, false},
		"windows of a reply":   {func(s *state.Store) { s.Read("codex/me", held.Windows, now.Add(time.Minute)) }, false},
		"an answer":            {func(s *state.Store) { s.Answered("codex/me", "codex/me", now.Add(time.Minute)) }, true},
		"one that began early": {func(s *state.Store) { s.Answered("codex/me", "codex/me", now.Add(-time.Second)) }, false},
		"another's":            {func(s *state.Store) { s.Answered("codex/you", "codex/you", now.Add(time.Minute)) }, false},
		"a reset":              {func(s *state.Store) { s.Renewed("codex/me", now.Add(time.Minute)) }, true},
	} {
		dir := t.TempDir()
		s, err := state.Open(folder(dir), now)
		if err != nil {
			t.Fatal(err)
		}
		s.Take("codex/me", held, 98, now)
		c.do(s)
		shut(t, s)
		again, err := state.Open(folder(dir), now)
		if err != nil {
			t.Fatal(err)
		}
		for when, s := range map[string]*state.Store{"": s, " after a restart": again} {
			if ended := !s.Snapshot(cat, now).Standing["codex/me"].Shut; ended != c.ends {
				t.Errorf("%s%s: it has ended: %v", name, when, ended)
			}
		}
		shut(t, again)
	}
}
