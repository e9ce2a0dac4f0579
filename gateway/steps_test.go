package gateway_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// restNow rests a key until a while from now.
func (r *rig) restNow(key string, why trace.Kind, by trace.RestBy, d time.Duration) {
	r.t.Helper()
	now := time.Now()
	if !r.store.PutRest(trace.Rest{Key: key, Why: why, By: by, Status: 429, Since: now, Until: now.Add(d)}, r.store.Past(key).Gen) {
		r.t.Fatalf("no rest for %s", key)
	}
}

func TestWhatPassesIsAskedAgainWhileAllOthersAreSpent(t *testing.T) {
	for name, c := range map[string]struct {
		step  string
		why   trace.Kind
		by    trace.RestBy
		tried string
	}{
		"a 503 while the other is out of credit":       {"503 server x1", trace.Credit, trace.ByCredit, "a/k1 a/k1"},
		"a 503 while the other's week is used up":      {"503 server x1", trace.Quota, trace.ByWindow, "a/k1 a/k1"},
		"a rate limit while the other has no money":    {`429 rate say="too many requests" x2`, trace.Credit, trace.ByCredit, "a/k1 a/k1 a/k1"},
		"a 503 that does not pass: then the spent":     {"503 server x9", trace.Credit, trace.ByCredit, "a/k1 a/k1 a/k1 a/k2"},
		"a 503 while the other is only rate limited":   {"503 server x1", trace.Rate, trace.ByCooldown, "a/k1 a/k2"},
		"a quota refusal while the other has no money": {`429 quota say="usage limit reached for your plan" x1`, trace.Credit, trace.ByCredit, "a/k1 a/k2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := relay("ok")
				v.Script(keyOne, standin.Must(c.step)...)
				r := newRig(t, twoKeys, vendors{"a": v})
				r.restNow("a/k2", c.why, c.by, time.Hour)
				got := r.ask(asking("chat", "a/m", false))
				if route := r.told(); got.status != 200 || tried(route) != c.tried {
					t.Errorf("%d %s, tried %s", got.status, got.body, tried(route))
				}
			})
		})
	}
}

func TestRepeatsAreMarkedAndPausedLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must(`429 rate say="too many requests" x3`)...)
		r := newRig(t, lone, vendors{"a": v})
		start := time.Now()
		if got := r.ask(asking("chat", "a/m", false)); got.status != 200 || time.Since(start) != 7*time.Second {
			t.Errorf("%d after %s", got.status, time.Since(start))
		}
		route := r.told()
		if len(route.Tries) != 4 || route.Tries[0].Again || !route.Tries[1].Again || !route.Tries[3].Again || route.MS != 7000 {
			t.Errorf("%d ms, %+v", route.MS, route.Tries)
		}
	})
}

func TestADeadProxyIsNotTheKeysFault(t *testing.T) {
	toml := strings.Replace(abOf("m"), "[providers.a]", "[providers.a]\nproxy = \"http://127.0.0.1:9\"", 1)
	b := good("chat", false)
	r := newRig(t, toml, vendors{"a": good("chat", false), "b": b})
	got := r.ask(asking("chat", "group/g", false))
	route := r.told()
	if got.status != 200 || failKinds(route) != "proxy " || route.Tries[0].Rest != nil || len(r.rests()) != 0 {
		t.Errorf("%d %s, %+v, rests %v", got.status, got.body, route.Tries, r.rests())
	}
}

func TestAClosedPortIsTheNetworksFault(t *testing.T) {
	toml := strings.ReplaceAll(abOf("m"), "{a}", "http://127.0.0.1:9")
	r := newRig(t, toml, vendors{"b": good("chat", false)})
	got := r.ask(asking("chat", "group/g", false))
	route := r.told()
	if got.status != 200 || failKinds(route) != "network " || route.Tries[0].Rest == nil || route.Tries[0].Rest.By != trace.ByBackoff || route.Tries[0].Status != 502 {
		t.Errorf("%d %s, %+v", got.status, got.body, route.Tries)
	}
}

func TestAWrongKeyGivesWayAndIsNotRepeatedWhenItIsTheLast(t *testing.T) {
	v := relay("ok", "401 auth x*")
	r := newRig(t, twoKeys, vendors{"a": v})
	got := r.ask(asking("chat", "a/m", false))
	route := r.told()
	if got.status != 401 || tried(route) != "a/k1 a/k2" || failKinds(route) != "auth auth" {
		t.Errorf("%d %s, tried %s", got.status, got.body, tried(route))
	}
	rests := r.rests()
	if rests["a/k1"].By != trace.ByAuth || len(rests) != 1 {
		t.Errorf("%v", rests)
	}
}

const verifyBody = `{"error":{"code":403,"message":"Verify your account to continue.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"VALIDATION_REQUIRED","metadata":{"validation_url":"https://accounts.google.com/signin/continue?x=1"}}]}}`

func TestAnAccountToBeVerifiedIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &canned{status: 403, kind: "application/json", body: verifyBody}
		r := newRig(t, lone, vendors{"a": v})
		path, body := asking("gemini", "a/m", false)
		first := r.ask(path, body)
		rest := r.rests()["a/k1"]
		if first.status != 403 || rest.By != trace.ByVerify || rest.Link == "" || rest.Until.Sub(rest.Since) != 30*time.Minute {
			t.Fatalf("%d %s, rest %+v", first.status, first.body, rest)
		}
		pass(59 * time.Second)
		second := r.ask(path, body)
		if second.status != 403 || v.asked() != 1 || !strings.Contains(second.body, "Verify your account") {
			t.Errorf("within a minute: %d %s, asked %d times", second.status, second.body, v.asked())
		}
		if again := r.rests()["a/k1"]; again.Until != rest.Until {
			t.Errorf("the answer from memory rested it anew: %+v", again)
		}
		pass(2 * time.Second)
		if third := r.ask(path, body); third.status != 403 || v.asked() != 2 {
			t.Errorf("after a minute: %d, asked %d times", third.status, v.asked())
		}
	})
}

func TestAVerificationMovesToTheNext(t *testing.T) {
	b := good("gemini", false)
	r := newRig(t, abOf("m"), vendors{"a": &canned{status: 403, kind: "application/json", body: verifyBody}, "b": b})
	if got := r.ask(asking("gemini", "group/g", false)); got.status != 200 || r.rests()["a/k"].By != trace.ByVerify {
		t.Errorf("%d %s, rests %v", got.status, got.body, r.rests())
	}
}

func TestOnlyTheLastOfSeveralIsNotRested(t *testing.T) {
	v := relay("", "402 credit x*")
	r := newRig(t, twoKeys, vendors{"a": v})
	got := r.ask(asking("chat", "a/m", false))
	rests := r.rests()
	if _, first := rests["a/k1"]; got.status != 402 || !first || len(rests) != 1 {
		t.Errorf("%d, rests %v", got.status, rests)
	}
}

func TestMaxAttemptsEndsTheSearch(t *testing.T) {
	v := relay("", "500 server x*")
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "max_attempts = 1\n"+twoKeys, vendors{"a": v})
		got := r.ask(asking("chat", "a/m", false))
		if route := r.told(); got.status != 500 || strings.Contains(tried(route), "k2") {
			t.Errorf("%d, tried %s", got.status, tried(route))
		}
	})
}

func TestAnUnansweredErrorIsTheVendorsOwn(t *testing.T) {
	// What the vendor said goes to the agent as it came, byte for byte.
	for api, body := range map[string]string{
		"chat":      `{"error": {"message":"temperature <2 & >0","type":"invalid_request_error","param":"temperature","code":null},  "extra":[1]}`,
		"messages":  `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: bad"},"request_id":"req_1"}`,
		"responses": `{"error":{"message":"Unknown tool","type":"invalid_request_error","param":"tools[0]","code":"bad_tool"}}`,
		"gemini":    `[{"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT"}}]`,
	} {
		for _, streamed := range []bool{false, true} {
			v := &canned{status: 400, kind: "application/json", body: body, headers: []string{"X-Request-Id: up_1", "X-Should-Retry: false"}}
			r := newRig(t, lone, vendors{"a": v})
			got := r.ask(asking(api, "a/m", streamed))
			if got.status != 400 || got.body != body || v.asked() != 1 || got.header.Get("X-Request-Id") != "up_1" {
				t.Errorf("%s: %d %s, asked %d times, %v", api, got.status, got.body, v.asked(), got.header)
			}
			if h := got.header; h.Get("X-Magpie-Provider") != "a" || h.Get("X-Magpie-Model") != "m" || h.Get("X-Magpie-Request") == "" {
				t.Errorf("%s: %v", api, h)
			}
			if e := r.told(); e.Status != 400 || e.Tries[0].Fail != trace.Request || e.Error == "" {
				t.Errorf("%s: %d %+v", api, e.Status, e.Tries)
			}
		}
	}
}

func TestAPackedErrorIsReadAndToldUnpacked(t *testing.T) {
	body := `{"error":{"message":"temperature is wrong","type":"invalid_request_error"}}`
	v := &canned{status: 400, kind: "application/json", body: zipped(body), headers: []string{"Content-Encoding: gzip"}}
	r := newRig(t, lone, vendors{"a": v})
	if got := r.ask(asking("chat", "a/m", false)); got.status != 400 || got.body != body || got.header.Get("Content-Encoding") != "" {
		t.Errorf("%d %q %v", got.status, got.body, got.header)
	}
	v.status, v.body = 402, zipped(`{"error":{"message":"Insufficient balance"}}`)
	if r.ask(asking("chat", "a/m", false)); failKinds(r.told()) != "credit" {
		t.Errorf("%+v", r.told().Tries)
	}
}

func TestAnOverloadedVendorIsA529ForMessagesAnd503ForOthers(t *testing.T) {
	for api, want := range map[string]int{"messages": 529, "chat": 503, "responses": 503, "gemini": 503} {
		synctest.Test(t, func(t *testing.T) {
			v := relay("", "529 overloaded x*")
			r := newRig(t, twoKeys, vendors{"a": v})
			got := r.ask(asking(api, "a/m", false))
			e := errorOf(t, api, got.body)
			if got.status != want {
				t.Errorf("%s: %d %s", api, got.status, got.body)
			}
			if api == "messages" && e.Type != "overloaded_error" || api == "gemini" && e.Status != "UNAVAILABLE" {
				t.Errorf("%s: %s", api, got.body)
			}
			rest := r.told().Tries[0].Rest
			if rest == nil || rest.Why != trace.Overloaded || rest.Until.Sub(rest.Since) != 15*time.Second {
				t.Errorf("%s: %+v", api, rest)
			}
		})
	}
}

func TestARetryTimeReachesTheAgent(t *testing.T) {
	for name, c := range map[string]struct {
		toml string
		step string
		want string
	}{
		"the vendor's own":                 {lone, "429 rate retry-after=30s x*", "30"},
		"in milliseconds":                  {lone, "429 rate header=retry-after-ms:45000 x*", "45"},
		"an hour's reset in the body":      {lone, "429 quota words=codex resets=1h x*", "3600"},
		"the soonest of several":           {twoKeys, "429 rate retry-after=40s x*", "40"},
		"none named, and nobody's to wait": {lone, `402 credit x*`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.toml, vendors{"a": relay("", c.step)})
				got := r.ask(asking("chat", "a/m", false))
				if got.header.Get("Retry-After") != c.want {
					t.Errorf("%d, Retry-After %q, want %q", got.status, got.header.Get("Retry-After"), c.want)
				}
			})
		})
	}
}

func TestWhoIsOnlyTooBusyIsNotWaitedForAsLongAsAnotherRests(t *testing.T) {
	for busy, wants := range map[string][]string{
		"503 overloaded x*":           {"", "15"}, // the second time it rests too
		"429 rate retry-after=30s x*": {"30", "30"},
	} {
		t.Run(busy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := relay("", busy)
				v.Script(keyOne, standin.Must("402 credit x*")...)
				r := newRig(t, twoKeys, vendors{"a": v})
				for i, want := range wants {
					got := r.ask(asking("chat", "a/m", false))
					if after := got.header.Get("Retry-After"); after != want {
						t.Errorf("request %d: %d, Retry-After %q, want %q", i+1, got.status, after, want)
					}
				}
			})
		})
	}
}

func TestARedirectOfAVendorIsNotFollowed(t *testing.T) {
	// A key must not go to wherever a vendor's answer points.
	other := good("chat", false)
	var otherBase atomic.Value // where it points
	v := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, otherBase.Load().(string), http.StatusTemporaryRedirect)
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, lone, vendors{"a": v})
		base, stop, err := r.net.Serve(other)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		to := base + "/v1/chat/completions"
		otherBase.Store(to)
		got := r.ask(asking("chat", "a/m", false))
		if got.status != http.StatusBadGateway || other.asked() != 0 || got.header.Get("Location") != "" {
			t.Errorf("%d %s %v, %d asked elsewhere", got.status, got.body, got.header, other.asked())
		}
		if !strings.Contains(got.body, "a answered 307, a redirect to "+to+": it is not followed") || len(r.last().Tries) != 1 {
			t.Errorf("%s, tries %+v", got.body, r.last().Tries)
		}
	})
}
