//go:build unix

package provider_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dev.magpie/provider"
)

func TestAFileOfASignInIsAFileThatCanBeRead(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	for name, put := range map[string]func() error{
		"pipe":   func() error { return syscall.Mkfifo(at("pipe"), 0o600) },
		"folder": func() error { return os.Mkdir(at("folder"), 0o700) },
		"long":   func() error { return os.WriteFile(at("long"), make([]byte, 2<<20), 0o600) },
		"shut":   func() error { return os.WriteFile(at("shut"), []byte("x"), 0o000) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		data, err := provider.ReadSignIn(home, name)
		if name == "shut" && err == nil {
			continue // whoever runs this reads everything
		}
		var state provider.SignInError
		if !errors.As(err, &state) || !strings.Contains(err.Error(), "its "+name+" can't be read") || strings.Contains(err.Error(), home) || data != nil {
			t.Errorf("%s: %v, %d bytes", name, err, len(data))
		}
	}
	if _, err := provider.ReadSignIn(home, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(at("whole"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("whole"), at("link")); err != nil {
		t.Fatal(err)
	}
	if data, err := provider.ReadSignIn(home, "link"); err != nil || string(data) != "{}" {
		t.Errorf("%v %s", err, data)
	}
}
