package gateway

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
	"dev.magpie/provider/vendors"
)

// Accounts that a program is signed in to: who they are, and whether they can be asked.

const (
	subTimeout = 20 * time.Second // for a question to an account's vendor, and for a new token
	subLook    = 30 * time.Second // between two looks at what is to be watched of accounts
	shownFresh = 5 * time.Minute  // how long a reading holds of an account that is only shown
)

// sub is one such account. It outlives a reload that changes nothing about it.
type sub struct {
	vendors.Subscription
	id   provider.AccountID
	key  subKey
	turn chan struct{} // holds one while nobody spends a reset of the account

	mu      sync.Mutex
	known   provider.Credential // as last seen
	models  *provider.List      // that its plan has, nil = not known
	fails   int                 // readings in a row that failed
	askAt   time.Time           // no reading is wanted before
	renewed time.Time           // when its windows last began anew, by a reset or since somebody else signed in
	came    time.Time           // when somebody else last signed in
	lookAt  time.Time           // no reset is thought of before, on behalf of a request
	checkAt time.Time           // nor for running out
	asks    map[string]string   // by a reset: the id of the request that spends it
}

// subKey is what makes an account another one.
type subKey struct{ preset, homes, base, proxy string }

// subs are the accounts of one config.
type subs map[provider.AccountID]*sub

// openSubs makes the accounts of a config, and keeps those of the one before that are the same.
func (g *Gateway) openSubs(lv, old *live) subs {
	all := subs{}
	open := map[subKey]vendors.Subscription{} // one home has one holder of its tokens
	if old != nil {
		for _, s := range old.subs {
			open[s.key] = s.Subscription
		}
	}
	for _, p := range lv.cat.Providers {
		for _, a := range p.Accounts {
			if a.Kind != provider.KindAccount || a.Unready != "" {
				continue
			}
			key := g.subKeyOf(p, a, lv.cfg.Proxy)
			if old != nil {
				if was := old.subs[a.ID]; was != nil && was.key == key {
					all[a.ID] = was
					continue
				}
			}
			via, had := open[key]
			if !had {
				var ok bool
				if via, ok = vendors.Open(p, g.signIn(key)); !ok {
					continue
				}
				open[key] = via
			}
			s := &sub{Subscription: via, id: a.ID, key: key, turn: make(chan struct{}, 1), asks: map[string]string{}}
			s.turn <- struct{}{}
			all[a.ID] = s
		}
	}
	return all
}

// subKeyOf says what an account's sign-in is, and how its vendor is reached.
func (g *Gateway) subKeyOf(p *provider.Provider, a *provider.Account, proxy string) subKey {
	base := p.Bases[wire.Responses]
	if p.ReadOnly != "" {
		base = p.BalanceURL
	}
	homes := vendors.Homes(p.Preset, a.Home, g.d.Home, g.d.Getenv)
	return subKey{p.Preset, strings.Join(homes, homeSep), base, cmp.Or(a.Proxy, p.Proxy, proxy)}
}

// homeSep stands in no path.
const homeSep = "\x00"

// signIn says where an account's sign-in is and how its vendor is reached. A redirect is not
// followed: a sign-in goes where the config says, and nowhere else.
func (g *Gateway) signIn(key subKey) vendors.SignIn {
	return vendors.SignIn{
		Homes: strings.Split(key.homes, homeSep), Base: key.base, Token: g.d.TokenURL, Agent: g.userAgent[0],
		Do: func(req *http.Request) (*http.Response, error) {
			rt, err := g.pool.For(key.proxy)
			if err != nil {
				return nil, err
			}
			c := http.Client{Transport: rt, Timeout: subTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			resp, err := c.Do(req)
			if err != nil {
				return nil, errors.New("it can't be reached: " + cleanErr(err))
			}
			return resp, nil
		},
	}
}

// userHome is the person's own folder, "" where none is known.
func userHome() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// lookSub reads who is signed in, and tells the state whether the account can be asked.
func (g *Gateway) lookSub(s *sub) {
	c, err := s.Look()
	if err != nil {
		g.lost(s, err)
		return
	}
	g.signedIn(s, &c)
}

// lost notes that an account can't be asked for what its owner has to end. What passes by
// itself is no such thing.
func (g *Gateway) lost(s *sub, err error) {
	var state provider.SignInError
	if !errors.As(err, &state) {
		return
	}
	words, news := g.masker.Mask(state.Error()), !g.d.State.IsUnready(s.id)
	g.unready(s.id, words)
	if news {
		g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: string(s.id) + ": " + words})
	}
}

// signedIn notes a credential that was had: it is hidden, and whose it is counts as the secret.
// It says whether that is somebody else than before.
func (g *Gateway) signedIn(s *sub, c *provider.Credential) (another bool) {
	s.mu.Lock()
	before := s.known
	s.known = *c
	s.mu.Unlock()
	if before.Access != c.Access {
		hide := []string{c.Access.Reveal()} //nolint:forbidigo // what is to be hidden has to be known
		for _, h := range c.Hidden {
			hide = append(hide, h.Reveal()) //nolint:forbidigo // as above
		}
		g.masker.Known(hide...)
	}
	g.unready(s.id, "")
	print, old := c.Print(), g.d.State.Print(s.id)
	if print == old {
		return false
	}
	g.d.State.SetPrint(s.id, print)
	if old == "" {
		return false
	}
	g.another(s)
	return true
}

// another drops what is known of whoever was signed in before.
func (g *Gateway) another(s *sub) {
	g.d.State.Another(s.id)
	s.mu.Lock()
	s.models, s.fails, s.askAt, s.lookAt, s.checkAt = nil, 0, time.Time{}, time.Time{}, time.Time{}
	s.came = time.Now()
	s.renewed = s.came // what was asked before tells nothing of this one
	s.mu.Unlock()
	g.meter.Forget(s.id)
	g.tell(trace.Log{Time: time.Now(), Level: "info", Text: "somebody else is signed in at " + string(s.id)})
	if lv := g.live.Load(); lv != nil && lv.subs[s.id] == s && !g.d.NoFetch {
		if a := lv.cat.Account(s.id); a != nil && s.Signer != nil {
			g.goFetchPlans(lv, lv.cat.Provider(a.Provider))
		}
	}
}

// whoIsIn looks whether somebody else signed in since.
func (g *Gateway) whoIsIn(s *sub) (another bool) {
	c, err := s.Look()
	return err == nil && c.Print() != g.d.State.Print(s.id) && !g.d.State.IsUnready(s.id) && g.signedIn(s, &c)
}

// watchSubs looks after accounts beside the requests: sign-ins that were made good, and resets
// that run out.
func (g *Gateway) watchSubs() {
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(subLook):
		}
		lv := g.live.Load()
		for _, s := range lv.subs {
			if g.ctx.Err() != nil {
				return
			}
			if g.d.State.IsUnready(s.id) {
				g.lookAgain(s)
			} else {
				g.whoIsIn(s)
			}
			g.readShown(s, time.Now())
			g.checkResets(lv, s, time.Now())
		}
	}
}

// lookAgain sees whether a sign-in that could not be used can be by now. One that the vendor
// refused stays refused until another is written.
func (g *Gateway) lookAgain(s *sub) {
	ctx, cancel := context.WithTimeout(g.ctx, subTimeout)
	defer cancel()
	c, err := s.Look()
	if err == nil && s.Signer != nil {
		c, err = s.Credential(ctx, time.Now())
	}
	if err != nil {
		g.lost(s, err)
		return
	}
	g.signedIn(s, &c)
	g.tell(trace.Log{Time: time.Now(), Level: "info", Text: string(s.id) + " is signed in again"})
	g.meter.Stale(s.id) // what was told when nobody was signed in
	g.meter.Want(s.id, time.Now())
}

// wantSubs has the accounts of a plan read, those that are held or rest too.
func (g *Gateway) wantSubs(lv *live, p *trace.Plan, now time.Time) {
	if len(lv.subs) == 0 {
		return
	}
	for _, list := range [][]trace.Candidate{p.Order, p.Left} {
		for i := range list {
			if s := lv.subs[provider.AccountID(list[i].ID)]; s != nil {
				g.wantSub(s, now)
			}
		}
	}
}

func (g *Gateway) wantSub(s *sub, now time.Time) {
	s.mu.Lock()
	early := now.Before(s.askAt)
	s.mu.Unlock()
	if !early && s.Meter != nil && !g.d.State.IsUnready(s.id) {
		g.meter.Want(s.id, now)
	}
}

// readShown has an account read now and then that is only shown: no request asks for it.
func (g *Gateway) readShown(s *sub, now time.Time) {
	if s.Signer != nil {
		return
	}
	if at, _ := g.meter.Asked(s.id); now.Sub(at) >= shownFresh || at.After(now) {
		g.wantSub(s, now)
	}
}

// askSub asks what is left of an account.
func (g *Gateway) askSub(ctx context.Context, s *sub) (provider.Reading, error) {
	if s.Meter == nil {
		return provider.Reading{}, errNotTold
	}
	if s.Signer == nil { // nothing else finds out that somebody signed in anew
		c, err := s.Look()
		if err != nil {
			return provider.Reading{}, err
		}
		g.signedIn(s, &c)
	} else {
		g.whoIsIn(s)
	}
	r, err := s.Meter.Read(ctx, time.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.fails, s.askAt = 0, time.Time{}
		return r, nil
	}
	s.askAt = time.Now().Add(min(time.Minute<<min(s.fails, 4), 15*time.Minute))
	s.fails++
	return r, err
}

// staleSub has an account read again at the next plan: its vendor turned a request away for
// what a reading would tell.
func (g *Gateway) staleSub(lv *live, c *trace.Candidate, v *trace.Verdict) {
	if lv.subs[provider.AccountID(c.ID)] == nil {
		return
	}
	switch v.Kind { //nolint:exhaustive // the others say nothing of the account
	case trace.Quota, trace.Credit, trace.Rate, trace.Auth:
		g.meter.Stale(provider.AccountID(c.ID))
	}
}

// firstReadings waits, once after a start, for what is left of the accounts that a request may
// go to: it would else be the one that finds out.
func (s *service) firstReadings() {
	g := s.g
	if len(s.lv.subs) == 0 || g.firstDone.Load() {
		return
	}
	t, bad := s.lv.catalog().ResolveFor(s.a.agent, s.a.model, s.lv.fetched())
	if bad != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, firstRead)
	defer cancel()
	asked := g.subsOf(s.lv, &t)
	asked = slices.DeleteFunc(asked, func(one *sub) bool { return one.Signer == nil }) // it is not asked anyway
	for _, one := range asked {
		g.wantSub(one, time.Now())
	}
	for _, one := range asked {
		g.meter.Wait(ctx, one.id)
	}
	if len(asked) > 0 && s.ctx.Err() == nil {
		g.firstDone.Store(true)
	}
}

// firstRead is how long the first request after a start waits for a reading.
const firstRead = 3 * time.Second

// subsOf are the accounts that a target may be served by.
func (g *Gateway) subsOf(lv *live, t *provider.Target) []*sub {
	of := map[string]bool{}
	if t.Provider != nil {
		of[t.Provider.ID] = true
	}
	if t.Group != nil {
		for _, m := range t.Group.Members {
			of[m.Provider] = true
			if inner := lv.catalog().Group(m.Group); inner != nil {
				for _, n := range inner.Members {
					of[n.Provider] = true
				}
			}
		}
	}
	var all []*sub
	for _, p := range lv.cat.Providers {
		for _, a := range p.Accounts {
			if s := lv.subs[a.ID]; s != nil && of[p.ID] && !a.Off {
				all = append(all, s)
			}
		}
	}
	return all
}

// told says whether there is a place to ask what is left of a key or an account.
func (l *live) told(id provider.AccountID) bool {
	s := l.subs[id]
	return l.meters.by[id] != nil || s != nil && s.Meter != nil || l.program(id) != nil
}

// sparing says whether even a person has it asked now and then alone: money changes slowly, and
// a program is not run for each press of a key.
func (l *live) sparing(id provider.AccountID) bool {
	m := l.meters.by[id]
	return m != nil && !m.src.Windows || l.program(id) != nil
}
