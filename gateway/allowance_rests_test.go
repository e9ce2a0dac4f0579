package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// weighing is a provider with three keys of one relay.
const weighing = `
[providers.relay]
chat = "{relay}/v1"
balance_url = "{relay}/v1/usage"
keys = [{ name = "a", value = "` + keyOne + `" }, { name = "b", value = "` + keyTwo + `" }, { name = "c", value = "` + keyThree + `" }]
`

func TestKeysWeighedByTheirWindows(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(1000, keyOne, keyTwo, keyThree)
		v.Spend(keyThree, 10)
		pass(3 * 24 * time.Hour)
		v.Spend(keyTwo, 950) // low
		pass(24 * time.Hour)
		v.Spend(keyOne, 10)
		r := newRig(t, weighing, vendors{"relay": v})
		r.asks("relay/m")
		pass(time.Second)
		r.asks("relay/m")
		if got := ordered(r.told().Order); got != "relay/c relay/a relay/b" {
			t.Errorf("smart: %s; the one that renews first goes first, the low one last", got)
		}
		least := newRig(t, strings.Replace(weighing, "balance_url", "routing = \"usage\"\nbalance_url", 1), vendors{"relay": v})
		v.Spend(keyThree, 100)
		least.asks("relay/m")
		pass(time.Second)
		least.asks("relay/m")
		if got := ordered(least.told().Order); got != "relay/a relay/c relay/b" {
			t.Errorf("least used: %s", got)
		}
	})
}

func TestGroupWeighsKeyWindows(t *testing.T) {
	now(t, func(t *testing.T) {
		v, w := sold(1000, keyOne), sold(1000, keyTwo)
		v.Spend(keyOne, 1)
		pass(2 * 24 * time.Hour)
		w.Spend(keyTwo, 1)
		toml := `
[providers.late]
chat = "{w}/v1"
balance_url = "{w}/v1/usage"
keys = [{ name = "k", value = "` + keyTwo + `" }]
[providers.soon]
chat = "{v}/v1"
balance_url = "{v}/v1/usage/"
keys = [{ name = "k", value = "` + keyOne + `" }]
[groups.g]
routing = "smart"
members = ["late/m", "soon/m"]
`
		r := newRig(t, toml, vendors{"v": v, "w": w})
		if got := r.asks("group/g"); got != "late/k" {
			t.Errorf("nothing was read, and %s was asked", got)
		}
		if got := r.asks("group/g"); got != "soon/k" {
			t.Errorf("%s was asked, not the key that renews first: %s", got, ordered(r.told().Order))
		}
		if c := r.told().Order[0]; c.Why.Code != trace.WhySooner || !c.Known || len(c.Renews) != 1 {
			t.Errorf("%+v", c)
		}
	})
}

func TestKeyOutOfItsWindowRestsUntilReset(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(100, keyOne)
		v.Spend(keyOne, 99)
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("from spare")})
		if got := r.asks("group/g"); got != "relay/main" {
			t.Fatalf("tried %s", got)
		}
		v.Spend(keyOne, 1) // its last dollar
		asked := v.Asked(keyOne)
		pass(time.Second)
		if got := r.asks("group/g"); got != "relay/main spare/main" {
			t.Fatalf("tried %s", got)
		}
		resets := *r.account("relay/main").Windows[0].Resets
		rest := r.rests()["relay/main"]
		if rest.Why != trace.Quota || rest.By != trace.ByWindow || !rest.Until.Equal(resets) || time.Until(resets) < 5*24*time.Hour {
			t.Errorf("full: rests %v by %s", time.Until(rest.Until), rest.By)
		}
		pass(time.Second)
		r.asks("group/g")
		if v.Asked(keyOne) != asked+1 {
			t.Errorf("it is not read again at the next ask: %d", v.Asked(keyOne)-asked)
		}
	})
}

func TestKeyOutOfAWindowThatIsNotKnownToBeFull(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(100, keyOne)
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("from spare")})
		r.asks("group/g")
		v.Spend(keyOne, 100) // by another program that has the key too
		pass(time.Second)
		if got := r.asks("group/g"); got != "relay/main spare/main" {
			t.Fatalf("tried %s", got)
		}
		if rest := r.rests()["relay/main"]; rest.By != trace.ByQuota || rest.Until.Sub(rest.Since) != 15*time.Minute {
			t.Errorf("%+v", rest)
		}
		r.asks("group/g")
		if a := r.account("relay/main"); a.Windows[0].Used != 100 {
			t.Errorf("it is not read again: %+v", a.Windows)
		}
	})
}

func TestKeyPoolErrorDoesNotRestForWindow(t *testing.T) {
	for status, by := range map[int]trace.RestBy{503: trace.ByBackoff, 429: trace.ByCooldown} {
		now(t, func(t *testing.T) {
			v := sold(100, keyOne)
			v.Spend(keyOne, 98.5) // full as routing counts it, and still served
			r := newRig(t, relayed, vendors{"relay": v, "spare": relay("from spare")})
			r.asks("group/g")
			v.Limit(keyOne, "7d", 101)
			v.Drain(status)
			asked := v.Asked(keyOne)
			pass(time.Second)
			if got := r.asks("group/g"); got != "relay/main spare/main" {
				t.Fatalf("tried %s", got)
			}
			if a := r.account("relay/main"); a.Windows[0].Used < provider.SpentShare {
				t.Fatalf("its week is not full: %v", a.Windows)
			}
			if rest := r.rests()["relay/main"]; rest.Why == trace.Quota || rest.By != by || rest.Until.Sub(rest.Since) > time.Minute {
				t.Errorf("%d: rests %v by %s (%s)", status, rest.Until.Sub(rest.Since), rest.By, rest.Why)
			}
			r.asks("group/g")
			if n := v.Asked(keyOne) - asked; n != 0 {
				t.Errorf("%d: read %d times more: the pool says nothing of the key", status, n)
			}
			v.Drain(0)
			pass(61 * time.Second)
			if got := r.asks("group/g"); got != "relay/main" {
				t.Errorf("%d: the accounts are back, and %s is tried", status, got)
			}
		})
	}
}

// A relay passes on what its vendor's headers tell of the account that it shared out this time,
// which is no window of the key's.
func TestKeyHasNoWindowsOfItsRelaysAccounts(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(100, keyOne)
		v.Spend(keyOne, 10)
		shares := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Codex-Primary-Used-Percent", "100")
			w.Header().Set("X-Codex-Primary-Window-Minutes", "10080")
			w.Header().Set("X-Codex-Primary-Reset-After-Seconds", "400000")
			v.ServeHTTP(w, r)
		})
		r := newRig(t, relayed, vendors{"relay": shares, "spare": relay("from spare")})
		r.asks("group/g")
		r.asks("group/g")
		if a := r.account("relay/main"); len(a.Windows) != 1 || a.Windows[0].Used > 20 || a.State != trace.Fine {
			t.Errorf("%s %+v", a.State, a.Windows)
		}
	})
}

func TestKeyBackOnceItsWindowIsNotFull(t *testing.T) {
	for name, again := range map[string]func(*standin.Relay){
		"its limit is raised": func(v *standin.Relay) { v.Limit(keyOne, "7d", 1000) },
		"its usage is reset":  func(v *standin.Relay) { v.Reset(keyOne) },
	} {
		t.Run(name, func(t *testing.T) {
			now(t, func(t *testing.T) {
				v := sold(100, keyOne, keyTwo)
				v.Spend(keyOne, 100)
				v.Spend(keyTwo, 100)
				v.Drain(0)
				r := newRig(t, strings.Replace(weighing, "[providers.relay]", "[providers.relay]\nfallback = [\"spare/m\"]", 1)+
					"[providers.spare]\nchat = \"{spare}/v1\"\nkeys = [{ name = \"main\", value = \"sk-test-k4-000000000004\" }]\n",
					vendors{"relay": v, "spare": relay("from spare")})
				v.Limit(keyThree, "7d", 100)
				r.asks("relay/m") // reads all of them
				pass(time.Second)
				v.Spend(keyThree, 100)
				r.asks("relay/m")
				if rests := r.rests(); len(rests) == 0 {
					t.Fatal("nobody rests")
				}
				pass(2 * time.Minute)
				again(v)
				r.asks("relay/m") // is planned with it resting, and reads it behind
				if rest, rests := r.rests()["relay/a"]; rests {
					t.Errorf("a still rests by %s till %v", rest.By, rest.Until)
				}
				if _, rests := r.rests()["relay/b"]; !rests {
					t.Error("b is out of its week still, and rests no more")
				}
				if got := r.asks("relay/m"); got != "relay/a" {
					t.Errorf("tried %s", got)
				}
			})
		})
	}
}

func TestKeyBackOnlyFromARestForWantOfQuota(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(100, keyOne)
		v.Spend(keyOne, 99)
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("from spare")})
		r.asks("group/g")
		v.Limit(keyOne, "7d", 1000)
		v.Drain(http.StatusServiceUnavailable)
		pass(59 * time.Second)
		r.asks("group/g") // rests, for the pool is empty
		pass(2 * time.Second)
		r.asks("group/g") // and is read to be short of full
		if a := r.account("relay/main"); a.Windows[0].Used > 50 {
			t.Fatalf("%+v", a.Windows)
		}
		if rest := r.rests()["relay/main"]; rest.By != trace.ByBackoff {
			t.Errorf("the relay is out of accounts for everyone, and the key rests: %+v", rest)
		}
	})
}

func TestRestingKeyReadAgainInAnOrderedGroup(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(100, keyOne)
		v.Spend(keyOne, 99)
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("from spare")})
		r.asks("group/g")
		v.Spend(keyOne, 1)
		pass(2 * time.Second)
		r.asks("group/g")
		pass(2 * time.Second)
		r.asks("group/g") // the one reading that its refusal starts
		read := v.Asked(keyOne)
		if rest := r.rests()["relay/main"]; rest.By != trace.ByWindow {
			t.Fatalf("%+v", rest)
		}
		pass(time.Minute)
		if got := r.asks("group/g"); got != "spare/main" || v.Asked(keyOne) != read+1 {
			t.Errorf("tried %s, its windows read %d times", got, v.Asked(keyOne)-read)
		}
		if _, rests := r.rests()["relay/main"]; !rests {
			t.Fatal("it is over its limit still, and rests no more")
		}
		v.Limit(keyOne, "7d", 1000)
		pass(time.Minute)
		if got := r.asks("group/g"); got != "spare/main" {
			t.Errorf("tried %s", got)
		}
		if rest, rests := r.rests()["relay/main"]; rests {
			t.Errorf("its limit raised: still rests by %s till %v, its windows read %d times", rest.By, rest.Until, v.Asked(keyOne)-read)
		}
		if got := r.asks("group/g"); got != "relay/main" {
			t.Errorf("tried %s", got)
		}
		if !strings.Contains(r.logs.text(), "relay/main is back: it has allowance again") {
			t.Error("nobody is told")
		}
	})
}

func TestLoneKeyBackWithinAMinuteOfItsRaisedLimit(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(100, keyOne)
		v.Spend(keyOne, 99)
		toml := strings.Replace(relayed, `members = ["relay/m", "spare/m"]`, `members = ["relay/m"]`, 1)
		r := newRig(t, toml, vendors{"relay": v, "spare": relay("from spare")})
		r.asks("group/g")
		v.Spend(keyOne, 1)
		pass(2 * time.Second)
		if got := r.ask(asking("chat", "group/g", false)); got.status != http.StatusTooManyRequests || !strings.Contains(got.body, "限额已用完") {
			t.Fatalf("%d %s", got.status, got.body)
		}
		v.Limit(keyOne, "7d", 1000)
		pass(time.Minute)
		r.asks("group/g")
		if a := r.account("relay/main"); a.State != trace.Fine || a.Rest != nil {
			t.Errorf("%+v", a)
		}
	})
}

// A file may hand out another key: what was read is of the old one.
func TestKeyAllowanceIsForgottenWithTheKeyInItsFile(t *testing.T) {
	now(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "key")
		put := func(key string) {
			if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(keyOne)
		v := sold(100, keyOne, keyThree)
		r := newRig(t, strings.Replace(relayed, `value = "`+keyOne+`"`, `file = "`+file+`"`, 1), vendors{"relay": v, "spare": relay("ok")})
		r.asks("group/g")
		if n := v.Asked(keyOne); n != 1 {
			t.Fatalf("asked %d times", n)
		}
		put(keyThree)
		v.Script(keyOne, standin.Must("401 auth x9")...)
		pass(time.Second)
		if got := r.asks("group/g"); got != "relay/main relay/main" {
			t.Errorf("tried %s", got)
		}
		r.asks("group/g") // within the minute of the first reading
		if n := v.Asked(keyThree); n == 0 {
			t.Errorf("the new key was not read: the old one was %d times", v.Asked(keyOne))
		}
	})
}
