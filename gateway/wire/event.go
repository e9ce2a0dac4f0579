package wire

import (
	"bytes"
	"strings"

	"dev.magpie/gateway/wire/sse"
)

// Class says what one event of a stream means while the reply is held back.
type Class uint8

// What an event means while the reply is held back.
const (
	Lead      Class = iota // says nothing yet: comments, pings, starts, empty deltas
	Buffering              // the vendor says that it holds the reply for its safety check
	Thinking               // reasoning
	Failed                 // an error
	Refused                // the reply is refused, with nothing said
	Content                // anything else, also what can't be read
)

// Usage counts tokens. Input includes cache read and written, Output includes reasoning.
type Usage struct{ Input, Output, Reasoning, CacheRead, CacheWrite int64 }

// Fault is an error event: its code or type, its words, and the event's JSON.
type Fault struct {
	Code  string
	Words string
	Raw   []byte
}

// Facts is what a reply has told so far.
type Facts struct {
	ID       string // the vendor's response or message id
	Model    string // the model that it names
	Usage    Usage
	Counted  bool   // Usage was told
	Said     bool   // text or a call came
	Whole    bool   // its end came: what follows an EOF is no break
	Stopped  bool   // Messages: it was told why the reply ends, which a reader of it needs no more than
	Refusal  string // why it was refused
	Fault    *Fault
	Sequence int64  // Responses: the last sequence number
	Beside   []byte // Responses: the last event that tells of the account, not of the reply
	usage    []byte
	ended    string // Gemini: why, in her words
}

// Reply follows one reply's stream in one of the four APIs.
type Reply struct {
	P Protocol
	Facts
}

// Judge reads one event and says what it means. It is for the held part of a reply.
func (r *Reply) Judge(event []byte) Class {
	name, data := sse.Parse(event)
	if data == nil {
		return Lead
	}
	switch r.P {
	case Chat:
		return r.clothed(name, data, r.judgeChat(data))
	case Responses:
		return r.judgeResponses(name, data)
	case Messages:
		return r.judgeMessages(name, data)
	case Gemini:
		return r.clothed(name, data, r.judgeGemini(data))
	}
	return Content
}

// clothed takes an event for an error that its API does not know as one: only while the reply is held,
// for an agent who reads it would not know it either, and is told that the reply broke off.
func (r *Reply) clothed(name, data []byte, class Class) Class {
	switch {
	case class == Failed || class == Refused:
	case string(name) == "error", r.P == Chat && !bytes.Contains(data, answered) && disguisedChunk(data):
		return r.fault(data, data)
	}
	return class
}

// answered is how a Chat event begins to answer.
var answered = []byte(`"choices":[`)

// Note reads of one event what the gateway has to know once the reply passes: usage, the
// end, an error. It looks for marks first and decodes only what bears one.
func (r *Reply) Note(event []byte) {
	switch r.P {
	case Chat:
		r.noteChat(event)
	case Responses:
		r.noteResponses(event)
	case Messages:
		r.noteMessages(event)
	case Gemini:
		r.noteGemini(event)
	}
}

// Finish settles what was left for the end of the stream.
func (r *Reply) Finish() {
	if r.P == Gemini && len(r.usage) > 0 {
		var c geminiChunk
		if decode(r.usage, &c) {
			r.geminiFacts(&c)
		}
		r.usage = r.usage[:0]
	}
}

// mark finds a JSON key in raw text: "key" with its quotes, not inside of a string. It looks
// for what follows the first quote: quotes are everywhere, so a search for one stops at each.
func mark(b []byte, quoted string) int {
	rest := quoted[1:]
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(rest))
		if i < 0 {
			return -1
		}
		i += at
		at = i + len(rest)
		if i > 0 && b[i-1] == '"' && (i == 1 || b[i-2] != '\\') {
			return at
		}
	}
}

// markOf is a key without its first quote, and the bytes that a value of interest begins with.
type markOf struct{ key, first string }

// borne says, a bit each, which of some keys an event has with such a value, in one pass. The
// same word may stand as a value, or as a key of another value.
func borne(event []byte, marks []markOf) (found uint8) {
	for at := 0; ; {
		i := bytes.IndexByte(event[at:], '"')
		if i < 0 {
			return found
		}
		at += i + 1
		if at == len(event) || at > 1 && event[at-2] == '\\' {
			continue
		}
		for n := range marks {
			m := &marks[n]
			if event[at] != m.key[0] || !bytes.HasPrefix(event[at:], []byte(m.key)) {
				continue
			}
			if c := valueAfter(event, at+len(m.key)); c != 0 && strings.IndexByte(m.first, c) >= 0 {
				found |= 1 << n
			}
		}
	}
}

// valueAfter returns the first byte of the value of the key that ends at i, 0 for none.
func valueAfter(b []byte, i int) byte {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	if i >= len(b) || b[i] != ':' {
		return 0
	}
	i++
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	if i >= len(b) {
		return 0
	}
	return b[i]
}

// kind returns an event's type: its event line, or the first type in its data. That may be
// another value's, where a vendor writes an object's keys in the order of the alphabet.
func kind(event []byte) []byte {
	if rest, ok := bytes.CutPrefix(event, []byte("event:")); ok {
		if end := bytes.IndexAny(rest, "\r\n"); end >= 0 {
			rest = rest[:end]
		}
		return bytes.TrimSpace(rest)
	}
	i := mark(event, `"type"`)
	if i < 0 || valueAfter(event, i) != '"' {
		return nil
	}
	rest := event[i:]
	rest = rest[bytes.IndexByte(rest, '"')+1:]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return nil
	}
	return rest[:end]
}
