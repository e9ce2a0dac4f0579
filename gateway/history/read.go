package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

// Filter narrows a listing. The zero value lists the newest 100.
type Filter struct {
	Agent   string
	Model   string    // the model that was asked upstream, or as the agent asked
	Account string    // provider/name, a provider, or a name alone
	Session string    //
	Status  string    // "ok", "failed", a status ("429") or a class of them ("5xx")
	Since   time.Time // begun at or after
	Limit   int       // 0 = 100, at most 10,000
	Before  int64     // the id of a route: only older ones
}

const (
	limitDefault = 100
	limitMost    = 10000
)

// Requests lists finished requests, the newest first, those just added too. They carry
// what is kept of them: order and left are not.
func (h *History) Requests(ctx context.Context, f Filter) ([]trace.Route, error) {
	where, args, err := f.where()
	if err != nil {
		return nil, err
	}
	db, end, err := h.use(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	limit := f.Limit
	if limit <= 0 {
		limit = limitDefault
	}
	args = append(args, min(limit, limitMost))
	rows, err := db.QueryContext(ctx, `SELECT id, time, agent, session, api, asked, grp, provider, model, effort, served,
		status, error, tries, input, output, reasoning, cache_read, cache_write, cost, ms, ttft_ms, stream, bytes_in,
		bytes_out FROM requests`+where+` ORDER BY time DESC, n DESC LIMIT ?`, args...)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []trace.Route{}
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read a request of the history: %w", err)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	return out, nil
}

func scan(rows *sql.Rows) (trace.Route, error) {
	r := trace.Route{Done: true, Order: []trace.Candidate{}, Left: []trace.Candidate{}}
	var (
		ms    int64
		tries string
		cost  sql.NullInt64
		to    = &r.Resolved
		t     = &r.Tokens
	)
	err := rows.Scan(&r.ID, &ms, &r.Agent, &r.Session, &r.API, &r.Asked, &to.Group, &to.Provider, &to.Model,
		&r.Effort, &r.Served, &r.Status, &r.Error, &tries, &t.Input, &t.Output, &t.Reasoning, &t.CacheRead,
		&t.CacheWrite, &cost, &r.MS, &r.TTFTMS, &r.Stream, &r.BytesIn, &r.BytesOut)
	if err != nil {
		return r, err
	}
	r.Time = time.UnixMilli(ms)
	if cost.Valid {
		r.Cost = dollars(cost.Int64)
	}
	if to.Group != "" { // a route resolves to either
		to.Provider, to.Model = "", ""
	}
	if err := json.Unmarshal([]byte(tries), &r.Tries); err != nil {
		return r, fmt.Errorf("tries of %d: %w", r.ID, err)
	}
	if r.Tries == nil {
		r.Tries = []trace.Try{}
	}
	return r, nil
}

// where turns a filter into a condition.
func (f *Filter) where() (string, []any, error) {
	var terms []string
	var args []any
	add := func(term string, with ...any) {
		terms = append(terms, term)
		args = append(args, with...)
	}
	if f.Agent != "" {
		add("agent = ?", f.Agent)
	}
	if f.Model != "" {
		add("(model = ? OR asked = ?)", f.Model, f.Model)
	}
	if f.Session != "" {
		add("session = ?", f.Session)
	}
	if f.Account != "" {
		if strings.Contains(f.Account, "/") {
			add("account = ? COLLATE NOCASE", f.Account)
		} else {
			add(`(provider = ? COLLATE NOCASE OR substr(account, instr(account, '/') + 1) = ? COLLATE NOCASE)`,
				f.Account, f.Account)
		}
	}
	if f.Status != "" {
		low, high, err := statuses(f.Status)
		if err != nil {
			return "", nil, err
		}
		add("status BETWEEN ? AND ?", low, high)
	}
	if !f.Since.IsZero() {
		add("time >= ?", f.Since.UnixMilli())
	}
	if f.Before != 0 {
		add(`(time, n) < (SELECT time, n FROM requests WHERE id = ? ORDER BY n DESC LIMIT 1)`, f.Before)
	}
	if len(terms) == 0 {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args, nil
}

// Check says what is wrong with a filter, nil when nothing is.
func (f *Filter) Check() error {
	if f.Status == "" {
		return nil
	}
	_, _, err := statuses(f.Status)
	return err
}

// statuses reads what a status is filtered by.
func statuses(s string) (low, high int, err error) {
	switch s = strings.ToLower(s); s {
	case "ok", "answered":
		return 0, 399, nil
	case "failed", "error":
		return 400, 999, nil
	}
	if class, ok := strings.CutSuffix(s, "xx"); ok && len(class) == 1 && class[0] >= '1' && class[0] <= '5' {
		low = int(class[0]-'0') * 100
		return low, low + 99, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 100 || n > 999 {
		return 0, 0, fmt.Errorf("status %q: say ok, failed, a status like 429 or a class like 5xx", s)
	}
	return n, n, nil
}

// Today sums the requests begun in [from, to), under the name of from's day.
func (h *History) Today(ctx context.Context, from, to time.Time) (trace.Today, error) {
	t := trace.Today{Day: from.Format(time.DateOnly)}
	db, end, err := h.use(ctx)
	if err != nil {
		return t, err
	}
	defer end()
	var micro int64
	err = db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(input), 0), coalesce(sum(output), 0),
		coalesce(sum(cache_read), 0), coalesce(sum(cost), 0),
		count(CASE WHEN cost IS NULL AND status < 400 AND input + output > 0 THEN 1 END)
		FROM requests WHERE time >= ? AND time < ?`, from.UnixMilli(), to.UnixMilli()).
		Scan(&t.Requests, &t.Input, &t.Output, &t.CacheRead, &micro, &t.Unpriced)
	if err != nil {
		return t, fmt.Errorf("sum the day: %w", err)
	}
	t.CostUSD = float64(micro) / 1e6
	return t, nil
}

// Flush waits until everything that was added is written.
func (h *History) Flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case h.flush <- done:
	case <-h.ended:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// use gives the file to a reader, once it is open and up to date. The reader calls end when it
// has read.
func (h *History) use(ctx context.Context) (db *sql.DB, end func(), err error) {
	select {
	case <-h.opened:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if err := h.file.Load().err; err != nil {
		return nil, nil, err
	}
	if err := h.Flush(ctx); err != nil {
		return nil, nil, err
	}
	h.reading.RLock()
	f := h.file.Load()
	if f.err != nil {
		h.reading.RUnlock()
		return nil, nil, f.err
	}
	return f.db, h.reading.RUnlock, nil
}
