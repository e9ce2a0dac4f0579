package history_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
)

// ear keeps what a history tells.
type ear struct {
	mu    sync.Mutex
	lines []string
}

func listen(h *history.History) *ear {
	e := &ear{}
	h.OnTold(func(l trace.Log) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.lines = append(e.lines, l.Level+" "+l.Text)
	})
	return e
}

// heard are the lines so far that hold words.
func (e *ear) heard(words string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lines {
		if strings.Contains(l, words) {
			n++
		}
	}
	return n
}

func TestAFileThatIsGoneIsBegunAnew(t *testing.T) {
	for name, away := range map[string]struct {
		parts []string // what is taken away of it
		to    string   // where that goes, "" = nowhere
	}{
		"deleted":               {[]string{"", "-wal", "-shm"}, ""},
		"the file alone":        {[]string{""}, ""},
		"moved":                 {[]string{"", "-wal", "-shm"}, "old.db"},
		"the file alone, moved": {[]string{""}, "old.db"},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			old := filepath.Join(filepath.Dir(path), away.to)
			h := open(t, path)
			e := listen(h)
			for i := range int64(3) {
				h.Add(full(i + 1))
			}
			if got := ids(list(t, h, history.Filter{})); got != "3 2 1" || h.Stat().Begun != nil {
				t.Fatalf("%q, %+v", got, h.Stat())
			}
			for _, part := range away.parts {
				var err error
				if away.to == "" {
					err = os.Remove(path + part)
				} else {
					err = os.Rename(path+part, old+part)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for i := range int64(3) {
				h.Add(full(i + 4))
			}
			h.AddReading(trace.Reading{Account: "a/b", Time: time.Now()})
			if got := ids(list(t, h, history.Filter{})); got != "6 5 4" {
				t.Errorf("from then on: %q", got)
			}
			if rs, err := h.Readings(t.Context(), history.ReadingFilter{}); err != nil || len(rs) != 1 {
				t.Errorf("%v, %+v", err, rs)
			}
			if s := h.Stat(); s.Error != "" || s.Dropped != 0 || s.Written != 6 || s.Begun == nil || e.heard("warn the history was moved away or deleted") != 1 {
				t.Errorf("%+v, told %q", s, e.lines)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", err, info)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			if away.to == "" {
				return
			}
			if got := ids(list(t, open(t, old), history.Filter{})); got != "3 2 1" {
				t.Errorf("where it was moved to: %q", got)
			}
		})
	}
}

// A file that is put in the place of the open one is gone on with, if it is a history.
func TestAFileThatWasPutBackIsGoneOnWith(t *testing.T) {
	path := file(t)
	other := filepath.Join(filepath.Dir(path), "backup.db")
	b := open(t, other)
	b.Add(full(1))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	h := open(t, path)
	h.Add(full(2))
	if got := ids(list(t, h, history.Filter{})); got != "2" {
		t.Fatal(got)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	h.Add(full(3))
	if got := ids(list(t, h, history.Filter{})); got != "3 1" {
		t.Errorf("%q", got)
	}
}

func TestWhatComesWhileNoFileCanBeBegunIsWrittenLater(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	synctest.Test(t, func(t *testing.T) {
		h, err := history.Open(filepath.Join(state, "history.db"))
		if err != nil {
			t.Fatal(err)
		}
		e := listen(h)
		h.Add(full(1))
		if err := h.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(state, nil, 0o600); err != nil { // where the folder has to be
			t.Fatal(err)
		}
		for i := range int64(5) {
			h.Add(full(i + 2))
			<-time.After(time.Second)
		}
		if s := h.Stat(); s.Error == "" || s.Dropped != 0 || s.Written != 1 || e.heard("warn the history is not kept") != 1 {
			t.Errorf("%+v, told %q", s, e.lines)
		}
		if _, err := h.Requests(t.Context(), history.Filter{}); err == nil {
			t.Error("it is read as if it were there")
		}
		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		if got := ids(list(t, h, history.Filter{})); got != "6 5 4 3 2" || h.Stat().Error != "" || e.heard("kept again") != 1 {
			t.Errorf("%q, %+v, told %q", got, h.Stat(), e.lines)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAFullDiskIsToldOnceAndWaitsForNobody(t *testing.T) {
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		h, err := history.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		e := listen(h)
		if err := h.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Room(t.Context(), 1); err != nil { // it grows no more
			t.Fatal(err)
		}
		const added = 2000
		began := time.Now()
		for i := range int64(added) {
			h.Add(full(i + 1))
		}
		if time.Since(began) != 0 {
			t.Errorf("adding waited %s", time.Since(began))
		}
		<-time.After(time.Minute)
		if s := h.Stat(); !strings.Contains(s.Error, "full") || s.Dropped != 0 || e.heard("warn the history is not kept") != 1 {
			t.Errorf("%+v, told %q", s, e.lines)
		}
		if err := h.Room(t.Context(), 1<<20); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Second)
		if s := h.Stat(); s.Error != "" || s.Dropped != 0 || s.Written != added || e.heard("kept again") != 1 {
			t.Errorf("once there is room: %+v, told %q", s, e.lines)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestTroubleThatIsThereIsToldToWhoeverListens(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state"), nil, 0o600); err != nil { // where the folder has to be
		t.Fatal(err)
	}
	h := open(t, filepath.Join(dir, "state", "history.db"))
	_ = h.Flush(t.Context())
	if e := listen(h); e.heard("not kept") != 1 {
		t.Errorf("told %q", e.lines)
	}
}

func TestReadersWhileTheFileGoesConcurrentSafe(t *testing.T) {
	path := file(t)
	h := open(t, path)
	list(t, h, history.Filter{})
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			for n := int64(0); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				h.Add(full(n))
				if _, err := h.Requests(t.Context(), history.Filter{}); err != nil {
					t.Errorf("reader %d: %v", i, err)
					return
				}
			}
		})
	}
	for range 20 {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		list(t, h, history.Filter{})
	}
	close(stop)
	all.Wait()
	if s := h.Stat(); s.Dropped != 0 || s.Error != "" || s.Begun == nil {
		t.Errorf("%+v", s)
	}
}
