package standin

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// program is what marks one real program's requests.
type program struct {
	api   wire.Protocol
	agent string            // User-Agent; {model} stands for the model
	heads map[string]string // other headers; {session} stands for the session
	tools []string
}

// AgentNames lists the programs that a visit can be of.
func AgentNames() []string { return slices.Sorted(maps.Keys(programs)) }

var (
	claudeTools = []string{"Read", "Bash", "Edit", "Write"}
	codexTools  = []string{"exec_command", "update_plan"}
	googleTools = []string{"read_file", "run_shell_command", "write_file"}
	plainTools  = []string{"read", "bash", "edit", "write"}
)

// programs is the table of them.
var programs = map[string]program{
	"claude": {api: wire.Messages, agent: "claude-cli/2.1.332 (external, cli)", tools: claudeTools, heads: map[string]string{
		"X-App": "cli", "X-Claude-Code-Session-Id": "{session}", "Anthropic-Dangerous-Direct-Browser-Access": "true",
		"Anthropic-Beta": "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27", "X-Stainless-Lang": "js", "X-Stainless-Retry-Count": "0",
	}},
	"codex": {api: wire.Responses, agent: "codex_exec/0.171.0 (Debian 13.2.0; x86_64) xterm-256color (codex_exec; 0.171.0)", tools: codexTools, heads: map[string]string{
		"Originator": "codex_exec", "Session-Id": "{session}", "Thread-Id": "{session}", "X-Client-Request-Id": "{session}", "X-Codex-Beta-Features": "remote_compaction_v2",
	}},
	"gemini":   {api: wire.Gemini, agent: "GeminiCLI-tui/0.61.0/{model} (linux; x64; terminal)", tools: googleTools, heads: map[string]string{"X-Goog-Api-Client": "google-genai-sdk/1.30.0 gl-node/v20.20.2"}},
	"opencode": {api: wire.Chat, agent: "opencode/1.18.33 ai-sdk/openai-compatible/3.0.4", tools: plainTools, heads: map[string]string{"X-Session-Id": "ses_{session}", "X-Session-Affinity": "ses_{session}"}},
	"crush":    {api: wire.Chat, agent: "Charm-Crush/0.40.0 (https://charm.land/crush)", tools: plainTools, heads: map[string]string{"X-Session-Id": "{session}", "X-Session-Affinity": "{session}"}},
	"pi":       {api: wire.Chat, agent: "pi/1.6.0 (linux; node 20.20.2)", tools: plainTools},
	"qwen":     {api: wire.Chat, agent: "QwenCode/0.24.4 (linux; x64)", tools: googleTools},
	"copilot":  {api: wire.Responses, agent: "OpenAI/JS 6.49.0", tools: plainTools, heads: map[string]string{"X-Initiator": "user", "X-Interaction-Type": "conversation-agent", "X-Stainless-Helper-Method": "stream"}},
	"droid":    {api: wire.Chat, agent: "factory-cli/0.225.2", tools: plainTools, heads: map[string]string{"Openai-Platform": "cli"}},
	"cline":    {api: wire.Responses, agent: "Cline/3.0.65", tools: plainTools},
}

// mark puts the program's headers on a request.
func (p program) mark(h http.Header, session, model string) {
	h.Set("User-Agent", strings.ReplaceAll(p.agent, "{model}", model))
	for name, value := range p.heads {
		h.Set(name, strings.ReplaceAll(value, "{session}", session))
	}
}

// toolSchemas are the arguments of the tools that the programs offer, and what they are for.
var toolSchemas = map[string]struct {
	about string
	args  []string
}{
	"Read":              {"Reads a file from the local filesystem.", []string{"file_path"}},
	"Bash":              {"Runs a command in a shell.", []string{"command"}},
	"Edit":              {"Replaces text in a file.", []string{"file_path", "old_string", "new_string"}},
	"Write":             {"Writes a file to the local filesystem.", []string{"file_path", "content"}},
	"exec_command":      {"Runs a command in a PTY, returning output or a session ID for ongoing interaction.", []string{"cmd"}},
	"update_plan":       {"Updates the task plan.", []string{"explanation"}},
	"read_file":         {"Reads and returns the content of a file.", []string{"file_path"}},
	"run_shell_command": {"Executes a shell command.", []string{"command"}},
	"write_file":        {"Writes content to a file.", []string{"file_path", "content"}},
	"read":              {"Read a file.", []string{"filePath"}},
	"bash":              {"Run a command.", []string{"command", "description"}},
	"edit":              {"Edit a file.", []string{"filePath", "oldString", "newString"}},
	"write":             {"Write a file.", []string{"filePath", "content"}},
}

// toolSchema is a tool's schema.
func toolSchema(name string) object {
	props, need := object{}, list{}
	for _, a := range toolSchemas[name].args {
		props[a] = object{"type": "string", "description": "The " + a + " to use."}
		need = append(need, a)
	}
	return object{"type": "object", "properties": props, "required": need, "additionalProperties": false}
}

// creed is the kind of text that stands at the head of every agent's prompt.
const creed = `You are an interactive agent that helps a person with software engineering in a terminal.
Work in small steps: look before you change, change one thing, then run what proves it.
Prefer the tools on offer over guesses. Read a file before you edit it, and keep its style.
Say what you did in one or two sentences. Do not explain what the person can see for themselves.
Never invent paths, flags or names: search for them. Ask when the task can be read in two ways.
Tests belong to the change. A test that cannot fail proves nothing, so break the code once to see it fail.
Leave unrelated code alone. If something else is wrong, say so and go on.
Do not commit unless asked. Do not touch files outside the working directory.
`

// systemPrompt is a program's prompt: long enough to be worth caching.
func systemPrompt(name string) string { return "# " + name + "\n" + strings.Repeat(creed, 12) }

// outputs are what tools bring back.
var outputs = []string{
	"package config\n\nimport (\n\t\"errors\"\n\t\"os\"\n)\n\n// Load reads the file and fills in the defaults.\nfunc Load(path string) (*Config, error) {\n\tb, err := os.ReadFile(path)\n\tif errors.Is(err, os.ErrNotExist) {\n\t\treturn Default(), nil\n\t}\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn parse(b)\n}\n",
	"ok  \texample.org/app/internal/config\t0.214s\nok  \texample.org/app/internal/store\t1.871s\n?   \texample.org/app/cmd/app\t[no test files]\n",
	"--- FAIL: TestLoadKeepsOrder (0.00s)\n    loader_test.go:41: got [b a c], want [a b c]\nFAIL\nFAIL\texample.org/app/internal/config\t0.190s\nFAIL\n",
	"internal/config/loader.go:18:\treturn parse(b)\ninternal/config/parse.go:9:func parse(b []byte) (*Config, error) {\ninternal/config/parse_test.go:22:\tgot, err := parse(in)\n",
	"The file internal/config/loader.go has been updated.\n",
}

func output(r *rand.Rand) string { return outputs[r.IntN(len(outputs))] }
