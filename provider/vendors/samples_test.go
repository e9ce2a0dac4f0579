package vendors_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
	"dev.magpie/provider/vendors/commandcode"
	"dev.magpie/provider/vendors/copilot"
	"dev.magpie/provider/vendors/geminicli"
	"dev.magpie/provider/vendors/glm"
	"dev.magpie/provider/vendors/grok"
	"dev.magpie/provider/vendors/kimi"
	"dev.magpie/provider/vendors/minimax"
	"dev.magpie/provider/vendors/opencodego"
	"dev.magpie/provider/vendors/sub2api"
)

// drawn writes a reading as one line a window: "5 hours 42% till 03-04 11:00 span=5h 1/5 USD aside".
func drawn(r provider.Reading) string {
	var lines []string
	for _, w := range r.Windows {
		line := fmt.Sprintf("%s %.4g%%", w.Name, w.Used)
		if !w.Resets.IsZero() {
			line += " till " + w.Resets.UTC().Format("2006-01-02T15:04Z")
		}
		if w.Span > 0 {
			line += " span=" + strings.TrimSuffix(strings.TrimSuffix(w.Span.String(), "0s"), "0m")
		}
		if w.Limit > 0 {
			line += strings.TrimRight(fmt.Sprintf(" %.4g of %.4g %s", w.Amount, w.Limit, w.Unit), " ")
		}
		if w.Aside {
			line += " aside"
		}
		if w.Endless {
			line += " endless"
		}
		if !w.Read.Equal(at) {
			line += " read at another time"
		}
		lines = append(lines, line)
	}
	if r.Plan != "" {
		lines = append(lines, "plan "+r.Plan)
	}
	if r.Balance != "" {
		lines = append(lines, "balance "+r.Balance)
	}
	return strings.Join(lines, "; ")
}

const (
	sub2apiRunning = `{"mode":"quota_limited","isValid":true,"status":"active","rate_limits":[
 {"window":"7d","limit":200,"used":150,"remaining":50,"window_start":"2026-03-02T00:00:00+08:00","reset_at":"2026-03-09T00:00:00+08:00"},
 {"window":"5h","limit":20,"used":0,"remaining":20,"window_start":null},
 {"window":"1d","limit":0,"used":3,"remaining":0}]`
	glmPlan = `{"success":true,"data":{"level":"max","limits":[
 {"type":"TOKENS_LIMIT","unit":3,"number":5,"percentage":37,"nextResetTime":1772625600000},
 {"type":"TOKENS_LIMIT","unit":6,"number":7,"percentage":81,"nextResetTime":1772985600000},
 {"type":"TIME_LIMIT","unit":5,"number":1,"percentage":100,"nextResetTime":1774915200000}]}}`
	minimaxGeneral = `{"model_name":"general","start_time":1772600400000,"end_time":1772618400000,"current_interval_remaining_percent":64,
  "current_interval_status":1,"current_interval_total_count":0,"weekly_start_time":1772409600000,"weekly_end_time":1773014400000,
  "current_weekly_remaining_percent":10,"current_weekly_status":2,"current_weekly_total_count":0}`
	minimaxVideo = `{"model_name":"video","start_time":1772582400000,"end_time":1772668800000,"current_interval_remaining_percent":20,"current_interval_status":1,
  "current_interval_total_count":5,"current_interval_usage_count":4,"weekly_end_time":1773014400000,"current_weekly_status":3,"current_weekly_total_count":0}`
	minimaxImage = `{"model_name":"image","current_interval_status":3,"current_weekly_status":3,"current_interval_total_count":0,"current_weekly_total_count":0}`
)

func TestWhatVendorsTellOfAKey(t *testing.T) {
	for _, tt := range []struct {
		name  string
		parse func([]byte, time.Time) (provider.Reading, error)
		reply string
		want  string // or "error: …"
	}{
		{
			"sub2api, running and not started", sub2api.Parse, sub2apiRunning + "}",
			"5 hours 0% span=5h 0 of 20 USD; 7 days 75% till 2026-03-08T16:00Z span=168h 150 of 200 USD; balance $20.00",
		},
		{
			"sub2api, over its limit", sub2api.Parse, strings.Replace(sub2apiRunning, `"used":150`, `"used":250`, 1) + "}",
			"5 hours 0% span=5h 0 of 20 USD; 7 days 100% till 2026-03-08T16:00Z span=168h 250 of 200 USD; balance $0.00",
		},
		{
			"sub2api, a total as well", sub2api.Parse, sub2apiRunning + `,"remaining":7.5,"quota":{"limit":10,"used":2.5}}`,
			"5 hours 0% span=5h 0 of 20 USD; 7 days 75% till 2026-03-08T16:00Z span=168h 150 of 200 USD; balance $7.50",
		},
		{
			"sub2api, a plan without limits", sub2api.Parse, `{"mode":"unrestricted","isValid":true,"planName":"pro","remaining":-1,"unit":"USD","subscription":{"daily_usage_usd":3,"daily_limit_usd":null}}`,
			"plan pro; balance no limit",
		},
		{
			"sub2api, a wallet that is overdrawn", sub2api.Parse, `{"mode":"unrestricted","isValid":true,"planName":"wallet","remaining":-1,"balance":-1,"unit":"USD"}`,
			"plan wallet; balance -$1.00",
		},
		{
			"sub2api, a wallet", sub2api.Parse, `{"mode":"unrestricted","isValid":true,"planName":"wallet","remaining":24.8,"balance":24.8,"unit":"USD"}`,
			"plan wallet; balance $24.80",
		},
		{
			"sub2api, every limit at nothing", sub2api.Parse, `{"mode":"quota_limited","rate_limits":[{"window":"1d","limit":0,"used":3}]}`, "",
		},
		{
			"sub2api, odd spellings", sub2api.Parse, `{"mode":"quota_limited","rate_limits":[{"window":"1D","limit":"100","used":"-3","reset_at":"soon"}]}`,
			"1 day 0% span=24h 0 of 100 USD; balance $100.00",
		},
		{"sub2api, something else", sub2api.Parse, `{"data":[]}`, "error: its usage tells neither windows nor what remains"},
		{
			"Kimi Code", kimi.Parse, `{"usage":{"limit":"500","used":"125","resetTime":"2026-03-09T05:24:18.44Z"},
 "limits":[{"window":{"duration":300,"timeUnit":"TIME_UNIT_MINUTE"},"detail":{"limit":"100","remaining":"40","resetTime":"2026-03-04T11:00:00Z"}},
           {"window":{"duration":1,"timeUnit":"TIME_UNIT_DAY"},"detail":{"limit":0,"used":5}}]}`,
			"5 hours 60% till 2026-03-04T11:00Z span=5h; 7 days 25% till 2026-03-09T05:24Z span=168h",
		},
		{
			"Kimi Code, other names for the reset", kimi.Parse, `{"usage":{"limit":10,"remaining":12,"reset_at":"2026-03-09T05:24:18.441234567Z"}}`,
			"7 days 0% till 2026-03-09T05:24Z span=168h",
		},
		{"Kimi Code, nothing", kimi.Parse, `{}`, "error: its usage tells no window"},
		{
			"GLM", glm.Parse, glmPlan,
			"5 hours 37% till 2026-03-04T12:00Z span=5h; 7 days 81% till 2026-03-08T16:00Z span=168h; MCP · Month 100% till 2026-03-31T00:00Z aside; plan max",
		},
		{
			"GLM, no number of hours", glm.Parse, `{"success":true,"data":{"limits":[{"type":"TOKENS_LIMIT","unit":3,"percentage":"150"},{"type":"TOKENS_LIMIT","unit":3,"number":0,"percentage":1}]}}`,
			"5 hours 100% span=5h; 5 hours 1% span=5h",
		},
		{"GLM, refused", glm.Parse, `{"success":false,"msg":"x"}`, "error: x"},
		{"GLM, no data", glm.Parse, `{"success":true}`, "error: its quota tells nothing"},
		{"GLM, a key without a plan", glm.Parse, `{"success":true,"data":{"limits":[]}}`, ""},
		{
			"MiniMax", minimax.Parse, `{"model_remains":[` + minimaxGeneral + "," + minimaxVideo + "," + minimaxImage + `],"base_resp":{"status_code":0,"status_msg":"success"}}`,
			"5 hours 36% till 2026-03-04T10:00Z span=5h; 7 days 100% till 2026-03-09T00:00Z span=168h; video · 1 day 80% till 2026-03-05T00:00Z span=24h 4 of 5 aside",
		},
		{
			"MiniMax, the count is what is left", minimax.Parse, `{"model_remains":[` + strings.Replace(minimaxVideo, `usage_count":4`, `usage_count":1`, 1) + `]}`,
			"video · 1 day 80% till 2026-03-05T00:00Z span=24h 4 of 5 aside",
		},
		{
			"MiniMax, a count that fits neither way", minimax.Parse, `{"model_remains":[` + strings.Replace(minimaxVideo, `usage_count":4`, `usage_count":3`, 1) + `]}`,
			"video · 1 day 80% till 2026-03-05T00:00Z span=24h aside",
		},
		{"MiniMax, refused with a 200", minimax.Parse, `{"base_resp":{"status_code":1004,"status_msg":"login fail"}}`, "error: login fail"},
		{"MiniMax, times in seconds", minimax.Parse, `{"model_remains":[{"model_name":"general","start_time":1772600400,"end_time":1772618400,"current_interval_remaining_percent":"64"}]}`, "5 hours 36% till 2026-03-04T10:00Z span=5h"},
		{
			"OpenCode Go", opencodego.Parse, `{"usage":{"rolling":{"status":"ok","percent":0,"resetsAt":"2026-03-04T14:00:00Z"},"weekly":{"status":"ok","percent":55,"resetsAt":"2026-03-08T00:00:00Z"},"monthly":{"status":"rate-limited","percent":100,"resetsAt":"2026-04-01T00:00:00Z"}}}`,
			"5 hours 0% span=5h; 7 days 55% till 2026-03-08T00:00Z span=168h; Month 100% till 2026-04-01T00:00Z",
		},
		{
			"OpenCode Go, by seconds", opencodego.Parse, `{"rollingUsage":{"usagePercent":12,"resetInSec":3600},"weeklyUsage":{"usagePercent":0,"resetInSec":5}}`,
			"5 hours 12% till 2026-03-04T11:00Z span=5h; 7 days 0% span=168h",
		},
		{"OpenCode Go, nothing", opencodego.Parse, `{"usage":{}}`, "error: its usage tells no window"},
		{
			"Command Code", commandcode.Parse, `{"credits":{"planId":"pro","monthlyCredits":10,"purchasedCredits":"2.5","freeCredits":0},"windowLimits":{"fiveHour":{"used":3,"cap":12,"resetAt":1772625600000},"weekly":{"used":3,"cap":0}}}`,
			"5 hours 25% till 2026-03-04T12:00Z span=5h; plan pro; balance 12.50 credits",
		},
		{
			"Grok", grok.Parse, `{"config":{"creditUsagePercent":33,"currentPeriod":{"type":"USAGE_PERIOD_TYPE_WEEKLY","end":"2026-03-08T00:00:00Z"},"onDemandCap":{"val":20},"onDemandUsed":{"val":5}}}`,
			"7 days 33% till 2026-03-08T00:00Z span=168h; On-demand 25% 5 of 20 aside",
		},
		{
			"Grok, by the month", grok.Parse, `{"config":{"creditUsagePercent":"133","currentPeriod":{"type":"USAGE_PERIOD_TYPE_MONTHLY"},"billingPeriodEnd":"2026-04-01T00:00:00Z","onDemandCap":{"val":0}}}`,
			"Month 100% till 2026-04-01T00:00Z",
		},
		{"Grok, nothing", grok.Parse, `{"config":{}}`, "error: its billing tells no window"},
		{"Command Code, nothing", commandcode.Parse, `{}`, "error: its credits tell nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tt.parse([]byte(tt.reply), at)
			got := drawn(r)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Every reader meets every cut of every reply, and what others send: none panics, and a share is one.
func TestTruncatedAndHostileReplies(t *testing.T) {
	replies := []string{
		sub2apiRunning + "}", glmPlan, `{"model_remains":[` + minimaxGeneral + "," + minimaxVideo + `]}`,
		`[]`, `null`, `""`, `{"usage":null}`, `{"usage":[]}`, `{"credits":7}`, `{"rate_limits":{}}`, `{"data":[1]}`, `{"usage":{"rolling":"x"}}`,
		`{"rate_limits":[{"window":"1d","limit":1e308,"used":1e-320,"reset_at":1e300}],"mode":"x"}`,
		`{"quota_snapshots":[]}`, `{"quota_snapshots":{"chat":{"entitlement":1e308,"quota_remaining":-1e308}}}`, `{"monthly_quotas":{"chat":1e-320},"limited_user_quotas":{"chat":-1e308}}`, `{"buckets":[null,7]}`, `{"rate_limit":{"primary_window":[]}}`,
		`{"usage":{"limit":"1e309","used":"NaN","resetTime":-5}}`, strings.Repeat("[", 5000),
	}
	for name, parse := range map[string]func([]byte, time.Time) (provider.Reading, error){
		"sub2api": sub2api.Parse, "kimi": kimi.Parse, "glm": glm.Parse, "minimax": minimax.Parse, "opencode go": opencodego.Parse, "command code": commandcode.Parse,
		"grok": grok.Parse, "copilot": copilot.Parse, "gemini cli": geminicli.Parse, "codex": codex.ParseUsage,
	} {
		for _, reply := range replies {
			for cut := range len(reply) + 1 {
				if cut > 600 && cut < len(reply) {
					continue
				}
				r, err := parse([]byte(reply[:cut]), at)
				if err == nil && cut < len(reply) && cut > 0 {
					t.Fatalf("%s takes a cut reply for a whole one: %.80s", name, reply[:cut])
				}
				for _, w := range r.Windows {
					if !(w.Used >= 0 && w.Used <= 100) || w.Name == "" {
						t.Fatalf("%s: window %+v of %.80s", name, w, reply)
					}
				}
			}
		}
	}
}

func TestWhichBalanceURLIsARelays(t *testing.T) {
	for u, want := range map[string]bool{
		"https://relay.example/v1/usage": true, "https://relay.example/v1/usage/": true, "https://relay.example/v1/usage?x=1": true,
		"https://relay.example/api/v1/usage": false, "https://relay.example/v1/usages": false, "": false, "::": false,
	} {
		if got := sub2api.Is(u); got != want {
			t.Errorf("%s: %v", u, got)
		}
	}
}
