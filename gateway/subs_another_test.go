package gateway_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
)

// signsIn puts somebody else's sign-in in the place of an account's.
func (h *house) signsIn(name, id string, a standin.ChatAccount) {
	h.t.Helper()
	a.Email = id + "@x.example"
	h.write(name, string(h.Add(id, a)))
}

// slow is the house's vendor, whose replies are long under way.
func (h *house) slow() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !strings.HasSuffix(req.URL.Path, "/responses") {
			h.ServeHTTP(w, req)
			return
		}
		said := httptest.NewRecorder()
		h.ServeHTTP(said, req)
		<-time.After(40 * time.Second)
		maps.Copy(w.Header(), said.Header())
		w.WriteHeader(said.Code)
		_, _ = w.Write(said.Body.Bytes())
	})
}

// fresh is an account with room, and a reset in hand.
func fresh() standin.ChatAccount {
	return standin.ChatAccount{Windows: []standin.Window{win("7d", 30, 3*day)}, Resets: []standin.ChatReset{{ID: "theirs", Expires: time.Now().Add(9 * day)}}}
}

func TestWhoeverSignsInIsNotHeldForWhatAnotherUsed(t *testing.T) {
	for name, c := range map[string]struct {
		set    string
		resets []string
	}{
		"no credits":       {", credits = false", []string{"mine"}},
		"resets by itself": {", credits = false, auto_reset = true", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", c.set, usedUp(c.resets...))
				r := h.rig(t).ready()
				if got := r.askCodex(); got.status != 429 {
					t.Fatalf("used up: %d", got.status)
				}
				h.signsIn("me", "acct-other", fresh())
				if got := r.askCodex(); got.status != 200 {
					t.Errorf("%d %s", got.status, got.body)
				}
				if spent := h.Redeemed(); len(spent) != 0 {
					t.Errorf("spent %+v", spent)
				}
				synctest.Wait()
				if a := r.account("codex/me"); a.Used != 30 || a.Resets == nil || a.Resets.Count != 1 || time.Until(a.Resets.Until).Round(day) != 9*day {
					t.Errorf("%v used, %+v", a.Used, a.Resets)
				}
			})
		})
	}
}

func TestNoResetIsToldWhereSomebodyElseSignedInMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", ", auto_reset = true", standin.ChatAccount{Windows: []standin.Window{win("7d", 50, 3*day)}, Resets: usedUp("mine").Resets})
		r := newRig(t, h.toml+"]\n", vendors{"gpt": h.slow()}).ready()
		h.Use("acct-me", win("7d", 100, 3*day))
		answered := r.later(t.Context(), "/v1/responses", responsesBody("codex/gpt-5.4"))
		synctest.Wait()
		h.signsIn("me", "acct-other", fresh()) // which is seen before the one that is asked refuses
		if got := <-answered; got.status != 200 || tried(r.told()) != "codex/me codex/me" {
			t.Fatalf("%d %s, tried %s", got.status, got.body, tried(r.told()))
		}
		for _, try := range r.told().Tries {
			if try.Reset || len(h.Redeemed()) != 0 {
				t.Errorf("%+v; spent %+v", try, h.Redeemed())
			}
		}
	})
}

// A refusal may be under way for so long that it says nothing any more of the account that it was told of.
func TestNobodyRestsForWhatWasRefusedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(h *house, r *rig)
		rests     bool
	}{
		"somebody else signed in": {func(h *house, _ *rig) { h.signsIn("me", "acct-other", fresh()) }, false},
		"a reset was spent": {func(_ *house, r *rig) {
			cmd := ctl.Command{Verb: ctl.Reset, Who: "codex/me"}
			e, err := r.g.Preview(r.t.Context(), cmd)
			if err == nil {
				_, err = r.g.Do(r.t.Context(), cmd, e.Token)
			}
			if err != nil {
				r.t.Error(err)
			}
		}, false},
		"nothing happened": {func(*house, *rig) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "routing = \"order\"").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 50, 3*day)}, Resets: usedUp("mine").Resets})
				h.account("spare", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 50, 3*day)}})
				r := newRig(t, h.toml+"]\n", vendors{"gpt": h.slow()}).ready()
				h.Use("acct-me", win("7d", 100, 3*day))
				answered := r.later(t.Context(), "/v1/responses", responsesBody("codex/gpt-5.4"))
				synctest.Wait()
				c.meanwhile(h, r)
				if got := <-answered; got.status != 200 || tried(r.told()) != "codex/me codex/spare" {
					t.Fatalf("%d %s, tried %s", got.status, got.body, tried(r.told()))
				}
				if _, rests := r.rests()["codex/me"]; rests != c.rests {
					t.Errorf("it rests: %v, %+v", rests, r.rests())
				}
			})
		})
	}
}

func TestWhoeverSignsInIsSeenWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", "", usedUp("c1"))
		r := h.rig(t).ready()
		h.signsIn("me", "acct-other", fresh())
		pass(31 * time.Second)
		if a := r.account("codex/me"); a.State != trace.Fine || len(a.Windows) != 0 || a.Resets != nil {
			t.Errorf("%s %+v %+v", a.State, a.Windows, a.Resets)
		}
	})
}

func TestWhoeverSignsInIsAskedForWhatTheirPlanHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "routing = \"order\"").account("me", "", standin.ChatAccount{Models: []string{"gpt-5.4"}}).account("spare", "", standin.ChatAccount{Plan: "pro"})
		r := h.rig(t, func(d *gateway.Deps) { d.NoFetch = false })
		synctest.Wait()
		for _, want := range []string{"codex/spare", "codex/me"} {
			if r.ask("/v1/chat/completions", chatBody("codex/gpt-6.1-terra")); tried(r.last()) != want {
				t.Errorf("tried %s, want %s", tried(r.last()), want)
			}
			h.signsIn("me", "acct-other", standin.ChatAccount{Plan: "pro"})
			pass(31 * time.Second)
		}
	})
}

func TestWhoeverSignedInMeanwhileIsNotHeldAfterARestart(t *testing.T) {
	for name, switched := range map[string]bool{"the same": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", ", credits = false", usedUp())
				dir := t.TempDir()
				var store *state.Store
				open := func(d *gateway.Deps) {
					s, err := state.Open(state.Options{Quotas: filepath.Join(dir, "quotas.json")}, time.Now())
					if err != nil {
						t.Fatal(err)
					}
					d.State, store = s, s
				}
				r := h.rig(t, open).ready()
				r.g.Close()
				if err := store.Close(); err != nil {
					t.Fatal(err)
				}
				if switched {
					h.signsIn("me", "acct-other", fresh())
				}
				h.Fail("usage", http.StatusBadGateway)
				r = h.rig(t, open)
				defer func() { _ = store.Close() }()
				if got := r.askCodex(); (got.status == 200) != switched {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		})
	}
}

// What was read yesterday says nothing of a week for which a reset was spent since, by Codex itself.
func TestNoResetIsSpentForAWeekThatBeganAnewElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		after         time.Duration
		fails         int
		status, spent int
	}{
		"it was read just now":     {time.Second, 0, 200, 1},
		"it was read long ago":     {10 * time.Minute, 0, 200, 0},
		"and can't be read by now": {10 * time.Minute, 5, 429, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "")
				a := usedUp("c1", "c2")
				a.Windows = []standin.Window{win("7d", 50, 3*day)}
				h.account("me", ", credits = false, auto_reset = true", a)
				r := h.rig(t).ready()
				r.askCodex()
				h.Use("acct-me", win("7d", 100, 3*day))
				r.ready()
				h.Take("acct-me", "c1")
				h.Use("acct-me", win("7d", 3, 7*day))
				for range c.fails {
					h.Fail("usage", 502, 502, 502, 502, 502, 502)
				}
				pass(c.after)
				if got := r.askCodex(); got.status != c.status {
					t.Errorf("%d %s", got.status, got.body)
				}
				if spent := h.Redeemed(); len(spent) != c.spent {
					t.Errorf("spent %+v", spent)
				}
				for _, try := range r.last().Tries {
					if try.Reset != (c.spent == 1) {
						t.Errorf("%+v", try)
					}
				}
			})
		})
	}
}
