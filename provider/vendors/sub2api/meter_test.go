package sub2api_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/sub2api"
)

var at = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// The windows stand in one order whatever the reply's, one of no dollars is none, and one that
// has not started is told with the span from which its renewal follows.
func TestReadSub2APIKeyLimits(t *testing.T) {
	body, err := os.ReadFile("testdata/limited.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := sub2api.Parse(body, at)
	if err != nil {
		t.Fatal(err)
	}
	want := provider.Reading{Balance: "$20.00", Windows: []provider.Window{
		{Name: "5 hours", Span: 5 * time.Hour, Limit: 20, Unit: "USD", Read: at},
		{Name: "7 days", Span: 7 * 24 * time.Hour, Used: 75, Amount: 150, Limit: 200, Unit: "USD", Resets: time.Date(2026, 3, 8, 16, 0, 0, 0, time.UTC), Read: at},
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
		t.Error(diff)
	}
	if r := provider.Renewals(got.Windows, "m", at); !r[0].Equal(got.Windows[1].Resets) || !r[1].Equal(at.Add(5*time.Hour)) {
		t.Errorf("renewals %v", r)
	}

	body, err = os.ReadFile("testdata/wallet.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err = sub2api.Parse(body, at)
	if err != nil || len(got.Windows) != 0 || got.Balance != "$24.80" || got.Plan != "wallet" {
		t.Errorf("a wallet has no windows: %+v, %v", got, err)
	}
}
