package redact

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keyBytes is the length of the key that placeholders are made with.
const keyBytes = 32

// NewKey makes a key for one run, where none can be kept.
func NewKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// KeyAt reads the key at path, and makes one where there is none: once, also when several processes
// do so at the same time. What is there and is no key stays as it is, and is an error.
func KeyAt(path string) ([]byte, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the key of placeholders: %w", err)
	}
	return readKey(path) // also when another process was faster
}

// readKey reads the key, and sees to it that nobody but its owner can.
func readKey(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key of placeholders: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("read the key of placeholders: %s holds none: remove it, and the next start makes another", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the key of placeholders: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, fmt.Errorf("read the key of placeholders: others can read it: %w", err)
		}
	}
	return key, nil
}

// makeKey writes a new key whole or not at all, and never over one that is there.
func makeKey(path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".redact-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(f.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = f.WriteString(hex.EncodeToString(NewKey()) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// A link, unlike a rename, does not replace the key of a process that was faster.
	err = os.Link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(f.Name(), path) // a file system without links
}
