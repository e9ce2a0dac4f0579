package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"dev.magpie/gateway/bridge"
	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func (g *Gateway) newBridge(o bridge.Options) *bridge.Bridge {
	o.Mask = g.masker.Mask
	o.Told = g.d.State.Read
	return bridge.New(o)
}

// speakProgram writes the request of a try for an account that is a program's sign-in. Its
// runs are asked in the form of Messages, whatever the agent speaks.
func (t *try) speakProgram() (err error) {
	s := t.s
	switch {
	case s.a.counting():
		return errNoCount
	case !t.speaks:
		return &wire.FieldRefusal{Words: t.p.Name + " answers messages alone: it is the " + t.p.Program + " program, which has no " + s.a.path}
	}
	s.asking = t.api
	if t.h.describes { // which takes its time
		defer s.keepAlive()()
	}
	if t.x, err = s.translate(t); err != nil {
		return err
	}
	lost, err := bridge.Check(t.x.body)
	if err != nil {
		return err
	}
	t.x.lost = append(t.x.lost, lost...)
	s.sent, t.body = t.x.body, wire.Whole(t.x.body)
	s.rec.translated(fromTo(t.x.from, t.x.to, t.x.lost))
	return nil
}

// runProgram has the program answer a try, and waits until its reply begins.
func (t *try) runProgram(via string) *outcome {
	s := t.s
	var err error
	t.resp, err = s.g.bridge.Do(t.ctx, &bridge.Ask{Account: t.acct.ID, Home: t.acct.Home, Proxy: via, Model: provider.Unmarked(t.c.Model), Body: t.x.body}) //nolint:bodyclose // try closes it
	var unready *bridge.UnreadyError
	switch {
	case err == nil:
		s.g.unready(t.acct.ID, "")
		return nil
	case errors.As(err, &unready):
		o := s.unready(t.acct, err)
		return &o
	}
	o := t.broken(failure.PhaseHeader, err)
	return &o
}

// How often an account's program is asked for its windows: unasked now and then, and only if
// it was used meanwhile.
const (
	usageLeast = 5               // minutes
	usageMost  = 15              // minutes
	lookAgain  = 2 * time.Minute // at one that was not ready
)

// watchPrograms looks after the accounts that are programs' sign-ins: how they stand, and what
// is left of them.
func (g *Gateway) watchPrograms(lv *live) {
	for _, a := range lv.cat.AllAccounts() {
		if p := lv.cat.Provider(a.Provider); p.Program != "" && a.Unready == "" && !a.Off && !p.Off {
			g.behind(func() { g.watchProgram(lv, a) })
		}
	}
}

func (g *Gateway) watchProgram(lv *live, a *provider.Account) {
	via := g.proxyOf(lv, a)
	var read time.Time
	for now := lv; now == lv || now == nil; now = g.live.Load() { // another config has its own watch
		err := g.bridge.Ready(g.ctx, a.ID, a.Home)
		var unready *bridge.UnreadyError
		wait := time.Duration(usageLeast+rand.IntN(usageMost-usageLeast+1)) * time.Minute //nolint:gosec // no secret
		switch {
		case g.ctx.Err() != nil:
			return
		case errors.As(err, &unready):
			g.unready(a.ID, g.masker.Mask(unready.Words))
			wait = lookAgain
		case read.IsZero() || g.bridge.UsedSince(a.Home, read):
			g.unready(a.ID, "")
			read = time.Now()
			g.readUsage(a, via)
		default:
			g.unready(a.ID, "")
		}
		select {
		case <-time.After(wait):
		case <-g.ctx.Done():
			return
		}
	}
}

// readUsage asks the program for the account's windows and remembers them, as of when it was
// asked: what a run tells meanwhile is newer. That it told nothing says nothing of them.
func (g *Gateway) readUsage(a *provider.Account, via string) {
	ctx, cancel := context.WithTimeout(g.ctx, time.Minute)
	defer cancel()
	began := time.Now()
	ws, err := g.bridge.Usage(ctx, a.ID, a.Home, via)
	if err != nil {
		g.log.Debug("the program told no windows", "account", a.ID, "why", g.masker.Mask(err.Error()))
		return
	}
	for i := range ws {
		ws[i].Read = began
	}
	g.d.State.Read(a.ID, ws, began)
}

func (g *Gateway) proxyOf(lv *live, a *provider.Account) string {
	for _, via := range []string{a.Proxy, lv.cat.Provider(a.Provider).Proxy, lv.cfg.Proxy} {
		if via != "" {
			return via
		}
	}
	return ""
}
