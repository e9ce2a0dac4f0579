package gateway_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

func TestANamedAccountAloneIsTried(t *testing.T) {
	for _, who := range []string{"a/k2", "A/K2", "k2", "K2", " a/k2 "} {
		for _, api := range apis {
			t.Run(who+" "+api, func(t *testing.T) {
				v := standin.New(standin.Options{Models: []string{"m"}, Text: "ok", Keys: []string{keyOne, keyTwo}, Secrets: []string{"Magpie", "a/k2"}})
				r := newRig(t, twoKeys, vendors{"a": v})
				path, body := asking(api, "a/m", false)
				got := r.ask(path, body, "X-Magpie-Account: "+who)
				route := r.told()
				if got.status != 200 || tried(route) != "a/k2" || route.Pinned != "a/k2" || ordered(route.Order) != "a/k2" || ordered(route.Left) != "a/k1" || route.Left[0].Out != "not-named" {
					t.Errorf("%d %s; tried %s, pinned %q, order %s, left %+v", got.status, got.body, tried(route), route.Pinned, ordered(route.Order), route.Left)
				}
				if calls := v.Calls(); len(calls) != 1 || calls[0].Key != keyTwo || len(calls[0].Leaks) > 0 || calls[0].Header.Get("X-Magpie-Account") != "" {
					t.Errorf("%+v", calls)
				}
			})
		}
	}
}

func TestANamedAccountHasNoStandIn(t *testing.T) {
	// No fallback model, no other key, and no repeat of a refusal that stays.
	plan, spare := relay("", "402 credit x*"), relay("from spare")
	r := newRig(t, planAndSpare, vendors{"plan": plan, "spare": spare})
	path, body := asking("chat", "plan/m", false)
	got := r.ask(path, body, "X-Magpie-Account: plan/main")
	if route := r.told(); got.status != 402 || len(spare.Calls()) != 0 || len(route.Tries) != 1 || len(r.rests()) != 0 {
		t.Errorf("%d %s, spare asked %d times, rests %v", got.status, got.body, len(spare.Calls()), r.rests())
	}
}

func TestAnAccountThatNobodyHasIsA404ThatListsThem(t *testing.T) {
	for _, api := range apis {
		v := good(api, false)
		r := newRig(t, twoKeys, vendors{"a": v})
		path, body := asking(api, "a/m", false)
		got := r.ask(path, body, "X-Magpie-Account: nobody")
		words := errorWords(t, api, got.body)
		if got.status != 404 || !strings.Contains(words, "nobody") || !strings.Contains(words, "a/k1, a/k2") || v.asked() != 0 {
			t.Errorf("%s: %d %s, asked %d times", api, got.status, got.body, v.asked())
		}
		if route := r.told(); route.Status != 404 || route.Error == "" || len(route.Tries) != 0 {
			t.Errorf("%s: %+v", api, route)
		}
	}
}

func TestABareNameThatSeveralHaveMeansTheAskedProvidersOwn(t *testing.T) {
	toml := strings.ReplaceAll(abOf("m"), "[groups.g]", "[groups.h]\nrouting = \"order\"\nmembers = [\"a/m\"]\n[groups.g]")
	a, b := good("chat", false), good("chat", false)
	r := newRig(t, toml, vendors{"a": a, "b": b})
	path, body := asking("chat", "b/m", false)
	if got := r.ask(path, body, "X-Magpie-Account: k"); got.status != 200 || b.asked() != 1 || a.asked() != 0 {
		t.Errorf("%d %s, b asked %d times", got.status, got.body, b.asked())
	}
	path, body = asking("chat", "group/g", false)
	got := r.ask(path, body, "X-Magpie-Account: k")
	if words := errorWords(t, "chat", got.body); got.status != 404 || !strings.Contains(words, "a/k, b/k") {
		t.Errorf("a group of both: %d %s", got.status, got.body)
	}
	path, body = asking("chat", "h", false)
	if got := r.ask(path, body, "X-Magpie-Account: k"); got.status != 200 || a.asked() != 1 || tried(r.told()) != "a/k" {
		t.Errorf("a group of one of them: %d %s, a asked %d times", got.status, got.body, a.asked())
	}
	path, body = asking("chat", "a/m", false)
	if got := r.ask(path, body, "X-Magpie-Account: b/k"); got.status != 404 || !strings.Contains(got.body, "a/k") || b.asked() != 1 {
		t.Errorf("one that the model can't go to: %d %s", got.status, got.body)
	}
}

func TestARestingNamedAccountIsA429ThatTellsUntilWhenAndWhy(t *testing.T) {
	v := good("chat", false)
	r := newRig(t, twoKeys, vendors{"a": v})
	r.restNow("a/k2", trace.Credit, trace.ByCredit, 10*time.Minute)
	path, body := asking("chat", "a/m", false)
	got := r.ask(path, body, "X-Magpie-Account: a/k2")
	words := errorWords(t, "chat", got.body)
	if got.status != 429 || v.asked() != 0 || !strings.Contains(words, "a/k2 rests until") || !strings.Contains(words, "credit") {
		t.Errorf("%d %s, asked %d times", got.status, got.body, v.asked())
	}
	if after := got.header.Get("Retry-After"); after != "600" && after != "599" {
		t.Errorf("Retry-After %q", after)
	}
	if e := errorOf(t, "chat", got.body); e.Type != "rate_limit_error" || e.Code != "account_resting" {
		t.Errorf("%s", got.body)
	}
}

func TestAModelThatTheNamedAccountLacksIsA400(t *testing.T) {
	toml := strings.Replace(twoKeys, `{ name = "k2", value = "sk-test-k2-000000000002" }`, `{ name = "k2", value = "sk-test-k2-000000000002", models = ["n"] }`, 1)
	v := good("chat", false)
	r := newRig(t, toml, vendors{"a": v})
	path, body := asking("chat", "a/m", false)
	if got := r.ask(path, body, "X-Magpie-Account: a/k2"); got.status != 400 || v.asked() != 0 || !strings.Contains(got.body, "a/k2 does not have m") {
		t.Errorf("%d %s, asked %d times", got.status, got.body, v.asked())
	}
}

func TestAnAccountInTheModelsNameTiesTheRequestToIt(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Text: "ok"})
	v.Script(keyTwo, standin.Must("402 credit")...)
	r := newRig(t, twoKeys, vendors{"a": v})
	if got := r.ask(asking("chat", "a@k2/m", false)); got.status != 402 || len(v.CallsOf(keyOne)) != 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.ask(asking("chat", "a@nobody/m", false)); got.status != 404 || !strings.Contains(got.body, "k1") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
