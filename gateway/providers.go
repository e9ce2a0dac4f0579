package gateway

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// What the gateway knows of its vendors: their entries, their models, and whether they take a key.

// Providers lists the vendors' entries in the config's order, without secrets.
func (g *Gateway) Providers() []trace.Provider {
	lv := g.live.Load()
	states := map[string]trace.Account{}
	for _, a := range g.d.State.Accounts(lv.cat, time.Now()) {
		states[a.ID] = a
	}
	all := make([]trace.Provider, 0, len(lv.cat.Providers))
	for _, p := range lv.cat.Providers {
		all = append(all, g.entryOf(lv, p, states))
	}
	return all
}

func (g *Gateway) entryOf(lv *live, p *provider.Provider, states map[string]trace.Account) trace.Provider {
	list := g.modelsOf(lv, p)
	e := trace.Provider{
		ID: p.ID, Name: p.Name, Preset: p.Preset, Region: p.Region, Off: p.Off, Local: p.Local, Unlisted: p.Unlisted, ReadOnly: p.ReadOnly,
		Bases: map[string]string{}, Routing: orElse(g.d.State.Chosen().Routing[p.ID], p.Routing), Proxy: g.masker.Mask(redactedURL(p.Proxy)), KeysURL: p.KeysURL,
		Models: len(list.Models), From: list.From, Keys: []trace.Key{},
	}
	for api, base := range p.Bases {
		e.Bases[string(api)] = g.masker.Mask(redactedURL(base))
	}
	for _, f := range p.Fallback {
		e.Fallback = append(e.Fallback, f.String())
	}
	for _, h := range p.Headers {
		e.Headers = append(e.Headers, h.Name)
	}
	accounts := slices.SortedStableFunc(slices.Values(p.Accounts), func(a, b *provider.Account) int {
		return states[string(a.ID)].Place - states[string(b.ID)].Place
	})
	for _, a := range accounts {
		st := states[string(a.ID)]
		e.Keys = append(e.Keys, trace.Key{
			ID: string(a.ID), Name: a.Name, Kind: string(a.Kind), Source: sourceOf(a.Secret), Masked: g.maskedKey(a),
			Protocol: string(a.Protocol), Models: a.Models, Off: a.Off, State: st.State, Error: st.Error,
			Plan: st.Plan, Balance: st.Balance, ReadError: st.ReadError,
		})
	}
	return e
}

// maskedKey shows enough of a key to tell which it is. One that was not fetched is not fetched for this.
func (g *Gateway) maskedKey(a *provider.Account) string {
	if a.Secret.Value != "" {
		return a.Secret.Value.String()
	}
	if v, ok := g.secrets.Load(a.ID); ok {
		if s, ok := v.(config.Secret); ok {
			return s.String()
		}
	}
	return ""
}

// sourceOf says where a key comes from. A command is not shown: a secret may stand in it.
func sourceOf(s provider.SecretSource) string {
	switch {
	case s.Env != "":
		return "env " + s.Env
	case s.File != "":
		return "file " + s.File
	case s.Command != "":
		return "command"
	case s.Value != "":
		return "value"
	}
	return ""
}

// redactedURL takes a password out of a URL.
func redactedURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.User == nil {
		return s
	}
	return u.Redacted()
}

// modelsOf lists a provider's models with all that is known of them.
func (g *Gateway) modelsOf(lv *live, p *provider.Provider) trace.Models {
	fetched := lv.fetched()[p.ID]
	out := trace.Models{Provider: p.ID, Models: []trace.ModelInfo{}, From: trace.FromNowhere}
	switch {
	case len(p.Models) > 0:
		out.From = trace.FromConfig
	case fetched != nil:
		out.From = trace.FromVendor
	case len(p.Static) > 0:
		out.From = trace.FromPreset
	}
	for _, listed := range p.Listed(fetched) {
		m := p.Model(listed.ID, fetched)
		told := trace.ModelInfo{
			ID: m.ID, Name: m.Name, APIs: []string{}, Context: m.Context, MaxOutput: m.MaxOutput,
			Inputs: m.Inputs, Efforts: m.Efforts, Price: priceOf(m.Price),
		}
		for _, api := range wire.Protocols {
			if p.SpeaksFor(api, m.ID, fetched) {
				told.APIs = append(told.APIs, string(api))
			}
		}
		out.Models = append(out.Models, told)
	}
	return out
}

func priceOf(p *provider.Price) *trace.ModelPrice {
	if p == nil {
		return nil
	}
	usd := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	return &trace.ModelPrice{Input: usd(p.Input), Output: usd(p.Output), CacheRead: usd(p.CacheRead), CacheWrite: usd(p.CacheWrite)}
}

// test asks a vendor for its models with each of the provider's keys. Nobody rests for what comes of it.
func (g *Gateway) test(ctx context.Context, lv *live, p *provider.Provider) []trace.KeyTest {
	out := []trace.KeyTest{}
	for _, a := range p.Accounts {
		if a.Off {
			continue
		}
		out = append(out, g.testKey(ctx, lv, p, a))
	}
	return out
}

func (g *Gateway) testKey(ctx context.Context, lv *live, p *provider.Provider, a *provider.Account) trace.KeyTest {
	if s := lv.subs[a.ID]; s != nil {
		return g.testSub(ctx, s)
	}
	g.d.Secrets.Forget(a.ID) // whoever just mended it asks whether that is seen
	began := time.Now()
	reply, err := g.askList(ctx, lv, p, a)
	t := trace.KeyTest{Key: string(a.ID), Status: reply.status, MS: time.Since(began).Milliseconds(), At: began}
	if err != nil {
		t.Error = g.masker.Mask(err.Error())
		return t
	}
	_, shape, _ := p.ListURL()
	if reply.status != http.StatusOK {
		v := failure.Classify(failure.Seen{
			Vendor: p.Dialect.Vendor, Protocol: string(shape), Kind: string(a.Kind), Phase: failure.PhaseReply,
			Status: reply.status, Header: reply.header, Body: reply.body, At: began,
		})
		t.Fail, t.Error = v.Kind, g.masker.Mask(v.Words)
		return t
	}
	models, err := provider.ParseModels(shape, reply.body)
	if err != nil {
		t.Error = err.Error()
		return t
	}
	t.OK, t.Models = true, len(models)
	return t
}

func (g *Gateway) handleProviders(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"providers": g.Providers()})
}

// providerNamed finds a provider, or says which there are.
func (g *Gateway) providerNamed(lv *live, id string) (*provider.Provider, error) {
	if p := lv.cat.Provider(id); p != nil {
		return p, nil
	}
	ids := map[string]bool{}
	for _, p := range lv.cat.Providers {
		ids[p.ID] = true
	}
	known := slices.Sorted(maps.Keys(ids))
	words := fmt.Sprintf("there is no provider %.60q", id)
	if hint := config.DidYouMean(id, known); hint != "" {
		words += ": " + hint
	}
	return nil, &control.Error{Status: http.StatusNotFound, Code: "no_such_provider", Message: words, Matches: known}
}

// handleProviderModels lists a provider's models; a POST fetches the vendor's list first.
func (g *Gateway) handleProviderModels(w http.ResponseWriter, r *http.Request) {
	fetch := r.Method == http.MethodPost
	if fetch && !g.mayChange(w, r) {
		return
	}
	lv := g.live.Load()
	p, err := g.providerNamed(lv, r.URL.Query().Get("provider"))
	if err != nil {
		apiError(w, err)
		return
	}
	if fetch {
		if err := g.fetchList(r.Context(), lv, p); err != nil {
			apiError(w, &control.Error{Status: http.StatusBadGateway, Code: "vendor", Message: g.masker.Mask(err.Error())})
			return
		}
	}
	writeJSON(w, http.StatusOK, g.modelsOf(lv, p))
}

// handleProviderTest asks the vendor with each key. It needs the control token: it speaks to the vendor.
func (g *Gateway) handleProviderTest(w http.ResponseWriter, r *http.Request) {
	if !g.mayChange(w, r) {
		return
	}
	lv := g.live.Load()
	p, err := g.providerNamed(lv, r.URL.Query().Get("provider"))
	if err != nil {
		apiError(w, err)
		return
	}
	if _, _, ok := p.ListURL(); !ok && !lv.hasSubs(p) {
		apiError(w, &control.Error{Status: http.StatusConflict, Code: "no_list", Message: p.Name + " has no model list to ask for: test it with a request"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"provider": p.ID, "tests": g.test(r.Context(), lv, p)})
}
