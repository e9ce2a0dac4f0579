package gateway_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
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
				var asked atomic.Int32
				v := sold(300, keyOne)
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodGet {
						asked.Add(1)
					}
					v.ServeHTTP(w, r)
				})
				r := newRig(t, strings.Replace(relayed, `balance_url = "{relay}/v1/usage"`, line, 1), vendors{"relay": h, "spare": relay("ok")})
				for range 3 {
					r.asks("group/g")
					pass(2 * time.Minute)
				}
				if n := asked.Load(); n != 0 {
					t.Errorf("asked %d times", n)
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
		var seen atomic.Pointer[http.Request]
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/usage" {
				seen.Store(r.Clone(context.Background()))
			}
			v.ServeHTTP(w, r)
		})
		toml := strings.Replace(relayed, `balance_url = "{relay}/v1/usage"`, "balance_url = \"{relay}/v1/usage?who={key}\"\nheaders = { X-Panel = \"of {key}\" }", 1)
		r := newRig(t, toml, vendors{"relay": h, "spare": relay("ok")})
		r.ask("/v1/chat/completions", chatBody("group/g"), "User-Agent: agent/1", "X-Secret: agents-own")
		synctest.Wait()
		req := seen.Load()
		if req == nil {
			t.Fatal("it was not asked")
		}
		if head := req.Header; head.Get("Authorization") != "Bearer "+keyOne || head.Get("User-Agent") != "magpie/test" || head.Get("X-Panel") != "of "+keyOne || req.URL.RawQuery != "who="+keyOne || head.Get("X-Secret") != "" {
			t.Errorf("%v ?%s", head, req.URL.RawQuery)
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
