package route

import (
	"slices"

	"dev.magpie/provider"
)

// Round is where a provider's or group's turns have got to.
type Round struct {
	Turn    uint64  // of rotate: one more with each plan of several candidates
	Current Weights // of weight: the smooth weights as they stand
}

// Weights are smooth weights by account, in the order in which a plan had them: the next one
// has them in the same, nearly always.
type Weights []Weight

// Weight is an account's smooth weight.
type Weight struct {
	ID  provider.AccountID
	Has int
}

// at is where an account is, looked for at one place first; -1 for nowhere.
func (w Weights) at(id provider.AccountID, first int) int {
	if first < len(w) && w[first].ID == id {
		return first
	}
	return slices.IndexFunc(w, func(one Weight) bool { return one.ID == id })
}

// Effects are what carrying a plan out changes. A look at a plan has none.
type Effects struct {
	Rounds  map[string]Round   // by provider id or group/<id>: as it is after the plan; nil = none moved
	Decided map[string]Decided // by group id: what its rules decided
	Ask     *Question          // to be asked of a classifier first, and then planned once more with what it says
}

// Who is a candidate's identity in a conversation's memory.
type Who struct {
	ID     provider.AccountID
	Model  string
	Effort string
}

// Keep is what is remembered of a conversation in a scope.
type Keep struct {
	Who
	Turn      int
	At        int64 // unix seconds of its last reply
	CacheRead int64
	Moved     bool // the person moved it there since
}
