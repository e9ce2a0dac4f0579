package main

import (
	"strings"
	"testing"

	"dev.magpie/gateway/trace"
)

func TestExplainSaysWhatARuleAndTheConversationMakeOfIt(t *testing.T) {
	route := trace.Route{
		Time: noon, Asked: "g", Resolved: trace.Resolved{Group: "g"}, Routing: "order", Tries: []trace.Try{}, Left: []trace.Candidate{},
		Rule:     &trace.Rule{Group: "g", N: 1, Use: "b/n:high", When: []string{"tokens >= 1000", "agents claude"}},
		Affinity: &trace.Affinity{Mode: "auto", Last: "a/k", Why: trace.KeepRule},
		Order: []trace.Candidate{
			{ID: "b/k", Model: "n", Effort: "high", Reason: "rule 1 of group g sends the turn here"},
			{ID: "a/k", Model: "m", Effort: "low", Reason: "first in group g"},
			{ID: "a/k", Model: "m", Reason: "third in group g"},
		},
	}
	for why, says := range map[trace.KeepWhy]string{
		trace.KeepRule:  "\nthe conversation leaves a/k: a rule of the group puts another first\n",
		trace.KeepOff:   "\nconversations are not kept: affinity is off\n",
		trace.KeepFirst: "",
	} {
		route.Affinity.Why = why
		g, s := newCanned(t, map[string]any{"POST /v1/magpie/explain": route}), newShell(t)
		want := "g is group g, routing order\n" +
			"rule 1 of group g sends the turn to b/n:high: 1000 tokens or more, asked by\n  claude" + strings.TrimSuffix("\n"+strings.TrimPrefix(says, "\n"), "\n") + `

asked in this order
  1  b/k        n:high: rule 1 of group g sends the turn here
  2  a/k        m:low: first in group g
  3  a/k        m: third in group g
`
		if code, out, errs := s.run("explain", "g", "--listen", g.addr()); code != 0 || errs != "" || out != want {
			t.Errorf("%s: %d %s\n%s\nwant\n%s", why, code, errs, out, want)
		}
	}
}
