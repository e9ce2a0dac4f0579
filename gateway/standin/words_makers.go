package standin

// The makers' own refusals. Retry times stand in headers and bodies as each maker puts them.

var anthropicRows = []row{
	{"anthropic-rate", "anthropic", WhyRate, 429, "<<retry-after: {s}\nanthropic-ratelimit-requests-limit: 50\nanthropic-ratelimit-requests-remaining: 0\nanthropic-ratelimit-requests-reset: {iso}>>", anthropicBody("rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit. Please try again later.")},
	{"anthropic-throttle", "anthropic", WhyRate, 429, "", anthropicBody("rate_limit_error", "Rate limited")},
	{"anthropic-quota", "anthropic", WhyQuota, 429, "<<retry-after: {s}\n>>anthropic-ratelimit-unified-status: rejected\nanthropic-ratelimit-unified-5h-status: rejected\nanthropic-ratelimit-unified-5h-utilization: 1.0\n<<anthropic-ratelimit-unified-reset: {unix}\nanthropic-ratelimit-unified-5h-reset: {unix}\n>>anthropic-ratelimit-unified-7d-status: allowed\nanthropic-ratelimit-unified-7d-utilization: 0.6", anthropicBody("rate_limit_error", "This request would exceed your account's rate limit. Please try again later.")},
	{"anthropic-quota-7d", "anthropic", WhyQuota, 429, "<<retry-after: {s}\n>>anthropic-ratelimit-unified-status: rejected\nanthropic-ratelimit-unified-5h-status: allowed\nanthropic-ratelimit-unified-5h-utilization: 0.4\nanthropic-ratelimit-unified-7d-status: rejected\nanthropic-ratelimit-unified-7d-utilization: 1.0\n<<anthropic-ratelimit-unified-reset: {unix}\nanthropic-ratelimit-unified-7d-reset: {unix}>>", anthropicBody("rate_limit_error", "This request would exceed your account's rate limit. Please try again later.")},
	{"anthropic-credit", "anthropic", WhyCredit, 400, "", anthropicBody("invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")},
	{"anthropic-billing", "anthropic", WhyCredit, 402, "", anthropicBody("billing_error", "Your organization's billing is past due.")},
	{"anthropic-auth", "anthropic", WhyAuth, 401, "", anthropicBody("authentication_error", "invalid x-api-key")},
	{"anthropic-expired", "anthropic", WhyAuth, 401, "", anthropicBody("authentication_error", "OAuth token has expired. Please obtain a new token or refresh your existing token.")},
	{"anthropic-forbidden", "anthropic", WhyForbidden, 403, "", anthropicBody("permission_error", "Your API key does not have permission to use the specified resource.")},
	{"anthropic-model", "anthropic", WhyModel, 404, "", anthropicBody("not_found_error", "model: {model}")},
	{"anthropic-too-long", "anthropic", WhyTooLong, 400, "", anthropicBody("invalid_request_error", "prompt is too long: {tokens} tokens > {limit} maximum")},
	{"anthropic-max-tokens", "anthropic", WhyTooLong, 400, "", anthropicBody("invalid_request_error", "input length and `max_tokens` exceed context limit: {tokens} + 32000 > {limit}, decrease input length or `max_tokens` and try again")},
	{"anthropic-too-large", "anthropic", WhyTooLarge, 413, "", anthropicBody("request_too_large", "Request exceeds the maximum size")},
	{"anthropic-safety", "anthropic", WhySafety, 400, "", anthropicBody("invalid_request_error", "Output blocked by content filtering policy")},
	{"anthropic-signature", "anthropic", WhyBad, 400, "", anthropicBody("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block")},
	{"anthropic-server", "anthropic", WhyServer, 500, "", anthropicBody("api_error", "Internal server error")},
	{"anthropic-timeout", "anthropic", WhyTimeout, 504, "", anthropicBody("timeout_error", "The request timed out")},
	{"anthropic-overloaded", "anthropic", WhyOverloaded, 529, "", anthropicBody("overloaded_error", "Overloaded")},
}

func anthropicBody(kind, words string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":` + string(marshal(words)) + `},"request_id":"{id}"}`
}

var openAIRows = []row{
	{"openai-rate", "openai", WhyRate, 429, "<<retry-after: {s}\nretry-after-ms: {ms}\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: {span}>>", openAIBody("Rate limit reached for {model} in organization org-standin on tokens per min (TPM): Limit 30000, Used 29811, Requested 1200.<< Please try again in {s}s.>>", "tokens", "", "rate_limit_exceeded")},
	{"openai-credit", "openai", WhyCredit, 429, "", openAIBody("You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs.", "insufficient_quota", "", "insufficient_quota")},
	{"openai-hard-limit", "openai", WhyCredit, 429, "", openAIBody("Billing hard limit has been reached", "invalid_request_error", "", "billing_hard_limit_reached")},
	{"openai-auth", "openai", WhyAuth, 401, "", openAIBody("Incorrect API key provided: sk-stand***************in. You can find your API key in your account.", "invalid_request_error", "", "invalid_api_key")},
	{"openai-forbidden", "openai", WhyForbidden, 403, "", openAIBody("You have insufficient permissions for this operation.", "invalid_request_error", "", "missing_scope")},
	{"openai-model", "openai", WhyModel, 404, "", openAIBody("The model `{model}` does not exist or you do not have access to it.", "invalid_request_error", "", "model_not_found")},
	{"openai-too-long", "openai", WhyTooLong, 400, "", openAIBody("This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages.", "invalid_request_error", "messages", "context_length_exceeded")},
	{"openai-window", "openai", WhyTooLong, 400, "", openAIBody("Your input exceeds the context window of this model. Please adjust your input and try again.", "invalid_request_error", "input", "context_length_exceeded")},
	{"openai-parameter", "openai", WhyBad, 400, "", openAIBody("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "invalid_request_error", "max_tokens", "unsupported_parameter")},
	{"openai-safety", "openai", WhySafety, 400, "", openAIBody("Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.", "invalid_request_error", "", "invalid_prompt")},
	{"openai-server", "openai", WhyServer, 500, "", openAIBody("The server had an error while processing your request. Sorry about that!", "server_error", "", "")},
	{"openai-overloaded", "openai", WhyOverloaded, 503, "", openAIBody("Our servers are currently overloaded. Please try again later.", "service_unavailable_error", "", "server_is_overloaded")},
}

func openAIBody(words, kind, param, code string) string {
	return `{"error":{"message":` + string(marshal(words)) + `,"type":"` + kind + `","param":` + orNull(param) + `,"code":` + orNull(code) + `}}`
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return `"` + s + `"`
}

var codexRows = []row{
	{"codex-quota", "codex", WhyQuota, 429, "x-codex-plan-type: plus\nx-codex-primary-used-percent: 100\nx-codex-primary-window-minutes: 300\n<<x-codex-primary-reset-after-seconds: {s}\nx-codex-primary-reset-at: {unix}\n>>x-codex-secondary-used-percent: 41\nx-codex-secondary-window-minutes: 10080", `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus"<<,"resets_at":{unix},"resets_in_seconds":{s}>>,"eligible_promo":null}}`},
	{"codex-quota-headers", "codex", WhyQuota, 429, "x-codex-plan-type: plus\nx-codex-primary-used-percent: 100\nx-codex-primary-window-minutes: 300\nx-codex-primary-reset-at:\n<<x-codex-primary-reset-after-seconds: {s}>>", `{"detail":"Too many requests"}`},
	{"codex-rate", "codex", WhyRate, 429, "<<retry-after: {s}>>", openAIBody("Rate limit reached.<< Please try again in {s}s.>>", "rate_limit_error", "", "rate_limit_exceeded")},
	{"codex-auth", "codex", WhyAuth, 401, "", openAIBody("Your authentication token has been invalidated. Please try signing in again.", "invalid_request_error", "", "token_invalidated")},
	{"codex-bad", "codex", WhyBad, 400, "", `{"detail":"System messages are not allowed"}`},
	{"codex-overloaded", "codex", WhyOverloaded, 503, "", openAIBody("Our servers are currently overloaded. Please try again later.", "service_unavailable_error", "", "server_is_overloaded")},
	{"codex-too-long", "codex", WhyTooLong, 400, "", openAIBody("Your input exceeds the context window of this model. Please adjust your input and try again.", "invalid_request_error", "input", "context_length_exceeded")},
}

const geminiHelp = `{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more about Gemini API quotas","url":"https://ai.google.dev/gemini-api/docs/rate-limits"}]}`

func geminiBody(status int, word, words, details string) string {
	if details != "" {
		details = `,"details":[` + details + `]`
	}
	return `{"error":{"code":` + itoa(status) + `,"message":` + string(marshal(words)) + `,"status":"` + word + `"` + details + `}}`
}

func quotaFailure(id, value string) string {
	return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"` + id + `","quotaDimensions":{"location":"global","model":"{model}"},"quotaValue":"` + value + `"}]}`
}

const retryInfo = `<<,{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"{s}s"}>>`

const geminiQuotaWords = "You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: "

var geminiRows = []row{
	{"gemini-rate", "gemini", WhyRate, 429, "", geminiBody(429, "RESOURCE_EXHAUSTED", geminiQuotaWords+"15<<\nPlease retry in {s}s.>>", quotaFailure("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "15")+","+geminiHelp+retryInfo)},
	{"gemini-quota", "gemini", WhyQuota, 429, "", geminiBody(429, "RESOURCE_EXHAUSTED", geminiQuotaWords+"250<<\nPlease retry in {s}s.>>", quotaFailure("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250")+","+geminiHelp+retryInfo)},
	{"gemini-help", "gemini", WhyQuota, 429, "", geminiBody(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", geminiHelp)},
	{"gemini-cli", "gemini", WhyRate, 429, "", geminiBody(429, "RESOURCE_EXHAUSTED", "You have exhausted your capacity on this model.<< Your quota will reset after {s}s.>>", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"cloudcode-pa.googleapis.com","metadata":{"model":"{model}"<<,"quotaResetDelay":"{span}","quotaResetTimeStamp":"{iso}">>}}`)},
	{"gemini-bare", "gemini", WhyRate, 429, "", geminiBody(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", "")},
	{"gemini-array", "gemini", WhyRate, 429, "", "[" + geminiBody(429, "RESOURCE_EXHAUSTED", geminiQuotaWords+"15<<\nPlease retry in {s}s.>>", quotaFailure("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "15")+retryInfo) + "]"},
	{"gemini-auth", "gemini", WhyAuth, 400, "", geminiBody(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}}`)},
	{"gemini-forbidden", "gemini", WhyForbidden, 403, "", geminiBody(403, "PERMISSION_DENIED", "The caller does not have permission", "")},
	{"gemini-model", "gemini", WhyModel, 404, "", geminiBody(404, "NOT_FOUND", "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", "")},
	{"gemini-too-long", "gemini", WhyTooLong, 400, "", geminiBody(400, "INVALID_ARGUMENT", "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({limit}).", "")},
	{"gemini-bad", "gemini", WhyBad, 400, "", geminiBody(400, "INVALID_ARGUMENT", "Request contains an invalid argument.", "")},
	{"gemini-server", "gemini", WhyServer, 500, "", geminiBody(500, "INTERNAL", "An internal error has occurred. Please retry.", "")},
	{"gemini-overloaded", "gemini", WhyOverloaded, 503, "", geminiBody(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "")},
}

var azureRows = []row{
	{"azure-rate", "azure", WhyRate, 429, "<<retry-after: {s}\nretry-after-ms: {ms}>>", `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current AIServices S0 pricing tier.<< Please retry after {s} seconds.>> Please contact Azure support service if you would like to further increase the default rate limit."}}`},
	{"azure-quota", "azure", WhyQuota, 429, "<<retry-after: {s}>>", `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded call rate limit of your current OpenAI F0 pricing tier.<< Please retry after {s} seconds.>>"}}`},
	{"azure-overloaded", "azure", WhyOverloaded, 429, "<<retry-after: {s}>>", `{"error":{"code":"429","message":"The system is currently experiencing high demand and cannot process your request.<< Please retry after {s} seconds.>>"}}`},
	{"azure-auth", "azure", WhyAuth, 401, "", `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`},
	{"azure-model", "azure", WhyModel, 404, "", `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`},
	{"azure-safety", "azure", WhySafety, 400, "", `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true,"severity":"medium"}}}}}`},
}

var bedrockRows = []row{
	{"bedrock-rate", "bedrock", WhyRate, 429, "x-amzn-errortype: ThrottlingException", `{"message":"Too many tokens, please wait before trying again."}`},
	{"bedrock-quota", "bedrock", WhyQuota, 429, "x-amzn-errortype: ThrottlingException", `{"message":"Too many tokens per day, please wait before trying again."}`},
	{"bedrock-too-long", "bedrock", WhyTooLong, 400, "x-amzn-errortype: ValidationException", `{"message":"Input is too long for requested model."}`},
	{"bedrock-forbidden", "bedrock", WhyForbidden, 403, "x-amzn-errortype: AccessDeniedException", `{"message":"You don't have access to the model with the specified model ID."}`},
}
