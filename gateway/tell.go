package gateway

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// teller keeps what the trace was told of accounts, so that it hears of changes that
// come by time alone: the end of a rest, a pause, a pin.
type teller struct {
	mu      sync.Mutex
	timer   *time.Timer
	look    *time.Timer // at what does not work, a moment after a change was to be written
	next    *time.Timer // at who is next in each group, a moment after a request
	ended   bool
	trouble string // as last told

	// one looks and tells at a time: what was seen first might else be told last, and stand.
	one sync.Mutex

	due atomic.Bool // next is armed
}

// nextAfter is how long after a request the groups are told anew: turns and tokens served
// change who is next with every one.
const (
	nextAfter     = 250 * time.Millisecond
	nextAfterMany = 2 * time.Second // where there are many groups
	manyGroups    = 32
)

// lookAfter is how long after a change it is known whether it could be written.
const lookAfter = 2 * time.Second

// tell writes a line to the log and to the screen's log pane.
func (g *Gateway) tell(l trace.Log) {
	l.Text = g.masker.Mask(l.Text)
	level := slog.LevelInfo
	switch l.Level {
	case "debug":
		level = slog.LevelDebug
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	}
	g.log.Log(g.ctx, level, l.Text)
	if level >= slog.LevelInfo {
		g.d.Bus.PublishLog(l)
	}
}

// changed tells accounts that changed, and the groups, whose next may be another now.
func (g *Gateway) changed(ids []provider.AccountID) {
	g.teller.one.Lock()
	defer g.teller.one.Unlock()
	lv, now := g.live.Load(), time.Now()
	if lv == nil {
		return
	}
	for _, id := range ids {
		if a, ok := g.d.State.Account(lv.cat, id, now); ok {
			g.d.Bus.PublishAccount(a)
			g.noteReading(&a, false)
		}
	}
	g.tellSome(lv, now, func(gr *provider.Group) bool { return !gr.Auto })
	g.nextSoon() // those that were found may be hundreds
	g.arm(lv, now)
	g.lookSoon()
}

// lookSoon arms the look at what does not work.
func (g *Gateway) lookSoon() {
	t := &g.teller
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
	case t.look == nil:
		t.look = time.AfterFunc(lookAfter, g.lookAtTrouble)
	default:
		t.look.Reset(lookAfter)
	}
}

// lookAtTrouble tells the status again when what does not work is something else by now.
func (g *Gateway) lookAtTrouble() {
	now := strings.Join(g.trouble(), "\n")
	t := &g.teller
	t.mu.Lock()
	news := now != t.trouble
	t.trouble = now
	t.mu.Unlock()
	if news {
		g.tellStatus()
	}
}

// trouble lists what does not work now, worst first.
func (g *Gateway) trouble() []string {
	all := g.d.State.Problems()
	if g.d.History != nil {
		if e := g.d.History.Stat().Error; e != "" {
			all = append(all, "the history is not kept: "+e)
		}
	}
	for i := range all {
		all[i] = g.masker.Mask(all[i])
	}
	return all
}

// hearHistory has fn hear of what becomes of the history, where it tells that.
func (g *Gateway) hearHistory(fn func(trace.Log)) {
	if h, ok := g.d.History.(interface{ OnTold(fn func(trace.Log)) }); ok {
		h.OnTold(fn)
	}
}

func (g *Gateway) toldOfHistory(l trace.Log) {
	g.tell(l)
	g.lookSoon()
}

// tellAll tells everything that a config names, and takes away what it no longer does.
func (g *Gateway) tellAll(lv *live) {
	g.teller.one.Lock()
	defer g.teller.one.Unlock()
	now := time.Now()
	before := g.d.Bus.Status()
	for i := range before.Accounts {
		if lv.cat.Account(provider.AccountID(before.Accounts[i].ID)) == nil {
			gone := before.Accounts[i]
			gone.Removed = true
			g.d.Bus.PublishAccount(gone)
		}
	}
	g.tellGone(lv)
	for _, a := range g.d.State.Accounts(lv.cat, now) {
		g.d.Bus.PublishAccount(a)
	}
	g.tellGroups(lv, now)
	g.tellStatus()
	g.arm(lv, now)
}

// arm sets the one timer for the next change that time alone brings.
func (g *Gateway) arm(lv *live, now time.Time) {
	var next time.Time
	sooner := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, a := range g.d.State.Accounts(lv.cat, now) {
		if a.Rest != nil {
			sooner(a.Rest.Until)
		}
		for i := range a.Rests {
			sooner(a.Rests[i].Until)
		}
		if a.Paused != nil {
			sooner(a.Paused.Until)
		}
		if a.Pinned != nil {
			sooner(a.Pinned.Until)
		}
		for i := range a.Windows {
			if r := a.Windows[i].Resets; r != nil {
				sooner(*r)
			}
		}
	}
	t := &g.teller
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	if next.IsZero() || t.ended {
		return
	}
	t.timer = time.AfterFunc(next.Sub(now)+time.Millisecond, g.lifted)
}

// lifted tells accounts whose state differs from what was told.
func (g *Gateway) lifted() {
	g.teller.one.Lock()
	defer g.teller.one.Unlock()
	lv, now := g.live.Load(), time.Now()
	told := map[string]trace.Account{}
	for _, a := range g.d.Bus.Status().Accounts {
		told[a.ID] = a
	}
	for _, a := range g.d.State.Accounts(lv.cat, now) {
		was, ok := told[a.ID]
		if ok && was.State == a.State && (was.Rest == nil) == (a.Rest == nil) && len(was.Rests) == len(a.Rests) && (was.Pinned == nil) == (a.Pinned == nil) {
			continue
		}
		g.d.Bus.PublishAccount(a)
		if ok && was.Rest != nil && a.Rest == nil {
			g.tell(trace.Log{Time: now, Level: "info", Text: a.ID + " is back"})
		}
	}
	g.tellGroups(lv, now)
	g.arm(lv, now)
}

// nextSoon has the groups told in a moment.
func (g *Gateway) nextSoon() {
	t := &g.teller
	groups, after := len(g.live.Load().catalog().Groups), nextAfter
	if groups > manyGroups {
		after = nextAfterMany
	}
	if groups == 0 || !t.due.CompareAndSwap(false, true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
	case t.next == nil:
		t.next = time.AfterFunc(after, g.tellNext)
	default:
		t.next.Reset(after)
	}
}

func (g *Gateway) tellNext() {
	g.teller.due.Store(false)
	g.teller.one.Lock()
	defer g.teller.one.Unlock()
	g.tellGroups(g.live.Load(), time.Now())
}

func (t *teller) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.look != nil {
		t.look.Stop()
	}
	if t.next != nil {
		t.next.Stop()
	}
}

// tellStatus tells how the gateway as a whole stands.
func (g *Gateway) tellStatus() {
	g.d.Bus.PublishStatus(time.Now(), g.base())
}

// base is the status without what the bus counts.
func (g *Gateway) base() trace.Status {
	s := trace.Status{
		Name: "magpie", Version: g.d.Version, PID: g.d.PID, Demo: g.d.Demo, Started: g.started, Listen: g.address.Load().listen,
		Draining: g.draining.Load(), Config: g.config.status(), Trouble: g.trouble(),
	}
	if g.d.History != nil {
		s.History = g.d.History.Stat()
	}
	return s
}

func cleanErr(err error) string { return failure.CleanErr(err) }
