package guard

import (
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// unknown is the agent of whoever says nothing of themselves.
const unknown = "unknown"

// tokenPrefix is how the keys begin that agents are given instead of a vendor's.
const tokenPrefix = "magpie-"

// programs tells agents by how their User-Agent begins; case does not count.
var programs = []struct{ begins, agent string }{
	{"claude-code/", "claude"},
	{"claude/", "claude"},
	{"codex", "codex"},
	{"geminicli", "gemini"},
	{"gemini/", "gemini"},
	{"opencode/", "opencode"},
	{"charm-crush", "crush"},
	{"crush/", "crush"},
	{"pi/", "pi"},
	{"qwencode/", "qwen"},
	{"qwen/", "qwen"},
	{"copilot", "copilot"},
	{"factory-cli", "droid"},
	{"droid/", "droid"},
	{"cline", "cline"},
	{"cursor", "cursor-local"},
}

// Agent says which program asks: by the agent that its key names, else by its marks.
func Agent(r *http.Request) string {
	if id := tokenAgent(r); id != "" {
		return id
	}
	h := r.Header
	ua := first(h, "User-Agent")
	if begins(ua, "claude-cli/") {
		// Qwen Code calls itself Claude Code where it speaks Messages, and has no session.
		if first(h, "X-Claude-Code-Session-Id") == "" && first(h, "X-App") == "cli" {
			return "qwen"
		}
		return "claude"
	}
	for _, p := range programs {
		if begins(ua, p.begins) {
			return p.agent
		}
	}
	switch {
	case begins(first(h, "Originator"), "codex"):
		return "codex"
	case first(h, "X-Initiator") != "" || first(h, "X-Interaction-Type") != "":
		return "copilot"
	case first(h, "X-Claude-Code-Session-Id") != "":
		return "claude"
	case begins(ua, "OpenAI/JS") && first(h, "Session_id") != "":
		return "pi" // before 1.0 it had the SDK's name alone
	}
	return unknown
}

// tokenAgent returns the agent that a key names, wherever keys are written.
func tokenAgent(r *http.Request) string {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		for _, v := range r.Header[name] {
			if name == "Authorization" {
				v = bearer(v)
			}
			if id := agentID(v); id != "" {
				return id
			}
		}
	}
	if !strings.Contains(r.URL.RawQuery, "key=") {
		return ""
	}
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if v, ok := strings.CutPrefix(pair, "key="); ok {
			if v, err := url.QueryUnescape(v); err == nil {
				if id := agentID(v); id != "" {
					return id
				}
			}
		}
	}
	return ""
}

// agentID returns the agent that a token names, "" when it names none.
func agentID(token string) string {
	id, ok := strings.CutPrefix(strings.TrimSpace(token), tokenPrefix)
	if !ok || id == "" || len(id) > 40 || id[0] == '-' {
		return ""
	}
	for i := range len(id) {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return ""
		}
	}
	return id
}

// bearer returns the token of an Authorization header, "" when it holds none.
func bearer(v string) string {
	const scheme = "Bearer "
	if !begins(v, scheme) {
		return ""
	}
	return strings.TrimSpace(v[len(scheme):])
}

// begins says whether s begins with prefix; case does not count.
func begins(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// first returns the first value of a header whose name is written as net/http writes it.
func first(h http.Header, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// sessions are the headers that name a conversation, the first that says something counts. The first one
// names it for people and commands; the others are agents' own.
var sessions = []string{
	"X-Magpie-Session", "X-Opencode-Session", "X-Session-Affinity", "X-Session-Id", "Session_id", "Session-Id", claudesSession, "Thread-Id",
}

const claudesSession = "X-Claude-Code-Session-Id"

// longestSession is how much of a session's id is kept.
const longestSession = 128

// Session returns the id of the conversation that a request says it belongs to, "" when it says none:
// printable, and 128 characters at most.
func Session(h http.Header) string {
	s, _ := named(h, sessions)
	return s
}

// Conversation returns the id by which the agent itself tells its conversations apart, "" when it
// sends none. A subagent's is its own: it shares its session with the one that started it.
func Conversation(h http.Header) string {
	s, by := named(h, sessions[1:])
	if by == claudesSession {
		if sub := printable(first(h, "X-Claude-Code-Agent-Id")); sub != "" {
			s += "/" + sub
		}
	}
	return s
}

func named(h http.Header, names []string) (id, by string) {
	for _, name := range names {
		if s := printable(first(h, name)); s != "" {
			return s, name
		}
	}
	return "", ""
}

// printable returns what of s can be shown, cut to the longest that is kept.
func printable(s string) string {
	plain := len(s) <= longestSession
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] > ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var kept []rune
	for _, r := range strings.TrimSpace(strings.ToValidUTF8(s, "")) {
		if unicode.IsPrint(r) && len(kept) < longestSession {
			kept = append(kept, r)
		}
	}
	return strings.TrimSpace(string(kept))
}
