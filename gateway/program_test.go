//go:build unix

package gateway_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/bridge"
	"dev.magpie/gateway/bridge/fakeclaude"
	"dev.magpie/gateway/trace"
)

// programRig is a gateway with a Claude account behind a stand-in for the program, and a key
// that is asked after it.
func programRig(t *testing.T, mode fakeclaude.Mode) (*rig, string) {
	t.Helper()
	dir := t.TempDir()
	path, err := fakeclaude.Install(dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "[providers.claude]\naccounts = [{ name = \"me\" }]\nfallback = [\"spare/m\"]\n[providers.spare]\nchat = \"{spare}/v1\"\nkeys = [{ value = \"sk-spare\" }]\n",
		vendors{"spare": relay("from spare")}, func(d *gateway.Deps) {
			d.Claude = bridge.Options{Program: path, TempDir: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}}
		})
	return r, dir
}

// inAPI is one API's way of a conversation with a tool.
var inAPI = []struct {
	api, path  string
	ask        func(words string) string
	goOn       func(words, id string) string
	calls, end string // marks of a call and of a whole end
	id         string // in front of the call's id in a reply
}{
	{
		"chat", "/v1/chat/completions",
		func(w string) string {
			return `{"model":"claude/claude-sonnet-5","stream":true,"messages":[{"role":"user","content":"` + w + `"}],"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]}`
		},
		func(w, id string) string {
			return `{"model":"claude/claude-sonnet-5","stream":true,"messages":[{"role":"user","content":"` + w + `"},{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"look","arguments":"{\"n\":0}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":"found it"}],"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]}`
		},
		`"finish_reason":"tool_calls"`, "[DONE]", `"id":"toolu_`,
	},
	{
		"responses", "/v1/responses",
		func(w string) string {
			return `{"model":"claude/claude-sonnet-5","stream":true,"input":[{"role":"user","content":"` + w + `"}],"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]}`
		},
		func(w, id string) string {
			return `{"model":"claude/claude-sonnet-5","stream":true,"input":[{"role":"user","content":"` + w + `"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Let me look."}]},{"type":"function_call","call_id":"` + id + `","name":"look","arguments":"{\"n\":0}"},{"type":"function_call_output","call_id":"` + id + `","output":"found it"}],"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]}`
		},
		`"type":"function_call"`, "response.completed", `"call_id":"toolu_`,
	},
	{
		"messages", "/v1/messages",
		func(w string) string {
			return `{"model":"claude/claude-sonnet-5","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"` + w + `"}],"tools":[{"name":"look","input_schema":{"type":"object"}}]}`
		},
		func(w, id string) string {
			return `{"model":"claude/claude-sonnet-5","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"` + w + `","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"` + id + `","name":"look","input":{"n":0}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"found it"}]}],"tools":[{"name":"look","input_schema":{"type":"object"}}]}`
		},
		`"stop_reason":"tool_use"`, "message_stop", `"id":"toolu_`,
	},
	{
		"gemini", "/v1beta/models/claude%2Fclaude-sonnet-5:streamGenerateContent?alt=sse",
		func(w string) string {
			return `{"contents":[{"role":"user","parts":[{"text":"` + w + `"}]}],"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":{"type":"object"}}]}]}`
		},
		func(w, _ string) string { // without ids, as its agents do
			return `{"contents":[{"role":"user","parts":[{"text":"` + w + `"}]},{"role":"model","parts":[{"text":"Let me look."},{"functionCall":{"name":"look","args":{"n":0}}}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"found it"}}}]}],"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":{"type":"object"}}]}]}`
		},
		`"functionCall"`, `"finishReason"`, `"id":"toolu_`,
	},
}

func TestAgentsOfEveryAPIThroughTheProgram(t *testing.T) {
	for _, c := range inAPI {
		t.Run(c.api, func(t *testing.T) {
			r, dir := programRig(t, fakeclaude.Fine)
			got := r.ask(c.path, c.ask("call look"))
			if got.status != http.StatusOK || !strings.Contains(got.body, c.calls) || !strings.Contains(got.body, c.end) {
				t.Fatalf("%d %s", got.status, got.body)
			}
			id := ""
			if _, rest, ok := strings.Cut(got.body, c.id); ok {
				id, _, _ = strings.Cut(rest, `"`)
			}
			got = r.ask(c.path, c.goOn("call look", "toolu_"+id))
			if got.status != http.StatusOK || !strings.Contains(got.body, "found") || !strings.Contains(got.body, c.end) {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if s, err := fakeclaude.Starts(dir); err != nil || len(s) != 1 {
				t.Errorf("%d runs, %v", len(s), err)
			}
			if route := r.last(); route.Tokens.Input != 180 || route.Tokens.Output != 20 || route.Tokens.CacheRead != 80 || tried(route) != "claude/me" {
				t.Errorf("the trace tells %d in, %d out, %d cached of %s", route.Tokens.Input, route.Tokens.Output, route.Tokens.CacheRead, tried(route))
			}
		})
	}
}

func TestAWholeReplyOfTheProgram(t *testing.T) {
	r, _ := programRig(t, fakeclaude.Fine)
	for path, body := range map[string]string{
		"/v1/messages":         `{"model":"claude/claude-sonnet-5","max_tokens":1000,"messages":[{"role":"user","content":"say well"}]}`,
		"/v1/chat/completions": `{"model":"claude/claude-sonnet-5","messages":[{"role":"user","content":"say well"}]}`,
	} {
		got := r.ask(path, body)
		if got.status != http.StatusOK || !json.Valid([]byte(got.body)) || !strings.Contains(got.body, "well") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

func TestAProgramsWindowsAreToldAtOnce(t *testing.T) {
	r, _ := programRig(t, fakeclaude.Mute) // what its watch reads can come last, and count
	r.ask("/v1/chat/completions", chatBody("claude/claude-sonnet-5"))
	end := time.After(time.Minute)
	for {
		for _, w := range r.store.Windows("claude/me") {
			if w.Name == "5 hours" && w.Used == 42 {
				return
			}
		}
		select {
		case <-end:
			t.Fatalf("the account has %+v", r.store.Windows("claude/me"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// What the account's program says instead of a reply sends the request to the next candidate.
func TestAProgramsRefusals(t *testing.T) {
	for _, c := range []struct {
		verb string
		why  trace.Kind
		rest time.Duration // at least
	}{
		{"full", trace.Quota, 50 * time.Minute},
		{"limited", trace.Rate, time.Second},
		{"expired", trace.Auth, time.Second},
		{"busy", trace.Overloaded, 0},
		{"exit", trace.Other, 0},
	} {
		t.Run(c.verb, func(t *testing.T) {
			r, _ := programRig(t, fakeclaude.Fine)
			got := r.ask("/v1/chat/completions", `{"model":"claude/claude-sonnet-5","messages":[{"role":"user","content":"`+c.verb+`"}]}`)
			if got.status != http.StatusOK || !strings.Contains(got.body, "from spare") {
				t.Fatalf("%d %s", got.status, got.body)
			}
			try := r.last().Tries[0]
			if try.Fail != c.why {
				t.Errorf("it failed with %s: %s", try.Fail, try.Error)
			}
			if rest, ok := r.rests()["claude/me"]; c.rest > 0 && (!ok || time.Until(rest.Until) < c.rest) {
				t.Errorf("it rests %v, %+v", ok, rest)
			}
			if strings.Contains(try.Error, "abcdefghijklmnop") {
				t.Errorf("a secret is told: %s", try.Error)
			}
		})
	}
}

func TestAnAccountWithoutItsProgram(t *testing.T) {
	for mode, says := range map[fakeclaude.Mode]string{fakeclaude.SignedOut: "signed out", fakeclaude.Old: "too old"} {
		r, _ := programRig(t, mode)
		got := r.ask("/v1/chat/completions", chatBody("claude/claude-sonnet-5"))
		if got.status != http.StatusOK || !strings.Contains(got.body, "from spare") {
			t.Fatalf("%d %s", got.status, got.body)
		}
		for _, a := range r.store.Accounts(r.cat, time.Now()) {
			if a.ID == "claude/me" && !strings.Contains(a.Error, says) {
				t.Errorf("the account says %q of a program that is %s", a.Error, mode)
			}
		}
	}
}

func TestTheProgramCountsNoTokens(t *testing.T) {
	r, dir := programRig(t, fakeclaude.Fine)
	got := r.ask("/v1/messages/count_tokens", `{"model":"claude/claude-sonnet-5","messages":[{"role":"user","content":"say well"}]}`)
	if got.status != http.StatusOK || !strings.Contains(got.body, "input_tokens") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if s, err := fakeclaude.Starts(dir); err == nil && len(s) > 0 {
		t.Error("it was run for a count")
	}
}
