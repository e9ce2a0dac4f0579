//go:build unix

package codex

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock holds a sign-in against other processes that renew its tokens. The lock is on the folder
// that its file is in, for homes may be linked to one file: nothing is left in another program's
// home.
func lock(ctx context.Context, home string) (unlock func(), err error) {
	dir, err := os.Open(filepath.Dir(signInPath(home)))
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = dir.Close() }, nil // closing it unlocks it
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR { //nolint:errorlint // an errno as it came
			_ = dir.Close()
			return nil, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			_ = dir.Close()
			return nil, ctx.Err()
		}
	}
}
