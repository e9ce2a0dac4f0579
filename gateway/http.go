package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// prefixes are the versions that a base may bring along: none, one, or one too many.
var prefixes = []string{"/v1", "", "/v1/v1"}

// geminiPrefixes are those in front of /models: Gemini lives under three versions, and
// clients join a base with a version of its own to them.
var geminiPrefixes = []string{"/v1beta", "/v1", "", "/v1/v1beta", "/v1beta/v1beta", "/v1/v1", "/v1alpha"}

// doors are the paths behind a prefix that are asked with a body.
var doors = []struct {
	path, serves string
	entry
}{
	{"/messages", "Anthropic Messages, whole or streamed", entry{api: wire.Messages, door: provider.Generate}},
	{"/responses", "OpenAI Responses, whole or streamed", entry{api: wire.Responses, door: provider.Generate}},
	{"/chat/completions", "OpenAI Chat Completions, whole or streamed", entry{api: wire.Chat, door: provider.Generate}},
	{"/messages/count_tokens", "Messages' count of tokens: the vendor's, else an estimate", entry{api: wire.Messages, door: provider.Count}},
	{"/responses/input_tokens", "Responses' count of tokens: the vendor's, else an estimate", entry{api: wire.Responses, door: provider.Count}},
	{"/responses/compact", "Responses' compaction: the vendor's, else a summary that its model writes", entry{api: wire.Responses, door: provider.Generate, tail: "/compact"}},
	{"/embeddings", "OpenAI embeddings, of a vendor of Chat Completions or of Gemini", entry{api: wire.Chat, door: provider.Embeddings}},
}

// geminiVerbs are what may stand behind a model's last colon.
var geminiVerbs = []struct {
	verb, serves string
	door         provider.Door
}{
	{"generateContent", "Gemini, whole", provider.Generate},
	{"streamGenerateContent", "Gemini, streamed: events with ?alt=sse, else one array", provider.Stream},
	{"countTokens", "Gemini's count of tokens, an estimate: no vendor is asked", provider.Count},
	{"embedContent", "Gemini's embedding of one text, the same", provider.Embeddings},
	{"batchEmbedContents", "Gemini's embeddings of several texts, the same", provider.Batch},
}

// lists are the routes of model lists, behind any of Gemini's prefixes.
func (g *Gateway) lists() []httpRoute {
	return []httpRoute{
		{http.MethodGet, "/models", "the models, in the shape and the pages of the API that asks; ?format=text: ids, one a line", g.handleModels},
		{http.MethodGet, "/models/{rest:.*}", "one model", g.handleModel},
	}
}

// httpRoute is one line of the HTTP surface, for the router and for the page of reference.
type httpRoute struct {
	Method, Path string
	Serves       string
	handle       http.HandlerFunc
}

// routes builds the handler: guard, then router. The guard decides on the very path that
// the router sees: nothing is cleaned or redirected.
func (g *Gateway) routes() http.Handler {
	m := mux.NewRouter().UseEncodedPath().SkipClean(true)
	// Path before Methods: mux forgets that only the method was wrong when a later route
	// matches by its method first.
	for _, p := range prefixes {
		for _, d := range doors {
			e := d.entry
			m.Path(p + d.path).Methods(http.MethodPost).HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.handleAsk(w, r, e) })
		}
	}
	for _, p := range geminiPrefixes {
		m.Path(p + "/models/{rest:.*}").Methods(http.MethodPost).HandlerFunc(g.handleGemini)
		for _, rt := range g.lists() {
			m.Path(p+rt.Path).Methods(rt.Method, http.MethodHead).HandlerFunc(rt.handle)
		}
	}
	for _, rt := range g.control() {
		m.Path(rt.Path).Methods(rt.Method).HandlerFunc(rt.handle)
	}
	for _, p := range prefixes {
		m.Path(p + "/responses").Methods(http.MethodGet).HandlerFunc(g.handleSocket)
	}
	quick := map[string]entry{}
	for _, p := range prefixes {
		for _, d := range doors {
			quick[p+d.path] = d.entry
		}
	}
	m.NotFoundHandler = http.HandlerFunc(g.handleUnknown)
	m.MethodNotAllowedHandler = http.HandlerFunc(g.handleMethod)
	g.router = m
	return g.guarded(g.quickly(quick, m))
}

// quickly takes agents' requests past the router: its matching and contexts cost more than
// the rest of a small relay. The paths are the router's own.
func (g *Gateway) quickly(doors map[string]entry, m http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e, ok := doors[r.URL.Path]; ok && r.Method == http.MethodPost && r.URL.RawPath == "" {
			g.handleAsk(w, r, e)
			return
		}
		m.ServeHTTP(w, r)
	})
}

// guarded lets only callers through that may ask at all.
func (g *Gateway) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gd := g.guard.Load()
		caller, ref := gd.Check(r)
		if gd.Preflight(w, r, caller) { // first: a listed page is to read its refusal too
			return
		}
		if ref != nil {
			g.turnAway(w, r, ref)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// handleAsk serves one of the doors.
func (g *Gateway) handleAsk(w http.ResponseWriter, r *http.Request, e entry) {
	a := newAsk(r, e)
	g.serve(w, r, a)
}

// handleGemini splits model and method at the last colon: a model's id may have colons.
func (g *Gateway) handleGemini(w http.ResponseWriter, r *http.Request) {
	rest, err := url.PathUnescape(mux.Vars(r)["rest"])
	i := strings.LastIndexByte(rest, ':')
	if err != nil || i < 0 {
		g.handleUnknown(w, r)
		return
	}
	for _, v := range geminiVerbs {
		if v.verb == rest[i+1:] {
			g.handleAsk(w, r, entry{api: wire.Gemini, model: rest[:i], door: v.door})
			return
		}
	}
	g.handleUnknown(w, r)
}

// handleSocket answers a client that opens Responses over a WebSocket: it then uses HTTP.
func (g *Gateway) handleSocket(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || strings.Contains(strings.ToLower(r.Header.Get("Connection")), "upgrade") {
		// An agent that is told so asks over HTTP at once: nothing failed that a person should see.
		w.Header().Set("Connection", "close")
		writeRefusal(w, wire.Responses, &wire.Refusal{Status: http.StatusUpgradeRequired, Words: "Responses is served over HTTP only: POST the request to this path"})
		return
	}
	g.handleMethod(w, r)
}

// handleUnknown answers a path that is not served.
func (g *Gateway) handleUnknown(w http.ResponseWriter, r *http.Request) {
	g.refuseEarly(w, r, &wire.Refusal{Status: http.StatusNotFound, Words: "nothing is served at " + shownPath(r) +
		": POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/embeddings or /v1beta/models/{model}:generateContent, or GET /v1/models"})
}

// handleMethod answers a method that the path does not take.
func (g *Gateway) handleMethod(w http.ResponseWriter, r *http.Request) {
	allow := g.allowed(r)
	w.Header().Set("Allow", allow)
	g.refuseEarly(w, r, &wire.Refusal{Status: http.StatusMethodNotAllowed, Words: r.Method + " is not served at " + shownPath(r) + ": use " + allow})
}

// allowed lists the methods that the path takes. The GET of Responses is there for those
// that open a WebSocket alone.
func (g *Gateway) allowed(r *http.Request) string {
	var takes []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		asked := *r
		asked.Method = method
		var m mux.RouteMatch
		if method != r.Method && g.router.Match(&asked, &m) && m.MatchErr == nil {
			takes = append(takes, method)
		}
	}
	if slices.Contains(takes, http.MethodPost) && strings.HasSuffix(r.URL.Path, "/responses") {
		return http.MethodPost
	}
	return strings.Join(takes, ", ")
}

// shownPath is the path for a message: cut, and without the query, which may hold a key.
func shownPath(r *http.Request) string {
	p := r.URL.EscapedPath()
	if len(p) > 200 {
		p = p[:200] + "…"
	}
	return p
}

// apiOf guesses an API by its path and headers, for errors before a door is known.
func apiOf(r *http.Request) wire.Protocol {
	p := r.URL.Path
	switch {
	case strings.Contains(p, "/messages"):
		return wire.Messages
	case strings.Contains(p, "/responses"):
		return wire.Responses
	case strings.Contains(p, "/v1beta"), strings.Contains(p, ":generateContent"), strings.Contains(p, ":streamGenerateContent"),
		strings.Contains(p, ":countTokens"):
		return wire.Gemini
	case strings.HasSuffix(p, "/models") || strings.Contains(p, "/models/"):
		return listShape(r)
	}
	return wire.Chat
}
