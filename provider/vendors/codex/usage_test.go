package codex_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
)

var now = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

const (
	plus = `{"plan_type":"plus","rate_limit":{"allowed":true,"limit_reached":false,
 "primary_window":{"used_percent":42,"limit_window_seconds":18000,"reset_after_seconds":3600,"reset_at":1772622000},
 "secondary_window":{"used_percent":87,"limit_window_seconds":604800,"reset_after_seconds":90000,"reset_at":1772712000}},
 "credits":{"has_credits":false,"unlimited":false,"balance":"0"},"spend_control":{"reached":false},
 "rate_limit_reached_type":null,"rate_limit_reset_credits":{"available_count":2}}`
	out = `{"plan_type":"pro","rate_limit":{"allowed":false,"limit_reached":true,"primary_window":{"used_percent":100,"limit_window_seconds":604800,"reset_after_seconds":200000,"reset_at":1772822000},"secondary_window":null},
 "credits":{"has_credits":true,"unlimited":false,"balance":"120.5000000000","overage_limit_reached":false},"spend_control":{"reached":false},"rate_limit_reached_type":{"type":"rate_limit_reached"},"rate_limit_reset_credits":{"available_count":1}}`
)

func TestUsage(t *testing.T) {
	swap := func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }
	broke := swap(out, `"has_credits":true`, `"has_credits":false`)
	business := swap(broke, `"pro"`, `"business"`)
	for _, tt := range []struct{ name, reply, want string }{
		{"five hours and a week", plus, "plus: 5 hours 42% 11:00, 7 days 87% 12:00; 2 resets"},
		{"a week alone, used up, with credits", out, "pro: 7 days 100% 18:33; 1 resets; 120.5 credits"},
		{"the spending limit is reached", swap(out, `"spend_control":{"reached":false}`, `"spend_control":{"reached":true}`), "pro: 7 days 100% 18:33; 1 resets; 120.5 credits; held"},
		{"no credits", broke, "pro: 7 days 100% 18:33; 1 resets; held"},
		{"overage is reached", swap(out, `"overage_limit_reached":false`, `"overage_limit_reached":true`), "pro: 7 days 100% 18:33; 1 resets; 120.5 credits; held"},
		{"no end of credits", swap(broke, `"unlimited":false`, `"unlimited":true`), "pro: 7 days 100% 18:33; 1 resets"},
		{"a workspace that pays by use", business, "business: 7 days 100% 18:33; 1 resets"},
		{"a team", swap(broke, `"pro"`, `"team"`), "team: 7 days 100% 18:33; 1 resets; held"},
		{"the workspace's owner ran out", swap(business, `"type":"rate_limit_reached"`, `"type":"workspace_owner_usage_limit_reached"`), "business: 7 days 100% 18:33; 1 resets; held"},
		{"allowed is never held", swap(broke, `"allowed":false`, `"allowed":true`), "pro: 7 days 100% 18:33; 1 resets"},
		{"no windows", `{"plan_type":"pro","rate_limit":{"primary_window":null,"secondary_window":null}}`, "pro:; 0 resets"},
		{"numbers as strings, over a hundred, a time from now", `{"rate_limit":{"primary_window":{"used_percent":"140","limit_window_seconds":"86400","reset_after_seconds":60}}}`, ": 1 day 100% 10:01; 0 resets"},
		{
			"a model of its own", `{"rate_limit":{},"additional_rate_limits":[{"limit_name":"GPT 5 Spark","rate_limit":{"primary_window":{"used_percent":5,"limit_window_seconds":18000}}}]}`,
			": 5 hours · GPT 5 Spark 5% only gpt-5-spark; 0 resets",
		},
		{
			"a limit of its own without a name", `{"rate_limit":{},"additional_rate_limits":[{"limit_name":null,"metered_feature":"codex_x","rate_limit":{"primary_window":{"used_percent":100,"limit_window_seconds":18000}}},{"rate_limit":{"primary_window":{"used_percent":100,"limit_window_seconds":604800}}}]}`,
			": 5 hours · codex_x 100% only codex_x; 0 resets",
		},
		{
			"a slot full of zeros is no window", `{"plan_type":"pro","rate_limit":{"primary_window":{"used_percent":35,"limit_window_seconds":604800,"reset_at":1772712000},"secondary_window":{"used_percent":0,"limit_window_seconds":0,"reset_after_seconds":0,"reset_at":0}}}`,
			"pro: 7 days 35% 12:00; 0 resets",
		},
		{
			"a reset that has passed by this clock, and is to come by the vendor's", `{"rate_limit":{"primary_window":{"used_percent":100,"limit_window_seconds":18000,"reset_after_seconds":3600,"reset_at":1772610000}}}`,
			": 5 hours 100% 11:00; 0 resets",
		},
		{"a plan without limits", `{"plan_type":"enterprise","rate_limit":null,"credits":{"has_credits":true,"unlimited":false,"balance":"40"}}`, "enterprise:; 0 resets; 40 credits"},
		{"nothing", `{}`, "error: its usage tells no limits"},
		{"a page", `<html>`, "error: its usage is no JSON object"},
		{"cut", plus[:200], "error: its usage is no JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := codex.ParseUsage([]byte(tt.reply), now)
			if got := draw(u, err); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func draw(u provider.Reading, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var ws []string
	for _, w := range u.Windows {
		s := fmt.Sprintf(" %s %g%%", w.Name, w.Used)
		if !w.Resets.IsZero() {
			s += w.Resets.Format(" 15:04")
		}
		if w.Model != "" {
			s += " only " + w.Model
		}
		ws = append(ws, s)
	}
	s := fmt.Sprintf("%s:%s; %d resets", u.Plan, strings.Join(ws, ","), resets(u))
	if u.Balance != "" {
		s += "; " + u.Balance
	}
	if u.Held {
		s += "; held"
	}
	return s
}

func resets(u provider.Reading) int {
	if u.Resets == nil {
		return 0
	}
	return u.Resets.Count
}

func TestResets(t *testing.T) {
	const list = `{"available_count":3,"credits":[{"id":"c-late","status":"available","expires_at":"2026-05-01T00:00:00Z"},{"id":"c-never","status":"available","expires_at":null},
 {"id":"c-used","status":"redeemed","expires_at":"2026-03-05T00:00:00Z"},{"id":"c-soon","status":"available","expires_at":"2026-03-20T00:00:00Z"}]}`
	all, err := codex.ParseResets([]byte(list))
	var ids []string
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	if got := strings.Join(ids, " "); err != nil || got != "c-soon c-late c-never" || !all[0].Expires.Equal(time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)) || !all[2].Expires.IsZero() {
		t.Errorf("%s %v %v", got, all, err)
	}
	never := strings.NewReplacer("c-late", "c-used", `"available","expires_at":"2026`, `"redeemed","expires_at":"2026`).Replace(list)
	if all, err := codex.ParseResets([]byte(never)); err != nil || len(all) != 1 || all[0].ID != "c-never" || !all[0].Expires.IsZero() {
		t.Errorf("only one that never runs out: %v %v", all, err)
	}
	if all, err := codex.ParseResets([]byte(`{"credits":[{"id":"c-used","status":"redeemed"}]}`)); err != nil || len(all) != 0 {
		t.Errorf("only used ones: %v %v", all, err)
	}
	if _, err := codex.ParseResets([]byte(list[:90])); err == nil {
		t.Error("a cut list is read")
	}
}

func TestWhatCameOfAReset(t *testing.T) {
	for reply, want := range map[string]string{
		`{"code":"reset","windows_reset":2}`:            "reset 2",
		`{"code":"nothing_to_reset","windows_reset":0}`: "nothing_to_reset 0",
		`{"code":"no_credit"}`:                          "no_credit 0",
		`{"code":"already_redeemed"}`:                   "already_redeemed 0",
		`{}`:                                            "error",
		`{"code":"other"}`:                              "error",
		`x`:                                             "error",
	} {
		o, n, err := codex.ParseOutcome([]byte(reply))
		got := fmt.Sprintf("%s %d", o, n)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", reply, got, want)
		}
	}
}

func token(claims string) string {
	return "any text." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".at all"
}

func TestTokens(t *testing.T) {
	c, ok := codex.ParseToken(token(`{"email":"a@b.c","https://api.openai.com/auth":{"chatgpt_plan_type":"team","chatgpt_account_id":"acct-1","chatgpt_subscription_active_until":"2026-04-01T00:00:00+00:00"}}`))
	if !ok || c.User() != "a@b.c · Team" || c.Account != "acct-1" || c.Until.IsZero() {
		t.Errorf("%+v %v", c, ok)
	}
	if c, _ := codex.ParseToken(token(`{"email":"a@b.c","https://api.openai.com/auth":{"chatgpt_plan_type":"plus"}}`)); c.User() != "a@b.c" {
		t.Errorf("a personal plan is called %q", c.User())
	}
	for _, bad := range []string{"", "a.b", "a.b.c.d", "a.!!.c", token("[]"), token("{")} {
		if _, ok := codex.ParseToken(bad); ok {
			t.Errorf("%q is a token", bad)
		}
	}
	for claims, want := range map[string]bool{
		fmt.Sprintf(`{"exp":%d}`, now.Add(4*time.Minute).Unix()): true,
		fmt.Sprintf(`{"exp":%d}`, now.Add(6*time.Minute).Unix()): false,
		`{}`: false,
	} {
		if got := codex.Stale(token(claims), now); got != want {
			t.Errorf("%s: stale %v", claims, got)
		}
	}
}
