// Package wire knows the four APIs as bytes: what a request's body tells, how a
// reply's events read, what an error looks like in each. It never sees a vendor.
package wire

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
type Dialect struct {
	Vendor         string   // the catalogue's vendor word, for failure rows: "anthropic", "openai", "zhipu" …
	Unsupported    []string // optional request fields that it refuses
	TokenField     string   // "max_tokens" or "max_completion_tokens", "" = the API's own
	DeveloperRole  bool     // takes role developer
	ReasoningField string   // where reasoning text stands: reasoning_content, reasoning …
	NoUsageOption  bool     // refuses stream_options.include_usage
}
