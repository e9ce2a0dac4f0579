package feed

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/trace"
)

// run carries a command out as the program does and gives its message.
func run(t *testing.T, c tea.Cmd) Msg {
	t.Helper()
	m, ok := c().(Msg)
	if !ok {
		t.Fatal("the command brought nothing")
	}
	return m
}

func watched(t *testing.T, gap time.Duration) (*trace.Bus, *Pump) {
	t.Helper()
	bus := trace.NewBus(trace.Options{})
	_, f, err := bus.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := New(f, gap, time.Now)
	t.Cleanup(p.Close)
	return bus, p
}

func TestTheFirstBatchComesAtOnceAndTheNextAfterTheGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus, p := watched(t, Gap(false))
		start := time.Now()
		bus.Publish(trace.Route{ID: 1})
		if m := run(t, p.Next(t.Context())); len(m.Batch.Routes) != 1 || !m.At.Equal(start) {
			t.Errorf("the first came after %v with %d routes", m.At.Sub(start), len(m.Batch.Routes))
		}
		bus.Publish(trace.Route{ID: 2})
		if m := run(t, p.Next(t.Context())); m.At.Sub(start) != localGap {
			t.Errorf("the second came after %v", m.At.Sub(start))
		}
	})
}

func TestWhatHappensInTheGapComesAsOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus, p := watched(t, Gap(true))
		bus.Publish(trace.Route{ID: 1})
		run(t, p.Next(t.Context()))
		start := time.Now()
		got := make(chan Msg)
		go func() { m, _ := p.Next(t.Context())().(Msg); got <- m }()
		for i := range 50 {
			bus.Publish(trace.Route{ID: 2, MS: int64(i)})
			bus.Publish(trace.Route{ID: 3, MS: int64(i)})
			<-time.After(2 * time.Millisecond)
		}
		m := <-got
		if m.At.Sub(start) != remoteGap || len(m.Batch.Routes) != 2 || m.Batch.Routes[0].MS != 49 {
			t.Errorf("after %v: %+v", m.At.Sub(start), m.Batch.Routes)
		}
	})
}

func TestAnIdleGatewayWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus, p := watched(t, Gap(false))
		start := time.Now()
		go func() {
			<-time.After(time.Hour)
			bus.PublishLog(trace.Log{Text: "x"})
		}()
		if m := run(t, p.Next(t.Context())); m.At.Sub(start) != time.Hour || len(m.Batch.Logs) != 1 {
			t.Errorf("after %v: %+v", m.At.Sub(start), m.Batch)
		}
	})
}

func TestOneCommandIsUnderWayAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus, p := watched(t, Gap(false))
		got := make(chan Msg)
		go func() { m, _ := p.Next(t.Context())().(Msg); got <- m }()
		synctest.Wait()
		if m := p.Next(t.Context())(); m != nil {
			t.Errorf("a second one brought %+v", m)
		}
		bus.Publish(trace.Route{ID: 1})
		if m := <-got; m.Err != nil || len(m.Batch.Routes) != 1 {
			t.Errorf("the first one brought %+v", m)
		}
	})
}

func TestTheContextEndsACommandThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, p := watched(t, Gap(false))
		got := make(chan Msg)
		go func() { m, _ := p.Next(ctx)().(Msg); got <- m }()
		synctest.Wait()
		cancel()
		if m := <-got; !errors.Is(m.Err, context.Canceled) {
			t.Errorf("error %v", m.Err)
		}
		if m := p.Next(t.Context())(); m != nil {
			t.Errorf("after the end comes %+v", m)
		}
	})
}

func TestClosingEndsACommandThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p := watched(t, Gap(false))
		got := make(chan Msg)
		go func() { m, _ := p.Next(t.Context())().(Msg); got <- m }()
		synctest.Wait()
		p.Close()
		if m := <-got; !errors.Is(m.Err, trace.ErrClosed) {
			t.Errorf("error %v", m.Err)
		}
	})
}

// The screen's clock may be another than the process's, as in a demo: the gap must not be.
func TestTheStampIsTheScreensClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := trace.NewBus(trace.Options{})
		_, f, err := bus.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		noon := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
		p := New(f, Gap(false), func() time.Time { return noon })
		defer p.Close()
		start := time.Now()
		for i := range 3 {
			bus.Publish(trace.Route{ID: int64(i)})
			if m := run(t, p.Next(t.Context())); !m.At.Equal(noon) {
				t.Errorf("stamped %v", m.At)
			}
		}
		if d := time.Since(start); d != 2*localGap {
			t.Errorf("three batches took %v", d)
		}
	})
}

// A busy gateway must not wait, whatever the screen does.
func TestABusyGatewayIsToldInFewBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		bus, p := watched(t, Gap(false))
		var wg sync.WaitGroup
		batches, newest := 0, int64(0)
		wg.Go(func() {
			for {
				m, ok := p.Next(ctx)().(Msg)
				if !ok || m.Err != nil {
					return
				}
				batches++
				for _, r := range m.Batch.Routes {
					newest = max(newest, r.MS)
				}
			}
		})
		for i := range 20000 { // a second's worth
			bus.Publish(trace.Route{ID: int64(i % 100), MS: int64(i)})
			<-time.After(50 * time.Microsecond)
		}
		<-time.After(time.Second)
		cancel()
		wg.Wait()
		if batches > 12 || newest != 19999 {
			t.Errorf("%d batches, the newest is %d", batches, newest)
		}
	})
}
