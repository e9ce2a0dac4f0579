package lane_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dev.magpie/gateway/lane"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lanes makes one lane "a" of that limit.
func lanes(limit lane.Limit) *lane.Lanes {
	l := &lane.Lanes{}
	l.Set(map[string]lane.Limit{"a": limit})
	return l
}

// book notes who got a slot, in order.
type book struct {
	mu  sync.Mutex
	who []string
}

func (b *book) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.who = append(b.who, s)
}

func (b *book) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.who, " ")
}

// hold asks for a slot and holds it for a while; it notes name at its turn, or why not.
func (b *book) hold(ctx context.Context, l *lane.Lanes, name string, d time.Duration) {
	go func() {
		s, err := l.Enter(ctx, "a")
		if err != nil {
			b.note(name + ":" + err.Error())
			return
		}
		b.note(name)
		<-time.After(d)
		s.Leave()
	}()
	synctest.Wait() // so that they queue in the order of the calls
}

func state(l *lane.Lanes) string {
	s := l.Look()["a"]
	return fmt.Sprintf("%d+%d of %d", s.Busy, s.Waiting, s.Limit)
}

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := lanes(lane.Limit{Busy: 2}), &book{}
		for i, name := range strings.Fields("1 2 3 4 5") {
			b.hold(t.Context(), l, name, time.Minute+time.Duration(i)*time.Second)
		}
		if got := b.text(); got != "1 2" || state(l) != "2+3 of 2" {
			t.Errorf("%s, %s", got, state(l))
		}
		<-time.After(62 * time.Second)
		if got := b.text(); got != "1 2 3 4" {
			t.Error(got)
		}
		if _, ok := l.Try("a"); ok {
			t.Error("one that did not wait went before one that does")
		}
		<-time.After(3 * time.Minute)
		if got := b.text(); got != "1 2 3 4 5" || state(l) != "0+0 of 2" {
			t.Errorf("%s, %s", got, state(l))
		}
	})
}

func TestOneTooManyIsTurnedAwayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := lanes(lane.Limit{Busy: 1, Queue: 1}), &book{}
		for _, name := range strings.Fields("1 2 3") {
			b.hold(t.Context(), l, name, time.Minute)
		}
		if got := b.text(); got != "1 3:"+lane.ErrFull.Error() {
			t.Error(got)
		}
		<-time.After(3 * time.Minute)
	})
}

func TestAWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := lanes(lane.Limit{Busy: 1, Wait: 30 * time.Second}), &book{}
		b.hold(t.Context(), l, "1", time.Minute)
		b.hold(t.Context(), l, "2", 0)
		<-time.After(29 * time.Second)
		if got := b.text(); got != "1" {
			t.Error(got)
		}
		<-time.After(2 * time.Second)
		if got := b.text(); got != "1 2:"+lane.ErrLate.Error() || state(l) != "1+0 of 1" {
			t.Errorf("%s, %s", got, state(l))
		}
		<-time.After(time.Minute)
	})
}

func TestWhoLeavesTheQueueIsNeverServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := lanes(lane.Limit{Busy: 1}), &book{}
		gone := errors.New("gone")
		ctx, leave := context.WithCancelCause(t.Context())
		b.hold(t.Context(), l, "1", time.Minute)
		b.hold(ctx, l, "2", time.Minute)
		b.hold(t.Context(), l, "3", time.Minute)
		leave(gone)
		synctest.Wait()
		if got := b.text(); got != "1 2:gone" || state(l) != "1+1 of 1" {
			t.Errorf("%s, %s", got, state(l))
		}
		<-time.After(61 * time.Second)
		if got := b.text(); got != "1 2:gone 3" {
			t.Error(got)
		}
		<-time.After(2 * time.Minute)
	})
}

// A slot that comes at the moment at which its request leaves is not lost.
func TestASlotForWhoLeavesIsPassedOn(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			l, b := lanes(lane.Limit{Busy: 1}), &book{}
			first, _ := l.Try("a")
			ctx, leave := context.WithCancel(t.Context())
			b.hold(ctx, l, "gone", 0)
			b.hold(t.Context(), l, "next", 0)
			leave()
			first.Leave()
			<-time.After(time.Second)
			ends := strings.Fields(strings.ReplaceAll(b.text(), "context canceled", "left")) // which is noted first is no matter
			slices.Sort(ends)
			if got := state(l); got != "0+0 of 1" || !slices.Equal(ends, []string{"gone:left", "next"}) {
				t.Errorf("%s, %q", got, ends)
			}
		})
	}
}

func TestARaisedLimitLetsThoseWhoWaitGoAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		to   map[string]lane.Limit
		went string
		then string
	}{
		{"one more", map[string]lane.Limit{"a": {Busy: 2}}, "1 2", "2+2 of 2"},
		{"any number", nil, "1 2 3 4", "4+0 of 0"},
		{"fewer", map[string]lane.Limit{"a": {Busy: 1, Queue: 1}}, "1", "1+3 of 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, b := lanes(lane.Limit{Busy: 1}), &book{}
				for _, name := range strings.Fields("1 2 3 4") {
					b.hold(t.Context(), l, name, time.Minute)
				}
				l.Set(c.to)
				synctest.Wait()
				// Those let go together run in any order.
				if got := b.text(); len(got) != len(c.went) || state(l) != c.then {
					t.Errorf("%s, %s", got, state(l))
				}
				<-time.After(10 * time.Minute)
				if c.to == nil && len(l.Look()) != 0 {
					t.Errorf("%v is left", l.Look())
				}
			})
		})
	}
}

func TestAMinuteHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := lanes(lane.Limit{RPM: 2}), &book{}
		b.hold(t.Context(), l, "1", time.Second)
		<-time.After(20 * time.Second)
		for _, name := range strings.Fields("2 3 4") {
			b.hold(t.Context(), l, name, time.Second)
		}
		for _, at := range []struct {
			after time.Duration
			want  string
		}{{39 * time.Second, "1 2"}, {2 * time.Second, "1 2 3"}, {18 * time.Second, "1 2 3"}, {2 * time.Second, "1 2 3 4"}} {
			<-time.After(at.after)
			if got := b.text(); got != at.want {
				t.Errorf("after another %s: %s, want %s", at.after, got, at.want)
			}
		}
		<-time.After(2 * time.Minute)
	})
}

// At the very moment at which the minute lets one go, it is the one that waits, not one that comes then.
func TestNobodyGoesBeforeWhoWaitsAsTheMinuteGoesOn(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			goesOn := time.After(time.Minute)
			l, b := lanes(lane.Limit{RPM: 1}), &book{}
			b.hold(t.Context(), l, "1", time.Second)
			b.hold(t.Context(), l, "2", time.Second)
			<-goesOn
			if _, ok := l.Try("a"); ok {
				t.Error("it went before the one that waits")
			}
			synctest.Wait()
			if got := b.text(); got != "1 2" {
				t.Error(got)
			}
			<-time.After(time.Minute)
		})
	}
}

func TestAMinuteAndSlotsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, b := lanes(lane.Limit{RPM: 2, Busy: 1}), &book{}
		for _, name := range strings.Fields("1 2 3 4") {
			b.hold(t.Context(), l, name, 10*time.Second)
		}
		<-time.After(59 * time.Second)
		if got := b.text(); got != "1 2" {
			t.Error(got)
		}
		<-time.After(2 * time.Second)
		if got := b.text(); got != "1 2 3" {
			t.Error(got)
		}
		<-time.After(time.Minute)
		if got := b.text(); got != "1 2 3 4" {
			t.Error(got)
		}
		<-time.After(time.Minute)
	})
}

func TestWhoIsNotLimitedGoesFree(t *testing.T) {
	var none lane.Lanes
	l := lanes(lane.Limit{Busy: 1})
	for _, l := range []*lane.Lanes{&none, l} {
		if n := testing.AllocsPerRun(100, func() {
			s, err := l.Enter(t.Context(), "free")
			if err != nil {
				t.Error(err)
			}
			s.Leave()
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
	if n := len(none.Look()); n != 0 {
		t.Errorf("%d lanes", n)
	}
}

// Whatever comes and goes and changes at once: never more than the limit, and nothing stays.
func TestManyAtOnceConcurrentSafe(t *testing.T) {
	const most = 3
	l := lanes(lane.Limit{Busy: most})
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		busy   int
		worst  int
		served int
	)
	enter := func(d int) {
		mu.Lock()
		defer mu.Unlock()
		busy += d
		worst = max(worst, busy)
		if d > 0 {
			served++
		}
	}
	for i := range 400 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 0 {
				go cancel()
			}
			s, err := l.Enter(ctx, "a")
			if err != nil {
				return
			}
			enter(1)
			enter(-1)
			s.Leave()
		})
		if i%50 == 0 {
			l.Set(map[string]lane.Limit{"a": {Busy: most - i/50%2}})
		}
	}
	wg.Wait()
	if worst > most || served < 300 || state(l)[:3] != "0+0" {
		t.Errorf("%d at once, %d served, then %s", worst, served, state(l))
	}
}

func BenchmarkUnlimited(b *testing.B) {
	l := lanes(lane.Limit{Busy: 1})
	for b.Loop() {
		s, _ := l.Try("free")
		s.Leave()
	}
}

func BenchmarkLimited(b *testing.B) {
	l := lanes(lane.Limit{Busy: 1})
	for b.Loop() {
		s, _ := l.Try("a")
		s.Leave()
	}
}

func TestASlotThatWasNotUsedDoesNotCountForTheMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane.Lanes
		l.Set(map[string]lane.Limit{"a": {Busy: 1, RPM: 1}})
		for range 3 {
			slot, ok := l.Try("a")
			if !ok {
				t.Fatal("no slot")
			}
			slot.Unused()
		}
		slot, _ := l.Try("a")
		slot.Leave()
		if _, ok := l.Try("a"); ok {
			t.Error("one was used in this minute")
		}
		lane.Slot{}.Unused()
	})
}
