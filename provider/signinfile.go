package provider

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// signInBytes is more than any program's sign-in file holds.
const signInBytes = 1 << 20

// ReadSignIn reads a file in which a program keeps its sign-in. One that is not there is
// fs.ErrNotExist; one that can't be read is a state of the account, told without its path.
func ReadSignIn(home, name string) ([]byte, error) {
	data, err := readPlain(filepath.Join(home, name))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return nil, SignInError("its " + name + " can't be read: " + err.Error())
}

// readPlain reads a file that is one: a pipe would hold up whoever reads it.
func readPlain(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, signInBytes+1))
	if err == nil && len(data) > signInBytes {
		err = errors.New("it is too long to be one")
	}
	return data, err
}
