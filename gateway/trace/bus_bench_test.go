package trace_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

// subscribe starts n readers that drain a bus with a gap between batches, and returns
// what stops them.
func subscribe(b *trace.Bus, n int, gap time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{}, n)
	for range n {
		_, f, err := b.Watch(ctx)
		if err != nil {
			panic(err)
		}
		go func() {
			defer func() { ended <- struct{}{} }()
			for {
				if _, err := f.Next(ctx, time.Now().Add(gap)); err != nil {
					return
				}
			}
		}()
	}
	return func() {
		cancel()
		for range n {
			<-ended
		}
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, gap := range []time.Duration{0, 66 * time.Millisecond} {
		for _, n := range []int{0, 1, 10} {
			b.Run(fmt.Sprintf("gap=%s/subscribers=%d", gap, n), func(b *testing.B) {
				bus := trace.NewBus(trace.Options{})
				r := trace.Route{ID: 1}
				defer subscribe(bus, n, gap)()
				b.ReportAllocs()
				i := int64(0)
				for b.Loop() {
					r.ID = 1 + i/4%16
					i++
					bus.Publish(r)
				}
			})
		}
	}
}

// BenchmarkTenSubscribers prints what a publish costs with ten readers that all wait for
// it, against one: the worst case, as each publish has them all woken.
func BenchmarkTenSubscribers(b *testing.B) {
	paced := func(n int) time.Duration {
		bus := trace.NewBus(trace.Options{})
		defer subscribe(bus, n, 0)()
		var sum time.Duration
		for i := range b.N {
			begin := time.Now()
			bus.Publish(trace.Route{ID: int64(i % 16)})
			sum += time.Since(begin)
			for range 5 + 2*n { // the readers take it and wait again
				runtime.Gosched()
			}
		}
		return sum
	}
	one, ten := paced(1), paced(10)
	b.ReportMetric(float64(one.Nanoseconds())/float64(b.N), "ns/publish-1")
	b.ReportMetric(float64(ten.Nanoseconds())/float64(b.N), "ns/publish-10")
	b.ReportMetric(float64(ten)/float64(max(one, 1)), "ratio")
}
