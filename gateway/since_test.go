package gateway_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/lane"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// oneAtOnce is twoKeys with a lane of one for each of them, and more of its settings.
func oneAtOnce(more string) string {
	return strings.Replace(twoKeys, "[providers.a]\n", "[providers.a]\nmax_concurrency = 1\nrouting = \"order\"\naffinity = \"off\"\n"+more+"\n", 1)
}

// who answered tells keys as the vendor saw them.
func keysOf(v *slowVendor) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := strings.Join(v.calls, " ")
	return strings.NewReplacer("Bearer "+keyOne, "k1", "Bearer "+keyTwo, "k2").Replace(s)
}

func TestAFullLaneSaysNothingOfItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &slowVendor{takes: time.Minute}
		r := newRig(t, oneAtOnce("sink = true\nqueue_wait = 1"), vendors{"a": v})
		path, body := asking("chat", "a/m", false)
		first, second := r.later(t.Context(), path, body), r.later(t.Context(), path, body)
		if got := r.ask(path, body); got.status != 429 {
			t.Errorf("%d %s", got.status, got.body)
		}
		for _, key := range []provider.AccountID{"a/k1", "a/k2"} {
			if sunk := r.store.Standing(key).Sunk; sunk.Seq != 0 {
				t.Errorf("%s stands behind, for want of a slot: %+v", key, sunk)
			}
		}
		<-first
		<-second
	})
}

func TestNobodyIsAskedWhoWasPausedWhileARequestWaited(t *testing.T) {
	for name, c := range map[string]struct {
		pause, tried, asked string
		status              int
		after               string
	}{
		"another takes over":          {`"who":"a/k1"`, "a/k1 a/k2", "k1 k2 k2", 200, ""},
		"all of them are":             {`"who":"all"`, "a/k1 a/k2", "k1 k2", 503, ""},
		"all of them are for a while": {`"who":"all","args":{"for":"10m"}`, "a/k1 a/k2", "k1 k2", 503, "540"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &slowVendor{takes: time.Minute}
				r := newRig(t, oneAtOnce(""), vendors{"a": v})
				path, body := asking("chat", "a/m", false)
				first, second := r.later(t.Context(), path, body), r.later(t.Context(), path, body)
				third := r.later(t.Context(), path, body)
				r.command(`{"verb":"pause",` + c.pause + `}`)
				got := <-third
				<-first
				<-second
				route := r.told()
				if got.status != c.status || tried(route) != c.tried || keysOf(v) != c.asked || got.header.Get("Retry-After") != c.after {
					t.Errorf("%d %s, Retry-After %q, tried %s, the vendor saw %s", got.status, got.body, got.header.Get("Retry-After"), tried(route), keysOf(v))
				}
				if try := route.Tries[0]; try.Row != "paused-since" || try.Rest != nil || try.QueuedMS != 60000 {
					t.Errorf("%+v", try)
				}
				if c.status == 503 && !strings.Contains(got.body, `"code":"all_paused"`) {
					t.Errorf("%s", got.body)
				}
				if l := r.lanesNow(); l["a/k1"] != (lane.State{Limit: 1}) || l["a/k2"] != (lane.State{Limit: 1}) {
					t.Errorf("slots are kept: %+v", l)
				}
			})
		})
	}
}

func TestAPauseHoldsForARequestThatIsUnderWay(t *testing.T) {
	for name, c := range map[string]struct{ config, pause, tried, asked string }{
		"for who would be next":        {twoKeys, "a/k2", "a/k1 a/k2", "k1"},
		"for who would be asked again": {lone, "a/k1", "a/k1 a/k1", "k1"},
		"and leaves others as before":  {twoKeys, "a/k1", "a/k1 a/k2 a/k2 a/k2", "k1 k2 k2 k2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &slowVendor{takes: 10 * time.Second, fails: true}
				r := newRig(t, strings.Replace(c.config, "[providers.a]\n", "[providers.a]\nrouting = \"order\"\n", 1), vendors{"a": v})
				path, body := asking("chat", "a/m", false)
				only := r.later(t.Context(), path, body)
				r.command(`{"verb":"pause","who":"` + c.pause + `"}`)
				got := <-only
				if route := r.last(); tried(route) != c.tried || keysOf(v) != c.asked {
					t.Errorf("%d %s, tried %s, the vendor saw %s", got.status, got.body, tried(route), keysOf(v))
				}
				if got.status != 500 || !strings.Contains(got.body, "broken") {
					t.Errorf("one was asked, and how it failed is what is told: %d %s", got.status, got.body)
				}
			})
		})
	}
}

func TestNobodyGivesWayToWhoWasPausedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, good := &slowVendor{takes: 10 * time.Second, fails: true}, &slowVendor{takes: time.Minute}
		toml := "affinity = \"off\"\n[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", value = \"sk-bad\" }]\n[providers.b]\nchat = \"{b}/v1\"\nmax_concurrency = 1\nrouting = \"order\"\nkeys = ["
		for _, name := range []string{"k1", "k2", "k3"} {
			toml += "{ name = \"" + name + "\", value = \"sk-" + name + "\" },"
		}
		r := newRig(t, toml+"]\n[groups.g]\nrouting = \"order\"\nmembers = [\"a/m\", \"b/m\"]\n", vendors{"a": bad, "b": good})
		path, body := asking("chat", "b/m", false)
		first := r.later(t.Context(), path, body) // has the slot of k1
		path, body = asking("chat", "group/g", false)
		second := r.later(t.Context(), path, body)
		synctest.Wait()
		r.command(`{"verb":"pause","who":"b/k2"}`)
		got := <-second
		if route := r.told(); got.status != 200 || tried(route) != "a/k b/k3" || route.Tries[1].InsteadOf != "b/k1" {
			t.Errorf("%d %s, tried %s", got.status, got.body, tried(route))
		}
		<-first
	})
}

func TestWhoRestsByTheTimeThereIsASlotComesLast(t *testing.T) {
	for name, c := range map[string]struct {
		config, tried, asked string
		fails                bool
	}{
		"another is asked first":      {oneAtOnce(""), "a/k1 a/k2", "k1 k2 k2", false},
		"who is alone is asked still": {limitedTo("max_concurrency = 1"), "a/k1", "k1 k1", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &slowVendor{takes: time.Minute}
				r := newRig(t, c.config, vendors{"a": v})
				path, body := asking("chat", "a/m", false)
				ctx, leave := withLeave(t)
				first := r.later(ctx, path, body)
				var second <-chan answer
				if c.config == oneAtOnce("") {
					second = r.later(t.Context(), path, body)
				}
				third := r.later(t.Context(), path, body) // waits for k1
				r.restNow("a/k1", trace.Rate, trace.ByRetryAfter, time.Hour)
				leave()
				<-first
				if second != nil {
					<-second
				}
				got := <-third
				route := r.told()
				if got.status != 200 || tried(route) != c.tried || keysOf(v) != c.asked {
					t.Errorf("%d %s, tried %s, the vendor saw %s", got.status, got.body, tried(route), keysOf(v))
				}
				if row := route.Tries[0].Row; (row == "rests-since") != (second != nil) {
					t.Errorf("%+v", route.Tries)
				}
			})
		})
	}
}

func TestWhoRestsByTheTimeThereIsASlotIsAskedWhereNobodyElseAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &slowVendor{takes: time.Minute}, &slowVendor{takes: time.Second, fails: true}
		r := newRig(t, strings.Replace(abOf("m"), "[providers.a]\n", "[providers.a]\nmax_concurrency = 1\n", 1)+"affinity = \"off\"\n", vendors{"a": a, "b": b})
		path, body := asking("chat", "group/g", false)
		ctx, leave := withLeave(t)
		first := r.later(ctx, path, body)
		second := r.later(t.Context(), path, body) // gives way to b once, then waits
		<-time.After(2 * time.Second)
		r.command(`{"verb":"wake","who":"all"}`)
		r.restNow("a/k", trace.Rate, trace.ByRetryAfter, time.Hour)
		leave()
		<-first
		if got := <-second; got.status != 200 || tried(r.told()) != "b/k a/k" {
			t.Errorf("%d %s, tried %s", got.status, got.body, tried(r.told()))
		}
	})
}

// What an account rests for was told to another request: this one has nothing to put right.
func TestNothingIsPutRightOfWhoWasNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int32
		secrets := provider.NewSecrets(provider.SecretsOptions{ReadFile: func(name string) ([]byte, error) {
			return fmt.Appendf(nil, "sk-of%s-%024d", strings.ReplaceAll(name, "/", "-"), written.Load()), nil
		}})
		v := &slowVendor{takes: time.Minute}
		toml := "[providers.a]\nchat = \"{a}/v1\"\nmax_concurrency = 1\nrouting = \"order\"\naffinity = \"off\"\nkeys = [{ name = \"k1\", file = \"/k/1\" }, { name = \"k2\", file = \"/k/2\" }]\n"
		r := newRig(t, toml, vendors{"a": v}, func(d *gateway.Deps) { d.Secrets = secrets })
		path, body := asking("chat", "a/m", false)
		ctx, leave := withLeave(t)
		first, second := r.later(ctx, path, body), r.later(t.Context(), path, body)
		third := r.later(t.Context(), path, body) // waits for k1
		written.Add(1)
		secrets.Forget("a/k1") // as whoever was refused does
		r.restNow("a/k1", trace.Auth, trace.ByRetryAfter, time.Hour)
		leave()
		<-first
		<-second
		if got := <-third; got.status != 200 || tried(r.told()) != "a/k1 a/k2" || r.told().Tries[0].Row != "rests-since" {
			t.Errorf("%d %s, tried %s: %+v", got.status, got.body, tried(r.told()), r.told().Tries)
		}
	})
}

func TestWhoReachedItsCapByTheTimeThereIsASlotIsNotAsked(t *testing.T) {
	for name, c := range map[string]struct {
		spare  float64
		status int
		tried  string
	}{
		"another takes over": {20, 200, "sub/me sub/spare"},
		"all of them did":    {100, 429, "sub/me"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &slowVendor{takes: time.Minute}
				r := accountsRig(t, ", cap = 70, max_concurrency = 1", "false, max_concurrency = 1", v)
				r.reads("sub/me", 60, 3*time.Hour)
				r.reads("sub/spare", c.spare, 2*time.Hour)
				var all []<-chan answer
				for range 3 {
					all = append(all, r.later(t.Context(), "/v1/chat/completions", chatBody("sub/m")))
				}
				r.reads("sub/me", 71, 3*time.Hour)
				for _, ch := range all[:len(all)-1] {
					<-ch
				}
				got := <-all[len(all)-1]
				if route := r.told(); got.status != c.status || tried(route) != c.tried || route.Tries[0].Row != "held-since" || len(r.rests()) != 0 {
					t.Errorf("%d %s, %+v", got.status, got.body, route.Tries)
				}
				if c.status == 429 && (got.header.Get("Retry-After") != "10741" || !strings.Contains(got.body, "account_held") || !strings.Contains(got.body, "70%")) {
					t.Errorf("Retry-After %s, %s", got.header.Get("Retry-After"), got.body)
				}
			})
		})
	}
}
