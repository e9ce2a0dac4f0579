package standin

import (
	"fmt"
	"strings"
)

// Reference is the script language as tables of Markdown, made from the tables that
// the parser reads; README.md holds them.
func Reference() string {
	var b strings.Builder
	b.WriteString("| verb | does | example |\n|---|---|---|\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", cell(strings.TrimSpace(v.name+" "+v.bare)), cell(v.doc), cell(v.example))
	}
	b.WriteString("\n| mark | takes | does | example |\n|---|---|---|---|\n")
	for _, m := range marks {
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", m.name, cell(m.value), cell(m.doc), cell(m.example))
	}
	b.WriteString("| `xN`, `x*` | a number | the requests that the step stands for; `x*` is all | `x3` |\n")
	b.WriteString("\n| words | vendor | reason | status |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %d |\n", r.name, r.vendor, r.why, r.status)
	}
	return b.String()
}

// cell keeps a text inside its cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// Examples are the examples of the reference as whole steps.
func Examples() []string {
	var all []string
	for _, v := range verbs {
		all = append(all, v.example)
	}
	for _, m := range marks {
		verb := "ok "
		if m.name == "after" {
			verb = "cut "
		}
		all = append(all, verb+m.example)
	}
	return all
}
