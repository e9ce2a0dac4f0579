package trace_test

import (
	"context"
	"fmt"
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
