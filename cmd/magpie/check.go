package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"dev.magpie/config"
	"dev.magpie/provider"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/theme"
)

// loadConfig reads a config file. When it does not fit the schema, what it names is checked as well, so that
// all complaints come at once; a mistake in the syntax is told alone.
func loadConfig(path string, themes fs.FS) (*config.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return loadText(path, data, themes)
}

// loadText is loadConfig of a text that is, or would be, a file's.
func loadText(path string, data []byte, themes fs.FS) (*config.Config, error) {
	cfg, err := config.Parse(path, data)
	if err == nil {
		return cfg, nil
	}
	part, problems := config.Partial(path, data)
	if part == nil {
		return nil, err
	}
	sound(part, problems)
	_, more := provider.Build(part)
	return nil, &config.Errors{Problems: screenProblems(part, themes, append(problems, more...))}
}

// sound leaves the providers alone in which nothing is wrong: of the others, and of groups that may name
// them, one mistake would be told in several ways.
func sound(cfg *config.Config, problems []config.Problem) {
	var tables []int // where each begins
	for _, p := range cfg.Providers {
		tables = append(tables, p.Pos.Line)
	}
	for _, g := range cfg.Groups {
		tables = append(tables, g.Pos.Line)
	}
	slices.Sort(tables)
	bad := map[int]bool{}
	for _, p := range problems {
		if i, _ := slices.BinarySearch(tables, p.Line+1); i > 0 {
			bad[tables[i-1]] = true
		}
	}
	cfg.Providers = slices.DeleteFunc(cfg.Providers, func(p config.Provider) bool { return bad[p.Pos.Line] })
	cfg.Groups = nil
}

// check holds a config against everything that it names: presets and regions, the screen's commands and
// keys, themes. All complaints come at once, in the order of the file.
func check(cfg *config.Config, themes fs.FS) (*provider.Catalog, error) {
	cat, problems := provider.Build(cfg)
	if problems = screenProblems(cfg, themes, problems); len(problems) > 0 {
		return nil, &config.Errors{Problems: problems}
	}
	return cat, nil
}

// screenProblems adds what is wrong with keys and themes, and puts all in the order of the file.
func screenProblems(cfg *config.Config, themes fs.FS, problems []config.Problem) []config.Problem {
	problems = append(problems, keyProblems(cfg)...)
	unknown, broken := themeProblems(cfg, themes)
	problems = append(problems, unknown...)
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return a.Line - b.Line })
	return append(problems, broken...)
}

func keyProblems(cfg *config.Config) []config.Problem {
	var faults keys.Faults
	if _, err := keys.New(cfg.Keys, false); !errors.As(err, &faults) {
		return nil
	}
	var problems []config.Problem
	for _, f := range faults {
		text := f.Text
		if other := cfg.KeysPos[f.Other]; f.Other != "" && other.Line > 0 {
			text += fmt.Sprintf(" (the other is in line %d)", other.Line)
		}
		problems = append(problems, cfg.Problem(cfg.KeysPos[f.ID], text, f.Hint))
	}
	return problems
}

// themeProblems tells themes that there are not, and what is wrong in the files of those that there are.
func themeProblems(cfg *config.Config, themes fs.FS) (unknown, broken []config.Problem) {
	for _, id := range []string{cfg.Theme.Name, cfg.Theme.Dark, cfg.Theme.Light} {
		if id == "" || id == "auto" {
			continue
		}
		_, err := theme.Load(id, themes)
		var bad *config.Errors
		switch {
		case errors.As(err, &bad):
			broken = append(broken, bad.Problems...)
		case err != nil:
			unknown = append(unknown, cfg.Problem(cfg.ThemePos, err.Error(), ""))
		}
	}
	return unknown, broken
}
