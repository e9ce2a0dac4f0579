//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/bridge"
	"dev.magpie/gateway/bridge/fakeclaude"
	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
)

// programRig is a gateway with a Claude account behind a stand-in for the program, and a key
// that is asked after it. Without a mode there is no program yet.
func programRig(t *testing.T, mode fakeclaude.Mode, opts ...func(dir string, d *gateway.Deps)) (*rig, string) {
	t.Helper()
	dir := t.TempDir()
	if mode != "" {
		if _, err := fakeclaude.Install(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, "[providers.claude]\naccounts = [{ name = \"me\" }]\nfallback = [\"spare/m\"]\n[providers.spare]\nchat = \"{spare}/v1\"\nkeys = [{ value = \"sk-spare\" }]\n",
		vendors{"spare": relay("from spare")}, func(d *gateway.Deps) {
			d.Claude = bridge.Options{TempDir: t.TempDir(), Environ: []string{"PATH=" + dir, "HOME=" + t.TempDir()}}
			for _, o := range opts {
				o(dir, d)
			}
		})
	return r, dir
}

// thinking is a program that thinks about its windows until it is released.
func thinking(dir string, _ *gateway.Deps) {
	if err := fakeclaude.Hold(dir); err != nil {
		panic(err)
	}
}

// found is an account that no config names.
func found(_ string, d *gateway.Deps) { d.Catalog.Detected = true }

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

// showing waits until the account's windows are used so far: "5 hours 42, 7 days 37".
func (r *rig) showing(want string) {
	r.t.Helper()
	end := time.After(time.Minute)
	for {
		var all []string
		for _, w := range r.store.Windows("claude/me") {
			all = append(all, fmt.Sprintf("%s %.0f", w.Name, w.Used))
		}
		if strings.Join(all, ", ") == want {
			return
		}
		select {
		case <-end:
			r.t.Fatalf("the account has %q, want %q", all, want)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestAProgramsWindowsAreToldAtOnce(t *testing.T) {
	r, _ := programRig(t, fakeclaude.Fine)
	r.showing("5 hours 13, 7 days 37") // it is asked after the start
	r.ask("/v1/chat/completions", chatBody("claude/claude-sonnet-5"))
	r.showing("5 hours 42, 7 days 37")
}

func TestWhatAReplyToldStandsAgainstAnAskingThatBeganBefore(t *testing.T) {
	r, dir := programRig(t, fakeclaude.Fine, thinking)
	happens(t, "it is asked for its windows", func() bool { return fakeclaude.Asked(dir) == 1 })
	r.ask("/v1/chat/completions", chatBody("claude/claude-sonnet-5"))
	r.showing("5 hours 42")
	fakeclaude.Release(dir)
	r.showing("5 hours 42, 7 days 37")
}

// happens waits for what another process does.
func happens(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(time.Minute)
	for !ok() {
		select {
		case <-end:
			t.Fatalf("never: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// refresh has the account read again, until that has come to an end.
func (r *rig) refresh() string {
	r.t.Helper()
	for {
		d, err := r.g.Do(context.Background(), ctl.Command{Verb: ctl.Refresh, Who: "claude/me"}, "")
		if err != nil {
			r.t.Error(err)
			return ""
		}
		if !strings.Contains(d.Words, "still being read") {
			return d.Words
		}
	}
}

func TestAPersonHasAProgramAskedForItsWindows(t *testing.T) {
	r, dir := programRig(t, fakeclaude.Fine, thinking)
	happens(t, "it is asked for its windows", func() bool { return fakeclaude.Asked(dir) == 1 })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if said := r.refresh(); !strings.Contains(said, "5 hours 13%") {
				t.Errorf("%q", said)
			}
		})
	}
	all.Go(func() { r.quotas("?wait=5") })
	fakeclaude.Release(dir)
	all.Wait()
	if said := r.refresh(); !strings.HasPrefix(said, "claude/me was asked ") || !strings.Contains(said, "every 30s at most") || fakeclaude.Asked(dir) != 1 {
		t.Errorf("%q, asked %d times", said, fakeclaude.Asked(dir))
	}
}

func TestAProgramThatTellsNoWindowsIsToldOnItsAccount(t *testing.T) {
	r, _ := programRig(t, fakeclaude.Mute)
	if said := r.refresh(); !strings.HasPrefix(said, "claude/me can't be read: ") {
		t.Errorf("%q", said)
	}
	if got := r.ask("/v1/chat/completions", chatBody("claude/claude-sonnet-5")); got.status != http.StatusOK || strings.Contains(got.body, "from spare") {
		t.Errorf("it is not asked for that: %d %s", got.status, got.body)
	}
	r.showing("5 hours 42")
	if a := r.account("claude/me"); a.State != trace.Fine || a.ReadError == "" {
		t.Errorf("%s %q", a.State, a.ReadError)
	}
}

// A program that could not be used and was put right can be, though it tells no windows now.
func TestAProgramThatWasPutRightIsReadyThoughItTellsNoWindows(t *testing.T) {
	for _, mode := range []fakeclaude.Mode{fakeclaude.SignedOut, fakeclaude.Old, ""} {
		r, dir := programRig(t, mode)
		r.refresh()
		if a := r.account("claude/me"); a.State != trace.Unready {
			t.Fatalf("%q: %s %q", mode, a.State, a.Error)
		}
		if _, err := fakeclaude.Install(dir, fakeclaude.Mute); err != nil {
			t.Fatal(err)
		}
		said := r.refresh()
		if a := r.account("claude/me"); a.State != trace.Fine || a.ReadError == "" || a.Error != "" {
			t.Errorf("%q: %s %q %q, said %q", mode, a.State, a.Error, a.ReadError, said)
		}
	}
}

// An account that was found on the machine is there for all to see, and its program is run from
// the first wish on.
func TestAProgramThatWasFoundIsNotRunBeforeItIsWanted(t *testing.T) {
	for name, want := range map[string]func(r *rig){
		"by a request": func(r *rig) { r.ask("/v1/chat/completions", chatBody("claude/claude-sonnet-5")) },
		"by a person":  func(r *rig) { r.quotas("?wait=5") },
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := programRig(t, fakeclaude.Fine, found)
			if a := r.account("claude/me"); a.State != trace.Fine {
				t.Errorf("%s %q", a.State, a.Error)
			}
			r.ask("/v1/chat/completions", chatBody("spare/m"))
			if fakeclaude.Ran(dir) {
				t.Error("it was run already")
			}
			want(r)
			happens(t, "it is asked for its windows", func() bool { return fakeclaude.Asked(dir) == 1 })
		})
	}
}

func TestAskingAProgramThatCanNotBeUsedSaysWhy(t *testing.T) {
	for mode, says := range map[fakeclaude.Mode]string{fakeclaude.SignedOut: "is signed out: sign in with `claude auth login`", fakeclaude.Old: "too old", "": "is not installed"} {
		t.Run(string(mode), func(t *testing.T) {
			r, dir := programRig(t, mode)
			if said := r.refresh(); !strings.HasPrefix(said, "claude/me can't be read: the claude program") || !strings.Contains(said, says) {
				t.Errorf("%q", said)
			}
			if a := r.account("claude/me"); a.State != trace.Unready || !strings.Contains(a.Error, says) {
				t.Errorf("%s %q", a.State, a.Error)
			}
			if _, err := fakeclaude.Install(dir, fakeclaude.Fine); err != nil {
				t.Fatal(err)
			}
			if said := r.refresh(); !strings.Contains(said, "5 hours 13%") {
				t.Errorf("put right: %q", said)
			}
			if a := r.account("claude/me"); a.State != trace.Fine || a.ReadError != "" {
				t.Errorf("put right: %s %q %q", a.State, a.Error, a.ReadError)
			}
		})
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
