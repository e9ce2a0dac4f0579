package sim

import (
	"cmp"
	"slices"
	"time"
)

// net is the allowances as a network: from times at which requests are asked, through
// accounts' windows, to the sink.
type net struct {
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

// place is a stretch as nodes: what comes into it, what goes out, a pipe of its room between.
type place struct {
	stretch
	in, out int
}

// account adds an account's windows behind the bins, each behind the one before it.
func (n *net) account(windows [][]stretch, patience time.Duration, next int) int {
	if len(windows) == 0 { // it takes everything
		for _, bin := range n.node {
			n.ways = append(n.ways, way{from: bin, to: sink, room: ample})
		}
		return next
	}
	var before []place
	for level, stretches := range windows {
		here := make([]place, len(stretches))
		for i, s := range stretches {
			here[i] = place{s, next, next + 1}
			next += 2
			n.open(here[i].in, here[i].out, s.room)
		}
		if level == 0 {
			n.fromBins(here, patience)
		} else {
			n.between(before, here)
		}
		before = here
	}
	for _, v := range before {
		n.ways = append(n.ways, way{from: v.out, to: sink, room: ample, ended: v.ended})
	}
	return next
}

func (n *net) open(from, to int, room int64) {
	n.ways = append(n.ways, way{from: from, to: to, room: room, ended: true})
}

// fromBins lets each bin flow into the stretches in which its requests may be answered.
func (n *net) fromBins(to []place, patience time.Duration) {
	for b, at := range n.bins {
		end := never / 2
		if b+1 < len(n.bins) {
			end = n.bins[b+1]
		}
		for _, v := range to {
			if at < v.to && end+patience > v.from {
				n.open(n.node[b], v.in, ample)
			}
		}
	}
}

// between lets what an account answers in one window's stretch flow into each of the next
// window's that it may fall into.
func (n *net) between(before, here []place) {
	for _, u := range before {
		for _, v := range here {
			if u.from < v.to && v.from < u.to {
				n.open(u.out, v.in, ample)
			}
		}
	}
}
