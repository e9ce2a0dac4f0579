package failure_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// These tests are reports of what other gateways got wrong, by the names under
// which they are kept.

func of(vendor string, s failure.Seen) failure.Seen { s.Vendor = vendor; return s }

// judged checks kind, scope and next, and the rest that follows, 0 = none.
func judged(t *testing.T, s failure.Seen, kind trace.Kind, scope trace.Scope, next bool, rest time.Duration) trace.Verdict {
	t.Helper()
	v := failure.Classify(s)
	if v.Kind != kind || v.Scope != scope || v.Next != next {
		t.Errorf("%d %s: row %s says %s, scope %q, next %v; want %s, %q, %v", s.Status, s.Body, v.Row, v.Kind, v.Scope, v.Next, kind, scope, next)
	}
	r, ok := failure.RestFor(v, failure.Past{}, time.Time{}, noon)
	if ok != (rest > 0) || ok && r.Until.Sub(noon) != rest {
		t.Errorf("%d %s: rests %v, %s by %s; want %s", s.Status, s.Body, ok, r.Until.Sub(noon), r.By, rest)
	}
	return v
}

func TestB56CreditBalanceTooLowIsCreditAtA400(t *testing.T) {
	v := judged(t, of("anthropic", reply(400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},"request_id":"req_x"}`)),
		trace.Credit, trace.ScopeWhole, true, 30*time.Minute)
	if !strings.HasPrefix(v.Words, "Your credit balance is too low to access the Anthropic API.") {
		t.Errorf("the agent gets the vendor's text: %q", v.Words)
	}
}

func TestB58OverloadedIsNeitherCreditNorQuota(t *testing.T) {
	s := of("anthropic", reply(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
	v := judged(t, s, trace.Overloaded, trace.ScopeWhole, true, 15*time.Second)
	for api, want := range map[string]int{"messages": 529, "chat": 503, "responses": 503, "gemini": 503} {
		if got := failure.AgentStatus(v, api); got != want {
			t.Errorf("%s gets %d", api, got)
		}
	}
	grown, _ := failure.RestFor(v, failure.Past{Kind: trace.Overloaded, Failures: 2}, time.Time{}, noon)
	if grown.Until.Sub(noon) != time.Minute {
		t.Errorf("the third time it rests %s", grown.Until.Sub(noon))
	}
}

func TestB60AnErrorAsTheFirstEventCounts(t *testing.T) {
	v := failure.ClassifyEvent(failure.Seen{Vendor: "zhipu", At: noon, Body: []byte("event: error\ndata: {\"error\":{\"code\":\"1305\",\"message\":\"busy\"}}\n\n")})
	if v.Kind != trace.Overloaded || !v.Next {
		t.Errorf("%+v", v)
	}
}

func TestB64ATooLongRequestRestsNobody(t *testing.T) {
	body := `{"error":{"message":"This model's maximum context length is 1048576 tokens. However, you requested 1186139 tokens","type":"invalid_request_error"}}`
	v := judged(t, reply(400, body), trace.TooLarge, trace.ScopeNone, false, 0)
	if v.Code != "context_length_exceeded" || v.Status != 400 || v.Passes {
		t.Errorf("%+v", v)
	}
	judged(t, reply(422, body), trace.TooLarge, trace.ScopeNone, false, 0)
	judged(t, reply(400, message("messages.0: bad")), trace.Request, trace.ScopeNone, false, 0)
	judged(t, reply(422, message("messages.0: bad")), trace.Request, trace.ScopeNone, false, 0)
}

func TestB66OneModelsLimitRestsThatModel(t *testing.T) {
	v := judged(t, reply(429, `{"code":6004,"msg":"usage exceeds frequency limit, try another model"}`, "Retry-After", "75450"),
		trace.Quota, trace.ScopeModel, true, 75450*time.Second)
	if v.Status != 429 {
		t.Errorf("the agent gets %d", v.Status)
	}
}

func TestB68CodexUsageLimitRestsTillItsReset(t *testing.T) {
	s := of("openai", reply(429, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1776672030,"resets_in_seconds":17778}}`))
	v := judged(t, s, trace.Quota, trace.ScopeWhole, true, 17778*time.Second)
	if v.By != trace.ByResets {
		t.Errorf("by %s", v.By)
	}
	absolute := of("openai", reply(429, fmt.Sprintf(`{"error":{"type":"usage_limit_reached","resets_at":%d}}`, noon.Add(4*time.Hour).Unix())))
	judged(t, absolute, trace.Quota, trace.ScopeWhole, true, 4*time.Hour)
}

func TestB70TheLatestRejectedWindowCounts(t *testing.T) {
	body := `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`
	unix := func(s int) string { return fmt.Sprint(noon.Unix() + int64(s)) }
	judged(t, of("anthropic", reply(429, body, "Retry-After", "7999",
		"Anthropic-Ratelimit-Unified-Status", "rejected",
		"Anthropic-Ratelimit-Unified-5h-Status", "allowed", "Anthropic-Ratelimit-Unified-5h-Utilization", "0.4", "Anthropic-Ratelimit-Unified-5h-Reset", unix(180),
		"Anthropic-Ratelimit-Unified-7d-Status", "rejected", "Anthropic-Ratelimit-Unified-7d-Utilization", "1.0", "Anthropic-Ratelimit-Unified-7d-Reset", unix(200000))),
		trace.Quota, trace.ScopeWhole, true, 200000*time.Second)
	judged(t, of("anthropic", reply(429, body, "Retry-After", "300", "Anthropic-Ratelimit-Unified-5h-Status", "allowed", "Anthropic-Ratelimit-Unified-5h-Reset", unix(180))),
		trace.Rate, trace.ScopeWhole, true, 300*time.Second)
	judged(t, of("anthropic", reply(429, body)), trace.Rate, trace.ScopeWhole, true, time.Minute)
	// Over an hour it is an allowance by whatever name, and rests as long.
	judged(t, of("anthropic", reply(429, body, "Retry-After", "7999")), trace.Quota, trace.ScopeWhole, true, 7999*time.Second)
}

const b72 = `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 15\nPlease retry in 38.9s.","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"15"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}]}}`

func TestB72APerMinuteQuotaIsARate(t *testing.T) {
	judged(t, of("google", reply(429, b72)), trace.Rate, trace.ScopeModel, true, 38*time.Second)
	judged(t, of("google", reply(429, "["+b72+"]")), trace.Rate, trace.ScopeModel, true, 38*time.Second)
	judged(t, of("newapi", reply(429, b72)), trace.Rate, trace.ScopeModel, true, 38*time.Second)
	judged(t, of("google", reply(429, strings.Replace(b72, `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}`, "{}", 1))),
		trace.Rate, trace.ScopeModel, true, 38900*time.Millisecond)
	judged(t, of("google", reply(429, strings.Replace(b72, "PerMinute", "PerDay", 1))), trace.Quota, trace.ScopeModel, true, 38*time.Second)
}

func TestB74QuotaResetDelayIsRead(t *testing.T) {
	body := func(delay, words string) string {
		return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You have exhausted your capacity on this model. Your quota will reset after ` + words + `.","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","metadata":{` + delay + `}}]}}`
	}
	v := judged(t, of("google", reply(429, body(`"quotaResetDelay":"373.801628ms"`, "54s"))), trace.Rate, trace.ScopeModel, true, 373801628)
	if wait, again := failure.Repeat(v, 0, noon); !again || wait != 373801628 {
		t.Errorf("one quick repeat: %s, %v", wait, again)
	}
	judged(t, of("google", reply(429, body(`"quotaResetDelay":"1h16m0.66s"`, "1h16m0s"))), trace.Quota, trace.ScopeModel, true, time.Hour+16*time.Minute+660*time.Millisecond)
	judged(t, of("google", reply(429, body(`"model":"gemini-x"`, "54s"))), trace.Rate, trace.ScopeModel, true, 54*time.Second)
}

func TestB76MomentaryRatesOfGLMRestSeconds(t *testing.T) {
	body := func(code string) string {
		return `{"error":{"code":"` + code + `","message":"Rate limit reached for requests"},"request_id":"x"}`
	}
	for code, want := range map[string]trace.Kind{
		"1302": trace.Rate, "1303": trace.Rate, "1305": trace.Overloaded, "1312": trace.Overloaded, "1304": trace.Quota, "1308": trace.Quota, "1310": trace.Quota,
	} {
		v := failure.Classify(of("zhipu", reply(429, body(code))))
		r, _ := failure.RestFor(v, failure.Past{}, time.Time{}, noon)
		short := r.Until.Sub(noon) <= time.Minute
		if v.Kind != want || short != (want == trace.Rate || want == trace.Overloaded) {
			t.Errorf("%s: %s for %s", code, v.Kind, r.Until.Sub(noon))
		}
	}
}

func TestB78GLMBalanceIsCreditOfTheModel(t *testing.T) {
	for _, body := range []string{
		`{"type":"error","error":{"type":"rate_limit_error","code":"1113","message":"[1113][Insufficient balance or no resource package. Please recharge.][2026]"},"request_id":"x"}`,
		`{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`,
		`{"type":"error","error":{"type":"1113","message":"Insufficient balance"}}`,
		`{"error":{"code":"1113","message":"余额不足或无可用资源包,请充值。"}}`,
	} {
		for _, vendor := range []string{"zhipu", "newapi", ""} {
			v := judged(t, of(vendor, reply(429, body)), trace.Credit, trace.ScopeModel, true, 30*time.Minute)
			if v.Words == "" {
				t.Error("the message isn't shown")
			}
		}
	}
}

func TestB80KimisWeekIsAnAllowanceNotAKey(t *testing.T) {
	s := of("moonshot", reply(403, `{"error":{"type":"permission_error","message":"You've reached your weekly (7-day) usage limit. Your quota will reset later."}}`))
	v := judged(t, s, trace.Quota, trace.ScopeWhole, true, 15*time.Minute)
	r, _ := failure.RestFor(v, failure.Past{}, noon.Add(50*time.Hour), noon)
	if r.By != trace.ByWindow || r.Until.Sub(noon) != 50*time.Hour {
		t.Errorf("with its window full till then: %s by %s", r.Until.Sub(noon), r.By)
	}
}

func TestB82XAIsCreditInFourShapes(t *testing.T) {
	words := "Your team 0000 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."
	for _, s := range []failure.Seen{
		reply(403, `{"code":"The caller does not have permission to execute the specified operation","error":"`+words+`"}`),
		reply(429, `"`+words+`"`),
		reply(402, `{"code":"personal-team-blocked:spending-limit","error":"blocked"}`, "X-Should-Retry", "false"),
		reply(403, `{"code":"permission-denied","error":"You have run out of credits or need a Grok subscription. Add credits at https://grok.com"}`),
	} {
		judged(t, of("xai", s), trace.Credit, trace.ScopeWhole, true, 30*time.Minute)
	}
}

func TestB84AzuresWaitInHeaderOrText(t *testing.T) {
	body := func(wait string) string {
		return `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after ` + wait + ` seconds."}}`
	}
	judged(t, of("azure", reply(429, body("45"), "Retry-After-Ms", "45000", "Retry-After", "45")), trace.Rate, trace.ScopeWhole, true, 45*time.Second)
	judged(t, of("azure", reply(429, body("45"))), trace.Rate, trace.ScopeWhole, true, 45*time.Second)
	judged(t, of("azure", reply(429, body("86400"))), trace.Quota, trace.ScopeWhole, true, 24*time.Hour)
	if _, again := failure.Repeat(failure.Classify(of("azure", reply(429, body("45")))), 0, noon); again {
		t.Error("the request is held for 45 s")
	}
	for _, header := range []string{"-5", "1e300", "NaN", ""} {
		judged(t, of("azure", reply(429, `{"error":{"code":"429","message":"exceeded call rate limit of your pricing tier"}}`, "Retry-After", header)), trace.Rate, trace.ScopeWhole, true, time.Minute)
	}
	judged(t, of("azure", reply(429, body("x"), "Retry-After", "0.5")), trace.Rate, trace.ScopeWhole, true, 500*time.Millisecond)
	judged(t, of("azure", reply(429, body("x"), "Retry-After", "Sat, 18 Apr 2026 12:00:30 GMT")), trace.Rate, trace.ScopeWhole, true, 30*time.Second)
}

func TestB86CopilotsQuotaAndHours(t *testing.T) {
	judged(t, of("copilot", reply(402, `{"error":{"message":"You have no quota","code":"quota_exceeded"}}`)), trace.Quota, trace.ScopeModel, true, 8*24*time.Hour)
	judged(t, of("copilot", reply(402, `{"error":{"message":"You have no quota","code":"quota_exceeded","quota_reset_date_utc":"2026-04-20T00:00:00Z"}}`)), trace.Quota, trace.ScopeModel, true, 36*time.Hour)
	judged(t, of("copilot", reply(429, message("Sorry, you've hit a rate limit that restricts the number of requests. Please try again in 58 hours."))), trace.Quota, trace.ScopeWhole, true, 58*time.Hour)
	judged(t, of("copilot", reply(429, message("You've reached your weekly rate limit. Please wait for your limit to reset on April 20, 2026 at 2:00 AM."))), trace.Quota, trace.ScopeWhole, true, 38*time.Hour)
}

func TestB88APageIsNoWrongKey(t *testing.T) {
	for _, s := range []failure.Seen{
		reply(403, `<!DOCTYPE html><title>Just a moment...</title>Enable JavaScript and cookies to continue`, "Content-Type", "text/html", "Cf-Mitigated", "challenge", "Cf-Ray", "x"),
		reply(503, `<!DOCTYPE html><title>Just a moment...</title>`, "Content-Type", "text/html"),
		reply(200, `<html><title>Sign in</title>`, "Content-Type", "text/html"),
		reply(200, ``, "Content-Type", "application/json"),
		reply(524, `<title>A timeout occurred</title>`, "Content-Type", "text/html"),
	} {
		v := judged(t, s, trace.Other, trace.ScopeWhole, true, time.Minute)
		if v.Status != 502 || v.Words == "" || strings.ContainsAny(v.Words, "<>") {
			t.Errorf("%d is told as %d, %q", s.Status, v.Status, v.Words)
		}
	}
	if v := failure.Classify(reply(403, `<!DOCTYPE html><title>Just a moment...</title>`, "Content-Type", "text/html")); !strings.Contains(v.Words, "Just a moment...") {
		t.Errorf("the page's title isn't named: %q", v.Words)
	}
}

func TestB90DeepSeeksBalanceBeatsItsCode(t *testing.T) {
	judged(t, of("deepseek", reply(402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`)), trace.Credit, trace.ScopeWhole, true, 30*time.Minute)
	judged(t, of("deepseek", reply(503, message("Server Overloaded"))), trace.Overloaded, trace.ScopeWhole, true, 15*time.Second)
	judged(t, of("deepseek", reply(422, message("Invalid parameters"))), trace.Request, trace.ScopeNone, false, 0)
	judged(t, of("xiaomi", reply(402, message("Insufficient account balance"))), trace.Credit, trace.ScopeWhole, true, 30*time.Minute)
}

func TestB92TooLongReachesTheAgentRecognisably(t *testing.T) {
	vllm := reply(400, `{"object":"error","type":"BadRequestError","message":"This model's maximum context length is 262144 tokens. However, you requested 262462 tokens (230462 in the messages, 32000 in the completion)."}`)
	v := judged(t, vllm, trace.TooLarge, trace.ScopeNone, false, 0)
	if v.Code != "context_length_exceeded" || v.Status != 400 {
		t.Errorf("%+v", v)
	}
	if got := failure.TooLongWords("messages", v.Words); got != "input length and `max_tokens` exceed context limit: 230462 + 32000 > 262144" {
		t.Errorf("Messages: %q", got)
	}
	for _, s := range []failure.Seen{
		of("copilot", reply(400, `{"error":{"message":"too many","code":"model_max_prompt_tokens_exceeded"}}`)),
		of("bedrock", reply(400, `{"message":"Input is too long for requested model."}`)),
		of("zhipu", reply(400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`)),
		of("google", reply(400, message("The input token count (1186139) exceeds the maximum number of tokens allowed (1048576)."))),
		reply(413, `{}`),
	} {
		v := judged(t, s, trace.TooLarge, trace.ScopeNone, false, 0)
		if got := failure.TooLongWords("messages", v.Words); v.Code != "context_length_exceeded" || !strings.HasPrefix(got, "prompt is too long") {
			t.Errorf("%d %s: code %q, Messages %q", s.Status, s.Body, v.Code, got)
		}
	}
}
