// Package early is imported first by the command, for what it does when it is loaded.
//
// Bubble Tea asks the terminal for its background as soon as it is loaded, and waits five seconds
// for a terminal that does not answer: every command of the program would. Packages without an order
// among them are loaded by path, and this path comes before github.com/charmbracelet. So it is loaded first
// and sets the answer, which is never used: the screen asks for the background itself, in term.
package early

import "github.com/charmbracelet/lipgloss"

//nolint:gochecknoinits // there is no other time before Bubble Tea's own
func init() {
	lipgloss.SetHasDarkBackground(true)
}
