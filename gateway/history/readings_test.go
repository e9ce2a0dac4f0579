package history_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
)

func reading(account string, ago time.Duration, used float64) trace.Reading {
	at := time.Now().Add(-ago).Truncate(time.Millisecond)
	resets := at.Add(time.Hour)
	return trace.Reading{
		Time: at, Account: account, Plan: "max", Balance: "$3.00",
		Windows: []trace.Window{{Name: "7 days", Used: used, Resets: &resets, SpanS: 604800, Amount: used * 2, Limit: 200, Unit: "USD", Read: at}},
	}
}

func TestReadingsComeBackAsTheyWereKept(t *testing.T) {
	path := file(t)
	h := open(t, path)
	first, second, other := reading("relay/main", 3*time.Hour, 10), reading("relay/main", time.Hour, 20), reading("glm/main", 2*time.Hour, 5)
	for _, r := range []trace.Reading{first, second, other, reading("relay/main", 46*24*time.Hour, 1)} {
		h.AddReading(r)
	}
	for _, c := range []struct {
		f    history.ReadingFilter
		want []trace.Reading
	}{
		{history.ReadingFilter{}, []trace.Reading{second, other, first}},
		{history.ReadingFilter{Limit: 1}, []trace.Reading{second}},
		{history.ReadingFilter{Account: "RELAY/main"}, []trace.Reading{second, first}},
		{history.ReadingFilter{Account: "glm"}, []trace.Reading{other}},
		{history.ReadingFilter{Account: "main", Since: time.Now().Add(-150 * time.Minute)}, []trace.Reading{second, other}},
		{history.ReadingFilter{Account: "nobody"}, []trace.Reading{}},
	} {
		got, err := h.Readings(t.Context(), c.f)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
			t.Errorf("%+v: %s", c.f, diff)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	if got, err := again.Readings(t.Context(), history.ReadingFilter{}); err != nil || len(got) != 3 {
		t.Errorf("after a restart: %d, %v", len(got), err)
	}
	again.AddReading(reading("relay/main", 0, 30))
	if _, err := again.Readings(t.Context(), history.ReadingFilter{}); err != nil {
		t.Fatal(err)
	}
	if n := count(t, path, "SELECT count(*) FROM readings"); n != 4 {
		t.Errorf("%d readings in the file: what is older than 45 days goes", n)
	}
}

func TestAFileWithoutReadingsGetsThem(t *testing.T) {
	path := file(t)
	h := open(t, path)
	h.Add(full(1))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	foreign(t, path, "DROP TABLE readings; UPDATE schema SET version = 1")
	again := open(t, path)
	again.AddReading(reading("relay/main", 0, 30))
	got, err := again.Readings(t.Context(), history.ReadingFilter{})
	if err != nil || len(got) != 1 || len(list(t, again, history.Filter{})) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAddingReadingsNeverWaits(t *testing.T) {
	h := open(t, t.TempDir()) // a folder: it can't be opened
	for i := range 5000 {
		h.AddReading(reading(fmt.Sprintf("relay/%d", i), 0, 1))
	}
	if _, err := h.Readings(t.Context(), history.ReadingFilter{}); err == nil {
		t.Error("a file that can't be opened is read")
	}
}

// foreign carries a statement out on a file that nobody has open.
func foreign(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
