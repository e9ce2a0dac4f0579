package history

import (
	"context"
	"errors"
	"os"
	"time"

	"dev.magpie/gateway/trace"
)

var errGone = errors.New("the file is not where it was")

// here says whether the open file still lies at its path.
func (w *writer) here() error {
	at, err := os.Stat(w.h.path)
	if err == nil && os.SameFile(at, w.file.as) {
		return nil
	}
	return errGone
}

// all writes what is queued. Where the file is gone by then, all that is not known to lie in it
// goes into another.
func (w *writer) all(ctx context.Context) error {
	if w.file.db == nil {
		if err := w.anew(ctx); err != nil {
			return err
		}
	}
	err := w.write(ctx)
	if !errors.Is(err, errGone) {
		return err
	}
	if err := w.anew(ctx); err != nil {
		return err
	}
	return w.write(ctx)
}

// anew closes the file, wherever it went, and opens what lies at its path now, or makes it. What
// is in the old one's journal is written into it first: the journal may still lie here, and would
// be taken for the new one's.
func (w *writer) anew(ctx context.Context) error {
	w.h.reading.Lock()
	if w.file.db != nil {
		_, _ = w.file.db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`) // it may be on no disk any more
	}
	_ = w.h.shut()
	w.file = w.h.open(ctx)
	w.h.file.Store(w.file)
	w.h.reading.Unlock()
	if w.file.err != nil {
		w.h.tell(w.file.err)
		return w.file.err
	}
	now := time.Now()
	w.h.begun.Store(&now)
	w.h.tell(nil)
	w.h.telling.Lock()
	fn := w.h.hook
	w.h.telling.Unlock()
	if fn != nil {
		fn(trace.Log{Time: now, Level: "warn", Text: "the history was moved away or deleted while it was in use: from now on it goes to the file that is at " + w.h.path + " now"})
	}
	return nil
}
