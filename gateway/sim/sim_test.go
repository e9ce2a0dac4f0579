package sim

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

var update = flag.Bool("update", false, "write the golden tables")

// workloads are those that come along.
var workloads = []string{"solo", "heavy", "team"}

func load(t testing.TB, name string) *Workload {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "sim", name+".toml"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestTables(t *testing.T) {
	var tables []string
	defer func() { onThePage(t, strings.Join(tables, "\n")) }()
	for _, name := range workloads {
		t.Run(name, func(t *testing.T) {
			rep, err := Run(load(t, name), nil, Orders)
			if err != nil {
				t.Fatal(err)
			}
			got := rep.Table()
			for line := range strings.SplitSeq(got, "\n") {
				if len(line) > 80 {
					t.Errorf("%d cells: %s", len(line), line)
				}
			}
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("run go test ./gateway/sim -run Tables -update\n%s", diff)
			}
			tables = append(tables, got)
			nearest(t, rep)
		})
	}
}

// onThePage holds the page to the tables, or writes them there.
func onThePage(t *testing.T, tables string) {
	t.Helper()
	const page, fence = "README.md", "```\n"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), fence)
	_, after, _ := strings.Cut(rest, fence)
	want := before + fence + tables + fence + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil { //nolint:gosec // for all to read
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("the page has other tables\n%s", diff)
	}
}

// nearest says that best is behind the bound no further than any other order in what goes to
// waste and what is paid, and reads no less from caches than smart.
func nearest(t *testing.T, rep *Report) {
	t.Helper()
	by := map[string]*Result{}
	for i := range rep.Orders {
		by[rep.Orders[i].Order] = &rep.Orders[i]
	}
	best, smart := by["best"], by["smart"]
	for _, r := range by {
		if best.Wasted() > r.Wasted() || best.Money > r.Money {
			t.Errorf("best wastes %.3f and pays %.2f, %s %.3f and %.2f", best.Wasted(), best.Money, r.Order, r.Wasted(), r.Money)
		}
	}
	if best.Cached() < smart.Cached() || best.Late() > smart.Late() || best.Broken > smart.Broken {
		t.Errorf("best %+v\nsmart %+v", *best, *smart)
	}
}

func TestWhatIsWrongWithAWorkloadIsToldTogether(t *testing.T) {
	for _, c := range []struct{ name, toml, want string }{
		{"nothing in it", "", "days: write 1 to 60\nnobody may answer: name accounts or keys\nnobody asks: name agents, or a history"},
		{"no TOML", "days = ", "read the workload:"},
		{"a key that is none", "weeks = 2", "weeks is no key of a workload"},
		{"a duration", "patience = \"long\"", `"long" is no duration`},
		{"an id", "[[accounts]]\nid = \"a\"", `"a": an id is provider/name`},
		{"twice", "[[accounts]]\nid = \"p/a\"\n[[keys]]\nid = \"p/a\"", "p/a is there twice"},
		{"used before it began", "[[accounts]]\nid = \"p/a\"\nwindows = [{ name = \"w\", span = \"5h\", limit = 1, used = 3 }]", "p/a, window \"w\": it needs"},
		{"a failure", "[[accounts]]\nid = \"p/a\"\nfails = [{ at = \"1h\", status = 200 }]", "p/a fails with 200"},
		{"prices upside down", "[[keys]]\nid = \"p/a\"\nprice = { input = 1, cache_read = 2 }", "p/a: a token read from a cache"},
		{"a range", "[[agents]]\nname = \"x\"\nfrom = \"9h\"\nto = \"10h\"\nturns = [3, 1]", "agent x, turns: write [least, most]"},
		{"hours", "[[agents]]\nname = \"x\"\nfrom = \"9h\"\nto = \"8h\"", "agent x: from and to are times of one day"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.toml))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("told %v, want %s", err, c.want)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "5h": 5 * time.Hour, "7d": 168 * time.Hour, "2d14h": 62 * time.Hour} {
		var s Span
		if err := s.UnmarshalText([]byte(text)); err != nil || s.d() != want {
			t.Errorf("%s is %s, %v", text, s.d(), err)
		}
	}
}

func TestRequestsComeByTimeAndGrow(t *testing.T) {
	for _, name := range workloads {
		all := load(t, name).Requests()
		last := map[int]Request{}
		for i, r := range all {
			before, known := last[r.Conv]
			switch {
			case i > 0 && r.At < all[i-1].At, known && r.At <= before.At:
				t.Fatalf("%s: %+v is before the one before it", name, r)
			case r.Shared > r.Input, !known && (r.Shared != 0 || r.Within || r.Turn != 1):
				t.Fatalf("%s: %+v", name, r)
			case known && r.Shared != before.Input+before.Output && r.Input > before.Input:
				t.Fatalf("%s: %+v after %+v", name, r, before)
			}
			last[r.Conv] = r
		}
		if len(all) < 1000 {
			t.Errorf("%s asks only %d times", name, len(all))
		}
	}
}

func TestAHistoryIsAWorkload(t *testing.T) {
	at := time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
	route := func(after time.Duration, session string, input, output, read int64) trace.Route {
		return trace.Route{Time: at.Add(after), Agent: "claude", Session: session, Asked: "m", Tokens: trace.Tokens{Input: input, Output: output, CacheRead: read}}
	}
	w := &Workload{}
	w.Record([]trace.Route{ // the newest first, as a history has them
		route(26*time.Hour, "b", 500, 5, 0), route(12*time.Minute, "a", 400, 5, 100), route(10*time.Minute, "a", 2000, 5, 0),
		route(20*time.Second, "a", 1500, 10, 900), route(10*time.Second, "", 9, 9, 9), route(5*time.Second, "a", 0, 0, 0), route(0, "a", 1000, 20, 0),
	})
	want := []Request{
		{Conv: 1, At: 9 * time.Hour, Turn: 1, Input: 1000, Output: 20},
		{Conv: 1, At: 9*time.Hour + 20*time.Second, Turn: 1, Within: true, Input: 1500, Shared: 1020, Output: 10},
		{Conv: 1, At: 9*time.Hour + 10*time.Minute, Turn: 2, Input: 2000, Shared: 1510, Output: 5},
		{Conv: 1, At: 9*time.Hour + 12*time.Minute, Turn: 3, Input: 400, Shared: 100, Output: 5}, // compacted
		{Conv: 2, At: 35 * time.Hour, Turn: 1, Input: 500, Output: 5},
	}
	if diff := cmp.Diff(want, w.Requests()); diff != "" || w.Days != 2 {
		t.Errorf("%d days\n%s", w.Days, diff)
	}
}

func TestAVendorKeepsItsWindows(t *testing.T) {
	v := &vendor{id: "p/a", cache: map[int]prefix{}, windows: []window{{Window: Window{Name: "5 hours", Span: Span(5 * time.Hour)}, limit: 100 * grain}}}
	weight := costOf(1, 0, 0)
	ask := func(at time.Duration, conv int, input, shared int64) answer {
		v.renew(at, func(period) {})
		return v.ask(&Request{Conv: conv, At: at, Input: input, Shared: shared}, at, weight, 0)
	}
	for _, c := range []struct {
		name   string
		at     time.Duration
		conv   int
		input  int64
		shared int64
		want   answer
	}{
		{"the first begins the window", time.Hour, 1, 40, 0, answer{status: 200, spent: 40 * grain}},
		{"what is warm counts nothing", time.Hour + 5*time.Minute, 1, 60, 40, answer{status: 200, read: 40, spent: 20 * grain}},
		{"what is cold counts all", time.Hour + 11*time.Minute, 1, 30, 30, answer{status: 200, spent: 30 * grain}},
		{"what does not fit is turned away, until the window ends", 2 * time.Hour, 2, 11, 0, answer{status: 429, until: 6 * time.Hour}},
		{"what fits is not", 2 * time.Hour, 2, 10, 0, answer{status: 200, spent: 10 * grain}},
		{"a new window begins with its first request", 7 * time.Hour, 2, 90, 0, answer{status: 200, spent: 90 * grain}},
		{"and lasts as long", 11 * time.Hour, 2, 90, 0, answer{status: 429, until: 12 * time.Hour}},
	} {
		if got := ask(c.at, c.conv, c.input, c.shared); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The greatest flow is checked against all cuts of small networks.
func TestFlowIsTheLeastCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "nodes") + 2
		f := newFlow()
		for range n - 2 {
			f.node()
		}
		type edge struct {
			from, to int
			room     int64
		}
		var all []edge
		for range rapid.IntRange(0, 14).Draw(t, "pipes") {
			e := edge{rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to"), rapid.Int64Range(0, 9).Draw(t, "room")}
			all = append(all, e)
		}
		half := len(all) / 2 // in two goes, as the bound does
		got := int64(0)
		for i, e := range all {
			if i == half {
				got += f.more()
			}
			f.pipe(e.from, e.to, e.room)
		}
		got += f.more()
		least := int64(1 << 60)
		for set := range 1 << n {
			if set&1 == 0 || set&2 != 0 {
				continue
			}
			cut := int64(0)
			for _, e := range all {
				if set>>e.from&1 == 1 && set>>e.to&1 == 0 {
					cut += e.room
				}
			}
			least = min(least, cut)
		}
		if got != least {
			t.Fatalf("flow %d, cut %d", got, least)
		}
	})
}

func TestAConfigsOwnRouting(t *testing.T) {
	w := load(t, "solo")
	cat, err := w.catalog()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(w, cat, Orders[:1]); err != nil {
		t.Fatal(err) // the workload's own group is found by its name
	}
	g := *cat.Groups[0]
	g.ID, g.Routing = "mine", "pace"
	extra := &provider.Provider{ID: "other", Accounts: []*provider.Account{{ID: "other/x", Provider: "other", Name: "x", Kind: provider.KindKey}}}
	g.Members = append(slices.Clone(g.Members), provider.Ref{Provider: "other", Model: "m"})
	cat = provider.NewCatalog(append(slices.Clone(cat.Providers), extra), []*provider.Group{&g})
	w.Model = "group/mine"
	rep, err := Run(w, cat, []string{Own, "pace", "smart"})
	if err != nil {
		t.Fatal(err)
	}
	own, pace := rep.Orders[0], rep.Orders[1]
	own.Order = pace.Order
	if own != pace || own.Money == rep.Orders[2].Money && own.Wasted() == rep.Orders[2].Wasted() {
		t.Errorf("%+v\n%+v\n%+v", own, pace, rep.Orders[2])
	}
	for name, c := range map[string]struct {
		change func(w *Workload)
		want   string
	}{
		"an account that it has not":  {func(w *Workload) { w.Accounts[0].ID = "claude/none" }, "the config has not claude/none"},
		"a model that it has not":     {func(w *Workload) { w.Model = "group/none" }, "the workload's model"},
		"a model that leaves one out": {func(w *Workload) { w.Model = "claude/m" }, "does not go to codex/home"},
	} {
		w := load(t, "solo")
		w.Model = "group/mine"
		c.change(w)
		if _, err := Run(w, cat, Orders[:1]); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkTeam(b *testing.B) {
	w := load(b, "team")
	for b.Loop() {
		if _, err := Run(w, nil, []string{"best"}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(w.Requests())), "requests")
}
