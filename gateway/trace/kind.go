package trace

import "time"

// Kind is why a try failed. The zero value means that it did not.
type Kind string

// Every way in which a try fails.
const (
	Credit     Kind = "credit"     // money gone
	Quota      Kind = "quota"      // an allowance window is full
	Rate       Kind = "rate"       // slow down
	Auth       Kind = "auth"       // the key or sign-in is not taken
	Overloaded Kind = "overloaded" // the vendor, not the key
	Refused    Kind = "refused"    // for safety
	TooLarge   Kind = "too-large"  // the conversation no longer fits
	Slow       Kind = "slow"       // no first content in the group's time
	Shape      Kind = "shape"      // the vendor does not know a field or type of the request
	Prompt     Kind = "prompt"     // the vendor turns this client or prompt away
	Effort     Kind = "effort"     // a level the plan does not have
	Proxy      Kind = "proxy"      // the way there, not the vendor
	Verify     Kind = "verify"     // the account must be verified by its owner
	Cancelled  Kind = "cancelled"  // the agent left
	Model      Kind = "model"      // this key or plan does not have the model
	Request    Kind = "request"    // the request itself is wrong
	Network    Kind = "network"    // no connection, or one that broke
	Other      Kind = "other"
)

// Scope says how far a rest reaches.
type Scope string

// How far a rest reaches.
const (
	ScopeNone  Scope = ""      // nobody rests
	ScopeWhole Scope = "whole" // the key or account
	ScopeModel Scope = "model" // it with this model only
)

// Verdict is what the failure table says of one failed try.
type Verdict struct {
	Row    string    // the row's name
	Kind   Kind      // why
	Scope  Scope     // how far a rest reaches
	Next   bool      // another candidate may do better
	Passes bool      // it may pass by itself: the last candidate is asked again
	Until  time.Time // the end that the vendor named; zero = none named
	By     RestBy    // what Until came from, "" when none
	Status int       // what the agent would be told
	Words  string    // the vendor's message, cleaned of secrets, at most 300 runes
	Code   string    // a code that the agent's API should carry, e.g. context_length_exceeded
	Link   string    // where the owner can mend it
	Page   bool      // the reply was a web page

	Account bool // the candidate is a signed-in account, not a key
	Afford  int  // the max_tokens that what is left would pay for, 0 = not said
}

// Rows of tries in which nobody was asked, for the table has none for them.
const (
	RowFull        = "lane-full"    // no slot for it
	RowPausedSince = "paused-since" // the person paused it after the plan was made
	RowHeldSince   = "held-since"   // it came to be held, by a cap or for its credits, while the request waited for a slot
	RowRestsSince  = "rests-since"  // it came to rest then, and another does not
)

// ReasonCode says, as a fact, why a candidate stands where it stands.
type ReasonCode string

// Why a candidate stands where it stands.
const (
	WhyListed    ReasonCode = "listed"     // its place in the file; N is the place, Count its place among those that a member of group By stands for
	WhyOnly      ReasonCode = "only"       // there is no other
	WhyFallback  ReasonCode = "fallback"   // a fallback model of By
	WhyResting   ReasonCode = "resting"    // rests, so behind those that do not
	WhyRestOnly  ReasonCode = "rest-only"  // rests, but is the only one
	WhyPinned    ReasonCode = "pinned"     // by the person; asked first
	WhyNamed     ReasonCode = "named"      // the request names it
	WhyMade      ReasonCode = "made"       // made the reply that this request goes on from
	WhyNotNamed  ReasonCode = "not-named"  // the request names another
	WhyOtherPin  ReasonCode = "other-pin"  // the person pinned another alone
	WhyNotMade   ReasonCode = "not-made"   // another made what this request goes on from
	WhyPaused    ReasonCode = "paused"     // by the person
	WhyUnready   ReasonCode = "unready"    // no secret; Text says which
	WhyBarred    ReasonCode = "barred"     // its own model list has not this model
	WhyProtocol  ReasonCode = "protocol"   // made for an API that this provider does not have, or the asker's is not
	WhyCapped    ReasonCode = "capped"     // past its cap: Share used, of Limit, held until Until
	WhyNoCredits ReasonCode = "no-credits" // its windows are used up, and its credits are not to be spent
	WhyNotPicked ReasonCode = "not-picked" // a manual group uses another member
	WhyUnlisted  ReasonCode = "unlisted"   // its plan does not list the model, another's does
	WhyOff       ReasonCode = "off"        // switched off in the config
	WhyReadOnly  ReasonCode = "read-only"  // shown with what it has left, and never asked for a reply; Text says why
	WhyNotServed ReasonCode = "not-served"
	WhyBlind     ReasonCode = "blind" // its model takes no images, and the turn shows one; Text = others are known to

	// By the routing. Share is what is used in percent, At a renewal.
	WhyLearns       ReasonCode = "learns"  // nothing is known of its allowance: its reply will tell
	WhySooner       ReasonCode = "sooner"  // renews At, the soonest
	WhyLater        ReasonCode = "later"   // renews At, later than those before
	WhyUnknown      ReasonCode = "unknown" // nobody knows when it renews
	WhyLow          ReasonCode = "low"     // little room left
	WhySpent        ReasonCode = "spent"   // next to no room left
	WhyShut         ReasonCode = "shut"    // its vendor answers nothing until a window renews
	WhyLeastUsed    ReasonCode = "least-used"
	WhyMoreUsed     ReasonCode = "more-used"
	WhyFewestTokens ReasonCode = "fewest-tokens" // used like the others, and served the fewest tokens lately: Count
	WhyMoreTokens   ReasonCode = "more-tokens"   // used like the others, and served Count tokens lately
	WhyTurn         ReasonCode = "turn"          // of rotate: its turn, or that of Count before it
	WhyPace         ReasonCode = "pace"          // the most to spend: Share an hour until At
	WhyLessPace     ReasonCode = "less-pace"     // less to spend: Share an hour until At
	WhyHaste        ReasonCode = "haste"         // of best: its budget ends unused unless Share an hour is spent until At
	WhyLevel        ReasonCode = "level"         // of best: has time; Share of its short windows is used
	WhyByUse        ReasonCode = "by-use"        // of best: it has no allowance that would end unused
	WhyWeight       ReasonCode = "weight"        // its turn by weight: Count of Limit
	WhyWeighed      ReasonCode = "weighed"       // another's turn by weight: Count of Limit are its
	WhyPicked       ReasonCode = "picked"        // the member that a manual group uses
	WhyAside        ReasonCode = "aside"         // a key made for another API than the best of its pool
	WhyUnfit        ReasonCode = "unfit"         // a key made for the API in Text, which suits this request less
	WhySunk         ReasonCode = "sunk"          // rate limited At, so behind

	// By the conversation.
	WhyWarm     ReasonCode = "warm"      // the conversation's cache is warm there
	WhySameTurn ReasonCode = "same-turn" // answered this turn so far
	WhySession  ReasonCode = "session"   // has the conversation to its end
	WhyMoved    ReasonCode = "moved"     // the person moved the conversation there
	WhyNextTurn ReasonCode = "next-turn" // of rotate: in turn after Text, who answered the conversation's last turn
	WhyFewest   ReasonCode = "fewest"    // a new conversation: Count others are on it, fewer than on any that was before it
	WhyRule     ReasonCode = "rule"      // rule Count of group By sends the turn to it; Text = in the place of that one, which is not ready
	WhyRuleNext ReasonCode = "rule-next" // a rule of group By that names it holds too: the next to be asked
)

// Reason is a code with what its sentence needs. Text never holds a secret.
type Reason struct {
	Code  ReasonCode `json:"code"`
	N     int        `json:"n,omitempty"`
	Of    int        `json:"of,omitempty"`
	By    string     `json:"by,omitempty"`
	Kind  Kind       `json:"kind,omitempty"`
	Until time.Time  `json:"until,omitzero"`
	At    time.Time  `json:"at,omitzero"`     // when it renews, or was limited
	Share float64    `json:"share,omitempty"` // in percent
	Limit int        `json:"limit,omitempty"` // what a share or count is of
	Count int64      `json:"count,omitempty"`
	Text  string     `json:"text,omitempty"`
}

// Plan is a decision: whom to ask in which order, who is left out, each with its reason.
type Plan struct {
	Routing  string
	Pinned   string
	Affinity *Affinity // nil where there is no choice
	Rule     *Rule     // of the group, nil = it has none to tell of
	Order    []Candidate
	Left     []Candidate
}
