// Package state is what the screen knows of a gateway: a fold of what its trace
// told, and the questions that panes ask of it. Everything here is a value or a pure
// function; the time is an argument, and [Clock] remembers when a text that was
// made from it will next read differently.
package state
