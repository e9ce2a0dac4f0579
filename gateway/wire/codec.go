package wire

import (
	"io"
	"slices"
	"strings"
)

// Target is whom a request is written for.
type Target struct {
	Model   string
	Dialect Dialect
	Context int      // tokens, 0 = unknown
	Output  int      // the model's most output tokens, 0 = unknown
	Efforts []string // the levels that it has, nil = unknown
	Session string   // of the agent, for a cache key
	Inputs  []string // what the model reads: text image audio pdf video, nil = unknown
}

// Reads says whether the model reads a kind of part; one of which nothing is known does.
func (t *Target) Reads(k Kind) bool {
	word := ""
	switch k {
	case KindImage:
		word = "image"
	case KindAudio:
		word = "audio"
	case KindVideo:
		word = "video"
	case KindFile, KindText, KindCall, KindResult, KindThinking, KindRefusal, KindOpaque:
		return true
	}
	return t.Inputs == nil || slices.Contains(t.Inputs, word)
}

// Codec reads and writes one API. Reading keeps all that can be kept; writing says what
// could not be said. Same input, same bytes.
type Codec interface {
	// ReadAsk reads a request's body. A body that breaks the API's own rules is a *FieldRefusal.
	ReadAsk(body []byte) (*Ask, error)
	// WriteAsk writes a request for a target, always streamed. What can't be carried
	// without lying is a *FieldRefusal.
	WriteAsk(a *Ask, t Target) (body []byte, lost []Loss, err error)
	// NewReader makes a reader of a reply's stream in this API; asked is the request that was written.
	NewReader(asked *Ask) Reader
	// NewWriter makes a writer of replies in this API for a client whose request was asked.
	NewWriter(w io.Writer, asked *Ask, o WriterOptions) Writer
}

// Reader turns one API's stream into neutral events.
type Reader interface {
	// Read takes one whole SSE event (with its blank line) and returns what it says, often nothing.
	Read(event []byte) []Event
	// Whole takes a reply that came in one piece.
	Whole(body []byte) []Event
	// End is told that the stream ended; what was open is closed, or failed.
	End() []Event
}

// WriterOptions say how a reply is written.
type WriterOptions struct {
	Stream bool   // events; else one body at the end
	Array  bool   // Gemini without alt=sse: one JSON array
	ID     string // a seed for ids, so that the same request has the same
	Now    int64  // unix seconds, for created fields
	Model  string // as the client asked
	Vendor string // who answers, for the seals that pass through the client
	Input  int64  // an estimate of the request's tokens, for an API that tells them first
}

// Writer writes neutral events as one API's reply. It keeps the API's grammar whatever
// order the events come in, and writes nothing after the end.
type Writer interface {
	// Event takes the next event. For a streamed reply its bytes are written at once.
	Event(e Event) error
	// Ping writes what keeps a silent client waiting, if the API has such a thing.
	Ping() error
	// Done says whether the end was written.
	Done() bool
}

// EventKind is what an Event says.
type EventKind uint8

// What an Event can say. A reply is: one Start; any number of pieces; Usage any number of
// times, the last counts; then one Finish or one Fail.
const (
	EventStart    EventKind = iota // ID, Model
	EventThinking                  // Text: a piece of reasoning
	EventSeal                      // Seal: the reasoning before it is sealed, and over; without any before it, reasoning of which only the seal is told
	EventText                      // Text: a piece of what is said; Seal: Gemini's signature of it
	EventRefusal                   // Text: a piece of a refusal
	EventCall                      // Index, Call{ID, Name, Free}: a call begins; Seal: Gemini's signature of it
	EventArgs                      // Index, Text: a piece of its arguments, or of its freeform input
	EventCallEnd                   // Index, Call: the call as a whole, where the vendor tells it
	EventCite                      // Cite, of the text before it
	EventMedia                     // Media: an image that the model made
	EventUsage                     // Usage
	EventFinish                    // Finish
	EventFail                      // Fail
)

// Event is one thing that a reply says.
type Event struct {
	Kind   EventKind
	ID     string
	Model  string
	Text   string
	Index  int // of a call, in the order of their beginnings
	Part   int // counts the separate pieces of text or reasoning: another number begins another block
	Call   *Call
	Seal   *Seal
	Cite   *Cite
	Media  *Media
	Usage  Usage
	Finish Finish
	Fail   *Refusal
}

// FinishWhy is why a reply ended.
type FinishWhy string

// Why a reply ended.
const (
	FinishStop     FinishWhy = "stop"
	FinishString   FinishWhy = "stop-string"
	FinishCalls    FinishWhy = "calls"
	FinishLength   FinishWhy = "length"
	FinishWindow   FinishWhy = "window" // the context is full
	FinishWithheld FinishWhy = "withheld"
	FinishPause    FinishWhy = "pause"
	FinishBroken   FinishWhy = "broken-call"
)

// Finish is how a reply ended.
type Finish struct {
	Why    FinishWhy
	String string // the stop string that was hit, where told
	Detail string // the vendor's own word or explanation
}

// Explanation is what the vendor says of a reply that was withheld, "" when it is only a word
// of its API, as "SAFETY".
func (f *Finish) Explanation() string {
	word := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	if strings.TrimFunc(f.Detail, word) == "" {
		return ""
	}
	return f.Detail
}
