package bridge

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// serverName is ours among the MCP servers: the program shows its model the tools as
// mcp__magpie__name.
const (
	serverName = "magpie"
	toolPrefix = "mcp__" + serverName + "__"
)

// written are a run's files, in a folder of its own that is removed after it.
type written struct {
	work    string // empty: what the program works in
	temp    string
	mcp     string
	system  string
	history string  // "" = there is none
	said    content // what the program is told first, nil when it goes on by itself
}

// files writes what the program is to read. None of it stands in its arguments, which
// other users of the machine can see.
func (r *run) files(q *query, address string) (*written, error) {
	w := &written{
		work: filepath.Join(r.dir, "work"), temp: filepath.Join(r.dir, "tmp"),
		mcp: filepath.Join(r.dir, "mcp.json"), system: filepath.Join(r.dir, "system.txt"),
	}
	for _, dir := range []string{w.work, w.temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	servers := map[string]any{}
	if len(q.Tools) > 0 {
		servers[serverName] = map[string]any{
			"type": "http", "url": address, "headers": map[string]string{"Authorization": "Bearer " + r.secret},
			"timeout": r.b.o.Waits.Milliseconds() * 2,
		}
	}
	if err := os.WriteFile(w.mcp, mustJSON(map[string]any{"mcpServers": servers}), 0o600); err != nil {
		return nil, err
	}
	system := q.system
	if system == "" {
		system = " " // else the program says its own
	}
	if err := os.WriteFile(w.system, []byte(system), 0o600); err != nil {
		return nil, err
	}
	before, said := q.split()
	w.said = said
	if len(before) == 0 {
		return w, nil
	}
	w.history = filepath.Join(r.dir, "history.jsonl")
	return w, os.WriteFile(w.history, q.history(before, r.model, w.work), 0o600)
}

// split parts the conversation into what was said before and what the program is told now. It
// takes no results of tools from us: with some in the last message all of that is past, and
// the program goes on by itself.
func (q *query) split() (before []message, said content) {
	n := len(q.Messages) - 1
	if results, _ := q.results(); len(results) > 0 {
		return q.Messages, nil
	}
	return q.Messages[:n], q.Messages[n].Content
}

// history writes a conversation as the program saves its own.
func (q *query) history(messages []message, model, work string) []byte {
	var out []byte
	session, parent := uuid(), any(nil)
	for i := range messages {
		m := &messages[i]
		said := map[string]any{"role": m.Role, "content": m.Content}
		if m.Role == "assistant" {
			c, calls := q.replayed(m.Content)
			said = map[string]any{
				"id": "msg_" + strconv.Itoa(i), "type": "message", "role": "assistant", "model": model, "content": c,
				"stop_reason": "end_turn", "stop_sequence": nil, "usage": map[string]int{"input_tokens": 0, "output_tokens": 0},
			}
			if calls {
				said["stop_reason"] = "tool_use"
			}
		}
		id := uuid()
		out = append(out, mustJSON(map[string]any{
			"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": work, "sessionId": session, "version": oldest,
			"gitBranch": "", "type": m.Role, "message": said, "uuid": id, "timestamp": "2026-01-01T00:00:00.000Z",
		})...)
		out = append(out, '\n')
		parent = id
	}
	return out
}

// replayed are a reply's blocks with the tools' names as the program knows them.
func (q *query) replayed(c content) (out content, calls bool) {
	for _, b := range c {
		if b.kind() == "tool_use" {
			calls = true
			name := b.text("name")
			if shown := q.shown[name]; shown != "" {
				name = shown
			} else {
				name = plainName(name) // a tool that was taken away since
			}
			renamed := block{}
			for k, v := range b {
				renamed[k] = v
			}
			renamed["name"] = mustJSON(toolPrefix + name)
			b = renamed
		}
		out = append(out, b)
	}
	return out, calls
}

// args are the program's arguments: no tools, settings, hooks, skills or servers but what the
// agent brings, and nothing saved.
func (r *run) args(q *query, w *written) []string {
	args := []string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--include-partial-messages", "--verbose",
		"--model", r.model, "--system-prompt-file", w.system,
		"--mcp-config", w.mcp, "--strict-mcp-config", "--tools", "", "--allowedTools", "mcp__" + serverName,
		"--permission-mode", "dontAsk", "--setting-sources", "", "--disable-slash-commands", "--no-session-persistence",
	}
	if e := q.effort(); e != "" && e != "none" {
		args = append(args, "--effort", e)
	}
	if w.history != "" {
		args = append(args, "--resume", w.history)
	}
	return args
}

// environ is the program's environment.
func (r *run) environ(q *query, w *written) []string {
	env := r.b.environ(r.home, r.proxy)
	env = append(env,
		"TMPDIR="+w.temp, "TMP="+w.temp, "TEMP="+w.temp,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false", "DISABLE_AUTO_COMPACT=1", "DISABLE_COMPACT=1",
		"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK=1", // who asks next is decided here
		"CLAUDE_CODE_TOTAL_TOKENS_REMINDER=off", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1",
		"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0", "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT=0", "MCP_TOOL_TIMEOUT="+strconv.FormatInt(2*r.b.o.Waits.Milliseconds(), 10),
		"CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH=1000000", "MAX_MCP_OUTPUT_TOKENS=10000000", "ENABLE_MCP_LARGE_OUTPUT_FILES=false",
	)
	if q.Max > 0 {
		env = append(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.FormatInt(q.Max, 10))
	}
	switch t := q.thinks(); t {
	case "":
	case "off":
		env = append(env, "CLAUDE_CODE_DISABLE_THINKING=1")
	default:
		env = append(env, "MAX_THINKING_TOKENS="+t)
	}
	if w.said == nil {
		env = append(env, "CLAUDE_CODE_RESUME_INTERRUPTED_TURN=1")
	}
	return env
}

// passed are the variables that the program gets of ours; what an agent was told of its vendor,
// such as ANTHROPIC_BASE_URL, is not among them.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"USERPROFILE", "USERNAME", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR",
}

var proxies = []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"}

// environ is what every call of the program for one home gets.
func (b *Bridge) environ(home, proxy string) []string {
	var env []string
	none := ""
	for _, v := range b.o.Environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case has(passed, name), strings.HasPrefix(name, "LC_"), proxy == "" && has(proxies, name):
			env = append(env, v)
		case strings.EqualFold(name, "NO_PROXY"):
			none = value + ","
		}
	}
	if proxy != "" && proxy != "direct" {
		env = append(env, "HTTPS_PROXY="+proxy, "HTTP_PROXY="+proxy)
	}
	env = append(env, "NO_PROXY="+none+"127.0.0.1,localhost", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1")
	if dir := b.configDir(home); dir != "" {
		env = append(env, "CLAUDE_CONFIG_DIR="+dir)
	}
	return env
}

func has(list []string, name string) bool {
	for _, n := range list {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// configDir is a home that the program has to be told of. Its own place is left unsaid: told
// of that, it looks for its sign-in under another name in the system's key store.
func (b *Bridge) configDir(home string) string {
	if home == "" {
		return ""
	}
	user := b.userHome()
	if rest, ok := strings.CutPrefix(home, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == os.PathSeparator) {
		home = filepath.Join(user, rest)
	}
	if filepath.Clean(home) == filepath.Join(user, ".claude") {
		return ""
	}
	return home
}

func (b *Bridge) userHome() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		for _, v := range b.o.Environ {
			if k, value, _ := strings.Cut(v, "="); k == name && value != "" {
				return value
			}
		}
	}
	return ""
}

func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
