package guard

import (
	"net/http"
	"strings"
	"testing"
)

func TestAgentsAreToldByTokenThenByMarks(t *testing.T) {
	for _, test := range []struct {
		name    string
		headers []string
		query   string
		want    string
	}{
		{"nothing", nil, "", "unknown"},
		{"the token of everyone", []string{"Authorization: Bearer magpie"}, "", "unknown"},
		{"a bearer token", []string{"Authorization: Bearer magpie-codex"}, "", "codex"},
		{"a bearer token in small letters", []string{"authorization: bearer magpie-codex"}, "", "codex"},
		{"x-api-key", []string{"x-api-key: magpie-claude"}, "", "claude"},
		{"x-goog-api-key", []string{"x-goog-api-key: magpie-gemini"}, "", "gemini"},
		{"the query", nil, "alt=sse&key=magpie-gemini", "gemini"},
		{"the query, encoded", nil, "key=magpie%2Dgemini", "gemini"},
		{"another parameter of the query", nil, "monkey=magpie-gemini", "unknown"},
		{"an agent that nobody knows", []string{"Authorization: Bearer magpie-my-own-1"}, "", "my-own-1"},
		{"a placeholder beside the token", []string{"Authorization: Bearer none", "x-api-key: magpie-droid"}, "", "droid"},
		{"the token beats the marks", []string{"Authorization: Bearer magpie-cursor-local", "User-Agent: opencode/1.18.33 ai-sdk/x"}, "", "cursor-local"},
		{"no bearer", []string{"Authorization: Basic magpie-codex"}, "", "unknown"},
		{"a token that is no id", []string{"Authorization: Bearer magpie-<script>"}, "", "unknown"},
		{"a token without an end", []string{"Authorization: Bearer magpie-" + strings.Repeat("a", 41)}, "", "unknown"},
		{"a vendor's key", []string{"Authorization: Bearer sk-magpie-codex"}, "", "unknown"},

		{"Claude Code", []string{"User-Agent: claude-cli/2.1.332 (external, cli)", "x-app: cli", "X-Claude-Code-Session-Id: u"}, "", "claude"},
		{"Claude Code without a terminal", []string{"User-Agent: claude-cli/2.1.332 (external, sdk-cli)", "X-Claude-Code-Session-Id: u"}, "", "claude"},
		{"Claude Code that lists models", []string{"User-Agent: claude-code/2.1.332"}, "", "claude"},
		{"Qwen Code that calls itself Claude Code", []string{"User-Agent: claude-cli/0.24.4 (external, cli)", "x-app: cli"}, "", "qwen"},
		{"Qwen Code", []string{"User-Agent: QwenCode/0.24.4 (linux; x64)"}, "", "qwen"},
		{"Codex", []string{"originator: codex_exec", "User-Agent: codex_exec/0.171.0 (Debian) xterm (x)"}, "", "codex"},
		{"Codex by its originator", []string{"originator: codex_cli_rs", "User-Agent: reqwest/1"}, "", "codex"},
		{"Gemini CLI", []string{"User-Agent: GeminiCLI-tui/0.61.0/gemini-3.8-flash (linux; x64; terminal)"}, "", "gemini"},
		{"opencode", []string{"User-Agent: opencode/1.18.33 ai-sdk/provider", "x-session-id: ses_1"}, "", "opencode"},
		{"Crush", []string{"User-Agent: Charm-Crush/0.20 (https://charm.land)", "X-Session-Id: 00ff"}, "", "crush"},
		{"pi", []string{"User-Agent: pi/1.6.0 linux"}, "", "pi"},
		{"an old pi", []string{"User-Agent: OpenAI/JS 5.1", "session_id: abc"}, "", "pi"},
		{"what only begins like pi", []string{"User-Agent: pip/24.0"}, "", "unknown"},
		{"Copilot", []string{"User-Agent: OpenAI/JS 5.1", "x-initiator: user", "x-interaction-type: conversation"}, "", "copilot"},
		{"Droid", []string{"User-Agent: factory-cli/0.225.2", "OpenAI-Platform: x"}, "", "droid"},
		{"Cline", []string{"User-Agent: Cline/3.2"}, "", "cline"},
		{"Cursor", []string{"User-Agent: Cursor/1.9 (darwin)"}, "", "cursor-local"},
		{"an SDK", []string{"User-Agent: OpenAI/JS 5.1"}, "", "unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request("POST", here, own, test.headers...)
			r.URL.RawQuery = test.query
			if got := Agent(r); got != test.want {
				t.Errorf("it is %q; want %q", got, test.want)
			}
		})
	}
}

func TestSessionsAreToldByHeaders(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, test := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"none", nil, ""},
		{"Claude Code", []string{"X-Claude-Code-Session-Id: c1", "x-claude-code-agent-id: a1"}, "c1"},
		{"Codex", []string{"session-id: s1", "thread-id: t1"}, "s1"},
		{"a thread alone", []string{"thread-id: t1"}, "t1"},
		{"an old pi", []string{"session_id: p1"}, "p1"},
		{"opencode", []string{"x-session-id: o1", "x-session-affinity: o2"}, "o2"},
		{"opencode's own", []string{"x-session-affinity: o2", "x-opencode-session: o3"}, "o3"},
		{"the person's name for it goes first", []string{"X-Magpie-Session: m1", "x-opencode-session: o3"}, "m1"},
		{"an empty one is none", []string{"X-Magpie-Session: ", "session-id: s1"}, "s1"},
		{"nothing that can be shown is none", []string{"X-Magpie-Session: \x01\x02", "session-id: s1"}, "s1"},
		{"control characters go", []string{"session-id: a\x1b[31mb\x00c"}, "a[31mbc"},
		{"bytes that are no text go", []string{"session-id: a\xff\xfeb"}, "ab"},
		{"a long one is cut", []string{"session-id: " + strings.Repeat("x", 129)}, strings.Repeat("x", 128)},
		{"a long one is cut between characters", []string{"session-id: " + long}, strings.Repeat("é", 128)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Session(request("POST", here, own, test.headers...).Header); got != test.want {
				t.Errorf("it is %q; want %q", got, test.want)
			}
		})
	}
	if http.CanonicalHeaderKey("session_id") != "Session_id" {
		t.Error("net/http writes session_id in another way")
	}
}

func FuzzCallers(f *testing.F) {
	f.Add("localhost:3425", "http://localhost", "Bearer magpie-codex", "codex/1", "s")
	f.Add("[::1]:1", "null", "bearer ", "claude-cli/", "\xff")
	f.Add("a:b:c", "chrome-extension://x", "", "pi/", strings.Repeat("é", 129))
	g := New(Options{Bound: []string{own}, CORSOrigins: []string{"https://app.example"}})
	f.Fuzz(func(t *testing.T, host, origin, auth, ua, session string) {
		r := request("POST", here, host)
		r.Header["Origin"], r.Header["Authorization"] = []string{origin}, []string{auth}
		r.Header["User-Agent"], r.Header["Session-Id"] = []string{ua}, []string{session}
		c, ref := g.Check(r)
		if c.Origin != "" && ref == nil {
			t.Fatalf("a listed page is let in without a key: %q", origin)
		}
		if ref == nil && strings.Contains(strings.ToLower(host), "evil") && !strings.HasSuffix(strings.TrimSuffix(strings.ToLower(strings.Split(host, ":")[0]), "."), ".localhost") {
			t.Fatalf("the host %q is let in", host)
		}
		if id := Agent(r); id == "" || len(id) > 40 {
			t.Fatalf("the agent %q", id)
		}
		if s := Session(r.Header); len([]rune(s)) > 128 || strings.ContainsAny(s, "\x00\x1b\n") {
			t.Fatalf("the session %q", s)
		}
	})
}
