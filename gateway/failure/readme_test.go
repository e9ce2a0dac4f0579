package failure_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

var update = flag.Bool("update", false, "write README.md anew between its marks")

const (
	tableBegins = "<!-- from here on written by go test -update -->"
	readme      = "README.md"
)

// TestReadmeTellsTheTables: the page of reference is made of the tables.
func TestReadmeTellsTheTables(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(data), tableBegins)
	if !found {
		t.Fatalf("%s has no %q", readme, tableBegins)
	}
	want := head + tableBegins + "\n\n" + reference()
	if *update {
		if err := os.WriteFile(readme, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Error("README.md doesn't tell the tables; run go test ./gateway/failure -update")
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString("## How a reset is read\n\nThe first form that gives a time to come wins; what is over, negative or no time is passed over; 8 days is the most.\n\n")
	for i, f := range failure.Forms() {
		fmt.Fprintf(&b, "%d. %s\n", i+1, f)
	}
	b.WriteString("\n## The rows\n\nThe first that matches wins.\n\n| row | about | matches | kind | rests | next |\n|---|---|---|---|---|---|\n")
	for _, r := range failure.Rules() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Name, cell(r.Says), cell(r.When.String()), r.Then, cell(rests(r)), next(r))
	}
	b.WriteString("\n## The words\n\n\"…\" is at most 40 characters, \"…80\" at most 80; \"*\" lets a word go on; \"#\" is a number; a blank may be a hyphen or an underscore.\n")
	for _, l := range failure.Lists() {
		fmt.Fprintf(&b, "\n**%s**: `%s`\n", l.Name, strings.Join(l.Phrases, "` · `"))
	}
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func rests(r failure.Rule) string {
	s := "nobody"
	switch r.Scope {
	case trace.ScopeNone:
		return s
	case trace.ScopeWhole:
		s = "key or account"
	case trace.ScopeModel:
		s = "with this model"
	}
	if r.Narrow != nil {
		s += "; with this model where " + r.Narrow.Says
	}
	if r.Ends != nil {
		s += "; till " + r.Ends.Says
	}
	return s
}

func next(r failure.Rule) string {
	switch r.Then {
	case trace.TooLarge:
		return "another model"
	case trace.Request, trace.Cancelled:
		return "no"
	}
	return "yes"
}
