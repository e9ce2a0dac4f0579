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
	"sync/atomic"

	"dev.magpie/config"
	"dev.magpie/provider"
	"dev.magpie/provider/vendors/claude"
)

// source is where a gateway's config comes from: a file, or what is found on the machine.
type source struct {
	p        *process
	paths    config.Paths
	text     string // of a demo, instead of any file
	noDetect bool
	had      atomic.Bool // there was a file
}

// settings are a config that was checked, with the catalogue that it makes.
type settings struct {
	cfg    *config.Config
	cat    *provider.Catalog
	found  []string // what was found on the machine, where the config names no provider
	shown  bool     // others on the machine can read the keys in it
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
			Getenv: s.p.getenv, Home: s.p.home, Stat: os.Stat, Read: os.ReadFile,
			Claude: func() bool { return claude.Find(s.p.getenv("PATH"), s.p.home) != "" },
			Probe:  provider.ProbeWith(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}),
		})
		cfg.Providers, set.found = found.Providers, words
	}
	set.cat, err = check(cfg, s.themes())
	if err != nil {
		return nil, err
	}
	set.cat.Detected = set.looked
	set.shown = s.text == "" && readable(cfg)
	return set, nil
}

func (s *source) parse() (*config.Config, error) {
	if s.text != "" {
		return config.Parse("demo", []byte(s.text))
	}
	cfg, err := loadConfig(s.paths.Config, s.themes())
	var bad *config.Errors
	switch {
	case err == nil, errors.As(err, &bad):
		s.had.Store(true)
		return cfg, err
	case !errors.Is(err, fs.ErrNotExist):
		s.had.Store(true)
		return nil, unreadable("the config", s.paths.Config, err)
	}
	if s.had.Load() { // whoever wants none of it any more starts magpie anew
		return nil, fmt.Errorf("%s is gone", s.paths.Config)
	}
	return config.Default(), nil
}

// themes is the folder of the person's own themes.
func (s *source) themes() fs.FS { return os.DirFS(s.paths.Themes) }

// readable says whether a config with keys in it can be read by others than its owner.
func readable(cfg *config.Config) bool {
	info, err := os.Stat(cfg.Path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return false
	}
	return slices.ContainsFunc(cfg.Providers, func(p config.Provider) bool {
		return slices.ContainsFunc(p.Keys, func(k config.Key) bool { return k.Value != "" })
	})
}

// warnings are what the person should know of a config that is good.
func (s *settings) warnings() []string {
	var all []string
	if unserved := s.cfg.Unserved(); len(unserved) > 0 {
		all = append(all, "the config asks for what this version does not carry out: "+strings.Join(unserved, ", "))
	}
	all = append(all, s.cfg.Idle()...)
	if s.shown {
		all = append(all, "others on this machine can read the keys in "+s.cfg.Path+": chmod 600 it")
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
