package trace_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/trace"
)

// told carries everything from a bus to a mirror, as a connection does.
func told(t *testing.T, m *trace.Mirror, f trace.Feed) {
	t.Helper()
	b := next(t, f)
	for _, e := range b.Events() {
		m.Tell(e.Value)
	}
}

// alike leaves out the numbers: a mirror's are its own.
var alike = cmp.FilterPath(func(p cmp.Path) bool {
	f, ok := p.Last().(cmp.StructField)
	return ok && f.Name() == "Seq"
}, cmp.Ignore())

func TestAMirrorTellsWhatItWasTold(t *testing.T) {
	b := newBus()
	b.PublishStatus(start, trace.Status{Name: "magpie", Listen: "127.0.0.1:3425"})
	b.PublishAccount(trace.Account{ID: "a/one", State: trace.Fine})
	b.PublishGroup(trace.Group{ID: "g"})
	b.Publish(trace.Route{ID: 1, Time: start})
	v, f := watch(t, b)

	m := trace.NewMirror(v)
	seen, mf := watch(t, m)
	if d := cmp.Diff(v, seen, alike); d != "" {
		t.Fatal("at first:", d)
	}

	b.Publish(trace.Route{ID: 1, Time: start, Done: true, Status: 503})
	b.PublishAccount(trace.Account{ID: "a/one", State: trace.Resting})
	b.PublishAccount(trace.Account{ID: "b", State: trace.Fine, Place: 1})
	b.PublishLog(trace.Log{Text: "a/one rests"})
	told(t, m, f)
	got := next(t, mf)
	if len(got.Routes) != 1 || len(got.Accounts) != 2 || len(got.Logs) != 1 || got.Status == nil {
		t.Errorf("%+v", got)
	}
	if want := b.Status().Totals; got.Status.Totals != want {
		t.Errorf("totals %+v, want them as told: %+v", got.Status.Totals, want)
	}
	now, _ := watch(t, m)
	if d := cmp.Diff(b.View(), now, alike); d != "" {
		t.Error("in the end:", d)
	}
}

func TestALostConnectionIsToldAndAResetBringsEverythingAnew(t *testing.T) {
	m := trace.NewMirror(trace.View{
		Status: trace.Status{PID: 1, Accounts: []trace.Account{{ID: "old"}}},
		Routes: []trace.Route{{ID: 1}}, Logs: []trace.Log{{Text: "kept"}},
	})
	_, f := watch(t, m)
	m.Tell(&trace.Link{Lost: true, Since: start, RetryIn: 4 * time.Second})
	got := next(t, f)
	if got.Link == nil || !got.Link.Lost || got.Link.RetryIn != 4*time.Second || got.Behind {
		t.Errorf("%+v", got)
	}

	m.Reset(trace.View{Status: trace.Status{PID: 2, Accounts: []trace.Account{{ID: "new"}}}, Routes: []trace.Route{{ID: 9}}})
	m.Tell(&trace.Link{})
	got = next(t, f)
	if !got.Behind || got.View == nil || got.Link == nil || got.Link.Lost {
		t.Fatalf("%+v", got)
	}
	v := got.View
	if v.Status.PID != 2 || len(v.Status.Accounts) != 1 || v.Status.Accounts[0].ID != "new" {
		t.Errorf("status %+v", v.Status)
	}
	if len(v.Routes) != 1 || v.Routes[0].ID != 9 || len(v.Logs) != 1 {
		t.Errorf("routes %+v, logs %+v: the log stays where no other came", v.Routes, v.Logs)
	}

	m.Reset(trace.View{Logs: []trace.Log{{Text: "fresh"}}})
	got = next(t, f)
	if len(got.View.Logs) != 1 || got.View.Logs[0].Text != "fresh" || got.Lost != 0 {
		t.Errorf("%+v", got.View.Logs)
	}
	m.Tell(&trace.Log{Text: "after"})
	if got = next(t, f); len(got.Logs) != 1 || got.Logs[0].Text != "after" || got.Behind {
		t.Errorf("%+v", got)
	}
}
