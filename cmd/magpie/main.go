// Command magpie is a control center for coding agents with a gateway of its own: agents ask
// it on this machine, it finds a key that can answer, and a person sees every decision in the
// terminal. COMMANDS.md lists what it can be told.
package main

import (
	"os"

	// Initialised before Bubble Tea, whose own init asks the terminal a question and waits.
	_ "dev.magpie/tui/term/early"
)

func main() { os.Exit(run(thisProcess())) }
