package keys

import (
	"fmt"
	"slices"
	"strings"

	"dev.magpie/gateway/control"
)

// places name the scopes for people.
var places = map[Scope]string{
	InAccounts: "the accounts", InRequests: "the requests", InConvs: "the conversations", InGroups: "the groups",
	InLog: "the log", InRequest: "an opened request", InAccount: "an opened account", InGroup: "an opened group", InHelp: "the help",
}

// Place is where a scope's keys work, for people.
func (s Scope) Place() string { return places[s] }

// Markdown is the page of keys: everything that can be pressed, and the names for rebinding it.
func (r *Registry) Markdown() string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("\n## Everywhere\n\n")
	table(&b, r.Everywhere())
	var done []ID
	for _, s := range Scopes() {
		var here []Command
		for _, c := range r.In(s) {
			if !slices.Contains(done, c.ID) {
				done = append(done, c.ID)
				here = append(here, c)
			}
		}
		if len(here) > 0 {
			fmt.Fprintf(&b, "\n## First met in %s\n\n", s.Place())
			table(&b, here)
		}
	}
	return b.String()
}

const pageHead = `# Keys

Made from the commands in ` + "`tui/keys`" + `; ` + "`go test ./tui/keys -update`" + ` writes it.

Lower case is safe or can be undone with ` + "`U`" + `; what ends something asks first. With ` + "`--read-only`" + ` only what reads is
there, and the ways out. Another key for a command goes into ` + "`config.toml`" + ` by the command's id:

` + "```toml" + `
[keys]
"account.pause" = ["p", "space"]
"copy.id"       = ["y i"]        # one key after another
"undo"          = []             # none
` + "```" + `

Two commands with one key in the same place are an error that names both.
`

func table(b *strings.Builder, commands []Command) {
	b.WriteString("| keys | does | where | id | effect |\n|---|---|---|---|---|\n")
	for _, c := range commands {
		fmt.Fprintf(b, "| %s | %s | %s | `%s` | %s |\n", c.keyText(), c.Help, c.placeText(), c.ID, effect(c.Class))
	}
}

func (c *Command) keyText() string {
	shown := make([]string, len(c.Keys))
	for i, k := range c.Keys {
		shown[i] = "`" + Shown(k) + "`"
	}
	return strings.Join(shown, " ")
}

func (c *Command) placeText() string {
	if c.In == nil {
		return "everywhere"
	}
	names := make([]string, len(c.In))
	for i, s := range c.In {
		names[i] = s.Place()
	}
	return strings.Join(names, ", ")
}

// effect says what a class of commands means.
func effect(c control.Class) string {
	switch c {
	case control.Reads:
		return ""
	case control.Reversible:
		return "can be undone"
	case control.Spends:
		return "spends, asks first"
	case control.Ends:
		return "ends, asks first"
	}
	return ""
}
