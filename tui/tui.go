// Package tui is the screen: it draws what a gateway tells and hands on what the
// person wants. It knows the gateway only through [Gateway], so that it shows one in its own
// process and one in another alike, and it cannot hurt either: whatever becomes of the
// screen, requests under way go on.
package tui

import (
	"context"
	"fmt"
	"os"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
)

// Gateway is what the screen needs of one.
type Gateway interface {
	// Watch returns everything as told and a feed of all after it.
	Watch(ctx context.Context) (trace.View, trace.Feed, error)
	// Plan tells who would be asked for a model now, in which order and why; nothing is sent.
	Plan(ctx context.Context, model string) (trace.Route, error)
	// Preview tells what a command would do.
	Preview(ctx context.Context, c control.Command) (control.Effect, error)
	// Do carries a command out. One that ends or spends something needs the token of a fresh preview.
	Do(ctx context.Context, c control.Command, token control.Token) (control.Done, error)
}

// Options say how the screen is to be.
type Options struct {
	Listen   string    // the gateway's address
	Demo     bool      // stand-in vendors answer
	Attached *Attached // set when the gateway is another process's
	ReadOnly bool      // nothing may be changed from here
	Screen   config.Screen
	Keys     map[string][]string // the person's own keys by command id
	Look     Look
	Memory   Memory                             // how the screen was left
	Save     func(Memory) error                 // keeps Memory for the next start; may be nil
	Crash    func(stack []byte) (string, error) // writes a crash report and names its file; may be nil
	Hangup   <-chan struct{}                    // closed when the terminal is gone; may be nil
	Now      func() time.Time                   // nil = time.Now
	Input    *os.File                           // nil = the process's
	Output   *os.File                           // nil = the process's
	Env      func(string) string                // nil = the process's
}

// Attached names the process whose gateway is shown.
type Attached struct{ PID int }

// Memory is what the screen remembers from one start to the next.
type Memory struct {
	Pane   int    `json:"pane,omitempty"`
	Zoom   bool   `json:"zoom,omitempty"`
	Filter string `json:"filter,omitempty"` // of the requests
	Theme  string `json:"theme,omitempty"`  // chosen with a key
}

// Exit says how the screen ended. The gateway is still running in each case.
type Exit int

// How the screen ends.
const (
	Running    Exit = iota
	ExitQuit        // at once
	ExitDrain       // once what is under way has been answered
	ExitHangup      // the terminal went away
	ExitPanic       // a mistake in the screen; Result names the report
	ExitStop        // the context ended
)

// String is the way's name.
func (e Exit) String() string {
	return [...]string{"running", "quit", "drain", "hangup", "panic", "stop"}[e]
}

// Result is how the screen ended.
type Result struct {
	Exit   Exit
	Report string // the crash report's file
	Stack  []byte // what it holds
}

func reasonText(reason any) string { return fmt.Sprintf("panic: %v", reason) }
