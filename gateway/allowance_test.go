package gateway_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// relayed is a group, asked in its order, of a provider with one key of a relay and of another
// that takes over.
const relayed = `
[providers.relay]
chat = "{relay}/v1"
balance_url = "{relay}/v1/usage"
keys = [{ name = "main", value = "` + keyOne + `" }]
[providers.spare]
chat = "{spare}/v1"
keys = [{ name = "main", value = "` + keyTwo + `" }]
[groups.g]
routing = "order"
members = ["relay/m", "spare/m"]
`

// sold is a relay with keys that may spend so much in 7 days. What they spend the test says, for
// a reading and the request that it is read behind come at one time.
func sold(usd float64, keys ...string) *standin.Relay {
	v := standin.NewRelay(standin.Options{Models: []string{"m"}, Text: "from the relay"}, 0)
	for _, key := range keys {
		v.Limit(key, "7d", usd)
	}
	return v
}

// now is a bubble whose clock stands in a year in which a vendor's dates are believed: a bubble's
// own begins in 2000.
func now(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pass(26 * 365 * 24 * time.Hour)
		run(t)
	})
}

// account is how one account is told now.
func (r *rig) account(id string) trace.Account {
	r.t.Helper()
	for _, a := range r.g.Status().Accounts {
		if a.ID == id {
			return a
		}
	}
	r.t.Fatalf("nobody is called %s", id)
	return trace.Account{}
}

// asks sends one request and returns who was tried, once the readings that it caused are in.
func (r *rig) asks(model string) string {
	r.t.Helper()
	if got := r.ask(asking("chat", model, false)); got.status != http.StatusOK {
		r.t.Fatalf("%d %s", got.status, got.body)
	}
	synctest.Wait()
	return tried(r.told())
}

func TestSub2APIKeyLimitsOnItsCard(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(300, keyOne)
		v.Limit(keyOne, "5h", 20)
		v.Spend(keyOne, 5)
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("from spare")})
		r.asks("group/g")
		a := r.account("relay/main")
		if len(a.Windows) != 2 || a.Windows[0].Name != "5 hours" || a.Windows[1].Name != "7 days" || a.Windows[0].Limit != 20 || a.Windows[0].Amount != 5 ||
			a.Windows[0].Used != 25 || a.Windows[0].Unit != "USD" || a.Windows[1].Resets == nil || a.Balance != "$15.00" || a.Read == nil || a.ReadError != "" || !a.Known {
			t.Errorf("%+v", a)
		}
		// What is told of it also stands with the candidate.
		pass(61 * time.Second)
		r.asks("group/g")
		if c := r.told().Order[0]; c.ID != "relay/main" || !c.Known || len(c.Windows) != 2 || c.Windows[0].Amount != 5 {
			t.Errorf("%+v", c)
		}
	})
}

func TestKeyAllowanceIsNeverWaitedForAndAskedOnceAMinute(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(300, keyOne)
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/usage" {
				<-time.After(20 * time.Second)
			}
			v.ServeHTTP(w, r)
		})
		r := newRig(t, relayed, vendors{"relay": slow, "spare": relay("from spare")})
		began := time.Now()
		for range 10 {
			r.asks("group/g")
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %v", waited)
		}
		v.Spend(keyOne, 10)
		pass(40 * time.Second)
		r.asks("group/g")
		synctest.Wait()
		if n := v.Asked(keyOne); n != 1 || r.account("relay/main").Windows[0].Amount != 10 {
			t.Errorf("asked %d times: %+v", n, r.account("relay/main").Windows)
		}
		pass(21 * time.Second)
		r.asks("group/g")
		pass(21 * time.Second)
		if n := v.Asked(keyOne); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

func TestKeyAllowanceOfOtherKeysIsNotAsked(t *testing.T) {
	for name, line := range map[string]string{
		"no balance URL":              "",
		"a balance URL without hours": `balance_url = "{relay}/api/usage/token"`,
	} {
		t.Run(name, func(t *testing.T) {
			now(t, func(t *testing.T) {
				asked := ""
				v := sold(300, keyOne)
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						asked += r.URL.Path + " "
					}
					v.ServeHTTP(w, r)
				})
				r := newRig(t, strings.Replace(relayed, `balance_url = "{relay}/v1/usage"`, line, 1), vendors{"relay": h, "spare": relay("ok")})
				for range 3 {
					r.asks("group/g")
					pass(2 * time.Minute)
				}
				if asked != "" {
					t.Errorf("asked %s", asked)
				}
			})
		})
	}
}

func TestKeyAllowanceOfALookIsNotAsked(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(300, keyOne)
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("ok")})
		if _, err := r.g.Explain(gateway.Question{Model: "group/g"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := v.Asked(keyOne); n != 0 {
			t.Errorf("asked %d times for a look", n)
		}
	})
}

func TestKeyAllowanceThatFailsKeepsTheLastAndSaysSo(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(300, keyOne)
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("ok")})
		r.asks("group/g")
		first := r.account("relay/main")
		v.Break(http.StatusBadGateway)
		for range 59 { // a failed reading counts as asked
			pass(time.Second)
			r.asks("group/g")
		}
		pass(2 * time.Second)
		r.asks("group/g")
		for range 20 {
			pass(time.Second)
			r.asks("group/g")
		}
		a := r.account("relay/main")
		if n := v.Asked(keyOne); n != 2 {
			t.Errorf("asked %d times", n)
		}
		if !strings.Contains(a.ReadError, "502") || !strings.Contains(a.ReadError, "not to be had now") || a.Error != "" || a.State != trace.Fine {
			t.Errorf("%s, %q, %q", a.State, a.Error, a.ReadError)
		}
		if a.Windows[0].Amount != first.Windows[0].Amount || !a.Read.Equal(*first.Read) || a.Balance != first.Balance {
			t.Errorf("what was read before does not stand: %+v", a)
		}
		v.Break(0)
		v.Spend(keyOne, 5)
		pass(time.Minute)
		r.asks("group/g")
		if a := r.account("relay/main"); a.ReadError != "" || a.Windows[0].Amount == first.Windows[0].Amount {
			t.Errorf("%+v", a)
		}
		if said := strings.Count(r.logs.text(), "what is left of relay/main can't be read"); said != 1 {
			t.Errorf("said %d times", said)
		}
	})
}

func TestKeyAllowanceThatIsNoUsage(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"a web page":       {"<html><title>Sign in</title></html>", "no JSON"},
		"nothing of usage": {`{}`, "neither windows nor what remains"},
		"too much":         {`{"mode":"` + strings.Repeat("x", 1<<20) + `"}`, "larger than the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			now(t, func(t *testing.T) {
				v := sold(300, keyOne)
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/v1/usage" {
						_, _ = w.Write([]byte(c.body))
						return
					}
					v.ServeHTTP(w, r)
				})
				r := newRig(t, relayed, vendors{"relay": h, "spare": relay("ok")})
				r.asks("group/g")
				if a := r.account("relay/main"); !strings.Contains(a.ReadError, c.want) || a.Known || a.State != trace.Fine {
					t.Errorf("%q %+v", a.ReadError, a.Windows)
				}
			})
		})
	}
}

func TestKeyAllowanceIsAskedAsTheKeyAsks(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(300, keyOne)
		var seen http.Header
		query := ""
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/usage" {
				seen, query = r.Header.Clone(), r.URL.RawQuery
			}
			v.ServeHTTP(w, r)
		})
		toml := strings.Replace(relayed, `balance_url = "{relay}/v1/usage"`, "balance_url = \"{relay}/v1/usage?who={key}\"\nheaders = { X-Panel = \"of {key}\" }", 1)
		r := newRig(t, toml, vendors{"relay": h, "spare": relay("ok")})
		r.ask("/v1/chat/completions", chatBody("group/g"), "User-Agent: agent/1", "X-Secret: agents-own")
		synctest.Wait()
		if seen.Get("Authorization") != "Bearer "+keyOne || seen.Get("User-Agent") != "magpie/test" || seen.Get("X-Panel") != "of "+keyOne || query != "who="+keyOne || seen.Get("X-Secret") != "" {
			t.Errorf("%v ?%s", seen, query)
		}
	})
}

func TestKeyAllowanceIsSeededAfterARestart(t *testing.T) {
	dir := t.TempDir()
	now(t, func(t *testing.T) {
		v := sold(300, keyOne)
		v.Spend(keyOne, 150)
		open := func() *state.Store {
			s, err := state.Open(state.Options{Quotas: filepath.Join(dir, "quotas.json"), Rests: filepath.Join(dir, "rests.json")}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		first := open()
		r := newRig(t, relayed, vendors{"relay": v, "spare": relay("ok")}, func(d *gateway.Deps) { d.State = first })
		r.asks("group/g")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		v.Break(http.StatusBadGateway)
		second := open()
		r = newRig(t, relayed, vendors{"relay": v, "spare": relay("ok")}, func(d *gateway.Deps) { d.State = second })
		defer second.Close()
		a := r.account("relay/main")
		if len(a.Windows) != 1 || a.Windows[0].Used != 50 || a.Balance != "$150.00" || a.Read == nil {
			t.Errorf("seeded: %+v", a)
		}
		r.asks("group/g")
		if a := r.account("relay/main"); a.Windows[0].Used != 50 || a.ReadError == "" {
			t.Errorf("after a reading that failed: %+v", a)
		}
	})
}

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

func TestKeyAllowanceIsForgottenWithItsURLAndKey(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"its URL":       func(s string) string { return strings.Replace(s, "/v1/usage\"", "/v1/usage/\"", 1) },
		"its key":       func(s string) string { return strings.Replace(s, keyOne, keyThree, 1) },
		"nothing of it": func(s string) string { return strings.Replace(s, keyTwo, keyTwo+"9", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			now(t, func(t *testing.T) {
				v := sold(100, keyOne)
				v.Spend(keyOne, 50)
				slow := time.Duration(0)
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/v1/usage" && r.URL.Path != "/v1/usage/" {
						v.ServeHTTP(w, r)
						return
					}
					r.URL.Path = "/v1/usage"
					<-time.After(slow)
					v.ServeHTTP(w, r)
				})
				toml, r0 := "", &rig{t: t}
				r := newRig(t, relayed, vendors{"relay": h, "spare": relay("ok")}, func(d *gateway.Deps) {
					d.Load = func() (*config.Config, *provider.Catalog, error) {
						cfg, cat := r0.parse(toml)
						return cfg, cat, nil
					}
				})
				base := r.cat.Provider("relay").BalanceURL
				spare := r.cat.Provider("spare").Bases["chat"]
				toml = change(strings.NewReplacer("{relay}", strings.TrimSuffix(base, "/v1/usage"), "{spare}", strings.TrimSuffix(spare, "/v1")).Replace(relayed))
				r.asks("group/g")
				if n := v.Asked(keyOne); n != 1 {
					t.Fatalf("asked %d times", n)
				}
				pass(time.Second)
				if err := r.g.Reload(); err != nil {
					t.Fatal(err)
				}
				if a := r.account("relay/main"); len(a.Windows) != 1 || a.Windows[0].Amount != 50 {
					t.Errorf("what was read stands until it is read anew: %+v", a.Windows)
				}
				v.Limit(keyThree, "7d", 10)
				r.asks("group/g")
				want := map[string]int{"its URL": 2, "its key": 2, "nothing of it": 1}[name]
				if n := v.Asked(keyOne) + v.Asked(keyThree); n != want {
					t.Errorf("asked %d times, want %d", n, want)
				}
			})
		})
	}
}
