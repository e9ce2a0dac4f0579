package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"dev.magpie/config"
	"dev.magpie/provider"
)

func (p *process) configCommand(o *globals) *cobra.Command {
	return parent(&cobra.Command{Use: "config", Short: "Check the config file, or say where it is"}, p.configCheckCommand(o), p.configPathCommand(o))
}

func (p *process) configPathCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "path",
		Short: "Print where the config file is, or would be",
		Args:  arguments(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			path := p.paths().Config
			if !o.json {
				return p.printf("%s\n", path)
			}
			_, err := os.Stat(path)
			return p.json(map[string]any{"path": path, "exists": err == nil}, nil)
		},
	})
}

func (p *process) configCheckCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "check [<file>]",
		Short: "Read the config as the gateway does, and tell all that is wrong with it",
		Long:  "Exits with 2 when something is. What is asked for and not carried out by this version, or can never happen, is told too, and is no error, nor is a key that is not where the config says.",
		Args:  arguments(0, 1, ""),
		RunE: func(_ *cobra.Command, args []string) error {
			file := p.paths().Config
			if len(args) > 0 {
				file = args[0]
			} else if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				if o.json {
					return p.checkedJSON(file, config.Default(), nil)
				}
				return p.printf("there is no config file at %s: magpie uses what it finds on the machine\n", file)
			}
			return p.checkConfig(file, o.json)
		},
	})
}

// problemRow is one problem as JSON.
type problemRow struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

func (p *process) checkConfig(file string, asJSON bool) error {
	themes := os.DirFS(p.paths().Themes)
	cfg, err := loadConfig(file, themes)
	var cat *provider.Catalog
	if err == nil {
		cat, err = check(cfg, themes)
	}
	var bad *config.Errors
	if err != nil && !errors.As(err, &bad) {
		return unreadable("the config", file, err)
	}
	if asJSON {
		return p.checkedJSON(file, cfg, bad)
	}
	if bad != nil {
		return bad
	}
	for _, w := range (&settings{cfg: cfg, shown: readable(cfg)}).warnings() {
		p.complain(w)
	}
	for _, w := range p.missing(cat, "") {
		p.complain(w)
	}
	return p.printf("%s is good: %s, %s\n", file, count(len(cfg.Providers), "provider"), count(len(cfg.Groups), "group"))
}

// missing tells whose key is not where the config says, of one provider or of all. No command is run for it.
func (p *process) missing(cat *provider.Catalog, of string) []string {
	var all []string
	secrets := provider.NewSecrets(provider.SecretsOptions{Getenv: p.getenv})
	for _, a := range cat.AllAccounts() {
		if a.Off || cat.Provider(a.Provider).Off || a.Secret.Command != "" || of != "" && a.Provider != of {
			continue
		}
		if _, err := secrets.Value(context.Background(), a); err != nil {
			all = append(all, string(a.ID)+" would not be ready: "+err.Error())
		}
	}
	return all
}

func (p *process) checkedJSON(file string, cfg *config.Config, bad *config.Errors) error {
	problems, unserved, idle := []problemRow{}, []string{}, []string{}
	if bad != nil {
		for _, one := range bad.Problems {
			problems = append(problems, problemRow{one.File, one.Line, one.Col, one.Text, one.Hint})
		}
	} else {
		unserved = append(unserved, cfg.Unserved()...)
		idle = append(idle, cfg.Idle()...)
	}
	err := p.json(map[string]any{"path": file, "ok": bad == nil, "problems": problems, "unserved": unserved, "idle": idle}, nil)
	if err == nil && bad != nil {
		err = &exitError{code: exitUsage}
	}
	return err
}
