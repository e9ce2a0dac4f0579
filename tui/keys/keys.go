// Package keys holds every command of the screen as data: its key, its words, where it
// works and what it does to the world. Footer, help, palette and the page of keys are all made
// from it, so that no key is without help and no help without a key.
package keys

import "dev.magpie/gateway/control"

// ID names a command, in the settings too.
type ID string

// The commands.
const (
	Down        ID = "move.down"
	Up          ID = "move.up"
	First       ID = "move.first"
	Last        ID = "move.last"
	HalfDown    ID = "move.half-down"
	HalfUp      ID = "move.half-up"
	ScrollLeft  ID = "move.left"
	ScrollRight ID = "move.right"
	GoAccounts  ID = "pane.accounts"
	GoRequests  ID = "pane.requests"
	GoConvs     ID = "pane.conversations"
	GoGroups    ID = "pane.groups"
	GoLog       ID = "pane.log"
	NextPane    ID = "pane.next"
	PrevPane    ID = "pane.previous"
	Zoom        ID = "pane.zoom"
	Open        ID = "view.open"
	Back        ID = "view.back"
	Close       ID = "view.close"
	Follow      ID = "view.follow"
	Filter      ID = "view.filter"
	Palette     ID = "view.palette"
	Help        ID = "view.help"
	Redraw      ID = "view.redraw"
	NextTheme   ID = "view.theme"
	ItsAccount  ID = "request.account"
	ItsRequests ID = "group.requests"
	CopyID      ID = "copy.id"
	CopyJSON    ID = "copy.json"
	CopyRow     ID = "copy.row"
	Pause       ID = "account.pause"
	Pin         ID = "account.pin"
	Wake        ID = "account.wake"
	Refresh     ID = "account.refresh"
	Later       ID = "order.later"
	Earlier     ID = "order.earlier"
	Undo        ID = "undo"
	Quit        ID = "quit"
	Interrupt   ID = "interrupt"
	Suspend     ID = "suspend"
)

// Scope is where the keys go: the pane or page in front.
type Scope string

// The scopes.
const (
	InAccounts Scope = "accounts"
	InRequests Scope = "requests"
	InConvs    Scope = "conversations"
	InGroups   Scope = "groups"
	InLog      Scope = "log"
	InRequest  Scope = "request" // an opened one
	InAccount  Scope = "account" // an opened one
	InGroup    Scope = "group"   // an opened one
	InHelp     Scope = "help"
)

// Scopes lists all of them in the order of the page of keys.
func Scopes() []Scope {
	return []Scope{InAccounts, InRequests, InConvs, InGroups, InLog, InRequest, InAccount, InGroup, InHelp}
}

// Need is something that a command cannot do without.
type Need uint8

// The needs.
const (
	NeedRow     Need = iota // a selected row
	NeedAccount             // an account is meant
	NeedRequest             // a request is meant
	NeedRest                // the account rests
	NeedUndo                // something can be taken back
	NeedSent                // the request was sent to an account
	NeedMates               // there are others to move it among
)

// Facts are what the screen knows when a command is asked for.
type Facts struct {
	Row     bool // a row is selected
	Account bool // an account is meant
	Request bool // a request is meant
	Rests   bool // the account meant rests
	Undo    bool // there is a change to take back
	Sent    bool // the request meant was sent to an account
	Moves   bool // the account or member meant has others to move among
}

// Command is one thing that the person can ask for.
type Command struct {
	ID    ID
	Keys  []string // by default; "y i" is one key after another
	In    []Scope  // nil = everywhere
	Hint  string   // for the footer: one or two words
	Help  string   // for the help: what it does
	Words string   // what else a search should find it by
	Class control.Class
	Needs []Need
	Rank  int // place in the footer, 0 = not there
}

// Enabled reports whether the command can be carried out, and why not.
func (c *Command) Enabled(f Facts) (ok bool, why string) {
	for _, n := range c.Needs {
		if met, words := n.met(f); !met {
			return false, words
		}
	}
	return true, ""
}

// unmet is what each need says when it is not met.
var unmet = [...]string{
	NeedRow:     "nothing is selected",
	NeedAccount: "no account is selected",
	NeedRequest: "no request is selected",
	NeedRest:    "it does not rest",
	NeedUndo:    "there is nothing to undo",
	NeedSent:    "it was sent to no account",
	NeedMates:   "there is nothing to move it among",
}

func (n Need) met(f Facts) (ok bool, why string) {
	return [...]bool{
		NeedRow:     f.Row,
		NeedAccount: f.Account,
		NeedRequest: f.Request,
		NeedRest:    f.Rests,
		NeedUndo:    f.Undo,
		NeedSent:    f.Sent,
		NeedMates:   f.Moves,
	}[n], unmet[n]
}
