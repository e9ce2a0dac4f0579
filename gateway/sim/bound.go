package sim

import (
	"cmp"
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

// net is the allowances as a network: from times at which requests are asked, through
// accounts' windows, to the sink.
type net struct {
	f     *flow
	bins  []time.Duration // where each begins
	node  []int           // by bin
	nodes int             // besides source and sink
	ways  []way
}

// way is a pipe into an account from a bin, or out of it into the sink.
type way struct {
	from, to int
	room     int64
	ended    bool // also open where only what the budgets hold that end is counted
}

// greatest is the most that all requests are worth as far as they fit, worth(i) for each
// token of allowance. It is the optimum of the relaxed problem, so never less than any plan's.
func (n *net) greatest(asks []Request, m *measures, ended bool, worth func(int) float64) float64 {
	f := newFlow()
	for range n.nodes {
		f.node()
	}
	for _, w := range n.ways {
		if !ended || w.ended {
			f.pipe(w.from, w.to, w.room)
		}
	}
	type load struct {
		bin    int
		tokens int64
		worth  float64
	}
	loads := make([]load, 0, len(asks))
	for i := range asks {
		if v := worth(i); v > 0 {
			loads = append(loads, load{n.bin(asks[i].At), m.least[i], v})
		}
	}
	slices.SortStableFunc(loads, func(a, b load) int { return cmp.Compare(b.worth, a.worth) })
	// The best first: a flow that grows never takes from what flows already, and what can flow
	// together is such that this is the most. Of one class all count as its best.
	sum := 0.0
	for len(loads) > 0 {
		k := min(len(loads), (len(asks)+classes-1)/classes)
		for k < len(loads) && loads[k].worth == loads[0].worth {
			k++
		}
		perBin := make([]int64, len(n.bins))
		for _, l := range loads[:k] {
			perBin[l.bin] += l.tokens
		}
		for b, t := range perBin {
			if t > 0 {
				f.pipe(source, n.node[b], t)
			}
		}
		sum += float64(f.more()) * loads[0].worth
		loads = loads[k:]
	}
	return sum
}

// bin is the bin of a moment.
func (n *net) bin(at time.Duration) int {
	i, ok := slices.BinarySearch(n.bins, at)
	if !ok {
		i--
	}
	return i
}

// stretch is a time in which an account has so much of one window, whoever plans.
type stretch struct {
	from, to time.Duration // requests asked in it may be answered out of it
	room     int64
	ended    bool // it is the budget that ran at the start, and ends during the run
}

// stretches cuts a window into times. A period that runs at the start ends when it does; after
// it no two begin nearer than the span, so a time of work that begins a span or more after all
// work before it sees at most one for each span of it, and one more.
func (w *Workload) stretches(v Window, work []stretch) []stretch {
	end := time.Duration(w.Days)*24*time.Hour + w.Patience.d()
	limit := int64(v.Limit * grain)
	var all []stretch
	from := time.Duration(0)
	if v.Resets != nil {
		from = max(v.Resets.d(), 1)
		all = append(all, stretch{to: from, room: leftOf(v), ended: v.Span.d() >= budget && from <= time.Duration(w.Days)*24*time.Hour})
	}
	for _, s := range work {
		s.from = max(s.from, from)
		s.to = min(s.to, end)
		if s.from >= s.to {
			continue
		}
		n := int64((s.to-s.from-1)/v.Span.d()) + 1
		all = append(all, stretch{from: s.from, to: s.to, room: n * limit})
	}
	return all
}

// work are the times in which anything is asked, apart from each other by gap or more.
func (w *Workload) work(asks []Request, gap time.Duration) []stretch {
	var all []stretch
	for i := range asks {
		at, until := asks[i].At, asks[i].At+w.Patience.d()+1
		if n := len(all); n > 0 && at-all[n-1].to < gap {
			all[n-1].to = max(all[n-1].to, until)
			continue
		}
		all = append(all, stretch{from: at, to: until})
	}
	return all
}

// net makes the network. Windows of one account stand one behind the other, its budget
// last: whatever is spent counts in each.
func (w *Workload) net(asks []Request) *net {
	n := &net{}
	var cuts []time.Duration
	windows := make([][][]stretch, len(w.Accounts)) // by account and window, the shortest first
	for i := range w.Accounts {
		ws := slices.Clone(w.Accounts[i].Windows)
		if b := budgetOf(ws); b >= 0 { // it goes last: behind it is the sink
			ws = append(slices.Delete(ws, b, b+1), w.Accounts[i].Windows[b])
		}
		for _, v := range ws {
			ss := w.stretches(v, w.work(asks, v.Span.d()))
			windows[i] = append(windows[i], ss)
			for _, s := range ss {
				cuts = append(cuts, s.from, s.to, s.from-w.Patience.d())
			}
		}
	}
	cuts = append(cuts, 0)
	slices.Sort(cuts)
	for _, c := range slices.Compact(cuts) {
		if c >= 0 {
			n.bins = append(n.bins, c)
		}
	}
	next := sink + 1
	for range n.bins {
		n.node = append(n.node, next)
		next++
	}
	for _, ws := range windows {
		next = n.account(ws, w.Patience.d(), next)
	}
	n.nodes = next - sink - 1
	return n
}

// account adds an account's windows behind the bins. A stretch of a shorter window lets
// flow into each of a longer one that it may fall into.
func (n *net) account(windows [][]stretch, patience time.Duration, next int) int {
	if len(windows) == 0 {
		for _, b := range n.node {
			n.ways = append(n.ways, way{from: b, to: sink, room: ample})
		}
		return next
	}
	// A node for what comes into a stretch, one for what goes out, a pipe of its room between.
	type nodes struct {
		stretch
		in, out int
	}
	var before []nodes // nil: bins
	for level, ss := range windows {
		var here []nodes
		for _, s := range ss {
			v := nodes{s, next, next + 1}
			next += 2
			here = append(here, v)
			n.ways = append(n.ways, way{from: v.in, to: v.out, room: s.room, ended: true})
		}
		if level == 0 {
			for b, at := range n.bins {
				to := binEnd(n.bins, b)
				for _, v := range here {
					if at < v.to && to+patience > v.from {
						n.ways = append(n.ways, way{from: n.node[b], to: v.in, room: ample, ended: true})
					}
				}
			}
		} else {
			for _, u := range before {
				for _, v := range here {
					if u.from < v.to && v.from < u.to {
						n.ways = append(n.ways, way{from: u.out, to: v.in, room: ample, ended: true})
					}
				}
			}
		}
		before = here
	}
	for _, v := range before {
		n.ways = append(n.ways, way{from: v.out, to: sink, room: ample, ended: v.ended})
	}
	return next
}

// binEnd is where a bin ends.
func binEnd(bins []time.Duration, b int) time.Duration {
	if b+1 < len(bins) {
		return bins[b+1]
	}
	return never / 2
}
