package config

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file is a file that a test changes.
type file struct {
	size atomic.Int64
	told atomic.Int32
}

// watched runs act beside a teller of a made-up file, in virtual time, and returns how often it told.
func watched(t *testing.T, act func(f *file, stir func(), pass func(time.Duration))) int {
	t.Helper()
	var f file
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stirred := make(chan struct{}, 1)
		done := make(chan struct{})
		look := func() stamp { return stamp{size: f.size.Load()} }
		go func() {
			defer close(done)
			tell(ctx, stirred, teller{last: look(), look: look, changed: func() { f.told.Add(1) }})
		}()
		synctest.Wait()
		stir := func() {
			select {
			case stirred <- struct{}{}:
			default:
			}
			synctest.Wait()
		}
		act(&f, stir, func(d time.Duration) { <-time.After(d); synctest.Wait() })
		stop()
		<-done
	})
	return int(f.told.Load())
}

func TestAChangeIsToldOnceTheFileStaysTheSame(t *testing.T) {
	told := watched(t, func(f *file, stir func(), pass func(time.Duration)) {
		for i := range 10 { // an editor that writes in pieces
			f.size.Store(int64(i + 1))
			stir()
			pass(150 * time.Millisecond)
		}
		if n := f.told.Load(); n != 0 {
			t.Errorf("told %d times while it was being written", n)
		}
		pass(100 * time.Millisecond)
	})
	if told != 1 {
		t.Errorf("told %d times; want once", told)
	}
}

func TestOtherFilesInTheFolderAreNotTold(t *testing.T) {
	if told := watched(t, func(_ *file, stir func(), pass func(time.Duration)) {
		for range 20 {
			stir()
			pass(50 * time.Millisecond)
		}
		pass(time.Minute)
	}); told != 0 {
		t.Errorf("told %d times", told)
	}
}

func TestOtherFilesDoNotKeepAChangeFromBeingTold(t *testing.T) {
	if told := watched(t, func(f *file, stir func(), pass func(time.Duration)) {
		f.size.Store(1)
		for range 20 {
			stir()
			pass(50 * time.Millisecond)
		}
	}); told != 1 {
		t.Errorf("told %d times; want once", told)
	}
}

func TestAChangeThatIsTakenBackIsNotTold(t *testing.T) {
	if told := watched(t, func(f *file, stir func(), pass func(time.Duration)) {
		f.size.Store(1)
		stir()
		pass(100 * time.Millisecond)
		f.size.Store(0)
		stir()
		pass(time.Minute)
	}); told != 0 {
		t.Errorf("told %d times", told)
	}
}

func TestAChangeThatTheSystemDoesNotTellIsSeen(t *testing.T) {
	if told := watched(t, func(f *file, _ func(), pass func(time.Duration)) {
		f.size.Store(1)
		pass(6 * time.Second)
		f.size.Store(2)
		pass(6 * time.Second)
	}); told != 2 {
		t.Errorf("told %d times; want twice", told)
	}
}

// watching watches path and returns a channel that gets one value for each change told.
func watching(t *testing.T, path string) <-chan struct{} {
	t.Helper()
	w, err := NewWatcher(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	told := make(chan struct{}, 100)
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx, func() { told <- struct{}{} }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the watch ended with %v", err)
		}
	})
	return told
}

// told waits until one change is told.
func told(t *testing.T, changes <-chan struct{}, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-changes:
	case <-ctx.Done():
		t.Fatalf("%s was not told", what)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRealFilesAreWatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	changes := watching(t, path)
	write(t, path, "a")
	told(t, changes, "a file that came")
	write(t, path, "bb")
	told(t, changes, "a file that was written")
	write(t, path+".new", "ccc")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	told(t, changes, "a file renamed over it")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	told(t, changes, "a file that went")
}

func TestAFileBehindLinksIsWatched(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"home", "dots", "others"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "others", "real.toml"), "a")
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, from+".tmp"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(from+".tmp", from); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "home", "config.toml")
	link("../others/real.toml", filepath.Join(dir, "dots", "magpie.toml"))
	link("../dots/magpie.toml", path)

	changes := watching(t, path)
	write(t, filepath.Join(dir, "others", "real.toml"), "bb")
	told(t, changes, "the file at the end of the links")
	write(t, filepath.Join(dir, "others", "second.toml"), "ccc")
	link("../others/second.toml", filepath.Join(dir, "dots", "magpie.toml"))
	told(t, changes, "a link in the middle that was turned elsewhere")
	write(t, filepath.Join(dir, "others", "second.toml"), "dddd")
	told(t, changes, "the file that it leads to now")
}

func TestAFolderThatIsMissingCannotBeWatched(t *testing.T) {
	if err := Watch(t.Context(), filepath.Join(t.TempDir(), "none", "config.toml"), func() {}); err == nil {
		t.Error("no error")
	}
}
