package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestThePageOfCommandsIsWhatTheProgramSays(t *testing.T) {
	const page = "COMMANDS.md"
	want := reference(newShell(t).commands())
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != want {
		t.Errorf("%s is not what the program says: go test ./cmd/magpie -update writes it", page)
	}
}

func TestTheTreeHoldsTheCommandsOfThisVersion(t *testing.T) {
	const want = "accounts completion config explain group groups healthcheck line order pause pin presets provider providers quota requests resume route serve simulate status themes trace tui unpin version wake"
	var names []string
	for _, c := range newShell(t).commands().Commands() {
		if c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEveryCommandIsDescribedAndChecksItsArguments(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Name() == "help" {
			return
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || c.Args == nil || c.RunE == nil {
			t.Errorf("%s: short %q, checks arguments: %t, does something: %t", c.CommandPath(), c.Short, c.Args != nil, c.RunE != nil)
		}
		for _, f := range flagsOf(c.LocalFlags()) {
			if f.words == "" || strings.HasSuffix(f.words, ".") {
				t.Errorf("%s --%s is described as %q", c.CommandPath(), f.name, f.words)
			}
		}
		for line := range strings.SplitSeq(help(c, screenWidth), "\n") {
			if len(line) > screenWidth {
				t.Errorf("%s: the help has a line of %d columns: %s", c.CommandPath(), len(line), line)
			}
		}
	}
	walk(newShell(t).commands())
}
