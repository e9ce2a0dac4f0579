package gateway_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dev.magpie/gateway"
	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
)

// purse is a vendor whose keys have a balance and no windows.
const purse = `
[providers.purse]
chat = "{purse}/v1"
balance_url = "{purse}/api/usage/token"
keys = [{ name = "main", value = "` + keyThree + `" }]
`

// counted answers every GET with one body, and counts them.
type counted struct {
	http.Handler
	gets atomic.Int32

	mu   sync.Mutex
	body string
}

func (c *counted) says(body string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body = body
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		c.Handler.ServeHTTP(w, r)
		return
	}
	c.gets.Add(1)
	c.mu.Lock()
	body := c.body
	c.mu.Unlock()
	_, _ = io.WriteString(w, body)
}

// quotas asks as people do.
func (r *rig) quotas(query string) []trace.Account {
	r.t.Helper()
	got := r.do(http.MethodGet, "/v1/magpie/quotas"+query, "")
	if got.status != http.StatusOK {
		r.t.Fatalf("%d %s", got.status, got.body)
	}
	var page struct {
		Accounts []trace.Account `json:"accounts"`
	}
	strict(r.t, got.body, &page)
	return page.Accounts
}

func TestABalanceIsAskedForOnlyWhenAPersonAsks(t *testing.T) {
	now(t, func(t *testing.T) {
		c := &counted{Handler: relay("ok"), body: `{"data":{"total_available":2500000}}`}
		r := newRig(t, relayed+purse, vendors{"relay": sold(300, keyOne), "spare": relay("ok"), "purse": c})
		for range 3 {
			r.asks("purse/m")
			pass(5 * time.Minute)
		}
		if c.gets.Load() != 0 {
			t.Fatalf("asked %d times for requests", c.gets.Load())
		}
		all := r.quotas("?wait=5")
		if len(all) != 3 || all[2].ID != "purse/main" || all[2].Balance != "$5.00" || all[2].Read == nil || all[2].Known || all[0].Windows[0].Limit != 300 {
			t.Errorf("%+v", all)
		}
		for range 29 {
			r.quotas("?provider=purse&provider=SPARE&wait=5")
			pass(time.Second)
		}
		if c.gets.Load() != 1 {
			t.Errorf("asked %d times within half a minute", c.gets.Load())
		}
		pass(2 * time.Second)
		c.says(`{"success":false,"message":"who are you"}`)
		if all := r.quotas("?provider=purse&wait=5"); c.gets.Load() != 2 || len(all) != 1 || all[0].ReadError != "who are you" || all[0].Balance != "$5.00" {
			t.Errorf("asked %d times: %+v", c.gets.Load(), all)
		}
		if got := r.do(http.MethodGet, "/v1/magpie/quotas?provider=pruse", ""); got.status != http.StatusNotFound || !strings.Contains(got.body, "purse") {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

func TestAListingOfWhatIsLeftWaitsNoLongerThanItWasTold(t *testing.T) {
	now(t, func(t *testing.T) {
		stuck := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		r := newRig(t, relayed, vendors{"relay": stuck, "spare": relay("ok")})
		for query, want := range map[string]time.Duration{"": 0, "?wait=3": 3 * time.Second} {
			began := time.Now()
			r.quotas(query)
			if took := time.Since(began); took != want {
				t.Errorf("%q took %v, want %v", query, took, want)
			}
		}
	})
}

func TestAPersonHasAKeyReadAgain(t *testing.T) {
	now(t, func(t *testing.T) {
		v := sold(100, keyOne)
		v.Spend(keyOne, 99)
		c := &counted{Handler: relay("ok"), body: `{"data":{"total_available":2500000}}`}
		r := newRig(t, relayed+purse, vendors{"relay": v, "spare": relay("ok"), "purse": c})
		r.asks("group/g")
		v.Spend(keyOne, 1)
		pass(time.Second)
		r.asks("group/g")
		if r.account("relay/main").State != trace.Spent {
			t.Fatal("it is not spent")
		}
		v.Limit(keyOne, "7d", 1000)
		do := func(who string) (string, error) {
			d, err := r.g.Do(t.Context(), ctl.Command{Verb: ctl.Refresh, Who: who}, "")
			return d.Words, err
		}
		if said, err := do("relay/main"); err != nil || said != "read relay/main: 7 days 10% ($100 of $1000), $900.00 left" {
			t.Errorf("%q, %v", said, err)
		}
		if a := r.account("relay/main"); a.State != trace.Fine || a.Rest != nil {
			t.Errorf("%+v", a)
		}
		if said, err := do("all"); err != nil || said != "read 2 accounts" {
			t.Errorf("%q, %v", said, err)
		}
		pass(12 * time.Second)
		if said, err := do("purse"); err != nil || said != "purse/main was asked 12s ago, and is asked every 30s at most: $5.00 left" || c.gets.Load() != 1 {
			t.Errorf("%q, %v, asked %d times", said, err, c.gets.Load())
		}
		v.Break(http.StatusBadGateway)
		if said, err := do(""); err != nil || said != "read 1 account, 1 can't be read" {
			t.Errorf("%q, %v", said, err)
		}
		if said, err := do("relay"); err != nil || !strings.HasPrefix(said, "relay/main can't be read: its vendor answers 502") {
			t.Errorf("%q, %v", said, err)
		}
		if _, err := do("spare/main"); err == nil || !strings.Contains(err.Error(), "spare/main") || !strings.Contains(err.Error(), "balance_url") {
			t.Errorf("nobody tells of it: %v", err)
		}
		if _, err := do("nobody"); err == nil {
			t.Error("nobody is read")
		}
		if n := strings.Count(r.do(http.MethodPost, "/v1/magpie/do", `{"verb":"refresh"}`).body, "no_token"); n != 1 {
			t.Error("it needs no token")
		}
	})
}

func TestAHistoryThatIsGoneIsToldOnceAndGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	h, err := history.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	r := newRig(t, purse, vendors{"purse": relay("ok")}, func(d *gateway.Deps) { d.History = h })
	listed := func() string { return r.do(http.MethodGet, "/v1/magpie/requests", "").body }
	r.ask("/v1/chat/completions", chatBody("purse/m"))
	if n := strings.Count(listed(), `"asked"`); n != 1 {
		t.Fatalf("%d kept", n)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		r.ask("/v1/chat/completions", chatBody("purse/m"))
		if got := strings.Count(listed(), `"asked"`); got != n {
			t.Errorf("%d kept, want %d", got, n)
		}
	}
	if n := strings.Count(r.logs.text(), "the history was moved away or deleted"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if s := r.g.Status(); s.History.Begun == nil || s.History.Error != "" {
		t.Errorf("%+v", s.History)
	}
}

func TestAReadingIsKeptWhenItTellsSomethingElse(t *testing.T) {
	h, err := history.Open(filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	v := sold(100, keyOne)
	toml := relayed + purse
	c := &counted{Handler: relay("ok"), body: `{"data":{"total_available":2500000}}`}
	r := newRig(t, toml, vendors{"relay": v, "spare": relay("ok"), "purse": c}, func(d *gateway.Deps) { d.History = h })
	refresh := func() {
		t.Helper()
		if _, err := r.g.Do(t.Context(), ctl.Command{Verb: ctl.Refresh, Who: "relay"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, usd := range []float64{0, 0, 10, 0, 0.001, 0, 20, 0} {
		v.Spend(keyOne, usd)
		refresh()
	}
	r.quotas("?wait=5")
	got := r.do(http.MethodGet, "/v1/magpie/quotas/history?account=relay", "")
	var page struct {
		Readings []trace.Reading `json:"readings"`
	}
	strict(t, got.body, &page)
	var used []float64
	for _, one := range page.Readings {
		used = append(used, one.Windows[0].Used)
	}
	if len(used) != 3 || used[0] < 30 || used[1] != 10 || used[2] != 0 {
		t.Errorf("used %v", used)
	}
	if got := r.do(http.MethodGet, "/v1/magpie/quotas/history?limit=1&account=purse/main", ""); !strings.Contains(got.body, "$5.00") {
		t.Errorf("%s", got.body)
	}
}
