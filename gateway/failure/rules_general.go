package failure

import (
	"net/http"

	"dev.magpie/gateway/trace"
)

var (
	isTooLong = &Fact{"400, 413 or 422 with a code or words of *too long*, none of *reply length* or *pace*", tooLong}
	isUnsaid  = &Fact{"the request is estimated at 1.2 times the model's window or more", unsaid}
	isModel   = &Fact{"no other field than the model is named", aboutModel}
	bodyShort = &Fact{"the body names a wait up to 2 min", func(r *reply) bool {
		e := r.reset()
		return e.body && r.wait() > 0 && r.wait() <= shortWindow
	}}
	shortOnly = &Fact{"words of *short window* and none of *long window*, or a wait up to 2 min in the body", func(r *reply) bool {
		return !longWindow.in(r.text) && (shortWindows.in(r.text) || bodyShort.Is(r))
	}}

	bad = []int{http.StatusBadRequest, http.StatusUnprocessableEntity}
)

// tooLongRules go before every row about the request's shape.
var tooLongRules = []Rule{
	{
		Name: "too-long", When: When{Is: []*Fact{isTooLong}}, Then: trace.TooLarge,
		Says: "the conversation no longer fits: agents compact on it",
	},
}

// requestRules are about what was asked, not about who was asked.
var requestRules = []Rule{
	{
		Name: "shape", When: When{Status: bad, Text: shape}, Then: trace.Shape,
		Says: "a field or type that the vendor doesn't know: another may",
	},
	{
		Name: "wrong-endpoint", When: When{Status: []int{400, 403, 404, 405, 422}, Text: wrongEndpoint}, Then: trace.Model, Scope: model,
		Says: "the model isn't served on this API",
	},
}

// moneyRules: words of money, wherever they stand.
var moneyRules = []Rule{
	{
		Name: "money-gone", When: When{Words: moneyGone}, Then: trace.Credit, Scope: whole,
		Says: "words that no request causes",
	},
	{
		Name: "payment-required", When: When{Status: []int{http.StatusPaymentRequired}}, Then: trace.Credit, Scope: whole,
		Says: "a 402, whatever it says",
	},
	{
		Name: "money", When: When{Words: moneyWords, Not: []*Fact{is429}}, Then: trace.Credit, Scope: whole,
		Says: "at a 429 they may be the prose around a limit",
	},
	{
		Name: "money-denied",
		When: When{Status: []int{http.StatusUnauthorized, http.StatusForbidden}, Words: moneyBare, But: permission, Not: []*Fact{ofQuota}},
		Then: trace.Credit, Scope: whole,
		Says: "a bare word of money where the account is denied",
	},
}

var is429 = &Fact{"a 429", func(r *reply) bool { return r.status == http.StatusTooManyRequests }}

// longWait is the row of a 429 whose named wait is over an hour, whatever row
// called it a rate limit.
var longWait = Rule{
	Name: "long-wait", When: When{Status: []int{http.StatusTooManyRequests}, Is: []*Fact{overHour}, Not: []*Fact{ofQuota}},
	Then: trace.Quota, Scope: whole,
	Says: "an allowance, whatever it is called; it takes over from each row of a 429 that says rate",
}

// limitRules: allowances, rates and troubles of the vendor.
var limitRules = []Rule{
	{
		Name: "overloaded", When: When{Status: []int{400, 422, 429, 498, 500, 502, 503, 529}, Words: overloadedWords}, Then: trace.Overloaded, Scope: whole,
		Says: "the vendor's trouble, by its words",
	},
	{
		Name: "short-window", When: When{Status: []int{http.StatusTooManyRequests}, Is: []*Fact{shortOnly}}, Then: trace.Rate, Scope: whole,
		Says: "a named short window beats the prose around it",
	},
	longWait,
	{
		Name: "rate-words", When: When{Status: []int{http.StatusTooManyRequests}, Words: rate, Not: []*Fact{inPlan}}, Then: trace.Rate, Scope: whole,
		Says: "words of a rate, none of a plan",
	},
	{
		Name: "rate-said", When: When{Status: []int{400, 403, 422}, Words: rateSure, Not: []*Fact{inPlan}}, Then: trace.Rate, Scope: whole,
		Says: "a rate limit under another status",
	},
	{
		Name: "plan-words", When: When{Status: []int{http.StatusTooManyRequests}, Words: join("plan or used up", plan, usedUp, usedUpBare)}, Then: trace.Quota, Scope: whole,
		Says: "a plan's window, or something used up",
	},
	{
		Name: "used-up", When: When{Words: usedUp, But: notOurs}, Then: trace.Quota, Scope: whole,
		Says: "at any status",
	},
	{
		Name: "used-up-denied", When: When{Status: []int{http.StatusUnauthorized, http.StatusForbidden}, Words: usedUpDenied, But: permission}, Then: trace.Quota, Scope: whole,
		Says: "a bare word of it where the account is denied",
	},
}

// standingRules: keys, sign-ins and models by words, before the bare status.
var standingRules = []Rule{
	{
		Name: "bad-key", When: When{Status: []int{400, 403, 422}, Words: badKey}, Then: trace.Auth, Scope: whole,
		Says: "a key that isn't taken, under another status",
	},
	{
		Name: "auth-code", When: When{Codes: []string{"authentication_error", "permission_error", "unauthorized"}, Not: []*Fact{modelDenied}}, Then: trace.Auth, Scope: whole,
		Says: "by its type, also inside a stream",
	},
	{
		Name: "model-denied", When: When{Status: []int{http.StatusForbidden}, Text: unserved}, Then: trace.Model, Scope: model,
		Says: "this key or plan doesn't have the model",
	},
	{
		Name: "path-missing", When: When{Status: []int{http.StatusNotFound, http.StatusMethodNotAllowed}, Text: pathMissing}, Then: trace.Other, Scope: nobody,
		Says: "this path isn't there; the key may do well on others",
	},
	{
		Name: "model-missing", When: When{Status: []int{http.StatusNotFound}, Is: []*Fact{modelNamed}}, Then: trace.Model, Scope: model,
		Says: "a 404 that speaks of a model",
	},
	{
		Name: "model-unserved", When: When{Status: bad, Text: unserved, Is: []*Fact{isModel}}, Then: trace.Model, Scope: model,
		Says: "a 400 about the model",
	},
	{
		Name: "unsaid-too-long", When: When{Status: []int{400, 413, 422, 500, 502, 503, 504}, Is: []*Fact{isUnsaid}}, Then: trace.TooLarge,
		Says: "nothing else is said, and the request can't fit",
	},
}

// statusRules: nothing was said that a row knows, so the status decides.
var statusRules = []Rule{
	{Name: "status-auth", When: When{Status: []int{401, 403}}, Then: trace.Auth, Scope: whole, Says: "key or sign-in"},
	{Name: "status-not-found", When: When{Status: []int{404}}, Then: trace.Other, Scope: nobody, Says: "no model is named: this path alone"},
	{Name: "status-timeout", When: When{Status: []int{408}}, Then: trace.Other, Scope: whole, Says: "timed out there"},
	{Name: "status-too-large", When: When{Status: []int{413}}, Then: trace.TooLarge, Bytes: true, Says: "the body's bytes"},
	{Name: "status-rate", When: When{Status: []int{429}}, Then: trace.Rate, Scope: whole, Says: "slow down"},
	{Name: "status-overloaded", When: When{Status: []int{503, 529}}, Then: trace.Overloaded, Scope: whole, Says: "the vendor, not the key"},
	{Name: "status-request", When: When{Is: []*Fact{clientError}}, Then: trace.Request, Says: "any other 4xx is about the request: it goes to the agent"},
	{Name: "status-server", When: When{Is: []*Fact{serverError}}, Then: trace.Other, Scope: whole, Says: "a failure there"},
	{Name: "unclaimed", Then: trace.Other, Scope: whole, Says: "the last row matches everything"},
}

var (
	clientError = &Fact{"any other status from 400 to 499", func(r *reply) bool { return r.status >= 400 && r.status < 500 }}
	serverError = &Fact{"any other status from 500", func(r *reply) bool { return r.status >= 500 && r.status < 600 }}
	modelDenied = &Fact{"a 403 with words of *model not served*", func(r *reply) bool { return r.status == http.StatusForbidden && unserved.in(r.text) }}
)
