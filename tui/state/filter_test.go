package state

import (
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

func sampleRoutes() (*State, map[string]*trace.Route) {
	s := New(trace.View{Status: trace.Status{Accounts: []trace.Account{
		{ID: "claude/work-max", Provider: "claude", Name: "work-max", Kind: "account"},
		{ID: "glm/plan", Provider: "glm", Name: "plan", Kind: "key"},
	}}}, noon, false)
	return s, map[string]*trace.Route{
		"answered": {
			ID: 1, Time: noon.Add(-5 * time.Minute), Agent: "claude", Session: "7f3a-11", Asked: "claude-sonnet-5-5",
			Resolved: trace.Resolved{Provider: "claude", Model: "claude-sonnet-5-5"}, Done: true, Status: 200, MS: 22000, TTFTMS: 800,
			Tokens: trace.Tokens{Input: 47000, Output: 2000, CacheRead: 45000}, Cost: "0.09",
			Tries: []trace.Try{{ID: "claude/work-max", Model: "claude-sonnet-5-5", Status: 200}},
		},
		"later": {
			ID: 2, Time: noon.Add(-20 * time.Minute), Agent: "codex", Session: "c02e-22", Asked: "always-on", Resolved: trace.Resolved{Group: "always-on"},
			Done: true, Status: 200, MS: 14200, TTFTMS: 2900, Tokens: trace.Tokens{Input: 20400, Output: 1200},
			Tries: []trace.Try{{ID: "glm/plan", Model: "glm-5.3", Fail: trace.Rate, Status: 429}, {ID: "claude/work-max", Model: "gpt-6.1-sol", Status: 200}},
		},
		"failed": {
			ID: 3, Time: noon.Add(-2 * time.Minute), Agent: "droid", Asked: "glm-5.3", Done: true, Status: 429, MS: 9000, Error: "rate limited",
			Tries: []trace.Try{{ID: "glm/plan", Model: "glm-5.3", Fail: trace.Rate, Status: 429, Error: "slow down"}},
		},
		"refused": {ID: 4, Time: noon.Add(-time.Minute), Agent: "codex", Asked: "nothing-1", Done: true, Status: 404},
		"left":    {ID: 5, Time: noon.Add(-time.Minute), Agent: "claude", Asked: "opus-5", Done: true, Status: 499, MS: 7000, Tries: []trace.Try{{ID: "claude/work-max", Model: "opus-5", Fail: trace.Cancelled}}},
		"live":    {ID: 6, Time: noon.Add(-3 * time.Second), Agent: "claude", Asked: "haiku-5", Tries: []trace.Try{{ID: "claude/work-max", Model: "haiku-5"}}},
	}
}

func TestAFilterNarrows(t *testing.T) {
	s, routes := sampleRoutes()
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", []string{"answered", "later", "failed", "refused", "left", "live"}},
		{"CODEX", []string{"later", "refused"}},
		{"-agent:claude", []string{"later", "failed", "refused"}},
		{"acct:work", []string{"answered", "later", "left", "live"}},
		{"acct:glm/plan", []string{"later", "failed"}},
		{"prov:glm", []string{"later", "failed"}},
		{"model:sonnet", []string{"answered"}},
		{"group:always", []string{"later"}},
		{"conv:c02e", []string{"later"}},
		{"state:failed", []string{"failed"}},
		{"state:ok", []string{"answered", "later"}},
		{"state:error", []string{"failed", "refused"}},
		{"state:l", []string{"later", "left", "live"}},
		{"try:>1", []string{"later"}},
		{"try:1", []string{"answered", "failed", "left", "live"}},
		{"ttfb:>2s", []string{"later"}},
		{"ttfb:<1s", []string{"answered"}},
		{"dur:>=10s", []string{"answered", "later"}},
		{"dur:20", []string{"answered"}},
		{"in:>40k", []string{"answered"}},
		{"out:<=1.2k out:>0", []string{"later"}},
		{"cost:>$0.05", []string{"answered"}},
		{"since:10m -state:live", []string{"answered", "failed", "refused", "left"}},
		{"slow", []string{"failed"}},
		{"agent:claude -model:opus dur:<10s", []string{"live"}},
	} {
		f := ParseFilter(tc.text)
		if len(f.Bad) > 0 {
			t.Errorf("%q has bad terms: %v", tc.text, f.Bad)
		}
		want := map[string]bool{}
		for _, name := range tc.want {
			want[name] = true
		}
		for name, r := range routes {
			if got := f.Match(s, r, At(noon)); got != want[name] {
				t.Errorf("%q: the %s request passes: %v, want %v", tc.text, name, got, want[name])
			}
		}
	}
}

func TestABadTermIsNamedWhileTheRestApplies(t *testing.T) {
	s, routes := sampleRoutes()
	for _, tc := range []struct{ text, term, why string }{
		{"agent:codex acc:home", "acc:home", "no field acc, did you mean acct?"},
		{"agent:codex providers:x", "providers:x", "no field providers, did you mean prov?"},
		{"agent:codex size:9", "size:9", "no field size; there are acct prov model group agent conv state try ttfb dur in out cost since"},
		{"agent:codex try:many", "try:many", `"many" is no number`},
		{"agent:codex ttfb:>soon", "ttfb:>soon", `"soon" is no length of time such as 2s`},
		{"agent:codex state:odd", "state:odd", "state: takes live answered later failed refused left ok error"},
		{"agent:codex since:yore", "since:yore", "since: takes a length of time such as 10m"},
		{"agent:codex acct:", "acct:", "nothing after acct:"},
	} {
		f := ParseFilter(tc.text)
		if len(f.Bad) != 1 || f.Bad[0].Term != tc.term || f.Bad[0].Why != tc.why {
			t.Errorf("%q: bad terms are %v, want %s: %s", tc.text, f.Bad, tc.term, tc.why)
		}
		if f.Match(s, routes["answered"], At(noon)) || !f.Match(s, routes["later"], At(noon)) {
			t.Errorf("%q: the good term no longer applies", tc.text)
		}
	}
}

func TestSinceForgetsWhatGrowsOld(t *testing.T) {
	s, routes := sampleRoutes()
	f := ParseFilter("since:10m")
	c := At(noon)
	if !f.Match(s, routes["answered"], c) {
		t.Fatal("a request of five minutes ago is not within ten")
	}
	if want := noon.Add(5 * time.Minute); !c.Next().Equal(want) {
		t.Fatalf("the list changes at %v, want %v", c.Next(), want)
	}
	if f.Match(s, routes["answered"], At(c.Next())) {
		t.Error("the request is still within ten minutes")
	}
}

func TestALineIsMatchedByWordsAlone(t *testing.T) {
	f := ParseFilter("relay rests -glm")
	if !f.MatchText("Relay-a rests 60s") || f.MatchText("relay-a woke") || f.MatchText("relay-a rests, glm too") {
		t.Error("words do not match a line")
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{"", "-", ":", "a:b", "-state:", "try:>1 ttfb:<2s", "since:99999d", "cost:>$", "in:1e309", "dur:-1", "\x1b]52;c;x\x07:y"} {
		f.Add(s)
	}
	s, routes := sampleRoutes()
	f.Fuzz(func(t *testing.T, text string) {
		parsed := ParseFilter(text)
		for _, r := range routes {
			parsed.Match(s, r, At(noon))
			parsed.MatchText(r.Error)
		}
		for _, b := range parsed.Bad {
			if b.Why == "" {
				t.Errorf("%q is bad without a reason", b.Term)
			}
		}
	})
}
