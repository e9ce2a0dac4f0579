package history_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// open opens a history that the test closes.
func open(t *testing.T, path string) *history.History {
	t.Helper()
	h, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "history.db") }

func list(t *testing.T, h *history.History, f history.Filter) []trace.Route {
	t.Helper()
	rs, err := h.Requests(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func ids(rs []trace.Route) string {
	var out []string
	for _, r := range rs {
		out = append(out, fmt.Sprint(r.ID))
	}
	return strings.Join(out, " ")
}

// full is a route with a value in every column.
func full(id int64) trace.Route {
	return trace.Route{
		ID: id, Time: noon.Add(time.Duration(id) * time.Second).Local(), Agent: "codex", Session: "c02e", API: "responses",
		Asked: "gpt-6.1-sol", Resolved: trace.Resolved{Provider: "codex", Model: "gpt-6.1-sol"}, Effort: "high",
		Served: "gpt-6.1-sol-2026", Done: true, Status: 200, Error: "", MS: 14200, TTFTMS: 1900, Stream: true,
		Tokens: trace.Tokens{Input: 20410, Output: 1204, Reasoning: 300, CacheRead: 17960, CacheWrite: 2450},
		Cost:   "0.031", BytesIn: 4000, BytesOut: 9000,
		Order: []trace.Candidate{}, Left: []trace.Candidate{},
		Tries: []trace.Try{
			{
				ID: "relay/a", Model: "gpt-6.1-sol", Start: noon, MS: 400, Status: 429, Fail: trace.Rate, Done: true,
				Rest: &trace.Rest{Key: "relay/a", Why: trace.Rate, By: trace.ByCooldown, Since: noon, Until: noon.Add(time.Minute)},
			},
			{ID: "codex/work-max", Model: "gpt-6.1-sol", Start: noon, MS: 13000, Status: 200, Done: true},
		},
	}
}

func TestARequestComesBackAsItWasKept(t *testing.T) {
	path := file(t)
	h := open(t, path)
	want := full(1)
	h.Add(want)
	if d := cmp.Diff([]trace.Route{want}, list(t, h, history.Filter{})); d != "" {
		t.Error("at once:", d)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = open(t, path)
	if d := cmp.Diff([]trace.Route{want}, list(t, h, history.Filter{})); d != "" {
		t.Error("after a restart:", d)
	}
}

func TestAnUnknownPriceStaysUnknownAndAFreeOneIsZero(t *testing.T) {
	h := open(t, file(t))
	for i, cost := range []string{"", "0", "0.000001", "12.5", "nonsense"} {
		r := full(int64(i))
		r.Cost = cost
		h.Add(r)
	}
	var got []string
	for _, r := range list(t, h, history.Filter{}) {
		got = append(got, r.Cost)
	}
	if want := []string{"", "12.5", "0.000001", "0", ""}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilters(t *testing.T) {
	h := open(t, file(t))
	add := func(id int64, agent, account, model string, status int) {
		h.Add(trace.Route{
			ID: id, Time: noon.Add(time.Duration(id) * time.Minute), Agent: agent, Asked: "as-asked-" + model, Session: agent + "-talk",
			Done: true, Status: status, Tries: []trace.Try{{ID: account, Model: model, Status: status}},
		})
	}
	add(1, "claude", "anthropic/work", "sonnet", 200)
	add(2, "codex", "codex/work", "gpt", 429)
	add(3, "claude", "ollama", "qwen", 503)
	add(4, "claude", "anthropic/Home", "sonnet", 499)
	add(5, "droid", "anthropic/work", "opus", 200)
	for name, c := range map[string]struct {
		f    history.Filter
		want string
	}{
		"nothing asked lists all, newest first":      {history.Filter{}, "5 4 3 2 1"},
		"an agent":                                   {history.Filter{Agent: "claude"}, "4 3 1"},
		"a model as it was asked upstream":           {history.Filter{Model: "sonnet"}, "4 1"},
		"a model as the agent asked":                 {history.Filter{Model: "as-asked-gpt"}, "2"},
		"an account by its id, whatever its case":    {history.Filter{Account: "anthropic/home"}, "4"},
		"a provider has all its accounts":            {history.Filter{Account: "anthropic"}, "5 4 1"},
		"a provider without accounts is its own":     {history.Filter{Account: "ollama"}, "3"},
		"a bare name has all of that name":           {history.Filter{Account: "work"}, "5 2 1"},
		"a conversation":                             {history.Filter{Session: "codex-talk"}, "2"},
		"a status":                                   {history.Filter{Status: "429"}, "2"},
		"a class of statuses":                        {history.Filter{Status: "4xx"}, "4 2"},
		"what went well":                             {history.Filter{Status: "ok"}, "5 1"},
		"what failed":                                {history.Filter{Status: "failed"}, "4 3 2"},
		"since a time, that one included":            {history.Filter{Since: noon.Add(4 * time.Minute)}, "5 4"},
		"at most so many":                            {history.Filter{Limit: 2}, "5 4"},
		"what came before one":                       {history.Filter{Before: 4, Limit: 2}, "3 2"},
		"before one that is not there lists nothing": {history.Filter{Before: 99}, ""},
		"all of it must hold":                        {history.Filter{Agent: "claude", Account: "work"}, "1"},
		"a quote is a letter":                        {history.Filter{Agent: "x' OR 1=1 --"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ids(list(t, h, c.f)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for _, bad := range []string{"42", "6xx", "late", "4x"} {
		if _, err := h.Requests(t.Context(), history.Filter{Status: bad}); err == nil {
			t.Errorf("status %q is taken", bad)
		}
	}
}

func TestARequestIsTheLastOnesThatWasAsked(t *testing.T) {
	h := open(t, file(t))
	h.Add(trace.Route{ID: 1, Time: noon, Done: true, Status: 500, Tries: []trace.Try{
		{ID: "p/a", Status: 500, Fail: trace.Other}, {ID: "p/b", Status: 503, Fail: trace.Other, Row: trace.RowPausedSince},
	}})
	for account, want := range map[string]string{"p/a": "1", "p/b": ""} {
		if got := ids(list(t, h, history.Filter{Account: account})); got != want {
			t.Errorf("of %s: %q, want %q", account, got, want)
		}
	}
}

func TestTodaySumsFromItsStartToItsEnd(t *testing.T) {
	h := open(t, file(t))
	day := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	add := func(at time.Time, cost string, status int) {
		r := full(at.UnixMilli())
		r.Time, r.Cost, r.Status = at, cost, status
		h.Add(r)
	}
	add(day.Add(-time.Millisecond), "5", 200) // yesterday
	add(day, "0.5", 200)
	add(day.Add(time.Hour), "", 200)
	add(day.Add(time.Hour), "", 503)
	add(day.Add(2*time.Hour), "7", 200) // after this run began
	got, err := h.Today(t.Context(), day, day.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	want := trace.Today{
		Day: "2026-11-29", Requests: 3, Input: 3 * 20410, Output: 3 * 1204, CacheRead: 3 * 17960,
		CostUSD: .5, Unpriced: 1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// An opening that takes its time must not hold up a request: the queue takes what
// it can, the rest is counted.
func TestAFullQueueDropsAndCounts(t *testing.T) {
	path := file(t)
	h := open(t, path)
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	unlock := lock(t, path)
	const added = 6000
	begin := time.Now()
	for i := range int64(added) {
		h.Add(full(i))
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("adding waited: %s", took)
	}
	if s := h.Stat(); s.Dropped != added-4096 || s.Written != 0 {
		t.Errorf("%+v: all beyond 4,096 must be dropped, none can be written", s)
	}
	unlock()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if s := h.Stat(); s.Written != 4096 || s.Dropped != added-4096 {
		t.Errorf("%+v: all that was queued must be written", s)
	}
}

// lock keeps the file for itself, as another process could.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestABatchIsWrittenByItselfInAQuarterOfASecond(t *testing.T) {
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		h, err := history.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.Add(full(1))
		synctest.Wait()
		if w := h.Stat().Written; w != 0 {
			t.Errorf("%d rows written before the batch had time to fill", w)
		}
		<-time.After(250 * time.Millisecond)
		synctest.Wait()
		if w := h.Stat().Written; w != 1 {
			t.Errorf("%d rows written after 250 ms, want 1", w)
		}
		for i := range int64(256) {
			h.Add(full(2 + i))
		}
		synctest.Wait()
		if w := h.Stat().Written; w != 257 {
			t.Errorf("%d rows written of a full batch, want 257 at once", w)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatIsOlderThan400DaysGoesAtTheStart(t *testing.T) {
	path := file(t)
	h := open(t, path)
	for i := range int64(1300) {
		r := full(i)
		r.Time = time.Now().AddDate(0, 0, -401)
		h.Add(r)
	}
	r := full(5000)
	r.Time = time.Now().AddDate(0, 0, -399)
	h.Add(r)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = open(t, path)
	deadline := time.After(time.Minute)
	for left := int64(2); left != 1; {
		sum, err := h.Today(t.Context(), time.Now().AddDate(-3, 0, 0), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		left = sum.Requests
		select {
		case <-deadline:
			t.Fatalf("%d requests are still there", left)
		default:
		}
	}
	if got := ids(list(t, h, history.Filter{})); got != "5000" {
		t.Errorf("%s stayed", got)
	}
}

// What was written is there after a kill: a copy of the files as they lie on the disk
// while the history is open is what a killed process leaves.
func TestAKillLosesNothingThatWasWritten(t *testing.T) {
	path := file(t)
	h := open(t, path)
	for i := range int64(700) {
		h.Add(full(i))
	}
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "history.db"+suffix), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left := open(t, filepath.Join(dir, "history.db"))
	if n := len(list(t, left, history.Filter{Limit: 10000})); n != 700 {
		t.Errorf("%d of 700 requests are there after a kill", n)
	}
	if s := left.Stat(); s.Error != "" {
		t.Error(s.Error)
	}
}

func TestTheFilesAreTheirOwnersAlone(t *testing.T) {
	path := file(t)
	h := open(t, path)
	h.Add(full(1))
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		st, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if m := st.Mode().Perm(); m != 0o600 {
			t.Errorf("%s has mode %o", filepath.Base(name), m)
		}
	}
	st, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if m := st.Mode().Perm(); m != 0o700 {
		t.Errorf("its folder has mode %o", m)
	}
}

func TestAPathWithOddLettersIsTakenAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%41&e=ü", "history.db")
	h := open(t, path)
	h.Add(full(1))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if s := h.Stat(); s.Error != "" || s.Written != 1 {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestAFileThatIsNotOursIsToldAndLeftAsItIs(t *testing.T) {
	foreign := func(t *testing.T, path, statements string) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), statements); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"no database at all": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("not a database\n"), 999), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a database"},
		"a database of a newer magpie": {func(t *testing.T, path string) {
			foreign(t, path, `CREATE TABLE schema (version INTEGER NOT NULL); INSERT INTO schema VALUES (99);`)
		}, "newer magpie"},
		"someone else's database": {func(t *testing.T, path string) {
			foreign(t, path, `CREATE TABLE songs (title TEXT);`)
		}, "not magpie's"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.db")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			h := open(t, path)
			h.Add(full(1))
			if _, err := h.Requests(t.Context(), history.Filter{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a reader is told %v, want %q", err, c.want)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			s := h.Stat()
			if !strings.Contains(s.Error, c.want) || s.Dropped != 1 {
				t.Errorf("told %+v, want %q and one dropped", s, c.want)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, after) {
				t.Error("the file was written to")
			}
		})
	}
}

func TestAPathThatCannotBeOpenedIsTold(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir) // a folder
	if _, err := h.Today(t.Context(), noon, noon); err == nil {
		t.Error("no error")
	}
	if s := h.Stat(); !strings.Contains(s.Error, dir) {
		t.Errorf("told %q, without the path", s.Error)
	}
	if _, err := history.Open(""); err == nil {
		t.Error("no path is taken")
	}
}

func TestReadingBesideWritingConcurrentSafe(t *testing.T) {
	h := open(t, file(t))
	var wg sync.WaitGroup
	const writers, each = 4, 200
	for w := range int64(writers) {
		wg.Go(func() {
			for i := range int64(each) {
				h.Add(full(w*each + i))
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if _, err := h.Requests(t.Context(), history.Filter{Agent: "codex"}); err != nil {
					t.Error(err)
				}
				if _, err := h.Today(t.Context(), noon, noon.Add(time.Hour)); err != nil {
					t.Error(err)
				}
				_ = h.Stat()
			}
		})
	}
	wg.Wait()
	if n := len(list(t, h, history.Filter{Limit: 10000})); n != writers*each {
		t.Errorf("%d of %d", n, writers*each)
	}
}

func TestAfterTheEnd(t *testing.T) {
	h := open(t, file(t))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h.Add(full(1))
	if s := h.Stat(); s.Dropped != 1 {
		t.Errorf("%+v: what is added after the end is dropped", s)
	}
	if _, err := h.Requests(t.Context(), history.Filter{}); err == nil {
		t.Error("reading after the end gives no error")
	}
	if err := h.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestACancelledReaderLeaves(t *testing.T) {
	h := open(t, file(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Requests(ctx, history.Filter{}); err == nil {
		t.Error("no error")
	}
}

func BenchmarkAdd(b *testing.B) {
	h, err := history.Open(filepath.Join(b.TempDir(), "history.db"))
	if err != nil {
		b.Fatal(err)
	}
	r := full(1)
	b.ReportAllocs()
	for b.Loop() {
		h.Add(r)
	}
	if err := h.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(h.Stat().Dropped)/float64(b.N), "dropped/op")
}

func TestAFileThatCanBeOpenedLaterIsKeptFromThenOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "history.db")
	if err := os.WriteFile(filepath.Join(dir, "state"), nil, 0o600); err != nil { // where the folder has to be
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		h, err := history.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		h.Add(full(1))
		synctest.Wait()
		if err := os.Remove(filepath.Join(dir, "state")); err != nil {
			t.Fatal(err)
		}
		if s := h.Stat(); s.Error == "" || s.Dropped != 1 {
			t.Errorf("at first: %+v", s)
		}
		<-time.After(time.Minute)
		h.Add(full(2))
		if err := h.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		if s := h.Stat(); s.Error != "" || s.Written != 1 || s.Dropped != 1 {
			t.Errorf("once there is room: %+v", s)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}
