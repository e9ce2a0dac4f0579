package guard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"dev.magpie/config"
)

const tokenBytes = 32

// ControlToken returns the token in the file at path, made when there is no such file. A file that holds
// anything else is an error, and stays as it is.
func ControlToken(path string) (config.Secret, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := makeToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make control token: %w", err)
	}
	return readToken(path) // also when another process was faster
}

// readToken reads the token, and sees to it that nobody but its owner can.
func readToken(path string) (config.Secret, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read control token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if b, err := hex.DecodeString(token); err != nil || len(b) != tokenBytes {
		return "", fmt.Errorf("read control token: %s holds none: remove it, and the next start makes another", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read control token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("read control token: others can read it: %w", err)
		}
	}
	return config.Secret(token), nil
}

// makeToken writes a new token whole or not at all, and never over one that is there.
func makeToken(path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".control-*") // 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeIfThere(f.Name())) }()
	var b [tokenBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	_, err = f.WriteString(hex.EncodeToString(b[:]) + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	// A link, unlike a rename, does not replace the token of a process that was faster.
	err = os.Link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(f.Name(), path) // a file system without links
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// TokenOK says whether a request may change something: it carries the control token, and comes from no web
// page. It takes as long for a wrong token as for a right one.
func TokenOK(r *http.Request, token config.Secret) bool {
	if _, page := r.Header["Origin"]; page || token == "" {
		return false
	}
	a, b := sha256.Sum256([]byte(bearer(r.Header.Get("Authorization")))), sha256.Sum256([]byte(token.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
