// Package anthropic reads what Anthropic's replies tell of an account's allowance.
package anthropic

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/provider"
)

// Headers read `<prefix><claim>-<field>`, such as `…unified-5h-utilization`; the claim is a
// length and, for a window of some models only, a scope behind a low line.
const prefix = "anthropic-ratelimit-unified-"

// mostWindows bounds what one reply may name.
const mostWindows = 16

// scopes are the claims' scopes that are not simply a word of the models' ids.
var scopes = map[string]string{"oi": "fable"}

// Read returns the windows that the headers name, none when they name none. Replies tell one
// window or several, so every window is partial: one that is left out says nothing.
func Read(h http.Header, at time.Time) provider.Reading {
	var ws []provider.Window
	for key := range h {
		claim, ok := claimOf(key)
		if !ok || len(ws) == mostWindows {
			continue
		}
		if w, ok := window(h, claim, at); ok {
			ws = append(ws, w)
		}
	}
	slices.SortFunc(ws, func(a, b provider.Window) int {
		return cmp.Or(cmp.Compare(a.Span, b.Span), cmp.Compare(a.Name, b.Name))
	})
	ws = slices.CompactFunc(ws, func(a, b provider.Window) bool { return a.Name == b.Name })
	return provider.Reading{Windows: ws}
}

// claimOf returns the claim of a key that tells a window's use or that it refuses.
func claimOf(key string) (string, bool) {
	if len(key) <= len(prefix) || !strings.EqualFold(key[:len(prefix)], prefix) {
		return "", false
	}
	rest := key[len(prefix):]
	for _, field := range []string{"-utilization", "-status"} {
		if n := len(rest) - len(field); n > 0 && strings.EqualFold(rest[n:], field) {
			return rest[:n], true
		}
	}
	return "", false
}

// window reads one claim. A claim is told by its use; one whose status refuses is full.
func window(h http.Header, claim string, at time.Time) (provider.Window, bool) {
	name, span, model, ok := spell(claim)
	if !ok {
		return provider.Window{}, false
	}
	w := provider.Window{Name: name, Span: span, Model: model, Partial: true, Read: at}
	share, err := strconv.ParseFloat(field(h, claim, "utilization"), 64)
	known := err == nil && share >= 0 && !math.IsInf(share, 0)
	if known {
		w.Used = min(100, 100*share)
	}
	if strings.EqualFold(field(h, claim, "status"), "rejected") {
		known, w.Used = true, 100
	}
	w.Resets = reset(field(h, claim, "reset"), at, span)
	return w, known
}

func field(h http.Header, claim, name string) string {
	return strings.TrimSpace(h.Get(prefix + claim + "-" + name))
}

// spell reads a claim such as 5h or 7d_opus into a window's name, length and scope.
func spell(claim string) (name string, span time.Duration, model string, ok bool) {
	claim = strings.ToLower(claim)
	length, scope, scoped := strings.Cut(claim, "_")
	if len(length) < 2 || scoped && scope == "" {
		return "", 0, "", false
	}
	n, err := strconv.ParseUint(length[:len(length)-1], 10, 16)
	if err != nil || n == 0 || n > 1000 {
		return "", 0, "", false
	}
	switch length[len(length)-1] {
	case 'h':
		span = time.Duration(n) * time.Hour
	case 'd':
		span = time.Duration(n) * 24 * time.Hour
	default:
		return "", 0, "", false
	}
	name = provider.SpanName(span)
	if scoped {
		model = cmp.Or(scopes[scope], strings.ReplaceAll(scope, "_", "-"))
		name += " · " + strings.ToUpper(model[:1]) + model[1:]
	}
	return name, span, model, true
}

// reset reads unix seconds. What lies far outside the window is no reset of it.
func reset(s string, at time.Time, span time.Duration) time.Time {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f < 1e11) {
		return time.Time{}
	}
	t := time.Unix(int64(f), 0).UTC()
	if t.After(at.Add(2*span)) || t.Before(at.Add(-2*span)) {
		return time.Time{}
	}
	return t
}
