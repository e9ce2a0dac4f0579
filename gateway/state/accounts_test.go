package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestHowAnAccountStandsAsOneWord(t *testing.T) {
	const me = provider.AccountID("codex/me")
	pause := func(s *state.Store) { s.Pause(ids{me}, time.Time{}, now) }
	rests := func(why trace.Kind) func(*state.Store) {
		return func(s *state.Store) { s.PutRest(rest(string(me), why, trace.ByQuota, time.Hour), 0) }
	}
	used := func(w ...provider.Window) func(*state.Store) {
		return func(s *state.Store) { s.Read(me, w, now) }
	}
	for _, tt := range []struct {
		name string
		do   []func(*state.Store)
		want trace.State
	}{
		{"nothing is known", nil, trace.Fine},
		{"under 90 %", []func(*state.Store){used(window("7 days", 89, time.Hour))}, trace.Fine},
		{"from 90 %", []func(*state.Store){used(window("5 hours", 1, time.Hour), window("7 days", 90, time.Hour))}, trace.Low},
		{"from 98 %", []func(*state.Store){used(window("7 days", 98, time.Hour))}, trace.Spent},
		{"a full window of some models", []func(*state.Store){used(window("7 days", 1, time.Hour), of("opus", window("opus", 100, time.Hour)))}, trace.Spent},
		{"a full window that has renewed", []func(*state.Store){used(window("7 days", 100, -time.Second))}, trace.Fine},
		{"spending that stops nothing", []func(*state.Store){used(provider.Window{Name: "extra", Used: 100, Aside: true})}, trace.Fine},
		{"a failure rests it", []func(*state.Store){rests(trace.Rate), used(window("7 days", 95, time.Hour))}, trace.Resting},
		{"out of quota", []func(*state.Store){rests(trace.Quota)}, trace.Spent},
		{"out of money", []func(*state.Store){rests(trace.Credit)}, trace.Spent},
		{"paused", []func(*state.Store){rests(trace.Quota), pause}, trace.Paused_},
		{"without its secret", []func(*state.Store){pause, func(s *state.Store) { s.SetUnready(me, "CODEX_KEY is not set") }}, trace.Unready},
		{"with it again", []func(*state.Store){func(s *state.Store) { s.SetUnready(me, "x"); s.SetUnready(me, "") }}, trace.Fine},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, state.Options{})
			for _, do := range tt.do {
				do(s)
			}
			a, ok := s.Account(catalog(t), me, now)
			if !ok || a.State != tt.want {
				t.Errorf("got %q, want %q", a.State, tt.want)
			}
		})
	}
}

func TestAnAccountAtItsCapIsHeld(t *testing.T) {
	cat := catalog(t)
	a := cat.Account("codex/me")
	a.Kind, a.Cap, a.Credits = provider.KindAccount, 70, true
	s := open(t, state.Options{})
	s.Read(a.ID, []provider.Window{window("7 days", 69, time.Hour), of("opus", window("opus", 100, time.Hour))}, now)
	if got, _ := s.Account(cat, a.ID, now); got.State == trace.Held {
		t.Error("held under its cap")
	}
	s.Read(a.ID, []provider.Window{window("7 days", 70, time.Hour)}, now)
	if got, _ := s.Account(cat, a.ID, now); got.State != trace.Held || got.Cap != 70 {
		t.Errorf("%s, cap %d", got.State, got.Cap)
	}
	if got, _ := s.Account(cat, a.ID, now.Add(time.Hour)); got.State != trace.Fine {
		t.Errorf("once it renewed: %s", got.State)
	}
}

func TestAccountsAreToldInTheConfigsOrder(t *testing.T) {
	s, cat := open(t, state.Options{}), catalog(t)
	whole := rest("codex/me", trace.Rate, trace.ByCooldown, time.Minute)
	put(t, s, whole)
	one := rest("codex/me/m", trace.Model, trace.ByModel, time.Minute)
	put(t, s, one)
	over := rest("codex/me/n", trace.Model, trace.ByModel, time.Minute)
	over.Until = now
	put(t, s, over)
	s.Read("codex/me", []provider.Window{window("7 days", 42, time.Hour)}, now)
	s.Pin("codex/me", trace.Pinned{Agent: "claude"}, now)
	s.Pause(ids{"codex/third"}, now.Add(time.Hour), now)
	s.Answered("ollama", "ollama/qwen3", now)
	s.Answered("ollama", "ollama/qwen3", now.Add(-time.Minute))

	all := s.Accounts(cat, now)
	var order []string
	for i, a := range all {
		order = append(order, a.ID+" "+string(a.State))
		if a.Place != i {
			t.Errorf("%s has place %d", a.ID, a.Place)
		}
	}
	if diff := cmp.Diff([]string{"codex/me resting", "codex/team off", "codex/third paused", "ollama fine", "gone/k off"}, order); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	resets := now.Add(time.Hour)
	want := trace.Account{
		ID: "codex/me", Provider: "codex", Name: "me", Kind: "key", State: trace.Resting, Used: 42, Known: true,
		Windows: []trace.Window{{Name: "7 days", Used: 42, Resets: &resets, Read: now}},
		Rest:    &whole, Rests: []trace.Rest{one}, Pinned: &trace.Pinned{Since: now, Agent: "claude"},
	}
	if diff := cmp.Diff(want, all[0]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if o := all[3]; o.Kind != "provider" || o.Name != "ollama" || o.Served == nil || !o.Served.Equal(now) || o.Windows == nil {
		t.Errorf("ollama %+v", o)
	}
	if p := all[2].Paused; p == nil || !p.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("pause %+v", p)
	}
	if got := s.Accounts(cat, now.Add(2*time.Hour)); got[2].State != trace.Fine || got[2].Paused != nil || got[0].Rest != nil || got[0].Rests != nil {
		t.Errorf("two hours later: %+v", got)
	}
	if _, ok := s.Account(cat, "codex/nobody", now); ok {
		t.Error("one that the catalogue has not is told")
	}
}

func TestARestOfAnotherSecretIsNotTold(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	r := rest("codex/me", trace.Quota, trace.ByQuota, time.Hour)
	r.Print = "one"
	put(t, s, r)
	shut(t, s)
	again := open(t, o)
	if a, _ := again.Account(catalog(t), "codex/me", now); a.State != trace.Spent {
		t.Errorf("before its secret is known it is taken for the same: %q", a.State)
	}
	again.SetPrint("codex/me", "two")
	if a, _ := again.Account(catalog(t), "codex/me", now); a.State != trace.Fine || a.Rest != nil {
		t.Errorf("with another secret: %q, %+v", a.State, a.Rest)
	}
}
