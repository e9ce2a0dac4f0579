package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/trace"
)

func TestWhyATryFailed(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		kind   trace.Kind
	}{
		"402 with nothing in it":               {402, `{}`, trace.Credit},
		"a low balance at 400":                 {400, `{"error":{"message":"Your credit balance is too low"}}`, trace.Credit},
		"insufficient_quota at 429":            {429, `{"error":{"message":"x","type":"insufficient_quota","code":"insufficient_quota"}}`, trace.Credit},
		"an empty account in Chinese":          {403, `{"error":{"message":"账户余额不足"}}`, trace.Credit},
		"a plan's usage limit":                 {429, `{"error":{"message":"usage limit reached for your plan"}}`, trace.Quota},
		"too many requests":                    {429, `{"error":{"message":"Too many requests"}}`, trace.Rate},
		"hit your limit, resets at five":       {429, `{"error":{"message":"You've hit your limit · resets 5pm"}}`, trace.Quota},
		"a limit with its time, at 502":        {502, `{"error":{"message":"Claude AI usage limit reached|` + unixAfter(time.Hour) + `"}}`, trace.Quota},
		"503 overloaded":                       {503, `{"error":{"message":"overloaded"}}`, trace.Overloaded},
		"rate and plan words together":         {429, `{"error":{"message":"rate limit: daily quota exceeded"}}`, trace.Quota},
		"a relay's pool without accounts":      {503, `{"error":{"message":"No available accounts"}}`, trace.Other},
		"a relay's pool that is limited":       {429, `{"error":{"message":"All available accounts are currently rate-limited"}}`, trace.Rate},
		"a relay's upstream that is":           {429, `{"error":{"message":"Upstream rate limit exceeded"}}`, trace.Rate},
		"a relay's key limit":                  {429, `{"error":{"type":"rate_limit_exceeded","message":"api key 7天限额已用完"}}`, trace.Quota},
		"a load balancer is no balance":        {503, `{"error":{"message":"load balancer unavailable"}}`, trace.Overloaded},
		"a balanced diet is none either":       {500, `{"error":{"message":"accounts are rebalanced"}}`, trace.Other},
		"a quoted field is no money":           {500, `{"error":{"message":"column \"credit_card\" not found"}}`, trace.Other},
		"a user's own words are not looked at": {500, `{"error":{"message":"internal error","input":"my credit balance is too low, quota exceeded"}}`, trace.Other},
		"502 of a proxy's dialer":              {502, `proxyconnect tcp: dial tcp 10.0.0.1:1080: connect: connection refused`, trace.Proxy},
		"a bare 408":                           {408, `{}`, trace.Other},
		"a 401":                                {401, `{"error":{"message":"no"}}`, trace.Auth},
		"a 403 for the model":                  {403, `{"error":{"message":"The model gpt-x is not available on your plan"}}`, trace.Model},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass(ages)
				r := newRig(t, abOf("m"), vendors{"a": cannedOf(c.status, c.body), "b": good("chat", false)})
				got := r.ask(asking("chat", "group/g", false))
				if first := r.told().Tries[0]; got.status != 200 || first.Fail != c.kind {
					t.Errorf("%d, fails as %q by %s: %s; want %q", got.status, first.Fail, first.Row, first.Error, c.kind)
				}
			})
		})
	}
}

func TestTheStatusThatAnErrorEventStandsFor(t *testing.T) {
	for name, c := range map[string]struct {
		code, words string
		status      int // 0: overloaded, which each API is told in its own way
	}{
		"overloaded":         {"overloaded_error", "Overloaded", 0},
		"out of money":       {"billing_error", "Insufficient balance", 402},
		"a used-up quota":    {"x", "usage limit reached for your plan", 429},
		"no such model":      {"x", "The model foo does not exist", 400},
		"an invalid request": {"invalid_request_error", "invalid field", 400},
		"anything else":      {"api_error", "boom", 502},
	} {
		for _, api := range []string{"chat", "messages", "responses"} {
			t.Run(name+" "+api, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					event := fmt.Sprintf("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":%q,\"code\":%q,\"message\":%q}}\n\n", c.code, c.code, c.words)
					if api == "chat" {
						event = strings.TrimPrefix(event, "event: error\n")
					}
					v := cannedOf(200, event)
					r := newRig(t, lone, vendors{"a": v})
					got := r.ask(asking(api, "a/m", true))
					want := c.status
					if want == 0 {
						want = map[string]int{"messages": 529}[api]
						if want == 0 {
							want = 503
						}
					}
					if got.status != want || !strings.Contains(errorWords(t, api, got.body), c.words) {
						t.Errorf("%d %s, want %d", got.status, got.body, want)
					}
					if route := r.told(); route.Status != want {
						t.Errorf("the route tells %d", route.Status)
					}
				})
			})
		}
	}
}

func TestARateLimitAsFirstEventIsHeldHoweverOftenItIsAskedAgain(t *testing.T) {
	// Nothing was said yet, so the agent can still be told by the status that it has to wait.
	for api, event := range map[string]string{
		"chat":      "data: {\"type\":\"error\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Too many requests\"}}\n\n",
		"messages":  "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Too many requests\"}}\n\n",
		"responses": "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"Too many requests\"}\n\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			v := cannedOf(200, event)
			r := newRig(t, lone, vendors{"a": v})
			got := r.ask(asking(api, "a/m", true))
			if got.status != 429 || got.header.Get("Content-Type") != "application/json" || v.asked() != 4 || r.told().Status != 429 {
				t.Errorf("%s: %d %q, asked %d times, the route tells %d", api, got.status, got.body, v.asked(), r.told().Status)
			}
			if rests := r.rests(); len(rests) > 0 {
				t.Errorf("%s: the last candidate rests: %v", api, rests)
			}
		})
	}
}

func TestAnErrorEventInTheMiddleIsPassedAndCounts(t *testing.T) {
	for api, c := range commented {
		event := map[string]string{
			"chat":      "data: {\"error\":{\"message\":\"boom\",\"code\":\"server_error\"}}\n\n",
			"messages":  "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"boom\"}}\n\n",
			"responses": "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":2,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"boom\"},\"output\":[]}}\n\n",
		}[api]
		t.Run(api, func(t *testing.T) {
			b := &timeline{}
			r := newRig(t, abOf("m"), vendors{"a": &timeline{lines: []line{{0, c.start + c.text + event}}}, "b": b})
			got := r.watch(asking(api, "group/g", true))
			if got.text() != c.start+c.text+event || b.calls.Load() != 0 {
				t.Errorf("%q, b asked %d times", got.text(), b.calls.Load())
			}
			route := r.told()
			if route.Status < 500 || !strings.Contains(route.Error, "boom") || failKinds(route) != "other" || r.rests()["a/k"].By != trace.ByBackoff {
				t.Errorf("%d %q %+v, rests %v", route.Status, route.Error, route.Tries, r.rests())
			}
		})
	}
}
