package failure

// The lists of words. Each is data: a vendor's new phrase is a line here and a
// fixture. A bare word that a request may hold too (balance, credit, limit,
// quota) counts only where the status speaks of the account already.

// Money.
var (
	// moneyGone are words that no request can cause: they mean credit whatever
	// the status, and are the only ones that make a 429 a matter of money.
	moneyGone = phrases("money gone",
		"credit balance is too low", "credit balance too low",
		"insufficient (account |user |wallet |api )?(balance|credit|credits|fund|funds)",
		"used (up )?all (of )?(your |its |the )?(available |free )?credits",
		"spending limit", "spend limit (has been |was |is )?(reached|exceeded|hit)", "arrearage", "in arrears",
		"余额不足", "欠费", "请充值", "请及时充值", "请先充值",
	)
	// moneyWords are the further ways to say it; at a 429 they may be the prose
	// around a rate limit, so they count at other statuses only.
	moneyWords = phrases("money",
		"(balance|credit|credits|fund|funds) (is |are |has been |have been |was )?(too low|insufficient|not enough|not sufficient|exhausted|depleted|used up|negative|overdrawn)",
		"(not enough|out of|no (more |remaining )?|lack of|ran out of|run out of) (account |api )?(balance|credits|credit balance|funds)",
		"low account balance", "balance is low", "account balance is 0",
		"requires more credits", "(purchase|buy|add) (more |some )?(credits|funds)", "top up your", "recharge your", "please recharge",
		"payment required", "payment (is )?(overdue|past due|failed|declined)", "overdue payment*", "(payment*|account|subscription|invoice*) …past due", "account (is )?overdue", "overdue bill*",
		"billing (hard )?limit", "billing (is )?(not active|inactive|disabled|not enabled)", "requires billing", "billing to be enabled", "billing account …(disabled|closed|absent|not active|not found)",
		"suspended …(balance|payment|billing|overdue|arrears|credit*)", "account is in good standing", "account in good standing",
		"余额已用", "余额为0", "余额为 0", "余额耗尽", "余额过低", "余额低于", "余额不够", "余额已耗尽", "无余额", "没有余额", "账户…12(不足|停)",
		"账号…12欠", "需要充值", "充值后", "未充值", "点数不足", "积分不足",
	)
	// moneyBare count at 401 and 403, where the vendor speaks of the account.
	moneyBare = phrases("money, bare words",
		"balance", "credit", "credits", "billing", "payment", "arrears", "overdue", "suspended", "余额", "充值",
	)
	// permission are words that make a bare word of money a matter of rights.
	permission = phrases("rights",
		"permission*", "scope*", "role", "endpoint", "load balanc*", "not authorized to", "read only", "field", "parameter", "form", "tool*", "function*", "schema",
	)
)

// Allowances.
var (
	// usedUp mean a full allowance window at any status.
	usedUp = phrases("used up",
		"quota* (has been |is |was |have been )?(fully )?(exceeded|exhausted|reached|depleted|used up|insufficient|not enough)",
		"(exceed|exceeds|exceeded|exceeding|exhausted|reached|used up) (all )?(of )?(the |your |its |this |their )?(current |monthly |daily |weekly |hourly |free |api |usage |token |request |account |plan |user |model |allocated |total )*quota*",
		"(out of|no|no more|no remaining|insufficient|not enough) (remaining |more |available |free |usage |token |api |user |request |monthly |daily )*quota",
		"quota limit", "usage limit* (has been |have been |is |was )?(reached|exceeded|hit|exhausted)", "usage limit for", "usage limit… resets",
		"(reached|hit|exceeded|exceeds|exceed|over) (your |the |its |a |an |my )?…(usage|plan|subscription|daily|weekly|monthly|hour|hourly) limit*",
		"out of budget", "budget (has been |is |was )?(exceeded|exhausted)", "exceeded (your |the |its )?budget",
		"hit your …limit", "limit…24resets",
		"(exceeded|exceeds|exceed|reached) your …(plan|subscription|allowance)",
		"额度…用完", "额度…用尽", "额度…耗尽", "额度…不足", "额度…超", "额度已达", "用量…上限", "用量…超", "用量已达", "用量已用",
		"套餐…用完", "套餐…用尽", "套餐…耗尽", "套餐…额度", "套餐…不足", "套餐已到期", "套餐已过期", "限额已用完", "限额已用尽",
		"达到…使用上限", "达到…额度上限", "达到…用量上限", "超出…额度", "超过…额度",
	)
	// usedUpDenied count at 401 and 403 too, where it is the account that is denied.
	usedUpDenied = phrases("used up, denied", "limit reached", "reached (your|the) …limit", "exceeded your …limit", "quota", "limit exceeded", "额度", "用量", "套餐", "上限")
	// usedUpBare are words that mean it at a 429, where something is used up for sure.
	usedUpBare = phrases("used up, bare words",
		"quota", "quotas", "usage limit*", "out of budget", "limit reached", "hit your …limit", "limit…24resets",
		"exceeded …plan", "exceeded …limit", "budget (has been )?(exceeded|exhausted)", "额度", "用量", "套餐", "上限",
	)
	// plan are the words of a long window.
	plan = phrases("plan",
		"quota", "quotas", "usage limit*", "limit…24resets", "per day", "per week", "per month",
		"hit your (usage |plan |account |current |own )?limit*", "hit your …(hour|hourly|session|opus|sonnet|fable) limit*",
		"daily", "weekly", "monthly", "额度", "用量", "套餐", "限额已用完", "日限额", "周限额", "月限额", "天限额", "小时限额",
	)
	// longWindow are the plan's words without those that rate limits use too.
	longWindow = phrases("long window",
		"per day", "per week", "per month", "per hour", "perday", "daily", "weekly", "monthly", "usage limit*", "hour limit*", "# hours",
		"tokens per day", "requests per day", "rpd", "tpd", "限额", "额度", "套餐", "每天", "每日", "每周", "每月",
	)
	// rate are the words of a short one.
	rate = phrases("rate",
		"rate limit*", "ratelimit*", "too many requests", "too many concurrent", "concurren*", "per second", "per sec", "per minute", "per min",
		"rpm", "tpm", "rps", "频率", "太频繁", "过于频繁", "限流", "并发", "throttl*",
	)
	// rateSure say a rate limit whatever the status.
	rateSure = phrases("rate limit, plainly",
		"rate limit (has been |was )?exceeded", "exceeded …rate limit*", "rate limited", "rate limit reached", "too many requests",
		"hit …rate limit", "请求过于频繁", "请求太频繁", "触发限流",
	)
	// shortWindow are windows of a minute or less.
	shortWindows = phrases("short window", "per second", "per sec", "per minute", "per min", "perminute", "persecond", "rpm", "tpm", "rps", "每分钟", "每秒")
	// notOurs are quotas of other things.
	notOurs = phrases("quotas of other things",
		"(disk|storage|memory|cpu|file|inode|mailbox|upload|cache|thread|tool) quota*", "quota (field|parameter|property|argument|schema|service|endpoint|column|attribute|manager|policy|key|name|value)",
	)
	// overloadedWords are a vendor's troubles.
	overloadedWords = phrases("overloaded",
		"overloaded", "server* (is |are )?(too )?busy", "(is |are )?currently experiencing high (demand|load|traffic)", "at capacity", "tier capacity exceeded", "no capacity available",
		"receiving too many requests at the moment", "engine is currently overloaded", "service (is )?(currently |temporarily )?overloaded", "负载已饱和", "负载过高", "服务繁忙", "系统繁忙", "模型繁忙", "访问量过大",
	)
)

// Who asks, and what for.
var (
	signIn = phrases("sign-in", "please run /login", "run /login", "sign in again", "log in again", "login required", "sign in required", "please sign in", "please log in", "not logged in", "authentication required", "reauthenticate", "re authenticate")
	verify = phrases("verify the account",
		"verify your account", "verify your identity", "account (needs|must|has) to be verified", "account verification (is )?required", "verification required", "complete verification", "validation required",
	)
	badKey = phrases("bad key",
		"(invalid|incorrect|wrong|expired|unknown|missing) (x )?api key*", "api key (is )?(not valid|invalid|expired|incorrect|missing|not found|disabled|revoked)", "no api key (provided|found)", "(invalid|expired) (access |bearer |auth )?token", "token (is |has )?(expired|invalidated|revoked)",
		"(access |auth )?token (is )?invalid", "api key 无效", "密钥无效", "令牌无效", "令牌已过期", "身份验证",
	)
	banned        = phrases("banned", "封禁", "封停", "已被禁用", "account (has been |is |was )?(banned|disabled|deactivated|locked|terminated)", "organization has been disabled")
	refusedClient = phrases("client turned away", "unapproved channel", "illegal api invocation", "only (be )?used with claude code", "only authorized for use with claude code", "only …claude code clients", "only available for coding agents")
	effortWords   = phrases("effort", "reasoning effort", "reasoning.effort", "output config.effort", "thinking level", "thinkinglevel", "effort level", "effort")
	notOffered    = phrases("not offered", "unsupported value", "invalid value", "not support*", "unsupported", "is invalid", "not available", "not allowed", "must be one of", "supported values are", "not a valid")
)

// Models and endpoints.
var (
	unserved = phrases("model not served",
		"model*…80not (supported|accessible|available|found|enabled|allowed|exist)", "model*…80(does|do) not exist", "model*…80doesn't exist", "model*…80unavailable for your",
		"model (name |id |code )?(is |was )?(unsupported|unknown|invalid)", "(no such|unknown|invalid|unsupported|nonexistent) model*", "model not found", "not have access to …model*", "no access to …model*",
		"not allowed to (access|use) …model*", "no endpoints found", "no (available )?channel for model", "deployment …not exist", "not a valid model",
		"模型…12不存在", "模型…12不支持", "模型…12无权", "模型…12未开通", "不支持…12模型", "无可用渠道",
	)
	anyModel      = phrases("a model named", "model*", "deployment*", "no endpoints found", "模型")
	wrongEndpoint = phrases("wrong endpoint",
		"not a chat model", "not supported in (/)?v1/(chat/completions|responses)", "only supported in (/)?v1/responses", "use (/)?v1/(completions|responses|chat/completions)",
		"not accessible via the", "unsupported api for model", "no model endpoints available given user constraints", "is not supported for format", "does not support this protocol",
	)
	pathMissing = phrases("path not there", "invalid url", "no route*", "unknown (path|route|url|endpoint)", "path not found", "page not found", "cannot (post|get)", "route …not found", "endpoint …not found", "not found: /*", "unrecognized request url", "requested url was not found")
)

// The request's shape.
var (
	shape = phrases("shape",
		"failed to deserialize", "unknown (item |content |input )?(type|variant|field|parameter)", "unrecognized request (argument|field|parameter)",
		"extra (inputs|fields) (are )?not permitted", "additional properties are not allowed", "extra forbidden",
	)
	moderated = phrases("moderated", "moderation", "flagged", "guardrail*", "content policy", "safety system")
)

// Too long a conversation.
var (
	overflow = phrases("too long",
		"context length exceeded", "(prompt|input|request|conversation) is too long", "(prompt|input) too long", "input length and `max tokens` exceed context",
		"exceed* …context (window|length|size|limit)", "exceed* the (model's )?(maximum )?context", "maximum context length", "max context length", "too many (input |prompt )?tokens",
		"上下文…超", "上下文…过长", "上下文过长", "超…上下文", "输入…过长", "input token* count …exceeds", "maximum prompt length is", "reduce the length of the (messages|prompt|input)",
		"maximum allowed input length", "longer than the model's context length", "available context size", "greater than the context length", "prompt token count …exceeds",
		"context window …exceed*", "exceeded model token limit", "configured context size", "prompt exceeds max length", "exceeded max context length",
		"range of input length should be", "token limit exceeded", "content length exceeds threshold", "input content length exceeds", "model max prompt tokens exceeded", "input is too long for requested model",
		"tokens exceed* …context", "too large for …context", "prompt is longer than",
	)
	replyLength = phrases("reply length", "max tokens", "max output tokens", "max completion tokens", "maxoutputtokens")
	pace        = phrases("pace", "rate limit*", "per (minute|hour|min|second|day)", "tpm", "tpd", "rpm", "please wait", "try again later", "throttl*")
)
