package sim

import (
	"math"
	"slices"
	"time"
)

// Bound is what no order can pass, each figure by itself: it is not said that one plan
// reaches them all.
type Bound struct {
	Wasted float64 `json:"wasted"` // at least this share of the ended allowance
	Money  float64 `json:"money"`  // at least, USD
	Cached float64 `json:"cached"` // at most this share of the input
	Late   int     `json:"late"`   // at least so many requests
}

// classes is into how many the requests are sorted by what they are worth for each token of
// allowance. All of one are taken to be worth as much as its best: more only tightens the bound.
const classes = 32

// bound works out what could be reached at most by one who knew all requests beforehand, and
// could split each among several accounts, all of whose caches were warm.
func (w *Workload) bound(asks []Request, m *measures) Bound {
	var b Bound
	var input, cached int64
	for i := range asks {
		input += asks[i].Input
		cached += m.cache[i]
	}
	b.Cached = share(float64(cached), float64(input))

	n := w.net(asks)
	// What ends unused: as much of what is asked as fits into the budgets that renew.
	useful := n.greatest(asks, m, true, func(int) float64 { return 1 })
	first, anew := w.ending()
	b.Wasted = max(0, share(float64(first)-useful, float64(first+anew)))

	b.Money = w.leastMoney(asks, m, n)

	// Late are those that fit nowhere when they are asked.
	if len(w.Keys) == 0 {
		now := *w
		now.Patience = 0
		n = now.net(asks)
		served := n.greatest(asks, m, false, func(i int) float64 { return 1 / float64(max(1, m.least[i])) })
		b.Late = max(0, int(math.Ceil(float64(len(asks))-served-1e-6)))
	} else {
		b.Late = w.unkeyed(asks, m)
	}
	return b
}

// ending is what the budgets have that certainly renew during the run, and the most that may
// begin and end besides.
func (w *Workload) ending() (first, anew int64) {
	end := time.Duration(w.Days) * 24 * time.Hour
	for i := range w.Accounts {
		b := budgetOf(w.Accounts[i].Windows)
		if b < 0 {
			continue
		}
		v, from := w.Accounts[i].Windows[b], time.Duration(0)
		if v.Resets != nil {
			from = max(v.Resets.d(), 1)
			if from <= end {
				first += leftOf(v)
			}
		}
		if from < end {
			anew += int64((end-from)/v.Span.d()) * int64(v.Limit*grain)
		}
	}
	return first, anew
}

func leftOf(v Window) int64 {
	limit := int64(v.Limit * grain)
	return limit - int64(v.Limit*grain*v.Used/100)
}

// leastMoney is what has to be bought: the planner asks everybody before it gives up, so a
// request is answered whenever a key answers, and costs what the cheapest would take, with a
// warm cache, unless it fits into an allowance.
func (w *Workload) leastMoney(asks []Request, m *measures, n *net) float64 {
	if len(w.Keys) == 0 {
		return 0
	}
	price := make([]int64, len(asks))
	var all int64
	for i := range asks {
		if w.keyless(&asks[i], asks[i].At+w.Patience.d()) {
			continue // it may go unanswered, and cost nothing
		}
		price[i] = int64(1) << 62
		for j := range w.Keys {
			price[i] = min(price[i], w.Keys[j].cost().of(&asks[i], m.cache[i]))
		}
		all += price[i]
	}
	saved := n.greatest(asks, m, false, func(i int) float64 { return float64(price[i]) / float64(max(1, m.least[i])) })
	return max(0, float64(all)-saved) / grain / 1e6
}

// keyless says whether at some moment until then no key answers.
func (w *Workload) keyless(q *Request, until time.Duration) bool {
	for j := range w.Keys {
		out := false
		for _, f := range w.Keys[j].Fails {
			out = out || f.At.d() <= until && f.At.d()+f.For.d() > q.At
		}
		if !out {
			return false
		}
	}
	return true
}

// unkeyed counts requests that certainly were late: those asked while everybody fails.
func (w *Workload) unkeyed(asks []Request, _ *measures) int {
	late := 0
	for i := range asks {
		at, out := asks[i].At, true
		for _, fails := range w.everyFails() {
			out = out && slices.ContainsFunc(fails, func(f Fail) bool { return at >= f.At.d() && at < f.At.d()+f.For.d() })
		}
		if out {
			late++
		}
	}
	return late
}

func (w *Workload) everyFails() (all [][]Fail) {
	for i := range w.Accounts {
		all = append(all, w.Accounts[i].Fails)
	}
	for i := range w.Keys {
		all = append(all, w.Keys[i].Fails)
	}
	return all
}
