package gateway

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/trace"
)

func TestWhoWasRefusedForTheAllowanceAlone(t *testing.T) {
	failed := func(id string, why trace.Kind, since bool) outcome {
		return outcome{of: &trace.Candidate{ID: id}, verdict: &trace.Verdict{Kind: why}, since: since}
	}
	me, spare := failed("me", trace.Quota, false), failed("spare", trace.Quota, false)
	for name, c := range map[string]struct {
		fails []outcome
		want  string
	}{
		"both":                              {[]outcome{me, spare}, "me spare"},
		"another for something else":        {[]outcome{me, failed("spare", trace.Other, false)}, ""},
		"another was paused meanwhile":      {[]outcome{me, failed("spare", trace.Other, true)}, "me"},
		"another was held meanwhile":        {[]outcome{me, failed("spare", trace.Quota, true)}, "me"},
		"all were paused, and nobody asked": {[]outcome{failed("me", trace.Other, true)}, ""},
		"a full lane is something else":     {[]outcome{me, failed("spare", trace.Rate, false)}, ""},
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(refusedAlone(c.fails))), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
