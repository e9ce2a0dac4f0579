package main

import (
	"fmt"
	"path/filepath"
)

// program is one agent program.
type program struct {
	name   string
	agent  string // what the gateway is to call it
	vendor vendor // who answers
	tasks  []task
	talk   func(s *stage, turn int) launch // one turn of a conversation, from 0; nil = it is not had lead one
}

// vendor is a stand-in vendor, as the gateway is told of it.
type vendor struct {
	name   string // the stand-in's
	config string // the provider's lines in the gateway's config; {at} is the vendor's address
}

// The vendors that speak one API: what a preset knows besides is taken away.
var (
	kimiChat     = vendor{"kimi", "[providers.moonshot]\n" + oneBase("chat", "/v1")}
	deepSeekChat = vendor{"deepseek", "[providers.deepseek]\n" + oneBase("chat", "/v1")}
	openAIAlone  = vendor{"openai", "[providers.openai]\n" + oneBase("responses", "/v1")}
	claudeAlone  = vendor{"anthropic", "[providers.anthropic]\n" + oneBase("messages", "")}
	geminiAlone  = vendor{"gemini", "[providers.gemini]\n" + oneBase("gemini", "/v1beta")}
)

// oneBase are the config's lines of a provider that speaks one API.
func oneBase(api, path string) string {
	lines := ""
	for _, one := range []string{"chat", "responses", "messages", "gemini"} {
		base := ""
		if one == api {
			base = "{at}" + path
		}
		lines += one + " = \"" + base + "\"\n"
	}
	return lines
}

// task is one way to have it work.
type task struct {
	name   string
	vendor vendor // who answers in place of the program's
	launch func(s *stage) launch
	first  []string // what the first key's requests are answered with before it answers well
	broken int      // how many requests end in an error that the program has to get over
	each   bool     // it writes in each of its turns
}

// answers is the vendor of a task.
func (t task) answers(p program) vendor {
	if t.vendor.config != "" {
		return t.vendor
	}
	return p.vendor
}

// The troubles of a first key. The other one has to take over: in the same request while nothing
// was said yet, in the program's next one after that.
var (
	limited = []string{"429 rate retry-after=300s x99"}
	cut     = []string{"cut after=2"}   // in a call's arguments
	unended = []string{"cut after=end"} // behind the whole call
)

// launch is how a program is started.
type launch struct {
	args  []string
	env   []string
	files map[string]string // by path
}

// token is the key that the programs give the gateway: it names nobody, so that the gateway has
// to tell them by their marks.
const token = "magpie"

// nowhere is an address that refuses at once, for what a program would fetch beside its work.
const nowhere = "http://127.0.0.1:9"

const prompt = "Write the file " + noteName + " with the tool that you have for it, then say that you are done."

// programs is the table.
var programs = []program{
	{
		name: "claude", agent: "claude", vendor: claudeAlone, talk: claudeTalk,
		tasks: []task{
			{name: "key", launch: claude("claude-sonnet-5-5", "ANTHROPIC_API_KEY")},
			{name: "older model", launch: claude("claude-sonnet-4-5", "ANTHROPIC_API_KEY")},
			{name: "token, first key limited", launch: claude("claude-opus-5-5", "ANTHROPIC_AUTH_TOKEN"), first: limited},
			{name: "stream cut", launch: claude("claude-sonnet-5-5", "ANTHROPIC_AUTH_TOKEN"), first: cut, broken: 1},
			{name: "on Chat", vendor: kimiChat, launch: claude("kimi-k3", "ANTHROPIC_AUTH_TOKEN")},
			{name: "on Responses", vendor: openAIAlone, launch: claude("gpt-5.4", "ANTHROPIC_AUTH_TOKEN")},
			{name: "on Gemini, first key limited", vendor: geminiAlone, launch: claude("gemini-3.8-flash", "ANTHROPIC_AUTH_TOKEN"), first: limited},
		},
	},
	{
		name: "codex", agent: "codex", vendor: vendor{"openai", "[providers.openai]\nresponses = \"{at}/v1\"\nchat = \"{at}/v1\"\n"}, talk: codexTalk,
		tasks: []task{
			{name: "own provider", launch: codex("gpt-5.4", codexOwnProvider)},
			{name: "built-in provider, hidden tools", launch: codex("gpt-6-sol", codexBuiltIn)},
			{name: "own provider, first key limited", launch: codex("gpt-5.5", codexOwnProvider), first: limited},
			{name: "stream cut", launch: codex("gpt-5.4", codexBuiltIn), first: unended, broken: 1},
			{name: "on Messages", vendor: claudeAlone, launch: codex("claude-sonnet-5-5", codexOwnProvider)},
			{name: "on Messages, stream cut", vendor: claudeAlone, launch: codex("claude-sonnet-5-5", codexOwnProvider), first: unended, broken: 1},
			{name: "on Chat", vendor: deepSeekChat, launch: codex("deepseek-v4-flash", codexOwnProvider)},
			{name: "built-in provider, on Chat", vendor: kimiChat, launch: codex("kimi-k3", codexBuiltIn)},
		},
	},
	{
		name: "gemini", agent: "gemini", vendor: geminiAlone,
		tasks: []task{
			{name: "named model", launch: gemini("GEMINI_API_KEY_AUTH_MECHANISM=x-goog-api-key", "-m", "gemini-2.5-flash")},
			{name: "bearer", launch: gemini("GEMINI_API_KEY_AUTH_MECHANISM=bearer", "-m", "gemini-3.8-flash")},
			{name: "routed model, first key limited", launch: gemini("GEMINI_API_KEY_AUTH_MECHANISM=x-goog-api-key"), first: limited},
			{name: "stream cut", launch: gemini("GEMINI_API_KEY_AUTH_MECHANISM=x-goog-api-key", "-m", "gemini-3.8-flash"), first: unended, broken: 1},
			{name: "on Messages", vendor: claudeAlone, launch: gemini("GEMINI_API_KEY_AUTH_MECHANISM=x-goog-api-key", "-m", "claude-sonnet-5-5")},
		},
	},
	{
		name: "opencode", agent: "opencode", vendor: vendor{"", "[providers.relay]\nchat = \"{at}/v1\"\nresponses = \"{at}/v1\"\nmessages = \"{at}\"\ngemini = \"{at}/v1beta\"\n"},
		tasks: []task{
			{name: "chat", launch: opencode("@ai-sdk/openai-compatible", "/v1", "glm-5.3")},
			{name: "responses", launch: opencode("@ai-sdk/openai", "/v1", "gpt-5.4")},
			{name: "messages", launch: opencode("@ai-sdk/anthropic", "/v1", "claude-sonnet-5-5")},
			{name: "gemini", launch: opencode("@ai-sdk/google", "/v1beta", "gemini-3.8-flash")},
			{name: "chat, first key limited", launch: opencode("@ai-sdk/openai-compatible", "/v1", "glm-5.3"), first: limited},
			{name: "chat, on Gemini", vendor: geminiAlone, launch: opencode("@ai-sdk/openai-compatible", "/v1", "gemini-3.8-flash")},
			{name: "messages, on Gemini", vendor: geminiAlone, launch: opencode("@ai-sdk/anthropic", "/v1", "gemini-3.8-flash")},
			{name: "chat, stream cut", launch: opencode("@ai-sdk/openai-compatible", "/v1", "glm-5.3"), first: cut, broken: 1},
		},
	},
}

func claude(model, credential string) func(*stage) launch {
	return func(s *stage) launch {
		return launch{
			args: []string{"-p", prompt, "--model", model, "--permission-mode", "acceptEdits"},
			env: []string{
				"ANTHROPIC_BASE_URL=" + s.base, credential + "=" + token, "CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
			},
		}
	}
}

// claudeTalk goes on with the conversation that was before it.
func claudeTalk(s *stage, turn int) launch {
	l := claude("claude-sonnet-5-5", "ANTHROPIC_AUTH_TOKEN")(s)
	if turn > 0 {
		l.args = append(l.args, "--continue")
	}
	return l
}

// codexTalk goes on with the conversation that was before it.
func codexTalk(s *stage, turn int) launch {
	l := codex("gpt-5.4", codexOwnProvider)(s)
	if turn > 0 {
		l.args = []string{"exec", "resume", "--last", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.4", prompt}
	}
	return l
}

// The two ways to point Codex at a gateway.
const (
	codexOwnProvider = "model_provider = \"magpie\"\n\n[model_providers.magpie]\nname = \"magpie\"\nbase_url = \"{base}/v1\"\nenv_key = \"MAGPIE_TOKEN\"\nwire_api = \"responses\"\n"
	codexBuiltIn     = "openai_base_url = \"{base}/v1\"\n"
)

func codex(model, config string) func(*stage) launch {
	return func(s *stage) launch {
		home := filepath.Join(s.home, ".codex")
		return launch{
			args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", model, prompt},
			env:  []string{"CODEX_HOME=" + home, "MAGPIE_TOKEN=" + token, "CODEX_API_KEY=" + token},
			files: map[string]string{
				filepath.Join(home, "config.toml"): "check_for_update_on_startup = false\n" + s.fill(config) + "\n[analytics]\nenabled = false\n",
			},
		}
	}
}

func gemini(mechanism string, model ...string) func(*stage) launch {
	return func(s *stage) launch {
		return launch{
			args: append([]string{"-p", prompt, "--yolo"}, model...),
			env:  []string{"GOOGLE_GEMINI_BASE_URL=" + s.base, "GEMINI_API_KEY=" + token, mechanism, "GEMINI_CLI_TRUST_WORKSPACE=true"},
			files: map[string]string{
				filepath.Join(s.home, ".gemini", "settings.json"): `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false,"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}`,
			},
		}
	}
}

func opencode(sdk, path, model string) func(*stage) launch {
	return func(s *stage) launch {
		config := fmt.Sprintf(`{"$schema":"about:blank","autoupdate":false,"share":"disabled","provider":{"magpie":{"npm":%q,"name":"magpie","options":{"baseURL":%q,"apiKey":%q},`+
			`"models":{%q:{"name":%q,"limit":{"context":200000,"output":32000}}}}}}`, sdk, s.base+path, token, model, model)
		return launch{
			args: []string{"run", "-m", "magpie/" + model, prompt},
			env: []string{
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
				"HTTPS_PROXY=" + nowhere, "npm_config_registry=" + nowhere, "npm_config_fetch_retries=0",
			},
			files: map[string]string{
				filepath.Join(s.work, "opencode.json"): config,
			},
		}
	}
}
