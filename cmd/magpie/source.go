package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"dev.magpie/config"
	"dev.magpie/provider"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/theme"
)

// source is where a gateway's config comes from: a file, or what is found on the machine.
type source struct {
	p        *process
	paths    config.Paths
	text     string // of a demo, instead of any file
	noDetect bool
}

// settings are a config that was checked, with the catalogue that it makes.
type settings struct {
	cfg    *config.Config
	cat    *provider.Catalog
	found  []string // what was found on the machine, where the config names no provider
	looked bool
}

// read reads and checks the config. What is wrong with it is a *config.Errors.
func (s *source) read(ctx context.Context) (*settings, error) {
	cfg, err := s.parse()
	if err != nil {
		return nil, err
	}
	set := &settings{cfg: cfg}
	if s.text == "" && len(cfg.Providers) == 0 && !cfg.NoDetect && !s.noDetect {
		set.looked = true
		found, words := provider.Detect(ctx, provider.DetectOptions{
			Getenv: s.p.getenv, Home: s.p.home, Stat: os.Stat, Probe: provider.ProbeWith(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}),
		})
		cfg.Providers, set.found = found.Providers, words
	}
	set.cat, err = check(cfg, s.themes())
	if err != nil {
		return nil, err
	}
	set.cat.Detected = set.looked
	return set, nil
}

func (s *source) parse() (*config.Config, error) {
	if s.text != "" {
		return config.Parse("demo", []byte(s.text))
	}
	cfg, err := config.Load(s.paths.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return config.Default(), nil
	}
	return cfg, err
}

// themes is the folder of the person's own themes.
func (s *source) themes() fs.FS { return os.DirFS(s.paths.Themes) }

// check holds a config against everything that it names: presets and regions, the screen's commands and
// keys, themes. All complaints come at once, in the order of the file.
func check(cfg *config.Config, themes fs.FS) (*provider.Catalog, error) {
	cat, problems := provider.Build(cfg)
	problems = append(problems, keyProblems(cfg)...)
	unknown, broken := themeProblems(cfg, themes)
	problems = append(problems, unknown...)
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return a.Line - b.Line })
	if problems = append(problems, broken...); len(problems) > 0 {
		return nil, &config.Errors{Problems: problems}
	}
	return cat, nil
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

// warnings are what the person should know of a config that is good.
func (s *settings) warnings() []string {
	var all []string
	if unserved := s.cfg.Unserved(); len(unserved) > 0 {
		all = append(all, "the config asks for what this version does not carry out: "+strings.Join(unserved, ", "))
	}
	return all
}

// news says where the config came from.
func (s *settings) news(path string) []string {
	if !s.looked {
		return nil
	}
	if len(s.found) == 0 {
		return []string{"no provider in " + path + ", and none found on this machine: set ANTHROPIC_API_KEY or another vendor's variable, or write the file"}
	}
	return []string{"no provider in " + path + ": using what was found: " + strings.Join(s.found, "; ")}
}
