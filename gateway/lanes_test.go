package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/lane"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// slowVendor answers after a while and notes whom it answered, and how many it had at once.
type slowVendor struct {
	takes time.Duration
	fails bool // with a 500

	mu    sync.Mutex
	busy  int
	worst int
	calls []string // by key
}

func (v *slowVendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	v.mu.Lock()
	v.busy++
	v.worst = max(v.worst, v.busy)
	v.calls = append(v.calls, r.Header.Get("Authorization"))
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		v.busy--
		v.mu.Unlock()
	}()
	select {
	case <-time.After(v.takes):
	case <-r.Context().Done():
		return
	}
	if v.fails {
		http.Error(w, `{"error":{"message":"broken"}}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, ok("chat", "hello"))
}

func (v *slowVendor) seen() (worst, calls int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.worst, len(v.calls)
}

// limitedTo is one key under those limits.
func limitedTo(limits string) string {
	return strings.Replace(lone, "[providers.a]\n", "[providers.a]\n"+limits+"\n", 1)
}

// later asks in the background and returns what will be answered.
func (r *rig) later(ctx context.Context, path, body string) <-chan answer {
	out := make(chan answer, 1)
	go func() {
		resp, err := r.send(ctx, http.MethodPost, path, body)
		if err != nil {
			out <- answer{err: err}
			return
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		out <- answer{status: resp.StatusCode, header: resp.Header, body: string(b), err: err}
	}()
	synctest.Wait()
	return out
}

// lanesNow is what the status API tells of lanes.
func (r *rig) lanesNow() map[string]lane.State {
	r.t.Helper()
	var got struct {
		Object string                `json:"object"`
		Data   map[string]lane.State `json:"data"`
	}
	strict(r.t, r.do(http.MethodGet, "/v1/magpie/concurrency", "").body, &got)
	if got.Object != "concurrency" {
		r.t.Errorf("object %q", got.Object)
	}
	return got.Data
}

func TestFiftyAtOnceOverTwoSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &slowVendor{takes: time.Second}
		r := newRig(t, limitedTo("max_concurrency = 2"), vendors{"a": v})
		path, body := asking("chat", "a/m", false)
		var all []<-chan answer
		for range 50 {
			all = append(all, r.later(t.Context(), path, body))
		}
		if got := r.lanesNow()["a/k1"]; got != (lane.State{Busy: 2, Waiting: 48, Limit: 2}) {
			t.Errorf("%+v", got)
		}
		for i, ch := range all {
			if got := <-ch; got.status != 200 {
				t.Errorf("request %d: %d %s", i, got.status, got.body)
			}
		}
		worst, calls := v.seen()
		if worst != 2 || calls != 50 {
			t.Errorf("%d at once, %d in all", worst, calls)
		}
		if got := r.lanesNow()["a/k1"]; got != (lane.State{Limit: 2}) || len(r.rests()) != 0 {
			t.Errorf("%+v, rests %v", got, r.rests())
		}
		queued := 0
		for _, route := range r.kept.all() {
			if q := route.Tries[0].QueuedMS; q > 0 {
				queued++
				if q%1000 != 0 || route.Tries[0].Queued || q >= route.Tries[0].MS {
					t.Errorf("queued %d ms of %d", q, route.Tries[0].MS)
				}
			}
		}
		if queued != 48 {
			t.Errorf("%d waited", queued)
		}
	})
}

func TestATurnedAwayRequestIsTold429AndNobodyRests(t *testing.T) {
	for name, c := range map[string]struct {
		limits, words string
		after         time.Duration
	}{
		"too many wait":   {"max_concurrency = 1\nqueue_limit = 1", "1 requests wait for it already", 0},
		"waited too long": {"max_concurrency = 1\nqueue_wait = 3", "had no slot within 3s", 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &slowVendor{takes: time.Minute}
				r := newRig(t, limitedTo(c.limits), vendors{"a": v})
				path, body := asking("chat", "a/m", false)
				first := r.later(t.Context(), path, body)
				ctx, leave := withLeave(t)
				second := r.later(ctx, path, body)
				start := time.Now()
				got := r.ask(path, body)
				if got.status != 429 || got.header.Get("Retry-After") != "1" || !strings.Contains(got.body, c.words) || time.Since(start) != c.after {
					t.Errorf("%d %v %s after %s", got.status, got.header, got.body, time.Since(start))
				}
				route := r.last()
				if _, calls := v.seen(); calls != 1 || len(r.rests()) != 0 || route.Tries[0].Row != "lane-full" || route.Tries[0].Fail != trace.Rate {
					t.Errorf("asked %d times, rests %v, %+v", calls, r.rests(), route.Tries)
				}
				leave()
				<-second
				if got := <-first; got.status != 200 {
					t.Errorf("the first: %d", got.status)
				}
			})
		})
	}
}

func TestAFullOneGivesWayOnceToOneThatIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &slowVendor{takes: time.Minute}
		r := newRig(t, strings.Replace(twoKeys, "[providers.a]\n", "[providers.a]\nmax_concurrency = 1\n", 1), vendors{"a": v})
		path, body := asking("chat", "a/m", false)
		first, second := r.later(t.Context(), path, body), r.later(t.Context(), path, body)
		third := r.later(t.Context(), path, body) // both are full: it waits for the one it was planned on
		if got := r.lanesNow(); got["a/k1"].Waiting != 1 || got["a/k2"] != (lane.State{Busy: 1, Limit: 1}) {
			t.Errorf("%+v", got)
		}
		for _, ch := range []<-chan answer{first, second, third} {
			if got := <-ch; got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		var gave []string
		for _, route := range r.kept.all() {
			gave = append(gave, tried(route)+" for "+route.Tries[0].InsteadOf)
			if got := ordered(route.Order); got != "a/k1 a/k2" {
				t.Errorf("the plan is told as %s", got)
			}
		}
		if got := strings.Join(gave, ", "); got != "a/k1 for , a/k2 for a/k1, a/k1 for " && got != "a/k2 for a/k1, a/k1 for , a/k1 for " {
			t.Error(got)
		}
	})
}

func TestOneThatGaveWayIsWaitedForWhenTheOtherFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &slowVendor{takes: time.Minute}, &slowVendor{takes: time.Second, fails: true}
		r := newRig(t, strings.Replace(abOf("m"), "[providers.a]\n", "[providers.a]\nmax_concurrency = 1\n", 1), vendors{"a": a, "b": b})
		path, body := asking("chat", "group/g", false)
		first := r.later(t.Context(), path, body)
		got := r.ask(path, body)
		<-first
		route := r.last()
		if got.status != 200 || tried(route) != "b/k a/k" || route.Tries[0].InsteadOf != "a/k" || route.Tries[1].QueuedMS != 59000 {
			t.Errorf("%d, %+v", got.status, route.Tries)
		}
	})
}

// laneOfThree is a group of a, which takes one request at once, b and c.
const laneOfThree = `
[providers.a]
chat = "{a}/v1"
max_concurrency = 1
keys = [{ name = "k", value = "sk-test-k1-000000000001" }]
[providers.b]
chat = "{b}/v1"
keys = [{ name = "k", value = "sk-test-k2-000000000002" }]
[providers.c]
chat = "{c}/v1"
keys = [{ name = "k", value = "sk-test-k3-000000000003" }]
[groups.g]
routing = "order"
members = ["a/m", "b/m", "c/m"]
`

func TestOneThatGaveWayGivesWayNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := &slowVendor{takes: time.Minute}, &slowVendor{takes: time.Second, fails: true}, &slowVendor{}
		r := newRig(t, laneOfThree, vendors{"a": a, "b": b, "c": c})
		path, body := asking("chat", "group/g", false)
		first := r.later(t.Context(), path, body)
		got := r.ask(path, body)
		<-first
		if _, calls := c.seen(); got.status != 200 || tried(r.last()) != "b/k a/k" || calls != 0 {
			t.Errorf("%d, tried %s, c was asked %d times", got.status, tried(r.last()), calls)
		}
	})
}

func TestAFullOneGivesWayToNobodyWhoRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := &slowVendor{takes: time.Minute}, &slowVendor{}, &slowVendor{}
		r := newRig(t, laneOfThree, vendors{"a": a, "b": b, "c": c})
		r.restNow("b/k", trace.Rate, trace.ByCooldown, time.Hour)
		r.restNow("c/k", trace.Rate, trace.ByCooldown, time.Hour)
		path, body := asking("chat", "group/g", false)
		first := r.later(t.Context(), path, body)
		got := r.ask(path, body)
		<-first
		if route := r.last(); got.status != 200 || tried(route) != "a/k" || route.Tries[0].QueuedMS != 60000 {
			t.Errorf("%d, %+v", got.status, route.Tries)
		}
	})
}

const laneWithFallback = `
[providers.a]
chat = "{a}/v1"
LIMITS
keys = [{ name = "k1", value = "sk-test-k1-000000000001" }, { name = "k2", value = "sk-test-k2-000000000002" }]
fallback = ["b/m"]
[providers.b]
chat = "{b}/v1"
keys = [{ name = "k", value = "sk-test-k3-000000000003" }]
`

func TestAFallbackIsNeverAskedMerelyForWantOfASlot(t *testing.T) {
	for name, c := range map[string]struct {
		limits string
		status int
		tried  string
	}{
		"it waits":        {"max_concurrency = 1", 200, "a/k1"},
		"it may not wait": {"max_concurrency = 1\nqueue_wait = 1", 429, "a/k1 a/k2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := &slowVendor{takes: time.Minute}, &slowVendor{}
				r := newRig(t, strings.Replace(laneWithFallback, "LIMITS", c.limits, 1), vendors{"a": a, "b": b})
				path, body := asking("chat", "a/m", false)
				first, second := r.later(t.Context(), path, body), r.later(t.Context(), path, body)
				got := r.ask(path, body)
				route := r.told()
				if _, calls := b.seen(); got.status != c.status || tried(route) != c.tried || calls != 0 {
					t.Errorf("%d, tried %s, the fallback was asked %d times", got.status, tried(route), calls)
				}
				<-first
				<-second
			})
		})
	}
}

func TestAFallbackIsAskedWhereAnotherFailedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := &slowVendor{takes: time.Minute, fails: true}
		r := newRig(t, strings.Replace(laneWithFallback, "LIMITS", "max_concurrency = 1\nqueue_wait = 5", 1), vendors{"a": fail, "b": &slowVendor{}})
		path, body := asking("chat", "a/m", false)
		first := r.later(t.Context(), path, body)
		<-time.After(30 * time.Second)
		second := r.later(t.Context(), path, body) // on k2 till 90 s, so k1's failure finds it full
		got := <-first
		route := r.kept.all()[0]
		if got.status != 200 || tried(route) != "a/k1 a/k2 b/k" || failKinds(route) != "other rate " {
			t.Errorf("%d, %s, %s", got.status, tried(route), failKinds(route))
		}
		<-second
	})
}

func TestWhoLeavesTheQueueIsNeverSent(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			v := &slowVendor{takes: time.Minute}
			r := newRig(t, limitedTo("max_concurrency = 1"), vendors{"a": v})
			path, body := asking("chat", "a/m", false)
			first := r.later(t.Context(), path, body)
			path, body = asking("chat", "a/m", streamed)
			ctx, leave := withLeave(t)
			second := r.later(ctx, path, body)
			leave()
			<-second
			synctest.Wait()
			if route := r.last(); route.Status != trace.Gone || r.lanesNow()["a/k1"].Waiting != 0 {
				t.Errorf("%d, %+v", route.Status, r.lanesNow())
			}
			<-first
			if _, calls := v.seen(); calls != 1 || len(r.rests()) != 0 {
				t.Errorf("asked %d times, rests %v", calls, r.rests())
			}
		})
	}
}

func TestASlotIsHeldUntilTheReplyIsOver(t *testing.T) {
	for name, leaves := range map[string]bool{"read to its end": false, "the agent leaves": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &timeline{lines: []line{{0, msgStart + msgText}, {time.Minute, msgStop}}}
				r := newRig(t, limitedTo("max_concurrency = 1"), vendors{"a": v})
				path, body := asking("messages", "a/m", true)
				ctx, leave := withLeave(t)
				start := time.Now()
				first := r.later(ctx, path, body)
				second := r.later(t.Context(), path, body)
				<-time.After(20 * time.Second)
				if got := r.lanesNow()["a/k1"]; got.Busy != 1 || got.Waiting != 1 {
					t.Errorf("while the reply is read: %+v", got)
				}
				want := 2 * time.Minute
				if leaves {
					want = 80 * time.Second
					leave()
				}
				<-first
				if got := <-second; got.status != 200 || time.Since(start) != want {
					t.Errorf("%d after %s", got.status, time.Since(start))
				} else if !strings.Contains(got.body, ": keepalive") {
					t.Error("its agent was not kept alive in the queue")
				}
			})
		})
	}
}

func TestARaisedLimitLetsThoseWhoWaitGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &slowVendor{takes: time.Minute}
		limits := "max_concurrency = 1"
		var r *rig
		r = newRig(t, limitedTo(limits), vendors{"a": v}, func(d *gateway.Deps) {
			base := d.Catalog.Providers[0].Bases["messages"]
			d.Load = func() (*config.Config, *provider.Catalog, error) {
				cfg, cat := r.parse(strings.ReplaceAll(limitedTo(limits), "{a}", base))
				return cfg, cat, nil
			}
		})
		path, body := asking("chat", "a/m", false)
		start := time.Now()
		var all []<-chan answer
		for range 4 {
			all = append(all, r.later(t.Context(), path, body))
		}
		<-time.After(10 * time.Second)
		limits = "max_concurrency = 4"
		if err := r.g.Reload(); err != nil {
			t.Fatal(err)
		}
		for _, ch := range all {
			<-ch
		}
		if d := time.Since(start); d != 70*time.Second {
			t.Errorf("all were answered after %s", d)
		}
	})
}

func TestRequestsAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &slowVendor{}
		r := newRig(t, limitedTo("max_rpm = 2"), vendors{"a": v})
		path, body := asking("chat", "a/m", false)
		start := time.Now()
		for range 5 {
			r.ask(path, body)
		}
		if d := time.Since(start); d != 2*time.Minute {
			t.Errorf("five were answered after %s", d)
		}
	})
}

func TestStatusTellsOfLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, strings.Replace(abOf("m"), "[providers.a]\n", "[providers.a]\nmax_concurrency = 1\n", 1), vendors{"a": &slowVendor{takes: time.Minute}, "b": &slowVendor{takes: time.Minute}})
		path, body := asking("chat", "a/m", false)
		first, second := r.later(t.Context(), path, body), r.later(t.Context(), path, body)
		path, body = asking("chat", "b/m", false)
		third := r.later(t.Context(), path, body)
		var s trace.Status
		if err := json.Unmarshal([]byte(r.do(http.MethodGet, "/v1/magpie/status", "").body), &s); err != nil {
			t.Fatal(err)
		}
		if a, b := s.Accounts[0], s.Accounts[1]; a.InFlight != 1 || a.Waiting != 1 || a.Limit != 1 || b.InFlight != 1 || b.Limit != 0 {
			t.Errorf("%+v, %+v", a, b)
		}
		if got := r.lanesNow(); got["b/k"] != (lane.State{Busy: 1}) || len(got) != 2 {
			t.Errorf("%+v", got)
		}
		<-first
		<-second
		<-third
	})
}

// TestADescriberOnTheSameLane: what an account is asked for itself waits for no slot that the request
// behind it holds.
func TestADescriberOnTheSameLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := eachModel{"dark": good("chat", false), "eye": good("chat", false)}
		r := newRig(t, "describer = \"v/eye\"\n"+eyed("chat")+"max_concurrency = 1\nmax_rpm = 2\n", vendors{"v": v})
		start := time.Now()
		got := r.ask("/v1/chat/completions", strings.Replace(withImage["/v1/chat/completions"], "MODEL", "v/dark", 1))
		if got.status != 200 || v["eye"].asked() != 1 || v["dark"].asked() != 1 || time.Since(start) > time.Second {
			t.Errorf("%d %s after %s", got.status, got.body, time.Since(start))
		}
		if c := r.g.Concurrency()["v/k"]; c.Busy != 0 || c.Waiting != 0 {
			t.Errorf("left: %+v", c)
		}
	})
}
