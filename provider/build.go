package provider

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"dev.magpie/config"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider/vendors/balance"
)

// Build makes the catalogue of what a config and the presets give together. What is wrong
// is returned in the order of the file's lines; a catalogue with problems is not to be used.
func Build(cfg *config.Config) (*Catalog, []config.Problem) {
	b := &builder{cfg: cfg, cat: &Catalog{Routing: cmp.Or(cfg.Routing, "smart"), Affinity: cmp.Or(cfg.Affinity, "auto"), Sink: cfg.Sink, AutoOff: !cfg.AutoGroups, Guess: cfg.GuessVendor}}
	for id, a := range cfg.Agents {
		if len(a.Tiers) > 0 {
			if b.cat.Tiers == nil {
				b.cat.Tiers = map[string]map[string]string{}
			}
			b.cat.Tiers[strings.ToLower(id)] = a.Tiers
		}
	}
	for i := range cfg.Providers {
		b.provider(&cfg.Providers[i])
	}
	for i := range cfg.Groups {
		b.group(&cfg.Groups[i])
	}
	b.cat.seal()
	slices.SortStableFunc(b.problems, func(x, y config.Problem) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col))
	})
	return b.cat, b.problems
}

type builder struct {
	cfg      *config.Config
	cat      *Catalog
	places   int // accounts so far
	problems []config.Problem
}

func (b *builder) problem(at config.Pos, text, hint string) {
	b.problems = append(b.problems, b.cfg.Problem(at, text, hint))
}

// provider makes one entry of the config's table and what its preset knows.
func (b *builder) provider(cp *config.Provider) {
	before := len(b.problems)
	preset, region := b.preset(cp)
	bases := b.bases(cp, preset, region)
	switch {
	case preset != nil && preset.ReadOnly != "":
		b.shownOnly(cp, preset, bases)
	case len(bases) == 0 && len(b.problems) == before:
		b.noBase(cp, preset)
	}
	p := &Provider{
		ID: cp.ID, Name: cmp.Or(cp.Name, cp.ID),
		Bases:   bases,
		Models:  models(cp.Models),
		Routing: cmp.Or(cp.Routing, b.cat.Routing), Affinity: cmp.Or(cp.Affinity, b.cat.Affinity),
		Sink: b.cfg.Sink, BalanceURL: cp.BalanceURL, BalancePath: cp.BalancePath, Proxy: cmp.Or(cp.Proxy, b.cfg.Proxy),
		Unlisted: cp.Unlisted, Off: cp.Off, Unmasked: cp.Unmasked,
		Rate:          cmp.Or(cp.PriceRate, 1),
		HeaderTimeout: cmp.Or(cp.HeaderTimeout, b.cfg.HeaderTimeout),
		StallTimeout:  cmp.Or(cp.StallTimeout, b.cfg.StallTimeout),
		Place:         len(b.cat.Providers),
		priced:        true,
	}
	if cp.Sink != nil {
		p.Sink = *cp.Sink
	}
	for _, name := range slices.Sorted(maps.Keys(cp.Headers)) {
		p.Headers = append(p.Headers, Header{Name: name, Value: cp.Headers[name]})
	}
	if preset != nil {
		p.take(preset, region)
		p.Name = cmp.Or(cp.Name, preset.Name)
	}
	if cp.Searches {
		p.Dialect.Searches = append(slices.Clip(p.Dialect.Searches), wire.Messages, wire.Responses)
	}
	if p.BalancePath != "" {
		if _, err := balance.Compile(p.BalancePath); err != nil {
			b.problem(cp.BalancePos, "provider "+cp.ID+": "+err.Error(), "write it like $data.balance or $data.quota / 500000")
		}
	}
	p.Local = allLoopback(p.Bases)
	p.Auth = auth(p.Bases, preset)
	p.Fallback = b.fallback(cp)
	b.accounts(p, cp, preset)
	b.cat.Providers = append(b.cat.Providers, p)
}

// preset finds the row that a table takes: the one it names, else the one it is named like.
func (b *builder) preset(cp *config.Provider) (*Preset, Region) {
	if cp.NoPreset || cp.Preset == "" && !known(cp.ID) {
		if cp.Region != "" {
			b.problem(cp.RegionPos, "provider "+cp.ID+" has a region but no preset to choose it from", "")
		}
		return nil, Region{}
	}
	preset, at, ok := FindPreset(cmp.Or(cp.Preset, cp.ID))
	if !ok {
		b.problem(cp.PresetPos, "provider "+cp.ID+": there is no preset "+quote(cp.Preset), config.DidYouMean(cp.Preset, presetIDs()))
		return nil, Region{}
	}
	region, ok := preset.Region(cmp.Or(cp.Region, at))
	if !ok {
		ids := regionIDs(preset)
		text := "provider " + cp.ID + ": preset " + preset.ID + " has no region " + quote(cp.Region)
		if len(ids) > 0 {
			text += ", only " + strings.Join(ids, ", ")
		}
		b.problem(cp.RegionPos, text, config.DidYouMean(cp.Region, ids))
		region, _ = preset.Region("")
	}
	return preset, region
}

func known(id string) bool {
	_, _, ok := FindPreset(id)
	return ok
}

func regionIDs(p *Preset) []string {
	var ids []string
	for _, r := range p.Regions {
		if r.ID != "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// take copies what the preset knows. The vendor's habits follow it wherever its bases point.
func (p *Provider) take(preset *Preset, region Region) {
	p.Preset, p.Region = preset.ID, region.ID
	p.Dialect, p.Program, p.ReadOnly = preset.dialect(), preset.Program, preset.ReadOnly
	p.KeyOptional, p.KeysURL = preset.KeyOptional, preset.KeysURL
	p.NoList = preset.NoList || region.NoList
	p.list, p.begins = preset.List, preset.Begins
	p.rules = preset.APIs
	p.priced = preset.Kind != Local
	for _, id := range slices.Concat(preset.Models, region.Models) {
		p.Static = append(p.Static, Model{ID: id})
	}
}

func (p *Preset) dialect() wire.Dialect {
	d := p.Dialect
	return wire.Dialect{
		Vendor: p.Vendor, Unsupported: d.Unsupported, TokenField: d.TokenField, TokenModels: d.TokenModels,
		DeveloperRole: d.DeveloperRole, ReasoningField: d.ReasoningField, NoUsageOption: d.NoUsageOption,
		CacheKeys: d.CacheKeys, CacheMarks: d.CacheMarks, CacheBreaks: d.CacheBreaks, CustomTools: d.CustomTools,
		AllowedTools: d.AllowedTools, NoRequired: d.NoRequired, NoNamed: d.NoNamed, NoSchema: d.NoSchema, Searches: d.Searches,
		Tiers: d.Tiers, Switch: d.Switch, SwitchLevel: d.SwitchLevel, GiveBack: d.GiveBack, ReasoningLost: d.ReasoningLost,
		CallSeals: d.CallSeals, Details: d.Details, FunctionsOnly: d.FunctionsOnly, BareReasoning: d.BareReasoning,
		OwnParts: d.OwnParts, LooksUp: d.LooksUp, NoLoneChoice: d.NoLoneChoice, ThinkingOff: d.ThinkingOff,
		OpenAPI: d.OpenAPI, NoCallIDs: d.NoCallIDs, Grounds: d.Grounds,
	}
}

// bases puts the table's own addresses over the preset's; an empty one takes the API away.
func (b *builder) bases(cp *config.Provider, preset *Preset, region Region) map[wire.Protocol]string {
	bases := map[wire.Protocol]string{}
	for _, api := range wire.Protocols {
		if base := region.Base(api); base != "" {
			bases[api] = base
		}
	}
	given := b.given(cp)
	if preset != nil && preset.Root != nil {
		rooted(given, preset.Root)
	}
	for api, base := range given {
		bases[api] = base
		if base == "" {
			delete(bases, api)
		}
	}
	return bases
}

// given reads the table's own addresses, "" for an API that it takes away.
func (b *builder) given(cp *config.Provider) map[wire.Protocol]string {
	given := map[wire.Protocol]string{}
	for _, api := range wire.Protocols {
		raw, there := cp.Bases[string(api)]
		if !there {
			continue
		}
		if strings.TrimSpace(raw) == "" {
			given[api] = ""
			continue
		}
		base, err := NormalBase(api, raw)
		if err != nil {
			b.problem(cp.Pos, "provider "+cp.ID+": "+string(api)+" is not a usable address: "+err.Error(), "")
			continue
		}
		given[api] = base
	}
	return given
}

// shownOnly refuses addresses of a provider that is never asked for a reply: its sign-ins must not go there.
func (b *builder) shownOnly(cp *config.Provider, preset *Preset, bases map[wire.Protocol]string) {
	for _, api := range wire.Protocols {
		if bases[api] != "" {
			b.problem(cp.Pos, "provider "+cp.ID+" has an address of "+string(api)+", but its accounts are only shown: "+preset.ReadOnly, "take the address away")
			return
		}
	}
}

func (b *builder) noBase(cp *config.Provider, preset *Preset) {
	if preset != nil && preset.NeedsBase {
		b.problem(cp.Pos, "provider "+cp.ID+" needs its address, which preset "+preset.ID+" cannot know",
			"give one of "+strings.Join(needed(preset), ", "))
		return
	}
	b.problem(cp.Pos, "provider "+cp.ID+" has no address of any API",
		"give one of chat, responses, messages, gemini, or a preset (magpie presets lists them)")
}

func needed(preset *Preset) []string {
	var apis []string
	for _, api := range wire.Protocols {
		if _, ok := preset.Root[api]; ok || preset.Root == nil {
			apis = append(apis, string(api))
		}
	}
	return apis
}

// rooted fills in, for a preset whose host the person gives, the APIs that they left out:
// each is the host and what the preset adds to it.
func rooted(given, root map[wire.Protocol]string) {
	host := ""
	for _, api := range wire.Protocols {
		tail, ok := root[api]
		base := given[api]
		if !ok || base == "" {
			continue
		}
		cut, whole := strings.CutSuffix(base, tail)
		if !whole && hasPath(base) {
			continue // a path of their own: nothing else can be told from it
		}
		given[api] = cut + tail
		if host == "" {
			host = cut
		}
	}
	if host == "" {
		return
	}
	for api, tail := range root {
		if _, there := given[api]; !there {
			given[api] = host + tail
		}
	}
}

func hasPath(base string) bool {
	_, rest, _ := strings.Cut(base, "://")
	return strings.Contains(rest, "/")
}

func auth(bases map[wire.Protocol]string, preset *Preset) map[wire.Protocol]AuthStyle {
	styles := make(map[wire.Protocol]AuthStyle, len(bases))
	for api := range bases {
		styles[api] = ownAuth(api)
		if preset != nil && preset.Auth[api] != "" {
			styles[api] = preset.Auth[api]
		}
	}
	return styles
}

// fallback reads the models to fall back to. One that names nothing is passed over when
// it is needed, so only its form is checked.
func (b *builder) fallback(cp *config.Provider) []Ref {
	var refs []Ref
	for i, s := range cp.Fallback {
		at := place(cp.FallbackPos, i, cp.Pos)
		r, err := ParseRef(s)
		switch {
		case err != nil:
			b.problem(at, "provider "+cp.ID+": fallback "+err.Error(), "")
		case r.Group != "":
			b.problem(at, "provider "+cp.ID+": fallback "+quote(s)+" is a group", "a fallback is provider/model")
		default:
			refs = append(refs, b.whole(r))
		}
	}
	return refs
}

// whole puts an effort back into a model's id where the provider's list has the id that way.
func (b *builder) whole(r Ref) Ref {
	if r.Effort == "" {
		return r
	}
	i := slices.IndexFunc(b.cfg.Providers, func(p config.Provider) bool { return p.ID == r.Provider })
	if i < 0 {
		return r
	}
	id := r.Model + ":" + r.Effort
	if slices.ContainsFunc(b.cfg.Providers[i].Models, func(m config.Model) bool { return m.ID == id }) {
		r.Model, r.Effort = id, ""
	}
	return r
}

func models(list []config.Model) []Model {
	out := make([]Model, 0, len(list))
	for _, m := range list {
		out = append(out, Model{
			ID: m.ID, APIs: apis(m.APIs), Context: m.Context, MaxOutput: m.MaxOutput,
			Inputs: m.Inputs, Efforts: m.Efforts, Price: ownPrice(m.Price),
		})
	}
	return out
}

func apis(words []string) []wire.Protocol {
	var out []wire.Protocol
	for _, w := range words {
		out = append(out, wire.Protocol(w))
	}
	return out
}

// ownPrice takes a price as the person wrote it; a part that they left out costs nothing.
func ownPrice(p *config.Price) *Price {
	if p == nil {
		return nil
	}
	c := *p
	return &Price{Input: &c.Input, Output: &c.Output, CacheRead: &c.CacheRead, CacheWrite: &c.CacheWrite, Own: true}
}
