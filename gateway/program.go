package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
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
	s.g.wanted.now()
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
		if lv.program(a.ID) != nil {
			g.behind(func() { g.watchProgram(lv, a) })
		}
	}
}

// One that was merely found on the machine is let be until somebody wants something of it.
func (g *Gateway) watchProgram(lv *live, a *provider.Account) {
	if lv.cat.Detected {
		select {
		case <-g.wanted.is:
		case <-g.ctx.Done():
			return
		}
	}
	anew := false                                                 // it was not ready, and what is known may be of before
	for now := lv; now == lv || now == nil; now = g.live.Load() { // another config has its own watch
		err := g.bridge.Ready(g.ctx, a.ID, a.Home)
		if g.ctx.Err() != nil {
			return
		}
		wait := time.Duration(usageLeast+rand.IntN(usageMost-usageLeast+1)) * time.Minute //nolint:gosec // no secret
		asked, _ := g.meter.Asked(a.ID)
		switch {
		case !g.programReady(a, err):
			anew, wait = true, lookAgain
		case anew || asked.IsZero() || g.bridge.UsedSince(a.Home, asked):
			anew = false
			g.meter.Refresh(a.ID, time.Now())
		}
		select {
		case <-time.After(wait):
		case <-g.ctx.Done():
			return
		}
	}
}

// programReady notes whether an account's program can be used, by what came of asking it.
func (g *Gateway) programReady(a *provider.Account, err error) bool {
	var unready *bridge.UnreadyError
	switch {
	case errors.As(err, &unready):
		g.unready(a.ID, g.masker.Mask(unready.Words))
		return false
	case err == nil:
		g.unready(a.ID, "")
	}
	return err == nil
}

// wanted is whether anything was wanted of a program yet.
type wanted struct {
	once sync.Once
	is   chan struct{} // closed from then on
}

func (w *wanted) now() { w.once.Do(func() { close(w.is) }) }

// program is an account that is a program's sign-in and may be asked, nil if it is none.
func (l *live) program(id provider.AccountID) *provider.Account {
	a := l.cat.Account(id)
	if a == nil || a.Unready != "" || a.Off {
		return nil
	}
	if p := l.cat.Provider(a.Provider); p.Program == "" || p.Off {
		return nil
	}
	return a
}

// askProgram asks an account's program for its windows.
func (g *Gateway) askProgram(ctx context.Context, lv *live, a *provider.Account) (provider.Reading, error) {
	g.wanted.now()
	ws, err := g.bridge.Usage(ctx, a.ID, a.Home, g.proxyOf(lv, a))
	stands := err
	if err != nil { // one that tells no windows may answer all the same
		stands = g.bridge.Ready(ctx, a.ID, a.Home)
	}
	g.programReady(a, stands)
	return provider.Reading{Windows: ws}, err
}

func (g *Gateway) proxyOf(lv *live, a *provider.Account) string {
	for _, via := range []string{a.Proxy, lv.cat.Provider(a.Provider).Proxy, lv.cfg.Proxy} {
		if via != "" {
			return via
		}
	}
	return ""
}
