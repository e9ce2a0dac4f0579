// Package mend knows what a request can be sent without after its vendor refused it for
// that, and how it is taken out of the bytes. It decides and edits; it asks nobody.
//
//	refusal ─Find─► Thing ─Apply─► the body once more ─it works─► Memory
//
// The same edits serve a request that is relayed and one that was translated: both are a
// body in the vendor's API, and every byte that is not named stays.
package mend

import "dev.magpie/gateway/wire"

// What is the kind of a Thing.
type What uint8

// What a request can be sent without, or otherwise.
const (
	Field    What = iota + 1 // an optional field, by its path
	Beta                     // a value of the header anthropic-beta
	Level                    // a level of reasoning becomes another: Path to To
	Choice                   // a choice that forces a tool
	Least                    // the most output is raised to N
	Most                     // the most output is lowered to N
	Bare                     // reasoning that nobody sealed
	Images                   // each becomes a note: the request is written anew for it
	Thoughts                 // reasoning of earlier turns: the request is written anew for it
	Recall                   // reasoning of earlier turns that isn't there: the request is written anew with it
	Adaptive                 // thinking by a number of tokens becomes adaptive
	Unfit                    // the model isn't served on the API at all
	Painter                  // Codex's tool that makes images, which only its own house knows
)

// Thing is one thing that a vendor refused.
type Thing struct {
	What What
	Path string // of a Field, its keys with dots between; of a Beta its name; of a Level the one that was refused
	To   string // of a Level
	N    int64
}

// Found is a Thing and for how long it is to be remembered.
type Found struct {
	Thing
	Keep bool // it is a habit of the vendor's, not of this request
	Wide bool // it holds for all of the provider's models on the API, not for this one alone
	Now  bool // it is sure before it is known to work
	Bet  bool // the refusal did not name it: where that was not it, it is put back
}

// Words tell what was left out, for the trace.
func (t Thing) Words() (what, why string) {
	switch t.What {
	case Field:
		return t.Path, "the vendor refuses it"
	case Beta:
		return "anthropic-beta " + t.Path, "the vendor refuses it"
	case Level:
		return "reasoning " + t.Path, "the vendor refuses it: asked for " + t.To
	case Choice:
		return "tool_choice", "the vendor refuses one that forces a tool"
	case Least:
		return "the limit of output", "the vendor's least is higher"
	case Most:
		return "the limit of output", "the vendor's most is lower"
	case Bare:
		return "reasoning of earlier turns", "the vendor refuses what it did not seal"
	case Images:
		return "images", "the model reads none"
	case Thoughts:
		return "reasoning of earlier turns", "another made it"
	case Painter:
		return "tools." + painter, "the vendor refuses it"
	case Recall:
		return "reasoning of earlier turns", "the vendor demands some in each of them"
	case Adaptive:
		return "thinking.budget_tokens", "the model decides itself how much it thinks"
	case Unfit:
		return "", ""
	}
	return "", ""
}

// Sent is a request that was refused, as its vendor got it.
type Sent struct {
	API        wire.Protocol
	Body       []byte
	Betas      []string // values of the header anthropic-beta
	Translated bool
	Lone       bool // no other API of the provider has the model
	House      bool // it went to the maker of Codex, who knows all of Codex's tools
}

// Refusal is what the vendor said.
type Refusal struct {
	Status int
	Body   []byte
	Words  string // its message
	Row    string // of the table of failures
	Long   bool   // the conversation is too long, so that no number in the words is a limit of output
	Plain  bool   // it is known for nothing but a request that the vendor doesn't take
}
