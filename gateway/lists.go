package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/upstream"
	"dev.magpie/provider"
)

const (
	listTimeout = 30 * time.Second
	listBytes   = 8 << 20
	listFresh   = 12 * time.Hour // a list on disk that is younger is not fetched at start
)

// goFetch gets the model lists of the providers whose models the config does not give,
// behind: from the cache first, then from the vendor where that is old.
func (g *Gateway) goFetch(lv *live) {
	var want []*provider.Provider
	for _, p := range lv.cat.Providers {
		if lv.hasSubs(p) {
			g.goFetchPlans(lv, p)
			continue
		}
		if _, _, ok := p.ListURL(); ok && !p.Off && len(p.Models) == 0 {
			want = append(want, p)
		}
	}
	if len(want) == 0 {
		return
	}
	g.behind(func() {
		for _, p := range want {
			body, age := g.cached(p)
			if body != nil {
				if err := g.setList(lv, p, body); err != nil {
					body = nil
				}
			}
			if body == nil || age > listFresh {
				if err := g.fetchList(g.ctx, lv, p); err != nil && g.ctx.Err() == nil {
					g.tellUnlisted(p, err)
				}
			}
		}
	})
}

// tellUnlisted logs why a vendor told no models. A key that is not taken is for a person to mend; many a vendor has no list.
func (g *Gateway) tellUnlisted(p *provider.Provider, err error) {
	level := "debug"
	if errors.Is(err, errKeyNotTaken) {
		level = "warn"
	}
	g.tell(trace.Log{Time: time.Now(), Level: level, Text: "models of " + p.ID + ": " + err.Error()})
}

// errKeyNotTaken says that a vendor tells its models to nobody with that key.
var errKeyNotTaken = errors.New("the key is not taken")

// fetchList asks a vendor for its models and puts them in force; why there are none is kept for whoever asks for one.
func (g *Gateway) fetchList(ctx context.Context, lv *live, p *provider.Provider) error {
	err := g.readList(ctx, lv, p)
	if err != nil {
		lv.unlisted.Store(p.ID, err.Error())
	}
	return err
}

// unknown is the refusal of a name that nothing is called by, with the vendors whose models are not known, and why: it
// may be one of theirs.
func (lv *live) unknown(ref *provider.Refusal) *provider.Refusal {
	if ref.Code != provider.CodeModelNotFound {
		return ref
	}
	more, fetched := *ref, lv.fetched()
	for _, p := range lv.cat.Providers {
		if why, known := lv.unlisted.Load(p.ID); known && !p.Off && fetched[p.ID] == nil {
			more.Words += fmt.Sprintf("; the models of %s are not known: %s", p.ID, why)
		}
	}
	return &more
}

// readList asks a vendor for its models, with the first key that is ready, and puts them in force.
func (g *Gateway) readList(ctx context.Context, lv *live, p *provider.Provider) error {
	if lv.hasSubs(p) {
		return g.fetchPlans(ctx, lv, p, false)
	}
	if _, _, ok := p.ListURL(); !ok {
		return fmt.Errorf("%s has no model list", p.Name)
	}
	last := fmt.Errorf("%s has no key that is ready", p.Name)
	for _, a := range p.Accounts {
		if a.Off {
			continue
		}
		reply, err := g.askList(ctx, lv, p, a)
		if err == nil && reply.status != http.StatusOK {
			err = fmt.Errorf("%s answered %d", p.Name, reply.status)
			if reply.status == http.StatusUnauthorized || reply.status == http.StatusForbidden {
				err = fmt.Errorf("%w, %w", err, errKeyNotTaken)
			}
		}
		if err != nil {
			last = err
			continue
		}
		if err := g.setList(lv, p, reply.body); err != nil {
			return err
		}
		g.cache(p, reply.body)
		return nil
	}
	return last
}

// listReply is what a vendor answered to who asked for its models.
type listReply struct {
	status int
	header http.Header
	body   []byte
}

// askList asks a vendor for its models with one key.
func (g *Gateway) askList(ctx context.Context, lv *live, p *provider.Provider, a *provider.Account) (listReply, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	address, shape, ok := p.ListURL()
	if !ok {
		return listReply{}, fmt.Errorf("%s has no model list", p.Name)
	}
	secret, err := g.d.Secrets.Value(ctx, a)
	if err != nil {
		return listReply{}, err
	}
	g.known(a, secret)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return listReply{}, errors.New("the list's address can't be read")
	}
	s := &service{g: g, a: &ask{api: shape, header: http.Header{}}}
	s.headers(req.Header, p, a, secret)
	for _, h := range p.Headers {
		req.Header.Set(h.Name, h.Value)
	}
	rt, err := g.pool.For(cmp.Or(a.Proxy, p.Proxy, lv.cfg.Proxy))
	if err != nil {
		return listReply{}, err
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return listReply{}, fmt.Errorf("%s can't be reached: %s", p.Name, g.masker.Mask(cleanErr(err)))
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is left to be said
	body, err := upstream.ReadBody(resp.Body, resp.ContentLength, listBytes)
	return listReply{status: resp.StatusCode, header: resp.Header, body: body}, err
}

// setList puts a fetched list in force: a new map, for requests read the old one.
func (g *Gateway) setList(lv *live, p *provider.Provider, body []byte) error {
	_, shape, _ := p.ListURL()
	models, err := provider.ParseModels(shape, body)
	if err != nil {
		return fmt.Errorf("the model list of %s can't be read: %w", p.Name, err)
	}
	for {
		old := lv.lists.Load()
		fresh := provider.Lists{}
		if old != nil {
			maps.Copy(fresh, *old)
		}
		fresh[p.ID] = provider.NewList(models)
		if lv.lists.CompareAndSwap(old, &fresh) {
			lv.unlisted.Delete(p.ID)
			g.regroup(lv)
			return nil
		}
	}
}

func (g *Gateway) listFile(p *provider.Provider) string {
	if g.d.CacheDir == "" {
		return ""
	}
	return filepath.Join(g.d.CacheDir, "models", p.ID+".json")
}

// cachedList is what the cache keeps: the vendor's bytes, and from where they are.
type cachedList struct {
	From string          `json:"from"`
	At   time.Time       `json:"at"`
	List json.RawMessage `json:"list"`
}

func (g *Gateway) cached(p *provider.Provider) ([]byte, time.Duration) {
	path := g.listFile(p)
	if path == "" {
		return nil, 0
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0
	}
	var c cachedList
	from, _, _ := p.ListURL()
	if json.Unmarshal(data, &c) != nil || c.From != from {
		return nil, 0
	}
	return c.List, time.Since(c.At)
}

func (g *Gateway) cache(p *provider.Provider, body []byte) {
	path := g.listFile(p)
	if path == "" {
		return
	}
	from, _, _ := p.ListURL()
	data, err := json.Marshal(cachedList{From: from, At: time.Now().UTC(), List: body})
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
