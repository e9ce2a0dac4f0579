package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/meter"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/upstream"
	"dev.magpie/provider"
	"dev.magpie/provider/vendors"
	"dev.magpie/provider/vendors/balance"
)

// What vendors tell, being asked, of what is left. A request never waits for it: its plan says
// whom it wants read, and the meter asks behind it.

// readingBytes bounds what a vendor may tell of what is left.
const readingBytes = 1 << 20

// metered is one key whose vendor tells what is left behind it.
type metered struct {
	p    *provider.Provider
	acct *provider.Account
	src  vendors.Source
}

// meters are the keys of a config that are told of, and how many of them tell windows.
type meters struct {
	by      map[provider.AccountID]*metered
	windows int
}

// metersOf finds out by the config alone: nothing is asked.
func metersOf(cat *provider.Catalog) meters {
	m := meters{by: map[provider.AccountID]*metered{}}
	for _, p := range cat.Providers {
		src, ok := vendors.SourceOf(p)
		if !ok || p.Off {
			continue
		}
		for _, a := range p.Accounts {
			if a.Kind != provider.KindKey || a.Off {
				continue
			}
			m.by[a.ID] = &metered{p: p, acct: a, src: src}
			if src.Windows {
				m.windows++
			}
		}
	}
	return m
}

// same says whether two ask the same of the same key.
func (m *metered) same(o *metered) bool {
	return m.src.Name == o.src.Name && m.src.URL == o.src.URL && m.p.BalancePath == o.p.BalancePath && m.acct.Secret == o.acct.Secret
}

// newMeter makes the meter; it asks of the config in force.
func (g *Gateway) newMeter() *meter.Meter {
	return meter.New(meter.Options{Ask: g.askLeft, Told: g.toldLeft})
}

// remeter drops what is asked of keys that are others, or told of elsewhere, than before.
func (g *Gateway) remeter(old, now *live) {
	if old == nil {
		return
	}
	for id, m := range now.meters.by {
		if was := old.meters.by[id]; was == nil || !was.same(m) {
			g.meter.Forget(id)
		}
	}
	for _, a := range now.cat.AllAccounts() {
		was := old.program(a.ID)
		if now.program(a.ID) != nil && (was == nil || was.Home != a.Home) {
			g.meter.Forget(a.ID)
		}
	}
}

// wantLeft has the keys of a plan read that tell windows, the resting ones too: a reading may
// bring them back. Where no key tells any it costs nothing.
func (g *Gateway) wantLeft(lv *live, order []trace.Candidate, now time.Time) {
	if lv.meters.windows == 0 {
		return
	}
	for i := range order {
		id := provider.AccountID(order[i].ID)
		if m := lv.meters.by[id]; m != nil && m.src.Windows {
			g.meter.Want(id, now)
		}
	}
}

// staleLeft has a candidate read again at the next plan, for its vendor says that it is used up.
func (g *Gateway) staleLeft(c *trace.Candidate, v *trace.Verdict) {
	if v.Kind == trace.Quota || v.Kind == trace.Credit {
		g.meter.Stale(provider.AccountID(c.ID))
	}
}

var errNotTold = errors.New("nothing tells what is left of it")

// askLeft asks one vendor what is left behind one key.
func (g *Gateway) askLeft(ctx context.Context, id provider.AccountID) (provider.Reading, error) {
	lv := g.live.Load()
	if s := lv.subs[id]; s != nil {
		return g.askSub(ctx, s)
	}
	if a := lv.program(id); a != nil {
		return g.askProgram(ctx, lv, a)
	}
	m := lv.meters.by[id]
	if m == nil {
		return provider.Reading{}, errNotTold
	}
	secret, err := g.d.Secrets.Value(ctx, m.acct)
	if err != nil {
		return provider.Reading{}, err
	}
	g.known(m.acct, secret)
	key := secret.Reveal()
	if key == "" || m.src.Keys != nil && !m.src.Keys(key) {
		return provider.Reading{}, nil // its vendor tells nothing of such a key
	}
	req, err := m.request(ctx, key, g.userAgent)
	if err != nil {
		return provider.Reading{}, err
	}
	rt, err := g.pool.For(cmp.Or(m.acct.Proxy, m.p.Proxy, lv.cfg.Proxy))
	if err != nil {
		return provider.Reading{}, err
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return provider.Reading{}, errors.New("it can't be reached: " + cleanErr(err))
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is left to be said
	body, err := upstream.ReadBody(resp.Body, resp.ContentLength, readingBytes)
	if err == nil {
		body, err = upstream.Decode(body, resp.Header.Get("Content-Encoding"), readingBytes)
	}
	at := time.Now()
	switch {
	case resp.StatusCode < 200 || resp.StatusCode >= 300:
		return provider.Reading{}, m.refused(resp, body, at)
	case err != nil:
		return provider.Reading{}, err
	}
	return m.src.Parse(body, at)
}

// request is what is asked. The person's own headers go along, as they do with every request.
func (m *metered) request(ctx context.Context, key string, userAgent []string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, balance.WithKey(m.src.URL, key, true), http.NoBody)
	if err != nil {
		return nil, errors.New("the address where it is told can't be read")
	}
	h := m.src.Header(key)
	req.Header.Set(h.Name, h.Value)
	req.Header["User-Agent"], req.Header["Accept"] = userAgent, jsonType
	req.Header.Set("Accept-Language", "en-US,en")
	for _, own := range m.p.Headers {
		value := balance.WithKey(own.Value, key, false)
		if strings.EqualFold(own.Name, "host") {
			req.Host = value
			continue
		}
		req.Header.Set(own.Name, value)
	}
	return req, nil
}

// refused words a reply that is none, shortly.
func (m *metered) refused(resp *http.Response, body []byte, at time.Time) error {
	v := failure.Classify(failure.Seen{
		Vendor: m.p.Dialect.Vendor, Kind: string(m.acct.Kind), Phase: failure.PhaseReply,
		Status: resp.StatusCode, Header: resp.Header, Body: body, At: at,
	})
	if v.Words == "" {
		return fmt.Errorf("its vendor answers %d", resp.StatusCode)
	}
	return fmt.Errorf("its vendor answers %d: %s", resp.StatusCode, v.Words)
}

// toldLeft takes in what was told, being asked at a time, or why nothing was. What a reply told
// since that time stands.
func (g *Gateway) toldLeft(id provider.AccountID, r provider.Reading, err error, began time.Time) {
	lv, at := g.live.Load(), time.Now()
	acct := lv.cat.Account(id)
	if acct == nil || !lv.told(id) {
		return // the config that wanted to know is gone
	}
	if s := lv.subs[id]; s != nil && err != nil {
		g.lost(s, err)
	}
	if err != nil {
		why := g.masker.Mask(err.Error())
		if g.d.State.Missed(id, why) {
			g.tell(trace.Log{Time: at, Level: "warn", Text: "what is left of " + string(id) + " can't be read: " + why})
		}
		return
	}
	took := g.d.State.Take(id, r, g.d.State.Snapshot(lv.cat, at).SpentShare(lv.cat.Provider(acct.Provider)), began)
	if took.After {
		g.tell(trace.Log{Time: at, Level: "info", Text: "what is left of " + string(id) + " can be read again"})
	}
	for _, rest := range took.Lifted {
		g.tell(trace.Log{Time: at, Level: "info", Text: rest.Key + " is back: it has allowance again"})
	}
}
