package history

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

const (
	insert = `INSERT INTO requests (id, time, agent, session, api, asked, grp, provider, account, model, effort,
		served, status, error, fail, tries, input, output, reasoning, cache_read, cache_write, cost, ms, ttft_ms,
		stream, bytes_in, bytes_out) VALUES `
	insertRow = `(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
)

// insertRows is how many rows one statement writes: the driver's cost is by statement.
const insertRows = 16

// inserts are the statements by how many rows they write.
var inserts = func() (by [insertRows + 1]string) {
	for n := 1; n < len(by); n++ {
		by[n] = insert + strings.Repeat(insertRow+",", n-1) + insertRow
	}
	return by
}()

// writer is the one goroutine that writes.
type writer struct {
	h     *History
	file  *file
	rest  []trace.Route // taken from the queue, not written yet
	space []trace.Route // what rest is a part of
	old   time.Time     // what is older is to be pruned; zero = done
	args  []any         // of the statement that is made
	texts texts
	tries bytes.Buffer // a row's, as JSON

	readings []trace.Reading // taken from the queue, not written yet
	pruned   time.Time       // when readings were last looked through for what is too old
}

// work writes batches until ctx ends, and then all that is left. Between them it
// prunes, a little at a time.
func (w *writer) work(ctx context.Context) {
	calm := context.WithoutCancel(ctx) // a batch under way is finished
	for ctx.Err() == nil {
		var idle <-chan struct{}
		if !w.old.IsZero() {
			idle = w.h.opened
		}
		select {
		case <-ctx.Done():
		case done := <-w.h.flush:
			_ = w.all(calm)
			close(done)
		case <-w.h.bell:
			w.gather(ctx)
			if w.all(calm) != nil {
				w.pause(ctx)
			}
		case <-idle:
			w.prune(calm)
		}
	}
	w.last()
}

// last writes what is left at the end; one try, then it is counted as dropped.
func (w *writer) last() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = w.all(ctx)
	w.h.drop(len(w.rest) + len(w.h.take()))
}

// gather waits for a batch to fill, at most its time. A flush has all written at once.
func (w *writer) gather(ctx context.Context) {
	t := time.NewTimer(batchWait)
	defer t.Stop()
	for w.h.queued() < batchRows {
		select {
		case <-w.h.bell:
		case <-t.C:
			return
		case done := <-w.h.flush:
			_ = w.all(context.WithoutCancel(ctx))
			close(done)
			return
		case <-ctx.Done():
			return
		}
	}
}

// pause lets time pass after a batch that could not be written, and has it tried again.
func (w *writer) pause(ctx context.Context) {
	t := time.NewTimer(retryWait)
	defer t.Stop()
	select {
	case <-t.C:
	case done := <-w.h.flush:
		close(done) // its reader sees what is there
	case <-ctx.Done():
	}
	w.h.ring()
}

// write writes what is queued, batch by batch. What can't be written stays for the next
// time; meanwhile the queue fills and, at its limit, drops.
func (w *writer) write(ctx context.Context) error {
	if err := w.allReadings(ctx); err != nil {
		return err
	}
	for {
		if len(w.rest) == 0 {
			w.h.give(w.space)
			w.space = w.h.take()
			w.rest = w.space
		}
		if len(w.rest) == 0 {
			return w.here()
		}
		n := min(batchRows, len(w.rest))
		if err := w.batch(ctx, w.rest[:n]); err != nil {
			return w.failed(err)
		}
		if err := w.here(); err != nil {
			return err
		}
		w.h.wrote(n)
		w.h.tell(nil)
		w.rest = w.rest[n:]
	}
}

// failed tells that a batch could not be written. One into a file that is gone is written anew.
func (w *writer) failed(err error) error {
	if gone := w.here(); gone != nil {
		return gone
	}
	err = fmt.Errorf("write the history: %w", err)
	w.h.tell(err)
	return err
}

// batch writes rows in one transaction.
func (w *writer) batch(ctx context.Context, rows []trace.Route) error {
	tx, err := w.file.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := w.insert(ctx, tx, rows); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// insert writes rows, as many with each statement as it takes.
func (w *writer) insert(ctx context.Context, tx *sql.Tx, rows []trace.Route) error {
	defer func() { clear(w.args[:cap(w.args)]) }()
	if len(rows) >= insertRows {
		st, err := tx.PrepareContext(ctx, inserts[insertRows])
		if err != nil {
			return err
		}
		defer st.Close() //nolint:errcheck // it ends with its transaction at the latest
		for ; len(rows) >= insertRows; rows = rows[insertRows:] {
			if _, err := st.ExecContext(ctx, w.values(rows[:insertRows])...); err != nil {
				return err
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, inserts[len(rows)], w.values(rows)...)
	return err
}

// values are the columns of rows, in the order of insert.
func (w *writer) values(rows []trace.Route) []any {
	w.args = w.args[:0]
	for i := range rows {
		w.add(&rows[i])
	}
	return w.args
}

func (w *writer) add(r *trace.Route) {
	var last trace.Try
	if t := r.Last(); t != nil {
		last = *t
	}
	provider, _, _ := strings.Cut(last.ID, "/")
	model := last.Model
	if model == "" {
		model = r.Resolved.Model
	}
	if provider == "" {
		provider = r.Resolved.Provider
	}
	t := w.texts.of
	w.args = append(w.args,
		r.ID, r.Time.UnixMilli(), t(r.Agent), t(r.Session), t(r.API), t(r.Asked), t(r.Resolved.Group), t(provider), t(last.ID), t(model),
		t(r.Effort), t(r.Served), r.Status, r.Error, t(string(last.Fail)), w.json(&r.Tries), r.Tokens.Input, r.Tokens.Output,
		r.Tokens.Reasoning, r.Tokens.CacheRead, r.Tokens.CacheWrite, micros(r.Cost), r.MS, r.TTFTMS, r.Stream,
		r.BytesIn, r.BytesOut,
	)
}

func (w *writer) json(tries *[]trace.Try) string {
	w.tries.Reset()
	if err := json.NewEncoder(&w.tries).Encode(tries); err != nil { // a time that JSON can't say
		return "[]"
	}
	return string(bytes.TrimSuffix(w.tries.Bytes(), []byte("\n")))
}

// texts keeps those that come again and again as the driver takes them: each time anew, they
// would be an allocation each.
type texts struct{ by map[string]any }

// textsMost is how many are kept.
const textsMost = 512

func (t *texts) of(s string) any {
	v, ok := t.by[s]
	if !ok {
		if t.by == nil || len(t.by) == textsMost {
			t.by = map[string]any{}
		}
		own := strings.Clone(s) // it may lie in a request's body
		v = own
		t.by[own] = v
	}
	return v
}

// micros turns dollars as told into millionths, nil when they are not known.
func micros(usd string) any {
	if usd == "" {
		return nil
	}
	f, err := strconv.ParseFloat(usd, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1e9 {
		return nil
	}
	return int64(math.Round(f * 1e6))
}

// dollars is micros the other way.
func dollars(m int64) string {
	return strconv.FormatFloat(float64(m)/1e6, 'f', -1, 64)
}

// prune deletes some of what is too old.
func (w *writer) prune(ctx context.Context) {
	if w.file.db == nil {
		w.old = time.Time{} // the file that was looked through is gone
		return
	}
	res, err := w.file.db.ExecContext(ctx, `DELETE FROM requests WHERE n IN
		(SELECT n FROM requests WHERE time < ? LIMIT ?)`, w.old.UnixMilli(), pruneRows)
	if err != nil {
		w.h.tell(fmt.Errorf("prune the history: %w", err))
		w.old = time.Time{}
		return
	}
	if n, err := res.RowsAffected(); err != nil || n < pruneRows {
		w.old = time.Time{}
	}
}
