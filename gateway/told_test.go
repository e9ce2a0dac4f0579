package gateway_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"dev.magpie/config"
	"dev.magpie/gateway"
	verbs "dev.magpie/gateway/control"
	"dev.magpie/provider"
)

func TestWhatIsToldOfAnAccountIsHowItStandsHoweverManyChangeIt(t *testing.T) {
	r := newRig(t, twoKeys, vendors{"a": good("chat", false)})
	for round := range 300 {
		var all sync.WaitGroup
		for _, verb := range []verbs.Verb{verbs.Pause, verbs.Resume, verbs.Pause, verbs.Resume} {
			all.Go(func() {
				if _, err := r.g.Do(context.Background(), verbs.Command{Verb: verb, Who: "a/k1"}, ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		is, told := r.g.Status().Accounts[0], r.bus.Status().Accounts[0]
		if is.State != told.State {
			t.Fatalf("round %d: it is %s, and was told as %s", round, is.State, told.State)
		}
	}
}

func TestTheConfigThatIsReadLastIsInForceHoweverManyReloadAtOnce(t *testing.T) {
	var mu sync.Mutex
	read := 0
	r := newRig(t, twoKeys, vendors{"a": good("chat", false)}, func(d *gateway.Deps) {
		cfg, cat := *d.Config, d.Catalog
		d.Load = func() (*config.Config, *provider.Catalog, error) {
			mu.Lock()
			defer mu.Unlock()
			read++
			next := cfg
			next.Path = strconv.Itoa(read)
			return &next, cat, nil
		}
	})
	for round := range 300 {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := r.g.Reload(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if in := r.g.Status().Config.Path; in != strconv.Itoa(read) {
			t.Fatalf("round %d: the config of reading %s is in force, the last was %d", round, in, read)
		}
	}
}
