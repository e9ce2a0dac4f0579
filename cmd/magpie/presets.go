package main

import (
	"fmt"
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

func (p *process) presets(all []provider.Preset) error {
	t := newTable(column{head: "PRESET"}, column{head: "NAME", gives: true}, column{head: "KIND"}, column{head: "APIS"}, column{head: "KEY IN", gives: true}, column{head: "CHECKED"})
	for i := range all {
		one := &all[i]
		region, _ := one.Region("")
		var speaks []string
		for _, api := range region.APIs() {
			speaks = append(speaks, string(api[:1])) // c r m g
		}
		apis := strings.Join(speaks, "")
		if one.NeedsBase {
			apis = "yours"
		}
		t.row(one.ID, one.Name, string(one.Kind), apis, strings.Join(one.Env, " "), one.Checked)
	}
	if err := t.write(p.out); err != nil {
		return err
	}
	return p.printf("\n%s: APIs by their first letters: chat responses messages gemini\n", fmt.Sprint(count(len(all), "preset")))
}
