package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

const (
	readingDays  = 45
	readingQueue = 1024
	readingPrune = time.Hour // from one look for what is too old to the next
)

// ReadingFilter narrows a listing of readings. The zero value lists the newest 100.
type ReadingFilter struct {
	Account string // provider/name, a provider, or a name alone
	Since   time.Time
	Limit   int // 0 = 100, at most 10,000
}

// AddReading has a reading of an allowance written. It never waits: when the queue is full, or
// the file could not be opened, it is dropped.
func (h *History) AddReading(r trace.Reading) {
	h.mu.Lock()
	full := h.closed || len(h.readings) >= readingQueue
	if !full {
		h.readings = append(h.readings, r)
	}
	h.mu.Unlock()
	if !full {
		h.ring()
	}
}

// takeReadings hands the queue of readings over.
func (h *History) takeReadings() []trace.Reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.readings
	h.readings = nil
	return q
}

// allReadings writes what is queued. What can't be written stays for the next time.
func (w *writer) allReadings(ctx context.Context) error {
	w.readings = append(w.readings, w.h.takeReadings()...)
	if over := len(w.readings) - readingQueue; over > 0 {
		w.readings = w.readings[over:] // the newest are of more use
	}
	if len(w.readings) == 0 {
		return nil
	}
	if err := w.readingBatch(ctx); err != nil {
		return w.failed(err)
	}
	if err := w.here(); err != nil {
		return err
	}
	w.readings = nil
	w.h.tell(nil)
	return nil
}

func (w *writer) readingBatch(ctx context.Context) error {
	tx, err := w.file.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for i := range w.readings {
		r := &w.readings[i]
		windows, err := json.Marshal(r.Windows)
		if err != nil { // a time that JSON can't say
			continue
		}
		provider, _, _ := strings.Cut(r.Account, "/")
		if _, err := tx.ExecContext(ctx, `INSERT INTO readings (time, provider, account, plan, balance, windows) VALUES (?,?,?,?,?,?)`,
			r.Time.UnixMilli(), provider, r.Account, r.Plan, r.Balance, string(windows)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if now := time.Now(); now.Sub(w.pruned) >= readingPrune {
		if _, err := tx.ExecContext(ctx, `DELETE FROM readings WHERE n IN (SELECT n FROM readings WHERE time < ? LIMIT ?)`,
			now.AddDate(0, 0, -readingDays).UnixMilli(), 4*pruneRows); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		w.pruned = now
	}
	return tx.Commit()
}

// Readings lists readings of allowances, the newest first, those just added too. None is older
// than 45 days.
func (h *History) Readings(ctx context.Context, f ReadingFilter) ([]trace.Reading, error) {
	db, end, err := h.use(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	since := time.Now().AddDate(0, 0, -readingDays)
	if f.Since.After(since) {
		since = f.Since
	}
	limit := f.Limit
	if limit <= 0 {
		limit = limitDefault
	}
	where, args := ` WHERE time >= ?`, []any{since.UnixMilli()}
	switch {
	case strings.Contains(f.Account, "/"):
		where, args = where+` AND account = ? COLLATE NOCASE`, append(args, f.Account)
	case f.Account != "":
		where += ` AND (provider = ? COLLATE NOCASE OR substr(account, instr(account, '/') + 1) = ? COLLATE NOCASE)`
		args = append(args, f.Account, f.Account)
	}
	rows, err := db.QueryContext(ctx, `SELECT time, account, plan, balance, windows FROM readings`+where+` ORDER BY time DESC, n DESC LIMIT ?`,
		append(args, min(limit, limitMost))...)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []trace.Reading{}
	for rows.Next() {
		var (
			r       trace.Reading
			ms      int64
			windows string
		)
		if err := rows.Scan(&ms, &r.Account, &r.Plan, &r.Balance, &windows); err != nil {
			return nil, fmt.Errorf("read a reading of the history: %w", err)
		}
		if err := json.Unmarshal([]byte(windows), &r.Windows); err != nil {
			return nil, fmt.Errorf("windows of %s: %w", r.Account, err)
		}
		if r.Windows == nil {
			r.Windows = []trace.Window{}
		}
		r.Time = time.UnixMilli(ms)
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	return out, nil
}
