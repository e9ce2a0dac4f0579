package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/standin"
)

// TestAccountsConcurrentSafe asks, reads, renews tokens, spends resets and looks all at once.
func TestAccountsConcurrentSafe(t *testing.T) {
	a := standin.ChatAccount{Windows: []standin.Window{{Name: "5h", Used: 50, Resets: time.Hour, Grow: 2}, {Name: "7d", Used: 60, Resets: 70 * time.Hour, Grow: 3}}}
	for range 20 {
		a.Resets = append(a.Resets, standin.ChatReset{ID: "c" + strings.Repeat("x", len(a.Resets)+1)})
	}
	h := newHouse(t, "").account("me", ", auto_reset = true", a).account("team", ", credits = false, auto_reset = true", a).account("spare", "", standin.ChatAccount{})
	r := h.rig(t)
	end := time.Now().Add(2 * time.Second)
	var wg sync.WaitGroup
	busy := func(do func()) {
		wg.Go(func() {
			for time.Now().Before(end) {
				do()
			}
		})
	}
	for range 4 {
		busy(func() {
			resp, err := r.send(context.Background(), http.MethodPost, "/v1/chat/completions", chatStream("codex/gpt-5.4"))
			if err != nil {
				t.Error(err)
				return
			}
			if resp.StatusCode != http.StatusOK {
				t.Errorf("status %d", resp.StatusCode)
			}
			_ = resp.Body.Close()
		})
	}
	busy(func() { r.g.Status() })
	busy(func() { _, _ = r.g.Do(context.Background(), ctl.Command{Verb: ctl.Refresh}, "") }) // each reading is told by itself
	busy(func() {
		h.SignOut("acct-me")
		<-time.After(5 * time.Millisecond)
	})
	busy(func() {
		c := ctl.Command{Verb: ctl.Reset, Who: "codex/team"}
		if e, err := r.g.Preview(context.Background(), c); err == nil {
			_, _ = r.g.Do(context.Background(), c, e.Token) // another may be quicker
		}
		<-time.After(20 * time.Millisecond)
	})
	wg.Wait()
	for _, spent := range h.Redeemed() {
		if spent.Code == "already_redeemed" {
			t.Errorf("asked for twice: %+v", spent)
		}
	}
	if text := r.logs.text(); strings.Contains(text, "rt-standin") || strings.Contains(text, "eyJ") {
		t.Error("a token is in the log")
	}
}
