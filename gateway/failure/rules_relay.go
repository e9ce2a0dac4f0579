package failure

import (
	"net/http"
	"strings"

	"dev.magpie/gateway/trace"
)

var (
	openrouter   = []string{"openrouter"}
	upstreamPool = phrases("the pool upstream", "rate limited upstream")
)

var (
	inFlight = &Fact{"limit_source openrouter_in_flight_budget", func(r *reply) bool {
		return r.find("limit_source").value() == "openrouter_in_flight_budget"
	}}
	sharedPool = &Fact{"a :free model's shared pool (limit_source upstream_provider_shared_pool, or rate-limited upstream)", func(r *reply) bool {
		return r.find("limit_source").value() == "upstream_provider_shared_pool" ||
			strings.HasSuffix(r.Model, ":free") && upstreamPool.in(r.text)
	}}
	flagged = &Fact{"metadata with reasons or flagged_input, or words of *moderated*", func(r *reply) bool {
		return r.find("flagged_input") != nil || r.find("reasons") != nil || moderated.in(r.prose)
	}}
)

// OpenRouter. Its "code" is the HTTP status; the inner vendor's words stand in
// metadata.raw and are judged like any.
var openrouterRules = []Rule{
	{
		Name: "openrouter-in-flight", When: When{Is: []*Fact{inFlight}}, Then: trace.Rate, Scope: whole,
		Says: "a 402 that waits for what is under way",
	},
	{
		Name: "openrouter-afford",
		When: When{Status: []int{http.StatusPaymentRequired}, Text: phrases("a smaller max_tokens", "can only afford #")},
		Then: trace.Credit, Scope: whole,
		Says: "the verdict tells the max_tokens that is left",
	},
	{
		Name: "openrouter-moderated",
		When: When{Vendors: openrouter, Status: []int{http.StatusForbidden}, Is: []*Fact{flagged}}, Then: trace.Refused,
		Says: "moderation, a guardrail",
	},
	{
		Name: "openrouter-key-limit",
		When: When{Status: []int{http.StatusForbidden, http.StatusPaymentRequired}, Text: phrases("a key's own limit", "key limit exceeded")}, Then: trace.Quota, Scope: whole,
		Says: "the limit that its owner gave the key",
	},
	{
		Name: "openrouter-free-pool",
		When: When{Status: []int{http.StatusTooManyRequests}, Is: []*Fact{sharedPool}}, Then: trace.Rate, Scope: model,
		Says: "a pool that all share: the model, not the key",
	},
	{
		Name: "openrouter-free-day",
		When: When{Status: []int{http.StatusTooManyRequests}, Text: phrases("OpenRouter's free day", "free models per day", "openrouter free tier daily")}, Then: trace.Quota, Scope: whole,
		Says: "the account's free requests of the day",
	},
	{
		Name: "openrouter-free-minute",
		When: When{Status: []int{http.StatusTooManyRequests}, Text: phrases("OpenRouter's free minute", "free models per min*")}, Then: trace.Rate, Scope: whole,
		Says: "the account's free requests of the minute",
	},
	{
		Name: "openrouter-no-provider",
		When: When{Status: []int{http.StatusNotFound}, Text: phrases("no endpoints", "no endpoints found", "no allowed providers are available")}, Then: trace.Model, Scope: model,
		Says: "nobody serves the model so",
	},
}

// Relays that hand out other vendors' accounts.
var relayRules = []Rule{
	{
		Name: "relay-key-window",
		When: When{Status: []int{http.StatusTooManyRequests, http.StatusForbidden}, Text: phrases("a relay key's window", "限额已用完", "限额已用尽")}, Then: trace.Quota, Scope: whole,
		Says: "sub2api: the key's own 5 hours, day or 7 days, though it says rate_limit_exceeded",
	},
	{
		Name: "relay-key-quota", When: When{Codes: []string{"api_key_quota_exhausted", "quota_exhausted"}}, Then: trace.Quota, Scope: whole,
		Says: "sub2api: the key's amount",
	},
	{
		Name: "relay-wallet", When: When{Codes: []string{"insufficient_balance", "insufficient_user_quota", "insufficient_user_balance", "pre_consume_token_quota_failed"}}, Then: trace.Credit, Scope: whole,
		Says: "sub2api, new-api, one-api: the wallet",
	},
	{
		Name: "relay-user-quota",
		When: When{Text: phrases("a relay's wallet", "user quota is not enough", "token quota is not enough", "用户额度不足", "令牌额度不足", "预扣费额度失败", "用户余额不足")}, Then: trace.Credit, Scope: whole,
		Says: "new-api, one-api in words",
	},
	{
		Name: "relay-pool-limited",
		When: When{Status: []int{http.StatusTooManyRequests}, Text: phrases("a relay's pool, limited", "all available accounts are currently rate limited", "upstream rate limit exceeded")}, Then: trace.Rate, Scope: whole,
		Says: "sub2api: all its accounts",
	},
	{
		Name: "relay-pool-empty",
		When: When{Text: phrases("a relay's pool, empty", "no available account*", "无可用账号", "没有可用账号")}, Then: trace.Other, Scope: whole,
		Says: "sub2api: says nothing of the key",
	},
	{
		Name: "relay-cooldown", When: When{Codes: []string{"model_cooldown"}}, Then: trace.Rate, Scope: model,
		Says: "another gateway's own rest",
	},
	{
		Name: "relay-no-channel",
		When: When{Text: phrases("a relay without channel", "无可用渠道", "no available channel for model*", "no channel for model*")}, Then: trace.Model, Scope: model,
		Says: "new-api, one-api: nobody serves the model to this key",
	},
	{
		Name: "relay-busy",
		When: When{Text: phrases("a relay's upstream, busy", "负载已饱和", "upstream load is saturated")}, Then: trace.Overloaded, Scope: whole,
		Says: "new-api: its upstream is full",
	},
	{
		Name: "relay-client",
		When: When{Text: refusedClient}, Then: trace.Prompt,
		Says: "this client, or this prompt, isn't admitted",
	},
}
