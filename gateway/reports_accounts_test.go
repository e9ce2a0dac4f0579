package gateway_test

import (
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

// What users of plans and subscriptions met besides, in other words than those that are known.
func TestAPlansLimitInOtherWords(t *testing.T) {
	for name, c := range map[string]report{
		"a week's limit of Kimi at 403, as text": {api: "chat", status: 403, body: `{"error":{"message":"You've reached your weekly (7-day) usage limit. Your quota will reset later.","type":"access_terminated_error"}}`, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter},
		"its five hours at 429":                  {api: "messages", status: 429, body: `{"type":"error","error":{"type":"rate_limit_error","message":"You've reached your 5-hour usage limit. Your quota will reset in 2 hours."}}`, kind: trace.Quota, by: trace.ByResets, atLeast: 2 * time.Hour},
		"Codex, in seconds as text":              {api: "responses", status: 429, body: `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":"7200"}}`, kind: trace.Quota, by: trace.ByResets, atLeast: 2 * time.Hour},
		"Codex, a reset that lies back":          {api: "responses", status: 429, body: `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":-30}}`, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter},
		"Codex, a reset of months from now":      {api: "responses", status: 429, body: `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":7776000}}`, kind: trace.Quota, by: trace.ByResets, atLeast: 8 * 24 * time.Hour},
		"GLM, its five hours with a time":        {api: "chat", status: 429, body: `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at ` + clock0.Add(3*time.Hour).In(time.FixedZone("", 8*3600)).Format(time.DateTime) + `"}}`, kind: trace.Quota, by: trace.ByResets, atLeast: 3 * time.Hour},
		"a relay's key out of its day":           {api: "chat", status: 429, body: `{"code":"RATE_LIMIT_EXCEEDED","message":"api key 日限额已用完"}`, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter},
		"Copilot, in minutes":                    {api: "chat", status: 429, body: `{"error":{"message":"Sorry, you've hit a rate limit. Please try again in 90 minutes."}}`, kind: trace.Quota, by: trace.ByResets, atLeast: 90 * time.Minute},
		"Gemini, a day's quota named per model":  {api: "gemini", status: 429, body: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter, model: true},
		"MiniMax, its plan at 200":               {api: "chat", status: 200, body: `{"base_resp":{"status_code":2056,"status_msg":"usage limit exceeded, 5-hour usage limit reached"}}`, kind: trace.Quota, by: trace.ByQuota, atLeast: quarter, alone: 429},
		"a balance of nothing in Korean":         {api: "chat", status: 402, body: `{"error":"잔액 부족"}`, kind: trace.Credit, by: trace.ByCredit, atLeast: halfHour},
	} {
		t.Run(name, func(t *testing.T) { bears(t, c) })
	}
}
