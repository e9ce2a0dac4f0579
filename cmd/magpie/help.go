package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The help of a command, and the page of all of them, are made from the same tree.

// flagInfo is one flag as people write it.
type flagInfo struct {
	name, short, takes, words string
}

// spelled is the flag with what it takes: "-n, --lines N".
func (f flagInfo) spelled() string {
	s := "--" + f.name
	if f.short != "" {
		s = "-" + f.short + ", " + s
	}
	switch {
	case strings.HasPrefix(f.takes, "["):
		s += f.takes
	case f.takes != "":
		s += " " + f.takes
	}
	return s
}

func flagsOf(set *pflag.FlagSet) []flagInfo {
	var all []flagInfo
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		takes, words := pflag.UnquoteUsage(f)
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			takes = "[=" + takes + "]"
		}
		all = append(all, flagInfo{name: f.Name, short: f.Shorthand, takes: takes, words: words})
	})
	return all
}

// help is what --help prints, in lines of a width.
func help(c *cobra.Command, width int) string {
	b := &page{width: width, limit: width}
	b.WriteString("usage: " + c.UseLine() + "\n\n")
	text := c.Short + "."
	if c.Long != "" {
		text += "\n\n" + c.Long
	}
	for _, line := range wrap(text, width) {
		b.WriteString(line + "\n")
	}
	if len(c.Aliases) > 0 {
		b.WriteString("\nalso: " + strings.Join(c.Aliases, ", ") + "\n")
	}
	helpCommands(b, c)
	helpFlags(b, "Flags", flagsOf(c.LocalNonPersistentFlags()))
	always := flagsOf(c.InheritedFlags())
	if !c.HasParent() {
		always = flagsOf(c.PersistentFlags())
	}
	helpFlags(b, "For every command", always)
	if c.Example != "" {
		b.WriteString("\nExamples\n" + c.Example + "\n")
	}
	return b.String()
}

func helpCommands(b *page, c *cobra.Command) {
	for _, g := range groupsOf(c) {
		b.WriteString("\n" + g.title + "\n")
		for _, sub := range g.commands {
			b.entry(sub.Name(), 14, sub.Short)
		}
	}
}

func helpFlags(b *page, title string, flags []flagInfo) {
	if len(flags) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	width := 0
	for _, f := range flags {
		width = max(width, len(f.spelled()))
	}
	for _, f := range flags {
		b.entry(f.spelled(), min(width+2, 30), f.words)
	}
}

// commandGroup is a title with its commands.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// groupsOf lists the commands below one, by their groups where they have any.
func groupsOf(c *cobra.Command) []commandGroup {
	var groups []commandGroup
	for _, g := range c.Groups() {
		groups = append(groups, commandGroup{title: g.Title})
	}
	var rest commandGroup
	rest.title = "Commands"
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.Name() == "help" {
			continue
		}
		placed := false
		for i, g := range c.Groups() {
			if g.ID == sub.GroupID {
				groups[i].commands = append(groups[i].commands, sub)
				placed = true
			}
		}
		if !placed {
			rest.commands = append(rest.commands, sub)
		}
	}
	if len(rest.commands) > 0 {
		groups = append(groups, rest)
	}
	return groups
}
