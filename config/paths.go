package config

import (
	"fmt"
	"os"
	"path/filepath"
)

// Paths says where every file of magpie is.
type Paths struct {
	Config   string // config.toml
	Themes   string // the folder of the person's own themes
	Affinity string // who answered which conversation

	State     string // the folder of all below, and of crash-*.txt
	Choices   string // pauses, pins, picks, order changes, learned refusals
	Rests     string // rests with a known end
	Quotas    string // last readings of windows
	History   string // requests and usage, SQLite
	Token     string // the control token
	Keys      string // gateway keys, hashed
	RedactKey string // what makes placeholders stable
	Log       string // magpie.log
	StartLock string // held while a gateway starts
	Screen    string // last pane, filter, theme

	Cache string // the folder of fetched model lists
}

// FindPaths returns where the files are for this environment. With MAGPIE_HOME all of them are in that
// folder; else they follow the XDG variables, of which relative ones count as unset.
func FindPaths(getenv func(string) string, home string) Paths {
	var conf, state, cache string
	if own := getenv("MAGPIE_HOME"); own != "" {
		conf, state, cache = own, filepath.Join(own, "state"), filepath.Join(own, "cache")
	} else {
		base := func(name string, otherwise ...string) string {
			if dir := getenv(name); filepath.IsAbs(dir) {
				return filepath.Join(dir, "magpie")
			}
			return filepath.Join(append(append([]string{home}, otherwise...), "magpie")...)
		}
		conf = base("XDG_CONFIG_HOME", ".config")
		state = base("XDG_STATE_HOME", ".local", "state")
		cache = base("XDG_CACHE_HOME", ".cache")
	}
	return Paths{
		Config:    filepath.Join(conf, "config.toml"),
		Themes:    filepath.Join(conf, "themes"),
		Affinity:  filepath.Join(conf, "affinity.json"),
		State:     state,
		Choices:   filepath.Join(state, "choices.json"),
		Rests:     filepath.Join(state, "rests.json"),
		Quotas:    filepath.Join(state, "quotas.json"),
		History:   filepath.Join(state, "history.db"),
		Token:     filepath.Join(state, "control.token"),
		Keys:      filepath.Join(state, "keys.json"),
		RedactKey: filepath.Join(state, "redact.key"),
		Log:       filepath.Join(state, "magpie.log"),
		StartLock: filepath.Join(state, "start.lock"),
		Screen:    filepath.Join(state, "screen.json"),
		Cache:     cache,
	}
}

// MakeDirs makes the folders of config, state and cache, readable by their owner alone. State and cache are
// narrowed to that when they are wider; a config folder that exists stays as the person made it.
func (p Paths) MakeDirs() error {
	for _, dir := range []string{filepath.Dir(p.Config), p.State, p.Cache} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	for _, dir := range []string{p.State, p.Cache} {
		if err := narrow(dir); err != nil {
			return err
		}
	}
	return nil
}

// narrow takes everyone else's rights on dir away.
func narrow(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at folder: %w", err)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("narrow folder: %w", err)
	}
	return nil
}
