package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// threeKeys is a provider whose second key is made for no API.
const threeKeys = `
[providers.a]
chat = "{a}/v1"
routing = "rotate"
keys = [
  { name = "k1", value = "sk-test-k1-000000000001", protocol = "chat" },
  { name = "k2", value = "sk-test-k2-000000000002" },
  { name = "k3", value = "sk-test-k3-000000000003", protocol = "chat" },
]
`

const keyThree = "sk-test-k3-000000000003"

func TestKeysInTurnWithoutTheOneAside(t *testing.T) {
	v := relay("ok")
	r := newRig(t, threeKeys, vendors{"a": v})
	var firsts []string
	for range 4 {
		r.ask("/v1/chat/completions", chatBody("a/m"))
		firsts = append(firsts, tried(r.last()))
	}
	if got := strings.Join(firsts, " "); got != "a/k1 a/k3 a/k1 a/k3" {
		t.Errorf("tried %s", got)
	}
	if last := r.told().Order[2]; last.ID != "a/k2" || !last.Aside || last.Reason == "" {
		t.Errorf("%+v", last)
	}
}

func TestTheKeyAsideAnswersWhenThePoolCannot(t *testing.T) {
	v := relay("ok")
	v.Script(keyOne, standin.Must("429 rate x*")...)
	v.Script(keyThree, standin.Must("429 rate x*")...)
	r := newRig(t, threeKeys, vendors{"a": v})
	if got := r.ask("/v1/chat/completions", chatBody("a/m")); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := tried(r.last()); got != "a/k1 a/k3 a/k2" {
		t.Errorf("tried %s", got)
	}
}

// Requests at one time never have the same turn.
func TestRequestsAtOnceTakeTurnsOfTheirOwn(t *testing.T) {
	v := relay("ok")
	r := newRig(t, strings.Replace(threeKeys, `routing = "rotate"`, "routing = \"rotate\"\naffinity = \"off\"", 1), vendors{"a": v})
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { r.ask("/v1/chat/completions", chatBody("a/m")) })
	}
	all.Wait()
	count := map[string]int{}
	for _, route := range r.kept.all() {
		count[tried(route)]++
	}
	if count["a/k1"] != 20 || count["a/k3"] != 20 {
		t.Errorf("%v", count)
	}
}

func TestALookAndACountTakeNobodysTurn(t *testing.T) {
	v := relay("ok")
	r := newRig(t, strings.Replace(threeKeys, `chat = "{a}/v1"`, "chat = \"{a}/v1\"\nmessages = \"{a}\"", 1), vendors{"a": v})
	for range 2 {
		if got, err := r.g.Explain(gateway.Question{Model: "a/m", API: "chat"}); err != nil || got.Order[0].ID != "a/k1" {
			t.Fatalf("%v %s", err, ordered(got.Order))
		}
		r.ask("/v1/messages/count_tokens", messagesBody("a/m"))
	}
	r.ask("/v1/chat/completions", chatBody("a/m"))
	if got := tried(r.last()); got != "a/k1" {
		t.Errorf("tried %s", got)
	}
}

// makers is a relay with a key for OpenAI's models and one for Anthropic's.
const makers = `
[providers.relay]
chat = "{a}/v1"
messages = "{a}"
keys = [
  { name = "openai", value = "sk-test-k1-000000000001", protocol = "chat" },
  { name = "anthropic", value = "sk-test-k2-000000000002", protocol = "messages" },
  { name = "listed", value = "sk-test-k3-000000000003", models = ["rare-1"] },
]
`

func TestKeysMadeForOneProtocolOfARelay(t *testing.T) {
	for _, c := range []struct{ agent, model, key, path string }{
		{"messages", "claude-opus-5", keyTwo, "/v1/messages"},
		{"chat", "claude-opus-5", keyTwo, "/v1/messages"},
		{"chat", "gpt-5.4", keyOne, "/v1/chat/completions"},
		{"messages", "gpt-5.4", keyOne, "/v1/chat/completions"},
	} {
		t.Run(c.agent+" asks for "+c.model, func(t *testing.T) {
			v := standin.New(standin.Options{Models: []string{"claude-opus-5", "gpt-5.4", "rare-1"}, Text: "ok"})
			r := newRig(t, strings.Replace(makers, `models = ["rare-1"]`, `models = ["rare-1"], off = true`, 1), vendors{"a": v})
			path, body := asking(c.agent, "relay/"+c.model, false)
			if got := r.ask(path, body); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			calls := v.Calls()
			if len(calls) != 1 || calls[0].Key != c.key || calls[0].Path != c.path {
				t.Errorf("%+v", calls)
			}
		})
	}
	v := standin.New(standin.Options{Models: []string{"rare-1"}, Text: "ok"})
	r := newRig(t, strings.ReplaceAll(makers, `protocol = "`, `models = ["other"], protocol = "`), vendors{"a": v})
	if got := r.ask("/v1/chat/completions", chatBody("relay/rare-1")); got.status != 200 || tried(r.last()) != "relay/listed" {
		t.Errorf("%d, tried %s", got.status, tried(r.last()))
	}
}

// abc is a provider of three keys that sink.
const abc = `
[providers.p]
chat = "{a}/v1"
messages = "{a}"
routing = "order"
sink = true
keys = [
  { name = "a", value = "sk-test-k1-000000000001" },
  { name = "b", value = "sk-test-k2-000000000002" },
  { name = "c", value = "sk-test-k3-000000000003" },
]
`

func TestWhoWasRateLimitedSinksToTheBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		r := newRig(t, abc, vendors{"a": v})
		limit := map[string]string{"a": keyOne, "b": keyTwo, "c": keyThree}
		for _, step := range []struct{ who, want string }{{"a", "p/b p/c p/a"}, {"b", "p/c p/a p/b"}, {"c", "p/a p/b p/c"}, {"a", "p/b p/c p/a"}} {
			v.Script(limit[step.who], standin.Must("429 rate")...)
			if got := r.ask("/v1/chat/completions", chatBody("p/m")); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			pass(2 * time.Hour)
			route, err := r.g.Explain(gateway.Question{Model: "p/m"})
			if err != nil || ordered(route.Order) != step.want {
				t.Fatalf("limit %s: %v, order %s, want %s", step.who, err, ordered(route.Order), step.want)
			}
			if last := route.Order[2]; last.Sunk == nil || !strings.Contains(last.Reason, "limited at") || route.Order[0].ID == last.ID {
				t.Errorf("%+v", last)
			}
		}
	})
}

func TestWhatSinksNobody(t *testing.T) {
	for name, c := range map[string]struct {
		step    string
		headers []string
	}{
		"out of quota":                    {step: `429 quota say="usage limit reached for your plan"`},
		"a 500":                           {step: "500 server"},
		"told to slow down with its week": {step: "429 rate", headers: week(1, time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := relay("ok")
				v.Script(keyOne, standin.Must(c.step)...)
				r := newRig(t, abc, vendors{"a": v})
				if c.headers != nil {
					r.store.Read("p/a", []provider.Window{{Name: "7 days", Used: 100, Resets: time.Now().Add(72 * time.Hour), Read: time.Now()}}, time.Now())
				}
				r.ask("/v1/chat/completions", chatBody("p/m"))
				pass(96 * time.Hour)
				if route, err := r.g.Explain(gateway.Question{Model: "p/m"}); err != nil || ordered(route.Order) != "p/a p/b p/c" || route.Order[0].Sunk != nil {
					t.Errorf("%v %s", err, ordered(route.Order))
				}
			})
		})
	}
}

func TestTheLeastUsedGoByTheTokensTheyServed(t *testing.T) {
	v := relay("a rather long reply, so that it counts")
	r := newRig(t, strings.Replace(strings.Replace(abc, `"order"`, `"usage"`, 1), "sink = true", "", 1), vendors{"a": v})
	var firsts []string
	for range 3 {
		r.ask("/v1/chat/completions", chatBody("p/m"))
		firsts = append(firsts, tried(r.last()))
	}
	slices.Sort(firsts)
	if got := strings.Join(firsts, " "); got != "p/a p/b p/c" {
		t.Errorf("tried %s: each serves once before any serves twice", got)
	}
}

// codexLike has two accounts whose windows are supplied.
const codexLike = `
[providers.sub]
chat = "{a}/v1"
routing = "order"
accounts = [{ name = "me", credits = false%ME }, { name = "spare", credits = %SPARE }]
`

func accountsRig(t *testing.T, me, spare string, v http.Handler) *rig {
	t.Helper()
	r := newRig(t, strings.NewReplacer("%ME", me, "%SPARE", spare).Replace(codexLike), vendors{"a": v})
	for _, a := range r.cat.AllAccounts() { // as once its program signed it in
		a.Unready, a.Secret = "", provider.SecretSource{Value: keyOne}
		r.store.SetUnready(a.ID, "")
	}
	return r
}

func (r *rig) reads(id provider.AccountID, used float64, back time.Duration) {
	now := time.Now()
	r.store.Read(id, []provider.Window{{Name: "7 days", Used: used, Span: 7 * 24 * time.Hour, Resets: now.Add(back), Read: now}}, now)
}

func TestCodexNoCreditsGoesToTheSpare(t *testing.T) {
	v := relay("ok")
	r := accountsRig(t, "", "true", v)
	r.reads("sub/me", 100, time.Hour)
	r.reads("sub/spare", 20, time.Hour)
	if got := r.ask("/v1/chat/completions", chatBody("sub/m")); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	route := r.told()
	me := route.Left[0]
	if tried(route) != "sub/spare" || me.ID != "sub/me" || !me.NoCredits || me.Capped != 100 || me.CapBack == nil || !strings.Contains(me.Reason, "credits") {
		t.Errorf("tried %s; %+v", tried(route), me)
	}
}

func TestCodexNoCreditsLeftForAnyAccount(t *testing.T) {
	for name, c := range map[string]struct {
		me   string
		says []string
	}{
		"both for their credits":                {"", []string{"sub/me has used its allowance up", "sub/spare has used its allowance up"}},
		"one at its cap, one for its credits":   {", cap = 70", []string{"sub/me is at its cap of 70%", "sub/spare has used its allowance up"}},
		"one at a window's, one for its credit": {`, window_caps = { "7 days" = 50 }`, []string{"cap of 50%", "credits"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := relay("ok")
				r := accountsRig(t, c.me, "false", v)
				r.reads("sub/me", 100, time.Hour)
				r.reads("sub/spare", 100, 10*time.Minute)
				got := r.ask("/v1/chat/completions", chatBody("sub/m"))
				if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "601" || !strings.Contains(got.body, "rate_limit_error") || len(v.Calls()) != 0 {
					t.Fatalf("%d, retry after %q, %d calls: %s", got.status, got.header.Get("Retry-After"), len(v.Calls()), got.body)
				}
				for _, want := range c.says {
					if !strings.Contains(got.body, want) {
						t.Errorf("%s does not say %q", got.body, want)
					}
				}
				if c.me == "" && strings.Contains(got.body, " cap") {
					t.Errorf("worded as a cap: %s", got.body)
				}
			})
		})
	}
}

// The groups' next is told anew once turns were taken.
func TestWhoIsNextInAGroupIsToldAfterEachTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, threeKeys+"[groups.g]\nrouting = \"rotate\"\nmembers = [\"a@k1/m\", \"a@k3/m\"]\n", vendors{"a": relay("ok")})
		next := func() string {
			for _, g := range r.bus.Status().Groups {
				if g.ID == "g" {
					return g.Next
				}
			}
			return ""
		}
		for _, want := range []string{"a/k1", "a/k3", "a/k1"} {
			if got := next(); got != want {
				t.Errorf("next is %s, want %s", got, want)
			}
			r.ask("/v1/chat/completions", chatBody("group/g"))
			if got := tried(r.last()); got != want {
				t.Errorf("tried %s, want %s", got, want)
			}
			pass(time.Second)
		}
	})
}

func TestTheSentencesOfARoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, strings.Replace(abc, `"order"`, `"smart"`, 1), vendors{"a": relay("ok")})
		r.reads("p/a", 93, 48*time.Hour)
		r.reads("p/b", 12, 72*time.Hour)
		r.reads("p/c", 40, 24*time.Hour)
		route, err := r.g.Explain(gateway.Question{Model: "p/m"})
		if err != nil {
			t.Fatal(err)
		}
		day := func(d time.Duration) string { return time.Now().Add(d).Local().Format("Mon 15:04") }
		want := []string{
			"sooner to renew: " + day(24*time.Hour) + ", 40% used",
			"renews later: " + day(72*time.Hour) + ", 12% used",
			"low: 93% used, so after those below 90%",
		}
		for i, c := range route.Order {
			if c.Reason != want[i] {
				t.Errorf("%s: %q, want %q", c.ID, c.Reason, want[i])
			}
		}
		if route.Routing != "smart" || route.Order[2].Why.Code != trace.WhyLow {
			t.Errorf("%s, %+v", route.Routing, route.Order[2].Why)
		}
	})
}
