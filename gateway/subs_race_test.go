package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/standin"
	"dev.magpie/provider"
)

// raceFor is for how long everything goes on at once: as MAGPIE_TEST_RACE says, else shortly.
func raceFor(t *testing.T) time.Duration {
	t.Helper()
	s := os.Getenv("MAGPIE_TEST_RACE")
	if s == "" {
		return 2 * time.Second
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// crowd is what goes on at once, each again and again until the end.
type crowd struct {
	wg  sync.WaitGroup
	end time.Time

	mu   sync.Mutex
	done map[string]int // how often, by name
}

// busy has one more go on: do, and a while until it is done again.
func (c *crowd) busy(name string, every time.Duration, do func(n int)) {
	c.wg.Go(func() {
		n := 0
		for ; time.Now().Before(c.end); n++ {
			do(n)
			<-time.After(every)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.done[name] += n
	})
}

// TestAccountsConcurrentSafe asks accounts and keys, reads what is left of them, renews tokens,
// spends resets, pauses, reloads the config and looks, all at once.
func TestAccountsConcurrentSafe(t *testing.T) {
	a := standin.ChatAccount{Windows: []standin.Window{{Name: "5h", Used: 50, Resets: time.Hour, Grow: 2}, {Name: "7d", Used: 60, Resets: 70 * time.Hour, Grow: 3}}}
	for n := range 20 {
		a.Resets = append(a.Resets, standin.ChatReset{ID: fmt.Sprintf("first-%d", n)})
	}
	h := newHouse(t, "").account("me", ", auto_reset = true", a).account("team", ", credits = false, auto_reset = true", a).account("spare", "", standin.ChatAccount{})
	solo := t.TempDir()
	h.homes["solo"] = solo
	h.write("solo", string(h.Add("acct-solo", a)))
	more := "]\n" + relayed + fmt.Sprintf("[providers.alone]\npreset = \"codex\"\nresponses = \"{gpt}/backend-api/codex\"\naccounts = [{ name = \"solo\", home = %q, auto_reset = true }]\n", solo)
	sold := sold(300, keyOne)
	var parser rig
	parser.t = t
	var texts []string // that are reloaded in turn
	r := newRig(t, h.toml+more, vendors{"gpt": h.ChatGPT, "relay": sold, "spare": relay("ok")}, func(d *gateway.Deps) {
		text := strings.NewReplacer("{gpt}/backend-api/codex", d.Catalog.Provider("codex").Bases["responses"], "{relay}/v1", d.Catalog.Provider("relay").Bases["chat"],
			"{spare}/v1", d.Catalog.Provider("spare").Bases["chat"]).Replace(h.toml + more)
		texts = []string{
			text, strings.Replace(text, ", auto_reset = true }", ", cap = 90 }", 1), strings.Replace(text, "[providers.codex]", "[providers.codex]\nrouting = \"rotate\"", 1),
			strings.Replace(text, keyOne, keyThree, 1),
		}
		turn := 0 // a reload is one at a time
		d.Load = func() (*config.Config, *provider.Catalog, error) {
			turn++
			cfg, cat := parser.parse(texts[turn%len(texts)])
			return cfg, cat, nil
		}
	})
	c := &crowd{end: time.Now().Add(raceFor(t)), done: map[string]int{}}
	asks := func(path, body string, may ...int) func(int) {
		return func(int) {
			resp, err := r.send(context.Background(), http.MethodPost, path, body)
			if err != nil {
				t.Error(err)
				return
			}
			if resp.StatusCode != http.StatusOK && !slices.Contains(may, resp.StatusCode) {
				t.Errorf("status %d", resp.StatusCode)
			}
			_ = resp.Body.Close()
		}
	}
	do := func(cmd ctl.Command) { _, _ = r.g.Do(context.Background(), cmd, "") } // whom a reload just took away is no matter
	for range 3 {
		c.busy("requests to accounts", 0, asks("/v1/chat/completions", chatStream("codex/gpt-5.4")))
	}
	for range 2 { // to one that may be used up, and lets itself be reset
		c.busy("requests to one account", time.Millisecond, asks("/v1/responses", responsesBody("alone/gpt-5.4"), http.StatusTooManyRequests))
	}
	c.busy("requests to a key", time.Millisecond, asks("/v1/chat/completions", chatBody("group/g")))
	c.busy("looks", 2*time.Millisecond, func(int) { r.g.Status() })
	c.busy("listings", 20*time.Millisecond, func(int) { r.quotas("?wait=1") })
	c.busy("refreshes", 2*time.Millisecond, func(int) { do(ctl.Command{Verb: ctl.Refresh}) })
	c.busy("lapsed tokens", 5*time.Millisecond, func(n int) { h.SignOut([]string{"acct-me", "acct-team"}[n%2]) })
	c.busy("resets by hand", 20*time.Millisecond, func(int) {
		cmd := ctl.Command{Verb: ctl.Reset, Who: "codex/team"}
		if e, err := r.g.Preview(context.Background(), cmd); err == nil {
			_, _ = r.g.Do(context.Background(), cmd, e.Token) // another may be quicker
		}
	})
	c.busy("weeks used up", 300*time.Millisecond, func(n int) {
		h.Use("acct-team", win("5h", 60, time.Hour), win("7d", 80, 90*time.Hour))
		h.Use("acct-solo", win("5h", 100, time.Hour), win("7d", 100, time.Duration(24+n%100)*time.Hour))
		if n%4 == 0 {
			for _, id := range []string{"acct-team", "acct-solo"} {
				h.Give(id, standin.ChatReset{ID: fmt.Sprintf("later-%d", n)})
			}
		}
	})
	c.busy("pauses", 10*time.Millisecond, func(n int) {
		who := []string{"codex/me", "codex/team", "relay/main"}[n%3]
		do(ctl.Command{Verb: ctl.Pause, Who: who, Args: ctl.Args{For: "1h"}})
		<-time.After(10 * time.Millisecond)
		do(ctl.Command{Verb: ctl.Resume, Who: who})
	})
	c.busy("caps", 15*time.Millisecond, func(n int) {
		on := n%2 == 0
		do(ctl.Command{Verb: ctl.Credits, Who: "codex/me", Args: ctl.Args{On: &on}})
		do(ctl.Command{Verb: ctl.AutoReset, Who: "codex/team", Args: ctl.Args{On: &on}})
	})
	c.busy("reloads", 50*time.Millisecond, func(int) {
		if err := r.g.Reload(); err != nil {
			t.Error(err)
		}
	})
	c.busy("spending", 10*time.Millisecond, func(n int) {
		if sold.Spend(keyOne, 5); n%90 == 0 {
			sold.Reset(keyOne)
		}
	})
	watch, stop := context.WithDeadline(t.Context(), c.end)
	defer stop()
	c.busy("views", time.Millisecond, func(int) {
		_, feed, err := r.g.Watch(watch)
		if err != nil {
			return
		}
		defer feed.Close()
		for range 100 {
			if _, err := feed.Next(watch, time.Time{}); err != nil {
				return
			}
		}
	})
	c.wg.Wait()
	t.Logf("in %s: %v, %d spent", raceFor(t), c.done, len(h.Redeemed()))
	for what, n := range c.done {
		if n == 0 {
			t.Errorf("no %s", what)
		}
	}
	for _, spent := range h.Redeemed() {
		if spent.Code == "already_redeemed" {
			t.Errorf("asked for twice: %+v", spent)
		}
	}
	if text := r.logs.text(); strings.Contains(text, "rt-standin") || strings.Contains(text, "eyJ") {
		t.Error("a token is in the log")
	}
}
