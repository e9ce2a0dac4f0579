// Package over holds what lies over the panes for a while: dialogs, the help, the
// command line, the filter line, toasts and the banner. Like panes they are plain structs
// that draw; what a key means to them they answer as a value.
package over
