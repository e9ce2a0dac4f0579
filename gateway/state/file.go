package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// staleTemp is the age from which a temporary file belongs to no write under way.
const staleTemp = 10 * time.Minute

// maxLinks is how many symbolic links are followed to a file.
const maxLinks = 16

// WriteFile puts data into a file so that a reader, also one after a crash, finds the
// old content or the new one, whole: a temporary file in the same folder, synced, mode
// 0600, renamed over the old. A symbolic link stays and its target is replaced. The
// folder is made, mode 0700, when there is none.
func WriteFile(path string, data []byte) (err error) {
	path, err = target(path)
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	f, err := os.CreateTemp(dir, tempPattern(path))
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write file: %w", err)
		}
	}()
	if err := fill(f, data); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(dir)
	return nil
}

// fill writes, syncs and closes a temporary file.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the rename last. Not every file system can; the file itself is whole either way.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}

// target follows symbolic links to the file that is to be replaced, also to one that is not there yet.
func target(path string) (string, error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "follow links of", Path: path, Err: errors.New("too many")}
}

func tempPattern(path string) string { return "." + filepath.Base(path) + ".*.tmp" }

// sweep removes temporary files that a killed process left beside path.
func sweep(path string, now time.Time) {
	path, err := target(path)
	if err != nil {
		return
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), tempPattern(path)))
	if err != nil {
		return
	}
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > staleTemp {
			_ = os.Remove(name)
		}
	}
}
