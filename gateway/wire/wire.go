// Package wire knows the four APIs as bytes: what a request's body tells, how a
// reply's events read, what an error looks like in each. It never sees a vendor.
package wire

import (
	"slices"
	"strings"
)

// Protocol is one of the four APIs, under the name that config, trace and commands use.
type Protocol string

// The four APIs.
const (
	Chat      Protocol = "chat"      // OpenAI Chat Completions
	Responses Protocol = "responses" // OpenAI Responses
	Messages  Protocol = "messages"  // Anthropic Messages
	Gemini    Protocol = "gemini"    // Google generateContent
)

// Protocols lists the four in the order in which they are shown.
var Protocols = []Protocol{Chat, Responses, Messages, Gemini}

// Title is the API's name for people.
func (p Protocol) Title() string {
	switch p {
	case Chat:
		return "Chat Completions"
	case Responses:
		return "Responses"
	case Messages:
		return "Messages"
	case Gemini:
		return "Gemini"
	}
	return string(p)
}

// Dialect is what a vendor's flavour of an API differs in, as data from the catalogue.
// The zero value is a vendor of which nothing is known.
type Dialect struct {
	Vendor         string     // the catalogue's vendor word, for failure rows: "anthropic", "openai", "zhipu" …
	Unsupported    []string   // optional request fields that it refuses
	TokenField     string     // "max_tokens" or "max_completion_tokens", "" = the API's own
	TokenModels    []string   // words in the ids of the models that TokenField holds for, nil = all
	DeveloperRole  bool       // takes role developer
	ReasoningField string     // where reasoning text stands: reasoning_content, reasoning …
	NoUsageOption  bool       // refuses stream_options.include_usage
	Searches       []Protocol // the APIs on which it searches the web itself

	// What follows is of Chat Completions; NoSampling and CacheKeys are of Responses too.

	NoSampling    []string // heads of the ids of further models that take no temperature and top_p while they reason
	CacheKeys     bool     // a prompt_cache_key made from the session helps
	CacheMarks    bool     // reads cache_control on parts and tools
	CacheBreaks   []string // heads of the ids of models that read prompt_cache_breakpoint on parts
	CustomTools   bool     // takes tools of type custom
	AllowedTools  bool     // takes a tool_choice of type allowed_tools
	NoRequired    bool     // knows no tool_choice "required"
	NoNamed       bool     // knows no tool_choice that names a tool
	NoSchema      bool     // knows json_object, but no json_schema
	Tiers         bool     // takes service_tier
	Switch        Switch   // how it is told to reason
	SwitchLevel   bool     // where Switch isn't effort: takes reasoning_effort besides
	GiveBack      GiveBack // which reasoning it wants to see again
	ReasoningLost string   // what it gets in the place of reasoning that it wants and that was lost
	CallSeals     []string // heads of the ids of models that want Gemini's signatures back in extra_content of calls
	Details       bool     // keeps sealed reasoning in reasoning_details

	// Of Responses.

	FunctionsOnly bool // knows functions alone: no freeform and no client-run tools, no namespaces
	BareReasoning bool // wants reasoning back that nobody sealed
	OwnParts      bool // it is OpenAI's own, or knows the parts of it that are no part of the API
	LooksUp       bool // looks for reasoning that isn't sealed among what it stored
	NoLoneChoice  bool // refuses tool_choice without tools

	// Of Messages.

	ThinkingOff bool // models that aren't Claude's think unless they are told not to

	// Of Gemini.

	OpenAPI   bool // knows schemas only as OpenAPI's subset: parameters and responseSchema
	NoCallIDs bool // knows no ids of calls and results
	Grounds   bool // runs googleSearch and urlContext itself
}

// Switch is how a vendor that speaks Chat Completions is told to reason.
type Switch string

// How a vendor that speaks Chat Completions is told to reason.
const (
	SwitchEffort Switch = ""       // reasoning_effort
	SwitchType   Switch = "type"   // thinking: {type: enabled or disabled}
	SwitchEnable Switch = "enable" // enable_thinking and thinking_budget
	SwitchObject Switch = "object" // reasoning: {effort, max_tokens or enabled}
	SwitchGoogle Switch = "google" // extra_body.google.thinking_config
	SwitchNone   Switch = "none"   // not at all
)

// GiveBack is which reasoning of earlier turns a vendor wants to see again.
type GiveBack string

// Which reasoning of earlier turns a vendor wants to see again.
const (
	GiveNone  GiveBack = ""      // none of it
	GiveCalls GiveBack = "calls" // that of turns with calls, each of which must have some
	GiveAll   GiveBack = "all"   // what there is, and some in turns with calls
	GiveEvery GiveBack = "every" // that of all turns, each of which must have some
)

// SearchesOn says whether the vendor searches the web itself for those who ask on api.
func (d *Dialect) SearchesOn(api Protocol) bool {
	return slices.Contains(d.Searches, api) || api == Gemini && d.Grounds
}

// TokenName is the field of a request to a model that says how long the reply may be, ""
// for the API's own.
func (d *Dialect) TokenName(model string) string {
	if len(d.TokenModels) == 0 || slices.ContainsFunc(d.TokenModels, func(w string) bool { return strings.Contains(model, w) }) {
		return d.TokenField
	}
	return ""
}

// Refuses says whether the vendor refuses an optional field of a request.
func (d *Dialect) Refuses(field string) bool { return slices.Contains(d.Unsupported, field) }

// Samples says whether a model takes temperature and top_p when it is asked for so much reasoning.
func (d *Dialect) Samples(model, effort string) bool {
	return effort == "none" || !ReasoningModel(model) && !Headed(model, d.NoSampling)
}

// Headed says whether a model's id, behind any slash of it, begins with one of the heads.
func Headed(model string, heads []string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	for _, head := range heads {
		if strings.HasPrefix(model, head) {
			return true
		}
	}
	return false
}
