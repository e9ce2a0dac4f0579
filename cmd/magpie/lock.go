package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	lockWait  = 5 * time.Second // for another start
	lockEvery = 10 * time.Millisecond
)

// startLock keeps a second start waiting until the first has bound its address and answers, so that it
// finds out whom it met. Whoever starts for longer than anyone should is not waited for: the address decides.
func startLock(ctx context.Context, path string, most time.Duration) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("take the start lock: %w", err)
	}
	release = func() { _ = f.Close() }
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		got, err := tryLock(f)
		if got || err != nil {
			return release, nil // also on a file system without locks: the address decides
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return release, nil
		}
	}
}

// ownFolder says whether nobody else owns a folder, and owns it until release. Who runs two gateways in one home,
// each at an address of its own, has one that keeps the state.
func ownFolder(path string) (owned bool, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, nil, fmt.Errorf("look at folder: %w", err)
	}
	got, err := tryLock(f)
	return got || err != nil, f.Close, nil // also on a file system without locks
}
