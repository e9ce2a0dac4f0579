package state_test

import (
	"testing"
	"time"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestWhatAWrongClockWroteDoesNotOutliveIt(t *testing.T) {
	ahead := now.AddDate(1, 0, 0)
	o := folder(t.TempDir())
	s, err := state.Open(o, ahead)
	if err != nil {
		t.Fatal(err)
	}
	r := trace.Rest{Key: "codex/me", Why: trace.Quota, By: trace.ByQuota, Since: ahead, Until: ahead.Add(15 * time.Minute), Failures: 1}
	put(t, s, r)
	s.Read("codex/me", []provider.Window{{Name: "7 days", Used: 100, Resets: ahead.AddDate(0, 0, 7), Span: 7 * 24 * time.Hour, Read: ahead}}, ahead)
	shut(t, s)

	again := open(t, o)
	got := again.Snapshot(nil, now).Rests["codex/me"]
	if !got.Since.Equal(now) || !got.Until.Equal(now.Add(15*time.Minute)) {
		t.Errorf("the rest is from %s till %s, want as long as it was, from now", got.Since, got.Until)
	}
	again.Answered("codex/me", "codex/me/m", now.Add(time.Second))
	if _, stands := again.Snapshot(nil, now).Rests["codex/me"]; stands {
		t.Error("an answer does not end the rest")
	}
	if w := again.Windows("codex/me"); len(w) != 0 {
		t.Errorf("a reading of next year stands: %+v", w)
	}
	fresh := []provider.Window{{Name: "7 days", Used: 20, Partial: true, Read: now.Add(time.Second)}}
	again.Read("codex/me", fresh, now.Add(time.Second))
	if w := again.Windows("codex/me"); len(w) != 1 || w[0].Used != 20 {
		t.Errorf("a reading of now changes nothing: %+v", w)
	}
}

func TestAPauseMadeByAClockThatWasAheadLastsNoLonger(t *testing.T) {
	o := folder(t.TempDir())
	first := open(t, o)
	ahead := now.Add(24 * time.Hour)
	first.Pause([]provider.AccountID{"codex/me"}, ahead.Add(2*time.Hour), ahead)
	first.Pin("codex/team", trace.Pinned{Until: ahead.Add(time.Hour)}, ahead)
	first.Pause([]provider.AccountID{"codex/third"}, time.Time{}, ahead)
	shut(t, first)
	s := open(t, o)
	standing := s.Snapshot(nil, now).Standing
	if p := standing["codex/me"].Paused; p == nil || !p.Until.Equal(now.Add(2*time.Hour)) {
		t.Errorf("paused %+v", p)
	}
	if p := standing["codex/team"].Pinned; p == nil || !p.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("pinned %+v", p)
	}
	if p := standing["codex/third"].Paused; p == nil || !p.Until.IsZero() {
		t.Errorf("paused until it is resumed: %+v", p)
	}
}
