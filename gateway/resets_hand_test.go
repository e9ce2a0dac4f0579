package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// Whatever the vendor says came of it, it is told, and what it says is what holds.
func TestWhatCameOfAResetByHand(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(h *house)
		status  int
		says    string
		lifted  bool
	}{
		"it was reset":     {nil, 200, "spent a reset of codex/me: 2 windows began anew", true},
		"it was already":   {func(h *house) { h.Answer("already_redeemed") }, 200, "that reset of codex/me was spent already", true},
		"nothing to reset": {func(h *house) { h.Answer("nothing_to_reset") }, 200, "nothing to reset", false},
		"none in hand":     {func(h *house) { h.Answer("no_credit") }, 409, "codex/me has no reset in hand", false},
		"no known word":    {func(h *house) { h.Answer("later") }, 502, "whether it was spent is not known", false},
		"no answer":        {func(h *house) { h.Fail("consume", 500) }, 502, "whether it was spent is not known", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "routing = \"order\"").account("me", "", usedUp("c1")).account("spare", "", standin.ChatAccount{})
				r := h.rig(t).ready()
				r.askCodex()
				if c.prepare != nil {
					c.prepare(h)
				}
				h.Fail("usage", 500, 500, 500)
				cmd := ctl.Command{Verb: ctl.Reset, Who: "codex/me"}
				e, err := r.g.Preview(t.Context(), cmd)
				if err != nil {
					t.Fatal(err)
				}
				d, err := r.g.Do(t.Context(), cmd, e.Token)
				status, words := 200, d.Words
				var refused *ctl.Error
				if errors.As(err, &refused) {
					status, words = refused.Status, refused.Message
				}
				if status != c.status || !strings.Contains(words, c.says) {
					t.Errorf("%d %s", status, words)
				}
				synctest.Wait()
				if _, rests := r.rests()["codex/me"]; rests == c.lifted {
					t.Errorf("it rests: %v", rests)
				}
			})
		})
	}
}

func TestWhereNoResetIsInHandNoneIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "")
		a := usedUp("used")
		a.Resets[0].Spent = true
		r := h.account("me", "", a).rig(t).ready()
		_, err := r.g.Preview(t.Context(), ctl.Command{Verb: ctl.Reset, Who: "codex/me"})
		var refused *ctl.Error
		if !errors.As(err, &refused) || refused.Code != "no_reset" || h.Asked("consume") != 0 {
			t.Errorf("%v, asked %d times", err, h.Asked("consume"))
		}
	})
}

func TestAPreviewOfAResetHoldsForWhatItShowedAndAMinute(t *testing.T) {
	cmd := ctl.Command{Verb: ctl.Reset, Who: "codex/me"}
	for name, c := range map[string]struct {
		meanwhile func(h *house)
		another   string
	}{
		"a minute passes":      {func(*house) { pass(61 * time.Second) }, ""},
		"another one is first": {func(h *house) { h.Give("acct-me", standin.ChatReset{ID: "sooner", Expires: time.Now().Add(time.Hour)}) }, ""},
		"one is gone":          {func(h *house) { h.Take("acct-me", "c2") }, ""},
		"another account":      {func(*house) {}, "codex/spare"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", "", usedUp("c1", "c2")).account("spare", "", usedUp("c3"))
				r := h.rig(t).ready()
				e, err := r.g.Preview(t.Context(), cmd)
				if err != nil {
					t.Fatal(err)
				}
				c.meanwhile(h)
				late := cmd
				if c.another != "" {
					late.Who = c.another
				}
				_, err = r.g.Do(t.Context(), late, e.Token)
				var refused *ctl.Error
				if !errors.As(err, &refused) || refused.Code != "stale_token" || len(h.Redeemed()) != 0 {
					t.Errorf("%v, spent %+v", err, h.Redeemed())
				}
			})
		})
	}
}

func TestAResetByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "")
		a := usedUp("late")
		a.Resets = append(a.Resets, standin.ChatReset{ID: "never"}, standin.ChatReset{ID: "soon", Expires: time.Now().Add(2 * day)})
		h.account("me", "", a).account("spare", ", off = true", standin.ChatAccount{})
		r := h.rig(t).ready()
		if got := r.askCodex(); got.status != 429 {
			t.Fatalf("%d", got.status)
		}
		c := ctl.Command{Verb: ctl.Reset, Who: "codex/me"}
		if _, err := r.g.Do(t.Context(), c, ""); err == nil || len(h.Redeemed()) != 0 {
			t.Fatal("it was spent without a preview")
		}
		e, err := r.g.Preview(t.Context(), c)
		if err != nil || e.Class != ctl.Spends || e.Token == "" || !strings.Contains(e.Words, "3 in hand") || !strings.Contains(e.Words, "7 days 100% used") {
			t.Fatalf("%v %+v", err, e)
		}
		if len(h.Redeemed()) != 0 {
			t.Fatal("a preview spent it")
		}
		d, err := r.g.Do(t.Context(), c, e.Token)
		if err != nil || !strings.Contains(d.Words, "2 windows began anew") {
			t.Fatalf("%v %+v", err, d)
		}
		if spent := h.Redeemed(); len(spent) != 1 || spent[0].Reset != "soon" {
			t.Errorf("spent %+v", spent)
		}
		if _, err := r.g.Do(t.Context(), c, e.Token); err == nil {
			t.Error("one token spends two")
		}
		synctest.Wait()
		if a := r.account("codex/me"); a.State != trace.Fine || a.Used != 0 || a.Resets.Count != 2 {
			t.Errorf("%s %v %+v", a.State, a.Used, a.Resets)
		}
		if got := r.askCodex(); got.status != 200 {
			t.Errorf("%d", got.status)
		}
		e, err = r.g.Preview(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if d, err = r.g.Do(t.Context(), c, e.Token); err != nil || !strings.Contains(d.Words, "nothing to reset") {
			t.Errorf("%v %+v", err, d)
		}
		for _, who := range []string{"codex", "nobody"} {
			if _, err := r.g.Preview(t.Context(), ctl.Command{Verb: ctl.Reset, Who: who}); err == nil {
				t.Errorf("%s has a reset", who)
			}
		}
	})
}
