package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/trace"
)

func TestGLMsCodesDecide(t *testing.T) {
	beijing := clock0.Add(3 * time.Hour).In(time.FixedZone("CST", 8*3600)).Format(time.DateTime)
	for name, c := range map[string]report{
		"1302, a momentary rate":       {body: `{"error":{"code":"1302","message":"Rate limit reached for requests"},"request_id":"x"}`, kind: trace.Rate, by: trace.ByCooldown, atLeast: time.Minute, says: "Rate limit"},
		"1303, another":                {body: `{"error":{"code":"1303","message":"frequency too high"}}`, kind: trace.Rate, by: trace.ByCooldown, atLeast: time.Minute},
		"1302 as a number":             {body: `{"error":{"code":1302,"message":"High concurrency usage of this API"}}`, kind: trace.Rate, by: trace.ByCooldown, atLeast: time.Minute},
		"1304, the day's calls":        {body: `{"error":{"code":"1304","message":"daily limit"}}`, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter},
		"1308, with its reset":         {body: `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at ` + beijing + `"}}`, kind: trace.Quota, by: trace.ByResets, atLeast: 3 * time.Hour},
		"1310, the week's":             {body: `{"error":{"code":"1310","message":"Weekly/Monthly Limit Exhausted. Your limit will reset at ` + beijing + `"}}`, kind: trace.Quota, by: trace.ByResets, atLeast: 3 * time.Hour},
		"1309, the plan has ended":     {body: `{"error":{"code":"1309","message":"GLM Coding Plan expired"}}`, kind: trace.Credit, by: trace.ByCredit, atLeast: halfHour},
		"1113 around a rate limit":     {body: `{"type":"error","error":{"type":"rate_limit_error","code":"1113","message":"[1113][Insufficient balance or no resource package. Please recharge.][2026]"},"request_id":"x"}`, kind: trace.Credit, by: trace.ByCredit, atLeast: halfHour, model: true, says: "Please recharge"},
		"1113 bare":                    {body: `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, kind: trace.Credit, by: trace.ByCredit, atLeast: halfHour, model: true},
		"1113 as the type":             {body: `{"type":"error","error":{"type":"1113","message":"no"}}`, kind: trace.Credit, by: trace.ByCredit, atLeast: halfHour, model: true},
		"1113 in Chinese":              {body: `{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`, kind: trace.Credit, by: trace.ByCredit, atLeast: halfHour, model: true, says: "余额不足"},
		"1311, the plan lacks a model": {body: `{"error":{"code":"1311","message":"plan does not include the model"}}`, kind: trace.Model, by: trace.ByModel, atLeast: halfHour, model: true},
	} {
		c.api, c.preset, c.status = "messages", "zhipu", 429
		t.Run(name, func(t *testing.T) { bears(t, c) })
		c.preset = "" // a relay passes the codes on
		t.Run(name+", through a relay", func(t *testing.T) { bears(t, c) })
	}
}

func TestAWeekThatIsUsedUpIsNoWrongKey(t *testing.T) {
	for name, c := range map[string]report{
		"Kimi Code at 403":        {api: "messages", status: 403, body: `{"error":{"type":"permission_error","message":"You've reached your weekly (7-day) usage limit. Your quota will reset later."}}`, by: trace.ByQuota, atLeast: quarter},
		"a relay's day":           {api: "chat", status: 429, body: `{"error":{"code":"rate_limit_exceeded","message":"api key 日限额已用完"}}`, by: trace.ByQuota, atLeast: quarter},
		"a relay's five hours":    {api: "chat", status: 429, body: `{"error":{"code":"rate_limit_exceeded","message":"api key 5小时限额已用完"}}`, by: trace.ByQuota, atLeast: quarter},
		"a relay's week":          {api: "chat", status: 429, body: `{"error":{"type":"rate_limit_exceeded","message":"api key 7天限额已用完"}}`, by: trace.ByQuota, atLeast: quarter},
		"a relay's code":          {api: "chat", status: 429, body: `{"code":"API_KEY_QUOTA_EXHAUSTED","message":"额度已用完"}`, by: trace.ByQuota, atLeast: quarter},
		"Bedrock's day":           {api: "messages", status: 429, body: `{"message":"Too many tokens per day, please wait before trying again."}`, by: trace.ByQuota, atLeast: quarter},
		"hit your limit":          {api: "chat", status: 429, body: `{"error":{"message":"You've hit your limit · resets in 2 hours"}}`, by: trace.ByResets, atLeast: 2 * time.Hour},
		"Copilot's month":         {api: "chat", status: 402, body: `{"error":{"message":"You have no quota","code":"quota_exceeded"}}`, by: trace.ByResets, atLeast: 24 * time.Hour, atMost: 8 * 24 * time.Hour, model: true},
		"Copilot's 58 hours":      {api: "chat", status: 429, body: `{"error":{"message":"Sorry, you've hit a rate limit that restricts the number of Copilot model requests. Please try again in 58 hours."}}`, by: trace.ByResets, atLeast: 58 * time.Hour},
		"Azure's day in a header": {api: "chat", status: 429, headers: []string{"retry-after: 86400"}, body: `{"error":{"code":"429","message":"exceeded token rate limit"}}`, by: trace.ByRetryAfter, atLeast: 24 * time.Hour},
		"Azure's day in words":    {api: "chat", status: 429, body: `{"error":{"code":"429","message":"Requests have exceeded the rate limit. Please retry after 86400 seconds."}}`, by: trace.ByResets, atLeast: 24 * time.Hour},
	} {
		c.kind = trace.Quota
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}

func TestMoneyThatIsGoneIsCreditInEveryShape(t *testing.T) {
	team := "Your team 0000 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."
	for name, c := range map[string]report{
		"xAI at 403":               {api: "responses", status: 403, body: `{"code":"The caller does not have permission to execute the specified operation","error":"` + team + `"}`, says: "spending limit"},
		"xAI, a JSON string":       {api: "responses", status: 429, body: `"` + team + `"`, says: "spending limit"},
		"xAI, told not to retry":   {api: "chat", status: 402, headers: []string{"X-Should-Retry: false"}, body: `{"code":"personal-team-blocked:spending-limit","error":"blocked"}`},
		"xAI, a subscription":      {api: "chat", status: 403, body: `{"code":"x","error":"You have run out of credits or need a Grok subscription. Go to https://grok.com to buy some."}`},
		"DeepSeek":                 {api: "chat", status: 402, body: `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, says: "Insufficient Balance"},
		"OpenAI's quota":           {api: "chat", status: 429, body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, says: "insufficient_quota"},
		"Kimi, a suspended one":    {api: "chat", status: 429, body: `{"error":{"message":"Your account is suspended due to insufficient balance, please recharge","type":"exceeded_current_quota_error"}}`},
		"Kimi, one not active":     {api: "chat", status: 403, body: `{"error":{"message":"Your account org-x is not active, please check","type":"exceeded_current_quota_error"}}`},
		"a relay's code":           {api: "chat", status: 403, body: `{"code":"INSUFFICIENT_BALANCE","message":"Insufficient account balance"}`},
		"another relay's":          {api: "chat", status: 403, body: `{"error":{"message":"user quota is not enough","type":"new_api_error","code":"insufficient_user_quota"}}`},
		"in Chinese at 403":        {api: "chat", status: 403, body: `{"error":{"message":"账户余额不足"}}`},
		"OpenCode at 401":          {api: "chat", status: 401, body: `{"error":{"type":"CreditsError","message":"Insufficient balance. Manage your billing here"}}`},
		"Bailian at 400":           {api: "chat", status: 400, body: `{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing. For details, see overdue-payment"}}`},
		"nothing but the status":   {api: "chat", status: 402, body: `{}`},
		"Ollama's past due":        {api: "chat", status: 403, body: `{"error":"your subscription payment is past due. update it"}`},
		"as first event":           {api: "chat", status: 200, body: "data: {\"error\":{\"message\":\"Insufficient credits\",\"code\":402}}\n\n", alone: 402},
		"whole, at 200":            {api: "chat", status: 200, body: `{"error":{"message":"Insufficient credits","code":402}}`, alone: 402},
		"OpenRouter's, fewer left": {api: "chat", status: 402, body: `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 1200.","code":402}}`},
	} {
		c.kind, c.by, c.atLeast = trace.Credit, trace.ByCredit, halfHour
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}

func TestANamedWaitIsKeptInEveryForm(t *testing.T) {
	azure := `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 45 seconds."}}`
	plain := `{"error":{"message":"Rate limit exceeded"}}`
	for name, c := range map[string]report{
		"Azure, headers and words":  {headers: []string{"retry-after-ms: 45000", "retry-after: 45"}, body: azure, by: trace.ByRetryAfter, atLeast: 45 * time.Second},
		"Azure, words alone":        {body: azure, by: trace.ByRetryAfter, atLeast: 45 * time.Second},
		"milliseconds alone":        {headers: []string{"retry-after-ms: 1500"}, body: plain, by: trace.ByRetryAfter, atLeast: 1500 * time.Millisecond},
		"a date":                    {headers: []string{"retry-after: " + clock0.Add(75*time.Second).Format(http.TimeFormat)}, body: plain, by: trace.ByRetryAfter, atLeast: 75 * time.Second},
		"a fraction":                {headers: []string{"retry-after: 12.5"}, body: plain, by: trace.ByRetryAfter, atLeast: 12500 * time.Millisecond},
		"negative":                  {headers: []string{"retry-after: -7"}, body: plain, by: trace.ByCooldown, atLeast: time.Minute},
		"no number":                 {headers: []string{"retry-after: later"}, body: plain, by: trace.ByCooldown, atLeast: time.Minute},
		"a Go duration":             {headers: []string{"x-ratelimit-reset-tokens: 6m0s"}, body: plain, by: trace.ByRetryAfter, atLeast: 6 * time.Minute},
		"unix time in a header":     {headers: []string{"x-ratelimit-reset: " + unixAfter(2*time.Minute)}, body: plain, by: trace.ByRetryAfter, atLeast: 2 * time.Minute},
		"OpenAI's words":            {body: `{"error":{"message":"Rate limit reached for gpt-x in organization org-x on tokens per min (TPM): Limit 10000, Used 9999. Please try again in 6.5s.","type":"tokens","code":"rate_limit_exceeded"}}`, by: trace.ByRetryAfter, atLeast: 6500 * time.Millisecond},
		"Moonshot's words":          {body: `{"error":{"message":"Your account reached max request: 3, please try again after 1 seconds","type":"rate_limit_reached_error"}}`, by: trace.ByRetryAfter, atLeast: time.Second},
		"in minutes":                {body: `{"error":{"message":"Rate limit hit, try again in 5 minutes"}}`, by: trace.ByRetryAfter, atLeast: 5 * time.Minute},
		"OpenRouter's budget":       {headers: []string{"Retry-After: 20"}, status: 402, body: `{"error":{"code":402,"message":"In-flight budget exceeded","metadata":{"limit_source":"openrouter_in_flight_budget"}}}`, by: trace.ByRetryAfter, atLeast: 20 * time.Second},
		"an inner vendor's, in raw": {body: `{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"Rate limit reached, please try again in 9s\"}}"}}}`, by: trace.ByRetryAfter, atLeast: 9 * time.Second},
		"Xiaomi at 400":             {status: 400, body: `{"error":{"message":"Detected high-frequency non-compliant requests from you."}}`, by: trace.ByCooldown, atLeast: time.Minute},
	} {
		c.api, c.kind = "chat", trace.Rate
		if c.status == 0 {
			c.status = 429
		}
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}

func unixAfter(d time.Duration) string { return seconds(clock0.Add(d).Unix()) }

func TestAPageInTheWayIsNoWrongKey(t *testing.T) {
	for name, c := range map[string]report{
		"a challenge at 403": {status: 403, headers: []string{"cf-mitigated: challenge", "cf-ray: x"}, body: challenge, alone: 502, says: "Just a moment..."},
		"a challenge at 503": {status: 503, body: challenge, alone: 502, says: "Just a moment..."},
		"a challenge at 401": {status: 401, body: challenge, alone: 502, says: "Just a moment..."},
		"a sign-in at 200":   {status: 200, body: "<html><title>Sign in</title>", alone: 502, says: "Sign in"},
		"the edge's 524":     {status: 524, body: "<title>A timeout occurred</title>", alone: 502, says: "A timeout occurred"},
		"the edge's 520":     {status: 520, body: "<html><title>Web server is returning an unknown error</title></html>", alone: 502, says: "unknown error"},
		"a proxy's 502":      {status: 502, body: "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", alone: 502, says: "502 Bad Gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &canned{status: c.status, kind: "text/html; charset=UTF-8", body: c.body, headers: c.headers}
				r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)})
				got := r.ask(asking("chat", "group/g", false))
				first := r.told().Tries[0]
				if got.status != 200 || first.Fail != trace.Other || first.Rest == nil || first.Rest.By != trace.ByBackoff || !strings.Contains(first.Error, c.says) || strings.ContainsAny(first.Error, "<>") {
					t.Errorf("%d, %+v", got.status, first)
				}
				alone := r.ask(asking("chat", "a/m", false))
				if alone.status != c.alone || !strings.HasPrefix(errorWords(t, "chat", alone.body), "a answered ") || !strings.Contains(alone.body, c.says) || strings.Contains(alone.body, "<title") || strings.Contains(alone.body, `\u003c`) {
					t.Errorf("alone: %d %s", alone.status, alone.body)
				}
				for _, acct := range r.g.Status().Accounts {
					if acct.Error != "" || acct.State == trace.Unready {
						t.Errorf("%+v", acct)
					}
				}
			})
		})
	}
}

func TestAModelsLimitWithALongWaitLeavesItsSiblingsAlone(t *testing.T) {
	a := byModel{"A": {status: 429, kind: "application/json", headers: []string{"retry-after: 75450"}, body: `{"code":6004,"msg":"usage exceeds frequency limit, try another model"}`}, "": good("chat", false)}
	r := newRig(t, twoKeys, vendors{"a": a})
	first := r.ask(asking("chat", "a/A", false))
	if first.status != 429 || first.header.Get("Retry-After") == "" || !strings.Contains(first.body, "6004") {
		t.Errorf("%d %s, Retry-After %q", first.status, first.body, first.header.Get("Retry-After"))
	}
	if rest := r.told().Tries[0].Rest; rest == nil || rest.Key != "a/k1/A" || rest.Until.Sub(rest.Since).Round(time.Second) != 75450*time.Second {
		t.Errorf("%+v", rest)
	}
	second := r.ask(asking("chat", "a/B", false))
	if route := r.told(); second.status != 200 || tried(route) != "a/k1" || route.Order[0].Rest != nil {
		t.Errorf("%d %s, tried %s", second.status, second.body, tried(route))
	}
}
