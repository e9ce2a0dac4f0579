package trace

import "time"

// Provider is one vendor's entry as it is configured, without secrets.
type Provider struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"` // for people
	Preset   string            `json:"preset,omitempty"`
	Region   string            `json:"region,omitempty"`
	Off      bool              `json:"off,omitempty"`
	Local    bool              `json:"local,omitempty"`
	Unlisted bool              `json:"unlisted,omitempty"`
	ReadOnly string            `json:"read_only,omitempty"` // why its accounts are only shown, and never asked for a reply
	Bases    map[string]string `json:"bases"`               // base URL by API
	Routing  string            `json:"routing"`
	Fallback []string          `json:"fallback,omitempty"`
	Proxy    string            `json:"proxy,omitempty"`
	Headers  []string          `json:"headers,omitempty"` // their names
	KeysURL  string            `json:"keys_url,omitempty"`
	Models   int               `json:"models"`
	From     ModelsFrom        `json:"models_from"`
	Keys     []Key             `json:"keys"`
}

// ModelsFrom says where a provider's list of models comes from.
type ModelsFrom string

// Where a list of models comes from.
const (
	FromConfig  ModelsFrom = "config"
	FromVendor  ModelsFrom = "vendor"  // fetched
	FromPreset  ModelsFrom = "preset"  // known of a vendor that has none to fetch
	FromNowhere ModelsFrom = "nowhere" // not fetched yet, or there is none
)

// Key is one key or account of a provider, masked.
type Key struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`             // account, key, provider
	Source    string   `json:"source,omitempty"` // "env NAME", "file PATH", "command", "value"; "" = none is needed
	Masked    string   `json:"masked,omitempty"`
	Protocol  string   `json:"protocol,omitempty"`
	Models    []string `json:"models,omitempty"` // the only ones it serves
	Off       bool     `json:"off,omitempty"`
	State     State    `json:"state"`
	Error     string   `json:"error,omitempty"` // why it has no secret
	Plan      string   `json:"plan,omitempty"`
	Balance   string   `json:"balance,omitempty"`
	ReadError string   `json:"read_error,omitempty"` // why what is left could not be read
}

// Models is a provider's list of models.
type Models struct {
	Provider string      `json:"provider"`
	From     ModelsFrom  `json:"from"`
	Models   []ModelInfo `json:"models"`
}

// ModelInfo is one model with all that is known of it; zero and absent is unknown.
type ModelInfo struct {
	ID        string      `json:"id"`
	Name      string      `json:"name,omitempty"`
	APIs      []string    `json:"apis"` // on which the provider serves it
	Context   int         `json:"context,omitempty"`
	MaxOutput int         `json:"max_output,omitempty"`
	Inputs    []string    `json:"inputs,omitempty"`
	Efforts   []string    `json:"efforts,omitempty"`
	Price     *ModelPrice `json:"price,omitempty"`
}

// ModelPrice is in USD per million tokens, as decimals; "" is unknown.
type ModelPrice struct {
	Input      string `json:"input,omitempty"`
	Output     string `json:"output,omitempty"`
	CacheRead  string `json:"cache_read,omitempty"`
	CacheWrite string `json:"cache_write,omitempty"`
}

// KeyTest says how a vendor took one key.
type KeyTest struct {
	Key    string    `json:"key"` // its id
	OK     bool      `json:"ok"`
	Status int       `json:"status,omitempty"`
	MS     int64     `json:"ms"`
	Models int       `json:"models,omitempty"` // in the list that it gave
	Fail   Kind      `json:"fail,omitempty"`
	Error  string    `json:"error,omitempty"`
	At     time.Time `json:"at"`
}
