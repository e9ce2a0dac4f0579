package failure_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

func TestFixturesAreClassified(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			got := failure.Classify(f.seen)
			if f.words != "" && !strings.Contains(got.Words, f.words) {
				t.Errorf("words %q hold no %q", got.Words, f.words)
			}
			want := f.want
			want.Words, want.Account = got.Words, f.seen.Kind == "account"
			got.Until, want.Until = got.Until.UTC(), want.Until.UTC()
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("verdict (-want +got):\n%s", d)
			}
		})
	}
}

// TestEveryRowIsHitAndNearlyMissed: a row that no fixture reaches is shadowed or
// dead; a row without a near miss may match too much.
func TestEveryRowIsHitAndNearlyMissed(t *testing.T) {
	hits, misses := map[string]int{}, map[string]int{}
	for _, f := range fixtures(t) {
		hits[failure.Classify(f.seen).Row]++
		for _, m := range f.misses {
			misses[m]++
			rule, ok := ruleNamed(m)
			if !ok {
				t.Errorf("%s: misses %q, which is no row", f.name, m)
			} else if failure.Matches(rule, f.seen) {
				t.Errorf("%s: meant as a near miss of %s, but the row matches it", f.name, m)
			}
		}
	}
	rules := failure.Rules()
	for i, r := range rules {
		if hits[r.Name] == 0 {
			t.Errorf("row %s: no fixture hits it", r.Name)
		}
		if last := i == len(rules)-1; misses[r.Name] == 0 && !last {
			t.Errorf("row %s: no fixture nearly misses it", r.Name)
		}
	}
}

func TestRowsHaveNamesOfTheirOwnAndTheLastMatchesEverything(t *testing.T) {
	seen := map[string]bool{}
	rules := failure.Rules()
	for i, r := range rules {
		if seen[r.Name] || r.Name == "" || r.Says == "" || r.Then == "" {
			t.Errorf("row %d %q: a second of that name, or without name, words or kind", i, r.Name)
		}
		seen[r.Name] = true
	}
	if last := rules[len(rules)-1]; !failure.Matches(last, failure.Seen{}) || !failure.Matches(last, failure.Seen{Status: 200}) {
		t.Error("the last row doesn't match everything")
	}
}

// TestKindsStayDistinct: merging two kinds in the table would show here.
func TestKindsStayDistinct(t *testing.T) {
	kinds := map[trace.Kind]bool{}
	for _, r := range failure.Rules() {
		kinds[r.Then] = true
	}
	for _, k := range []trace.Kind{
		trace.Credit, trace.Quota, trace.Rate, trace.Auth, trace.Overloaded, trace.Refused, trace.TooLarge, trace.Shape,
		trace.Prompt, trace.Effort, trace.Proxy, trace.Verify, trace.Cancelled, trace.Model, trace.Request, trace.Network, trace.Other,
	} {
		if !kinds[k] {
			t.Errorf("no row says %s", k)
		}
	}
}

func ruleNamed(name string) (failure.Rule, bool) {
	for _, r := range failure.Rules() {
		if r.Name == name {
			return r, true
		}
	}
	return failure.Rule{}, false
}
