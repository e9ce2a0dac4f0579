package wire

import "encoding/json"

// Ask is a request in the neutral form: all that any of the four APIs can say of one,
// each thing once. Zero values are "not said". It is never written after it was read.
type Ask struct {
	API     Protocol // the API that it was read from
	Model   string
	Stream  bool
	System  []Part // what stands before the first turn
	Turns   []Turn
	Tools   []Tool
	Choice  Choice
	OneCall bool // at most one tool call a reply: parallel calls are refused

	Max         *int64      // output tokens, thinking included
	Temperature json.Number // as the client spelled it
	TopP        json.Number
	TopK        *int64
	Stop        []string

	Effort string // none minimal low medium high xhigh max, "" = not said
	Budget *int64 // thinking tokens where they were said as a number; -1 = as many as it likes
	Show   Show   // whether the client shows reasoning
	Format *Format

	Verbosity string
	CacheKey  string
	Tier      string // auto default flex priority
	User      string
	Compact   bool // Responses: the last turn asks for a summary, which goes back as a compaction item
	Alone     bool // with Compact: the item is all that is wanted, and no response around it
	Usage     bool // Chat: the client asked for usage in the stream
	AutoCache bool // Messages: cache_control at the top

	// What two of the APIs can say; the others lose it.
	Presence  json.Number     // Chat and Gemini: presence penalty
	Frequency json.Number     // Chat and Gemini: frequency penalty
	Seed      json.Number     // Chat and Gemini
	N         int64           // Chat and Gemini: how many replies; see OneReply
	Logprobs  *int64          // how many alternatives a token, 0 = its own probability alone
	Metadata  json.RawMessage // Chat and Responses
	Store     *bool           // Chat and Responses
	Legacy    bool            // Chat: tools came as functions, so that a call goes back as function_call

	Extra []Field // fields that only the API it was read from can say, in the client's order
}

// WarmsUp says that the request wants no reply at all, only a warm cache (Messages:
// max_tokens 0). Of a vendor of another API nothing is asked: the reply is empty, and ends
// with FinishLength.
func (a *Ask) WarmsUp() bool { return a.API == Messages && a.Max != nil && *a.Max == 0 }

// Field is a field of a request as it came.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Show says whether a client shows reasoning.
type Show string

// What a client does with reasoning.
const (
	ShowUnsaid  Show = ""
	ShowSummary Show = "summary" // it shows it
	ShowNone    Show = "none"    // it wants none of it
	ShowUpdates Show = "updates" // Messages: it shows it now and then
)

// Role is who speaks in a turn.
type Role string

// Who speaks in a turn. Results of tools stand in a user's turn.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system" // in the middle of a conversation
)

// Turn is what one side said, in order. Calls and the text and thinking before them are
// one assistant turn; all results of it and what the user says besides are one user turn.
type Turn struct {
	Role  Role
	Parts []Part
}

// Kind is what a Part is.
type Kind uint8

// What a Part can be.
const (
	KindText Kind = iota
	KindImage
	KindFile // PDF or plain text
	KindAudio
	KindVideo
	KindCall
	KindResult
	KindThinking
	KindRefusal
	KindOpaque // something that only the API it was read from understands
)

// Part is one piece of a turn.
type Part struct {
	Kind  Kind
	Text  string // text, thinking, refusal; of an opaque part what others may read of it
	Media *Media
	Call  *Call
	Reply *Result
	Seal  *Seal           // of thinking, or of a call or text that Gemini signed
	Cache *Cache          // a cache breakpoint behind this part
	Raw   json.RawMessage // of an opaque part: as it came, for its own API
	Cites []Cite
	Dev   bool // of a system's text: role developer said it, for those who tell the two apart

	Begins bool // the first of what was a turn of its own before turns were joined
}

// Media is an image, document, sound or film: by its bytes, its URL or its vendor's id.
type Media struct {
	MIME   string
	Data   string // base64, as it came
	URL    string
	ID     string // a file id, good at one vendor only
	Name   string
	Detail string // low high auto original
	Text   string // of a plain-text document
}

// Call is a call of a tool.
type Call struct {
	ID    string
	Name  string          // the flat name, namespace included
	Args  json.RawMessage // a JSON object; of a freeform call nil
	Input string          // of a freeform call
	Free  bool            // freeform: Input counts, not Args
}

// Result is what a call gave.
type Result struct {
	ID    string // of the call
	Name  string // the tool's name, where known
	Parts []Part // text, images, files; none = empty
	Error bool
	Raw   json.RawMessage // Responses: a built-in tool's output as it came
	Of    *Call           // the call that it answers; Pair finds it, readers leave it out
}

// Seal is what proves reasoning to the vendor that made it.
type Seal struct {
	API      Protocol // whose form it has
	Vendor   string   // who made it, "" = not known
	Data     string   // signature, encrypted_content, thoughtSignature or redacted data
	Redacted bool     // Messages: a redacted block, whose data is all there is
	ID       string   // Responses: the item's id
}

// Cache is a cache breakpoint. TTL is "5m", "1h" or "".
type Cache struct{ TTL string }

// Cite is a source of a text.
type Cite struct {
	URL, Title string
	Text       string
	Start, End int // characters of the text; both 0 = not known
}

// ToolKind is what a Tool is.
type ToolKind uint8

// What a Tool can be.
const (
	ToolFunction ToolKind = iota
	ToolFree              // freeform, with or without a grammar
	ToolHosted            // run by a vendor: web search, code …
)

// Tool is a tool on offer. Names are flat: a namespace's tools are namespace__name.
type Tool struct {
	Kind        ToolKind
	Name        string
	Description string
	Schema      json.RawMessage // of a function: a JSON schema, nil = takes nothing
	Strict      *bool
	Grammar     *Grammar        // of a freeform tool, nil = any text
	Hosted      string          // of a hosted tool: web_search, web_fetch, code, image, file_search, mcp, computer, tool_search
	Raw         json.RawMessage // a hosted or built-in tool as it came
	Built       string          // a client-run tool known by its type alone: local_shell, shell, apply_patch, bash, text_editor, memory
	Search      *Search         // of a web search: what all APIs can say of it
	Namespace   string          // where it stood in one, so that the reply can name it so
	Local       string          // its name inside of the namespace
	Cache       *Cache
}

// Search is how a hosted web search is narrowed.
type Search struct {
	Allowed  []string        // domains, nil = all
	Blocked  []string        // domains
	Location json.RawMessage // {type:"approximate", city, region, country, timezone}
}

// Grammar is what a freeform tool's input must follow.
type Grammar struct{ Syntax, Definition string }

// ChoiceMode is how the model may choose among tools.
type ChoiceMode string

// How the model may choose among tools.
const (
	ChoiceUnsaid   ChoiceMode = ""
	ChoiceAuto     ChoiceMode = "auto"
	ChoiceNone     ChoiceMode = "none"
	ChoiceRequired ChoiceMode = "required"
	ChoiceTool     ChoiceMode = "tool" // the one that is named
)

// Choice is a tool choice. Allowed narrows the tools, nil = all.
type Choice struct {
	Mode    ChoiceMode
	Name    string // for ChoiceTool: a flat name
	Hosted  string // for ChoiceTool: a hosted tool's word
	Allowed []string
}

// Format is a structured output that is asked for.
type Format struct {
	Schema      json.RawMessage // nil = any JSON object
	Name        string
	Description string
	Strict      *bool
}

// Loss is something that a target API or vendor can't say and that was left out.
type Loss struct {
	What string // the field or thing, in the asker's words: "seed", "tools.image_generation"
	Why  string // "" = the API has no place for it
}

// FieldRefusal is a request that can't be carried over without lying; nothing was sent.
type FieldRefusal struct { //nolint:errname // what an agent is told, an error only on its way there
	Field string
	Words string
	Code  string // Messages: error.details.error_code, which its clients act on
}

// OneReply refuses a request for several replies at once: events tell of one.
func (a *Ask) OneReply(field string) error {
	if a.N <= 1 {
		return nil
	}
	return &FieldRefusal{Field: field, Words: field + ": only one reply at a time can be had from this model; ask for 1"}
}

func (e *FieldRefusal) Error() string { return e.Words }
