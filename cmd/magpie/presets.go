package main

import (
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/provider"
)

// presetRow is a row of the catalogue as it is listed.
type presetRow struct {
	ID      string              `json:"id"`
	Name    string              `json:"name"`
	Kind    provider.PresetKind `json:"kind"`
	Env     []string            `json:"env,omitempty"`
	Regions []provider.Region   `json:"regions"`
	KeysURL string              `json:"keys_url,omitempty"`
	Notes   []string            `json:"notes,omitempty"`
	Checked string              `json:"checked"`
	Source  string              `json:"source"`
}

func (p *process) presetsCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "presets",
		Short: "List the vendors that magpie knows addresses and habits of",
		Long:  "A table [providers.<id>] in the config that is called like a preset takes its addresses and habits from there: keys are all it needs.",
		Args:  arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			all := provider.Presets()
			if o.json {
				rows := make([]presetRow, len(all))
				for i, one := range all {
					rows[i] = presetRow{one.ID, one.Name, one.Kind, one.Env, one.Regions, one.KeysURL, one.Notes, one.Checked, one.Source}
				}
				return p.json(map[string]any{"presets": rows}, nil)
			}
			return p.presets(all)
		},
	})
}

// presets prints a table for each kind.
func (p *process) presets(all []provider.Preset) error {
	for _, kind := range []struct {
		kind provider.PresetKind
		head string
	}{{provider.Vendor, "VENDOR"}, {provider.Relay, "RELAY"}, {provider.Local, "LOCAL SERVER"}, {provider.Subscription, "SUBSCRIPTION"}} {
		t := newTable(column{head: kind.head}, column{head: "NAME", gives: true}, column{head: "APIS"}, column{head: "KEY IN", gives: true, least: 24, rank: 1}, column{head: "CHECKED", rank: 2})
		for i := range all {
			if one := &all[i]; one.Kind == kind.kind {
				t.row(one.ID, one.Name, spoken(one), strings.Join(one.Env, " "), one.Checked)
			}
		}
		if err := p.table(t); err != nil {
			return err
		}
		if err := p.printf("\n"); err != nil {
			return err
		}
	}
	b := p.page()
	b.paragraph("APIS: chat, responses, messages, gemini by their first letters.")
	return p.put(b)
}

// spoken are the APIs of a preset's first region.
func spoken(one *provider.Preset) string {
	if one.NeedsBase {
		return "yours" // where the person says that they are
	}
	region, _ := one.Region("")
	var letters strings.Builder
	for _, api := range region.APIs() {
		letters.WriteString(string(api[:1]))
	}
	return letters.String()
}
