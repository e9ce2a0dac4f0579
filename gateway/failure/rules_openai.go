package failure

import (
	"net/http"
	"strings"

	"dev.magpie/gateway/trace"
)

var (
	codexWindow = &Fact{"an x-codex window stands at 100 %", codexFull}
	is413       = &Fact{"a 413", func(r *reply) bool { return r.status == http.StatusRequestEntityTooLarge }}
	ofEffort    = &Fact{"an effort is named", func(r *reply) bool {
		return effortWords.in(r.text) || strings.Contains(strings.ToLower(r.param), "effort")
	}}
	modelField = &Fact{"the field that is named is the model", func(r *reply) bool { return r.param != "" && aboutModel(r) }}
)

// OpenAI's API, and the backend that ChatGPT accounts ask.
var openaiRules = []Rule{
	{
		Name: "insufficient-quota", When: When{Codes: []string{"insufficient_quota"}}, Then: trace.Credit, Scope: whole,
		Says: "money, though it says quota",
	},
	{
		Name: "openai-billing",
		When: When{Codes: []string{"billing_hard_limit_reached", "billing_not_active", "billing_limit_reached"}}, Then: trace.Credit, Scope: whole,
		Says: "no billing, or its limit",
	},
	{
		Name: "codex-usage-limit", When: When{Codes: []string{"usage_limit_reached"}}, Then: trace.Quota, Scope: whole,
		Says: "a ChatGPT plan's window, with its reset",
	},
	{
		Name: "codex-not-included", When: When{Codes: []string{"usage_not_included"}}, Then: trace.Credit, Scope: whole,
		Says: "a ChatGPT plan without Codex: its owner has to have another",
	},
	{
		Name: "codex-window",
		When: When{Status: []int{http.StatusTooManyRequests}, Is: []*Fact{codexWindow}}, Then: trace.Quota, Scope: whole,
		Says: "told by headers alone",
	},
	{
		Name: "openai-previous-response", When: When{Codes: []string{"previous_response_not_found"}}, Then: trace.Request,
		Says: "goes on from a response that is another's: the agent sends all again",
	},
	{
		Name: "openai-items",
		When: When{
			Status: []int{http.StatusBadRequest, http.StatusNotFound},
			Text: phrases("items of the input", "item with id …not found", "provided without its required", "missing required parameter: 'input",
				"no tool call found for function call output", "no tool output found for function call", "must be a response to a preceding message with", "must be followed by tool messages"),
		},
		Then: trace.Request,
		Says: "an item that was not kept, lacks its pair, or lacks a field",
	},
	{
		Name: "openai-sealed",
		When: When{
			Status: []int{http.StatusBadRequest},
			Text:   phrases("sealed", "invalid encrypted content", "encrypted content …could not be", "could not (decrypt|verify) …encrypted content"),
		},
		Then: trace.Request, Code: "invalid_encrypted_content",
		Says: "reasoning sealed by another account",
	},
	{
		Name: "openai-effort",
		When: When{
			Status: []int{http.StatusBadRequest, http.StatusUnprocessableEntity},
			Text:   notOffered, Is: []*Fact{isAccount, ofEffort},
		},
		Then: trace.Effort,
		Says: "a level that the plan doesn't have; of a key it is the model's, so the request's",
	},
	{
		Name: "openai-parameter", When: When{Codes: []string{"unsupported_parameter", "unsupported_value", "invalid_value", "string_above_max_length", "invalid_function_parameters", "invalid_type"}, Not: []*Fact{modelField}},
		Then: trace.Request,
		Says: "a field or a value that the model doesn't take",
	},
	{
		Name: "openai-names",
		When: When{Status: []int{http.StatusBadRequest}, Text: phrases("names too long", "string too long", "maximum length of #", "maximum length #", "invalid value: ", "invalid function name")},
		Then: trace.Request,
		Says: "a name over 64 characters, a content type out of place",
	},
	{
		Name: "codex-detail",
		When: When{Status: []int{http.StatusBadRequest}, Text: phrases("Codex's instructions", "system messages are not allowed", "instructions are not valid", "instructions are required", "stream must be set to true", "store must be set to false")},
		Then: trace.Request,
		Says: "what the ChatGPT backend doesn't take",
	},
	{
		Name: "openai-no-model", When: When{Codes: []string{"model_not_found"}}, Then: trace.Model, Scope: model,
		Says: "no such model for this key",
	},
	{
		Name: "openai-key", When: When{Codes: []string{"invalid_api_key", "account_deactivated", "token_expired", "token_invalidated"}}, Then: trace.Auth, Scope: whole,
		Says: "the key or the sign-in isn't taken",
	},
	{
		Name: "openai-overloaded", When: When{Codes: []string{"server_is_overloaded", "slow_down"}}, Then: trace.Overloaded, Scope: whole,
		Says: "also as the first event of a 200",
	},
	{
		Name: "openai-rate",
		When: When{Codes: []string{"rate_limit_exceeded"}, Not: []*Fact{inPlan, is413}}, Then: trace.Rate, Scope: whole,
		Says: "tokens or requests a minute",
	},
	{
		Name: "openai-server",
		When: When{Codes: []string{"server_error"}, But: overloadedWords}, Then: trace.Other, Scope: whole,
		Says: "a failure of theirs",
	},
}
