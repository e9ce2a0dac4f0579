package vendors_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/claude"
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

// told is one reader of replies, and a reply that has one window in it: {used}, {left} and {part}
// stand for the percentage used, the one left and the share left, {resets} for when it renews.
type told struct {
	name    string
	parse   func([]byte, time.Time) (provider.Reading, error)
	reply   string
	missing string // what a window says whose share is missing, "" = it is none
}

var readers = []told{
	{"sub2api", sub2api.Parse, `{"mode":"quota_limited","rate_limits":[{"window":"7d","limit":100,"used":{used},"reset_at":{resets}}]}`, ""},
	{"kimi", kimi.Parse, `{"usage":{"limit":100,"used":{used},"resetTime":{resets}}}`, ""},
	{"kimi, by what is left", kimi.Parse, `{"limits":[{"window":{"duration":7,"timeUnit":"DAY"},"detail":{"limit":"100","remaining":{left},"reset_at":{resets}}}]}`, ""},
	{"glm", glm.Parse, `{"success":true,"data":{"limits":[{"type":"TOKENS_LIMIT","unit":6,"number":7,"percentage":{used},"nextResetTime":{resets}}]}}`, ""},
	{"minimax", minimax.Parse, `{"model_remains":[{"model_name":"general","weekly_end_time":{resets},"current_weekly_remaining_percent":{left}}]}`, ""},
	{"opencode go", opencodego.Parse, `{"usage":{"weekly":{"status":"ok","percent":{used},"resetsAt":{resets}}}}`, ""},
	{"command code", commandcode.Parse, `{"credits":{},"windowLimits":{"weekly":{"used":{used},"cap":100,"resetAt":{resets}}}}`, ""},
	{"copilot", copilot.Parse, `{"quota_reset_date":{resets},"quota_snapshots":{"premium_interactions":{"entitlement":100,"quota_remaining":{left}}}}`, ""},
	{"copilot, without charge", copilot.Parse, `{"limited_user_reset_date":{resets},"monthly_quotas":{"chat":"100"},"limited_user_quotas":{"chat":{left}}}`, ""},
	{"gemini cli", geminicli.Parse, `{"buckets":[{"modelId":"m","remainingFraction":{part},"resetTime":{resets}}]}`, "100"},
	{"grok", grok.Parse, `{"config":{"creditUsagePercent":{used},"currentPeriod":{"type":"USAGE_PERIOD_TYPE_WEEKLY","end":{resets}}}}`, ""},
	{"codex", codex.ParseUsage, `{"rate_limit":{"primary_window":{"used_percent":{used},"limit_window_seconds":604800,"reset_at":{resets}}}}`, ""},
	{"claude", claudeEvent, `{"rateLimitType":"seven_day","utilization":{share},"resetsAt":{resets}}`, ""},
}

func claudeEvent(body []byte, at time.Time) (provider.Reading, error) {
	var e claude.Event
	if err := json.Unmarshal(body, &e); err != nil {
		return provider.Reading{}, err
	}
	w, ok := e.Window(at)
	if !ok {
		return provider.Reading{}, errors.New("no window")
	}
	return provider.Reading{Windows: []provider.Window{w}}, nil
}

// with is the reply at a percentage used, written as spelled says, renewing at.
func (r told) with(used float64, spelled, resets string) []byte {
	n := func(f float64) string { return fmt.Sprintf(spelled, f) }
	return []byte(strings.NewReplacer("{used}", n(used), "{left}", n(100-used), "{part}", n(1-used/100), "{share}", n(used/100), "{resets}", resets).Replace(r.reply))
}

// odd is the reply with something else in the place of the number.
func (r told) at(value string) []byte {
	return []byte(strings.NewReplacer("{used}", value, "{left}", value, "{part}", value, "{share}", value, "{resets}", "null").Replace(r.reply))
}

func eachReader(t *testing.T, f func(t *testing.T, r told)) {
	for _, r := range readers {
		t.Run(r.name, func(t *testing.T) { f(t, r) })
	}
}

// one is the only window of a reply.
func one(t *testing.T, r told, reply []byte) provider.Window {
	t.Helper()
	got, err := r.parse(reply, at)
	if err != nil || len(got.Windows) != 1 {
		t.Fatalf("%v %+v of %s", err, got.Windows, reply)
	}
	return got.Windows[0]
}

func TestNumbersMayBeTexts(t *testing.T) {
	eachReader(t, func(t *testing.T, r told) {
		for _, spelled := range []string{"%g", `"%g"`, `" %g "`, "%e"} {
			if w := one(t, r, r.with(25, spelled, "null")); math.Abs(w.Used-25) > 1e-9 || !w.Resets.IsZero() {
				t.Errorf("%s: %+v", spelled, w)
			}
		}
	})
}

func TestSharesStayWithinTheirBounds(t *testing.T) {
	eachReader(t, func(t *testing.T, r told) {
		for used, want := range map[float64]float64{250: 100, 100: 100, 1e12: 100, 0: 0, -20: 0} {
			if w := one(t, r, r.with(used, "%g", "null")); w.Used != want {
				t.Errorf("%g used is %g, want %g", used, w.Used, want)
			}
		}
	})
}

func TestTimesInEverySpelling(t *testing.T) {
	resets := time.Date(2026, 3, 8, 16, 0, 0, 0, time.UTC)
	eachReader(t, func(t *testing.T, r told) {
		for _, spelled := range []string{
			`"2026-03-08T16:00:00Z"`, `"2026-03-09T00:00:00.000000000+08:00"`, `"2026-03-08 16:00:00"`, `1772985600`, `"1772985600"`, `1772985600000`, `"1772985600000"`, `1.7729856e12`,
		} {
			if w := one(t, r, r.with(25, "%g", spelled)); !w.Resets.Equal(resets) {
				t.Errorf("%s: %s", spelled, w.Resets)
			}
		}
	})
}

func TestATimeThatIsNoneIsNotKnown(t *testing.T) {
	eachReader(t, func(t *testing.T, r told) {
		for _, spelled := range []string{
			`null`, `""`, `"soon"`, `0`, `-5`, `1e300`, `"1e300"`, `"NaN"`, `true`, `{}`, `[]`, `["2026-03-08"]`, `900000000000`, `999999999999999`, `"9999-12-31T23:59:59-12:00"`, `"0001-01-01T00:00:00Z"`,
		} {
			w := one(t, r, r.with(25, "%g", spelled))
			if math.Abs(w.Used-25) > 1e-9 || !w.Resets.IsZero() {
				t.Errorf("%s: %+v", spelled, w)
			}
			if _, err := json.Marshal(w); err != nil {
				t.Errorf("%s: %v", spelled, err)
			}
		}
	})
}

func TestAWindowThatHasRenewedCountsNothing(t *testing.T) {
	eachReader(t, func(t *testing.T, r told) {
		if w := one(t, r, r.with(90, "%g", `"2026-03-04T09:59:59Z"`)); w.UsedAt(at) != 0 || w.Used == 0 {
			t.Errorf("%+v is used at %g", w, w.UsedAt(at))
		}
	})
}

// What is not told is neither unused nor used up, where its vendor does not say that it is.
func TestAShareThatIsNotToldIsNoWindow(t *testing.T) {
	eachReader(t, func(t *testing.T, r told) {
		for _, value := range []string{`null`, `"x"`, `""`, `{}`, `[1]`, `true`, `"NaN"`, `"Infinity"`, `1e999`} {
			got, err := r.parse(r.at(value), at)
			said := ""
			for _, w := range got.Windows {
				said += fmt.Sprint(w.Used)
			}
			want := r.missing
			if value != "null" {
				want = "" // what can't be read is not missing
			}
			if said != want {
				t.Errorf("%s: %v, says %q", value, err, said)
			}
		}
	})
}
