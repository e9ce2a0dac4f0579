// Package route decides whom to ask: pure functions over a snapshot. No clock,
// no lock, no I/O; every placement carries its reason.
//
//	Snapshot ─┐
//	          ├─ Plan ─► expand ► leaveOut ► order ► pinFirst ► restLast ► dress ─► trace.Plan
//	Call ─────┘                                                                       │
//	                                 nothing to ask, or not to be asked: Refuse ◄─────┘
//
// Plan is a look; Decide makes the same plan to be carried out, and says what that changes.
//
// A step works on seats, small values that know their account; dress turns each
// into the candidate that is told, once its place is settled.
package route

import (
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// Snapshot is everything that planning may know, taken once and never written again.
type Snapshot struct {
	Now      time.Time
	Catalog  *provider.Catalog
	Standing map[provider.AccountID]Standing
	Rests    map[string]trace.Rest // by rest key and model rest id; ended ones may still stand
	Lists    provider.Lists        // vendors' fetched model lists; nil = none
	Plans    Plans                 // model lists of single accounts; nil = none
	Choices  Choices               // the person's, at run time
	Rounds   map[string]Round      // by provider id or group/<id>
	Served   map[provider.AccountID]Lately
}

// Plans are the model lists that single accounts were told: what their plan has. One
// without a list may have any model.
type Plans map[provider.AccountID]*provider.List

// Standing is how one account stands.
type Standing struct {
	Unready string // why its secret is missing, "" = ready
	Paused  *trace.Paused
	Pinned  *trace.Pinned
	Windows []provider.Window // as last read
	Told    []trace.Window    // Windows in the trace's shape, made once by whoever keeps the readings; nil = not made
	Read    time.Time         // when; zero = never
	Shut    bool              // as last told its vendor answers nothing until a window renews
	Resets  *trace.Resets     // in hand, as last told; nil = none known
	Print   string            // fingerprint of its secret, "" = not known yet
	Sunk    Sunk              // its last rate limit that sinks; zero = none
}

// Sunk is when an account was last rate limited: those limited later stand further back.
type Sunk struct {
	Seq uint64
	At  time.Time
}

// Lately counts tokens that an account served; the count halves with each hour from At.
type Lately struct {
	Tokens float64
	At     time.Time
}

// ShutAt says whether its vendor answers nothing at now.
func (st Standing) ShutAt(now time.Time) bool {
	return st.Shut && provider.StillHeld(st.Windows, now)
}

// PausedAt returns the pause in force at now, nil when there is none.
func (st Standing) PausedAt(now time.Time) *trace.Paused {
	if st.Paused == nil || over(st.Paused.Until, now) {
		return nil
	}
	return st.Paused
}

// PinnedAt returns the pin in force at now, nil when there is none. Whether it
// concerns a request is for its filters to say.
func (st Standing) PinnedAt(now time.Time) *trace.Pinned {
	if st.Pinned == nil || over(st.Pinned.Until, now) {
		return nil
	}
	return st.Pinned
}

// over says whether a wish that holds until then has ended; zero holds until it is taken back.
func over(until, now time.Time) bool { return !until.IsZero() && !now.Before(until) }

// Call is what planning needs of a request.
type Call struct {
	Target   provider.Target
	Agent    string
	Own      bool               // only candidates that have the agent's own API: nothing is translated
	Also     wire.Protocol      // with Own: another API that the request can be told in, "" = none
	Protocol wire.Protocol      // the API that the agent speaks; "" = any, such as for a look at the plan
	Only     provider.AccountID // X-Magpie-Account: this one alone
	Made     provider.AccountID // made what the request goes on from: this one alone

	Scope  string      // in which this conversation is remembered, as it is told
	Keep   *Keep       // who answered this conversation last in this scope, nil = nobody known
	Turn   int         // user turns so far
	Within bool        // the last user message brings a tool's result
	Held   map[Who]int // other conversations of the scope that were answered lately, by who answered
	Images bool        // the turn shows an image
	Tokens int         // estimate of the request

	Described bool                        // images are described to models that don't see them
	Effort    string                      // how much reasoning it asks for: a level, "on" without one, "" = none
	Compact   bool                        // it shortens its conversation
	Counted   int                         // tokens of the conversation's last request, as its vendor counted them
	Decided   map[string]Decided          // by group id: what its rules decided last in this conversation
	Judged    map[string]trace.Classified // by group id: what its classifier says of this turn
}

// Refusal is what an agent is told when nobody is asked at all.
type Refusal struct {
	Status  int
	Code    string
	Words   string    // what, why, what to do next
	RetryAt time.Time // when it may go by itself; zero = never, or not known
}
