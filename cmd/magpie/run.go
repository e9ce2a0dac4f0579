package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/guard"
	"dev.magpie/gateway/history"
	"dev.magpie/gateway/redact"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// node is the gateway of this process with all that stands behind it. This file is the only one that
// knows all the rooms of the house.
type node struct {
	p     *process
	wish  wish
	src   *source
	paths config.Paths
	set   *settings // in force, under mu

	log     *slog.Logger
	masker  *redact.Masker
	bus     *trace.Bus
	state   *state.Store
	history *history.History
	demo    *standin.DemoRun // nil outside a demo
	demoDir string           // its home
	agents  context.Context  //nolint:containedctx // how long its agents stay
	dismiss context.CancelFunc
	gw      *gateway.Gateway
	server  *http.Server
	doors   doors

	group  *errgroup.Group // what runs until the end
	ctx    context.Context //nolint:containedctx // it is the life of the group
	cancel context.CancelFunc

	watching chan struct{} // closed once changes of the config may be taken

	mu     sync.Mutex // of set and warned
	warned []string
	closes []func() error // in the order of opening
	once   sync.Once
	ended  error // of close
}

// wish is what the person asks of a gateway in this process.
type wish struct {
	listen   string // --listen
	demo     bool
	noDetect bool
	watch    bool // take changes of the config file
	log      func(m *redact.Masker, paths config.Paths) (*slog.Logger, func() error, error)
}

// start brings a gateway up. When it returns without an error, the gateway answers at its address. An
// address that somebody has is a *takenError, a bad config a *config.Errors.
func (p *process) start(ctx context.Context, w wish) (_ *node, err error) {
	n := &node{p: p, wish: w, masker: redact.New()}
	n.ctx, n.cancel = context.WithCancel(ctx)
	n.group, n.ctx = errgroup.WithContext(n.ctx)
	n.agents, n.dismiss = context.WithCancel(n.ctx)
	defer func() {
		if err != nil {
			_ = n.close() // why it could not start is what counts
		}
	}()
	if err := n.home(); err != nil {
		return nil, err
	}
	if err := n.paths.MakeDirs(); err != nil {
		return nil, elsewhere(err)
	}
	n.watchFrom()
	if n.set, err = n.src.read(n.ctx); err != nil {
		return nil, err
	}
	release, err := startLock(n.ctx, n.paths.StartLock, n.p.startWait)
	if err != nil {
		return nil, elsewhere(err)
	}
	defer release()
	l, err := n.p.open(n.ctx, n.addressOf(n.set.cfg), n.self)
	if err != nil {
		return nil, err
	}
	n.doors.add(l, n.addressOf(n.set.cfg))
	if err := n.furnish(); err != nil {
		return nil, err
	}
	if err := n.serve(); err != nil {
		return nil, err
	}
	n.tellStart()
	n.attend()
	return n, nil
}

// elsewhere adds the way on to an error of a folder where nothing can be kept.
func elsewhere(err error) error {
	return failed("%s\nMAGPIE_HOME=<folder> has magpie keep everything there, config.toml too", err)
}

// home says where everything is: a demo has a home of its own that ends with it.
func (n *node) home() error {
	n.paths = n.p.paths()
	n.src = &source{p: n.p, paths: n.paths, noDetect: n.wish.noDetect}
	if !n.wish.demo {
		if n.p.home == "" && n.p.getenv("MAGPIE_HOME") == "" {
			return failed("no home folder is known to keep anything in: set HOME, or MAGPIE_HOME to a folder for magpie alone")
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "magpie-demo-")
	if err != nil {
		return fmt.Errorf("make the demo's home: %w", err)
	}
	n.onClose(func() error { return os.RemoveAll(dir) })
	n.demoDir, n.paths = dir, demoPaths(dir)
	if n.demo, err = standin.Demo(n.ctx); err != nil {
		return fmt.Errorf("start the demo's vendors: %w", err)
	}
	n.onClose(func() error {
		n.demo.Close()
		return nil
	})
	n.src = &source{p: n.p, paths: n.paths, text: n.demo.Config()}
	return nil
}

func demoPaths(dir string) config.Paths {
	return config.FindPaths(func(name string) string {
		if name == "MAGPIE_HOME" {
			return dir
		}
		return ""
	}, "")
}

// addressOf is where a config makes the gateway listen. A demo takes any free port.
func (n *node) addressOf(cfg *config.Config) string {
	if !n.wish.demo {
		return config.Listen(n.wish.listen, n.p.getenv("MAGPIE_ADDR"), cfg)
	}
	if n.wish.listen == "" {
		return "127.0.0.1:0"
	}
	return config.Listen(n.wish.listen, "", nil)
}

// furnish opens everything that the gateway stands on, and makes the gateway.
func (n *node) furnish() error {
	now := n.p.now()
	earlier, crashErr := watchCrashes(n.paths.State)
	log, closeLog, err := n.wish.log(n.masker, n.paths)
	if err != nil {
		return err
	}
	n.log = log
	n.onClose(closeLog)
	n.bus = trace.NewBus(trace.Options{Start: now, Location: n.p.zone})
	owned, release, err := ownFolder(n.paths.State)
	if err != nil {
		return err
	}
	n.onClose(release)
	n.state, err = state.Open(state.Options{Choices: n.paths.Choices, Rests: n.paths.Rests, Quotas: n.paths.Quotas, Affinity: n.paths.Affinity, Kept: !owned, Log: log}, now)
	if err != nil {
		return err
	}
	n.onClose(n.state.Close)
	if n.history, err = history.Open(n.paths.History); err != nil {
		return err
	}
	n.onClose(n.history.Close)
	home, getenv := n.p.home, n.p.getenv
	if n.wish.demo {
		home, getenv = n.demoDir, func(string) string { return "" }
	}
	token, err := guard.ControlToken(n.paths.Token)
	if err != nil {
		return elsewhere(err)
	}
	n.masker.Known(token.Reveal()) //nolint:forbidigo // what is to be hidden has to be known
	n.gw = gateway.New(gateway.Deps{
		Config: n.set.cfg, Catalog: n.set.cat, State: n.state, Bus: n.bus, History: n.history, Secrets: n.secrets(),
		Log: log, Masker: n.masker, Token: token, Version: version, Listen: n.doors.shown(), Bound: n.doors.bound(),
		CacheDir: n.paths.Cache, RedactKey: n.paths.RedactKey, PID: os.Getpid(), Demo: n.wish.demo, Trust: n.trust(), Public: n.public(), Home: home, Getenv: getenv, Load: n.load,
	})
	if crashErr != nil {
		n.say(slog.LevelWarn, crashErr.Error())
	}
	if earlier != "" {
		n.say(slog.LevelWarn, "an earlier run ended in a crash: see "+earlier)
	}
	return nil
}

// secrets are the person's, of which a demo sees none.
func (n *node) secrets() gateway.SecretSource {
	getenv := n.p.getenv
	if n.wish.demo {
		getenv = func(string) string { return "" }
	}
	return provider.NewSecrets(provider.SecretsOptions{Getenv: getenv})
}

func (n *node) trust() bool {
	v := n.p.getenv("MAGPIE_TRUST_PROXY")
	yes, err := strconv.ParseBool(v)
	if v != "" && err != nil {
		n.say(slog.LevelWarn, "MAGPIE_TRUST_PROXY is neither 1 nor 0 and counts as 0")
	}
	return yes
}

func (n *node) public() string {
	v := n.p.getenv("MAGPIE_PUBLIC_URL")
	if v == "" || n.wish.demo {
		return ""
	}
	clean, err := config.CleanPublicURL(v)
	if err != nil {
		n.say(slog.LevelWarn, "MAGPIE_PUBLIC_URL counts as unset: "+err.Error())
	}
	return clean
}

// say tells something to the log and on the screen.
func (n *node) say(level slog.Level, words string) {
	words = n.masker.Mask(words)
	n.log.Log(n.ctx, level, words)
	word := "info"
	if level >= slog.LevelWarn {
		word = "warn"
	}
	n.bus.PublishLog(trace.Log{Time: n.p.now(), Level: word, Text: words})
}

// tellStart says what the person should know from the beginning.
func (n *node) tellStart() {
	for _, words := range n.set.news(n.paths.Config) {
		n.say(slog.LevelInfo, words)
	}
	n.warn(n.set)
}

// warn tells what the person should know of a config that is good, once for each change of it.
func (n *node) warn(s *settings) {
	all := s.warnings()
	n.mu.Lock()
	news := !slices.Equal(n.warned, all)
	n.warned = all
	n.mu.Unlock()
	if news {
		n.gw.Warn(all)
	}
}

// attend starts what goes on beside the requests.
func (n *node) attend() {
	n.group.Go(func() error {
		n.seed()
		return nil
	})
	close(n.watching)
	if n.demo != nil {
		n.group.Go(func() error { return n.demo.Play(n.agents, "http://"+n.doors.shown()) })
	}
}

// seed adds what the history knows of today: requests of earlier runs.
func (n *node) seed() {
	now := n.p.now().In(n.p.zone)
	y, m, d := now.Date()
	today, err := n.history.Today(n.ctx, time.Date(y, m, d, 0, 0, 0, 0, n.p.zone), now)
	if err == nil { // else the status tells it
		n.bus.Seed(today)
	}
}

// watchFrom begins to watch the config file, before it is read, and takes it again whenever it changed once the
// gateway is there. Without a watch, SIGHUP still does.
func (n *node) watchFrom() {
	n.watching = make(chan struct{})
	if !n.wish.watch {
		return
	}
	w, err := config.NewWatcher(n.paths.Config)
	n.group.Go(func() error {
		if err == nil {
			err = w.Run(n.ctx, n.reload)
		}
		select {
		case <-n.watching:
			if n.ctx.Err() == nil {
				n.say(slog.LevelWarn, "changes of the config are not noticed: "+err.Error())
			}
		case <-n.ctx.Done():
		}
		return nil
	})
}

// reload takes the config again. What comes of it is told.
func (n *node) reload() {
	select {
	case <-n.watching:
	case <-n.ctx.Done():
		return
	}
	if n.demo == nil {
		_ = n.gw.Reload() // it tells why not
	}
}

func (n *node) onClose(f func() error) { n.closes = append(n.closes, f) }

// close ends everything, what was opened last first. Requests that are still under way break off.
func (n *node) close() error {
	n.once.Do(func() {
		var errs []error
		if n.gw != nil {
			errs = append(errs, n.shut())
		}
		n.doors.close()
		n.cancel()
		errs = append(errs, n.group.Wait())
		for i := len(n.closes) - 1; i >= 0; i-- {
			errs = append(errs, n.closes[i]())
		}
		n.ended = errors.Join(errs...)
	})
	return n.ended
}
