package state_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dev.magpie/gateway/state"
)

func TestWriteFile(t *testing.T) {
	t.Run("makes the folder and the file for their owner alone", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a", "b")
		write(t, filepath.Join(dir, "f"), "x")
		mode(t, dir, 0o700|fs.ModeDir)
		mode(t, filepath.Dir(dir), 0o700|fs.ModeDir)
		mode(t, filepath.Join(dir, "f"), 0o600)
		onlyFiles(t, dir, "f")
	})
	t.Run("narrows a file that others may read", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		seed(t, path, "old")
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		write(t, path, "new")
		holds(t, path, "new")
		mode(t, path, 0o600)
	})
	t.Run("keeps a symbolic link and replaces what it leads to", func(t *testing.T) {
		dir := t.TempDir()
		real := filepath.Join(dir, "elsewhere", "real")
		seed(t, real, "old")
		link(t, "elsewhere/real", filepath.Join(dir, "second"))
		link(t, filepath.Join(dir, "second"), filepath.Join(dir, "first"))
		write(t, filepath.Join(dir, "first"), "new")
		holds(t, real, "new")
		mode(t, filepath.Join(dir, "first"), 0o777|fs.ModeSymlink)
		mode(t, filepath.Join(dir, "second"), 0o777|fs.ModeSymlink)
		onlyFiles(t, filepath.Dir(real), "real")
	})
	t.Run("makes what a link leads to when that is not there", func(t *testing.T) {
		dir := t.TempDir()
		link(t, "there/real", filepath.Join(dir, "first"))
		write(t, filepath.Join(dir, "first"), "new")
		holds(t, filepath.Join(dir, "there", "real"), "new")
	})
	t.Run("says no to links that lead in a circle", func(t *testing.T) {
		dir := t.TempDir()
		link(t, "b", filepath.Join(dir, "a"))
		link(t, "a", filepath.Join(dir, "b"))
		if err := state.WriteFile(filepath.Join(dir, "a"), nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("leaves nothing behind when it fails", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "f", "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := state.WriteFile(filepath.Join(dir, "f"), []byte("x")); err == nil {
			t.Fatal("a folder was replaced by a file")
		}
		onlyFiles(t, dir, "f")
	})
}

func TestWhatAKilledWriteLeftIsSweptUp(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir+"/rests.json", `{"version":1,"rests":[]}`)
	seed(t, dir+"/.rests.json.111.tmp", `{"version":1,"res`)
	seed(t, dir+"/.rests.json.222.tmp", `{"version":1,"res`)
	seed(t, dir+"/.other.json.333.tmp", `x`)
	old := now.Add(-time.Hour)
	for _, name := range []string{"/.rests.json.111.tmp", "/.other.json.333.tmp"} {
		if err := os.Chtimes(dir+name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(dir+"/.rests.json.222.tmp", now, now); err != nil {
		t.Fatal(err)
	}
	s := open(t, folder(dir))
	if p := s.Problems(); len(p) > 0 {
		t.Errorf("problems: %v", p)
	}
	onlyFiles(t, dir, ".other.json.333.tmp", ".rests.json.222.tmp", "rests.json")
	holds(t, dir+"/rests.json", `{"version":1,"rests":[]}`)
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := state.WriteFile(path, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func seed(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", filepath.Base(path), got, want)
	}
}

func mode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != want {
		t.Errorf("%s has mode %v, want %v", filepath.Base(path), info.Mode(), want)
	}
}

func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if len(got) != len(want) {
		t.Fatalf("the folder has %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("the folder has %q, want %q", got, want)
		}
	}
}
