package gateway_test

import (
	"context"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"dev.magpie/config"
	"dev.magpie/gateway"
	verbs "dev.magpie/gateway/control"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
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

func TestAKeyThatWasMissingIsLookedForAtAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var there atomic.Bool
		secrets := provider.NewSecrets(provider.SecretsOptions{Getenv: func(string) string { return "" }, ReadFile: func(string) ([]byte, error) {
			if !there.Load() {
				return nil, fs.ErrNotExist
			}
			return []byte("sk-test-k1-000000000001\n"), nil
		}})
		r := newRig(t, "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", file = \"/nowhere/key\" }]\n", vendors{"a": good("chat", false)}, func(d *gateway.Deps) {
			cfg, cat := d.Config, d.Catalog
			d.Secrets, d.Load = secrets, func() (*config.Config, *provider.Catalog, error) { return cfg, cat, nil }
		})
		if a := r.g.Status().Accounts[0]; a.State != trace.Unready {
			t.Fatalf("without its file it is %s", a.State)
		}
		there.Store(true)
		if err := r.g.Reload(); err != nil {
			t.Fatal(err)
		}
		if a := r.g.Status().Accounts[0]; a.State != trace.Fine {
			t.Errorf("with its file it is %s: %s", a.State, a.Error)
		}
	})
}

func TestTheLogTellsARestInTheWordsOfTheScreen(t *testing.T) {
	for step, want := range map[string]string{
		"429 rate retry-after=90s x1": "a/k1 rests 90s: rate limit", "429 rate retry-after=239s x1": "a/k1 rests 4m: rate limit",
	} {
		synctest.Test(t, func(t *testing.T) {
			v := relay("ok")
			v.Script(keyOne, standin.Must(step)...)
			r := newRig(t, twoKeys, vendors{"a": v})
			r.ask(asking("chat", "a/m", false))
			if text := r.logs.text(); !strings.Contains(text, want) {
				t.Errorf("the log does not say %q:\n%s", want, text)
			}
		})
	}
}

func TestWhoseKeyIsMissingIsTold(t *testing.T) {
	const keyless = "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", env = \"NOBODY_SETS_THIS\" }, { name = \"o\", env = \"NOR_THIS\", off = true }]\n"
	r := newRig(t, keyless, vendors{"a": good("chat", false)})
	text := r.logs.text()
	if !strings.Contains(text, "a/k is not ready: environment variable NOBODY_SETS_THIS is not set") || strings.Contains(text, "NOR_THIS") {
		t.Errorf("the log says\n%s", text)
	}
}

func TestABadConfigIsToldWithoutItsLines(t *testing.T) {
	r := newRig(t, twoKeys, vendors{"a": good("chat", false)}, func(d *gateway.Deps) {
		d.Load = func() (*config.Config, *provider.Catalog, error) {
			_, err := config.Parse("config.toml", []byte("ruting = \"order\"\nthem = \"auto\"\n"))
			return nil, nil, err
		}
	})
	if r.g.Reload() == nil {
		t.Fatal("no error")
	}
	want := "config.toml:1:1: unknown key \"ruting\": did you mean \"routing\"?\nconfig.toml:2:1: unknown key \"them\": did you mean \"theme\"?"
	if got := r.g.Status().Config.Error; got != want {
		t.Errorf("the status says %q", got)
	}
}
