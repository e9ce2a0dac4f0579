package failure

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

// Bounds of what a vendor may name.
const (
	longestRest = 8 * 24 * time.Hour
	longestWait = time.Hour            // by a header, for a rate limit
	shortWindow = 2 * time.Minute      // up to here a named wait is a rate's
	absurd      = 366 * 24 * time.Hour // beyond: no time at all
)

// reset is the end that a vendor named.
type reset struct {
	until time.Time // zero = none named
	by    trace.RestBy
	body  bool // the body named it, not a header
}

// form is one way in which a reset is named.
type form struct {
	name string
	read func(*reply) (time.Time, bool)
	by   trace.RestBy
	body bool
}

// forms are looked through in this order; the first that gives a time to come
// wins. What is relative goes before what is absolute: clocks differ.
var forms = []form{
	{"resets_in_seconds", bodySeconds, trace.ByResets, true},
	{"resets_at", bodyInstant, trace.ByResets, true},
	{"limit reached|<unix>", bodyUnix, trace.ByResets, true},
	{"x-codex-*-reset-after-seconds of a window at 100 %", codexReset, trace.ByResets, false},
	{"anthropic-ratelimit-unified-*-reset, the latest that is rejected", unifiedReset, trace.ByResets, false},
	{"RetryInfo.retryDelay", retryDelay, trace.ByResets, true},
	{"metadata.quotaResetDelay", quotaResetDelay, trace.ByResets, true},
	{"Zhipu's text, Beijing time", beijingText, trace.ByResets, true},
	{"retry-after-ms", retryAfterMS, trace.ByRetryAfter, false},
	{"retry-after", retryAfter, trace.ByRetryAfter, false},
	{"headers with ratelimit and reset", rateLimitReset, trace.ByRetryAfter, false},
	{"text, relative", relativeText, trace.ByResets, true},
	{"text, a date", dateText, trace.ByResets, true},
	{"text, a time of day", clockText, trace.ByRetryAfter, true},
}

// Forms names the ways in which a reset is read, in their order.
func Forms() []string {
	out := make([]string, len(forms))
	for i, f := range forms {
		out[i] = f.name
	}
	return out
}

// reset is the end that the reply names, bounded to 8 days; zero when it names
// none, or one that is over.
func (r *reply) reset() reset {
	if r.named != nil {
		return *r.named
	}
	r.named = &reset{}
	for _, f := range forms {
		if t, ok := f.read(r); ok && t.After(r.At) && t.Sub(r.At) <= absurd {
			*r.named = reset{until: r.bounded(t), by: f.by, body: f.body}
			break
		}
	}
	return *r.named
}

func (r *reply) bounded(t time.Time) time.Time {
	if limit := r.At.Add(longestRest); t.After(limit) {
		return limit
	}
	return t
}

// after is r.At and d later; false for what is no wait.
func (r *reply) after(d time.Duration, ok bool) (time.Time, bool) {
	if !ok || d <= 0 {
		return time.Time{}, false
	}
	return r.At.Add(d), true
}

func bodySeconds(r *reply) (time.Time, bool) {
	for _, l := range r.layers {
		for _, name := range []string{"resets_in_seconds", "reset_seconds", "retry_after_seconds", "retry_after", "retryAfter"} {
			if t, ok := r.after(seconds(l.child(name).value())); ok {
				return t, true
			}
		}
		if t, ok := r.after(milliseconds(l.child("retry_after_ms").value())); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

func bodyInstant(r *reply) (time.Time, bool) {
	for _, l := range r.layers {
		for _, name := range []string{"resets_at", "reset_at", "resetsAt", "resetAt", "quotaResetTimeStamp", "quota_reset_date_utc", "quota_reset_date"} {
			if t, ok := instant(l.child(name).value()); ok {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// codexReset takes the later of the windows that are full: they are all to be kept.
func codexReset(r *reply) (latest time.Time, ok bool) {
	for name := range r.Header {
		base, found := strings.CutSuffix(strings.ToLower(name), "-used-percent")
		if !found || !strings.HasPrefix(base, "x-codex-") || !full(r.Header.Get(name)) {
			continue
		}
		t, named := r.after(seconds(r.Header.Get(base + "-reset-after-seconds")))
		if !named {
			t, named = instant(r.Header.Get(base + "-reset-at"))
		}
		if named && t.After(latest) {
			latest, ok = t, true
		}
	}
	return latest, ok
}

func full(percent string) bool {
	f, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	return err == nil && f >= 100 && !math.IsInf(f, 0)
}

// codexFull reports whether a Codex window stands at 100 %.
func codexFull(r *reply) bool {
	for name := range r.Header {
		low := strings.ToLower(name)
		if strings.HasPrefix(low, "x-codex-") && strings.HasSuffix(low, "-used-percent") && full(r.Header.Get(name)) {
			return true
		}
	}
	return false
}

const unified = "anthropic-ratelimit-unified-"

// rejectedWindows names Anthropic's windows that turned the request away.
// "overage" is no window: it is rejected on every account that doesn't pay for it.
func rejectedWindows(h http.Header) []string {
	var out []string
	for name := range h {
		window, found := strings.CutPrefix(strings.ToLower(name), unified)
		window, isStatus := strings.CutSuffix(window, "-status")
		if found && isStatus && window != "overage" && strings.EqualFold(h.Get(name), "rejected") {
			out = append(out, window)
		}
	}
	return out
}

func unifiedRejected(r *reply) bool {
	return len(rejectedWindows(r.Header)) > 0 || strings.EqualFold(r.Header.Get(unified+"status"), "rejected")
}

func unifiedReset(r *reply) (latest time.Time, ok bool) {
	for _, w := range rejectedWindows(r.Header) {
		if t, named := instant(r.Header.Get(unified + w + "-reset")); named && t.After(latest) {
			latest, ok = t, true
		}
	}
	if !ok && strings.EqualFold(r.Header.Get(unified+"status"), "rejected") {
		return instant(r.Header.Get(unified + "reset"))
	}
	return latest, ok
}

func retryDelay(r *reply) (time.Time, bool) {
	n := r.find("retryDelay", "retry_delay")
	if n != nil && n.kind == object {
		whole, _ := seconds(n.child("seconds").value())
		nanos, err := strconv.Atoi(n.child("nanos").value())
		if err != nil || nanos < 0 || nanos >= 1e9 {
			nanos = 0
		}
		return r.after(whole+time.Duration(nanos), true)
	}
	return r.after(duration(n.value()))
}

func quotaResetDelay(r *reply) (time.Time, bool) {
	return r.after(duration(r.find("quotaResetDelay").value()))
}

func retryAfterMS(r *reply) (time.Time, bool) {
	return r.after(milliseconds(r.Header.Get("Retry-After-Ms")))
}

func retryAfter(r *reply) (time.Time, bool) {
	v := r.Header.Get("Retry-After")
	if t, ok := r.after(seconds(v)); ok {
		return t, true
	}
	return httpDate(v)
}

// rateLimitReset reads any header about a rate limit's reset: of the limits with
// nothing remaining, or of all when none says so, the one that ends last.
func rateLimitReset(r *reply) (time.Time, bool) {
	var spent, any time.Time
	for _, h := range r.headers() {
		for name := range h {
			low := strings.ToLower(name)
			if !strings.Contains(low, "ratelimit") || !strings.Contains(low, "reset") || strings.HasPrefix(low, unified) {
				continue
			}
			t, ok := r.limitReset(h.Get(name))
			if !ok {
				continue
			}
			any = later(any, t)
			if h.Get(strings.Replace(low, "reset", "remaining", 1)) == "0" {
				spent = later(spent, t)
			}
		}
	}
	if !spent.IsZero() {
		return spent, true
	}
	return any, !any.IsZero()
}

// headers are the reply's own and those that a relay put into its metadata.
func (r *reply) headers() []http.Header {
	out := []http.Header{r.Header}
	if n := r.find("headers"); n != nil && n.kind == object {
		inner := http.Header{}
		for i, k := range n.kids {
			inner.Set(n.keys[min(i, len(n.keys)-1)], k.value())
		}
		out = append(out, inner)
	}
	return out
}

// limitReset reads "6m0s", RFC 3339 or a unix time; a bare small number is no
// time that all vendors agree on.
func (r *reply) limitReset(v string) (time.Time, bool) {
	if t, ok := instant(v); ok {
		return t, true
	}
	if strings.ContainsAny(v, "smhd") {
		return r.after(duration(v))
	}
	return time.Time{}, false
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// seconds reads a number of seconds, fractions too.
func seconds(v string) (time.Duration, bool) { return number64(v, time.Second) }

func milliseconds(v string) (time.Duration, bool) { return number64(v, time.Millisecond) }

func number64(v string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f*float64(unit) > float64(absurd) {
		return 0, false
	}
	return time.Duration(f * float64(unit)), true
}

// duration reads a Go duration, days too ("1d2h"), or plain seconds.
func duration(v string) (time.Duration, bool) {
	v = strings.TrimSpace(v)
	var days time.Duration
	if d, rest, ok := strings.Cut(v, "d"); ok {
		n, err := strconv.Atoi(d)
		if err != nil || n < 0 || n > 366 {
			return 0, false
		}
		if days = time.Duration(n) * 24 * time.Hour; rest == "" {
			return days, true
		}
		v = rest
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return seconds(v)
	}
	return days + d, d >= 0 && d <= absurd
}

// instant reads RFC 3339, a date, or a unix time in seconds or milliseconds.
func instant(v string) (time.Time, bool) {
	v = strings.TrimSpace(v)
	if f, err := strconv.ParseFloat(v, 64); err == nil {
		switch {
		case f > 1e9 && f < 1e11:
			return time.Unix(0, int64(f*1e3)*int64(time.Millisecond)), true
		case f > 1e12 && f < 1e14:
			return time.UnixMilli(int64(f)), true
		}
		return time.Time{}, false
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, v); err == nil {
			return t, true
		}
	}
	return httpDate(v)
}

func httpDate(v string) (time.Time, bool) {
	t, err := http.ParseTime(strings.TrimSpace(v))
	return t, err == nil
}
