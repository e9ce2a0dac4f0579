package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// reference is the page of all commands, in Markdown. COMMANDS.md holds it.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" +
		"Made from the program by `go test ./cmd/magpie -update`; `magpie <command> --help` prints the same.\n\n" +
		"Exit codes: 0 ok, 1 failed, 2 bad usage or config, or a file that was named and can't be read, 3 no gateway running where one is needed, 130 interrupted. Errors go to standard " +
		"error. Output has no colour and fits the " +
		"terminal: names are cut and columns left out where it is narrow. What goes into a pipe or a file is cut nowhere. `--json` prints what the gateway answered.\n\n" +
		"Commands find the gateway by `--listen`, `MAGPIE_ADDR`, the config's `listen`, `127.0.0.1:3425`. `presets`, `config`, `simulate`, `themes`, " +
		"`completion` and `version` need none.\n\n" +
		"`<who>` is `provider/name`, or `provider` alone where it has one key or none; case is ignored. A name alone is taken where just one has it.\n")
	for _, g := range groupsOf(root) {
		b.WriteString("\n## " + g.title + "\n")
		for _, c := range g.commands {
			section(&b, c)
			for _, sub := range c.Commands() {
				section(&b, sub)
			}
		}
	}
	b.WriteString("\n## Flags of every command\n\n")
	flagList(&b, flagsOf(root.PersistentFlags()))
	return b.String()
}

func section(b *strings.Builder, c *cobra.Command) {
	if c.HasSubCommands() && c.LocalNonPersistentFlags().Lookup("json") == nil {
		return // it only holds the commands that follow
	}
	b.WriteString("\n### " + strings.TrimPrefix(c.CommandPath(), "magpie ") + "\n\n")
	b.WriteString("    " + c.UseLine() + "\n\n" + c.Short + ".\n")
	if c.Long != "" {
		b.WriteString("\n" + c.Long + "\n")
	}
	if len(c.Aliases) > 0 {
		b.WriteString("\nAlso: `" + strings.Join(c.Aliases, "`, `") + "`.\n")
	}
	if flags := flagsOf(c.LocalNonPersistentFlags()); len(flags) > 0 {
		b.WriteByte('\n')
		flagList(b, flags)
	}
	if c.Example != "" {
		b.WriteString("\n```\n" + c.Example + "\n```\n")
	}
}

func flagList(b *strings.Builder, flags []flagInfo) {
	for _, f := range flags {
		b.WriteString("- `" + f.spelled() + "`: " + f.words + "\n")
	}
}
