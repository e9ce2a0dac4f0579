package failure

import (
	"net/http"

	"dev.magpie/gateway/trace"
)

var (
	kimi    = []string{"moonshot", "kimi"}
	minimax = []string{"minimax"}
)

// Moonshot: Kimi.
var moonshotRules = []Rule{
	{
		Name: "kimi-balance", When: When{Codes: []string{"exceeded_current_quota_error"}}, Then: trace.Credit, Scope: whole,
		Says: "suspended for its balance, or an account not active: money, though it says quota",
	},
	{
		Name: "kimi-week",
		When: When{
			Status: []int{http.StatusForbidden, http.StatusTooManyRequests},
			Text:   phrases("Kimi Code's window", "reached your …usage limit"),
		},
		Then: trace.Quota, Scope: whole,
		Says: "a 403 that is about the plan's window",
	},
	{
		Name: "kimi-crowd",
		When: When{Codes: []string{"rate_limit_reached_error"}, Text: phrases("Kimi's crowd", "receiving too many requests at the moment")}, Then: trace.Overloaded, Scope: whole,
		Says: "says nothing of the key",
	},
	{
		Name: "kimi-rate", When: When{Codes: []string{"rate_limit_reached_error"}, Not: []*Fact{inPlan}}, Then: trace.Rate, Scope: whole,
		Says: "a project's tokens or requests a minute, or at once",
	},
	{
		Name: "kimi-overloaded", When: When{Codes: []string{"engine_overloaded_error"}}, Then: trace.Overloaded, Scope: whole,
		Says: "the engine, at a 429",
	},
	{
		Name: "kimi-key", When: When{Vendors: kimi, Codes: []string{"invalid_authentication_error", "incorrect_api_key_error"}}, Then: trace.Auth, Scope: whole,
		Says: "the key isn't taken",
	},
}

// xAI: Grok. "code" is no HTTP code there, "error" a string, the body may be one.
var xaiRules = []Rule{
	{
		Name: "xai-credits",
		When: When{Text: phrases("xAI's money", "used all available credits", "monthly spending limit", "not have any credits", "doesn't have any credits", "run out of credits or need a grok subscription", "personal team blocked:spending limit")},
		Then: trace.Credit, Scope: whole,
		Says: "at 402, 403 and 429, whatever X-Should-Retry says",
	},
	{
		Name: "oauth-grant", When: When{Codes: []string{"invalid_grant"}}, Then: trace.Auth, Scope: whole,
		Says: "the refresh token was used twice: its family is revoked",
	},
}

var monthEnd = &Ends{Says: "the day that the body names, else the month's end", Read: func(r *reply) reset {
	if e := r.reset(); !e.until.IsZero() {
		return e
	}
	return r.within(nextMonth(r.At), trace.ByResets)
}}

// GitHub Copilot.
var copilotRules = []Rule{
	{
		Name: "copilot-premium",
		When: When{Status: []int{http.StatusPaymentRequired}, Codes: []string{"quota_exceeded", "quotaexceeded"}},
		Then: trace.Quota, Scope: model, Ends: monthEnd,
		Says: "the month's premium requests: models that cost none still answer",
	},
	{
		Name: "copilot-week",
		When: When{Status: []int{http.StatusTooManyRequests}, Text: phrases("Copilot's window", "reached your (weekly|daily|monthly|session) rate limit", "hit your (weekly|daily|monthly|session) rate limit")},
		Then: trace.Quota, Scope: whole,
		Says: "a plan's window, with a date in words",
	},
	{
		Name: "copilot-custom-tools",
		When: When{Status: []int{http.StatusBadRequest}, Text: phrases("custom tools", "custom tool* …not supported", "tool type custom", "unsupported tool type")},
		Then: trace.Request,
		Says: "a custom tool has to be made a function",
	},
}

// Further vendors.
var otherRules = []Rule{
	{
		Name: "qwen-arrears",
		When: When{Text: phrases("Bailian's money", "account is in good standing", "arrearage", "overdue payment")},
		Then: trace.Credit, Scope: whole,
		Says: "a 400 of Bailian about an unpaid bill",
	},
	{
		Name: "qwen-free-only", When: When{Codes: []string{"allocationquota.freetieronly"}}, Then: trace.Quota, Scope: model,
		Says: "the model's free amount is used up",
	},
	{
		Name: "qwen-allocation", When: When{Codes: []string{"throttling.ratequota", "throttling.burstrate", "throttling.allocationquota"}}, Then: trace.Rate, Scope: whole,
		Says: "requests or tokens a minute",
	},
	{
		Name: "ark-limit", When: When{Codes: []string{"setlimitexceeded"}}, Then: trace.Quota, Scope: model,
		Says: "the limit that its owner gave the model is reached",
	},
	{
		Name: "ark-overloaded", When: When{Status: []int{http.StatusTooManyRequests}, Codes: []string{"serveroverloaded"}}, Then: trace.Overloaded, Scope: whole,
		Says: "Volcengine's servers, at a 429",
	},
	{
		Name: "mimo-frequency",
		When: When{Status: []int{http.StatusBadRequest}, Text: phrases("MiMo's frequency", "high frequency non compliant requests")},
		Then: trace.Rate, Scope: whole,
		Says: "a 400 that is about the pace",
	},
	{
		Name: "mimo-filter", When: When{Vendors: []string{"xiaomi"}, Status: []int{http.StatusMisdirectedRequest}}, Then: trace.Refused,
		Says: "MiMo's content filter is a 421",
	},
	{
		Name: "minimax-key", When: When{Vendors: minimax, Codes: []string{"1004", "2049"}}, Then: trace.Auth, Scope: whole,
		Says: "the key isn't taken, in a 200",
	},
	{
		Name: "minimax-sensitive", When: When{Vendors: minimax, Codes: []string{"1026", "1027"}}, Then: trace.Refused,
		Says: "what was asked or answered is sensitive",
	},
	{
		Name: "opencode-credits", When: When{Codes: []string{"creditserror"}}, Then: trace.Credit, Scope: whole,
		Says: "a 401 that is about money",
	},
	{
		Name: "opencode-usage", When: When{Codes: []string{"subscriptionusagelimiterror", "gousagelimiterror", "freeusagelimiterror", "monthlylimiterror", "userlimiterror"}}, Then: trace.Quota, Scope: whole,
		Says: "a plan's window",
	},
	{
		Name: "workbuddy-model",
		When: When{Codes: []string{"6004"}, Text: phrases("WorkBuddy's limit", "usage exceeds frequency limit")}, Then: trace.Quota, Scope: model,
		Says: "one model's, the others answer",
	},
	{
		Name: "banned", When: When{Status: []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}, Text: banned}, Then: trace.Auth, Scope: whole,
		Says: "the account is barred",
	},
}

// The facts that rows of several vendors share.
var (
	isAccount  = &Fact{"a signed-in account", func(r *reply) bool { return r.Kind == "account" }}
	inPlan     = &Fact{"words of *plan*", func(r *reply) bool { return plan.in(r.prose) }}
	ofMoney    = &Fact{"words of *money*", func(r *reply) bool { return moneyGone.in(r.prose) || moneyWords.in(r.prose) }}
	ofQuota    = &Fact{"words of *used up*", func(r *reply) bool { return usedUp.in(r.prose) && !notOurs.in(r.prose) }}
	modelNamed = &Fact{"a model is named", namesModel}
	overHour   = &Fact{"a named wait over an hour", func(r *reply) bool { return r.wait() > longestWait }}
)
