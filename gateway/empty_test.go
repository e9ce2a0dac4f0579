package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// oneByOne is a vendor that gives one reply after another; the last stays.
func oneByOne(next ...string) (v *crossed) {
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
					v := oneByOne(bad, bad, good)
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
					v := oneByOne(bad)
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

func TestAReplyThatSaidSomethingOrWasCutIsNotEmpty(t *testing.T) {
	thought := `{"text":"hm","thought":true}`
	for name, c := range map[string]struct{ parts, finish string }{
		"a text":                     {thought + `,{"text":"x"}`, "STOP"},
		"a call":                     {`{"functionCall":{"name":"f","args":{}}}`, "STOP"},
		"thoughts cut by the length": {thought, "MAX_TOKENS"},
		"withheld":                   {thought, "SAFETY"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, how := range []string{`data: `, ``} {
				synctest.Test(t, func(t *testing.T) {
					reply := how + `{"candidates":[{"content":{"role":"model","parts":[` + c.parts + `]},"finishReason":"` + c.finish + `"}],"usageMetadata":{"promptTokenCount":3}}`
					if how != "" {
						reply += "\n\n"
					}
					v := oneByOne(reply)
					r := newRig(t, "[providers.v]\ngemini = \"{v}/v1beta\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\n", vendors{"v": v})
					path, body := asking("gemini", "v/gemini-3-flash", how != "")
					if got := r.ask(path, body); strings.Contains(got.body, "reply is empty") || len(v.got) != 1 {
						t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.got))
					}
				})
			}
		})
	}
	t.Run("a call that broke goes to the next", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			bad := `{"candidates":[{"content":{"role":"model","parts":[` + thought + `]},"finishReason":"MALFORMED_FUNCTION_CALL"}],"usageMetadata":{"promptTokenCount":3}}`
			v, w := oneByOne(bad), oneByOne(ok("gemini", "hello"))
			r := newRig(t, "[providers.a]\ngemini = \"{v}/v1beta\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\nfallback = [\"b/m\"]\n[providers.b]\ngemini = \"{w}/v1beta\"\nkeys = [{ name = \"k\", value = \""+keyTwo+"\" }]\n", vendors{"v": v, "w": w})
			path, body := asking("messages", "a/gemini-3-flash", false)
			if got := r.ask(path, body); got.status != 200 || !strings.Contains(got.body, "hello") || len(v.got) != 3 {
				t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.got))
			}
		})
	})
}
