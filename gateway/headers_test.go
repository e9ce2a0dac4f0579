package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
)

const claudeUA = "User-Agent: claude-cli/2.1.332 (external, cli)"

func TestEveryFormOfAKeyIsTakenAndNoneGoesOn(t *testing.T) {
	const secret = "client-key-that-stays-here"
	for name, headers := range map[string][]string{
		"Bearer":                      {"Authorization: Bearer " + secret},
		"bearer in small letters":     {"Authorization: bearer " + secret},
		"Basic":                       {"Authorization: Basic " + secret},
		"x-api-key":                   {"Authorization: ", "x-api-key: " + secret},
		"x-goog-api-key":              {"Authorization: ", "x-goog-api-key: " + secret},
		"api-key":                     {"Authorization: ", "api-key: " + secret},
		"all at once":                 {"Authorization: Bearer " + secret, "x-api-key: " + secret, "x-goog-api-key: " + secret, "api-key: " + secret, "Cookie: k=" + secret, "Proxy-Authorization: Bearer " + secret},
		"none":                        {"Authorization: "},
		"an agent's token":            {"Authorization: Bearer magpie-claude"},
		"a key in odd headers":        {"Authorization: ", "X-Auth-Token: " + secret, "Anthropic-Api-Key: " + secret, "X-Claude-Code-Key: " + secret},
		"Claude Code with all of its": {"x-api-key: " + secret, claudeUA, "X-Claude-Code-Session-Id: s", "Cookie: " + secret},
	} {
		for _, api := range apis {
			for _, query := range []string{"", "key=" + secret} {
				t.Run(name+" "+api+" "+query, func(t *testing.T) {
					v := standin.New(standin.Options{Models: []string{"m"}, Text: "ok", Keys: []string{keyOne}, Secrets: []string{secret, "magpie-claude"}})
					r := newRig(t, lone, vendors{"a": v})
					path, body := asking(api, "a/m", true)
					if query != "" {
						path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + query
					}
					got := r.ask(path, body, headers...)
					calls := v.Calls()
					if got.status != 200 || len(calls) != 1 || calls[0].Key != keyOne || len(calls[0].Leaks) > 0 {
						t.Errorf("%d %s, %+v", got.status, got.body, calls)
					}
				})
			}
		}
	}
}

// vendorSaw sends a request to a canned vendor and returns the headers that it saw.
func vendorSaw(t *testing.T, toml, api string, headers ...string) http.Header {
	t.Helper()
	v := good(api, false)
	r := newRig(t, toml, vendors{"a": v})
	path, body := asking(api, "a/m", false)
	if got := r.ask(path, body, headers...); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return v.seen()[0].header
}

func TestAProgramsOwnMarksGoOnOnlyWhereItIsThatProgram(t *testing.T) {
	claude := []string{claudeUA, "X-App: cli", "X-Claude-Code-Session-Id: 1234", "X-Stainless-Lang: js", "X-Stainless-Retry-Count: 0", "anthropic-dangerous-direct-browser-access: true", "anthropic-beta: a-1,b-2", "anthropic-version: 2023-06-01"}
	codex := []string{"User-Agent: codex_exec/0.171.0 (Debian)", "Originator: codex_exec", "Session-Id: 77", "Thread-Id: 77", "X-Codex-Turn-Metadata: {}", "X-Codex-Beta-Features: x", "X-Client-Request-Id: 77"}
	other := []string{"User-Agent: opencode/1.18.33", "X-App: cli", "X-Stainless-Lang: js", "Originator: codex_exec", "X-Codex-Turn-Metadata: {}", "X-Session-Id: ses_1", "X-Forwarded-Host: x", "Referer: http://x", "Accept-Language: de"}
	for name, c := range map[string]struct {
		api, agent string
		headers    []string
		on, off    []string
	}{
		"Claude Code's": {"messages", "claude", claude, []string{"User-Agent", "X-App", "X-Claude-Code-Session-Id", "X-Stainless-Lang", "Anthropic-Beta", "Anthropic-Version", "Anthropic-Dangerous-Direct-Browser-Access"}, nil},
		"Codex's":       {"responses", "codex", codex, []string{"User-Agent", "Originator", "Session-Id", "Thread-Id", "X-Codex-Turn-Metadata", "X-Client-Request-Id"}, nil},
		"another's":     {"chat", "opencode", other, nil, []string{"X-App", "X-Stainless-Lang", "Originator", "X-Codex-Turn-Metadata", "X-Session-Id", "X-Forwarded-Host", "Referer", "Accept-Language"}},
		"Claude Code's marks on another": {
			"messages", "", append([]string{"Authorization: Bearer magpie-crush"}, claude...),
			[]string{"Anthropic-Beta", "Anthropic-Version"},
			[]string{"X-App", "X-Claude-Code-Session-Id", "X-Stainless-Lang", "Anthropic-Dangerous-Direct-Browser-Access"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			saw := vendorSaw(t, lone, c.api, c.headers...)
			for _, h := range c.on {
				want := ""
				for _, line := range c.headers {
					if n, v, _ := strings.Cut(line, ": "); http.CanonicalHeaderKey(n) == h {
						want = v
					}
				}
				if saw.Get(h) != want {
					t.Errorf("%s arrived as %q, not %q", h, saw.Get(h), want)
				}
			}
			for _, h := range c.off {
				if saw.Get(h) != "" {
					t.Errorf("%s went on: %q", h, saw.Get(h))
				}
			}
			if ua := saw.Get("User-Agent"); len(c.on) < 3 && ua != "magpie/test" {
				t.Errorf("User-Agent %q", ua)
			}
			for h := range saw {
				if strings.HasPrefix(h, "X-Magpie") || h == "X-Rig-Request" {
					t.Errorf("%s went on", h)
				}
			}
		})
	}
}

func TestTheHeadersOfAnAPIAlwaysGoOn(t *testing.T) {
	saw := vendorSaw(t, lone, "messages", "anthropic-version: 2026-10-21", "anthropic-beta: message-threads-2026-08-12")
	if saw.Get("Anthropic-Version") != "2026-10-21" || saw.Get("Anthropic-Beta") != "message-threads-2026-08-12" || saw.Get("Content-Type") != "application/json" {
		t.Errorf("%v", saw)
	}
	if saw := vendorSaw(t, lone, "messages", "Content-Type: "); saw.Get("Anthropic-Version") != "2023-06-01" || saw.Get("Content-Type") != "application/json" {
		t.Errorf("without a version: %v", saw)
	}
	if saw := vendorSaw(t, lone, "chat"); saw.Get("Anthropic-Version") != "" || saw.Get("Accept-Encoding") != "" {
		t.Errorf("Chat: %v", saw)
	}
}

func TestTheProvidersOwnHeadersAreSetLast(t *testing.T) {
	toml := strings.Replace(lone, "[providers.a]", "[providers.a]\nheaders = { User-Agent = \"mine/1\", Authorization = \"Bearer from-config-00000001\", X-Extra = \"1\" }", 1)
	h := vendorSaw(t, toml, "chat", claudeUA, "X-Claude-Code-Session-Id: 1")
	if h.Get("User-Agent") != "mine/1" || h.Get("Authorization") != "Bearer from-config-00000001" || h.Get("X-Extra") != "1" {
		t.Errorf("%v", h)
	}
}

func TestAProviderWithoutItsKeyIsNotAskedWithTheAgents(t *testing.T) {
	// An unset variable is no reason to send the agent's own key.
	v := standin.New(standin.Options{Models: []string{"m"}, Lenient: true})
	r := newRig(t, "[providers.nokey]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", env = \"NOT_SET\" }]\n", vendors{"a": v})
	path, body := asking("chat", "nokey/m", false)
	got := r.ask(path, body, "Authorization: Bearer magpie", "x-api-key: sk-real-client-key-00001")
	words := errorWords(t, "chat", got.body)
	if got.status != 401 || len(v.Calls()) != 0 || !strings.Contains(words, "nokey/k") || !strings.Contains(words, "NOT_SET") {
		t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.Calls()))
	}
	if route := r.told(); len(route.Left) != 1 || route.Left[0].Out != "unready" || len(route.Tries) != 0 {
		t.Errorf("%+v", route)
	}
}

func TestALocalModelWithoutAKeyIsSentNone(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, NoKey: true, Text: "ok"})
	r := newRig(t, "[providers.local]\nchat = \"{a}/v1\"\nmessages = \"{a}\"\n", vendors{"a": v})
	for _, api := range []string{"chat", "messages"} {
		path, body := asking(api, "local/m", false)
		got := r.ask(path, body, "Authorization: Bearer magpie", "x-api-key: k", "x-goog-api-key: k", "api-key: k")
		if got.status != 200 || len(v.Leaks()) != 0 {
			t.Errorf("%s: %d %s, leaks %+v", api, got.status, got.body, v.Leaks())
		}
	}
}

func TestAKeyOfTheVendorGoesWhereItsAPIWantsIt(t *testing.T) {
	for api, name := range map[string]string{"chat": "Authorization", "responses": "Authorization", "messages": "X-Api-Key", "gemini": "X-Goog-Api-Key"} {
		saw := vendorSaw(t, lone, api, "x-api-key: other", "x-goog-api-key: other", "Authorization: Bearer other")
		if !strings.HasSuffix(saw.Get(name), keyOne) {
			t.Errorf("%s: %v", api, saw)
		}
		for _, n := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
			if n != name && saw.Get(n) != "" {
				t.Errorf("%s: a second key in %s", api, n)
			}
		}
	}
}

func TestTheAgentIsToldByItsTokenThenByItsMarks(t *testing.T) {
	for want, headers := range map[string][]string{
		"crush":        {"Authorization: Bearer magpie-crush", claudeUA, "X-Claude-Code-Session-Id: 1"},
		"claude":       {claudeUA, "X-Claude-Code-Session-Id: 1", "X-App: cli"},
		"qwen":         {"User-Agent: claude-cli/0.24.4 (external, cli)", "X-App: cli"},
		"codex":        {"User-Agent: codex_exec/0.171.0"},
		"gemini":       {"User-Agent: GeminiCLI-tui/0.61.0/m (linux; x64; terminal)"},
		"opencode":     {"User-Agent: opencode/1.18.33 ai-sdk/x"},
		"pi":           {"User-Agent: pi/1.6.0 (linux)"},
		"copilot":      {"X-Initiator: user"},
		"droid":        {"User-Agent: factory-cli/0.225.2"},
		"cursor-local": {"User-Agent: Cursor/1.0"},
		"unknown":      {"User-Agent: OpenAI/JS 7.59"},
	} {
		r := newRig(t, lone, vendors{"a": good("chat", false)})
		path, body := asking("chat", "a/m", false)
		r.ask(path, body, headers...)
		if got := r.told().Agent; got != want {
			t.Errorf("%v is told as %s, not %s", headers, got, want)
		}
	}
}

func TestASessionIsReadWhereAgentsWriteIt(t *testing.T) {
	for name, c := range map[string]struct {
		api, body, want string
		headers         []string
	}{
		"Claude Code's header": {"messages", "", "cc-1", []string{"X-Claude-Code-Session-Id: cc-1"}},
		"opencode's":           {"chat", "", "ses_1", []string{"X-Session-Id: ses_1", "X-Session-Affinity: ses_1"}},
		"Codex's":              {"responses", "", "cx-1", []string{"Session-Id: cx-1"}},
		"pi's older":           {"responses", "", "pi-1", []string{"Session_id: pi-1"}},
		"magpie's own first":   {"chat", "", "mine", []string{"X-Magpie-Session: mine", "X-Session-Id: other"}},
		"metadata.user_id":     {"messages", `{"model":"a/m","max_tokens":9,"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"in-body\"}"},"messages":[{"role":"user","content":"x"}]}`, "in-body", nil},
		"a cache key":          {"responses", `{"model":"a/m","prompt_cache_key":"pck-1","input":"x"}`, "pck-1", nil},
	} {
		r := newRig(t, lone, vendors{"a": good(c.api, false)})
		path, body := asking(c.api, "a/m", false)
		if c.body != "" {
			body = c.body
		}
		r.ask(path, body, c.headers...)
		if got := r.told().Session; got != c.want {
			t.Errorf("%s: session %q, not %q", name, got, c.want)
		}
	}
	r := newRig(t, lone, vendors{"a": good("gemini", false)})
	path, _ := asking("gemini", "a/m", false)
	var told []string
	for _, body := range []string{geminiBody, strings.Replace(geminiBody, "{", `{"systemInstruction":{"parts":[{"text":"S"}]},`, 1), strings.Replace(geminiBody, "hi", "ho", 1)} {
		r.ask(path, body)
		told = append(told, r.told().Session)
	}
	if told[0] != told[1] || told[0] == told[2] || !strings.HasPrefix(told[0], "magpie-") {
		t.Errorf("by the first user's words: %v", told)
	}
}

func TestTheVendorsOwnHeadersStayBehind(t *testing.T) {
	v := good("chat", false)
	v.headers = []string{"X-Request-Id: req_9", "Set-Cookie: a=b", "X-Should-Retry: false", "Access-Control-Allow-Origin: *", "Server: x", "anthropic-organization-id: org", "Connection: close", "X-Ratelimit-Remaining: 3", "Content-Language: en"}
	r := newRig(t, lone, vendors{"a": v})
	got := r.ask(asking("chat", "a/m", false))
	allowed := []string{"Content-Type", "Content-Length", "Date", "X-Request-Id", "X-Magpie-Provider", "X-Magpie-Model", "X-Magpie-Request"}
	for name := range got.header {
		if !slices.Contains(allowed, name) {
			t.Errorf("%s: %s reached the agent", name, got.header.Get(name))
		}
	}
	if got.header.Get("X-Request-Id") != "req_9" {
		t.Errorf("%v", got.header)
	}
}

func TestARelayedRequestAndItsReplyTellTheirLength(t *testing.T) {
	v := good("chat", false)
	r := newRig(t, lone, vendors{"a": v})
	got := r.ask(asking("chat", "a/m", false))
	if got.header.Get("Content-Length") == "" || v.seen()[0].length <= 0 {
		t.Errorf("%v, the vendor was sent a length of %d", got.header, v.seen()[0].length)
	}
}
