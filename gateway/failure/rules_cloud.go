package failure

import (
	"net/http"

	"dev.magpie/gateway/trace"
)

var azure = []string{"azure"}

// azureWords is how Azure names a deployment's limit.
var azureWords = phrases("Azure's limit", "under azure openai", "pricing tier", "call rate limit", "token rate limit")

// Azure OpenAI: its limits are a deployment's.
var azureRules = []Rule{
	{
		Name: "azure-demand",
		When: When{Status: []int{http.StatusTooManyRequests}, Text: phrases("Azure's demand", "currently experiencing high demand")},
		Then: trace.Overloaded, Scope: whole,
		Says: "the system's, not the deployment's",
	},
	{
		Name: "azure-rate",
		When: When{Status: []int{http.StatusTooManyRequests}, Text: azureWords, Not: []*Fact{overHour}}, Then: trace.Rate, Scope: whole,
		Says: "the deployment's tokens or calls a minute; the wait may stand in the text alone",
	},
	{
		Name: "azure-long",
		When: When{Status: []int{http.StatusTooManyRequests}, Text: azureWords, Is: []*Fact{overHour}}, Then: trace.Quota, Scope: whole,
		Says: "the same with a wait of a day",
	},
	{
		Name: "azure-deployment", When: When{Codes: []string{"deploymentnotfound", "deploymentmodelnotsupported"}}, Then: trace.Model, Scope: model,
		Says: "no such deployment",
	},
	{
		Name: "azure-operation",
		When: When{Vendors: azure, Status: []int{http.StatusBadRequest, http.StatusNotFound}, Codes: []string{"operationnotsupported"}}, Then: trace.Model, Scope: model,
		Says: "the deployment's model isn't one for this API",
	},
}

// AWS Bedrock.
var bedrockRules = []Rule{
	{
		Name: "bedrock-day",
		When: When{Text: phrases("Bedrock's day", "too many tokens per day")}, Then: trace.Quota, Scope: whole,
		Says: "the day's tokens are used up",
	},
	{
		Name: "bedrock-throttled",
		When: When{Codes: []string{"throttlingexception", "toomanyrequestsexception", "throttling"}, Not: []*Fact{inPlan}}, Then: trace.Rate, Scope: whole,
		Says: "too many tokens or requests: the pace, not the prompt's length",
	},
	{
		Name: "bedrock-quota", When: When{Codes: []string{"servicequotaexceededexception"}}, Then: trace.Quota, Scope: whole,
		Says: "the account's service quota",
	},
	{
		Name: "bedrock-unavailable",
		When: When{Codes: []string{"serviceunavailableexception", "modelnotreadyexception"}},
		Then: trace.Overloaded, Scope: whole,
		Says: "also as an event of the stream",
	},
	{
		Name: "bedrock-stream", When: When{Codes: []string{"modelstreamerrorexception", "internalserverexception", "modelerrorexception", "modeltimeoutexception"}}, Then: trace.Other, Scope: whole,
		Says: "the model's own failure",
	},
	{
		Name: "bedrock-no-model",
		When: When{Status: []int{http.StatusForbidden, http.StatusNotFound}, Codes: []string{"accessdeniedexception", "resourcenotfoundexception"}, Is: []*Fact{modelNamed}}, Then: trace.Model, Scope: model,
		Says: "no access to that model",
	},
	{
		Name: "bedrock-denied", When: When{Codes: []string{"accessdeniedexception", "unrecognizedclientexception", "expiredtokenexception", "invalidsignatureexception"}}, Then: trace.Auth, Scope: whole,
		Says: "the key isn't taken",
	},
	{
		Name: "bedrock-on-demand",
		When: When{Status: []int{http.StatusBadRequest}, Codes: []string{"validationexception"}, Text: phrases("on demand", "on demand throughput isn't supported", "the provided model identifier is invalid")},
		Then: trace.Model, Scope: model,
		Says: "the model is named by its profile there",
	},
}
