package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
)

const day = 24 * time.Hour

// usedUp is an account whose week is used up, with resets in hand.
func usedUp(resets ...string) standin.ChatAccount {
	a := standin.ChatAccount{Windows: []standin.Window{win("5h", 20, time.Hour), win("7d", 100, 3*day)}}
	for _, id := range resets {
		a.Resets = append(a.Resets, standin.ChatReset{ID: id, Expires: time.Now().Add(20 * day)})
	}
	return a
}

// ready has every account read once.
func (r *rig) ready() *rig {
	r.t.Helper()
	if _, err := r.g.Do(r.t.Context(), ctl.Command{Verb: ctl.Refresh}, ""); err != nil {
		r.t.Fatal(err)
	}
	return r
}

func (r *rig) askCodex() answer {
	r.t.Helper()
	return r.ask("/v1/responses", responsesBody("codex/gpt-5.4"))
}

func TestSubscriptionAccountsTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "routing = \"order\"").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("5h", 99, time.Hour)}}).account("spare", "", standin.ChatAccount{})
		r := h.rig(t)
		h.Use("acct-me", win("5h", 100, time.Hour))
		if got := r.askCodex(); got.status != 200 || tried(r.last()) != "codex/me codex/spare" {
			t.Fatalf("%d %s, tried %s", got.status, got.body, tried(r.last()))
		}
		rest := r.rests()["codex/me"]
		if rest.Why != trace.Quota || time.Until(rest.Until).Round(time.Minute) != time.Hour {
			t.Errorf("%+v", rest)
		}
		if r.askCodex(); tried(r.last()) != "codex/spare" {
			t.Errorf("tried %s", tried(r.last()))
		}
		pass(time.Hour + time.Second)
		if r.askCodex(); tried(r.last()) != "codex/me" {
			t.Errorf("after its reset: tried %s", tried(r.last()))
		}
	})
}

// TestCodexNoCredits: me is used up and has credits, spare is at 20 %.
func TestCodexNoCredits(t *testing.T) {
	me := standin.ChatAccount{Windows: []standin.Window{win("7d", 100, 3*day)}, Credits: 12}
	for name, c := range map[string]struct {
		me, spare    string
		spareAccount standin.ChatAccount
		status       int
		tried        string
		says         []string
		not          []string
	}{
		"credits are spent": {"", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 20, 3*day)}}, 200, "codex/me", nil, nil},
		"and not where they are not to be": {
			", credits = false", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 20, 3*day)}}, 200, "codex/spare", nil, nil,
		},
		"both held": {
			", credits = false", ", credits = false",
			standin.ChatAccount{Windows: []standin.Window{win("7d", 100, 2*day)}},
			429, "",
			[]string{"codex/me has used its allowance up", "codex/spare has used its allowance up"},
			[]string{"cap of"},
		},
		"one by a cap": {
			", credits = false", ", cap = 70",
			standin.ChatAccount{Windows: []standin.Window{win("7d", 80, 2*day)}},
			429, "",
			[]string{"codex/me has used its allowance up", "codex/spare is at its cap of 70%"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "routing = \"order\"").account("me", c.me, me).account("spare", c.spare, c.spareAccount)
				r := h.rig(t).ready()
				got := r.askCodex()
				route := r.last()
				if got.status != c.status || tried(route) != c.tried {
					t.Fatalf("%d %s, tried %s", got.status, got.body, tried(route))
				}
				for _, want := range c.says {
					if !strings.Contains(got.body, want) {
						t.Errorf("%q is not in %s", want, got.body)
					}
				}
				for _, bad := range c.not {
					if strings.Contains(got.body, bad) {
						t.Errorf("%q is in %s", bad, got.body)
					}
				}
				if c.status == 429 && (got.header.Get("Retry-After") == "" || len(h.Vendor.Calls()) != 0) {
					t.Errorf("Retry-After %q, %d calls", got.header.Get("Retry-After"), len(h.Vendor.Calls()))
				}
				if c.me != "" {
					left := route.Left[0]
					if left.ID != "codex/me" || !left.NoCredits || left.Capped != 100 || left.CapBack == nil {
						t.Errorf("%+v", left)
					}
				}
				if n := len(h.Redeemed()); n != 0 {
					t.Errorf("%d resets were spent", n)
				}
			})
		})
	}
}

func TestAResetIsSpentByItselfForWhoIsHeldForCreditsAlone(t *testing.T) {
	for _, auto := range []bool{false, true} {
		t.Run(fmt.Sprint("auto_reset = ", auto), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", fmt.Sprint(", credits = false, auto_reset = ", auto), usedUp("c1"))
				r := h.rig(t).ready()
				got := r.askCodex()
				route := r.last()
				if !auto {
					if got.status != 429 || len(h.Redeemed()) != 0 {
						t.Errorf("%d, spent %v", got.status, h.Redeemed())
					}
					return
				}
				if got.status != 200 || tried(route) != "codex/me" || !route.Tries[0].Reset || ordered(route.Order) != "codex/me" || len(route.Left) != 0 {
					t.Errorf("%d %s; tried %s, order %s, left %s", got.status, got.body, tried(route), ordered(route.Order), ordered(route.Left))
				}
				spent := h.Redeemed()
				if len(spent) != 1 || spent[0].Reset != "c1" || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(spent[0].Request) {
					t.Errorf("spent %+v", spent)
				}
			})
		})
	}
}

// Nobody else can serve: the others are paused, have lapsed, or are at their cap.
func TestAResetIsSpentByItselfWhereTheOthersCanNotServe(t *testing.T) {
	for name, prepare := range map[string]func(h *house, r *rig){
		"paused": func(_ *house, r *rig) { r.command(`{"verb":"pause","who":"codex/spare"}`) },
		"lapsed": func(h *house, r *rig) {
			h.Lapse("acct-spare")
			r.ready()
		},
		"at its cap": func(_ *house, r *rig) { r.command(`{"verb":"cap","who":"codex/spare","args":{"percent":10}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", ", credits = false, auto_reset = true", usedUp("c1")).
					account("spare", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 20, 3*day)}})
				r := h.rig(t).ready()
				prepare(h, r)
				if got := r.askCodex(); got.status != 200 || tried(r.last()) != "codex/me" {
					t.Errorf("%d %s", got.status, got.body)
				}
				if spent := h.Redeemed(); len(spent) != 1 || spent[0].Account != "acct-me" {
					t.Errorf("spent %+v", spent)
				}
			})
		})
	}
}

func TestAResetIsSpentForAHeldSpareOnceTheOthersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "routing = \"order\"").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 50, 3*day)}}).
			account("spare", ", credits = false, auto_reset = true", usedUp("c1"))
		r := h.rig(t).ready()
		h.Use("acct-me", win("7d", 100, 3*day))
		got := r.askCodex()
		route := r.last()
		if got.status != 200 || tried(route) != "codex/me codex/spare" || route.Tries[0].Reset || !route.Tries[1].Reset {
			t.Errorf("%d %s, tried %s", got.status, got.body, tried(route))
		}
		if spent := h.Redeemed(); len(spent) != 1 || spent[0].Account != "acct-spare" {
			t.Errorf("spent %+v", spent)
		}
	})
}

// A reset helps against a used-up allowance alone: where another of the request's accounts failed by
// something else, it would be spent for a hiccup.
func TestNoResetIsSpentWhereAnythingElseFailedToo(t *testing.T) {
	for name, status := range map[string]int{"the allowance alone": 0, "a server's error": 500, "overloaded": 529, "a rate": 429} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "routing = \"order\"").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 50, 3*day)}}).
					account("spare", ", auto_reset = true", standin.ChatAccount{Windows: []standin.Window{win("7d", 50, 3*day)}, Resets: []standin.ChatReset{{ID: "c1"}}})
				r := h.rig(t).ready()
				h.Use("acct-spare", win("7d", 100, 3*day))
				want := 0
				if status == 0 {
					h.Use("acct-me", win("7d", 100, 3*day))
					want = 1
				} else {
					h.Fail("", status) // of a reply
				}
				got := r.askCodex()
				if spent := h.Redeemed(); len(spent) != want || (got.status == 200) != (want == 1) || len(r.last().Tries) < 2 {
					t.Errorf("%d, tried %s, spent %v, want %d", got.status, tried(r.last()), spent, want)
				}
			})
		})
	}
}

func TestNoResetIsSpentByItselfWhere(t *testing.T) {
	for name, c := range map[string]struct {
		set     string
		account standin.ChatAccount
		headers []string
		prepare func(h *house)
	}{
		"it is not to be":            {"", usedUp("c1"), nil, nil},
		"the request is held to it":  {", auto_reset = true", usedUp("c1"), []string{"X-Magpie-Account: codex/me"}, nil},
		"only the five hours are up": {", auto_reset = true", standin.ChatAccount{Windows: []standin.Window{win("5h", 100, time.Hour), win("7d", 60, day)}, Resets: []standin.ChatReset{{ID: "c1"}}}, nil, nil},
		"none is in hand":            {", auto_reset = true", usedUp(), nil, nil},
		"the list can't be had":      {", auto_reset = true", usedUp("c1"), nil, func(h *house) { h.Fail("resets", 500, 500, 500, 500, 500) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", c.set, c.account)
				r := h.rig(t).ready()
				if c.prepare != nil {
					c.prepare(h)
				}
				got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4"), c.headers...)
				if got.status != 429 || len(h.Redeemed()) != 0 {
					t.Errorf("%d %s, spent %+v", got.status, got.body, h.Redeemed())
				}
			})
		})
	}
}

func TestFiftyRequestsAtOnceSpendOneReset(t *testing.T) {
	for name, set := range map[string]string{"refused": ", auto_reset = true", "held": ", credits = false, auto_reset = true"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // none of them is answered without the reset because the machine is busy
				h := newHouse(t, "").account("me", set, usedUp("c1", "c2", "c3"))
				r := h.rig(t).ready()
				var wg sync.WaitGroup
				var mu sync.Mutex
				statuses := map[int]int{}
				for range 50 {
					wg.Go(func() {
						resp, err := r.send(context.Background(), http.MethodPost, "/v1/responses", responsesBody("codex/gpt-5.4"))
						if err != nil {
							t.Error(err)
							return
						}
						_ = resp.Body.Close()
						mu.Lock()
						defer mu.Unlock()
						statuses[resp.StatusCode]++
					})
				}
				wg.Wait()
				if spent := h.Redeemed(); len(spent) != 1 || statuses[200] != 50 {
					t.Errorf("spent %+v, answered %v", spent, statuses)
				}
			})
		})
	}
}

func TestAWeekHasOneResetAlsoAcrossARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", ", auto_reset = true", usedUp("c1", "c2", "c3"))
		dir := t.TempDir()
		open := func(d *gateway.Deps) {
			s, err := state.Open(state.Options{Choices: filepath.Join(dir, "choices.json"), Rests: filepath.Join(dir, "rests.json"), Quotas: filepath.Join(dir, "quotas.json")}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			d.State = s
		}
		var store *state.Store
		r := h.rig(t, open, func(d *gateway.Deps) { store = d.State }).ready()
		if got := r.askCodex(); got.status != 200 || len(h.Redeemed()) != 1 {
			t.Fatalf("%d, spent %+v", got.status, h.Redeemed())
		}
		week := store.Spent("codex/me").Week
		h.Use("acct-me", win("7d", 100, time.Until(week))) // as if nothing had come of it
		for range 3 {
			pass(11 * time.Minute)
			if got := r.askCodex(); got.status != 429 || len(h.Redeemed()) != 1 {
				t.Errorf("%d, spent %+v", got.status, h.Redeemed())
			}
		}
		r.g.Close()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		r = h.rig(t, open, func(d *gateway.Deps) { store = d.State }).ready()
		defer func() { _ = store.Close() }()
		if got := r.askCodex(); got.status != 429 || len(h.Redeemed()) != 1 {
			t.Errorf("after a restart: %d, spent %+v", got.status, h.Redeemed())
		}
		h.Use("acct-me", win("7d", 100, time.Until(week)+7*day)) // another week
		pass(11 * time.Minute)
		if got := r.askCodex(); got.status != 200 || len(h.Redeemed()) != 2 {
			t.Errorf("another week: %d, spent %+v", got.status, h.Redeemed())
		}
	})
}

func TestASpendingThatBrokeOffIsTheSameOneTheNextTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", ", auto_reset = true", usedUp("c1", "c2"))
		r := h.rig(t).ready()
		h.Fail("consume", 502)
		if got := r.askCodex(); got.status != 429 {
			t.Errorf("%d", got.status)
		}
		first := r.store.Spent("codex/me")
		if first.Done || first.Reset != "c1" {
			t.Errorf("%+v", first)
		}
		pass(11 * time.Minute)
		if got := r.askCodex(); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
		if spent := h.Redeemed(); len(spent) != 1 || spent[0].Request != first.Request {
			t.Errorf("spent %+v, first asked for as %s", spent, first.Request)
		}
	})
}

// The vendor spent it and its answer was lost, and the process ended: the next one asks for the
// same, and not for another.
func TestASpendingWhoseAnswerWasLostIsTheSameOneAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", ", auto_reset = true", usedUp("c1", "c2", "c3"))
		var lost atomic.Bool
		lost.Store(true)
		vendor := vendors{"gpt": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if lost.Load() && strings.HasSuffix(r.URL.Path, "/consume") {
				h.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(w, r)
		})}
		dir := t.TempDir()
		open := func(d *gateway.Deps) {
			s, err := state.Open(state.Options{Choices: filepath.Join(dir, "choices.json")}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			d.State = s
		}
		var store *state.Store
		r := newRig(t, h.toml+"]\n", vendor, open, func(d *gateway.Deps) { store = d.State }).ready()
		h.Fail("usage", 500, 500, 500, 500)
		if got := r.askCodex(); len(h.Redeemed()) != 1 {
			t.Fatalf("%d %s, spent %+v", got.status, got.body, h.Redeemed())
		}
		r.g.Close()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		lost.Store(false)
		h.Fail("usage")
		h.Use("acct-me", win("7d", 100, 3*day)) // as if nothing had come of it
		r = newRig(t, h.toml+"]\n", vendor, open, func(d *gateway.Deps) { store = d.State }).ready()
		defer func() { _ = store.Close() }()
		for range 3 {
			r.askCodex()
			pass(11 * time.Minute)
		}
		spent := map[string]bool{}
		for _, one := range h.Redeemed() {
			spent[one.Reset+" "+one.Request] = true
		}
		if len(spent) != 1 || len(h.Redeemed()) < 2 || !store.Spent("codex/me").Done {
			t.Errorf("spent %+v; %+v", h.Redeemed(), store.Spent("codex/me"))
		}
	})
}

func TestASpendingThatCameToNothingIsNotAskedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "")
		a := usedUp("c2")
		a.Resets = append([]standin.ChatReset{{ID: "c1", Expires: time.Now().Add(time.Hour)}}, a.Resets...)
		r := h.account("me", ", auto_reset = true", a).rig(t).ready()
		h.Fail("consume", 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502, 502)
		if got := r.askCodex(); got.status != 429 {
			t.Errorf("%d", got.status)
		}
		pass(2 * time.Hour) // c1 has run out, unspent
		h.Fail("consume")
		for range 3 {
			r.askCodex()
			pass(11 * time.Minute)
		}
		if got := r.askCodex(); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
		spent := 0
		for _, one := range h.Redeemed() {
			if one.Code == "reset" {
				if spent++; one.Reset != "c2" {
					t.Errorf("%+v", one)
				}
			}
		}
		if spent != 1 {
			t.Errorf("spent %+v", h.Redeemed())
		}
	})
}

func TestRenewedAccountForgetsItsAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "routing = \"order\"").account("me", "", usedUp("c1")).account("spare", "", standin.ChatAccount{})
		r := h.rig(t).ready()
		r.askCodex()
		if _, rests := r.rests()["codex/me"]; !rests {
			t.Fatalf("it does not rest; tried %s", tried(r.last()))
		}
		h.Fail("usage", 500, 500, 500, 500) // nothing but the reset says that there is room
		c := ctl.Command{Verb: ctl.Reset, Who: "codex/me"}
		e, err := r.g.Preview(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.g.Do(t.Context(), c, e.Token); err != nil {
			t.Fatal(err)
		}
		if a := r.account("codex/me"); a.Known || a.Rest != nil {
			t.Errorf("%+v", a)
		}
		if r.askCodex(); tried(r.last()) != "codex/me" {
			t.Errorf("tried %s", tried(r.last()))
		}
	})
}

func TestAResetThatWouldRunOutIsSpent(t *testing.T) {
	for name, c := range map[string]struct {
		set    string
		used   float64
		week   time.Duration // till it renews
		runs   time.Duration // till the reset runs out
		after  time.Duration // when it was spent, 0 = never
		within time.Duration
	}{
		"half an hour before":                 {", auto_reset = true", 40, 3 * day, 10 * time.Hour, 9*time.Hour + 30*time.Minute, 5 * time.Minute},
		"at once where it would not be free":  {", auto_reset = true", 100, 3 * day, 10 * time.Hour, time.Minute, 2 * time.Minute},
		"never where nothing was used":        {", auto_reset = true", 0, 3 * day, 10 * time.Hour, 0, 0},
		"never where it is not to":            {"", 40, 3 * day, 10 * time.Hour, 0, 0},
		"not at once where it is free sooner": {", auto_reset = true", 100, 2 * time.Hour, 10 * time.Hour, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", c.set, standin.ChatAccount{
					Windows: []standin.Window{win("7d", c.used, c.week)}, Resets: []standin.ChatReset{{ID: "c1", Expires: time.Now().Add(c.runs)}},
				})
				began := time.Now()
				h.rig(t).ready()
				for range 11 * 60 {
					pass(time.Minute)
					if len(h.Redeemed()) == 0 {
						continue
					}
					if took := time.Since(began); c.after == 0 || took < c.after || took > c.after+c.within {
						t.Errorf("spent after %s", took)
					}
					return
				}
				if c.after != 0 {
					t.Error("it ran out")
				}
			})
		})
	}
}
