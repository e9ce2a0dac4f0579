// Package pane draws what the screen shows: the header, the five numbered panes, and
// what was opened. A pane is a plain struct that remembers where it was read; it draws
// into a rectangle of the canvas and never changes anything while it does.
package pane
