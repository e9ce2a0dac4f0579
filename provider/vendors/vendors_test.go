package vendors_test

import (
	"net/http"
	"testing"
	"time"

	"dev.magpie/provider/vendors"
)

var at = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// ordinary is what most replies carry.
func ordinary() http.Header {
	return http.Header{
		"Content-Type": {"text/event-stream"}, "Date": {"Wed, 04 Mar 2026 10:00:00 GMT"}, "Request-Id": {"req_1"}, "Server": {"x"},
		"Anthropic-Ratelimit-Requests-Limit": {"50"}, "Anthropic-Ratelimit-Requests-Remaining": {"49"}, "X-Ratelimit-Remaining-Tokens": {"9"},
	}
}

func TestRead(t *testing.T) {
	h := ordinary()
	h.Set("anthropic-ratelimit-unified-5h-utilization", "0.5")
	if got := vendors.ReadHeaders(h, at); len(got) != 1 || got[0].Name != "5 hours" {
		t.Errorf("Anthropic's: %v", got)
	}
	h = ordinary()
	h.Set("x-codex-primary-used-percent", "7")
	h.Set("x-codex-plan-type", "pro")
	if got := vendors.Read(h, at); len(got.Windows) != 1 || got.Windows[0].Used != 7 || got.Plan != "pro" {
		t.Errorf("Codex's: %+v", got)
	}
	h = ordinary()
	h.Set("x-codex-plan-type", "pro")
	if got := vendors.Read(h, at); got.Plan != "pro" || got.Windows != nil {
		t.Errorf("a plan without windows: %+v", got)
	}
	if got := vendors.ReadHeaders(ordinary(), at); got != nil {
		t.Errorf("nobody's: %v", got)
	}
}

// It runs on every reply.
func TestOrdinaryRepliesCostNothing(t *testing.T) {
	h := ordinary()
	if n := testing.AllocsPerRun(100, func() { vendors.ReadHeaders(h, at) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMetersHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range vendors.Tellers {
		if m.Name == "" || seen[m.Name] || m.Read == nil {
			t.Errorf("meter %q", m.Name)
		}
		seen[m.Name] = true
	}
}

func BenchmarkReadHeaders(b *testing.B) {
	h := ordinary()
	b.ReportAllocs()
	for b.Loop() {
		vendors.ReadHeaders(h, at)
	}
}
