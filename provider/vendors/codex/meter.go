// Package codex reads what the ChatGPT backend's replies tell of a Codex account's allowance.
package codex

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dev.magpie/provider"
)

// keys are the headers of one window, in the form that net/http keeps them in.
type keys struct{ used, minutes, after, at string }

// Either slot can hold any length: a plan may have its week as the first and no second.
var slots = []keys{
	{"X-Codex-Primary-Used-Percent", "X-Codex-Primary-Window-Minutes", "X-Codex-Primary-Reset-After-Seconds", "X-Codex-Primary-Reset-At"},
	{"X-Codex-Secondary-Used-Percent", "X-Codex-Secondary-Window-Minutes", "X-Codex-Secondary-Reset-After-Seconds", "X-Codex-Secondary-Reset-At"},
}

const (
	planKey      = "X-Codex-Plan-Type"
	hasKey       = "X-Codex-Credits-Has-Credits"
	unlimitedKey = "X-Codex-Credits-Unlimited"
	balanceKey   = "X-Codex-Credits-Balance"
)

// Read returns what the headers tell, nothing when they are not there. Windows of single
// models are not among them, so the reading is partial.
func Read(h http.Header, at time.Time) provider.Reading {
	r := provider.Reading{Plan: get(h, planKey), Credits: credits(h)}
	for _, k := range slots {
		if w, ok := window(h, k, at); ok {
			r.Windows = append(r.Windows, w)
		}
	}
	return r
}

func window(h http.Header, k keys, at time.Time) (provider.Window, bool) {
	used, ok := number(get(h, k.used))
	if !ok {
		return provider.Window{}, false
	}
	w := provider.Window{Used: min(100, used), Partial: true, Read: at}
	if minutes, ok := number(get(h, k.minutes)); ok && minutes < 1e6 {
		w.Span = time.Duration(minutes) * time.Minute
	}
	w.Name = provider.SpanName(w.Span)
	w.Resets = resets(h, k, at)
	return w, !none(w, at)
}

// resets reads when the window renews: the time itself, else the seconds until then.
func resets(h http.Header, k keys, at time.Time) time.Time {
	const farthest = 400 * 24 * 3600
	var told time.Time
	if unix, ok := number(get(h, k.at)); ok && math.Abs(unix-float64(at.Unix())) < farthest {
		told = time.Unix(int64(unix), 0).UTC()
	}
	if after, ok := number(get(h, k.after)); ok && after < farthest && (told.IsZero() || over(told, after, at)) {
		return at.Add(time.Duration(after * float64(time.Second))).UTC()
	}
	return told
}

// credits reads what can be spent beyond the windows, nil when nothing is told.
func credits(h http.Header) *provider.Credits {
	has := get(h, hasKey)
	if has == "" {
		return nil
	}
	return &provider.Credits{
		Has:       strings.EqualFold(has, "true"),
		Unlimited: strings.EqualFold(get(h, unlimitedKey), "true"),
		Balance:   get(h, balanceKey),
	}
}

// get is h.Get for a key in canonical form, without the work of making it so.
func get(h http.Header, key string) string {
	if v := h[key]; len(v) > 0 {
		return strings.TrimSpace(v[0])
	}
	return ""
}

// number reads a number that is not below nothing.
func number(s string) (float64, bool) {
	if s == "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f >= 0 && !math.IsInf(f, 0)
}
