package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"dev.magpie/gateway/state"
)

const (
	crashOpen  = "crash-now.txt" // what the runtime writes to when the whole process goes down
	crashShape = "crash-20060102-150405.txt"
	crashKeep  = 10 // reports
)

// watchCrashes has the runtime write what kills the process into the state folder as well. It returns the
// report of an earlier run that ended so, "" when none did.
func watchCrashes(dir string) (earlier string, err error) {
	path := filepath.Join(dir, crashOpen)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Size() > 0:
		earlier = filepath.Join(dir, info.ModTime().Format(crashShape))
		if err := os.Rename(path, earlier); err != nil {
			return "", fmt.Errorf("keep a crash report: %w", err)
		}
		tidyCrashes(dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("look for crash reports: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return earlier, fmt.Errorf("open the crash report: %w", err)
	}
	err = debug.SetCrashOutput(f, debug.CrashOptions{})
	return earlier, errors.Join(err, f.Close()) // the runtime has a copy of its own
}

// reportCrash keeps the stack of a screen that panicked.
func reportCrash(dir string, now time.Time, stack []byte) (string, error) {
	path := filepath.Join(dir, now.Format(crashShape))
	if err := state.WriteFile(path, stack); err != nil {
		return "", err
	}
	tidyCrashes(dir)
	return path, nil
}

// tidyCrashes keeps the newest reports alone.
func tidyCrashes(dir string) {
	reports, err := filepath.Glob(filepath.Join(dir, "crash-2*.txt"))
	if err != nil {
		return
	}
	slices.Sort(reports) // by time, as they are called
	for len(reports) > crashKeep {
		_ = os.Remove(reports[0]) // one too many is no harm
		reports = reports[1:]
	}
}
