package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Models of single accounts: a plan has what it has, whoever else is signed in.

// plansOf are the lists that are known of a config's accounts, nil for none.
func plansOf(all subs) *route.Plans {
	plans := route.Plans{}
	for id, s := range all {
		if list := s.list(); list != nil {
			plans[id] = list
		}
	}
	if len(plans) == 0 {
		return nil
	}
	return &plans
}

func (s *sub) list() *provider.List {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.models
}

// goFetchPlans gets the lists of a provider's accounts behind, and has them read.
func (g *Gateway) goFetchPlans(lv *live, p *provider.Provider) {
	if p.Off {
		return
	}
	g.behind(func() {
		_ = g.fetchPlans(g.ctx, lv, p, true) // each failure was told
		for _, a := range p.Accounts {
			if s := lv.subs[a.ID]; s != nil && !a.Off {
				g.wantSub(s, time.Now())
			}
		}
	})
}

// fetchPlans gets the lists of a provider's accounts: from the cache first where that will
// do, then from the vendor. It returns why the last one failed, if none was had.
func (g *Gateway) fetchPlans(ctx context.Context, lv *live, p *provider.Provider, cached bool) error {
	if p.ReadOnly != "" {
		return errors.New(p.Name + " is only shown, and has no models here: " + p.ReadOnly)
	}
	var last error
	had := 0
	for _, a := range p.Accounts {
		s := lv.subs[a.ID]
		if s == nil || s.Signer == nil || a.Off {
			continue
		}
		age, err := time.Duration(0), errors.New("not kept")
		if cached {
			age, err = g.cachedPlan(s)
		}
		if err != nil || age > listFresh {
			err = g.fetchPlan(ctx, s)
		}
		if err != nil {
			last = err
			g.lost(s, err)
			if ctx.Err() == nil {
				g.tell(trace.Log{Time: time.Now(), Level: "debug", Text: "models of " + string(s.id) + ": " + err.Error()})
			}
		}
		if s.list() != nil {
			had++
		}
	}
	g.putPlans(lv, p)
	if had > 0 {
		return nil
	}
	return last
}

func (g *Gateway) fetchPlan(ctx context.Context, s *sub) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list, raw, err := s.Models(ctx, time.Now())
	if err != nil {
		return err
	}
	s.setList(list)
	g.keepPlan(s, raw)
	return nil
}

func (s *sub) setList(list []provider.Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = provider.NewList(list)
}

// putPlans puts what is known of a provider's accounts in force: each one's list, and as the
// provider's what any of them has.
func (g *Gateway) putPlans(lv *live, p *provider.Provider) {
	var union []provider.Model
	for _, a := range p.Accounts {
		if s := lv.subs[a.ID]; s != nil {
			union = append(union, s.list().Models()...)
		}
	}
	lv.plans.Store(plansOf(lv.subs))
	if len(union) == 0 {
		return
	}
	for {
		old := lv.lists.Load()
		fresh := provider.Lists{}
		if old != nil {
			maps.Copy(fresh, *old)
		}
		fresh[p.ID] = provider.NewList(union)
		if lv.lists.CompareAndSwap(old, &fresh) {
			g.regroup(lv)
			return
		}
	}
}

// planFile is where an account's list is kept.
func (g *Gateway) planFile(s *sub) string {
	if g.d.CacheDir == "" {
		return ""
	}
	return filepath.Join(g.d.CacheDir, "models", url.QueryEscape(string(s.id))+".json")
}

// cachedPlan takes a list that was kept of the same account at the same vendor.
func (g *Gateway) cachedPlan(s *sub) (time.Duration, error) {
	data, err := os.ReadFile(g.planFile(s))
	if err != nil {
		return 0, err
	}
	var c cachedList
	if err := json.Unmarshal(data, &c); err != nil {
		return 0, err
	}
	if c.From != g.planFrom(s) {
		return 0, errors.New("it is another account's")
	}
	list, err := s.Take(c.List)
	if err != nil {
		return 0, err
	}
	s.setList(list)
	return time.Since(c.At), nil
}

func (g *Gateway) planFrom(s *sub) string { return s.key.base + " " + g.d.State.Print(s.id) }

func (g *Gateway) keepPlan(s *sub, raw []byte) {
	path := g.planFile(s)
	if path == "" {
		return
	}
	data, err := json.Marshal(cachedList{From: g.planFrom(s), At: time.Now().UTC(), List: raw})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = state.WriteFile(path, data)
	}
	if err != nil {
		g.log.Debug("model list not cached", keyError, err.Error())
	}
}

// hasSubs says whether a provider's accounts are sign-ins.
func (lv *live) hasSubs(p *provider.Provider) bool {
	for _, a := range p.Accounts {
		if lv.subs[a.ID] != nil {
			return true
		}
	}
	return false
}

// testSub asks for an account's models, to see whether its sign-in is taken.
func (g *Gateway) testSub(ctx context.Context, s *sub) trace.KeyTest {
	began := time.Now()
	if s.Signer == nil {
		return g.testShown(ctx, s, began)
	}
	err := g.fetchPlan(ctx, s)
	t := trace.KeyTest{Key: string(s.id), MS: time.Since(began).Milliseconds(), At: began}
	var state provider.SignInError
	switch {
	case errors.As(err, &state):
		g.lost(s, err)
		t.Fail, t.Error = trace.Auth, g.masker.Mask(err.Error())
	case err != nil:
		t.Error = g.masker.Mask(err.Error())
	default:
		t.OK, t.Status, t.Models = true, http.StatusOK, len(s.list().Models())
	}
	return t
}

// testShown sees whether the sign-in of an account that is only shown is taken where what is
// left is told.
func (g *Gateway) testShown(ctx context.Context, s *sub, began time.Time) trace.KeyTest {
	_, err := s.Look()
	if err == nil {
		_, err = g.askSub(ctx, s)
	}
	t := trace.KeyTest{Key: string(s.id), MS: time.Since(began).Milliseconds(), At: began}
	var state provider.SignInError
	switch {
	case errors.As(err, &state):
		g.lost(s, err)
		t.Fail, t.Error = trace.Auth, g.masker.Mask(err.Error())
	case err != nil:
		t.Error = g.masker.Mask(err.Error())
	default:
		t.OK, t.Status = true, http.StatusOK
	}
	return t
}
