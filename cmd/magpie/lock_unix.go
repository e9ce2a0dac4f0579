//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file's lock if nobody has it. The system lets go of it when the process ends.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
