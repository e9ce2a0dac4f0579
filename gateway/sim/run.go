package sim

import (
	"container/heap"
	"maps"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Result is how one order did.
type Result struct {
	Order string `json:"order"`

	Asked    int `json:"asked"`    // requests
	Answered int `json:"answered"` // of those
	Waited   int `json:"waited"`   // answered, but not when they were asked first
	Failed   int `json:"failed"`   // never answered
	Refused  int `json:"refused"`  // tries that a vendor turned away
	Moves    int `json:"moves"`    // a conversation answered by another than before
	Broken   int `json:"broken"`   // of those, while the cache of the one before was warm

	Input     int64 `json:"input"`      // tokens asked
	CacheRead int64 `json:"cache_read"` // tokens of answered requests that were read from a cache

	Ended  float64 `json:"ended"`  // weighted tokens: what the budgets had that renewed during the run
	Spent  float64 `json:"spent"`  // of Ended, used before it renewed
	Useful float64 `json:"useful"` // of Spent, what warm caches would not have saved
	Left   float64 `json:"left"`   // unused of budgets that run on at the end

	Money float64 `json:"money"` // USD, on keys

	exact exact
}

// exact are a result's figures in the whole numbers that they were counted in.
type exact struct{ ended, spent, useful, money int64 }

// Wasted is the share of the allowance that ended unused, or was spent on reading again
// what a warm cache held.
func (r *Result) Wasted() float64 { return share(r.Ended-r.Useful, r.Ended) }

// Cached is the share of all input asked that was read from a cache.
func (r *Result) Cached() float64 { return share(float64(r.CacheRead), float64(r.Input)) }

// Late counts requests that were not answered when they were asked.
func (r *Result) Late() int { return r.Waited + r.Failed }

func share(part, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return part / of
}

// run is one order's run in the making.
type run struct {
	w      *Workload
	asks   []Request
	next   []time.Duration // by request: when its conversation's next one is asked
	least  []int64         // by request: what it costs an allowance with the warmest of caches
	target provider.Target
	weight cost

	snap   route.Snapshot
	world  map[provider.AccountID]*vendor
	all    []*vendor
	keeps  map[int]*route.Keep // by conversation
	recent []answered          // lately, oldest first
	fails  map[provider.AccountID]int
	queue  queue
	res    Result

	seen func(v *vendor, q *Request, at time.Duration, a answer) // nil, or told of each try
}

// answered is who answered a conversation, and when.
type answered struct {
	conv int
	who  route.Who
	at   time.Duration
}

// event is a request that is asked, or asked again.
type event struct {
	at time.Duration
	n  int // of the request
}

type queue []event

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at || q[i].at == q[j].at && q[i].n < q[j].n }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// run plays all requests in virtual time.
func (r *run) run() Result {
	clear(r.fails)
	for n := range r.asks {
		r.queue = append(r.queue, event{r.asks[n].At, n})
	}
	heap.Init(&r.queue)
	for r.queue.Len() > 0 {
		e := heap.Pop(&r.queue).(event)
		r.ask(e)
	}
	return r.finish()
}

// ask plans one request and tries whom the planner names, in its order.
func (r *run) ask(e event) {
	q := &r.asks[e.n]
	now := r.w.Start.Add(e.at)
	first := e.at == q.At
	if first {
		r.res.Asked++
		r.res.Input += q.Input
	}
	for _, v := range r.all {
		v.renew(e.at, r.ended)
		if p, ok := v.cache[q.Conv]; ok && p.tokens > q.Shared {
			v.cache[q.Conv] = prefix{tokens: q.Shared, at: p.at}
		}
	}
	r.snap.Now = now
	plan, effects := route.Decide(&r.snap, r.call(q, e.at))
	r.carry(effects)
	again := time.Duration(1<<63 - 1)
	for i := range plan.Order {
		c := &plan.Order[i]
		v := r.world[provider.AccountID(c.ID)]
		a := v.ask(q, e.at, r.weight, r.least[e.n])
		if r.seen != nil {
			r.seen(v, q, e.at, a)
		}
		if a.status == 200 {
			r.done(e, v, c, a, first)
			return
		}
		r.res.Refused++
		r.tell(v, e.at)
		until := r.until(v, a, e.at)
		if i < len(plan.Order)-1 { // the last one does not rest
			r.rest(v, a, e.at, until)
		}
		if c.Rest != nil && e.at < c.Rest.Until.Sub(r.w.Start) {
			until = min(until, c.Rest.Until.Sub(r.w.Start))
		}
		again = min(again, until)
	}
	r.later(e, again)
}

// later asks a request again that nobody answered, while its agent waits.
func (r *run) later(e event, again time.Duration) {
	q := &r.asks[e.n]
	if again <= e.at {
		again = e.at + time.Second
	}
	if again > q.At+r.w.Patience.d() || again >= r.next[e.n] {
		r.res.Failed++
		return
	}
	heap.Push(&r.queue, event{again, e.n})
}

// call is what the planner is told of a request.
func (r *run) call(q *Request, at time.Duration) route.Call {
	return route.Call{
		Target: r.target, Agent: "sim", Keep: r.keeps[q.Conv], Turn: q.Turn, Within: q.Within, Tokens: int(q.Input),
		Held: r.held(q.Conv, at),
	}
}

// heldFor is how long a conversation counts as held by who answered it.
const heldFor = 30 * time.Minute

// held counts the other conversations that were answered lately.
func (r *run) held(conv int, at time.Duration) map[route.Who]int {
	old := 0
	for old < len(r.recent) && at-r.recent[old].at > heldFor {
		old++
	}
	r.recent = r.recent[old:]
	if r.keeps[conv] != nil { // only a new conversation goes where the fewest are
		return nil
	}
	last := make(map[int]route.Who, 64)
	for _, a := range r.recent {
		last[a.conv] = a.who
	}
	n := make(map[route.Who]int, 16)
	for _, who := range last {
		n[who]++
	}
	return n
}

// carry keeps what the plan changed.
func (r *run) carry(e route.Effects) {
	if len(e.Rounds) == 0 {
		return
	}
	rounds := maps.Clone(r.snap.Rounds)
	if rounds == nil {
		rounds = map[string]route.Round{}
	}
	maps.Copy(rounds, e.Rounds)
	r.snap.Rounds = rounds
}

// done notes an answer.
func (r *run) done(e event, v *vendor, c *trace.Candidate, a answer, first bool) {
	q := &r.asks[e.n]
	now := r.w.Start.Add(e.at)
	r.res.Answered++
	r.res.CacheRead += a.read
	if !first {
		r.res.Waited++
	}
	if v.money {
		r.res.exact.money += a.spent
	}
	who := route.Who{ID: v.id, Model: c.Model, Effort: c.Effort}
	if k := r.keeps[q.Conv]; k != nil && k.ID != v.id {
		r.res.Moves++
		if r.world[k.ID].warm(q, e.at) > a.read {
			r.res.Broken++
		}
	}
	r.keeps[q.Conv] = &route.Keep{Who: who, Turn: q.Turn, At: now.Unix(), CacheRead: a.read}
	r.recent = append(r.recent, answered{q.Conv, who, e.at})
	delete(r.fails, v.id)
	delete(r.snap.Rests, string(v.id))
	r.snap.Served[v.id] = r.snap.Served[v.id].Add(q.Input+q.Output, now)
	r.tell(v, e.at)
}

// tell has the planner read the vendor's windows: each reply tells them.
func (r *run) tell(v *vendor, at time.Duration) {
	if len(v.windows) == 0 {
		return
	}
	st := r.snap.Standing[v.id]
	st.Windows = v.read(r.w.Start, at, st.Windows)
	st.Read = r.w.Start.Add(at)
	r.snap.Standing[v.id] = st
}

// until is when whoever turned a request away may answer again.
func (r *run) until(v *vendor, a answer, at time.Duration) time.Duration {
	if a.until > 0 {
		return a.until
	}
	n := min(r.fails[v.id], 16)
	switch a.status {
	case 529:
		return at + min(15*time.Second<<n, 2*time.Minute)
	case 429:
		return at + min(time.Minute<<n, 30*time.Minute)
	}
	return at + min(time.Minute<<n, 10*time.Minute)
}

func (r *run) rest(v *vendor, a answer, at, until time.Duration) {
	why, by := trace.Other, trace.ByBackoff
	switch {
	case a.until > 0:
		why, by = trace.Quota, trace.ByResets
	case a.status == 429:
		why = trace.Rate
	case a.status == 529:
		why = trace.Overloaded
	}
	if a.until == 0 {
		r.fails[v.id]++
	}
	r.snap.Rests[string(v.id)] = trace.Rest{Key: string(v.id), Why: why, By: by, Status: a.status, Since: r.w.Start.Add(at), Until: r.w.Start.Add(until)}
}

// budget is how long a window is that is worth saving from going unused; a shorter one only
// keeps a pace.
const budget = 24 * time.Hour

// budgetOf is the place of an account's budget: its longest window, where that is worth
// saving; -1 for none.
func budgetOf(ws []Window) int {
	at := -1
	for i := range ws {
		if ws[i].Span.d() >= budget && (at < 0 || ws[i].Span > ws[at].Span) {
			at = i
		}
	}
	return at
}

// ended counts a budget's period that renewed.
func (r *run) ended(p period) {
	r.res.exact.ended += p.left
	r.res.exact.spent += p.used
	r.res.exact.useful += p.useful
}

func (r *run) finish() Result {
	end := time.Duration(r.w.Days) * 24 * time.Hour
	for _, v := range r.all {
		v.renew(end, r.ended)
		for i := range v.windows {
			if w := &v.windows[i]; w.budget {
				r.res.Left += float64(w.limit-w.used) / grain
			}
		}
	}
	x := r.res.exact
	r.res.Ended, r.res.Spent, r.res.Useful = float64(x.ended)/grain, float64(x.spent)/grain, float64(x.useful)/grain
	r.res.Money = float64(x.money) / grain / 1e6
	return r.res
}
