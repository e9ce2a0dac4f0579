package term

import (
	"os"
	"time"
)

// Answer is what came of asking the terminal for its background.
type Answer struct {
	Dark bool
	OK   bool // Dark is the terminal's word
	Open bool // an answer may still come: read the keys through [NewInput]
	rest replies
}

// Patience is how long a terminal may take to answer. Those that can take a few milliseconds; the start must not
// wait for those that cannot.
const Patience = 150 * time.Millisecond

// Background asks the terminal for its background, and waits no longer than patience in all. It has to be asked
// before the program takes the terminal. What is typed meanwhile is lost.
func Background(in, out *os.File, facts Facts, patience time.Duration) Answer {
	if facts.plain() || !mayAsk(in, out) {
		return Answer{}
	}
	a := ask(in, out, patience)
	a.Dark, a.OK = dark(a.rest.colour)
	return a
}
