//go:build unix

package term

import (
	"errors"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// mayAsk reports whether both ends are a terminal, and ours to change: a process in the background that touched it
// would be stopped.
func mayAsk(in, out *os.File) bool {
	if !term.IsTerminal(in.Fd()) || !term.IsTerminal(out.Fd()) {
		return false
	}
	group, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// ask writes the question and reads until the last answer, or until patience ends.
func ask(in, out *os.File, patience time.Duration) Answer {
	fd := in.Fd()
	was, err := term.MakeRaw(fd)
	if err != nil {
		return Answer{}
	}
	defer func() { _ = term.Restore(fd, was) }() // nothing is left to do when it fails

	var a Answer
	end := time.Now().Add(patience)
	if _, err := out.WriteString(question); err != nil {
		return Answer{}
	}
	a.Open = true
	buf := make([]byte, 256)
	for !a.rest.kind {
		left := time.Until(end)
		if left <= 0 || !readable(int(fd), left) {
			return a
		}
		n, err := unix.Read(int(fd), buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil || n <= 0 {
			return a
		}
		a.rest.feed(buf[:n])
	}
	// What stands in between may answer the second question itself and pass the first one on.
	a.Open = !a.rest.complete()
	return a
}

// readable waits until there is something to read, at most so long.
func readable(fd int, most time.Duration) bool {
	end := time.Now().Add(most)
	for {
		var set unix.FdSet
		set.Zero()
		set.Set(fd)
		left := unix.NsecToTimeval(max(time.Until(end), 0).Nanoseconds())
		n, err := unix.Select(fd+1, &set, nil, nil, &left)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return err == nil && n > 0
	}
}
