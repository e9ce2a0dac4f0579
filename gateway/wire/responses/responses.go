// Package responses is the codec of OpenAI's Responses API: for agents that speak it, and
// for vendors that do.
//
// A request is a list of items: messages, reasoning, calls and their outputs, each by
// itself. The neutral form has turns; consecutive items of one side become one turn and
// are laid out as items again. A reply is a list of items too, told as events.
package responses

import (
	"io"

	"dev.magpie/gateway/wire"
)

// Codec reads and writes Responses. The zero value is ready.
type Codec struct{}

var _ wire.Codec = Codec{}

// NewReader makes a reader of a reply in Responses to a request that was written for asked.
func (Codec) NewReader(asked *wire.Ask) wire.Reader { return newReader(asked) }

// NewWriter makes a writer of replies for an agent that sent asked.
func (Codec) NewWriter(w io.Writer, asked *wire.Ask, o wire.WriterOptions) wire.Writer {
	return newWriter(w, asked, o)
}

// The types of items that are in a request and in a reply alike.
const (
	typeMessage   = "message"
	typeReasoning = "reasoning"
	typeFunction  = "function_call"
	typeCustom    = "custom_tool_call"
	typeImage     = "image_generation_call"
	typeCompacted = "compaction"
)

const maxCallID = 64

// callID is a call's id as this API takes it, the same for the call and its output.
func callID(id string) string { return wire.KeepID(id, "call_", maxCallID) }

// flat is a tool's name with its namespace in it.
func flat(namespace, name string) string {
	if namespace == "" {
		return name
	}
	if len(namespace) > 2 && namespace[len(namespace)-2:] == "__" {
		return namespace + name
	}
	return namespace + "__" + name
}
