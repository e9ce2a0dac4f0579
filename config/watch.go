package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	settled   = 200 * time.Millisecond // how long a file must stay as it is before it is told
	lookEvery = 5 * time.Second        // for file systems that tell nothing of changes
)

// Watcher tells when one file changes, through whatever symbolic links lead to it.
type Watcher struct {
	path string
	last stamp
	fs   *fsnotify.Watcher
}

// Watch calls changed whenever the file at path is another one or has other content, until ctx ends. It
// blocks, and calls changed never twice at once. A change made before Watch began is not told: call
// NewWatcher before reading the file where that counts.
func Watch(ctx context.Context, path string, changed func()) error {
	w, err := NewWatcher(path)
	if err != nil {
		return err
	}
	return w.Run(ctx, changed)
}

// NewWatcher begins to watch the file at path, which need not exist; its folder must. Run tells every change
// from here on, and must be called: it also ends the watch.
func NewWatcher(path string) (*Watcher, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("watch config: %w", err)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch config: %w", err)
	}
	w := &Watcher{path: path, fs: notify}
	if err := notify.Add(filepath.Dir(path)); err != nil {
		return nil, errors.Join(fmt.Errorf("watch config: %w", err), notify.Close())
	}
	w.last = w.look()
	return w, nil
}

// Run tells changes until ctx ends, and closes the watch.
func (w *Watcher) Run(ctx context.Context, changed func()) error {
	stirred := make(chan struct{}, 1)
	forwarded := make(chan struct{})
	go func() {
		defer close(forwarded)
		w.forward(ctx, stirred)
	}()
	tell(ctx, stirred, teller{last: w.last, look: w.look, changed: changed})
	<-forwarded
	if err := w.fs.Close(); err != nil {
		return fmt.Errorf("end watching config: %w", err)
	}
	return nil
}

// forward turns whatever happens in the watched folders into a nudge. Which file it was about does not
// matter: a link on the way may have been turned elsewhere, and the stamp tells.
func (w *Watcher) forward(ctx context.Context, stirred chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.fs.Events:
		case err := <-w.fs.Errors: // too many events at once: something happened
			if err == nil {
				return // closed
			}
		}
		select {
		case stirred <- struct{}{}:
		default:
		}
	}
}

// teller is what tell knows of a file.
type teller struct {
	last    stamp // what was told last
	look    func() stamp
	changed func()
}

// tell calls changed when the file has become another one and then stayed the same for a while.
func tell(ctx context.Context, stirred <-chan struct{}, t teller) {
	poll := time.NewTicker(lookEvery)
	defer poll.Stop()
	var wait <-chan time.Time
	seen := t.last
	for {
		calm := false
		select {
		case <-ctx.Done():
			return
		case <-stirred:
		case <-poll.C:
		case <-wait:
			wait, calm = nil, true
		}
		if now := t.look(); now != seen {
			seen, wait = now, time.After(settled)
		} else if calm && now != t.last {
			t.last = now
			t.changed()
		}
	}
}

// stamp tells one state of a file from another; the zero stamp is no file.
type stamp struct {
	file string // where the links lead
	size int64
	at   time.Time
	mode fs.FileMode
}

// look returns the file's stamp, and sees to it that the folder of every link on the way is watched: folders
// and not files, because editors write another file and rename it over the first. A folder that was removed
// and made again is watched again.
func (w *Watcher) look() stamp {
	at := w.path
	for range 40 { // as many links as systems follow
		// A folder that is not there cannot be watched, and the next look tries again.
		_ = w.fs.Add(filepath.Dir(at))
		target, err := os.Readlink(at)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		at = target
	}
	info, err := os.Stat(w.path)
	if err != nil {
		return stamp{}
	}
	return stamp{file: at, size: info.Size(), at: info.ModTime(), mode: info.Mode()}
}
