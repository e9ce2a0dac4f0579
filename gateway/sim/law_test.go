package sim

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// small draws a workload that is over in a moment, and yet runs into every limit.
func small(t *rapid.T) *Workload {
	span := func(label string, least, most int) Span {
		return Span(time.Duration(rapid.IntRange(least, most).Draw(t, label)) * time.Minute)
	}
	fails := func(label string) (all []Fail) {
		for range rapid.IntRange(0, 2).Draw(t, label) {
			all = append(all, Fail{At: span(label+" at", 0, 2*24*60), For: span(label+" for", 1, 600), Status: rapid.SampledFrom([]int{429, 500, 503, 529}).Draw(t, label+" status")})
		}
		return all
	}
	window := func(label string, span time.Duration, limit int) Window {
		w := Window{Name: label, Span: Span(span), Limit: float64(1000 * rapid.IntRange(limit/20, limit).Draw(t, label+" limit"))}
		if rapid.Bool().Draw(t, label+" has begun") {
			resets := Span(time.Duration(rapid.Int64Range(0, int64(span)).Draw(t, label+" resets")))
			w.Resets, w.Used = &resets, float64(rapid.IntRange(0, 100).Draw(t, label+" used"))
		}
		return w
	}
	w := &Workload{
		Start: day0, Days: rapid.IntRange(1, 3).Draw(t, "days"), Seed: rapid.Uint64().Draw(t, "seed"),
		Patience: span("patience", 0, 20), Weights: Weights{Input: 1.25, CacheRead: 0.1, Output: 5},
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "accounts") {
		a := Account{ID: fmt.Sprintf("plan/a%d", i), Unknown: rapid.Bool().Draw(t, "unknown"), Fails: fails("account fails")}
		if rapid.IntRange(0, 9).Draw(t, "short") > 0 {
			a.Windows = append(a.Windows, window("5 hours", 5*time.Hour, 400))
		}
		if rapid.IntRange(0, 9).Draw(t, "budget") > 0 {
			days := time.Duration(rapid.IntRange(1, 7).Draw(t, "budget days"))
			a.Windows = append(a.Windows, window("budget", days*24*time.Hour, 1500))
		}
		w.Accounts = append(w.Accounts, a)
	}
	keys := rapid.IntRange(0, 2).Draw(t, "keys")
	behind := rapid.Bool().Draw(t, "fallback") && len(w.Accounts) > 0
	for i := range max(keys, 1-min(1, len(w.Accounts))) {
		w.Keys = append(w.Keys, Key{ID: fmt.Sprintf("pay/k%d", i), Fallback: behind, Fails: fails("key fails"), Price: Price{
			Input: float64(rapid.IntRange(1, 6).Draw(t, "price")), CacheRead: 0.3, Output: float64(rapid.IntRange(1, 30).Draw(t, "output price")),
		}})
	}
	w.Agents = []Agent{{
		Name: "x", Count: rapid.IntRange(1, 2).Draw(t, "agents"), From: span("from", 0, 600), To: span("to", 601, 1440),
		Conversations: Range{1, int64(rapid.IntRange(1, 5).Draw(t, "conversations"))}, Turns: Range{1, 5}, Rounds: Range{0, 5},
		Pause: SpanOf{Span(10 * time.Second), span("pause", 1, 12)}, Tool: SpanOf{Span(time.Second), Span(time.Minute)},
		Prefix: int64(rapid.IntRange(0, 9000).Draw(t, "prefix")), User: Range{10, 500}, Result: Range{50, 3000}, Output: Range{5, 600},
		Context: int64(rapid.SampledFrom([]int{0, 15_000}).Draw(t, "context")),
	}}
	return w
}

func TestNoOrderPassesTheBoundAndNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := small(t)
		for _, err := range w.check() {
			t.Fatal(err)
		}
		asks := w.Requests()
		if len(asks) == 0 {
			return
		}
		cat, err := w.catalog()
		if err != nil {
			t.Fatal(err)
		}
		target, err := w.target(cat)
		if err != nil {
			t.Fatal(err)
		}
		m := w.measure(asks)
		bound := w.bound(asks, m)
		var input int64
		for i := range asks {
			input += asks[i].Input
		}
		for _, o := range Orders {
			r := w.begin(asks, m, cat, target, o)
			a := newAudit(r)
			res := r.run()
			res.Order = o
			a.check(t, &res, len(asks), input)
			passes(t, &res, bound)
		}
	})
}

// audit counts a run a second time, from what vendors said alone.
type audit struct {
	r        *run
	answered int
	read     int64
	money    int64
	wrong    string
	spent    map[*vendor]int64
}

func newAudit(r *run) *audit {
	a := &audit{r: r, spent: map[*vendor]int64{}}
	r.seen = func(v *vendor, q *Request, at time.Duration, got answer) {
		for i := range v.windows {
			if win := &v.windows[i]; win.used > win.limit {
				a.wrong = fmt.Sprintf("%s is over its %s at %s: %d of %d", v.id, win.Name, at, win.used, win.limit)
			}
		}
		if at < q.At || at > q.At+r.w.Patience.d() {
			a.wrong = fmt.Sprintf("a request of %s was asked at %s", q.At, at)
		}
		if got.status != 200 {
			return
		}
		if got.read > q.Shared || got.read < 0 {
			a.wrong = fmt.Sprintf("%d of %d tokens were read from a cache, and %d were there before", got.read, q.Input, q.Shared)
		}
		a.answered++
		a.read += got.read
		if v.money {
			a.money += got.spent
		} else {
			a.spent[v] += got.spent
		}
	}
	return a
}

func (a *audit) check(t *rapid.T, res *Result, asked int, input int64) {
	switch {
	case a.wrong != "":
		t.Fatalf("%s: %s", res.Order, a.wrong)
	case res.Asked != asked || res.Answered+res.Failed != asked || res.Answered != a.answered:
		t.Fatalf("%s: %d asked, %d answered (%d told), %d failed, of %d", res.Order, res.Asked, res.Answered, a.answered, res.Failed, asked)
	case res.Input != input || res.CacheRead != a.read || res.exact.money != a.money:
		t.Fatalf("%s: %d tokens of %d, %d read of %d, %d money of %d", res.Order, res.Input, input, res.CacheRead, a.read, res.exact.money, a.money)
	case res.Useful > res.Spent || res.Spent > res.Ended || res.Waited > res.Answered || res.Broken > res.Moves:
		t.Fatalf("%s: %+v", res.Order, res)
	}
}

func passes(t *rapid.T, res *Result, b Bound) {
	const near = 1e-9
	switch {
	case res.Ended > 0 && res.Wasted() < b.Wasted-near:
		t.Fatalf("%s wastes %.6f, less than the bound's %.6f", res.Order, res.Wasted(), b.Wasted)
	case res.Money < b.Money-near:
		t.Fatalf("%s spends $%.6f, less than the bound's $%.6f", res.Order, res.Money, b.Money)
	case res.Cached() > b.Cached+near:
		t.Fatalf("%s reads %.6f from caches, more than the bound's %.6f", res.Order, res.Cached(), b.Cached)
	case res.Late() < b.Late:
		t.Fatalf("%s is late with %d, fewer than the bound's %d", res.Order, res.Late(), b.Late)
	}
}

func TestTheSameWorkloadPlaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := small(t)
		if len(w.Requests()) == 0 {
			return
		}
		one, err := Run(w, nil, Orders)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Run(w, nil, Orders)
		if err != nil {
			t.Fatal(err)
		}
		if one.Table() != two.Table() || fmt.Sprint(one) == "" {
			t.Fatalf("%s\n%s", one.Table(), two.Table())
		}
		for i := range one.Orders {
			if one.Orders[i] != two.Orders[i] {
				t.Fatalf("%+v\n%+v", one.Orders[i], two.Orders[i])
			}
		}
	})
}
