package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// ErrChanged says that a file is not any more what a change of it was made from.
var ErrChanged = errors.New("the file has changed meanwhile: nothing was written")

// Write puts a changed text in place of the one that it was made from, at once or not at
// all: a symbolic link stays, and so do the file's permissions. before is nil where there was no file.
func Write(path string, before, after []byte) error {
	target, mode := path, fs.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return fmt.Errorf("write config: %w", err)
		}
	case err != nil:
		return fmt.Errorf("write config: %w", err)
	default:
		mode = info.Mode().Perm()
	}
	if err := unchanged(target, before); err != nil {
		return err
	}
	if err := replace(target, after, mode, before); err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	return nil
}

func unchanged(path string, before []byte) error {
	now, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		now = nil
		if before != nil {
			return ErrChanged
		}
	case err != nil:
		return fmt.Errorf("write config: %w", err)
	case before == nil:
		return ErrChanged
	}
	if !bytes.Equal(now, before) {
		return ErrChanged
	}
	return nil
}

// replace writes a temporary file beside the other and renames it over that.
func replace(path string, data []byte, mode fs.FileMode, before []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = unchanged(path, before)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // not every file system can
		_ = dir.Close()
	}
	return nil
}

// Diff tells what lines a change takes out and puts in, each with its number, as they may
// be shown: secrets are masked.
func Diff(before, after []byte) []string {
	from, to := splitLines(before), splitLines(after)
	shownFrom, shownTo := shownLines(before), shownLines(after)
	head := 0
	for head < len(from) && head < len(to) && from[head] == to[head] {
		head++
	}
	last := 0
	for last < len(from)-head && last < len(to)-head && from[len(from)-1-last] == to[len(to)-1-last] {
		last++
	}
	a, b := from[head:len(from)-last], to[head:len(to)-last]
	same := inBoth(a, b)
	var out []string
	i, j := 0, 0
	for _, pair := range append(same, [2]int{len(a), len(b)}) {
		for ; i < pair[0]; i++ {
			out = append(out, "- "+number(head+i, shownFrom))
		}
		for ; j < pair[1]; j++ {
			out = append(out, "+ "+number(head+j, shownTo))
		}
		i, j = pair[0]+1, pair[1]+1
	}
	return out
}

func number(i int, shown []string) string {
	line := ""
	if i < len(shown) {
		line = shown[i]
	}
	return fmt.Sprintf("%4s  %s", strconv.Itoa(i+1), line)
}

func splitLines(data []byte) []string {
	var all []string
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		all = append(all, string(line))
	}
	if n := len(all); n > 0 && all[n-1] == "" {
		all = all[:n-1] // behind the last line's end
	}
	return all
}

// shownLines are a file's lines with what is secret in them masked.
func shownLines(data []byte) []string {
	c := Default()
	c.take(data)
	return c.Lines
}

// inBoth finds lines that two texts share in one order, as places in both.
func inBoth(a, b []string) [][2]int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if a[i] == b[j] {
				best[i][j] = best[i+1][j+1] + 1
			}
		}
	}
	var same [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			same = append(same, [2]int{i, j})
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return slices.Clip(same)
}
