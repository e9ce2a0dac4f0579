package trace

import (
	"slices"
	"time"
)

// Account is one key, account or key-less provider as it stands.
type Account struct {
	Seq       uint64     `json:"seq"`
	ID        string     `json:"id"`
	Provider  string     `json:"provider"`
	Name      string     `json:"name"` // the key's or account's name alone
	Kind      string     `json:"kind"` // account, key, provider
	Plan      string     `json:"plan,omitempty"`
	State     State      `json:"state"`
	Used      float64    `json:"used"`
	Known     bool       `json:"known"`
	Windows   []Window   `json:"windows"`
	Rest      *Rest      `json:"rest"`
	Rests     []Rest     `json:"rests,omitempty"` // of single models
	Paused    *Paused    `json:"paused"`
	Pinned    *Pinned    `json:"pinned"`
	Cap       int        `json:"cap,omitempty"`
	Credits   *bool      `json:"credits,omitempty"`    // it may spend credits once its windows are used up
	AutoReset *bool      `json:"auto_reset,omitempty"` // it may spend a reset by itself
	Resets    *Resets    `json:"resets,omitempty"`
	Balance   string     `json:"balance,omitempty"`
	Read      *time.Time `json:"read,omitempty"`       // when its vendor, being asked, last told what is left
	ReadError string     `json:"read_error,omitempty"` // why the newest asking told nothing; what was read before stands
	InFlight  int        `json:"in_flight"`
	Waiting   int        `json:"waiting,omitempty"`   // requests that wait for one of its slots
	Limit     int        `json:"limit,omitempty"`     // requests that it takes at once, 0 = any number
	Error     string     `json:"error,omitempty"`     // why it is unready, or turned away by its vendor, and what to do
	Denied    *Denied    `json:"denied,omitempty"`    // its vendor turned it away, and took it for nothing since
	ReadOnly  string     `json:"read_only,omitempty"` // why it is only shown, and never asked for a reply
	Place     int        `json:"place"`               // among all accounts, in the config's order
	Removed   bool       `json:"removed,omitempty"`
	Served    *time.Time `json:"served,omitempty"` // its last answer
}

// State is how an account stands, as one word.
type State string

// How an account stands.
const (
	Fine    State = "fine"
	Low     State = "low"
	Spent   State = "spent"
	Resting State = "resting"
	Paused_ State = "paused" // Paused names the value beside it
	Held    State = "held"
	Unready State = "unready"
	Off     State = "off"
)

// Paused says since and until when the person paused an account; Until zero = until resumed.
type Paused struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`
}

// Pinned is a standing wish to ask one account first, or only it.
type Pinned struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`
	Agent string    `json:"agent,omitempty"`
	Model string    `json:"model,omitempty"`
	Only  bool      `json:"only,omitempty"`
}

// Denied says since when a vendor turns a key or sign-in away, or has no credit for it. The account is
// asked all the same: what a person mends at the vendor is told by its next answer, or by a balance that changed.
type Denied struct {
	Since  time.Time `json:"since"`
	Why    Kind      `json:"why"` // auth or credit
	Status int       `json:"status,omitempty"`
	Text   string    `json:"text,omitempty"` // the vendor's words, cleaned and short
}

// Resets counts the resets that a subscription has in hand.
type Resets struct {
	Count int       `json:"count"`
	Until time.Time `json:"until,omitzero"`
}

// Group is one group as it stands.
type Group struct {
	Seq     uint64   `json:"seq"`
	Place   int      `json:"place"` // among all groups, in the config's order
	ID      string   `json:"id"`
	Routing string   `json:"routing"`
	Members []string `json:"members"`
	Pick    string   `json:"pick,omitempty"` // of manual: the member that is used
	Ready   int      `json:"ready"`          // candidates that would be asked now: keys and accounts with a model each
	Of      int      `json:"candidates"`     // all of them, also those that rest or are left out
	Next    string   `json:"next,omitempty"` // id of the candidate that would be asked first now
	Last    string   `json:"last,omitempty"` // id of the account that all who are ready are of; "" = of several, or nobody is
	Auto    bool     `json:"auto,omitempty"`
	Off     bool     `json:"off,omitempty"`
	Removed bool     `json:"removed,omitempty"`
}

// Same says whether two tell the same of one group.
func (g *Group) Same(o *Group) bool {
	return g.ID == o.ID && g.Place == o.Place && g.Routing == o.Routing && g.Pick == o.Pick && g.Ready == o.Ready && g.Of == o.Of && g.Next == o.Next && g.Last == o.Last &&
		g.Auto == o.Auto && g.Off == o.Off && g.Removed == o.Removed && slices.Equal(g.Members, o.Members)
}

// Log is one line of the gateway's log, cleaned of secrets.
type Log struct {
	Seq   uint64    `json:"seq"`
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // debug, info, warn, error
	Text  string    `json:"text"`
}

// Totals counts since the start.
type Totals struct {
	Requests int64 `json:"requests"` // done
	Rerouted int64 `json:"rerouted"` // tries with a rest that were not the last
	Errors   int64 `json:"errors"`   // status 400 and above
	InFlight int64 `json:"in_flight"`
}

// Today sums the local day so far; it is seeded from the history at start.
type Today struct {
	Day       string  `json:"day"`
	Requests  int64   `json:"requests"`
	Input     int64   `json:"input"`
	Output    int64   `json:"output"`
	CacheRead int64   `json:"cache_read"`
	CostUSD   float64 `json:"cost_usd"`
	Unpriced  int64   `json:"unpriced"` // answered requests without a known price
}

// Status is the gateway as a whole.
type Status struct {
	Seq      uint64       `json:"seq,omitempty"` // of its last change
	Name     string       `json:"name"`          // "magpie"
	Version  string       `json:"version"`
	PID      int          `json:"pid"`
	Demo     bool         `json:"demo"`
	Started  time.Time    `json:"started"`
	Listen   string       `json:"listen"`
	Draining bool         `json:"draining,omitempty"`
	Config   ConfigStatus `json:"config"`
	Totals   Totals       `json:"totals"`
	Today    Today        `json:"today"`
	History  HistoryStat  `json:"history"`
	Trouble  []string     `json:"trouble,omitempty"` // what does not work now and needs the person, one sentence each, worst first
	Accounts []Account    `json:"accounts"`
	Groups   []Group      `json:"groups"`
}

// ConfigStatus says which file is in force.
type ConfigStatus struct {
	Path     string    `json:"path"`
	Loaded   time.Time `json:"loaded"`
	Error    string    `json:"error,omitempty"` // why the newest text of the file is not in force
	Warnings []string  `json:"warnings,omitempty"`
}

// HistoryStat says how the history keeps up.
type HistoryStat struct {
	Written int64  `json:"written"`
	Dropped int64  `json:"dropped"`
	Error   string `json:"error,omitempty"`

	Begun *time.Time `json:"begun,omitempty"` // when a new file was begun, for the one in use was moved away or deleted; nil = never
}
