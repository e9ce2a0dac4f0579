package failure_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// TestResetTimes: every form in which a vendor names its reset, at a 429.
func TestResetTimes(t *testing.T) {
	unix := func(d time.Duration) string { return fmt.Sprint(noon.Add(d).Unix()) }
	text := func(words string) failure.Seen { return reply(429, message("quota exceeded. "+words)) }
	vendor := func(s failure.Seen, v string) failure.Seen { s.Vendor = v; return s }
	for _, c := range []struct {
		name string
		seen failure.Seen
		want time.Duration // 0 = none
	}{
		{"resets_in_seconds", reply(429, `{"error":{"type":"usage_limit_reached","resets_in_seconds":17778}}`), 17778 * time.Second},
		{"resets_in_seconds at the top", reply(429, `{"resets_in_seconds":90.5}`), 90500 * time.Millisecond},
		{"resets_at as unix", reply(429, `{"error":{"type":"usage_limit_reached","resets_at":`+unix(3*time.Hour)+`}}`), 3 * time.Hour},
		{"resets_at as a string", reply(429, `{"error":{"type":"usage_limit_reached","resets_at":"`+unix(3*time.Hour)+`"}}`), 3 * time.Hour},
		{"resets_at in milliseconds", reply(429, `{"error":{"resets_at":`+unix(3*time.Hour)+`000}}`), 3 * time.Hour},
		{"resets_at as RFC 3339", reply(429, `{"error":{"resets_at":"2026-04-18T17:00:00+02:00"}}`), 3 * time.Hour},
		{"the relative one first", reply(429, `{"error":{"resets_at":`+unix(9*time.Hour)+`,"resets_in_seconds":60}}`), time.Minute},
		{"limit reached|unix", text("Claude AI usage limit reached|" + unix(2*time.Hour)), 2 * time.Hour},
		{"a codex window", reply(429, `{}`, "X-Codex-Primary-Used-Percent", "100.0", "X-Codex-Primary-Reset-After-Seconds", "5400"), 90 * time.Minute},
		{"a codex window by its time", reply(429, `{}`, "X-Codex-Secondary-Used-Percent", "100", "X-Codex-Secondary-Reset-At", unix(4*time.Hour)), 4 * time.Hour},
		{"the later of two codex windows", reply(429, `{}`, "X-Codex-Primary-Used-Percent", "100", "X-Codex-Primary-Reset-After-Seconds", "60", "X-Codex-Secondary-Used-Percent", "101", "X-Codex-Secondary-Reset-After-Seconds", "7200"), 2 * time.Hour},
		{"a codex window not full", reply(429, `{}`, "X-Codex-Primary-Used-Percent", "99.9", "X-Codex-Primary-Reset-After-Seconds", "5400"), 0},
		{"the latest rejected window", reply(429, `{}`, "Anthropic-Ratelimit-Unified-5h-Status", "rejected", "Anthropic-Ratelimit-Unified-5h-Reset", unix(time.Hour), "Anthropic-Ratelimit-Unified-7d-Status", "rejected", "Anthropic-Ratelimit-Unified-7d-Reset", unix(50*time.Hour)), 50 * time.Hour},
		{"an allowed window", reply(429, `{}`, "Anthropic-Ratelimit-Unified-7d-Status", "allowed", "Anthropic-Ratelimit-Unified-7d-Reset", unix(50*time.Hour)), 0},
		{"RetryInfo", reply(429, `{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38s"}]}}`), 38 * time.Second},
		{"RetryInfo, a fraction", reply(429, `{"error":{"details":[{"retryDelay":"38.900s"}]}}`), 38900 * time.Millisecond},
		{"RetryInfo as an object", reply(429, `{"error":{"details":[{"retryDelay":{"seconds":38,"nanos":500000000}}]}}`), 38500 * time.Millisecond},
		{"quotaResetDelay", reply(429, `{"error":{"details":[{"metadata":{"quotaResetDelay":"1h16m0.66s"}}]}}`), time.Hour + 16*time.Minute + 660*time.Millisecond},
		{"quotaResetDelay under a second", reply(429, `{"error":{"details":[{"metadata":{"quotaResetDelay":"373.801628ms"}}]}}`), 373801628},
		{"RetryInfo before quotaResetDelay", reply(429, `{"error":{"details":[{"metadata":{"quotaResetDelay":"9s"}},{"retryDelay":"5s"}]}}`), 5 * time.Second},
		{"Zhipu's text", vendor(text("Your limit will reset at 2026-04-18 23:30:00"), "zhipu"), 3*time.Hour + 30*time.Minute},
		{"Zhipu's text in Chinese", vendor(text("您的限额将在 2026-04-18 23:30:00 重置"), "zhipu"), 3*time.Hour + 30*time.Minute},
		{"the same text of another vendor is UTC", text("Your limit will reset at 2026-04-18 23:30:00"), 11*time.Hour + 30*time.Minute},
		{"retry-after-ms", reply(429, `{}`, "Retry-After-Ms", "1500"), 1500 * time.Millisecond},
		{"retry-after-ms before retry-after", reply(429, `{}`, "Retry-After-Ms", "1500", "Retry-After", "2"), 1500 * time.Millisecond},
		{"retry-after", reply(429, `{}`, "Retry-After", "45"), 45 * time.Second},
		{"retry-after, a fraction", reply(429, `{}`, "Retry-After", " 0.25 "), 250 * time.Millisecond},
		{"retry-after, a date", reply(429, `{}`, "Retry-After", "Sat, 18 Apr 2026 12:02:00 GMT"), 2 * time.Minute},
		{"a header's duration", reply(429, `{}`, "X-Ratelimit-Reset-Tokens", "6m0s"), 6 * time.Minute},
		{"a header's short duration", reply(429, `{}`, "X-Ratelimit-Reset-Requests", "120ms"), 120 * time.Millisecond},
		{"a header's days", reply(429, `{}`, "X-Ratelimit-Reset-Requests", "1d2h"), 26 * time.Hour},
		{"a header's RFC 3339", reply(429, `{}`, "Anthropic-Ratelimit-Tokens-Reset", "2026-04-18T12:00:30Z"), 30 * time.Second},
		{"a header's unix time", reply(429, `{}`, "X-Ratelimit-Reset", unix(time.Minute)), time.Minute},
		{"a header's unix time in ms", reply(429, `{}`, "X-Ratelimit-Reset", unix(time.Minute)+"000"), time.Minute},
		{"a header's bare number", reply(429, `{}`, "X-Ratelimit-Reset", "30"), 0},
		{"retry-after before ratelimit headers", reply(429, `{}`, "Retry-After", "5", "X-Ratelimit-Reset-Tokens", "6m0s"), 5 * time.Second},
		{"try again in 58 hours", text("Please try again in 58 hours."), 58 * time.Hour},
		{"try again in 6.5s", text("Please try again in 6.5s."), 6500 * time.Millisecond},
		{"try again in 6m0s", text("Please try again in 6m0s."), 6 * time.Minute},
		{"try again in 1 hour and 20 minutes", text("try again in 1 hour and 20 minutes"), 80 * time.Minute},
		{"please retry in 38.9s", text("Please retry in 38.9s."), 38900 * time.Millisecond},
		{"retry after 86400 seconds", text("Please retry after 86400 seconds."), 24 * time.Hour},
		{"please try again after 1 seconds", text("please try again after 1 seconds"), time.Second},
		{"reset after 54s", text("Your quota will reset after 54s."), 54 * time.Second},
		{"resets in 2h 30m", text("Your limit resets in 2h 30m"), 150 * time.Minute},
		{"back in about 5 minutes", text("The model is back in about 5 minutes"), 5 * time.Minute},
		{"please wait 30 seconds", text("Please wait 30 seconds before the next request"), 30 * time.Second},
		{"in 3 days", text("Your plan renews in 3 days"), 72 * time.Hour},
		{"Retry-After in words", text("Retry-After: 30"), 30 * time.Second},
		{"in Chinese", text("请在 30 秒后重试"), 30 * time.Second},
		{"minutes in Chinese", text("请 5 分钟后再试"), 5 * time.Minute},
		{"retry 3 times says no time", text("We retry 3 times."), 0},
		{"a month's day", text("Please wait for your limit to reset on April 20, 2026 at 2:00 AM."), 38 * time.Hour},
		{"a month's day with a zone", text("resets Apr 20, 2026, 2am (PDT)"), 45 * time.Hour},
		{"a month's day without a year", text("resets Apr 19 at 6pm"), 30 * time.Hour},
		{"next year's day", text("resets Jan 5, 3pm"), 192 * time.Hour},
		{"an ISO day", text("You will regain access on 2026-04-20 at 00:00 UTC."), 36 * time.Hour},
		{"an ISO time", text("quota resets at 2026-04-18T15:00:00Z"), 3 * time.Hour},
		{"an ISO time with an offset", text("quota resets at 2026-04-18T15:00:00+02:00"), time.Hour},
		{"an ISO time with an offset without a colon", text("It will reset at 2026-04-18 23:30:00 +0800 CST."), 3*time.Hour + 30*time.Minute},
		{"an ISO time with hours of an offset", text("resets at 2026-04-18 10:00:00 -03"), time.Hour},
		{"an ISO time with an offset from GMT", text("resets at 2026-04-18 21:00 (GMT+8)"), time.Hour},
		{"an offset that is none", text("resets at 2026-04-18 21:00 +9900"), 0},
		{"5pm", text("resets 5pm"), 5 * time.Hour},
		{"a time of day with an offset from GMT", text("Access resets at 10:57 PM GMT-3."), 13*time.Hour + 57*time.Minute},
		{"a month's day with an offset from UTC", text("resets Apr 19, 2026, 2am (UTC+02:00)"), 12 * time.Hour},
		{"5:30pm in a zone", text("resets 5:30pm (UTC)"), 5*time.Hour + 30*time.Minute},
		{"a time that is tomorrow's", text("resets at 9am"), 21 * time.Hour},
		{"a 24 hours' clock", text("resets at 17:15"), 5*time.Hour + 15*time.Minute},
		{"a place that isn't known", text("resets 5pm (Antarctica/Troll)"), 0},
		{"a place that is known", text("resets 9pm (Asia/Shanghai)"), time.Hour},
		{"13pm", text("resets 13pm"), 0},
		{"resets 5 of them", text("it resets 5 of them"), 0},
		{"the relative text before the date", text("resets on April 20, 2026; try again in 10 minutes"), 10 * time.Minute},
		{"a header before the text", func() failure.Seen { s := text("try again in 10 minutes"); s.Header.Set("Retry-After", "3"); return s }(), 3 * time.Second},
		{"the body's field before the header", reply(429, `{"error":{"resets_in_seconds":60}}`, "Retry-After", "3"), time.Minute},
		{"garbage falls through to the next form", reply(429, `{"error":{"resets_in_seconds":"soon","resets_at":-4}}`, "Retry-After", "7"), 7 * time.Second},
		{"over: a time that has passed", reply(429, `{"error":{"resets_at":`+unix(-time.Hour)+`}}`), 0},
		{"negative", reply(429, `{}`, "Retry-After", "-5"), 0},
		{"zero", reply(429, `{}`, "Retry-After", "0"), 0},
		{"not a number", reply(429, `{}`, "Retry-After", "NaN"), 0},
		{"infinite", reply(429, `{}`, "Retry-After", "Inf"), 0},
		{"absurd", reply(429, `{}`, "Retry-After", "1e300"), 0},
		{"absurd digits", reply(429, `{}`, "Retry-After", strings.Repeat("9", 400)), 0},
		{"far", reply(429, `{}`, "Retry-After", "2000000"), 192 * time.Hour},
		{"a date before 1970", reply(429, `{}`, "Retry-After", "Sat, 18 Apr 1026 12:02:00 GMT"), 0},
		{"the 31st of February", text("resets on Feb 31, 2026 at 2:00 AM"), 0},
		{"month 99", text("resets at 2026-99-99 10:00"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.seen.Vendor = cmpOr(c.seen.Vendor, "acme")
			v := failure.Classify(c.seen)
			if v.Kind != trace.Rate && v.Kind != trace.Quota {
				t.Fatalf("row %s: %s", v.Row, v.Kind)
			}
			var got time.Duration
			if !v.Until.IsZero() {
				got = v.Until.Sub(noon)
			}
			if got != c.want {
				t.Errorf("row %s: %s by %q, want %s", v.Row, got, v.By, c.want)
			}
			if (v.By == "") != v.Until.IsZero() {
				t.Errorf("by %q with until %s", v.By, v.Until)
			}
		})
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestAWaitOverAnHourIsAnAllowance, up to the hour it is a rate.
func TestAWaitOverAnHourIsAnAllowance(t *testing.T) {
	for _, c := range []struct {
		header string
		kind   trace.Kind
		want   time.Duration
	}{
		{"3600", trace.Rate, time.Hour},
		{"3601", trace.Quota, 3601 * time.Second},
		{"86400", trace.Quota, 24 * time.Hour},
		{"864000", trace.Quota, 192 * time.Hour},
	} {
		v := failure.Classify(reply(429, message("Too many requests"), "Retry-After", c.header))
		if v.Kind != c.kind || v.Until.Sub(noon) != c.want {
			t.Errorf("Retry-After %s: %s for %s", c.header, v.Kind, v.Until.Sub(noon))
		}
	}
}

// TestRestsKeepToWhatTheVendorNamed: no rest is longer than the vendor named, but
// for the growing backoff of repeated rate limits and the full window, nor
// shorter, but for 8 days and the hour of a rate limit.
func TestRestsKeepToWhatTheVendorNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait := time.Duration(rapid.Int64Range(1, int64(30*24*time.Hour)).Draw(t, "wait")).Truncate(time.Millisecond) + time.Second
		past := failure.Past{
			Kind:     rapid.SampledFrom([]trace.Kind{"", trace.Rate, trace.Quota, trace.Other}).Draw(t, "past"),
			Failures: rapid.IntRange(0, 50).Draw(t, "failures"),
			Until:    noon.Add(time.Duration(rapid.Int64Range(-int64(2*time.Hour), int64(2*time.Hour)).Draw(t, "ended"))),
		}
		s := named(rapid.IntRange(0, 6).Draw(t, "form"), wait)
		v := failure.Classify(s)
		r, ok := failure.RestFor(v, past, time.Time{}, noon)
		if !ok {
			if past.Kind == trace.Quota && past.Until.After(noon) {
				return // a longer rest stands
			}
			t.Fatalf("no rest for %s", wait)
		}
		got := r.Until.Sub(noon)
		limit := min(wait, 8*24*time.Hour)
		if d := got - limit; (d > time.Second || d < -time.Second) && r.By != trace.ByBackoff {
			t.Fatalf("named %s, rests %s by %s (%s)", wait, got, r.By, v.Row)
		}
		if got < limit-time.Second || got < 0 || got > 8*24*time.Hour {
			t.Fatalf("named %s, rests only %s", wait, got)
		}
		if r.By == trace.ByBackoff && (past.Kind != trace.Rate || got > 30*time.Minute) {
			t.Fatalf("grew to %s after %+v", got, past)
		}
	})
}

// named is a 429 that names wait in one of the forms.
func named(form int, wait time.Duration) failure.Seen {
	sec := fmt.Sprintf("%.3f", wait.Seconds())
	switch form {
	case 0:
		return reply(429, message("Too many requests"), "Retry-After", sec)
	case 1:
		return reply(429, message("Too many requests"), "Retry-After-Ms", fmt.Sprint(wait.Milliseconds()))
	case 2:
		return reply(429, `{"error":{"type":"usage_limit_reached","resets_in_seconds":`+sec+`}}`)
	case 3:
		return reply(429, `{"error":{"type":"usage_limit_reached","resets_at":`+fmt.Sprint(noon.Add(wait).Unix())+`}}`)
	case 4:
		return reply(429, message("Too many requests"), "X-Ratelimit-Reset-Tokens", wait.String())
	case 5:
		return reply(429, message("Too many requests"), "Retry-After", noon.Add(wait).Format(http.TimeFormat))
	}
	return reply(429, message("Too many requests. Please try again in "+wait.String()+"."))
}

// TestParsersSurvive: whatever stands where a time should, the end is within 8
// days and not before now.
func TestParsersSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		junk := rapid.StringMatching(`[-+0-9eE.:TZ a-zµ|/,(){}"\[\]]{0,40}|-?[0-9]{1,30}(\.[0-9]{1,10})?(ms|s|m|h|d)?|NaN|-?Inf`).Draw(t, "junk")
		name := rapid.SampledFrom([]string{"Retry-After", "Retry-After-Ms", "X-Ratelimit-Reset", "X-Codex-Primary-Reset-After-Seconds", "Anthropic-Ratelimit-Unified-7d-Reset"}).Draw(t, "header")
		s := reply(429, `{"error":{"message":"limit resets `+strings.ReplaceAll(junk, `"`, `'`)+`","resets_in_seconds":"`+strings.ReplaceAll(junk, `"`, "")+`"}}`,
			name, junk, "X-Codex-Primary-Used-Percent", "100", "Anthropic-Ratelimit-Unified-7d-Status", "rejected")
		v := failure.Classify(s)
		if !v.Until.IsZero() && (v.Until.Before(noon) || v.Until.Sub(noon) > 8*24*time.Hour) {
			t.Fatalf("%q: until %s", junk, v.Until)
		}
	})
}
