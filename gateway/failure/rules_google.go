package failure

import (
	"net/http"
	"strings"

	"dev.magpie/gateway/trace"
)

// quotaIDs are the ids of the quotas that are full, lower-case.
func quotaIDs(r *reply) string {
	var b strings.Builder
	for _, root := range r.roots {
		for _, id := range root.gather(8, "quotaId", nil) {
			b.WriteString(strings.ToLower(id))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

var (
	quotaMinute = &Fact{"a quotaId or text of a minute or second, or a named wait up to 2 min, and none of a day", func(r *reply) bool {
		ids := quotaIDs(r)
		if strings.Contains(ids, "perday") || r.wait() > shortWindow {
			return false
		}
		return strings.Contains(ids, "perminute") || strings.Contains(ids, "persecond") || r.wait() > 0 ||
			shortWindows.in(r.text) && !longWindow.in(r.text)
	}}
	quotaDay = &Fact{"a quotaId or text of a day, or a named wait over 2 min", func(r *reply) bool {
		return strings.Contains(quotaIDs(r), "perday") || r.wait() > shortWindow || longWindow.in(r.text)
	}}
	oneModelQuota = &Fact{"the quota is one model's", func(r *reply) bool {
		return strings.Contains(quotaIDs(r), "permodel") || thisModel.in(r.text)
	}}
)

// thisModel says that a limit is one model's.
var thisModel = phrases("one model's", "on this model", "for model", "for this model")

// resourceExhausted is Google's status word for every limit.
var resourceExhausted = []string{"resource_exhausted"}

// Gemini API, Gemini CLI, Antigravity, Vertex.
var googleRules = []Rule{
	{
		Name: "verify",
		When: When{
			Status: []int{http.StatusUnauthorized, http.StatusForbidden},
			Is: []*Fact{{"a code validation_required or words of *verify the account*", func(r *reply) bool {
				return r.has("validation_required") || verify.in(r.prose)
			}}},
		},
		Then: trace.Verify, Scope: whole,
		Says: "the owner has to prove who they are; the link is told",
	},
	{
		Name: "google-key", When: When{Codes: []string{"api_key_invalid", "api_key_expired", "access_token_expired", "account_state_invalid"}}, Then: trace.Auth, Scope: whole,
		Says: "a 400 that is about the key",
	},
	{
		Name: "google-suspended", When: When{Codes: []string{"consumer_suspended", "consumer_invalid", "api_key_service_blocked"}}, Then: trace.Auth, Scope: whole,
		Says: "the project or the key is barred",
	},
	{
		Name: "google-billing", When: When{Codes: []string{"billing_disabled"}}, Then: trace.Credit, Scope: whole,
		Says: "the project has no billing",
	},
	{
		Name: "google-signature",
		When: When{Status: []int{http.StatusBadRequest}, Text: phrases("thought signatures", "missing a thought signature", "thought signature is not valid", "corrupted thought signature")},
		Then: trace.Request,
		Says: "a call without its signature",
	},
	{
		Name: "google-unknown-name",
		When: When{Status: []int{http.StatusBadRequest}, Text: phrases("unknown names", "invalid json payload received", "cannot find field", "proto field is not repeating")},
		Then: trace.Request,
		Says: "a field of a schema that Gemini doesn't have",
	},
	{
		Name: "google-turns",
		When: When{
			Status: []int{http.StatusBadRequest},
			Text:   phrases("turns", "number of function response parts", "name cannot be empty", "function call turn comes immediately after", "function response turn comes immediately after", "single turn requests end with a user role"),
		},
		Then: trace.Request,
		Says: "calls and results that don't pair",
	},
	{
		Name: "google-capacity", When: When{Codes: []string{"model_capacity_exhausted"}}, Then: trace.Overloaded, Scope: whole,
		Says: "no server has the model free",
	},
	{
		Name: "google-minute",
		When: When{Status: []int{http.StatusTooManyRequests}, Codes: resourceExhausted, Is: []*Fact{quotaMinute}},
		Then: trace.Rate, Scope: whole, Narrow: oneModelQuota,
		Says: "though the prose says quota and billing",
	},
	{
		Name: "google-day",
		When: When{Status: []int{http.StatusTooManyRequests}, Codes: resourceExhausted, Is: []*Fact{quotaDay}},
		Then: trace.Quota, Scope: whole, Narrow: oneModelQuota,
		Says: "the day's, or hours away",
	},
	{
		Name: "google-check-quota",
		When: When{Status: []int{http.StatusTooManyRequests}, Codes: resourceExhausted, Text: phrases("check quota", "resource has been exhausted", "resource exhausted. please try again later", "resource exhausted, please try again later")},
		Then: trace.Rate, Scope: whole,
		Says: "given for odd reasons: a short backoff",
	},
	{
		Name: "google-no-delay",
		When: When{Status: []int{http.StatusTooManyRequests}, Codes: resourceExhausted, Text: phrases("current quota", "exceeded your current quota", "quota exceeded", "exhausted your")},
		Then: trace.Quota, Scope: whole, Narrow: oneModelQuota,
		Says: "nothing names a time",
	},
	{
		Name: "google-no-model",
		When: When{Status: []int{http.StatusNotFound}, Codes: []string{"not_found"}, Text: phrases("Google's models", "models/*…80 is not found", "model …80not found", "not found for api version", "publisher model")},
		Then: trace.Model, Scope: model,
		Says: "no such model for this version of the API",
	},
	{
		Name: "google-unavailable",
		When: When{Codes: []string{"unavailable"}}, Then: trace.Overloaded, Scope: whole,
		Says: "the model is overloaded",
	},
	{
		Name: "google-denied", When: When{Codes: []string{"permission_denied", "unauthenticated"}, Not: []*Fact{ofMoney, ofQuota}}, Then: trace.Auth, Scope: whole,
		Says: "the key or project may not",
	},
}
