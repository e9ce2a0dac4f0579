package standin

import (
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// house is a vendor's habits.
type house struct {
	words     string          // whose rows of the words' table are its own
	apis      []wire.Protocol // that it speaks
	models    []model
	windows   windowStyle
	roles     []string // of Chat messages
	reasoning string   // the Chat field that carries thinking, "" = it shows none
	easy      bool     // leaves unknown request fields alone
	thinkBack bool     // Chat: wants the thinking of calling turns back
	apiKey    bool     // takes the key in api-key
	backend   bool     // the ChatGPT backend's own rules for Responses
	comment   string   // of its streams while it works
	rates     bool     // tells x-ratelimit headers
	relays    bool     // hands on what other makers sealed
}

// model is one model of a vendor.
type model struct {
	id       string
	name     string
	context  int  // tokens
	output   int  // tokens
	fixed    bool // refuses sampling fields
	calls    bool // Gemini: the first call of a step must carry its signature
	embeds   bool
	midTurns bool // Messages: takes role system inside the conversation
	prefill  bool // Messages: takes an assistant message last
}

var (
	openAIRoles = []string{"system", "assistant", "user", "function", "tool", "developer"}
	plainRoles  = []string{"system", "user", "assistant", "tool"}
)

// houses is the table of vendors. "" is a relay that speaks everything.
var houses = map[string]house{
	"": {
		apis: wire.Protocols, roles: openAIRoles, reasoning: "reasoning_content", windows: unifiedWindows,
		models: slices.Concat(claudeModels, gptModels, geminiModels, glmModels, otherModels),
	},
	"anthropic":  {words: "anthropic", apis: []wire.Protocol{wire.Messages}, models: claudeModels, windows: unifiedWindows},
	"openai":     {words: "openai", apis: []wire.Protocol{wire.Chat, wire.Responses}, models: gptModels, roles: openAIRoles, windows: codexWindows, rates: true},
	"codex":      {words: "codex", apis: []wire.Protocol{wire.Responses}, models: gptModels, windows: codexWindows, backend: true},
	"gemini":     {words: "gemini", apis: []wire.Protocol{wire.Gemini}, models: geminiModels},
	"azure":      {words: "azure", apis: []wire.Protocol{wire.Chat, wire.Responses}, models: gptModels, roles: openAIRoles, apiKey: true},
	"openrouter": {words: "openrouter", apis: []wire.Protocol{wire.Chat, wire.Responses, wire.Messages}, models: routerModels(), roles: openAIRoles, reasoning: "reasoning", easy: true, relays: true, comment: " OPENROUTER PROCESSING"},
	"glm":        {words: "glm", apis: []wire.Protocol{wire.Chat, wire.Messages}, models: glmModels, roles: plainRoles, reasoning: "reasoning_content", easy: true},
	"kimi":       {words: "kimi", apis: []wire.Protocol{wire.Chat, wire.Messages}, models: kimiModels, roles: plainRoles, reasoning: "reasoning_content", easy: true},
	"deepseek":   {words: "deepseek", apis: []wire.Protocol{wire.Chat, wire.Messages}, models: deepSeekModels, roles: plainRoles, reasoning: "reasoning_content", easy: true, thinkBack: true, comment: " keep-alive"},
	"xai":        {words: "xai", apis: []wire.Protocol{wire.Chat, wire.Responses, wire.Messages}, models: grokModels, roles: openAIRoles, reasoning: "reasoning_content"},
	"sub2api":    {relays: true, words: "sub2api", apis: []wire.Protocol{wire.Chat, wire.Responses, wire.Messages}, models: slices.Concat(claudeModels, gptModels), roles: openAIRoles, windows: unifiedWindows},
}

var (
	claudeModels = []model{
		{id: "claude-opus-5-5", name: "Claude Opus 5.5", context: 1000000, output: 128000, fixed: true, midTurns: true},
		{id: "claude-sonnet-5-5", name: "Claude Sonnet 5.5", context: 1000000, output: 128000, fixed: true, midTurns: true},
		{id: "claude-haiku-5-5", name: "Claude Haiku 5.5", context: 200000, output: 128000, fixed: true, midTurns: true},
		{id: "claude-sonnet-5", name: "Claude Sonnet 5", context: 1000000, output: 128000, fixed: true, midTurns: true},
		{id: "claude-opus-4-8", name: "Claude Opus 4.8", context: 1000000, output: 128000, fixed: true, midTurns: true},
		{id: "claude-sonnet-4-5", name: "Claude Sonnet 4.5", context: 200000, output: 64000, prefill: true},
		{id: "claude-haiku-4-5", name: "Claude Haiku 4.5", context: 200000, output: 64000, prefill: true},
	}
	gptModels = []model{
		{id: "gpt-6.1-terra", context: 400000, output: 128000, fixed: true},
		{id: "gpt-6-sol", context: 400000, output: 128000, fixed: true},
		{id: "gpt-6-luna", context: 400000, output: 128000, fixed: true},
		{id: "gpt-5.6-sol", context: 400000, output: 128000, fixed: true},
		{id: "gpt-5.5", context: 400000, output: 128000, fixed: true},
		{id: "gpt-5.4", context: 400000, output: 128000, fixed: true},
		{id: "gpt-5.4-mini", context: 400000, output: 128000, fixed: true},
		{id: "gpt-4.1", context: 1047576, output: 32768},
		{id: "text-embedding-3-small", context: 8191, embeds: true},
	}
	geminiModels = []model{
		{id: "gemini-3.8-flash", name: "Gemini 3.8 Flash", context: 1048576, output: 65536, calls: true},
		{id: "gemini-3.5-flash-lite", name: "Gemini 3.5 Flash-Lite", context: 1048576, output: 65536, calls: true},
		{id: "gemini-3.5-pro", name: "Gemini 3.5 Pro", context: 1048576, output: 65536, calls: true},
		{id: "gemini-2.5-flash", name: "Gemini 2.5 Flash", context: 1048576, output: 65536},
		{id: "gemini-embedding-001", name: "Gemini Embedding", context: 2048, embeds: true},
	}
	glmModels = []model{
		{id: "glm-5.3", context: 200000, output: 128000},
		{id: "glm-5.3-air", context: 200000, output: 96000},
	}
	kimiModels     = []model{{id: "kimi-k3", context: 262144, output: 65536}}
	deepSeekModels = []model{{id: "deepseek-v4", context: 131072, output: 65536}, {id: "deepseek-v4-flash", context: 131072, output: 65536}}
	grokModels     = []model{{id: "grok-5", context: 262144, output: 65536, fixed: true}}
	otherModels    = slices.Concat(kimiModels, deepSeekModels, grokModels)
)

// routerModels are other vendors' models under the relay's names.
func routerModels() []model {
	var all []model
	for _, m := range []struct {
		maker  string
		models []model
	}{{"anthropic", claudeModels}, {"openai", gptModels}, {"google", geminiModels}, {"z-ai", glmModels}, {"moonshotai", kimiModels}, {"deepseek", deepSeekModels}} {
		for _, one := range m.models {
			one.id = m.maker + "/" + one.id
			all = append(all, one)
		}
	}
	return all
}

// modelNamed is a model of the table, or a plain one of that name. A test's own
// name that begins like one of the table's has that one's habits.
func modelNamed(id string) model {
	best := model{}
	for _, m := range slices.Concat(houses[""].models, routerModels()) {
		if strings.HasPrefix(id, m.id) && len(m.id) > len(best.id) {
			best = m
		}
	}
	if best.id == "" {
		best = model{context: 1048576, output: 128000, midTurns: true, prefill: true}
	}
	best.id = id
	return best
}

// model finds one that the vendor serves.
func (v *Vendor) model(id string) (model, bool) {
	i := slices.IndexFunc(v.models, func(m model) bool { return m.id == id })
	if i < 0 {
		return model{}, false
	}
	return v.models[i], true
}
