package provider

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"dev.magpie/gateway/wire"
)

//go:embed models.json
var modelsJSON []byte

// Fact is one row of the table of models: what its maker says of it. Null is unknown.
type Fact struct {
	ID      string          `json:"id"` // as its maker writes it
	Also    []string        `json:"also,omitempty"`
	Vendor  string          `json:"vendor"` // the maker's word, as in the catalogue
	Name    string          `json:"name"`
	Context int             `json:"context"`
	Output  int             `json:"output"`
	Inputs  []string        `json:"inputs"`
	Efforts []string        `json:"efforts"`
	APIs    []wire.Protocol `json:"apis"` // at its maker
	Price   *FactPrice      `json:"price"`
	Checked string          `json:"checked"`
	Source  string          `json:"source"`
	Note    string          `json:"note,omitempty"`
}

// FactPrice is a price of the table, in USD per million tokens.
type FactPrice struct {
	Input      *float64   `json:"input"`
	Output     *float64   `json:"output"`
	CacheRead  *float64   `json:"cache_read"`
	CacheWrite *float64   `json:"cache_write"`
	Hour       *float64   `json:"cache_write_hour,omitempty"`
	Over       int64      `json:"over,omitempty"` // input tokens above which Long holds
	Long       *FactPrice `json:"long,omitempty"`
}

func (p *FactPrice) price() *Price {
	if p == nil {
		return nil
	}
	return &Price{
		Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite,
		CacheWriteHour: p.Hour, Over: p.Over, Long: p.Long.price(),
	}
}

type modelTable struct {
	facts  []Fact
	bySlug map[string][]int
}

var loadTable = sync.OnceValue(func() *modelTable {
	t, err := decodeTable(modelsJSON)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return t
})

func decodeTable(data []byte) (*modelTable, error) {
	t := &modelTable{bySlug: map[string][]int{}}
	if err := strictJSON(data, &t.facts); err != nil {
		return nil, fmt.Errorf("read the table of models: %w", err)
	}
	for i, f := range t.facts {
		for _, id := range append([]string{f.ID}, f.Also...) {
			slug := Slug(id)
			for _, j := range t.bySlug[slug] {
				if t.facts[j].Vendor == f.Vendor {
					return nil, fmt.Errorf("the table of models has %q of %s twice", id, f.Vendor)
				}
			}
			t.bySlug[slug] = append(t.bySlug[slug], i)
		}
	}
	return t, nil
}

// Facts returns the rows of the table of models in its order. They must not be changed.
func Facts() []Fact { return loadTable().facts }

// Lookup returns what the table knows of a model: of the vendor's own row where there is
// one, else of its maker's. Dates, long-context marks, vendor prefixes and Bedrock's
// spelling in the id do not matter; a variant behind a colon has its base's sizes and no price.
func Lookup(vendor, model string) (Model, bool) {
	slug := Slug(plainID(model))
	if m, ok := loadTable().find(vendor, slug); ok {
		return m, true
	}
	base, _, variant := strings.Cut(slug, ":")
	if !variant {
		return Model{}, false
	}
	m, ok := loadTable().find(vendor, base)
	m.Price = nil
	return m, ok
}

func (t *modelTable) find(vendor, slug string) (Model, bool) {
	rows := t.bySlug[slug]
	if len(rows) == 0 {
		return Model{}, false
	}
	row := rows[0]
	for _, i := range rows {
		if t.facts[i].Vendor == vendor {
			row = i
		}
	}
	f := &t.facts[row]
	return Model{
		ID: f.ID, Name: f.Name, APIs: f.APIs, Context: f.Context, MaxOutput: f.Output,
		Inputs: f.Inputs, Efforts: f.Efforts, Price: f.Price.price(),
	}, true
}

// plainID takes Bedrock's spelling off an id: `global.anthropic.claude-x-20260101-v1:0`.
func plainID(model string) string {
	_, rest, found := strings.Cut(model, "anthropic.")
	if !found {
		return model
	}
	if i := strings.LastIndex(rest, "-v"); i > 0 && i+2 < len(rest) && isDigit(rest[i+2]) {
		rest = rest[:i]
	}
	return rest
}

// Fill returns the model with what it does not know taken from another.
func (m Model) Fill(from Model) Model {
	if m.Name == "" {
		m.Name = from.Name
	}
	if len(m.APIs) == 0 {
		m.APIs = from.APIs
	}
	if m.Context == 0 {
		m.Context = from.Context
	}
	if m.MaxOutput == 0 {
		m.MaxOutput = from.MaxOutput
	}
	if len(m.Inputs) == 0 {
		m.Inputs = from.Inputs
	}
	if len(m.Efforts) == 0 {
		m.Efforts = from.Efforts
	}
	if m.Price == nil {
		m.Price = from.Price
	}
	return m
}

// Model returns all that is known of one of the provider's models: first what the file says
// of it, then the vendor's fetched list, then the table. It always has the id asked for.
func (p *Provider) Model(id string, fetched *List) Model {
	m := Model{ID: id}
	plain := Unmarked(id)
	if i, ok := p.listed[plain]; ok {
		m = m.Fill(p.Models[i])
	}
	if f, ok := fetched.Model(plain); ok {
		m = m.Fill(f)
	}
	t, ok := Lookup(p.Dialect.Vendor, plain)
	if !ok {
		return m
	}
	t.APIs = nil // they are the maker's, not this provider's
	if !p.priced {
		t.Price = nil
	}
	return m.Fill(t)
}
