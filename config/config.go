// Package config holds what the person wrote: the types of config.toml, its
// strict decoder and its paths. It knows nothing of vendors, routing or the screen.
package config

import "time"

// Config is one config.toml, decoded and checked, with every default filled in.
type Config struct {
	Listen        string        // host:port, default 127.0.0.1:3425
	Routing       string        // default order of providers and groups: "smart"
	Affinity      string        // auto | session | turn | off
	Sink          bool          // a rate-limited candidate goes to the back
	Redact        []string      // any of secrets, personal, words
	RedactWords   []string      // what is masked for words
	RedactRules   []string      // patterns that are masked beside secrets
	Theme         Theme         // what the screen wears
	Background    string        // "", "dark" or "light"
	PublicURL     string        // what other machines are shown
	CORSOrigins   []string      // exact scheme://host[:port] of web pages let in
	Share         bool          // serve other machines
	Proxy         string        // for every vendor, unless a provider says otherwise
	BodyLimit     int64         // bytes of one decoded request body, default 64 MB
	AutoGroups    bool          // default true
	GuessVendor   bool          // find a vendor by a model's prefix
	Describer     string        // model that describes images
	Searcher      string        // model that searches the web
	NoDetect      bool          // no keys or sign-ins are looked for
	MaxAttempts   int           // tries of one request, 0 = every candidate
	HeaderTimeout time.Duration // 0 = 3 min while another candidate is left, 10 min on the last
	StallTimeout  time.Duration // silence inside a stream, 0 = 5 min

	Providers []Provider          // in the file's order
	Groups    []Group             // in the file's order
	Agents    map[string]Agent    // by agent id
	Screen    Screen              // [screen]
	Notify    Notify              // [notify]
	Keys      map[string][]string // [keys]: key names by command id

	Path     string         // the file it came from, "" for none
	Lines    []string       // its lines, secrets masked, to show beside a problem
	ThemePos Pos            // of theme
	KeysPos  map[string]Pos // of each entry of [keys], by command id
}

// Theme names the screen's colours: one name for both backgrounds, or one each.
type Theme struct {
	Name        string // "auto" or a theme's name; "" when Dark and Light are set
	Dark, Light string
}

// Provider is one [providers.<id>] table.
type Provider struct {
	ID             string
	Preset         string // catalogue id; NoPreset when the file says preset = ""
	NoPreset       bool
	Region         string
	Name           string
	Bases          map[string]string // chat, responses, messages, gemini: a key that is there overrides, "" takes the API away
	Keys           []Key
	Accounts       []Account
	Models         []Model // empty: the vendor's own list
	Routing        string  // "" = the file's default
	Affinity       string
	Sink           *bool
	Fallback       []string // provider/model
	Proxy          string   // "" global, "direct" none
	Headers        map[string]string
	BalanceURL     string
	BalancePath    string
	Unmasked       bool
	Searches       bool
	Unlisted       bool
	Off            bool
	Catalog        string
	PriceRate      float64 // 0 = as listed
	MaxConcurrency *int
	MaxRPM         int
	QueueLimit     int
	QueueWait      time.Duration
	HeaderTimeout  time.Duration
	StallTimeout   time.Duration
	Retry          int
	Slots          int
	Pos            Pos
	PresetPos      Pos // of preset's value; Pos when the table names none
	RegionPos      Pos // of region's value
	BalancePos     Pos // of balance_path's value
	FallbackPos    []Pos
}

// Key is one entry of a provider's keys. Exactly one of Value, Env, File, Command is set.
type Key struct {
	Name     string // "key1", "key2" … by place when the file gives none
	Value    Secret
	Env      string
	File     string
	Command  string
	Off      bool
	Weight   int
	Protocol string // "", chat, responses, messages or gemini
	Proxy    string
	Models   []string
	Pos      Pos
}

// Account is one entry of a provider's accounts: a signed-in program's subscription.
type Account struct {
	Name           string
	Home           string
	Off            bool
	Cap            int            // 1-99, 0 = none
	WindowCaps     map[string]int // by window name, lower case
	Credits        *bool
	AutoReset      bool
	Models         []string
	Proxy          string
	MaxConcurrency *int
	Pos            Pos
}

// Model is one entry of a provider's models.
type Model struct {
	ID        string
	APIs      []string
	Context   int
	MaxOutput int
	Inputs    []string
	Efforts   []string
	Price     *Price
	Pos       Pos
}

// Price is in USD per million tokens.
type Price struct{ Input, Output, CacheRead, CacheWrite float64 }

// Group is one [groups.<id>] table.
type Group struct {
	ID         string
	Name       string
	Off        bool
	Routing    string
	Affinity   string
	Sink       *bool
	Members    []string
	Pick       string
	Rules      []Rule
	Classifier string
	Effort     string
	Efforts    []string
	Context    int
	FirstToken time.Duration
	Slug       string
	Names      map[string][]string
	Policy     string
	Sticky     int
	Pos        Pos
	MemberPos  []Pos
}

// Rule sends a group's turn to one member when every condition given holds.
type Rule struct {
	Use     string
	Tokens  int
	Images  bool
	Effort  string
	Agents  []string
	Intent  string
	Compact bool
	Pos     Pos
}

// Agent is one [agents.<id>] table.
type Agent struct {
	Effort string
	Tiers  map[string]string // opus, sonnet, haiku, fable
}

// Screen is [screen]; see tui.
type Screen struct {
	Glyphs       string // auto | unicode | ascii
	OnHangup     string // serve | quit
	WideAt       string // "110x28"
	Mouse        bool
	Sync         string // auto | on | off
	MaskAccounts bool
}

// Notify is [notify].
type Notify struct {
	When    []string
	Command string
}

// Pos is a place in the file, 1-based; zero when there is none.
type Pos struct{ Line, Col int }

// Secret is a value that must not be shown. Every way of printing it masks it;
// the value itself comes out of Reveal alone.
type Secret string
