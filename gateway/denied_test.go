package gateway_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// stands is how an account is told: its state, and why it is not ready.
func (r *rig) stands(id string) string {
	a := r.account(id)
	return fmt.Sprint(a.State, ": ", a.Error)
}

func TestALoneKeyThatIsRefusedIsToldUntilItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must("401 auth", "403 auth", "429 rate retry-after=60s", "ok", "401 auth")...)
		r := newRig(t, lone+"[groups.g]\nmembers = [\"a/m\"]\n", vendors{"a": v})
		group := func() string { g := r.g.Status().Groups[0]; return fmt.Sprintf("%d of %d", g.Ready, g.Of) }
		if got := r.stands("a/k1"); got != "fine: " || group() != "1 of 1" {
			t.Fatalf("at first: %s, %s", got, group())
		}
		for _, step := range []struct {
			status int
			want   string
			ready  string
		}{
			{401, "unready: key refused (401), put a working one in the config: ", "0 of 1"},
			{403, "unready: key refused (403), put a working one in the config: ", "0 of 1"},
			{429, "unready: key refused (403), put a working one in the config: ", "0 of 1"}, // which says nothing of the key
			{200, "fine: ", "1 of 1"},
			{401, "unready: key refused (401), put a working one in the config: ", "0 of 1"},
		} {
			pass(time.Second)
			if got := r.ask(asking("chat", "a/m", false)); got.status != step.status {
				t.Fatalf("%d %s, want %d", got.status, got.body, step.status)
			}
			a := r.account("a/k1")
			if got := r.stands("a/k1"); !strings.HasPrefix(got, step.want) || group() != step.ready || a.Rest != nil || (a.Denied == nil) != (a.State == trace.Fine) {
				t.Errorf("after %d: %s, %s, %+v", step.status, got, group(), a)
			}
			if len(r.told().Order) != 1 {
				t.Errorf("after %d it is not asked any more", step.status)
			}
		}
		for _, a := range r.bus.Status().Accounts {
			if a.ID == "a/k1" && a.State != trace.Unready {
				t.Errorf("the screen was not told: %+v", a)
			}
		}
	})
}

func TestARefusedKeyIsToldAsRestingWhileItRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must("401 auth x*")...)
		r := newRig(t, twoKeys, vendors{"a": v})
		r.ask(asking("chat", "a/m", false))
		if a := r.account("a/k1"); a.State != trace.Resting || a.Rest.Why != trace.Auth || !strings.HasPrefix(a.Error, "key refused (401), put a working one in the config") {
			t.Errorf("%+v", a)
		}
		if got := r.stands("a/k2"); got != "fine: " {
			t.Errorf("of the one that answered: %s", got)
		}
		pass(6 * time.Minute)
		if got := r.stands("a/k1"); !strings.HasPrefix(got, "unready: key refused (401)") {
			t.Errorf("after its rest: %s", got)
		}
	})
}

func TestARefusedKeyThatIsAnotherByNowIsFine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &canned{status: 401, kind: "application/json", body: `{"error":{"message":"Incorrect API key provided"}}`}
		const fresh = "sk-new-000000000000000001"
		var key atomic.Value // read behind too
		key.Store("sk-old-000000000000000001")
		secrets := provider.NewSecrets(provider.SecretsOptions{ReadFile: func(string) ([]byte, error) { return []byte(key.Load().(string)), nil }})
		toml := "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", file = \"/keys/a\" }]\n"
		r := newRig(t, toml, vendors{"a": v}, func(d *gateway.Deps) { d.Secrets = secrets })
		r.ask(asking("chat", "a/m", false))
		if got := r.stands("a/k"); got != "unready: key refused (401), put a working one in its file: Incorrect API key provided" {
			t.Errorf("%s", got)
		}
		key.Store(fresh)
		r.do("POST", "/v1/magpie/provider/test?provider=a", "", token)
		calls := v.seen()
		if got := calls[len(calls)-1].header.Get("Authorization"); got != "Bearer "+fresh {
			t.Errorf("the test was made with %q", got)
		}
		if got := r.stands("a/k"); got != "fine: " {
			t.Errorf("of a new key, which was not asked with: %s", got)
		}
	})
}

func TestALoneKeyOutOfCreditIsToldUntilItAnswersOrIsToppedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must("402 credit", "429 rate retry-after=60s", "ok", "402 credit x9")...)
		r := newRig(t, lone, vendors{"a": v})
		const out = "spent: out of credit (402), top it up at its vendor: "
		fails := func() {
			t.Helper()
			pass(time.Second)
			if got := r.ask(asking("chat", "a/m", false)); got.status < 400 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if got, a := r.stands("a/k1"), r.account("a/k1"); !strings.HasPrefix(got, out) || a.Rest != nil || a.Denied.Why != trace.Credit {
				t.Errorf("%s, %+v", got, a)
			}
		}
		fails()
		fails() // which says nothing of credit
		pass(time.Second)
		if got := r.ask(asking("chat", "a/m", false)); got.status != 200 || r.stands("a/k1") != "fine: " {
			t.Errorf("%d, %s", got.status, r.stands("a/k1"))
		}
		reads := func(balance, want string) {
			t.Helper()
			pass(time.Second)
			r.store.Take("a/k1", provider.Reading{Balance: balance}, 98, time.Now())
			if got := r.stands("a/k1"); !strings.HasPrefix(got, want) {
				t.Errorf("a balance of %s: %s", balance, got)
			}
		}
		fails()
		reads("$0.00", out)
		reads("-$0.20", out)
		reads("$5.00", "fine: ")
		fails()
		reads("$5.00", out) // it is no news
		reads("$25.00", "fine: ")
		fails()
		reads("$24.60", out) // which is what is left of that
		reads("$30.00", "fine: ")
	})
}

func TestAFailureThatIsNotOfTheKeySaysNothingOfIt(t *testing.T) {
	for name, step := range map[string]string{
		"a model": "404 model", "a hiccup": "500 server x9", "a page of a firewall": "page 403", "the request": "400 bad",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := relay("ok")
				v.Script(keyOne, standin.Must(step)...)
				r := newRig(t, lone, vendors{"a": v})
				if got := r.ask(asking("chat", "a/m", false)); got.status < 400 {
					t.Fatalf("%d", got.status)
				}
				if a := r.account("a/k1"); a.Denied != nil || a.State == trace.Unready {
					t.Errorf("%+v", a)
				}
			})
		})
	}
}

func TestAGroupDoesNotCountWhomItsVendorHoldsAsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, twoKeys+"[groups.g]\nmembers = [\"a/m\"]\n", vendors{"a": relay("ok")})
		now := time.Now()
		week := provider.Window{Name: "7 days", Used: 42, Span: 7 * 24 * time.Hour, Resets: now.Add(time.Hour), Read: now}
		r.store.Take("a/k1", provider.Reading{Windows: []provider.Window{week}, Held: true}, 98, now)
		g := r.g.Status().Groups[0]
		if g.Ready != 1 || g.Of != 2 || g.Last != "a/k2" || r.account("a/k1").State != trace.Spent {
			t.Errorf("%d of %d ready, %q alone; %+v", g.Ready, g.Of, g.Last, r.account("a/k1"))
		}
		pass(time.Hour + time.Second)
		if g := r.g.Status().Groups[0]; g.Ready != 2 {
			t.Errorf("%d of %d ready once it renewed", g.Ready, g.Of)
		}
	})
}
