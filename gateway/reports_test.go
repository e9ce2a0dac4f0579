package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/trace"
)

// report is a vendor's refusal as its users met it, and what is to come of it.
type report struct {
	api     string
	preset  string
	status  int
	headers []string
	body    string
	kind    trace.Kind
	by      trace.RestBy
	atLeast time.Duration // of the rest
	atMost  time.Duration // 0 = the same
	model   bool          // only the model rests
	alone   int           // what the agent is told when nobody is left, 0 = the vendor's own status
	says    string        // in what the agent is told
}

// bears lets the first key meet a refusal. The second one answers; the next request goes
// straight to it; and alone, the agent is told in its own API.
func bears(t *testing.T, c report) {
	synctest.Test(t, func(t *testing.T) {
		pass(ages)
		a := cannedOf(c.status, c.body)
		a.headers = c.headers
		streamed := a.kind == "text/event-stream"
		toml := abOf("m")
		if c.preset != "" {
			toml = strings.Replace(toml, "[providers.a]", "[providers.a]\npreset = \""+c.preset+"\"", 1)
			toml = strings.Replace(toml, "members = [\"a/m\"", "members = [\"a@k/m\"", 1)
		}
		b := good(c.api, streamed)
		r := newRig(t, toml, vendors{"a": a, "b": b})
		got := r.ask(asking(c.api, "group/g", streamed))
		route := r.told()
		if got.status != 200 || got.body != b.body || tried(route) != "a/k b/k" || got.header.Get("X-Should-Retry") != "" {
			t.Fatalf("%d %s; tried %s, %+v", got.status, got.body, tried(route), route.Tries)
		}
		first := route.Tries[0]
		if first.Fail != c.kind || first.Error == "" || first.Row == "" {
			t.Fatalf("fails as %q (%s) %q, want %q", first.Fail, first.Row, first.Error, c.kind)
		}
		rested(t, c, first.Rest)
		r.ask(asking(c.api, "group/g", streamed))
		if want := map[bool]int{true: 1, false: 2}[c.by != ""]; a.asked() != want {
			t.Errorf("it was asked %d times, want %d", a.asked(), want)
		}
		if c.model {
			r.ask(asking(c.api, "a/another", streamed))
			if route := r.told(); route.Order[0].Rest != nil {
				t.Errorf("its other models rest too: %+v", route.Order[0].Rest)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		pass(ages)
		a := cannedOf(c.status, c.body)
		a.headers = c.headers
		toml := lone
		if c.preset != "" {
			toml = strings.Replace(toml, "[providers.a]", "[providers.a]\npreset = \""+c.preset+"\"", 1)
		}
		r := newRig(t, toml, vendors{"a": a})
		got := r.ask(asking(c.api, "a/m", a.kind == "text/event-stream"))
		want := c.alone
		if want == 0 {
			want = c.status
		}
		if got.status != want || !strings.Contains(got.body, c.says) || len(r.rests()) != 0 {
			t.Errorf("alone: %d %s, want %d with %q; rests %v", got.status, got.body, want, c.says, r.rests())
		}
	})
}

func rested(t *testing.T, c report, rest *trace.Rest) {
	t.Helper()
	if c.by == "" {
		if rest != nil {
			t.Errorf("it rests: %+v", rest)
		}
		return
	}
	if rest == nil {
		t.Fatal("it does not rest")
	}
	most := c.atMost
	if most == 0 {
		most = c.atLeast
	}
	key := "a/k"
	if c.model {
		key = "a/k/m"
	}
	if d := rest.Until.Sub(rest.Since); rest.By != c.by || rest.Why != c.kind || rest.Key != key || d < c.atLeast || d > most {
		t.Errorf("%s rests %s by %s for %s, want %s by %s for %s to %s", rest.Key, d, rest.By, rest.Why, key, c.by, c.atLeast, most)
	}
}

// ages go by before a report is met: a bubble begins in 2000, when Unix time had nine digits.
const ages = 27 * 365 * 24 * time.Hour

// clock0 is when a report is met.
var clock0 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(ages)

const (
	halfHour = 30 * time.Minute
	quarter  = 15 * time.Minute
)

func TestALowAnthropicBalanceIsCredit(t *testing.T) {
	low := `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},"request_id":"req_x"}`
	for name, c := range map[string]report{
		"on Messages":         {api: "messages", status: 400, body: low, says: "Plans & Billing"},
		"through a relay":     {api: "chat", status: 400, body: `{"error":{"message":"` + "Your credit balance is too low to access the Anthropic API." + `","type":"invalid_request_error"}}`, says: "credit balance"},
		"as first event":      {api: "messages", status: 200, body: "event: error\ndata: " + strings.Replace(low, `,"request_id":"req_x"`, "", 1) + "\n\n", alone: 402, says: "credit balance"},
		"at 403":              {api: "messages", status: 403, body: low, says: "credit balance"},
		"billing_error":       {api: "messages", status: 402, body: `{"type":"error","error":{"type":"billing_error","message":"no"}}`, says: "no"},
		"its text in another": {api: "chat", status: 429, body: `{"error":{"message":"upstream: Your credit balance is too low to access the Anthropic API.","type":"one_api_error"}}`, says: "credit balance"},
	} {
		c.kind, c.by, c.atLeast = trace.Credit, trace.ByCredit, halfHour
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}

func TestAnOverloadedVendorSaysNothingOfTheKey(t *testing.T) {
	for name, c := range map[string]report{
		"529 of Anthropic":      {api: "messages", status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, alone: 529, says: "overloaded_error"},
		"529 on Chat":           {api: "chat", status: 529, body: `{"error":{"message":"service temporarily overloaded"}}`, alone: 503, says: "overloaded"},
		"529 on Responses":      {api: "responses", status: 529, body: `{"error":{"message":"overloaded"}}`, alone: 503, says: "overloaded"},
		"503 of Gemini":         {api: "gemini", status: 503, body: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, says: "UNAVAILABLE"},
		"503 of OpenAI":         {api: "chat", status: 503, body: `{"error":{"message":"The engine is currently overloaded, please try again later","type":"server_error"}}`, says: "overloaded"},
		"503 of DeepSeek":       {api: "chat", status: 503, body: `{"error":{"message":"Server Overloaded"}}`, says: "Overloaded"},
		"an event of Responses": {api: "responses", status: 200, body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"service_unavailable_error\",\"code\":\"server_is_overloaded\",\"message\":\"busy\"}}\n\n", alone: 503, says: "busy"},
		"GLM 1305":              {api: "messages", status: 429, body: `{"error":{"code":"1305","message":"flow limit"}}`, alone: 529, says: "flow limit"},
		"GLM 1312":              {api: "chat", status: 429, body: `{"error":{"code":"1312","message":"model busy"}}`, alone: 503, says: "busy"},
	} {
		c.kind, c.by, c.atLeast = trace.Overloaded, trace.ByBackoff, 15*time.Second
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}

func TestABadRequestRestsNoKeyAndIsAskedOnce(t *testing.T) {
	three := strings.ReplaceAll(twoKeys, "]\n", `, { name = "k3", value = "sk-test-k3-000000000003" }]`+"\n")
	three = strings.Replace(three, "[providers.a, { name = \"k3\", value = \"sk-test-k3-000000000003\" }]", "[providers.a]", 1)
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"too long":          {400, `{"error":{"message":"This model's maximum context length is 1048576 tokens. However, you requested 1186139 tokens","type":"invalid_request_error"}}`},
		"too long at 422":   {422, `{"error":{"message":"This model's maximum context length is 1048576 tokens. However, you requested 1186139 tokens"}}`},
		"a missing field":   {400, `{"error":{"message":"messages: field required","type":"invalid_request_error"}}`},
		"a value at 422":    {422, `{"detail":[{"loc":["body","temperature"],"msg":"ensure this value is less than or equal to 2","type":"value_error"}]}`},
		"a foreign thought": {400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`},
		"too many marks":    {400, `{"type":"error","error":{"type":"invalid_request_error","message":"A maximum of 4 blocks with cache_control may be provided. Found 5."}}`},
		"a lone tool call":  {400, `{"error":{"message":"No tool call found for function call output with call_id call_1","type":"invalid_request_error"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			v := &canned{status: c.status, kind: "application/json", body: c.body}
			r := newRig(t, three, vendors{"a": v})
			got := r.ask(asking("messages", "a/m", false))
			if got.status < 400 || got.status > 422 || v.asked() != 1 || len(r.rests()) != 0 || len(r.told().Order) != 3 {
				t.Errorf("%d %s, asked %d times, rests %v", got.status, got.body, v.asked(), r.rests())
			}
			v.status, v.body = 200, ok("messages", "hi")
			if got := r.ask(asking("messages", "a/m", false)); got.status != 200 || tried(r.told()) != "a/k1" {
				t.Errorf("a healthy request right after: %d, tried %s", got.status, tried(r.told()))
			}
		})
	}
}

func TestACodexLimitRestsTillItsReset(t *testing.T) {
	body := `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":%d,"resets_in_seconds":17778}}`
	for name, c := range map[string]report{
		"seconds and a time":        {body: fmt.Sprintf(body, 1776672030)},
		"the clock is off by years": {body: fmt.Sprintf(body, 17)},
		"an empty promotion":        {body: strings.Replace(fmt.Sprintf(body, 1776672030), "}}", `,"eligible_promo":null}}`, 1)},
		"headers of a full window": {body: `{"error":{"message":"limit"}}`, headers: []string{
			"x-codex-primary-used-percent: 100", "x-codex-primary-window-minutes: 300", "x-codex-primary-reset-after-seconds: 17778",
			"x-codex-secondary-used-percent: 40", "x-codex-secondary-window-minutes: 10080", "x-codex-secondary-reset-after-seconds: 400000", "x-codex-primary-reset-at: ",
		}},
	} {
		c.api, c.status, c.kind, c.by, c.atLeast, c.says = "responses", 429, trace.Quota, trace.ByResets, 17778*time.Second, "limit"
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}

func TestAnAnthropicLimitGoesByTheLatestRejectedWindow(t *testing.T) {
	body := `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`
	at := func(d time.Duration) string { return fmt.Sprint(clock0.Add(d).Unix()) }
	share := map[string]string{"rejected": "1.0", "allowed": "0.4", "allowed_warning": "0.9"}
	unified := func(five, seven string) []string {
		return []string{
			"retry-after: 7999", "anthropic-ratelimit-unified-status: rejected",
			"anthropic-ratelimit-unified-5h-status: " + five, "anthropic-ratelimit-unified-5h-utilization: " + share[five], "anthropic-ratelimit-unified-5h-reset: " + at(180*time.Second),
			"anthropic-ratelimit-unified-7d-status: " + seven, "anthropic-ratelimit-unified-7d-utilization: " + share[seven], "anthropic-ratelimit-unified-7d-reset: " + at(200000*time.Second),
		}
	}
	for name, c := range map[string]report{
		"the week is rejected":          {headers: unified("allowed", "rejected"), kind: trace.Quota, by: trace.ByResets, atLeast: 200000 * time.Second},
		"both are: the later":           {headers: unified("rejected", "rejected"), kind: trace.Quota, by: trace.ByResets, atLeast: 200000 * time.Second},
		"the five hours are":            {headers: unified("rejected", "allowed_warning"), kind: trace.Quota, by: trace.ByResets, atLeast: 180 * time.Second},
		"no window is, a wait is named": {headers: []string{"retry-after: 120"}, kind: trace.Rate, by: trace.ByRetryAfter, atLeast: 2 * time.Minute},
		"neither: a server's throttle":  {kind: trace.Rate, by: trace.ByCooldown, atLeast: time.Minute},
		"windows that reject nothing":   {headers: append(unified("allowed", "allowed")[2:6], "retry-after: 60"), kind: trace.Rate, by: trace.ByRetryAfter, atLeast: time.Minute},
		"minute's limits of an API key": {headers: []string{"retry-after: 12", "anthropic-ratelimit-requests-remaining: 0", "anthropic-ratelimit-requests-reset: " + clock0.Add(12*time.Second).Format(time.RFC3339)}, kind: trace.Rate, by: trace.ByRetryAfter, atLeast: 12 * time.Second},
		"a reset that can't be read":    {headers: []string{"anthropic-ratelimit-unified-7d-status: rejected", "anthropic-ratelimit-unified-7d-reset: soon"}, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter},
		"a reset that is over":          {headers: []string{"anthropic-ratelimit-unified-7d-status: rejected", "anthropic-ratelimit-unified-7d-reset: 5"}, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter},
		"a reset of years from now":     {headers: []string{"anthropic-ratelimit-unified-7d-status: rejected", "anthropic-ratelimit-unified-7d-reset: " + at(90*24*time.Hour)}, kind: trace.Quota, by: trace.ByResets, atLeast: 8 * 24 * time.Hour},
	} {
		c.api, c.status, c.body, c.says = "messages", 429, body, "rate limit"
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}

func TestAGeminiMinuteIsARateAndADayAQuota(t *testing.T) {
	quota := func(id, delay string) string {
		return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 15\nPlease retry in 38.9s.","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"` + id + `","quotaValue":"15"}]}` + delay + `]}}`
	}
	retry := func(d string) string {
		return `,{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + d + `"}`
	}
	for name, c := range map[string]report{
		"a minute's quota with a delay":  {api: "gemini", body: quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", retry("38s")), kind: trace.Rate, by: trace.ByRetryAfter, atLeast: 38 * time.Second, model: true},
		"the same over Chat":             {api: "chat", body: quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", retry("38s")), kind: trace.Rate, by: trace.ByRetryAfter, atLeast: 38 * time.Second, model: true},
		"the same in an array":           {api: "gemini", body: "[" + quota("GenerateRequestsPerMinutePerProject", retry("38s")) + "]", kind: trace.Rate, by: trace.ByRetryAfter, atLeast: 38 * time.Second},
		"the delay stands in words only": {api: "gemini", body: quota("GenerateContentInputTokensPerMinute", ""), kind: trace.Rate, by: trace.ByRetryAfter, atLeast: 38900 * time.Millisecond},
		"a day's quota":                  {api: "gemini", body: quota("GenerateRequestsPerDayPerProject", retry("30000s")), kind: trace.Quota, by: trace.ByResets, atLeast: 30000 * time.Second},
		"capacity with a short delay": {
			api: "gemini", body: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You have exhausted your capacity on this model. Your quota will reset after 54s.","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","metadata":{"quotaResetDelay":"12.801628ms"}}]}}`,
			kind: trace.Rate, by: trace.ByRetryAfter, atLeast: time.Millisecond, atMost: time.Second, model: true,
		},
		"the delay in the text alone": {
			api: "gemini", body: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You have exhausted your capacity on this model. Your quota will reset after 54s.","details":[]}}`,
			kind: trace.Rate, by: trace.ByRetryAfter, atLeast: 54 * time.Second, model: true,
		},
		"a delay of hours": {
			api: "gemini", body: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You have exhausted your capacity on this model.","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA_EXHAUSTED","metadata":{"quotaResetDelay":"1h16m0.66s"}}]}}`,
			kind: trace.Quota, by: trace.ByResets, atLeast: 76 * time.Minute, atMost: 77 * time.Minute, model: true,
		},
		"check quota": {api: "gemini", body: `{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`, kind: trace.Rate, by: trace.ByCooldown, atLeast: time.Minute},
	} {
		c.status = 429
		t.Run(name, func(t *testing.T) {
			bears(t, c)
		})
	}
}
