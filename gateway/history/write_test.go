package history_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
)

func TestHoweverManyAreWrittenAtOnceEachIsKeptAsItWas(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 32, 41, 256, 300} {
		h := open(t, file(t))
		var want []trace.Route
		for i := range n {
			r := full(int64(i))
			r.Asked, r.Tokens.Input, r.Error = fmt.Sprint("m", i), int64(1000*i), fmt.Sprint("e", i)
			if i%3 == 0 {
				r.Cost, r.Tries = "", r.Tries[1:]
			}
			h.Add(r)
			want = append([]trace.Route{r}, want...)
		}
		if d := cmp.Diff(want, list(t, h, history.Filter{Limit: 1000})); d != "" {
			t.Errorf("%d at once: %s", n, d)
		}
	}
}

func TestAWrittenRequestCostsFewAllocations(t *testing.T) {
	h := open(t, file(t))
	r := full(1)
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	const rows = 1024
	per := testing.AllocsPerRun(3, func() {
		for range rows {
			h.Add(r)
		}
		if err := h.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}) / rows
	if t.Logf("%.1f for each", per); per > 24 {
		t.Errorf("%.1f allocations for each request, want 24 at most", per)
	}
}
