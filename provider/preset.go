package provider

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"dev.magpie/gateway/wire"
)

//go:embed catalog.json
var catalogJSON []byte

// PresetKind says what stands behind a preset.
type PresetKind string

// What stands behind a preset.
const (
	Vendor       PresetKind = "vendor"       // the maker of its models
	Relay        PresetKind = "relay"        // passes requests on to makers
	Local        PresetKind = "local"        // a server on this machine
	Subscription PresetKind = "subscription" // a signed-in program's account
)

// Preset is one row of the catalogue: what is known of a vendor's endpoints and habits.
type Preset struct {
	ID          string                      `json:"id"`
	Name        string                      `json:"name"`
	Kind        PresetKind                  `json:"kind"`
	Vendor      string                      `json:"vendor"`            // the word that failure rows and dialects know it by
	Begins      []string                    `json:"begins,omitempty"`  // how its own models' names begin, in small letters
	Aliases     []Alias                     `json:"aliases,omitempty"` // ids it had before
	Regions     []Region                    `json:"regions"`           // the first is the default
	Root        map[wire.Protocol]string    `json:"root,omitempty"`    // the person gives the address: what each API adds to it
	NeedsBase   bool                        `json:"needs_base,omitempty"`
	Program     string                      `json:"program,omitempty"`   // that is run for its requests; there is no address to send them to
	ReadOnly    string                      `json:"read_only,omitempty"` // why its accounts are shown and never asked for a reply
	Env         []string                    `json:"env,omitempty"`       // conventional variables of its key
	KeyOptional bool                        `json:"key_optional,omitempty"`
	Auth        map[wire.Protocol]AuthStyle `json:"auth,omitempty"` // where it differs from the API's own way
	Dialect     PresetDialect               `json:"dialect,omitzero"`
	APIs        []APIRule                   `json:"apis,omitempty"` // which models on which APIs, the first that fits
	List        string                      `json:"list,omitempty"` // where the model list is, when not under a base
	NoList      bool                        `json:"no_list,omitempty"`
	Models      []string                    `json:"models,omitempty"` // known to be there, for a vendor without a list
	Detect      bool                        `json:"detect,omitempty"` // looked for on this machine when there is no config
	KeysURL     string                      `json:"keys_url,omitempty"`
	Notes       []string                    `json:"notes,omitempty"`
	Checked     string                      `json:"checked"` // the day on which the row was checked
	Source      string                      `json:"source"`
	Unsure      []string                    `json:"unsure,omitempty"` // fields that common knowledge alone vouches for
}

// PresetDialect is the part of wire.Dialect that a preset gives.
type PresetDialect struct {
	Unsupported    []string `json:"unsupported,omitempty"`
	TokenField     string   `json:"token_field,omitempty"`
	TokenModels    []string `json:"token_models,omitempty"`
	DeveloperRole  bool     `json:"developer_role,omitempty"`
	ReasoningField string   `json:"reasoning_field,omitempty"`
	NoUsageOption  bool     `json:"no_usage_option,omitempty"`

	CacheKeys     bool            `json:"cache_keys,omitempty"`
	CacheMarks    bool            `json:"cache_marks,omitempty"`
	CacheBreaks   []string        `json:"cache_breaks,omitempty"`
	CustomTools   bool            `json:"custom_tools,omitempty"`
	AllowedTools  bool            `json:"allowed_tools,omitempty"`
	NoRequired    bool            `json:"no_required,omitempty"`
	NoNamed       bool            `json:"no_named,omitempty"`
	NoSchema      bool            `json:"no_schema,omitempty"`
	Searches      []wire.Protocol `json:"searches,omitempty"`
	Tiers         bool            `json:"tiers,omitempty"`
	Switch        wire.Switch     `json:"switch,omitempty"`
	SwitchLevel   bool            `json:"switch_level,omitempty"`
	GiveBack      wire.GiveBack   `json:"give_back,omitempty"`
	ReasoningLost string          `json:"reasoning_lost,omitempty"`
	CallSeals     []string        `json:"call_seals,omitempty"`
	Details       bool            `json:"details,omitempty"`
	FunctionsOnly bool            `json:"functions_only,omitempty"`
	BareReasoning bool            `json:"bare_reasoning,omitempty"`
	OwnParts      bool            `json:"own_parts,omitempty"`
	LooksUp       bool            `json:"looks_up,omitempty"`
	NoLoneChoice  bool            `json:"no_lone_choice,omitempty"`
	ThinkingOff   bool            `json:"thinking_off,omitempty"`
	OpenAPI       bool            `json:"open_api,omitempty"`
	NoCallIDs     bool            `json:"no_call_ids,omitempty"`
	Grounds       bool            `json:"grounds,omitempty"`
}

// Region is one choice of base addresses inside a preset.
type Region struct {
	ID        string   `json:"id,omitempty"` // "" where there is but one
	Chat      string   `json:"chat,omitempty"`
	Responses string   `json:"responses,omitempty"`
	Messages  string   `json:"messages,omitempty"` // the root: /v1/messages comes behind it
	Gemini    string   `json:"gemini,omitempty"`
	NoList    bool     `json:"no_list,omitempty"` // this region alone has no list
	Models    []string `json:"models,omitempty"`
	Note      string   `json:"note,omitempty"`
}

// Alias is an id that a preset, or one region of it, had before.
type Alias struct {
	ID     string `json:"id"`
	Region string `json:"region,omitempty"`
}

// APIRule says on which APIs models are served whose ids contain a word; "" is every model.
type APIRule struct {
	Has  string          `json:"has"`
	APIs []wire.Protocol `json:"apis"`
}

// Base returns the region's base of an API, "" when it does not speak it.
func (r Region) Base(api wire.Protocol) string {
	switch api {
	case wire.Chat:
		return r.Chat
	case wire.Responses:
		return r.Responses
	case wire.Messages:
		return r.Messages
	case wire.Gemini:
		return r.Gemini
	}
	return ""
}

// APIs lists the APIs that the region speaks, in the order in which they are shown.
func (r Region) APIs() []wire.Protocol {
	var apis []wire.Protocol
	for _, api := range wire.Protocols {
		if r.Base(api) != "" {
			apis = append(apis, api)
		}
	}
	return apis
}

// Region returns the region of that id; "" is the default.
func (p *Preset) Region(id string) (Region, bool) {
	if id == "" && len(p.Regions) > 0 {
		return p.Regions[0], true
	}
	i := slices.IndexFunc(p.Regions, func(r Region) bool { return r.ID == id })
	if i < 0 {
		return Region{}, false
	}
	return p.Regions[i], true
}

// Sure reports whether more than common knowledge vouches for a field of the row.
func (p *Preset) Sure(field string) bool { return !slices.Contains(p.Unsure, field) }

type catalogue struct {
	presets []Preset
	byID    map[string]*Preset
	aliases map[string]aliased
}

type aliased struct {
	preset *Preset
	region string
}

// The catalogue is decoded at its first use: a start that needs no preset does not pay for it.
var loadCatalogue = sync.OnceValue(func() *catalogue {
	c, err := decodeCatalogue(catalogJSON)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return c
})

func decodeCatalogue(data []byte) (*catalogue, error) {
	c := &catalogue{byID: map[string]*Preset{}, aliases: map[string]aliased{}}
	if err := strictJSON(data, &c.presets); err != nil {
		return nil, fmt.Errorf("read the catalogue: %w", err)
	}
	for i := range c.presets {
		p := &c.presets[i]
		if c.byID[p.ID] != nil {
			return nil, fmt.Errorf("the catalogue has two rows %q", p.ID)
		}
		c.byID[p.ID] = p
		for _, a := range p.Aliases {
			c.aliases[a.ID] = aliased{preset: p, region: a.Region}
		}
	}
	return c, nil
}

func strictJSON(data []byte, into any) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// Presets returns the catalogue's rows in its order. They must not be changed.
func Presets() []Preset { return loadCatalogue().presets }

// FindPreset returns the preset of that id or earlier id, and the region that an earlier id stood for.
func FindPreset(id string) (preset *Preset, region string, ok bool) {
	c := loadCatalogue()
	if p := c.byID[id]; p != nil {
		return p, "", true
	}
	a, ok := c.aliases[id]
	return a.preset, a.region, ok
}

func presetIDs() []string {
	presets := Presets()
	ids := make([]string, len(presets))
	for i := range presets {
		ids[i] = presets[i].ID
	}
	return ids
}
