package codex

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// spare is a file beside the sign-in that a renewal will be written to. It is made, with room for
// all that will stand in it, before the refresh token is spent: a full disk is met while nothing
// is lost. Written whole, it holds the only token that is good until it stands in its place.
type spare struct {
	file *os.File
	path string // that it replaces
}

// Names of spares: none is the sign-in's own, whoever looks for that.
const (
	spareHead = ".auth-"
	spareTail = ".json"
)

// signInPath is the file that a home's sign-in is in: a link stays one.
func signInPath(home string) string {
	path := filepath.Join(home, authFile)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func reserve(home string, room int) (*spare, error) {
	path := signInPath(home)
	f, err := os.CreateTemp(filepath.Dir(path), spareHead+"*"+spareTail)
	if err != nil {
		return nil, pathless(err)
	}
	s := &spare{file: f, path: path}
	if _, err = f.Write(make([]byte, room)); err == nil {
		err = f.Sync()
	}
	if err != nil {
		s.drop()
		return nil, pathless(err)
	}
	return s, nil
}

// pathless is an error of a file without its path, which names a person's folder to every agent.
func pathless(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// fill writes the file and puts it in the place of the old one. What is written and can't be put
// there stays, to be adopted.
func (s *spare) fill(data []byte) error {
	_, err := s.file.WriteAt(data, 0)
	if err == nil {
		err = s.file.Truncate(int64(len(data)))
	}
	if err == nil {
		err = s.file.Chmod(0o600)
	}
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		s.drop()
		return err
	}
	_ = s.file.Close() // it is on disk
	if err := os.Rename(s.file.Name(), s.path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(s.path)); err == nil {
		_ = dir.Sync() // a system that can't is no worse off than before
		_ = dir.Close()
	}
	return nil
}

func (s *spare) drop() {
	_ = s.file.Close()           // nothing of it is wanted
	_ = os.Remove(s.file.Name()) // a remnant is swept up by the next renewal
}

// adopt takes up what a renewal left that was cut off: a whole file of the same account with a
// newer token goes in the place of the sign-in, whose token was spent for it, and any other
// is swept up. The caller holds the lock, so that nobody is at work on them.
func adopt(home string) {
	path := signInPath(home)
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, spareHead) || !strings.HasSuffix(name, spareTail) || !e.Type().IsRegular() {
			continue
		}
		now, err := load(home)
		if err != nil {
			return // whether it is wanted is not known
		}
		left := filepath.Join(dir, name)
		data, err := os.ReadFile(left)
		if err != nil {
			continue
		}
		was, err := parse(data)
		if err == nil && was.Account == now.Account && was.Renewed.After(now.Renewed) {
			_ = os.Rename(left, path) // else it stays, and is tried the next time
			continue
		}
		_ = os.Remove(left) // as above
	}
}
