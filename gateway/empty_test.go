package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// inTurn is a vendor that gives one reply after another; the last stays.
func inTurn(next ...string) (v *crossed) {
	v = &crossed{c: &crossing{}}
	v.c.answer = func(map[string]any) string { return next[min(len(v.got), len(next))-1] }
	return v
}

const (
	gemThought = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]}}]}` + "\n\n"
	gemNothing = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"U0k="}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"thoughtsTokenCount":9}}` + "\n\n"
)

// TestGeminiEmptyRepliesAskedAgain: a reply that thought at the most is asked for again on
// the same account, a bounded number of times.
func TestGeminiEmptyRepliesAskedAgain(t *testing.T) {
	empty := gemThought + gemNothing
	whole := `{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"thoughtsTokenCount":9}}`
	for _, streamed := range []bool{true, false} {
		for _, api := range apis {
			name := api + map[bool]string{true: " streamed", false: " whole"}[streamed]
			bad, good := empty, stream("gemini")
			if !streamed {
				bad, good = whole, ok("gemini", "hello")
			}
			path, body := asking(api, "v/gemini-3-flash", streamed)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := inTurn(bad, bad, good)
					r := newRig(t, "[providers.v]\ngemini = \"{v}/v1beta\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\n", vendors{"v": v})
					got := r.ask(path, body)
					if got.status != 200 || !strings.Contains(got.body, "hel") || len(v.got) != 3 || tried(r.told()) != "v/k v/k v/k" {
						t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.got))
					}
					if len(r.rests()) != 0 {
						t.Error("the key rests for an empty reply")
					}
				})
				synctest.Test(t, func(t *testing.T) {
					v := inTurn(bad)
					r := newRig(t, "[providers.v]\ngemini = \"{v}/v1beta\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\n", vendors{"v": v})
					got := r.ask(path, body)
					if got.status != 502 && !strings.Contains(got.body, "error") || !strings.Contains(got.body, "reply is empty") || len(v.got) > 6 {
						t.Errorf("for ever: %d %s, asked %d times", got.status, got.body, len(v.got))
					}
				})
			})
		}
	}
}
