package trace

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	keepRoutes = 500
	keepLogs   = 1000
	chunk      = 64 // routes copied in one hold of the lock
)

// Options shape a bus. The zero value is usable.
type Options struct {
	Start    time.Time      // route ids and sequence numbers go on from it, in unix ms; zero = from 0
	Location *time.Location // whose days Today counts; nil = the local one
	Keep     int            // routes kept in memory; 0 = 500
	Logs     int            // log lines kept in memory; 0 = 1,000
}

// Bus keeps the newest of everything the gateway tells, and hands it on to any
// number of readers. All methods may be called by several goroutines at once.
type Bus struct {
	id atomic.Int64

	mu       sync.Mutex
	seq      uint64 // of the last change
	first    uint64 // the number before the first change
	told     bool   // totals come with the status; else they are counted here
	keep     int
	routes   shelf[int64, Route]
	done     queue // ids of the routes that are done, in the order in which they ended
	left     uint64
	accounts shelf[string, Account]
	groups   shelf[string, Group]
	logs     ring
	status   Status
	link     *Link
	linkSeq  uint64
	day      day
	feeds    []*feed
	waiters
}

// NewBus returns an empty bus.
func NewBus(o Options) *Bus {
	loc := o.Location
	if loc == nil {
		loc = time.Local
	}
	b := &Bus{keep: cmp.Or(o.Keep, keepRoutes), day: day{loc: loc}}
	b.logs.size = cmp.Or(o.Logs, keepLogs)
	if !o.Start.IsZero() {
		// Numbers of an earlier run lie below: whoever resumes with one is told so.
		b.seq = uint64(max(o.Start.UnixMilli(), 0))
		b.first = b.seq
		b.id.Store(o.Start.UnixMilli())
		b.day.roll(o.Start, &b.status.Today)
	}
	return b
}

// NextID returns the id of a new route: the start time in unix ms, then one more each.
func (b *Bus) NextID() int64 { return b.id.Add(1) - 1 }

// Publish tells a route's newest state. The route and its slices must not be written
// again. A route that was told as done stays done: a later state that is not is ignored.
func (b *Bus) Publish(r Route) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.routes.at[r.ID]; e != nil && e.value.Done && !r.Done {
		return
	}
	b.bump()
	r.Seq = b.seq
	b.putRoute(&r)
}

// PublishAccount tells an account's newest state; Removed takes it out of later views.
func (b *Bus) PublishAccount(a Account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bump()
	a.Seq = b.seq
	e, _ := b.accounts.put(a.ID, b.seq)
	e.value = a
}

// PublishGroup tells a group's newest state; Removed takes it out of later views.
func (b *Bus) PublishGroup(g Group) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bump()
	g.Seq = b.seq
	e, _ := b.groups.put(g.ID, b.seq)
	e.value = g
}

// PublishLog tells a line of the log.
func (b *Bus) PublishLog(l Log) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bump()
	l.Seq = b.seq
	b.logs.push(l, b.seq)
}

// PublishStatus tells how the gateway as a whole stands. Totals, Today, Accounts and
// Groups of s are ignored: the bus keeps them. A now of another day begins a new Today.
func (b *Bus) PublishStatus(now time.Time, s Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bump()
	b.day.roll(now, &b.status.Today)
	s.Seq, s.Totals, s.Today, s.Accounts, s.Groups = b.seq, b.status.Totals, b.status.Today, nil, nil
	b.status = s
}

// Seed adds what the history knows of a day to Today, unless another day has begun since.
func (b *Bus) Seed(t Today) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := &b.status.Today
	if d.Day != "" && d.Day != t.Day {
		return
	}
	b.bump()
	b.status.Seq = b.seq
	d.Day = t.Day
	d.Requests += t.Requests
	d.Input += t.Input
	d.Output += t.Output
	d.CacheRead += t.CacheRead
	d.CostUSD += t.CostUSD
	d.Unpriced += t.Unpriced
}

// bump takes the next sequence number and wakes who waits. The lock is held to the
// end of the publish, so they find the value when they look.
func (b *Bus) bump() {
	b.seq++
	b.tell()
}

// putRoute stores a route at the current number and keeps the counts.
func (b *Bus) putRoute(r *Route) {
	e, fresh := b.routes.put(r.ID, b.seq)
	ended := r.Done && (fresh || !e.value.Done)
	if fresh || ended {
		b.count(r, fresh, ended)
	}
	e.value = *r
	if ended {
		b.done.push(r.ID)
	}
	if fresh || ended {
		b.shed()
	}
}

// shed lets routes go that are done, the first that ended first. However many are
// live, a few done ones stay, so that readers see how they ended.
func (b *Bus) shed() {
	for len(b.routes.at) > b.keep && b.done.n > b.keep/8 {
		e := b.routes.drop(b.done.pop())
		b.left = max(b.left, e.seq)
		for _, f := range b.feeds {
			if e.seq > f.routesAt {
				f.lost++
				f.behind = true
			}
		}
		b.routes.reuse(e)
	}
}

// Status returns how everything stands, without routes and log lines.
func (b *Bus) Status() Status {
	b.mu.Lock()
	s := b.fullStatus()
	b.mu.Unlock()
	return inOrder(s)
}

// View returns everything as told, at one sequence number.
func (b *Bus) View() View {
	room := b.room()
	b.mu.Lock()
	v := b.view(room)
	b.mu.Unlock()
	return sorted(v)
}

// Watch returns everything as told, and a feed of all after it. The feed ends with ctx.
func (b *Bus) Watch(ctx context.Context) (View, Feed, error) {
	if err := ctx.Err(); err != nil {
		return View{}, nil, err
	}
	room := b.room()
	f := newFeed(b)
	b.mu.Lock()
	v := b.view(room)
	f.from(v.Seq)
	b.feeds = append(b.feeds, f)
	b.mu.Unlock()
	f.follow(ctx)
	return sorted(v), f, nil
}

// Since returns a feed of all after seq, and whether there is one without a hole: not
// when seq is of another run, or when routes have left since that it would not tell.
// The value that seq was of may come once more.
func (b *Bus) Since(ctx context.Context, seq uint64) (Feed, bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	f := newFeed(b)
	b.mu.Lock()
	if seq < b.first || seq > b.seq || seq < b.left {
		b.mu.Unlock()
		return nil, false
	}
	if seq == b.status.Seq && seq > b.first {
		seq-- // a route and the status that it changed share a number: whoever has one may lack the other
	}
	f.from(seq)
	f.logsAt = b.logs.before(seq)
	b.feeds = append(b.feeds, f)
	b.mu.Unlock()
	f.follow(ctx)
	return f, true
}

// room makes space for a view outside the lock.
func (b *Bus) room() []Route {
	b.mu.Lock()
	n := len(b.routes.at)
	b.mu.Unlock()
	return make([]Route, 0, n+8)
}

// view copies everything; the lock is held.
func (b *Bus) view(room []Route) View {
	v := View{Seq: b.seq, Status: b.fullStatus(), Routes: room}
	for e := b.routes.head; e != nil; e = e.next {
		v.Routes = append(v.Routes, e.value)
	}
	v.Logs = b.logs.after(b.logs.n - min(b.logs.n, uint64(b.logs.size)))
	return v
}

func (b *Bus) fullStatus() Status {
	s := b.status
	s.Accounts = make([]Account, 0, len(b.accounts.at))
	for e := b.accounts.head; e != nil; e = e.next {
		if !e.value.Removed {
			s.Accounts = append(s.Accounts, e.value)
		}
	}
	s.Groups = make([]Group, 0, len(b.groups.at))
	for e := b.groups.head; e != nil; e = e.next {
		if !e.value.Removed {
			s.Groups = append(s.Groups, e.value)
		}
	}
	return s
}

// sorted puts a view in the order that people expect; its slices are the reader's own.
func sorted(v View) View {
	slices.SortFunc(v.Routes, func(x, y Route) int { return cmp.Compare(x.ID, y.ID) })
	v.Status = inOrder(v.Status)
	return v
}

func inOrder(s Status) Status {
	slices.SortFunc(s.Accounts, func(x, y Account) int {
		return cmp.Or(cmp.Compare(x.Place, y.Place), cmp.Compare(x.ID, y.ID))
	})
	slices.SortFunc(s.Groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(x.Place, y.Place), cmp.Compare(x.ID, y.ID))
	})
	return s
}

var _ Source = (*Bus)(nil)
