package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"dev.magpie/config"
	"dev.magpie/tui/canvas"
)

// The exit codes. Scripts rely on them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2   // bad usage or config
	exitNoGateway   = 3   // none is running where one is needed
	exitInterrupted = 130 // by a signal
)

// exitError ends the program with a code. Its words are what the person is told; without any,
// all has been said.
type exitError struct {
	code  int
	words string
}

func (e *exitError) Error() string { return e.words }

func failed(format string, args ...any) error {
	return &exitError{exitFailed, fmt.Sprintf(format, args...)}
}

func misused(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Sprintf(format, args...)}
}

// unreadable says that a file which the person named can't be read: whatever the reason, another is to be named.
func unreadable(what, file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return misused("there is no file %s", file)
	}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return misused("can't read %s from %s: %s", what, file, err)
}

// end tells what a command came to and returns the exit code.
func (p *process) end(err error) int {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return exitOK // whoever read has read enough
	}
	var (
		exit *exitError
		bad  *config.Errors
	)
	switch {
	case errors.As(err, &exit):
		p.complain(exit.words)
		return exit.code
	case errors.As(err, &bad):
		p.problems(bad)
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	p.complain(err.Error())
	return exitFailed
}

// complain tells what is wrong on stderr, safe to show whatever stands in it: the first line as a
// sentence, what follows as it is.
func (p *process) complain(words string) {
	if words == "" {
		return
	}
	first, more, several := strings.Cut(words, "\n")
	lead := "magpie: "
	for _, part := range wrap(canvas.Clean(first), p.page().width-len(lead)) {
		_, _ = fmt.Fprintln(p.err, lead+part) // nobody is left to be told
		lead = "        "
	}
	if !several {
		return
	}
	for line := range strings.SplitSeq(more, "\n") {
		_, _ = fmt.Fprintln(p.err, canvas.Clean(line))
	}
}

// problems prints what is wrong with a file as compilers do.
func (p *process) problems(bad *config.Errors) {
	for _, problem := range bad.Problems {
		for line := range strings.SplitSeq(problem.Long(), "\n") {
			_, _ = fmt.Fprintln(p.err, canvas.Clean(strings.ReplaceAll(line, "\t", "    ")))
		}
	}
}
