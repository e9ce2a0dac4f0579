package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dev.magpie/gateway/wire"
)

// mostModels bounds what is kept of one vendor's list.
const mostModels = 10_000

// ParseModels reads a vendor's list of models: OpenAI's and Anthropic's `data`, Gemini's and
// Ollama's `models`, or a bare array. The API says what a shared field means. Entries
// without a usable id, and repeats, are left out.
func ParseModels(api wire.Protocol, body []byte) ([]Model, error) {
	entries, err := listEntries(body)
	if err != nil {
		return nil, fmt.Errorf("read the list of models: %w", err)
	}
	var models []Model
	seen := make(map[string]bool, len(entries))
	for _, raw := range entries {
		var e listEntry
		if json.Unmarshal(raw, &e) != nil {
			continue // one bad entry does not cost the others
		}
		m, ok := e.model(api)
		if !ok || seen[m.ID] {
			continue
		}
		seen[m.ID] = true
		models = append(models, m)
		if len(models) == mostModels {
			break
		}
	}
	return models, nil
}

func listEntries(body []byte) ([]json.RawMessage, error) {
	var bare []json.RawMessage
	if json.Unmarshal(body, &bare) == nil && bare != nil {
		return bare, nil
	}
	var list struct {
		Data   *[]json.RawMessage `json:"data"`
		Models *[]json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, errors.New("it is not JSON of that shape")
	}
	switch {
	case list.Data != nil:
		return *list.Data, nil
	case list.Models != nil:
		return *list.Models, nil
	}
	return nil, errors.New("it has neither data nor models")
}

// listEntry is every vendor's entry at once; fields that a vendor lacks stay empty.
type listEntry struct {
	ID          text `json:"id"`
	Name        text `json:"name"`  // Gemini's `models/<id>`, Ollama's id, elsewhere a name for people
	Model       text `json:"model"` // Ollama's id
	Slug        text `json:"slug"`
	DisplayName text `json:"display_name"`
	GeminiName  text `json:"displayName"`

	ContextWindow count `json:"context_window"`
	ContextLength count `json:"context_length"`
	MaxModelLen   count `json:"max_model_len"`
	MaxInput      count `json:"max_input_tokens"`
	InputLimit    count `json:"inputTokenLimit"`
	MaxOutput     count `json:"max_output_tokens"`
	MaxCompletion count `json:"max_completion_tokens"`
	MaxTokens     count `json:"max_tokens"` // Anthropic's longest reply; elsewhere unclear
	OutputLimit   count `json:"outputTokenLimit"`
	TopProvider   top   `json:"top_provider"`
	Architecture  kinds `json:"architecture"`
	Modalities    kinds `json:"modalities"`
	Endpoints     words `json:"supported_endpoints"`
	Native        words `json:"native_endpoints"`
	Levels        words `json:"supported_reasoning_levels"`
	GeminiMethods words `json:"supportedGenerationMethods"`
	Pricing       rates `json:"pricing"`
}

func (e *listEntry) model(api wire.Protocol) (Model, bool) {
	m := Model{ID: e.id(api), Name: first(e.DisplayName, e.GeminiName)}
	if !usableID(m.ID) || !e.GeminiMethods.allow("generateContent", "embedContent") {
		return Model{}, false
	}
	if m.Name == "" && e.ID != "" && e.Name != e.ID {
		m.Name = string(e.Name)
	}
	m.Context = firstCount(e.ContextWindow, e.ContextLength, e.MaxModelLen, e.MaxInput, e.InputLimit, e.TopProvider.Context)
	m.MaxOutput = firstCount(e.MaxOutput, e.MaxCompletion, e.OutputLimit, e.TopProvider.Output)
	if api == wire.Messages && m.MaxOutput == 0 {
		m.MaxOutput = int(e.MaxTokens)
	}
	m.Inputs = e.Architecture.Input
	if len(m.Inputs) == 0 {
		m.Inputs = e.Modalities.Input
	}
	m.Efforts = e.Levels
	m.APIs = endpointAPIs(e.Endpoints, e.Native)
	m.Price = e.Pricing.price()
	return m, true
}

func (e *listEntry) id(api wire.Protocol) string {
	id := first(e.ID, e.Slug)
	if id == "" {
		id = first(e.Model, e.Name)
	}
	if api == wire.Gemini || e.ID == "" {
		id = strings.TrimPrefix(id, "models/")
	}
	return strings.TrimSpace(id)
}

// usableID keeps what could break a path or a screen out of the lists.
func usableID(id string) bool {
	if id == "" || len(id) > 256 {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == unicode.ReplacementChar }) < 0
}

// endpointAPIs reads the paths that a list names per model; none known means nothing is known.
func endpointAPIs(lists ...words) []wire.Protocol {
	var apis []wire.Protocol
	for _, list := range lists {
		for _, path := range list {
			for _, api := range wire.Protocols {
				if strings.HasSuffix(path, endpointTails[api]) && !slices.Contains(apis, api) {
					apis = append(apis, api)
				}
			}
		}
	}
	return apis
}

var endpointTails = map[wire.Protocol]string{
	wire.Chat: "/chat/completions", wire.Responses: "/responses",
	wire.Messages: "/messages", wire.Gemini: ":generateContent",
}

func first(all ...text) string {
	for _, t := range all {
		if t != "" {
			return string(t)
		}
	}
	return ""
}

func firstCount(all ...count) int {
	for _, n := range all {
		if n > 0 {
			return int(n)
		}
	}
	return 0
}

// The types below take what they can use of a field and nothing of one that is of another
// shape: lists of the same API differ between vendors.

type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if fits(b, &s) {
		*t = text(s)
	}
	return nil
}

type count int

func (n *count) UnmarshalJSON(b []byte) error {
	if f, ok := numberIn(b); ok && f > 0 && f <= 1e9 {
		*n = count(f)
	}
	return nil
}

type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if !fits(b, &raw) {
		return nil
	}
	for _, r := range raw {
		var s string
		var level struct {
			Effort string `json:"effort"`
		}
		if !fits(r, &s) && fits(r, &level) {
			s = level.Effort
		}
		if s != "" && len(*w) < 32 {
			*w = append(*w, s)
		}
	}
	return nil
}

// allow reports whether the list names one of these, or names nothing.
func (w words) allow(one ...string) bool {
	if len(w) == 0 {
		return true
	}
	return slices.ContainsFunc(one, func(s string) bool { return slices.Contains(w, s) })
}

type top struct{ Context, Output count }

func (t *top) UnmarshalJSON(b []byte) error {
	var v struct {
		Context count `json:"context_length"`
		Output  count `json:"max_completion_tokens"`
	}
	if fits(b, &v) {
		t.Context, t.Output = v.Context, v.Output
	}
	return nil
}

type kinds struct{ Input words }

func (k *kinds) UnmarshalJSON(b []byte) error {
	var v struct {
		Input      words `json:"input"`
		Modalities words `json:"input_modalities"`
	}
	if fits(b, &v) {
		k.Input = v.Input
		if len(k.Input) == 0 {
			k.Input = v.Modalities
		}
	}
	return nil
}

// rates are OpenRouter's: USD per token, as text.
type rates struct{ Prompt, Completion, CacheRead, CacheWrite *float64 }

func (r *rates) UnmarshalJSON(b []byte) error {
	var v map[string]json.RawMessage
	if !fits(b, &v) {
		return nil
	}
	r.Prompt, r.Completion = perMillion(v["prompt"]), perMillion(v["completion"])
	r.CacheRead, r.CacheWrite = perMillion(v["input_cache_read"]), perMillion(v["input_cache_write"])
	return nil
}

func perMillion(raw json.RawMessage) *float64 {
	f, ok := numberIn(raw)
	if !ok || !(f >= 0 && f < 1) {
		return nil // less than nothing stands for "it depends"
	}
	f *= 1e6
	return &f
}

func (r rates) price() *Price {
	if r.Prompt == nil && r.Completion == nil {
		return nil
	}
	return &Price{Input: r.Prompt, Output: r.Completion, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite}
}

// numberIn reads a number, or one in quotes.
func numberIn(raw []byte) (float64, bool) {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	return f, err == nil
}

// fits reads a field into v, and reports whether it was of that shape.
func fits(raw []byte, v any) bool { return json.Unmarshal(raw, v) == nil }
