package gateway

import (
	"net/http"
	"strconv"
	"time"

	"dev.magpie/gateway/guard"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// writeRefusal writes a refusal as a whole reply in the API's shape.
func writeRefusal(w http.ResponseWriter, api wire.Protocol, ref *wire.Refusal) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if s := ref.Seconds(); s > 0 {
		h.Set("Retry-After", strconv.FormatInt(s, 10))
	}
	if api == wire.Messages {
		named := *ref
		named.Request = nameRequest(h, ref.Request)
		ref = &named
	}
	body := ref.Body(api)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(ref.Status)
	_, _ = w.Write(body) // an agent that left reads nothing
}

// refuseEarly answers a request that never became an ask, and shows it in the trace.
func (g *Gateway) refuseEarly(w http.ResponseWriter, r *http.Request, ref *wire.Refusal) {
	g.refuseAs(w, r, entry{api: apiOf(r)}, ref)
}

// refuseAs is refuseEarly where it is known what was asked for.
func (g *Gateway) refuseAs(w http.ResponseWriter, r *http.Request, e entry, ref *wire.Refusal) {
	rec := g.record(newAsk(r, e))
	rec.refuse(ref)
	rec.name(w)
	writeRefusal(w, e.api, ref)
}

// turnAway answers a caller that the guard does not let in. Its body is not read.
func (g *Gateway) turnAway(w http.ResponseWriter, r *http.Request, ref *guard.Refusal) {
	api := apiOf(r)
	out := &wire.Refusal{Status: ref.Status, Words: ref.Text}
	if ref.Status == http.StatusUnauthorized && (api == wire.Chat || api == wire.Responses) {
		out.Code = "invalid_api_key"
	}
	if r.Method == http.MethodPost || api == wire.Messages && !ref.Plain { // whose errors name the request
		rec := g.record(newAsk(r, entry{api: api}))
		rec.refuse(out)
		rec.name(w)
	}
	if ref.Proxied != "" {
		g.log.Warn("turned away a request that came through a proxy", keyHeader, ref.Proxied)
	}
	w.Header().Set("Connection", "close")
	if ref.Plain {
		http.Error(w, ref.Text, ref.Status)
		return
	}
	writeRefusal(w, api, out)
}

// fromProvider turns a name that stands for nothing into a refusal.
func fromProvider(ref *provider.Refusal) *wire.Refusal {
	out := &wire.Refusal{Status: ref.Status, Code: ref.Code, Words: ref.Words}
	if ref.Status == http.StatusBadRequest || ref.Code == provider.CodeModelNotFound {
		out.Param = "model"
	}
	return out
}

// fromRoute turns a plan that nobody may be asked by into a refusal.
func fromRoute(ref *route.Refusal, a *ask, now time.Time) *wire.Refusal {
	out := &wire.Refusal{Status: ref.Status, Code: ref.Code, Words: ref.Words}
	if ref.Code == route.CodeNotMade {
		if a.api == wire.Messages {
			out.Code, out.Detail = "", "thread_not_found"
		} else {
			out.Param = "previous_response_id"
		}
	}
	if !ref.RetryAt.IsZero() {
		out.RetryAfter = max(ref.RetryAt.Sub(now), time.Second)
	}
	return out
}
