package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"

	"dev.magpie/config"
	"dev.magpie/gateway/bridge"
	"dev.magpie/gateway/guard"
	"dev.magpie/gateway/lane"
	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/meter"
	"dev.magpie/gateway/redact"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/upstream"
	"dev.magpie/provider"
)

// Recorder keeps finished requests. Add must not wait.
type Recorder interface {
	Add(r trace.Route)
	Stat() trace.HistoryStat
}

// Deps is what a Gateway stands on. Config, Catalog, State and Bus are needed.
type Deps struct {
	Config   *config.Config
	Catalog  *provider.Catalog
	State    *state.Store
	Bus      *trace.Bus
	History  Recorder       // nil: none is kept
	Secrets  SecretSource   // nil: from the environment of the process
	Log      *slog.Logger   // nil: nothing is logged
	Dial     upstream.Dial  // nil: the network
	Media    MediaSource    // what images by URL are fetched with, nil: upstream's
	Masker   *redact.Masker // nil: a new one
	Token    config.Secret  // the control token
	Version  string
	Listen   string // the address as shown
	Bound    []string
	CacheDir string // fetched model lists; "" = memory alone
	// RedactKey is the file of the key that makes placeholders; "" = another one in each run.
	RedactKey string
	PID       int
	Claude    bridge.Options // how the claude program is run; zero: as it is installed
	Demo      bool
	Home      string                   // the person's folder, "" = as the system knows it
	Getenv    func(name string) string // nil: of the process
	TokenURL  string                   // where sign-ins are renewed in place of their vendors' own; "" but in tests
	Trust     bool                     // MAGPIE_TRUST_PROXY
	Public    string                   // MAGPIE_PUBLIC_URL; "" = the config's public_url
	NoFetch   bool                     // fetch no model lists
	// Load reads the config again for a reload, nil when there is none to read.
	Load func() (*config.Config, *provider.Catalog, error)
}

// SecretSource gives the secrets of accounts.
type SecretSource interface {
	Value(ctx context.Context, a *provider.Account) (config.Secret, error)
	Forget(id provider.AccountID)
}

// Gateway serves the four APIs. Make it with New, end it with Close.
type Gateway struct {
	d         Deps
	log       *slog.Logger
	masker    *redact.Masker
	pool      *upstream.Pool
	bridge    *bridge.Bridge // runs the program of accounts that are one's sign-in
	live      atomic.Pointer[live]
	guard     atomic.Pointer[guard.Guard]
	address   atomic.Pointer[address]
	handler   http.Handler
	router    *mux.Router
	userAgent []string
	started   time.Time

	draining  atomic.Bool
	calls     calls
	secrets   sync.Map // AccountID → config.Secret: the last one that was had
	tokens    tokens
	teller    teller
	seals     seals
	lanes     lane.Lanes // slots of accounts that take only so many requests
	config    configState
	meter     *meter.Meter
	readings  lastReadings
	described descriptions
	wanted    wanted      // a program
	watching  sync.Once   // of accounts
	firstDone atomic.Bool // the first request after the start has waited for their readings
	learned   mend.Memory // what vendors were learnt to refuse

	maskKeys sync.Once // maskKey was made
	maskKey  []byte    // that placeholders are made with

	reloading sync.Mutex // one reading of the config at a time

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	goes   sync.Mutex     // a beginning of one of wg, or the end of all
	wg     sync.WaitGroup // our own goroutines
}

// live is what a request begins on and finishes on, whatever is reloaded meanwhile.
type live struct {
	cfg      *config.Config
	cloak    *redact.Cloak     // masks requests, nil = nothing is
	cat      *provider.Catalog // as the config makes it; requests go by catalog()
	meters   meters
	subs     subs
	plans    atomic.Pointer[route.Plans]
	lists    atomic.Pointer[provider.Lists]
	unlisted sync.Map // a provider's id → why its vendor last told no models
	view     atomic.Pointer[provider.Catalog]
	deriving sync.Mutex
	book     book
}

func (l *live) fetched() provider.Lists {
	if p := l.lists.Load(); p != nil {
		return *p
	}
	return nil
}

// New makes a gateway that is ready to serve.
func New(d Deps) *Gateway {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Masker == nil {
		d.Masker = redact.New()
	}
	if d.Secrets == nil {
		d.Secrets = provider.NewSecrets(provider.SecretsOptions{})
	}
	if d.Getenv == nil {
		d.Getenv = os.Getenv
	}
	if d.Home == "" {
		d.Home = userHome()
	}
	if d.Media == nil {
		d.Media = &upstream.Fetcher{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := &Gateway{
		d: d, log: d.Log, masker: d.Masker, pool: upstream.NewPool(d.Dial),
		readings: lastReadings{}, wanted: wanted{is: make(chan struct{})}, started: time.Now(), ctx: ctx, cancel: cancel, userAgent: []string{"magpie/" + d.Version},
	}
	g.bridge = g.newBridge(d.Claude)
	g.address.Store(&address{d.Listen, d.Bound})
	g.handler = g.routes()
	g.meter = g.newMeter()
	d.State.OnChange(g.changed)
	g.hearHistory(g.toldOfHistory)
	g.take(d.Config, d.Catalog)
	return g
}

// take puts a config in force for the requests to come.
func (g *Gateway) take(cfg *config.Config, cat *provider.Catalog) {
	lv := &live{cfg: cfg, cat: cat, meters: metersOf(cat), cloak: g.cloak(cfg)}
	old := g.live.Load()
	if old != nil {
		lv.lists.Store(old.lists.Load())
	}
	lv.subs = g.openSubs(lv, old)
	lv.plans.Store(plansOf(lv.subs))
	dropped := g.d.State.Prune(cat)
	g.derive(lv)
	g.live.Store(lv)
	g.remeter(old, lv)
	g.knownReadings(lv)
	g.lanes.Set(limits(cat))
	g.guard.Store(g.newGuard(cfg))
	g.config.loaded(cfg.Path, time.Now())
	g.readyAll(lv)
	g.tellAll(lv)
	for _, words := range dropped {
		g.tell(trace.Log{Time: time.Now(), Level: "info", Text: "dropped a choice, for the config has no such thing any more: " + words})
	}
	if !g.d.NoFetch {
		g.goFetch(lv)
	}
	if len(lv.subs) > 0 {
		g.watching.Do(func() { g.behind(g.watchSubs) })
	}
}

// readyAll looks up every secret, behind: a command among them may take its time.
func (g *Gateway) readyAll(lv *live) {
	slow := false
	for _, a := range lv.cat.AllAccounts() {
		if a.Secret.Command != "" {
			slow = true
			continue
		}
		g.ready(a)
	}
	g.watchPrograms(lv)
	g.derive(lv)
	if !slow {
		return
	}
	g.behind(func() {
		for _, a := range lv.cat.AllAccounts() {
			if a.Secret.Command != "" && g.ctx.Err() == nil {
				g.ready(a)
			}
		}
		g.regroup(lv)
	})
}

// ready looks one secret up and tells the state how the account stands.
func (g *Gateway) ready(a *provider.Account) {
	if s := g.live.Load().subs[a.ID]; s != nil {
		g.lookSub(s)
		return
	}
	secret, err := g.d.Secrets.Value(g.ctx, a)
	if err != nil {
		g.secrets.Delete(a.ID)
		why := g.masker.Mask(err.Error())
		g.d.State.SetUnready(a.ID, why)
		if !a.Off {
			g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: string(a.ID) + " is not ready: " + why})
		}
		return
	}
	g.known(a, secret)
}

// known notes a secret that was had. It runs on every try: the same one again costs a look.
func (g *Gateway) known(a *provider.Account, secret config.Secret) {
	if last, ok := g.secrets.Load(a.ID); ok && last == any(secret) {
		return
	}
	g.secrets.Store(a.ID, secret)
	g.masker.Known(secret.Reveal())
	g.unready(a.ID, "")
	if secret == "" {
		return
	}
	fresh, old := provider.Fingerprint(secret), g.d.State.Print(a.ID)
	g.d.State.SetPrint(a.ID, fresh)
	if old != "" && old != fresh {
		g.meter.Forget(a.ID)
	}
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.handler.ServeHTTP(w, r) }

// Server returns an HTTP server for the gateway with the field's timeouts.
func (g *Gateway) Server() *http.Server {
	return &http.Server{
		Handler:           g,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return g.ctx },
	}
}

// behind runs f beside the requests. Once the gateway is closed nothing begins any more: a
// reload may come at the same time.
func (g *Gateway) behind(f func()) {
	g.goes.Lock()
	defer g.goes.Unlock()
	if g.ctx.Err() == nil {
		g.wg.Go(f)
	}
}

// Close ends what the gateway runs by itself. Requests under way end with their context.
func (g *Gateway) Close() {
	g.goes.Lock()
	g.cancel()
	g.goes.Unlock()
	g.teller.stop()
	g.hearHistory(nil)
	g.bridge.Close()
	g.meter.Close()
	g.wg.Wait()
	g.pool.Close()
}
