package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/client"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

const doorsConfig = `
[providers.a]
chat = "http://127.0.0.1:1/v1"
keys = [{ name = "k1", value = "sk-a1" }, { name = "k2", value = "sk-a2" }]
models = ["m"]
[providers.b]
chat = "http://127.0.0.1:1/v1"
keys = [{ name = "k3", value = "sk-b1" }]
accounts = [{ name = "me" }]
models = ["m", "n"]
[groups.g]
routing = "manual"
members = ["a/m", "b/n"]
`

// ways are by how many doors a command may come.
var ways = []string{"in the process", "over HTTP", "by the command line"}

// opened is a gateway on doorsConfig that listens, with one key that rests.
type opened struct {
	g     *gateway.Gateway
	store *state.Store
	addr  string
}

func newOpened(t *testing.T, token string) *opened {
	t.Helper()
	cfg, err := config.Parse("config.toml", []byte(doorsConfig))
	if err != nil {
		t.Fatal(err)
	}
	cat, problems := provider.Build(cfg)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	now := time.Now()
	store, err := state.Open(state.Options{}, now)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &opened{store: store, addr: l.Addr().String()}
	s.g = gateway.New(gateway.Deps{
		Config: cfg, Catalog: cat, State: store, Bus: trace.NewBus(trace.Options{Start: now}), Token: config.Secret(token), Version: "test",
		Listen: s.addr, Bound: []string{s.addr}, NoFetch: true, Home: t.TempDir(), Getenv: func(string) string { return "" },
		Secrets: provider.NewSecrets(provider.SecretsOptions{Getenv: func(string) string { return "" }}),
	})
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: s.g, ReadHeaderTimeout: long}}
	srv.Start()
	t.Cleanup(func() {
		srv.Close()
		s.g.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	rest := trace.Rest{Key: "a/k2", Why: trace.Rate, By: trace.ByCooldown, Since: now, Until: now.Add(time.Hour)}
	if !store.PutRest(rest, store.Past(rest.Key).Gen) {
		t.Fatal("no rest was set")
	}
	return s
}

var (
	moments = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
	clocks  = regexp.MustCompile(`\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?\d\d:\d\d\b`) // as people are told them
)

// timeless is a text without its times: a minute may end between two doors.
func timeless(text string) string {
	return clocks.ReplaceAllString(moments.ReplaceAllString(text, `"then"`), "then")
}

// effect is all that there is to see of a change, but for the time at which it was made.
func (s *opened) effect(t *testing.T) string {
	t.Helper()
	st := s.g.Status()
	plan, err := s.g.Explain(gateway.Question{Model: "a/m", Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	group, err := s.g.Explain(gateway.Question{Model: "group/g"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(map[string]any{
		"accounts": st.Accounts, "groups": st.Groups, "chosen": s.store.Chosen(), "order": plan.Order, "left": plan.Left, "group": group.Order, "aside": group.Left,
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`"seq": \d+`).ReplaceAllString(timeless(string(b)), `"seq": 0`)
}

// TestEveryDoorHasTheSameEffect: a key of the screen, a request and a command line change the same, and say the same.
func TestEveryDoorHasTheSameEffect(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		line string
		cmd  control.Command
	}{
		{"pause a/k1", control.Command{Verb: control.Pause, Who: "a/k1"}},
		{"pause K1 --for 2h", control.Command{Verb: control.Pause, Who: "K1", Args: control.Args{For: "2h"}}},
		{"pause all", control.Command{Verb: control.Pause, Who: "all"}},
		{"resume a/k1", control.Command{Verb: control.Resume, Who: "a/k1"}},
		{"pin a/k2", control.Command{Verb: control.Pin, Who: "a/k2"}},
		{"pin a/k1 --only --agent claude --model m --for 90m", control.Command{Verb: control.Pin, Who: "a/k1", Args: control.Args{Only: true, Agent: "claude", Model: "m", For: "90m"}}},
		{"unpin --all", control.Command{Verb: control.Unpin}},
		{"wake a/k2", control.Command{Verb: control.Wake, Who: "a/k2"}},
		{"order a k2 k1", control.Command{Verb: control.Order, Who: "a", Args: control.Args{Order: []string{"k2", "k1"}}}},
		{"order group/g b/n", control.Command{Verb: control.Order, Who: "group/g", Args: control.Args{Order: []string{"b/n"}}}},
		{"group pick g b/n", control.Command{Verb: control.Pick, Who: "group/g", Args: control.Args{Member: "b/n"}}},
		{"group rm auto-m", control.Command{Verb: control.Hide, Who: "auto-m"}},
		{"group restore auto-m", control.Command{Verb: control.Show, Who: "auto-m"}},
		{"quota cap b/me 70", control.Command{Verb: control.Cap, Who: "b/me", Args: control.Args{Percent: number(70)}}},
		{"quota cap b/me 40 --window 7-days", control.Command{Verb: control.Cap, Who: "b/me", Args: control.Args{Percent: number(40), Window: "7-days"}}},
		{"quota credits b/me off", control.Command{Verb: control.Credits, Who: "b/me", Args: control.Args{On: &no}}},
		{"quota auto-reset b/me on", control.Command{Verb: control.AutoReset, Who: "b/me", Args: control.Args{On: &yes}}},
		{"pause nobody", control.Command{Verb: control.Pause, Who: "nobody"}},
		{"quota cap a/k1 70", control.Command{Verb: control.Cap, Who: "a/k1", Args: control.Args{Percent: number(70)}}},
		{"group pick g a/zz", control.Command{Verb: control.Pick, Who: "group/g", Args: control.Args{Member: "a/zz"}}},
	} {
		t.Run(c.line, func(t *testing.T) {
			effects, says, all := make([]string, len(ways)), make([]string, len(ways)), make([]*opened, len(ways))
			for i := range ways {
				s := newOpened(t, "feed")
				all[i] = s
				switch i {
				case 0:
					done, err := s.g.Do(t.Context(), c.cmd, "")
					says[i] = done.Words
					if err != nil {
						says[i] = err.Error()
					}
				case 1:
					cl := client.New(s.addr, func() (string, error) { return "feed", nil }, nil)
					done, err := cl.Do(t.Context(), c.cmd, "")
					cl.Close()
					says[i] = done.Words
					if err != nil {
						says[i] = err.Error()
					}
				case 2:
					sh := newShell(t)
					sh.write("state/control.token", "feed\n")
					sh.write("config.toml", doorsConfig)
					_, out, errs := sh.run(append(strings.Fields(c.line), "--listen", s.addr)...)
					says[i] = strings.Join(strings.Fields(strings.TrimPrefix(out+errs, "magpie: ")), " ")
				}
			}
			for end := time.Now().Add(long); ; <-time.After(10 * time.Millisecond) { // of groups that were found it is told a moment later
				for i, s := range all {
					effects[i] = s.effect(t)
				}
				if len(slices.Compact(slices.Clone(effects))) == 1 || time.Now().After(end) {
					break
				}
			}
			for i := 1; i < len(ways); i++ {
				if timeless(says[i]) != timeless(says[0]) {
					t.Errorf("%s it says %q, %s %q", ways[i], says[i], ways[0], says[0])
				}
				if d := cmp.Diff(effects[0], effects[i]); d != "" {
					t.Errorf("(-%s +%s)\n%s", ways[0], ways[i], d)
				}
			}
		})
	}
}

func number(n int) *int { return &n }
