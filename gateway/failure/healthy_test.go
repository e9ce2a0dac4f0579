package failure_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// TestHealthyVendorsRestNobodyForMoney: validation errors, missing things, server
// errors, proxies' pages and tools that speak of balances, limits and quotas.
func TestHealthyVendorsRestNobodyForMoney(t *testing.T) {
	data, err := os.ReadFile("../../testdata/failure/healthy.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := txtar.Parse(data).Files
	if len(files) < 100 {
		t.Fatalf("only %d replies", len(files))
	}
	for _, f := range files {
		t.Run(f.Name, func(t *testing.T) {
			head, body, _ := strings.Cut(string(f.Data), "\n\n")
			x := fixture{seen: failure.Seen{Phase: failure.PhaseReply, At: noon, Header: http.Header{}, Body: []byte(strings.TrimSuffix(body, "\n"))}}
			for line := range strings.Lines(head) {
				if err := x.line(strings.TrimSpace(line)); err != nil {
					t.Fatal(err)
				}
			}
			v := failure.Classify(x.seen)
			if v.Kind == trace.Credit || v.Kind == trace.Quota {
				t.Errorf("row %s says %s of %d %s", v.Row, v.Kind, x.seen.Status, body)
			}
			if testing.Verbose() {
				t.Logf("%-60s %d → %s (%s)", f.Name, x.seen.Status, v.Row, v.Kind)
			}
		})
	}
}
