package vendors_test

import (
	"testing"

	"dev.magpie/provider/vendors/copilot"
	"dev.magpie/provider/vendors/geminicli"
)

func TestWhatCopilotTells(t *testing.T) {
	r, err := copilot.Parse([]byte(`{"copilot_plan":"individual","access_type_sku":"plus_monthly","quota_reset_date_utc":"2026-04-01T00:00:00Z","quota_snapshots":{
 "chat":{"unlimited":true},"completions":{"unlimited":false,"has_quota":true,"entitlement":4000,"quota_remaining":1000},
 "premium_interactions":{"unlimited":false,"has_quota":true,"entitlement":1500,"quota_remaining":1200}}}`), at)
	const want = "Completions 75% till 2026-04-01T00:00Z span=720h 3000 of 4000 aside; Premium requests 20% till 2026-04-01T00:00Z span=720h 300 of 1500; Chat requests 0% aside endless; plan individual"
	if got := drawn(r); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	r, err = copilot.Parse([]byte(`{"quota_snapshots":{"completions":{"has_quota":false,"entitlement":5},"premium_interactions":{"entitlement":0},"chat":{"entitlement":"50","remaining":60}}}`), at)
	if got := drawn(r); err != nil || got != "Chat requests 0% span=720h 0 of 50" {
		t.Errorf("%v %s", err, got)
	}
	r, err = copilot.Parse([]byte(`{"copilot_plan":"individual","access_type_sku":"free_limited_copilot","monthly_quotas":{"chat":50,"completions":2000},"limited_user_quotas":{"chat":10,"completions":2000},"limited_user_reset_date":"2026-04-01"}`), at)
	if got := drawn(r); err != nil || got != "Completions 0% till 2026-04-01T00:00Z span=720h 0 of 2000 aside; Chat requests 80% till 2026-04-01T00:00Z span=720h 40 of 50; plan Free" {
		t.Errorf("%v %s", err, got)
	}
	if r, err = copilot.Parse([]byte(`{"copilot_plan":"individual","access_type_sku":"free_educational_quota","quota_snapshots":{}}`), at); err != nil || r.Plan != "Education" {
		t.Errorf("%v %+v", err, r)
	}
	if _, err := copilot.Parse([]byte(`{}`), at); err == nil {
		t.Error("nothing is taken for a reading")
	}
}

func TestWhatGeminiTells(t *testing.T) {
	r, err := geminicli.Parse([]byte(`{"buckets":[{"modelId":"m1","remainingFraction":0.4},{"modelId":"m2_vertex","remainingFraction":1},{"modelId":"M3","resetTime":"2026-03-05T00:00:00Z"},{"modelId":"m4","remainingFraction":"half"},{"modelId":"m5","remainingFraction":{}}]}`), at)
	if got := drawn(r); err != nil || got != "m1 60%; M3 100% till 2026-03-05T00:00Z" || r.Windows[0].Model != "m1" || r.Windows[1].Model != "m3" {
		t.Errorf("%v %s", err, got)
	}
}
