package standin

// The refusals of the vendors with doors of several APIs, and of the relays.

var openRouterRows = []row{
	{"openrouter-rate", "openrouter", WhyRate, 429, "<<Retry-After: {s}>>", `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"{model} is temporarily rate-limited upstream. Please retry shortly.\",\"code\":429}}","provider_name":"Stand-in"}},"user_id":"user_standin"}`},
	{"openrouter-raw-credit", "openrouter", WhyCredit, 429, "", `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"You exceeded your current quota, please check your plan and billing details.\",\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}","provider_name":"OpenAI"}}}`},
	{"openrouter-credit", "openrouter", WhyCredit, 402, "", `{"error":{"message":"Insufficient credits. Add more using the credits page.","code":402}}`},
	{"openrouter-afford", "openrouter", WhyCredit, 402, "", `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 1834. To increase, visit the credits page and upgrade to a paid account","code":402,"metadata":{"provider_name":null}}}`},
	{"openrouter-in-flight", "openrouter", WhyRate, 402, "<<Retry-After: {s}>>", `{"error":{"message":"Too much of the balance is held by requests under way.","code":402,"metadata":{"limit_source":"openrouter_in_flight_budget"}}}`},
	{"openrouter-free", "openrouter", WhyRate, 429, "<<Retry-After: {s}>>", `{"error":{"message":"{model} is temporarily rate-limited upstream.","code":429,"metadata":{"limit_source":"upstream_provider_shared_pool","provider_name":"Stand-in"}}}`},
	{"openrouter-free-account", "openrouter", WhyRate, 429, "<<X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: {unix}000>>", `{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Remaining":"0"}}}}`},
	{"openrouter-auth", "openrouter", WhyAuth, 401, "", `{"error":{"message":"User not found.","code":401}}`},
	{"openrouter-safety", "openrouter", WhySafety, 403, "", `{"error":{"message":"Your input was flagged by the moderation of the model's provider.","code":403,"metadata":{"reasons":["violence"],"flagged_input":"…","provider_name":"Stand-in","model_slug":"{model}"}}}`},
	{"openrouter-timeout", "openrouter", WhyTimeout, 408, "", `{"error":{"message":"Your request timed out","code":408}}`},
	{"openrouter-server", "openrouter", WhyServer, 502, "", `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream connect error","provider_name":"Stand-in"}}}`},
	{"openrouter-overloaded", "openrouter", WhyOverloaded, 503, "<<Retry-After: {s}>>", `{"error":{"message":"There is no available model provider that meets your routing requirements","code":503}}`},
	{"openrouter-model", "openrouter", WhyModel, 400, "", `{"error":{"message":"{model} is not a valid model ID","code":400}}`},
}

func glmBody(code, words string) string {
	return `{"error":{"code":"` + code + `","message":` + string(marshal(words)) + `},"request_id":"{id}"}`
}

var glmRows = []row{
	{"glm-1302", "glm", WhyRate, 429, "", glmBody("1302", "Rate limit reached for requests")},
	{"glm-1303", "glm", WhyRate, 429, "", glmBody("1303", "API 调用频率过高，请稍后重试")},
	{"glm-1308", "glm", WhyQuota, 429, "", glmBody("1308", "Usage limit reached for 5 hour.<< Your limit will reset at {beijing}>>")},
	{"glm-1310", "glm", WhyQuota, 429, "", glmBody("1310", "Weekly/Monthly Limit Exhausted.<< Your limit will reset at {beijing}>>")},
	{"glm-1304", "glm", WhyQuota, 429, "", glmBody("1304", "API 今日调用次数已达上限")},
	{"glm-1113", "glm", WhyCredit, 429, "", glmBody("1113", "Insufficient balance or no resource package. Please recharge.")},
	{"glm-1113-zh", "glm", WhyCredit, 429, "", glmBody("1113", "余额不足或无可用资源包,请充值。")},
	{"glm-1113-messages", "glm", WhyCredit, 429, "", `{"type":"error","error":{"type":"rate_limit_error","code":"1113","message":"[1113][Insufficient balance or no resource package. Please recharge.][{now}]"},"request_id":"{id}"}`},
	{"glm-1113-type", "glm", WhyCredit, 429, "", `{"type":"error","error":{"type":"1113","message":"余额不足或无可用资源包,请充值。"},"request_id":"{id}"}`},
	{"glm-1309", "glm", WhyCredit, 429, "", glmBody("1309", "Your GLM Coding Plan package has expired")},
	{"glm-1000", "glm", WhyAuth, 401, "", glmBody("1000", "身份验证失败。")},
	{"glm-1112", "glm", WhyAuth, 401, "", glmBody("1112", "您的账户已被锁定，请联系客服解锁")},
	{"glm-1305", "glm", WhyOverloaded, 429, "", glmBody("1305", "该模型当前访问量过大，请您稍后再试")},
	{"glm-1312", "glm", WhyOverloaded, 429, "", glmBody("1312", "The model is busy now, please try again later")},
	{"glm-1211", "glm", WhyModel, 400, "", glmBody("1211", "模型不存在，请检查模型代码。")},
	{"glm-1311", "glm", WhyModel, 429, "", glmBody("1311", "Your current subscription plan does not yet include access to {model}")},
	{"glm-1261", "glm", WhyTooLong, 400, "", glmBody("1261", "Prompt exceeds max length")},
	{"glm-1301", "glm", WhySafety, 400, "", glmBody("1301", "系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。")},
	{"glm-1210", "glm", WhyBad, 400, "", glmBody("1210", "API 调用参数有误，请检查文档。")},
	{"glm-1234", "glm", WhyServer, 500, "", glmBody("1234", "网络错误，请稍后重试")},
}

var kimiRows = []row{
	{"kimi-rate", "kimi", WhyRate, 429, "", `{"error":{"message":"Your account org-standin request reached max request: 3<<, please try again after {s} seconds>>","type":"rate_limit_reached_error"}}`},
	{"kimi-tpm", "kimi", WhyRate, 429, "", `{"error":{"message":"Your account org-standin request reached project TPM rate limit, current: 128411, limit: 128000","type":"rate_limit_reached_error"}}`},
	{"kimi-quota", "kimi", WhyQuota, 403, "", `{"error":{"type":"permission_error","message":"You've reached your weekly (7-day) usage limit. Your quota will reset later."}}`},
	{"kimi-credit", "kimi", WhyCredit, 429, "", `{"error":{"message":"Your account org-standin is suspended due to insufficient balance, please recharge your account or check your plan and billing details","type":"exceeded_current_quota_error"}}`},
	{"kimi-inactive", "kimi", WhyCredit, 403, "", `{"error":{"message":"Your account is not active, current state: deactivated","type":"exceeded_current_quota_error"}}`},
	{"kimi-overloaded", "kimi", WhyOverloaded, 429, "", `{"error":{"message":"The engine is currently overloaded, please try again later","type":"engine_overloaded_error"}}`},
	{"kimi-busy", "kimi", WhyOverloaded, 429, "", `{"error":{"message":"We're receiving too many requests at the moment. Please wait a moment and try again.","type":"rate_limit_reached_error"}}`},
	{"kimi-auth", "kimi", WhyAuth, 401, "", `{"error":{"message":"Invalid Authentication","type":"invalid_authentication_error"}}`},
	{"kimi-too-long", "kimi", WhyTooLong, 400, "", `{"error":{"message":"Invalid request: Your request exceeded model token limit: {limit}","type":"invalid_request_error"}}`},
}

var deepSeekRows = []row{
	{"deepseek-credit", "deepseek", WhyCredit, 402, "", openAIBody("Insufficient Balance", "unknown_error", "", "invalid_request_error")},
	{"deepseek-rate", "deepseek", WhyRate, 429, "", openAIBody("Rate limit reached", "rate_limit_error", "", "rate_limit_reached")},
	{"deepseek-auth", "deepseek", WhyAuth, 401, "", openAIBody("Authentication Fails, Your api key: ****n-k1 is invalid", "authentication_error", "", "invalid_request_error")},
	{"deepseek-too-long", "deepseek", WhyTooLong, 400, "", openAIBody("This model's maximum context length is {limit} tokens. However, you requested {tokens} tokens. Please reduce the length of the messages or completion.", "invalid_request_error", "", "invalid_request_error")},
	{"deepseek-thinking", "deepseek", WhyBad, 400, "", openAIBody("The `reasoning_content` in the thinking mode must be passed back to the API.", "invalid_request_error", "", "invalid_request_error")},
	{"deepseek-parameters", "deepseek", WhyBad, 422, "", openAIBody("Invalid Parameters", "invalid_request_error", "", "invalid_request_error")},
	{"deepseek-server", "deepseek", WhyServer, 500, "", openAIBody("Server Error", "server_error", "", "")},
	{"deepseek-overloaded", "deepseek", WhyOverloaded, 503, "", openAIBody("Server Overloaded", "server_error", "", "")},
}

const xAISpent = "Your team 0000 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit."

var xAIRows = []row{
	{"xai-credit", "xai", WhyCredit, 403, "", `{"code":"The caller does not have permission to execute the specified operation","error":"` + xAISpent + `"}`},
	{"xai-string", "xai", WhyCredit, 429, "", `"` + xAISpent + `"`},
	{"xai-grok", "xai", WhyCredit, 403, "", `{"code":"permission-denied","error":"You have run out of credits or need a Grok subscription. Add credits or upgrade."}`},
	{"xai-team", "xai", WhyCredit, 402, "X-Should-Retry: false", `{"code":"personal-team-blocked:spending-limit","error":"The spending limit of the team is reached."}`},
	{"xai-rate", "xai", WhyRate, 429, "<<retry-after: {s}>>", `{"code":"Some resource has been exhausted","error":"Too many requests for team 0000 and model {model}. Your team's rate limit is 480 requests per minute."}`},
	{"xai-auth", "xai", WhyAuth, 400, "", `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: st***in. You can obtain an API key in the console."}`},
	{"xai-too-long", "xai", WhyTooLong, 400, "", `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is {limit} but the request contains {tokens} tokens."}`},
}

var copilotRows = []row{
	{"copilot-quota", "copilot", WhyQuota, 402, "", `{"error":{"message":"You have no quota","code":"quota_exceeded"}}`},
	{"copilot-hours", "copilot", WhyQuota, 429, "", `{"error":{"message":"Sorry, you've hit a rate limit that restricts the number of Copilot model requests. Please try again in 58 hours.","code":"user_global_rate_limited"}}`},
	{"copilot-weekly", "copilot", WhyQuota, 429, "", `{"error":{"message":"You've reached your weekly rate limit. It will reset on April 20, 2027 at 2:00 AM.","code":"user_weekly_rate_limited"}}`},
	{"copilot-too-long", "copilot", WhyTooLong, 400, "", openAIBody("prompt token count of {tokens} exceeds the limit of {limit}", "", "", "model_max_prompt_tokens_exceeded")},
	{"copilot-auth", "copilot", WhyAuth, 401, "", `{"error":{"message":"IDE token expired: unauthorized: token expired","code":"unauthorized"}}`},
}

var relayRows = []row{
	{"sub2api-daily", "sub2api", WhyQuota, 429, "", openAIBody("api key 日限额已用完", "rate_limit_exceeded", "", "rate_limit_exceeded")},
	{"sub2api-5h", "sub2api", WhyQuota, 429, "", openAIBody("api key 5小时限额已用完", "rate_limit_exceeded", "", "rate_limit_exceeded")},
	{"sub2api-7d", "sub2api", WhyQuota, 429, "", openAIBody("api key 7天限额已用完", "rate_limit_exceeded", "", "rate_limit_exceeded")},
	{"sub2api-exhausted", "sub2api", WhyQuota, 429, "", `{"code":"API_KEY_QUOTA_EXHAUSTED","message":"API key 额度已用完"}`},
	{"sub2api-credit", "sub2api", WhyCredit, 403, "", `{"code":"INSUFFICIENT_BALANCE","message":"Insufficient account balance"}`},
	{"sub2api-pool", "sub2api", WhyOverloaded, 503, "", openAIBody("No available accounts", "api_error", "", "")},
	{"sub2api-limited", "sub2api", WhyRate, 429, "", openAIBody("All available accounts are currently rate-limited", "rate_limit_error", "", "")},
	{"sub2api-upstream", "sub2api", WhyRate, 429, "", openAIBody("Upstream rate limit exceeded, please retry later", "rate_limit_error", "", "")},
	{"newapi-credit", "newapi", WhyCredit, 403, "", openAIBody("user quota is not enough", "new_api_error", "", "insufficient_user_quota")},
	{"oneapi-inner", "oneapi", WhyRate, 429, "", openAIBody("Provider error: {\"error\":{\"message\":\"Rate limit reached for requests\",\"code\":\"rate_limit_exceeded\"}}", "one_api_error", "", "")},
	{"cooldown", "cliproxy", WhyRate, 429, "<<retry-after: {s}>>", openAIBody("All credentials for model {model} are cooling down", "rate_limit_error", "", "model_cooldown")},
	{"bailian-credit", "bailian", WhyCredit, 400, "", openAIBody("Access denied, please make sure your account is in good standing. For details, see the page on overdue-payment", "Arrearage", "", "Arrearage")},
	{"mimo-credit", "mimo", WhyCredit, 402, "", openAIBody("Insufficient account balance", "insufficient_balance", "", "402")},
	{"mimo-rate", "mimo", WhyRate, 400, "", openAIBody("Detected high-frequency non-compliant requests from you.", "", "", "")},
	{"zen-credit", "zen", WhyCredit, 401, "", `{"type":"error","error":{"type":"CreditsError","message":"Insufficient balance. Manage your billing in the console."}}`},
	{"workbuddy-quota", "workbuddy", WhyQuota, 429, "<<retry-after: {s}>>", `{"code":6004,"msg":"usage exceeds frequency limit, try another model"}`},
	{"nim-overloaded", "nim", WhyOverloaded, 529, "", `{"status":529,"title":"Overloaded","detail":"Service temporarily overloaded"}`},
	{"vllm-too-long", "vllm", WhyTooLong, 400, "", `{"object":"error","message":"This model's maximum context length is {limit} tokens. However, you requested {tokens} tokens (230462 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`},
	{"ollama-credit", "ollama", WhyCredit, 403, "", `{"error":"your subscription payment is past due. Please update your payment method."}`},
	{"autoclaw-auth", "autoclaw", WhyAuth, 403, "", `{"code":410004,"message":"账号已被封禁"}`},
	{"no-path", "cliproxy", WhyModel, 404, "", openAIBody("Invalid URL (POST /v1/messages/count_tokens)", "invalid_request_error", "", "")},
}
