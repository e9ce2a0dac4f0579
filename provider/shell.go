package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// outputLimit bounds what is kept of a command's output; only its first line is wanted.
const outputLimit = 64 << 10

// runShell runs a command and returns what it printed. Its error never holds the command
// or its output, in which a secret may stand.
func runShell(ctx context.Context, command string) ([]byte, error) {
	var out capped
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("exit status %d", exit.ExitCode())
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, errors.New("it could not be run")
	}
	return out.Bytes(), nil
}

// capped keeps the first bytes written to it and takes the rest without keeping it.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := outputLimit - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
