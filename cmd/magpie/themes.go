package main

import (
	"os"

	"github.com/spf13/cobra"

	"dev.magpie/tui/theme"
)

// themeRow is a theme as it is listed.
type themeRow struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Variant string `json:"variant"`
	Pair    string `json:"pair,omitempty"`
	Error   string `json:"error,omitempty"`
}

func (p *process) themesCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "themes",
		Short: "List the themes of the screen, yours among them",
		Args:  arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			own := os.DirFS(p.paths().Themes)
			var rows []themeRow
			for _, id := range theme.IDs(own) {
				t, err := theme.Load(id, own)
				if err != nil {
					rows = append(rows, themeRow{ID: id, Error: err.Error()})
					continue
				}
				rows = append(rows, themeRow{ID: id, Name: t.Name, Variant: t.Variant.String(), Pair: t.Pair})
			}
			if o.json {
				return p.json(map[string]any{"themes": rows}, nil)
			}
			return p.themes(rows)
		},
	})
}

func (p *process) themes(rows []themeRow) error {
	t := newTable(column{head: "THEME"}, column{head: "NAME", gives: true}, column{head: "FOR"}, column{head: "OTHER HALF", rank: 1})
	for _, r := range rows {
		if r.Error != "" {
			t.row(r.ID, "can't be used: "+r.Error)
			continue
		}
		t.row(r.ID, r.Name, r.Variant, r.Pair)
	}
	return p.table(t)
}
