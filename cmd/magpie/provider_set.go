package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/config"
	"dev.magpie/provider"
)

// Changes of the providers in the config.

const editWords = "Changes only what its flags name: comments and order of the file stay. The change is checked and shown, and a running gateway takes it by itself."

// keyFlags say where a new provider's key comes from.
type keyFlags struct{ name, env, file, command string }

func (p *process) providerAddCommand(o *globals) *cobra.Command {
	var key keyFlags
	c := &cobra.Command{
		Use:   "add <id>",
		Short: "Add a provider to the config",
		Long: "An id that is a preset's (magpie presets lists them) needs a key alone. The key itself is not given: it is named by a variable, " +
			"a file, or a command that prints it. Without any of these the preset's own variable is taken, where it is set. " + editWords,
		Example: "  magpie provider add anthropic --key-env ANTHROPIC_API_KEY\n  magpie provider add relay --chat https://relay.example/v1 --key-env RELAY",
		Args:    arguments(1, 1, "an id: small letters, digits, hyphens"),
	}
	values := addSettings(c, providerSettings)
	s := c.Flags()
	s.StringVar(&key.env, "key-env", "", "the environment `variable` that its key is in")
	s.StringVar(&key.file, "key-file", "", "the `file` that its key is in")
	s.StringVar(&key.command, "key-command", "", "the shell `command` that prints its key")
	s.StringVar(&key.name, "key-name", "main", "what the key is called")
	c.MarkFlagsMutuallyExclusive("key-env", "key-file", "key-command")
	c.RunE = func(_ *cobra.Command, args []string) error {
		set, err := values()
		if err != nil {
			return err
		}
		id := strings.ToLower(args[0])
		before, cfg, err := p.edited()
		if err != nil {
			return err
		}
		if hasProvider(cfg, id) {
			return failed("provider %s is in the config already: magpie provider set changes it", id)
		}
		table := []string{"providers", id}
		edits := append([]config.Edit{{Table: table, Value: "{}"}}, editsOf(table, providerSettings, set)...)
		if k := p.keyOf(id, set["preset"], &key); k != "" {
			edits = append(edits, config.Edit{Table: table, Key: "keys", Value: k})
		}
		return p.changeConfig(before, change{edits: edits, words: "added provider " + id, adds: id}, o.json)
	}
	return listing(o, c)
}

// keyOf writes the list with a new provider's key, "" when it has none.
func (p *process) keyOf(id, preset string, key *keyFlags) string {
	if key.env == "" && key.file == "" && key.command == "" {
		one, _, ok := provider.FindPreset(strings.Trim(orElse(preset, id), `"`))
		if ok {
			for _, env := range one.Env {
				if p.getenv(env) != "" {
					key.env = env
					break
				}
			}
		}
	}
	for _, from := range []struct{ key, value string }{{"env", key.env}, {"file", key.file}, {"command", key.command}} {
		if from.value != "" {
			return fmt.Sprintf("[{ name = %s, %s = %s }]", config.Text(key.name), from.key, config.Text(from.value))
		}
	}
	return ""
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

func hasProvider(cfg *config.Config, id string) bool {
	return slices.ContainsFunc(cfg.Providers, func(one config.Provider) bool { return one.ID == id })
}

// edited reads the config that is to be changed.
func (p *process) edited() ([]byte, *config.Config, error) {
	before, err := p.configText()
	if err != nil {
		return nil, nil, err
	}
	cfg, err := p.parsed(before)
	return before, cfg, err
}

// changeProvider makes a command that changes a provider of the config.
func (p *process) changeProvider(o *globals, c *cobra.Command, what func(id string) (change, error)) *cobra.Command {
	c.Args = arguments(1, 1, "a provider's id")
	c.ValidArgsFunction = p.completeProvider(o)
	c.RunE = func(_ *cobra.Command, args []string) error {
		id := strings.ToLower(args[0])
		before, cfg, err := p.edited()
		if err != nil {
			return err
		}
		if !hasProvider(cfg, id) {
			var known []string
			for _, one := range cfg.Providers {
				known = append(known, one.ID)
			}
			words := fmt.Sprintf("there is no provider %.60q in the config", id)
			if hint := config.DidYouMean(id, known); hint != "" {
				words += ": " + hint
			}
			return failed("%s", words)
		}
		ch, err := what(id)
		if err != nil {
			return err
		}
		return p.changeConfig(before, ch, o.json)
	}
	return listing(o, c)
}

func (p *process) providerSetCommand(o *globals) *cobra.Command {
	c := &cobra.Command{Use: "set <id>", Short: "Change a provider in the config", Long: editWords}
	values := addSettings(c, providerSettings)
	return p.changeProvider(o, c, func(id string) (change, error) {
		set, err := values()
		if err != nil {
			return change{}, err
		}
		if len(set) == 0 {
			return change{}, misused("name what to change: magpie provider set %s --routing …; see --help", id)
		}
		return change{edits: editsOf([]string{"providers", id}, providerSettings, set), words: "changed provider " + id}, nil
	})
}

func (p *process) providerOffCommand(o *globals) *cobra.Command {
	return p.changeProvider(o, &cobra.Command{Use: "off <id>", Short: "Switch a provider off in the config: it is kept, and asked nothing"}, func(id string) (change, error) {
		return change{edits: []config.Edit{{Table: []string{"providers", id}, Key: "off", Value: "true"}}, words: "switched provider " + id + " off"}, nil
	})
}

func (p *process) providerOnCommand(o *globals) *cobra.Command {
	return p.changeProvider(o, &cobra.Command{Use: "on <id>", Short: "Switch a provider on again in the config"}, func(id string) (change, error) {
		return change{edits: []config.Edit{{Table: []string{"providers", id}, Key: "off"}}, words: "switched provider " + id + " on"}, nil
	})
}

func (p *process) providerRmCommand(o *globals) *cobra.Command {
	yes := false
	c := &cobra.Command{Use: "rm <id>", Short: "Take a provider out of the config", Long: "Asks first. A provider that a group or a fallback names stays until it is taken out there."}
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return p.changeProvider(o, c, func(id string) (change, error) {
		return change{
			edits: []config.Edit{{Table: []string{"providers", id}}}, ends: "take provider " + id + " out of the config", yes: yes, words: "took provider " + id + " out of the config",
		}, nil
	})
}
