package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// Question is a request that is only thought of.
type Question struct {
	Model string          `json:"model"`
	Agent string          `json:"agent,omitempty"`
	API   string          `json:"api,omitempty"` // "" = as if the vendor's own were asked
	Body  json.RawMessage `json:"body,omitempty"`
}

// Explain runs the very planner for a question and sends nothing. The route has its
// fields from asked to left; Status and Error say what an agent would be told instead.
func (g *Gateway) Explain(q Question) (trace.Route, error) {
	a := &ask{api: wire.Protocol(q.API), door: provider.Generate, model: q.Model, agent: q.Agent, look: true}
	if q.API != "" && !slices.Contains(wire.Protocols, a.api) {
		return trace.Route{}, badCall("api must be chat, responses, messages or gemini")
	}
	if len(q.Body) > 0 {
		env, err := wire.Read(q.Body, a.api)
		if err != nil {
			return trace.Route{}, badCall(badBody(err).Words)
		}
		a.env, a.body = env, q.Body
		a.named()
		if a.model == "" {
			a.model = env.Model
		}
	}
	if a.model == "" {
		return trace.Route{}, badCall("name a model")
	}
	now, lv := time.Now(), g.live.Load()
	r := trace.Route{Time: now, Agent: a.agent, API: q.API, Asked: g.masker.Mask(bounded(a.model)), Order: []trace.Candidate{}, Left: []trace.Candidate{}, Tries: []trace.Try{}}
	if ref := g.secretModel(a.model); ref != nil {
		r.Status, r.Error = ref.Status, ref.Words
		return words.Route(r, time.Local), nil
	}
	p, ref := g.plan(lv, a, now)
	if p != nil {
		rec := &record{g: g, r: r}
		rec.planned(&p.call.Target, &p.Plan)
		if lv.cloak != nil && !lv.whole(&p.call.Target, p.Order) {
			_, vault := lv.cloak.Mask(a.body)
			rec.masked(vault)
		}
		r = rec.r
	}
	if ref != nil {
		r.Status, r.Error = ref.Status, ref.Words
	}
	return words.Route(r, time.Local), nil
}

// Plan is Explain of a model that nobody in particular asks for.
func (g *Gateway) Plan(_ context.Context, model string) (trace.Route, error) {
	return g.Explain(Question{Model: model})
}

func (g *Gateway) handleExplain(w http.ResponseWriter, r *http.Request) {
	var q Question
	if err := readCommand(r, &q, g.live.Load().cfg.BodyLimit); err != nil {
		apiError(w, err)
		return
	}
	route, err := g.Explain(q)
	if err != nil {
		apiError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, route)
}
