//go:build !unix

package bridge

import "os/exec"

func ownGroup(*exec.Cmd) {}

func interrupt(*exec.Cmd) {} // its input was closed, which it takes as the end

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
