package provider

import (
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/wire"
)

// AccountID names a key or account: `provider/name`, or `provider` alone where there is neither.
type AccountID string

// Kind says what an Account is.
type Kind string

// What an Account can be.
const (
	KindKey      Kind = "key"
	KindAccount  Kind = "account"
	KindProvider Kind = "provider" // no key and no account, such as a local server
)

// Catalog is everything that exists at one time. It is immutable; a reload makes another.
type Catalog struct {
	Providers []*Provider                  // in the file's order
	Groups    []*Group                     // in the file's order
	Detected  bool                         // made from what was found, without a config file
	Routing   string                       // the default order
	Affinity  string                       // the default
	Sink      bool                         // the default
	AutoOff   bool                         // no groups are found
	Guess     bool                         // the vendor of a name that nothing serves is found by how the name begins
	Tiers     map[string]map[string]string // by agent, then by tier: the model that stands in

	index index
}

// Provider is one vendor's entry.
type Provider struct {
	ID                          string
	Name                        string // for people
	Preset                      string // catalogue id, "" for none
	Region                      string
	Bases                       map[wire.Protocol]string // normalised, without a trailing slash; a missing one is not spoken
	Auth                        map[wire.Protocol]AuthStyle
	Dialect                     wire.Dialect
	Program                     string   // that is run for its requests, "" = they are sent to an address
	ReadOnly                    string   // why its accounts are shown and never asked for a reply, "" = they are
	Headers                     []Header // the person's own, applied after auth
	Accounts                    []*Account
	Models                      []Model // what the file lists; empty: anything goes to the vendor
	Static                      []Model // the preset's own list for a vendor that has none to fetch
	NoList                      bool    // the vendor has no model list to fetch
	Routing                     string  // effective, never ""
	Affinity                    string
	Sink                        bool
	Fallback                    []Ref
	Proxy                       string // "" = the environment's, "direct", or a URL
	Unlisted                    bool
	Unmasked                    bool // the person wants requests to go to it whole
	Off                         bool
	Local                       bool          // every base is on this machine
	KeyOptional                 bool          // works without a key
	KeysURL                     string        // where its owner makes keys, "" = unknown
	BalanceURL, BalancePath     string        // where the vendor tells what is left, and where in that; "" = as is known of it
	Rate                        float64       // multiplies list prices; 1 = as listed
	HeaderTimeout, StallTimeout time.Duration // 0 = the gateway's
	Place                       int           // among providers, from 0

	rules  []APIRule      // which models are served on which APIs, from the preset
	list   string         // where the model list is, when not under a base
	begins []string       // how the names of the vendor's own models begin
	priced bool           // the table's prices hold for it
	listed map[string]int // Models by id
	static map[string]int // Static by id
}

// Header is one request header.
type Header struct{ Name, Value string }

// AuthStyle says where a key goes on a request.
type AuthStyle string

// Where a key goes.
const (
	AuthBearer  AuthStyle = "bearer"         // Authorization: Bearer
	AuthXAPIKey AuthStyle = "x-api-key"      // x-api-key, with anthropic-version
	AuthGoogle  AuthStyle = "x-goog-api-key" // x-goog-api-key
	AuthAPIKey  AuthStyle = "api-key"        // Azure's api-key
)

// Account is one key, account or key-less provider that a request can be tried on.
type Account struct {
	ID       AccountID
	Provider string // provider id
	Name     string // the name alone; the provider's id for KindProvider
	Kind     Kind
	Secret   SecretSource
	Protocol wire.Protocol  // made for one API only, "" = any
	Models   []string       // the only models it serves; empty = all
	Weight   int            // at least 1
	Proxy    string         // "" = the provider's
	Cap      int            // percent of each window, 0 = none
	Caps     map[string]int // by a window's name in lower case: percent, 100 = none on that window
	Credits  bool           // it may spend credits once its windows are used up
	Resets   bool           // it may spend its resets by itself
	Lane     Lane           // how many requests it takes
	Off      bool
	Unready  string // why the config alone says that it cannot serve, "" = nothing does
	Home     string // of an account's own program
	Place    int    // among all accounts of the catalogue, from 0
}

// Lane is how many requests one account takes. Zero values limit nothing.
type Lane struct {
	Busy  int           // at once
	RPM   int           // begun within any minute
	Queue int           // that may wait
	Wait  time.Duration // how long each may
}

// SecretSource says where a key comes from. Exactly one field is set, none for a key-less provider.
type SecretSource struct {
	Value   config.Secret
	Env     string
	File    string
	Command string
}

// Model is one model of a provider. Zero numbers and nil lists are unknown.
type Model struct {
	ID        string
	Name      string
	APIs      []wire.Protocol
	Context   int // tokens
	MaxOutput int // tokens
	Inputs    []string
	Efforts   []string
	Price     *Price
}

// Price is in USD per million tokens; nil parts are unknown.
type Price struct {
	Input, Output, CacheRead, CacheWrite *float64
	CacheWriteHour                       *float64 // written to be kept an hour
	Own                                  bool     // the person's: a provider's rate does not multiply it
	Over                                 int64    // above so many input tokens Long holds, 0 = there is no such step
	Long                                 *Price
}

// Ref is `provider[@who]/model[:effort]` or `group/<id>`, parsed.
type Ref struct {
	Provider string
	Who      string // a key's or account's name, "" = any
	Model    string
	Effort   string
	Group    string
}

// Group is several members picked as one model.
type Group struct {
	ID         string
	Name       string
	Routing    string // effective, never ""
	Affinity   string // effective
	Sink       bool
	Members    []Ref
	Sticky     int      // of rotate: requests of one turn, 0 = 1
	Pick       string   // of manual: a member as Spelled has it, "" = the first
	Spelled    []string // Members as the config spells them
	Rules      []Rule
	Classifier string
	Effort     string   // "auto" or a level, "" = as asked
	Efforts    []string // that agents are offered, nil = what its members share
	Off        bool
	Auto       bool
	Context    int
	FirstToken time.Duration
	Place      int
}

// Rule sends a group's turn to one member when each condition that it has holds.
type Rule struct {
	Use     int // place among Members
	Tokens  int // at least
	Images  bool
	Effort  string // "on" or a level: at least
	Agents  []string
	Intent  string
	Compact bool
}

// Target is what a model's name stands for.
type Target struct {
	Asked    string
	Provider *Provider // nil for a group
	Group    *Group
	Who      string // a name tied by provider@who/…
	Model    string // the vendor's id, with any [1m] mark as asked; empty for a group
	Effort   string
	Others   []string // further providers that have this bare id: the first in the file was taken
	Guessed  string   // the beginning of the name by which its vendor was found, "" = it was not guessed
}

// Refusal is a name that stands for nothing, and why.
type Refusal struct { //nolint:errname // what an agent is told, an error only on its way there
	Status int    // 400 or 404
	Code   string // model_not_found, provider_off, …
	Words  string // what, where, what to do next
}

func (r *Refusal) Error() string { return r.Words }
