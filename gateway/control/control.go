// Package control holds the only verbs that change anything, as values. Keys, palette,
// commands and HTTP all pass here, so the rules cannot differ by door.
package control

import (
	"time"

	"dev.magpie/gateway/trace"
)

// Verb names what is to be done.
type Verb string

// The verbs that the gateway carries out.
const (
	Pause   Verb = "pause"
	Resume  Verb = "resume"
	Pin     Verb = "pin"
	Unpin   Verb = "unpin"
	Wake    Verb = "wake"
	Undo    Verb = "undo"
	Reload  Verb = "reload"
	Cancel  Verb = "cancel"
	Refresh Verb = "refresh" // have the vendor asked what is left

	// Choices of providers, groups and accounts.
	Order     Verb = "order"
	Pick      Verb = "pick"
	Routing   Verb = "routing"
	Affinity  Verb = "affinity"
	Sink      Verb = "sink"
	Cap       Verb = "cap"
	Credits   Verb = "credits"
	AutoReset Verb = "auto-reset"
	Reset     Verb = "reset" // spends one
	Hide      Verb = "hide"
	Show      Verb = "show"

	// Of conversations.
	Move   Verb = "move"
	Forget Verb = "forget"
)

// Command is one wish: what, whom, how.
type Command struct {
	Verb Verb   `json:"verb"`
	Who  string `json:"who,omitempty"` // an account id, a bare name, a provider or group/<id>, or "all" where the verb takes it
	Args Args   `json:"args,omitzero"`
}

// Args are a command's details; which count depends on the verb.
type Args struct {
	For     string `json:"for,omitempty"` // a duration: "2h", "90s"
	Agent   string `json:"agent,omitempty"`
	Model   string `json:"model,omitempty"`
	Only    bool   `json:"only,omitempty"`
	Request int64  `json:"request,omitempty"`

	Order   []string `json:"order,omitempty"`   // accounts of a provider or members of a group, first first; none = the config's
	Member  string   `json:"member,omitempty"`  // "" = the config's
	Value   string   `json:"value,omitempty"`   // "" = the config's
	On      *bool    `json:"on,omitempty"`      // left out = the config's
	Percent *int     `json:"percent,omitempty"` // 1 to 99, 0 = none; left out = the config's
	Window  string   `json:"window,omitempty"`
	Session string   `json:"session,omitempty"` // of move and forget: a conversation, as routes tell it
	To      string   `json:"to,omitempty"`      // of move: whom, as Who
}

// Class says how dangerous a command is.
type Class string

// How dangerous a command is.
const (
	Reads      Class = "reads"
	Reversible Class = "reversible"
	Spends     Class = "spends" // asks first, needs a fresh token
	Ends       Class = "ends"   // asks first, needs a fresh token
)

// Token binds a Do to the facts that a Preview showed.
type Token string

// Effect is what a command would do.
type Effect struct {
	Class Class    `json:"class"`
	Words string   `json:"words"`
	Facts []string `json:"facts,omitempty"`
	Token Token    `json:"token,omitempty"`
}

// Done is what a command did: words for a toast, and the new state of what changed.
type Done struct {
	Words    string          `json:"words"`
	Accounts []trace.Account `json:"accounts,omitempty"`
	Undo     bool            `json:"undo,omitempty"` // "undo" takes it back
	At       time.Time       `json:"at"`
}

// Error is a refusal with a status of HTTP, a code, and words that say what to do next.
type Error struct {
	Status  int      `json:"-"`
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Matches []string `json:"matches,omitempty"`
}

func (e *Error) Error() string { return e.Message }
