// Package fakeclaude is a stand-in for the claude program, for tests: a test's own binary is
// it when it is started through the script that Install writes. What it does is said by the
// first line of what the user said last, and by its mode:
//
//	say WORDS      a reply of these words
//	call A B …     calls of these tools, then a reply that repeats their results
//	slow           two words with a while between them
//	crash          an end in the middle of the reply
//	exit           an end before it
//	full, limited, expired, busy    the vendor's refusals
//	cut            a reply that reaches its limit of tokens
//	stubborn       as slow, and no signal but the last ends it
//	twice          a reply, and another that nobody asked for
//
// A home may hold files that say how its sign-in stands: signed-out, usage, which is what it answers
// when it is asked for its windows, and limits, the event that it writes of them
// beside a reply, in which "soon" is an hour from then.
package fakeclaude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	modeKey = "FAKE_CLAUDE_MODE"
	logKey  = "FAKE_CLAUDE_LOG"
)

// Mode is how the program stands.
type Mode string

// How the program can stand.
const (
	Fine      Mode = "fine"
	SignedOut Mode = "signed-out"
	Old       Mode = "old"
	Ignorant  Mode = "ignorant" // it says that it is new, and knows no flag
	Mute      Mode = "mute"     // it tells no windows when it is asked for them
)

// Install writes the program into a folder and returns its path. It notes what it is started
// with in the file that is named log there.
func Install(dir string, mode Mode) (path string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "claude")
	script := "#!/bin/sh\n" + modeKey + "='" + string(mode) + "' " + logKey + "='" + filepath.Join(dir, "log") + "' exec '" + self + "' \"$@\"\n"
	return path, os.WriteFile(path, []byte(script), 0o700) //nolint:gosec // it has to be run
}

// Start is what the program noted of one of its runs.
type Start struct {
	PID     int
	Args    []string
	Environ []string
	Dir     string
	System  string
	History []json.RawMessage
	MCP     string
}

// Starts reads what the programs in a folder noted of their runs.
func Starts(dir string) ([]Start, error) {
	data, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	var all []Start
	for line := range bytes.Lines(data) {
		var s Start
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// Main is the program, where the process was started as it; a test's TestMain calls it first.
func Main() {
	mode := Mode(os.Getenv(modeKey))
	if mode == "" {
		return
	}
	_ = os.WriteFile(filepath.Join(filepath.Dir(os.Getenv(logKey)), ran), nil, 0o600) //nolint:gosec // a test's own file
	os.Exit(run(mode, os.Args[1:]))
}

func run(mode Mode, args []string) int {
	switch {
	case slices.Contains(args, "--version"):
		if mode == Old {
			fmt.Println("1.0.3 (Claude Code)")
			return 0
		}
		fmt.Println("2.1.332 (Claude Code)")
	case len(args) > 0 && args[0] == "auth":
		if _, out := ofHome("signed-out"); out || mode == SignedOut {
			fmt.Println(`{"loggedIn": false, "authMethod": "none"}`)
			return 1
		}
		fmt.Println(`{"loggedIn": true, "authMethod": "claude.ai", "email": "me@example.com", "subscriptionType": "max"}`)
	case slices.Contains(args, "/usage"):
		if usage(filepath.Dir(os.Getenv(logKey))); mode == Mute {
			return 1
		}
		if told, has := ofHome("usage"); has {
			fmt.Print(told)
			return 0
		}
		fmt.Println("Current session: 13% used · resets in 2 hours\nCurrent week (all models): 37% used")
	case mode == Ignorant:
		fmt.Fprintln(os.Stderr, "error: unknown option '--system-prompt-file'")
		return 1
	default:
		p := &program{args: args}
		return p.serve()
	}
	return 0
}

// ofHome is what a file of the home says that the program was started for.
func ofHome(name string) (text string, has bool) {
	home := os.Getenv("CLAUDE_CONFIG_DIR")
	if home == "" {
		return "", false
	}
	data, err := os.ReadFile(filepath.Join(home, name)) //nolint:gosec // a test's own file
	return string(data), err == nil
}

// Names of files in the program's folder.
const (
	asked = "asked" // a letter for each time that it was asked for its windows
	held  = "held"  // while it is there, they are not told
	ran   = "ran"   // it was run for anything at all
)

// Asked counts how often the program of a folder was asked for its windows.
func Asked(dir string) int {
	st, err := os.Stat(filepath.Join(dir, asked))
	if err != nil {
		return 0
	}
	return int(st.Size())
}

// Ran says whether the program of a folder was run for anything at all.
func Ran(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ran))
	return err == nil
}

// Hold has the program of a folder think about its windows until Release.
func Hold(dir string) error { return os.WriteFile(filepath.Join(dir, held), nil, 0o600) }

// Release ends that.
func Release(dir string) { _ = os.Remove(filepath.Join(dir, held)) }

// usage notes that it was asked for its windows, and waits while they are held.
func usage(dir string) {
	if f, err := os.OpenFile(filepath.Join(dir, asked), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil { //nolint:gosec // a test's own file
		_, _ = f.WriteString("x")
		_ = f.Close()
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, held)); err != nil { //nolint:gosec // as above
			break
		}
		<-time.After(5 * time.Millisecond)
	}
}

type program struct {
	args []string
	mcp  struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	n int
}

func (p *program) flag(name string) string {
	if i := slices.Index(p.args, name); i >= 0 && i+1 < len(p.args) {
		return p.args[i+1]
	}
	return ""
}

func (p *program) serve() int {
	s := Start{PID: os.Getpid(), Args: p.args, Environ: os.Environ()}
	s.Dir, _ = os.Getwd()
	system, _ := os.ReadFile(p.flag("--system-prompt-file"))
	s.System = string(system)
	mcp, _ := os.ReadFile(p.flag("--mcp-config"))
	s.MCP = string(mcp)
	var servers struct {
		All map[string]json.RawMessage `json:"mcpServers"`
	}
	_ = json.Unmarshal(mcp, &servers)
	_ = json.Unmarshal(servers.All["magpie"], &p.mcp)
	if path := p.flag("--resume"); path != "" {
		history, _ := os.ReadFile(path) //nolint:gosec // a test's own file
		for line := range bytes.Lines(history) {
			s.History = append(s.History, bytes.TrimSpace(line))
		}
	}
	note, _ := json.Marshal(s)
	if f, err := os.OpenFile(os.Getenv(logKey), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.Write(append(note, '\n'))
		_ = f.Close()
	}
	p.line(map[string]any{"type": "system", "subtype": "init", "mcp_servers": []any{}})
	if os.Getenv("CLAUDE_CODE_RESUME_INTERRUPTED_TURN") != "" {
		p.do("say went on with what was written")
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var m struct {
			Message struct {
				Content []struct{ Type, Text string }
			}
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			fmt.Fprintln(os.Stderr, "a line that is no JSON")
			return 1
		}
		said := ""
		for _, b := range m.Message.Content {
			if b.Type == "text" {
				said = b.Text
			}
		}
		if code := p.do(said); code >= 0 {
			return code
		}
	}
	return 0
}

// do answers the user; a number from 0 ends the program.
func (p *program) do(said string) int {
	if p.usedUp() {
		return p.refused(429, "rate_limit_error", "You've hit your weekly limit")
	}
	line, _, _ := strings.Cut(said, "\n")
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "exit":
		fmt.Fprintln(os.Stderr, "something went wrong with sk-ant-oat01-abcdefghijklmnop0123456789")
		return 3
	case "full":
		at := time.Now().Add(time.Hour).Unix()
		p.limit(map[string]any{"status": "rejected", "rateLimitType": "five_hour", "resetsAt": at, "unifiedWindows": map[string]any{
			"five_hour": map[string]any{"utilization": 1, "resetsAt": at, "status": "rejected"},
		}})
		return p.refused(429, "rate_limit_error", "You've hit your 5-hour limit · resets 3:08am (UTC)")
	case "limited":
		return p.refused(429, "rate_limit_error", "API Error: Server is temporarily limiting requests (not your usage limit)")
	case "expired":
		return p.refused(401, "authentication_error", "Failed to authenticate. API Error: 401 OAuth token has expired")
	case "busy":
		return p.refused(529, "overloaded_error", "API Error: 529 Overloaded")
	}
	if verb == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	p.begin()
	switch verb {
	case "call":
		return p.call(strings.Fields(rest))
	case "crash":
		p.text("half a")
		return 7
	case "slow", "stubborn":
		p.text("one ")
		<-time.After(time.Hour)
	case "cut":
		p.text("as far as")
		p.finish("max_tokens")
		<-time.After(time.Hour)
	case "twice":
		p.text("once")
		p.finish("end_turn")
		p.begin()
		<-time.After(time.Hour)
	default:
		if rest == "" {
			rest = "heard: " + line
		}
		p.text(rest)
		p.finish("end_turn")
	}
	if _, told := ofHome("limits"); !told {
		p.limit(map[string]any{"status": "allowed", "rateLimitType": "five_hour", "utilization": 0.42, "resetsAt": time.Now().Add(time.Hour).Unix()})
	}
	p.line(map[string]any{"type": "result", "subtype": "success", "is_error": false, "total_cost_usd": 0.01})
	return -1
}

// usedUp writes the event that the home has, and says whether that turns the request away.
func (p *program) usedUp() bool {
	limits, told := ofHome("limits")
	if told {
		p.limit(json.RawMessage(strings.ReplaceAll(limits, `"soon"`, fmt.Sprint(time.Now().Add(time.Hour).Unix()))))
	}
	return strings.Contains(limits, `"status":"rejected"`)
}

func (p *program) call(tools []string) int {
	p.text("Let me look.")
	ids := make([]string, len(tools))
	for i, name := range tools {
		ids[i] = fmt.Sprintf("toolu_%d_%d_%d", os.Getpid(), p.n, i)
		p.event(map[string]any{"type": "content_block_start", "index": i + 1, "content_block": map[string]any{"type": "tool_use", "id": ids[i], "name": "mcp__magpie__" + name, "input": map[string]any{}}})
		for _, piece := range []string{`{"n":`, fmt.Sprint(i), `}`} {
			p.event(map[string]any{"type": "content_block_delta", "index": i + 1, "delta": map[string]any{"type": "input_json_delta", "partial_json": piece}})
		}
		p.event(map[string]any{"type": "content_block_stop", "index": i + 1})
	}
	p.finish("tool_use")
	results := make([]string, len(tools))
	for i, name := range tools {
		results[i] = p.ask(ids[i], name, i)
	}
	p.begin()
	p.text("results: " + strings.Join(results, ", "))
	p.finish("end_turn")
	p.line(map[string]any{"type": "result", "subtype": "success", "is_error": false})
	return -1
}

// ask calls a tool as the program does.
func (p *program) ask(id, name string, n int) string {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": map[string]any{
		"name": name, "arguments": map[string]any{"n": n}, "_meta": map[string]any{"claudecode/toolUseId": id},
	}})
	req, err := http.NewRequest(http.MethodPost, p.mcp.URL, bytes.NewReader(body)) //nolint:noctx // it ends with the process
	if err != nil {
		return err.Error()
	}
	for k, v := range p.mcp.Headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	data, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	var got struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	for line := range strings.Lines(string(data)) {
		if told, ok := strings.CutPrefix(line, "data: "); ok {
			_ = json.Unmarshal([]byte(told), &got)
		}
	}
	words := ""
	for _, c := range got.Result.Content {
		words += c.Text
	}
	if words == "" {
		return fmt.Sprintf("%d %q", resp.StatusCode, data)
	}
	return words
}

func (p *program) begin() {
	p.n++
	p.event(map[string]any{"type": "message_start", "message": map[string]any{
		"id": fmt.Sprintf("msg_%d_%d", os.Getpid(), p.n), "type": "message", "role": "assistant", "model": p.flag("--model"), "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 80, "output_tokens": 1},
	}})
}

func (p *program) text(words string) {
	const i = 0
	p.event(map[string]any{"type": "content_block_start", "index": i, "content_block": map[string]any{"type": "text", "text": ""}})
	for piece := range strings.SplitAfterSeq(words, " ") {
		p.event(map[string]any{"type": "content_block_delta", "index": i, "delta": map[string]any{"type": "text_delta", "text": piece}})
	}
	p.event(map[string]any{"type": "content_block_stop", "index": i})
}

func (p *program) finish(why string) {
	p.event(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": why, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 20}})
	p.event(map[string]any{"type": "message_stop"})
}

func (p *program) refused(status int, kind, words string) int {
	p.line(map[string]any{"type": "result", "subtype": "success", "is_error": true, "api_error_status": status, "api_error_type": kind, "result": words})
	return -1
}

func (p *program) limit(info any) {
	p.line(map[string]any{"type": "rate_limit_event", "rate_limit_info": info})
}

func (p *program) event(e map[string]any) {
	p.line(map[string]any{"type": "stream_event", "event": e, "parent_tool_use_id": nil})
}

func (p *program) line(v any) {
	b, _ := json.Marshal(v)
	_, _ = os.Stdout.Write(append(b, '\n'))
}
