package state_test

import (
	"sync"
	"testing"
	"time"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestARestIsSetOnceOfWhatWasKnown(t *testing.T) {
	s := open(t, state.Options{})
	if got := s.Past("codex/me"); got != (state.Past{}) {
		t.Fatalf("nothing happened yet: %+v", got)
	}
	first := rest("codex/me", trace.Rate, trace.ByCooldown, time.Minute)
	if !s.PutRest(first, 0) {
		t.Fatal("the first was refused")
	}
	if s.PutRest(first, 0) {
		t.Error("a second one, worked out before the first was known, was taken")
	}
	past := s.Past("codex/me")
	if past.Kind != trace.Rate || past.Failures != 1 || !past.Until.Equal(first.Until) || past.Gen == 0 {
		t.Errorf("past %+v", past)
	}
	second := rest("codex/me", trace.Rate, trace.ByBackoff, 2*time.Minute)
	second.Failures = 2
	if !s.PutRest(second, past.Gen) {
		t.Error("one worked out from what is known was refused")
	}
	if got := s.Snapshot(nil, now).Rests["codex/me"]; got != second {
		t.Errorf("rest %+v", got)
	}
	if !s.PutRest(rest("codex/other", trace.Rate, trace.ByCooldown, time.Minute), 0) {
		t.Error("one key's rests are another's business")
	}
}

func TestRestsFromManyRequestsAtOnceAreCountedOnce(t *testing.T) {
	s := open(t, state.Options{})
	const workers, each = 8, 50
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				for {
					past := s.Past("codex/me")
					r := rest("codex/me", trace.Other, trace.ByBackoff, time.Minute)
					r.Failures = past.Failures + 1
					if s.PutRest(r, past.Gen) {
						break
					}
				}
				s.Snapshot(nil, now)
				s.Answered("codex/third", "codex/third/m", now)
			}
		})
	}
	wg.Wait()
	if got := s.Past("codex/me").Failures; got != workers*each {
		t.Errorf("%d failures counted, want %d", got, workers*each)
	}
}

func TestAnAnswerEndsRestsAndCounts(t *testing.T) {
	later := now.Add(10 * time.Second)
	for _, tt := range []struct {
		name  string
		rests []string
		began time.Time
		left  []string
	}{
		{"of the key and of the model, of nobody else", []string{"codex/me", "codex/me/m", "codex/me/n", "codex/third", "codex/third/m"}, later, []string{"codex/me/n", "codex/third", "codex/third/m"}},
		{"at the very moment at which it was set", []string{"codex/me"}, now, nil},
		{"not those set after the vendor began to answer", []string{"codex/me", "codex/me/m"}, now.Add(-time.Second), []string{"codex/me", "codex/me/m"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, state.Options{})
			for _, key := range tt.rests {
				put(t, s, rest(key, trace.Rate, trace.ByCooldown, time.Hour))
			}
			s.Answered("codex/me", "codex/me/m", tt.began)
			left := s.Snapshot(nil, now).Rests
			if len(left) != len(tt.left) {
				t.Errorf("left %v, want %v", left, tt.left)
			}
			for _, key := range tt.left {
				if _, ok := left[key]; !ok || s.Past(key).Failures != 1 {
					t.Errorf("%s is gone, or its count", key)
				}
			}
			if len(tt.left) == 0 && s.Past("codex/me") != (state.Past{}) {
				t.Errorf("the count stays: %+v", s.Past("codex/me"))
			}
		})
	}
}

func TestACountIsForgottenThoughItsRestIsOver(t *testing.T) {
	s := open(t, state.Options{})
	put(t, s, rest("codex/me", trace.Other, trace.ByBackoff, time.Minute))
	put(t, s, trace.Rest{Key: "codex/third", Since: now.Add(time.Hour), Until: now.Add(2 * time.Hour)}) // sweeps the ended one up
	if _, stands := s.Snapshot(nil, now).Rests["codex/me"]; stands {
		t.Error("an ended rest stands")
	}
	if s.Past("codex/me").Failures != 1 {
		t.Error("its count went with it")
	}
	s.Answered("codex/me", "codex/me/m", now.Add(time.Hour))
	if got := s.Past("codex/me"); got != (state.Past{}) {
		t.Errorf("an answer leaves %+v", got)
	}
}

func TestAShortRestDoesNotBringASpentOneBackEarly(t *testing.T) {
	quota := rest("codex/me", trace.Quota, trace.ByResets, 3*time.Hour)
	quota.Print = "one"
	for _, tt := range []struct {
		name string
		next trace.Rest
		want time.Duration
	}{
		{"a short one while it lasts", trace.Rest{Key: "codex/me", Why: trace.Rate, By: trace.ByCooldown, Since: now.Add(time.Minute), Until: now.Add(2 * time.Minute), Print: "one"}, 3 * time.Hour},
		{"a longer one", trace.Rest{Key: "codex/me", Why: trace.Quota, By: trace.ByWindow, Since: now.Add(time.Minute), Until: now.Add(5 * time.Hour), Print: "one"}, 5 * time.Hour},
		{"a short one of another secret", trace.Rest{Key: "codex/me", Why: trace.Rate, By: trace.ByCooldown, Since: now.Add(time.Minute), Until: now.Add(2 * time.Minute), Print: "two"}, 2 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, state.Options{})
			put(t, s, quota)
			put(t, s, tt.next)
			if got := s.Snapshot(nil, now).Rests["codex/me"].Until.Sub(now); got != tt.want {
				t.Errorf("it rests %v, want %v", got, tt.want)
			}
		})
	}
	s := open(t, state.Options{})
	put(t, s, rest("codex/me", trace.Other, trace.ByBackoff, 10*time.Minute))
	put(t, s, rest("codex/me", trace.Rate, trace.ByRetryAfter, time.Minute))
	if got := s.Snapshot(nil, now).Rests["codex/me"].Until.Sub(now); got != time.Minute {
		t.Errorf("a guess is replaced by what the vendor named: it rests %v", got)
	}
}

func TestMemoryOfFailuresIsBounded(t *testing.T) {
	s := open(t, state.Options{})
	model := func(i int) string { return "codex/me/" + time.Duration(i).String() }
	for i := range 3000 {
		r := rest(model(i), trace.Model, trace.ByModel, time.Hour)
		r.Since = now.Add(time.Duration(i) * time.Millisecond)
		r.Until = r.Since.Add(time.Hour)
		put(t, s, r)
	}
	if n := len(s.Snapshot(nil, now).Rests); n > 1024 || n < 512 {
		t.Errorf("%d rests are kept", n)
	}
	if s.Past(model(2999)).Failures != 1 || s.Past(model(0)).Failures != 0 {
		t.Error("the newest are kept, the oldest go")
	}
}

func TestWhomAChangeConcernsIsToldAfterIt(t *testing.T) {
	s := open(t, state.Options{})
	cat := catalog(t)
	var told []provider.AccountID
	s.OnChange(func(ids []provider.AccountID) {
		told = append(told, ids...)
		s.Accounts(cat, now) // would hang if the store were still locked
		s.SetUnready("codex/third", "")
	})
	expect := func(what string, want ...provider.AccountID) {
		t.Helper()
		if len(told) != len(want) {
			t.Fatalf("%s tells %v, want %v", what, told, want)
		}
		for i := range want {
			if told[i] != want[i] {
				t.Errorf("%s tells %v, want %v", what, told, want)
			}
		}
		told = nil
	}
	s.SetPrint("codex/me", "one")
	expect("a fingerprint", "codex/me")
	s.SetPrint("codex/me", "one")
	expect("the same fingerprint")
	put(t, s, rest("codex/me/gpt-5", trace.Quota, trace.ByQuota, time.Minute))
	expect("a rest with one model", "codex/me")
	s.PutRest(rest("codex/me/gpt-5", trace.Quota, trace.ByQuota, time.Minute), 0)
	expect("a rest that was not set")
	s.Answered("codex/me", "codex/me/other", now)
	expect("an answer that ends nothing")
	s.Answered("codex/me", "codex/me/gpt-5", now)
	expect("an answer that ends it", "codex/me")
	put(t, s, rest("ollama", trace.Other, trace.ByBackoff, time.Minute))
	expect("a rest of a provider without keys", "ollama")
	put(t, s, rest("ollama/qwen3", trace.Other, trace.ByBackoff, time.Minute))
	expect("a rest of one that may be either", "ollama", "ollama/qwen3")
	s.Read("codex/me", []provider.Window{{Name: "7 days"}}, now)
	expect("a reading", "codex/me")
	s.Pause([]provider.AccountID{"codex/me", "ollama"}, time.Time{}, now)
	expect("a pause", "codex/me", "ollama")
	s.Undo(now)
	expect("taking it back", "codex/me", "ollama")
	s.Resume([]provider.AccountID{"codex/me"}, now)
	expect("resuming what is not paused")
}
