package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// planAndSpare is a provider with a fallback model at another.
const planAndSpare = `
[providers.plan]
chat = "{plan}/v1"
messages = "{plan}"
keys = [{ name = "main", value = "sk-test-k1-000000000001" }]
fallback = ["spare/other"]

[providers.spare]
chat = "{spare}/v1"
messages = "{spare}"
keys = [{ name = "main", value = "sk-test-k2-000000000002" }]
`

func relay(text string, steps ...string) *standin.Vendor {
	v := standin.New(standin.Options{Models: []string{"m", "other"}, Text: text})
	v.Script(standin.AnyKey, standin.Must(steps...)...)
	return v
}

func TestFallbackAnswersWhereItMayDoBetter(t *testing.T) {
	for name, c := range map[string]struct {
		step  string
		spare bool
		fail  trace.Kind
	}{
		"429 goes to the spare":                       {"429 rate", true, trace.Rate},
		"402 goes to the spare":                       {"402 credit", true, trace.Credit},
		"529 goes to the spare":                       {"529 overloaded", true, trace.Overloaded},
		"403 with quota words in Chinese":             {`403 forbidden say="套餐额度已用完"`, true, trace.Quota},
		"400 about a missing field stays":             {`400 bad say="messages: field required"`, false, trace.Request},
		"404 of the model":                            {"404 model", true, trace.Model},
		"401 goes to the spare":                       {"401 auth", true, trace.Auth},
		"500 goes to the spare":                       {"500 server", true, trace.Other},
		"a dropped connection":                        {"drop", true, trace.Network},
		"a 422 that is nobody's fault but its sender": {`422 bad say="temperature must be below 2"`, false, trace.Request},
	} {
		t.Run(name, func(t *testing.T) {
			plan, spare := relay("from plan", c.step), relay("from spare")
			r := newRig(t, planAndSpare, vendors{"plan": plan, "spare": spare})
			got := r.ask("/v1/chat/completions", chatBody("plan/m"))
			route := r.last()
			if c.spare {
				calls := spare.Calls()
				if got.status != 200 || !strings.Contains(got.body, "from spare") || len(calls) != 1 || calls[0].Model != "other" {
					t.Fatalf("%d %s; spare got %+v", got.status, got.body, calls)
				}
				if route.Tries[0].Fail != c.fail || route.Status != 200 || tried(route) != "plan/main spare/main" {
					t.Errorf("fail %q, tried %s", route.Tries[0].Fail, tried(route))
				}
				return
			}
			if got.status < 400 || len(spare.Calls()) != 0 || len(plan.Calls()) != 1 {
				t.Errorf("%d %s; the spare was asked %d times", got.status, got.body, len(spare.Calls()))
			}
			if len(route.Tries) != 1 || route.Tries[0].Fail != c.fail || route.Tries[0].Rest != nil {
				t.Errorf("%+v", route.Tries)
			}
			if _, rests := r.rests()["plan/main"]; rests {
				t.Error("a bad request rested the key")
			}
		})
	}
}

// rests are the rests in force, by account.
func (r *rig) rests() map[string]trace.Rest {
	out := map[string]trace.Rest{}
	for _, a := range r.store.Accounts(r.cat, time.Now()) {
		if a.Rest != nil {
			out[a.ID] = *a.Rest
		}
	}
	return out
}

func TestAFallbackRestsTheFailedProvider(t *testing.T) {
	plan, spare := relay("from plan", "402 credit"), relay("from spare")
	r := newRig(t, planAndSpare, vendors{"plan": plan, "spare": spare})
	r.ask("/v1/chat/completions", chatBody("plan/m"))
	r.ask("/v1/chat/completions", chatBody("plan/m"))
	if n := len(plan.Calls()); n != 1 {
		t.Errorf("the resting provider was asked %d times", n)
	}
	route := r.last()
	if tried(route) != "spare/main" || ordered(route.Order) != "spare/main plan/main" {
		t.Errorf("order %s, tried %s", ordered(route.Order), tried(route))
	}
	rest := r.rests()["plan/main"]
	if d := time.Until(rest.Until); rest.Why != trace.Credit || d < 29*time.Minute || d > 30*time.Minute {
		t.Errorf("%+v", rest)
	}
}

func TestTheLastErrorReachesTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, spare := relay("", `429 quota say="usage limit reached for your plan" x9`), relay("", `503 server say="spare down" x9`)
		r := newRig(t, planAndSpare, vendors{"plan": plan, "spare": spare})
		got := r.ask("/v1/chat/completions", chatBody("plan/m"))
		if got.status != 503 || !strings.Contains(got.body, "spare down") {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

func TestAnEarlierCauseThatPassesIsToldOverAUsedUpAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan, spare := relay("", `500 server say="plan broke" x9`), relay("", `429 quota say="usage limit reached" x9`)
		r := newRig(t, planAndSpare, vendors{"plan": plan, "spare": spare})
		got := r.ask("/v1/chat/completions", chatBody("plan/m"))
		if got.status != 500 || !strings.Contains(got.body, "plan broke") {
			t.Errorf("an agent told that its allowance is used up stops: %d %s", got.status, got.body)
		}
	})
}

func TestRestingCandidatesGoLastButAreNeverDropped(t *testing.T) {
	toml := strings.Replace(planAndSpare, `keys = [{ name = "main", value = "sk-test-k1-000000000001" }]`,
		`keys = [{ name = "k1", value = "sk-test-k1-000000000001" }, { name = "k2", value = "sk-test-k3-000000000003" }]`, 1)
	toml = strings.Replace(toml, `keys = [{ name = "main", value = "sk-test-k2-000000000002" }]`,
		`keys = [{ name = "k1", value = "sk-test-k2-000000000002" }, { name = "k2", value = "sk-test-k4-000000000004" }]`, 1)
	r := newRig(t, toml, vendors{"plan": relay("from plan"), "spare": relay("from spare")})
	now := time.Now()
	for _, key := range []string{"plan/k1", "spare/k1"} {
		if !r.store.PutRest(trace.Rest{Key: key, Why: trace.Rate, By: trace.ByCooldown, Since: now, Until: now.Add(time.Minute)}, 0) {
			t.Fatal("no rest was put")
		}
	}
	r.ask("/v1/chat/completions", chatBody("plan/m"))
	if got := ordered(r.last().Order); got != "plan/k2 spare/k2 plan/k1 spare/k1" {
		t.Errorf("order %s", got)
	}
}

func TestALoneCandidateIsTriedEvenWhileItRests(t *testing.T) {
	v := relay("still here")
	r := newRig(t, "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k1\", value = \""+keyOne+"\" }]\n", vendors{"a": v})
	now := time.Now()
	r.store.PutRest(trace.Rest{Key: "a/k1", Why: trace.Credit, By: trace.ByCredit, Since: now, Until: now.Add(time.Minute)}, 0)
	got := r.ask("/v1/chat/completions", chatBody("a/m"))
	route := r.last()
	if got.status != 200 || route.Order[0].Rest == nil || route.Order[0].Rest.Why != trace.Credit {
		t.Errorf("%d, rest %+v", got.status, route.Order[0].Rest)
	}
	if len(r.rests()) != 0 {
		t.Error("an answer did not end the rest")
	}
}

const lone = "[providers.a]\nchat = \"{a}/v1\"\nresponses = \"{a}/v1\"\nmessages = \"{a}\"\ngemini = \"{a}/v1beta\"\nkeys = [{ name = \"k1\", value = \"" + keyOne + "\" }]\n"

func TestTheLastCandidateIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		step  string
		calls int
		took  time.Duration
	}{
		"503 for ever: two repeats":                 {"503 server x99", 3, 3 * time.Second},
		"too many requests for ever: three repeats": {`429 rate say="too many requests" x99`, 4, 7 * time.Second},
		"a wait of 30 s is left to the agent":       {"429 rate retry-after=30s x99", 1, 0},
		"a named wait of 2 s is kept":               {"429 rate retry-after=2s x1", 2, 2 * time.Second},
		"500 once":                                  {"500 server", 2, time.Second},
		"a quota refusal is not repeated":           {`429 quota say="usage limit reached for your plan" x99`, 1, 0},
		"a bad request is not repeated":             {"400 bad x99", 1, 0},
		"a dropped connection is asked again":       {"drop", 2, time.Second},
		"an empty 200 is asked again":               {"empty 200", 2, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := relay("at last", c.step)
				r := newRig(t, lone, vendors{"a": v})
				start := time.Now()
				r.ask("/v1/chat/completions", chatBody("a/m"))
				if n, took := len(v.Calls()), time.Since(start); n != c.calls || took != c.took {
					t.Errorf("%d calls in %s, want %d in %s", n, took, c.calls, c.took)
				}
				if len(r.rests()) != 0 {
					t.Errorf("the last candidate rests: %v", r.rests())
				}
			})
		})
	}
}

func TestHowLongAFailureRests(t *testing.T) {
	for name, c := range map[string]struct {
		step string
		why  trace.Kind
		by   trace.RestBy
		rest time.Duration
	}{
		"credit":                        {"402 credit", trace.Credit, trace.ByCredit, 30 * time.Minute},
		"Retry-After 300":               {"429 rate retry-after=300s", trace.Rate, trace.ByRetryAfter, 5 * time.Minute},
		"a rate limit without a time":   {"429 rate", trace.Rate, trace.ByCooldown, time.Minute},
		"a used-up plan without a time": {`429 quota say="usage limit reached for your plan"`, trace.Quota, trace.ByQuota, 15 * time.Minute},
		"Codex's resets_in_seconds":     {"429 quota words=codex resets=3h", trace.Quota, trace.ByResets, 3 * time.Hour},
		"500":                           {"500 server", trace.Other, trace.ByBackoff, time.Minute},
		"overloaded":                    {"529 overloaded", trace.Overloaded, trace.ByBackoff, 15 * time.Second},
		"a wrong key":                   {"401 auth", trace.Auth, trace.ByAuth, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := relay("from k2")
				v.Script(keyOne, standin.Must(c.step)...)
				r := newRig(t, twoKeys, vendors{"a": v})
				if got := r.ask("/v1/chat/completions", chatBody("a/m")); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				rest := r.last().Tries[0].Rest
				if rest == nil || rest.Why != c.why || rest.By != c.by {
					t.Fatalf("%+v", rest)
				}
				if d := rest.Until.Sub(rest.Since); d < c.rest || d > c.rest+time.Second {
					t.Errorf("rests %s, want %s", d, c.rest)
				}
			})
		})
	}
}

func TestARestGrowsAndAnAnswerResetsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must("500 server", "500 server", "ok", "500 server")...)
		r := newRig(t, twoKeys, vendors{"a": v})
		var lengths []time.Duration
		for range 4 {
			r.ask("/v1/chat/completions", chatBody("a/m"))
			if rest := r.last().Tries[0].Rest; rest != nil {
				lengths = append(lengths, rest.Until.Sub(rest.Since).Round(time.Second))
				pass(time.Until(rest.Until) + time.Millisecond)
			}
		}
		want := []time.Duration{time.Minute, 2 * time.Minute, time.Minute}
		if len(lengths) != 3 || lengths[0] != want[0] || lengths[1] != want[1] || lengths[2] != want[2] {
			t.Errorf("rests of %v, want %v", lengths, want)
		}
	})
}

func TestAModelThatAVendorLimitsAloneRestsAlone(t *testing.T) {
	// One model's limit says nothing of the key's other models.
	v := standin.New(standin.Options{Models: []string{"A", "B"}, Text: "ok"})
	v.Script(standin.AnyKey, standin.Must(`429 rate retry-after=75450s model=A say="{\"code\":6004,\"msg\":\"usage exceeds frequency limit, try another model\"}" x9`)...)
	r := newRig(t, lone, vendors{"a": v})
	first := r.ask("/v1/chat/completions", chatBody("a/A"))
	second := r.ask("/v1/chat/completions", chatBody("a/B"))
	if first.status != http.StatusTooManyRequests || first.header.Get("Retry-After") == "" {
		t.Errorf("A: %d, Retry-After %q, %s", first.status, first.header.Get("Retry-After"), first.body)
	}
	if second.status != 200 || len(second.body) == 0 {
		t.Errorf("B: %d %s", second.status, second.body)
	}
}
