package theme

import (
	"fmt"
	"strings"
)

// Table is the roles as a Markdown table: the part of the themes' README that is made, not written.
func Table() string {
	var b strings.Builder
	b.WriteString("| role | is | must stand out |\n|---|---|---|\n")
	for _, r := range Roles() {
		i := r.Describe()
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", i.Name, i.Use, i.Duty.words())
	}
	return b.String()
}

func (d Duty) words() string {
	switch d {
	case DutyNone:
		return ""
	case DutyFaint:
		return "3 to 1"
	case DutyText:
		return "4.5 to 1"
	case DutyChosen:
		return "4.5 to 1, on `select_bg`"
	}
	return ""
}
