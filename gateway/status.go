package gateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/guard"
	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/gateway/upstream"
)

// Status and control: the part of the surface that people and their tools read.

// control lists the routes that are not an agent's.
func (g *Gateway) control() []httpRoute {
	return []httpRoute{
		{http.MethodGet, "/", "who is here: name, version, pid", g.handleInfo},
		{http.MethodHead, "/", "the same, without a body", g.handleInfo},
		{http.MethodGet, "/v1", "the same", g.handleInfo},
		{http.MethodGet, "/v1/", "the same", g.handleInfo},
		{http.MethodGet, "/api/hello", "name and version", g.handleHello},
		{http.MethodHead, "/api/hello", "the same, without a body, as Claude Code asks when it starts", g.handleHello},
		{http.MethodGet, "/healthz", "200 while serving, 503 while it shuts down", g.handleHealth},
		{http.MethodGet, "/v1/magpie/status", "the gateway, its accounts and groups", g.handleStatus},
		{http.MethodGet, "/v1/magpie/routes", "routes changed after a number, waiting for one: ?after=SEQ&wait=SECONDS", g.handleRoutes},
		{http.MethodGet, "/v1/magpie/trace", "every change as server-sent events", g.handleTrace},
		{http.MethodGet, "/v1/magpie/route", "a conversation's newest route: ?session=ID&after=SEQ&wait=SECONDS", g.handleRoute},
		{http.MethodGet, "/v1/magpie/concurrency", "requests under way and waiting, and the limit, of each key and account", g.handleConcurrency},
		{http.MethodGet, "/v1/magpie/requests", "the history: ?agent=&model=&account=&status=&since=&limit=&before=", g.handleRequests},
		{http.MethodGet, "/v1/magpie/quotas", "the accounts with what is left of them, read again where that was long ago: ?provider=ID&wait=SECONDS", g.handleQuotas},
		{http.MethodGet, "/v1/magpie/quotas/history", "what was read of them: ?account=&since=&limit=", g.handleQuotaHistory},
		{http.MethodGet, "/v1/magpie/providers", "the vendors' entries, without secrets", g.handleProviders},
		{http.MethodGet, "/v1/magpie/provider/models", "a provider's models: ?provider=ID", g.handleProviderModels},
		{http.MethodPost, "/v1/magpie/provider/models", "the same, fetched from the vendor first; needs the control token", g.handleProviderModels},
		{http.MethodPost, "/v1/magpie/provider/test", "ask the vendor for its models with each key: ?provider=ID; needs the control token", g.handleProviderTest},
		{http.MethodPost, "/v1/magpie/explain", "the plan for {model, agent, api}, nothing sent", g.handleExplain},
		{http.MethodPost, "/v1/magpie/preview", "what a command would do; needs the control token", g.handlePreview},
		{http.MethodPost, "/v1/magpie/do", "carry a command out; needs the control token", g.handleDo},
	}
}

// apiError answers a status or control call with an error.
func apiError(w http.ResponseWriter, err error) {
	var e *control.Error
	if !errors.As(err, &e) {
		e = &control.Error{Status: http.StatusInternalServerError, Code: "internal", Message: err.Error()}
	}
	writeJSON(w, e.Status, map[string]any{"error": e})
}

func badCall(text string) error {
	return &control.Error{Status: http.StatusBadRequest, Code: "bad_request", Message: text}
}

// Status is the gateway as it stands now.
func (g *Gateway) Status() trace.Status {
	lv, now := g.live.Load(), time.Now()
	told := g.d.Bus.Status()
	s := g.base()
	s.Seq, s.Totals, s.Today, s.Groups = told.Seq, told.Totals, told.Today, told.Groups
	s.Accounts = g.d.State.Accounts(lv.cat, now)
	lanes := g.Concurrency()
	for i := range s.Accounts {
		a := &s.Accounts[i]
		l := lanes[a.ID]
		a.InFlight, a.Waiting, a.Limit = l.Busy, l.Waiting, l.Limit
	}
	return s
}

// busy counts the requests under way by who answers them.
func (g *Gateway) busy() map[string]int {
	g.calls.mu.Lock()
	ids := make([]int64, 0, len(g.calls.by))
	for id := range g.calls.by {
		ids = append(ids, id)
	}
	g.calls.mu.Unlock()
	n := map[string]int{}
	for _, id := range ids {
		if r, ok := g.d.Bus.Route(id); ok && !r.Done && !waits(&r) {
			n[r.Answerer()]++
		}
	}
	return n
}

func (g *Gateway) handleStatus(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, g.Status())
}

// number reads a query's whole number; absent is 0.
func number(r *http.Request, name string) (uint64, error) {
	s := r.URL.Query().Get(name)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, badCall(name + " must be a whole number")
	}
	return n, nil
}

// waitMost bounds a long poll.
const waitMost = 60

func afterAndWait(r *http.Request) (after uint64, wait time.Duration, err error) {
	if after, err = number(r, "after"); err != nil {
		return 0, 0, err
	}
	secs, err := number(r, "wait")
	if err != nil {
		return 0, 0, err
	}
	return after, time.Duration(min(secs, waitMost)) * time.Second, nil
}

func (g *Gateway) handleRoutes(w http.ResponseWriter, r *http.Request) {
	after, wait, err := afterAndWait(r)
	if err != nil {
		apiError(w, err)
		return
	}
	routes, seq, totals := g.d.Bus.RoutesAfter(r.Context(), after, wait)
	out := make([]trace.Route, len(routes))
	for i := range routes {
		out[i] = words.Route(routes[i], time.Local)
	}
	writeJSON(w, http.StatusOK, map[string]any{"seq": seq, "totals": totals, "routes": out})
}

func (g *Gateway) handleRoute(w http.ResponseWriter, r *http.Request) {
	session := r.URL.Query().Get("session")
	if session == "" {
		apiError(w, badCall("name a session: ?session=ID"))
		return
	}
	after, wait, err := afterAndWait(r)
	if err != nil {
		apiError(w, err)
		return
	}
	route, ok := g.d.Bus.SessionAfter(r.Context(), session, after, wait)
	if !ok {
		writeJSON(w, http.StatusOK, map[string]any{"route": nil})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"route": words.Route(route, time.Local)})
}

func (g *Gateway) handleRequests(w http.ResponseWriter, r *http.Request) {
	h, f, err := g.asksHistory(r)
	if err != nil {
		apiError(w, err)
		return
	}
	routes, err := h.Requests(r.Context(), f)
	if err != nil {
		apiError(w, err)
		return
	}
	if routes == nil {
		routes = []trace.Route{}
	}
	writeJSON(w, http.StatusOK, map[string]any{"requests": routes})
}

// mayChange says whether a caller may change anything: with the control token, and never
// from a web page.
func (g *Gateway) mayChange(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.Header.Get("Origin") != "":
		apiError(w, &control.Error{Status: http.StatusForbidden, Code: "origin", Message: "a web page may not change anything"})
		return false
	case !guard.TokenOK(r, g.d.Token):
		apiError(w, &control.Error{Status: http.StatusUnauthorized, Code: "no_token", Message: "changing something needs the control token: Authorization: Bearer, from control.token in the state folder"})
		return false
	}
	return true
}

// commandBody is what do and preview read.
type commandBody struct {
	control.Command
	Token control.Token `json:"token,omitempty"`
}

const commandBytes = 64 << 10

func readCommand(r *http.Request, to any, limit int64) error {
	body, err := upstream.ReadBody(r.Body, r.ContentLength, limit)
	if err != nil {
		return badCall("the body can't be read: " + err.Error())
	}
	if err := json.Unmarshal(body, to); err != nil {
		return badCall("the body is not the JSON that is expected: " + err.Error())
	}
	return nil
}

func (g *Gateway) handlePreview(w http.ResponseWriter, r *http.Request) {
	if !g.mayChange(w, r) {
		return
	}
	var c commandBody
	if err := readCommand(r, &c, commandBytes); err != nil {
		apiError(w, err)
		return
	}
	e, err := g.Preview(r.Context(), c.Command)
	if err != nil {
		apiError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, e)
}

func (g *Gateway) handleDo(w http.ResponseWriter, r *http.Request) {
	if !g.mayChange(w, r) {
		return
	}
	var c commandBody
	if err := readCommand(r, &c, commandBytes); err != nil {
		apiError(w, err)
		return
	}
	d, err := g.Do(r.Context(), c.Command, c.Token)
	if err != nil {
		apiError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"done": d.Words, "undo": d.Undo, "state": d.Accounts, "at": d.At})
}

// asksHistory is the history that a listing is of, and what narrows it.
func (g *Gateway) asksHistory(r *http.Request) (*history.History, history.Filter, error) {
	h, ok := g.d.History.(*history.History)
	if !ok {
		return nil, history.Filter{}, &control.Error{Status: http.StatusNotFound, Code: "no_history", Message: "no history is kept"}
	}
	f, err := filterOf(r)
	return h, f, err
}

// filterOf reads what a listing of the history is narrowed by.
func filterOf(r *http.Request) (history.Filter, error) {
	q := r.URL.Query()
	f := history.Filter{Agent: q.Get("agent"), Model: q.Get("model"), Account: q.Get("account"), Session: q.Get("session"), Status: q.Get("status")}
	if err := f.Check(); err != nil {
		return f, badCall(err.Error())
	}
	limit, err := number(r, "limit")
	if err != nil {
		return f, err
	}
	before, err := number(r, "before")
	if err != nil {
		return f, err
	}
	f.Limit, f.Before = int(min(limit, 10_000)), int64(min(before, 1<<62))
	if s := q.Get("since"); s != "" {
		if d, err := time.ParseDuration(s); err == nil && d > 0 {
			f.Since = time.Now().Add(-d)
		} else if t, err := time.Parse(time.RFC3339, s); err == nil {
			f.Since = t
		} else {
			return f, badCall("since must be a duration such as 90m or a time such as 2026-01-31T12:00:00Z")
		}
	}
	return f, nil
}
