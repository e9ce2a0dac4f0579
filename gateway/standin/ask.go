package standin

import (
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// Op is what a request asks for.
type Op string

// What a request can ask for.
const (
	OpCreate  Op = "create"  // a reply
	OpCount   Op = "count"   // a count of tokens
	OpModels  Op = "models"  // the list of models
	OpModel   Op = "model"   // one model
	OpEmbed   Op = "embed"   // embeddings
	OpCompact Op = "compact" // a compaction, on Responses
	OpStored  Op = "stored"  // a stored response
	OpNone    Op = ""        // no path of this vendor
	OpAny     Op = "any"     // in scripts: all of them
)

// ask is a request that was read, whichever API it came in.
type ask struct {
	api      wire.Protocol
	key      string
	op       Op
	model    string
	stream   bool
	array    bool // Gemini: a stream as one JSON array
	usage    bool // Chat: a usage chunk was asked for
	body     []byte
	tree     object
	system   string
	turns    []turn
	tools    []tool
	choice   choice
	schema   any  // what a JSON answer has to look like; nil = none was asked for
	json     bool // a JSON answer was asked for
	thinking bool
	hidden   bool // thinking without its text
	limit    int  // of output tokens, 0 = none given
	store    bool
	compact  bool // Responses: the input ends in a compaction trigger
	cached   int  // Messages: the turns up to the last cache mark; -1 = no mark
}

// turn is one message of a conversation.
type turn struct {
	role  string // system, user, assistant
	parts []content
}

// content is one part of a turn.
type content struct {
	kind string // text, image, thinking, call, result
	text string // text, a result's text, a call's arguments
	name string // a call's tool
	id   string // of a call
}

// tool is one tool on offer.
type tool struct {
	name      string
	namespace string
	freeform  bool // takes bare text
	hosted    bool // run by the vendor
	schema    object
}

// choice is what the request says about calling tools.
type choice struct {
	mode string // "" = auto, none, any
	name string // of the one tool that must be called
}

// warmUp tells a Messages request for no tokens at all, which only fills the cache.
func (a *ask) warmUp() bool {
	n, given := num(a.tree["max_tokens"])
	return a.api == wire.Messages && a.op == OpCreate && given && n == 0
}

// open lists the tools that the client runs itself.
func (a *ask) open() []tool {
	var open []tool
	for _, t := range a.tools {
		if !t.hosted {
			open = append(open, t)
		}
	}
	return open
}

// said is the text of the last turn that the user wrote.
func (a *ask) said() string {
	for i := len(a.turns) - 1; i >= 0; i-- {
		if a.turns[i].role != "user" {
			continue
		}
		for _, p := range a.turns[i].parts {
			if p.kind == "text" && strings.TrimSpace(p.text) != "" {
				return p.text
			}
		}
	}
	return ""
}

// results counts the tool results since the user last wrote something.
func (a *ask) results() int {
	n := 0
	for _, t := range a.turns {
		for _, p := range t.parts {
			switch {
			case p.kind == "result":
				n++
			case p.kind == "text" && t.role == "user":
				n = 0
			}
		}
	}
	return n
}

// begins says whether no tool has given anything back yet: in the conversation, or since the
// model said something last.
func (a *ask) begins(each bool) bool {
	if !each {
		return a.everResults() == 0
	}
	for _, t := range slices.Backward(a.turns) {
		if t.role == "assistant" {
			return true
		}
		if slices.ContainsFunc(t.parts, func(p content) bool { return p.kind == "result" }) {
			return false
		}
	}
	return true
}

// everResults counts the tool results of the whole conversation.
func (a *ask) everResults() int {
	n := 0
	for _, t := range a.turns {
		for _, p := range t.parts {
			if p.kind == "result" {
				n++
			}
		}
	}
	return n
}
