package failure

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPhrases(t *testing.T) {
	for _, c := range []struct {
		phrase, text string
		want         bool
	}{
		{"rate limit*", "rate-limited upstream", true},
		{"rate limit", "rate_limit", true},
		{"rate limit", "rate limits", false},
		{"balance", "load balancer", false},
		{"balance", "unbalanced", false},
		{"balance", "get_balance", false},
		{"balance", "the balance.", true},
		{"hit your …limit", "hit your weekly limit", true},
		{"hit your …limit", "hit your " + strings.Repeat("x", 60) + " limit", false},
		{"limit…24resets", "limit · resets", true},
		{"limit…24resets", "limit " + strings.Repeat("x", 30) + " resets", false},
		{"(invalid|wrong) api key", "wrong api key", true},
		{"(invalid|wrong) api key", "right api key", false},
		{"used (up )?all", "used all", true},
		{"used (up )?all", "used up all", true},
		{"maximum of # blocks", "maximum of 4 blocks", true},
		{"余额不足", "您的余额不足。", true},
		{"模型…12不存在", "模型 gpt 不存在", true},
		{"not found: /*", "not found: /v1", true},
		{"reasoning.effort", "reasoningxeffort", false},
	} {
		if got := phrases("", c.phrase).in(c.text); got != c.want {
			t.Errorf("%q in %q: %v", c.phrase, c.text, got)
		}
	}
}

// TestAnchorsLoseNothing: the quick look may only spare what the pattern would
// turn down.
func TestAnchorsLoseNothing(t *testing.T) {
	var all []string
	for _, w := range Lists() {
		all = append(all, w.Phrases...)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := phrases("", rapid.SampledFrom(all).Draw(t, "phrase")).laid()[0]
		text := strings.ToLower(rapid.StringMatching(p.pattern().String()).Draw(t, "text"))
		if p.pattern().MatchString(text) && !strings.Contains(text, p.anchor) {
			t.Fatalf("anchor %q isn't in %q", p.anchor, text)
		}
	})
}
