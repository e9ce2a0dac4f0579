package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dev.magpie/config"
)

// globals are the flags that every command takes.
type globals struct {
	listen string
	json   bool
}

// The groups of commands, in the order of the help.
const (
	groupRun    = "run"
	groupLook   = "look"
	groupChange = "change"
	groupSetUp  = "setup"
)

// run carries out what the process was told and returns the exit code.
func run(p *process) int {
	root := p.commands()
	root.SetArgs(append([]string{}, p.args...)) // none would be the program's own
	return p.end(root.ExecuteContext(context.Background()))
}

// commands is the whole tree.
func (p *process) commands() *cobra.Command {
	o := &globals{}
	root := p.root(o)
	root.AddGroup(
		&cobra.Group{ID: groupRun, Title: "Run"}, &cobra.Group{ID: groupLook, Title: "Look"},
		&cobra.Group{ID: groupChange, Title: "Change what runs"}, &cobra.Group{ID: groupSetUp, Title: "Set up"},
	)
	for _, g := range []struct {
		id       string
		commands []*cobra.Command
	}{
		{groupRun, []*cobra.Command{p.tuiCommand(o), p.serveCommand(o)}},
		{groupLook, []*cobra.Command{
			p.statusCommand(o), p.accountsCommand(o), p.quotaCommand(o), p.lineCommand(o), p.traceCommand(o), p.requestsCommand(o),
			p.routeCommand(o), p.explainCommand(o), p.simulateCommand(o), p.healthCommand(o),
		}},
		{groupChange, []*cobra.Command{p.pauseCommand(o), p.resumeCommand(o), p.pinCommand(o), p.unpinCommand(o), p.wakeCommand(o), p.orderCommand(o)}},
		{groupSetUp, []*cobra.Command{
			p.configCommand(o), p.providersCommand(o), p.providerCommand(o), p.groupsCommand(o), p.groupCommand(o), p.presetsCommand(o), p.themesCommand(o),
			p.completionCommand(), p.versionCommand(o),
		}},
	} {
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	p.dress(root)
	return root
}

// root is `magpie` alone: the screen in a terminal, the help elsewhere.
func (p *process) root(o *globals) *cobra.Command {
	screen, named := &screenFlags{}, false
	c := &cobra.Command{
		Use:   "magpie",
		Short: "A control center for coding agents, with a local LLM gateway",
		Long: "Agents ask magpie at http://127.0.0.1:3425, it finds a key that can answer, and you see every decision. " +
			"Alone in a terminal, magpie runs the gateway and shows it; where one runs already, it shows that one.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(c, args[0])
		},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if _, err := config.Address(o.listen); o.listen != "" && err != nil {
				return misused("--listen %q: %s", o.listen, err)
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if named {
				return p.version(false)
			}
			if !p.tty() && c.Flags().NFlag() == 0 {
				return c.Help()
			}
			return p.tui(c.Context(), o, screen)
		},
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true,
	}
	c.CompletionOptions.DisableDefaultCmd = true
	c.PersistentFlags().StringVar(&o.listen, "listen", "", "where the gateway listens, `host:port`; MAGPIE_ADDR and the config's listen come after it")
	c.Flags().BoolVar(&named, "version", false, "print the version")
	screen.add(c)
	return c
}

// dress gives every command the same manners.
func (p *process) dress(root *cobra.Command) {
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetIn(p.in)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return misused("%s%s", strings.TrimPrefix(c.CommandPath()+": ", "magpie: "), flagWords(c, err))
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = p.out.Write([]byte(help(c, p.page().width))) })
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := p.out.Write([]byte(help(c, p.page().width)))
		return err
	})
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Run, c.RunE = nil, helpOn
		}
	}
}

// helpOn prints the help of the command that the words name.
func helpOn(c *cobra.Command, words []string) error {
	about, rest, err := c.Root().Find(words)
	if err != nil {
		return misused("%s", err)
	}
	if len(rest) > 0 && about.HasSubCommands() {
		return unknownCommand(about, rest[0])
	}
	return about.Help()
}

// flagWords adds the nearest flag to a complaint about an unknown one.
func flagWords(c *cobra.Command, err error) string {
	words := err.Error()
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		words = fmt.Sprintf("--%s takes no %q", bad.GetFlag().Name, bad.GetValue())
		if takes := map[string]string{"int": "a whole number", "bool": "true or false"}[bad.GetFlag().Value.Type()]; takes != "" {
			words = fmt.Sprintf("--%s takes %s, not %q", bad.GetFlag().Name, takes, bad.GetValue())
		}
	}
	name, ok := strings.CutPrefix(words, "unknown flag: --")
	if !ok {
		return words + "\nsee: " + c.CommandPath() + " --help"
	}
	if hint := config.DidYouMean(name, flagNames(c)); hint != "" {
		return words + ": " + hint
	}
	return words + "\nsee: " + c.CommandPath() + " --help"
}

// unknownCommand says that a command has no such subcommand.
func unknownCommand(c *cobra.Command, word string) error {
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			known = append(append(known, sub.Name()), sub.Aliases...)
		}
	}
	hint := config.DidYouMean(word, known)
	if hint == "" {
		hint = "see " + c.CommandPath() + " --help"
		if c.HasParent() {
			hint = "there are " + strings.Join(known, ", ")
		}
	}
	return misused("%s has no command %q: %s", c.CommandPath(), word, hint)
}

// arguments lets a command take from least to most arguments; words says what they are.
func arguments(least, most int, words string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return misused("%s needs %s\nusage: %s", c.CommandPath(), words, c.UseLine())
		case len(args) > most:
			return misused("%s takes no %q\nusage: %s", c.CommandPath(), args[most], c.UseLine())
		}
		return nil
	}
}

// parent is a command that only holds others.
func parent(c *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		names := make([]string, 0, len(subs))
		for _, s := range subs {
			names = append(names, s.Name())
		}
		return misused("%s needs one of %s", c.CommandPath(), strings.Join(names, ", "))
	}
	c.RunE = func(*cobra.Command, []string) error { return nil } // Args never lets it come to this
	c.AddCommand(subs...)
	return c
}

// listing gives a command --json.
func listing(o *globals, c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// untilSignal returns a context that ends with ctrl+c.
func (p *process) untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	c := make(chan os.Signal, 1)
	p.notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-c:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		p.stop(c)
		cancel()
	}
}

func flagNames(c *cobra.Command) []string {
	var names []string
	add := func(list []flagInfo) {
		for _, f := range list {
			names = append(names, f.name)
		}
	}
	add(flagsOf(c.LocalFlags()))
	add(flagsOf(c.InheritedFlags()))
	slices.Sort(names)
	return names
}
