package guard

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dev.magpie/config"
)

// Options says what the guard goes by. It is made anew from the config at each reload.
type Options struct {
	Bound       []string // host:port of every address that is listened on
	PublicURL   string   // the URL that other machines are shown, "" = none
	Hosts       []string // further names that the gateway may be called by
	CORSOrigins []string // web origins let in, as config.CleanOrigin gives them
	TrustProxy  bool     // forwarding headers do not make a caller remote
}

// Guard decides who may ask. It never changes; a reload makes another.
type Guard struct {
	hosts   []string // allowed beside this machine's own names, in small letters
	origins []string
	trust   bool
}

// Caller is who is let in.
type Caller struct {
	Local  bool
	Origin string // a web origin that the person listed, "" = none; its replies carry CORS headers
}

// Refusal is what a caller who is not let in is told.
type Refusal struct {
	Status  int
	Text    string
	Plain   bool   // told as plain text, not in the shape of the path's API
	Proxied string // the forwarding header that made the caller remote, "" = none; worth a line in the log
}

// NoKey is what a caller without a good gateway key is told, one text for a missing, a wrong and a revoked key.
const NoKey = "a gateway key is needed, and this request carries no good one"

// New returns the guard of these options.
func New(o Options) *Guard {
	g := &Guard{trust: o.TrustProxy}
	for _, b := range o.Bound {
		g.allow(hostOf(b))
	}
	for _, h := range o.Hosts {
		g.allow(hostOf(h))
	}
	if u, err := url.Parse(o.PublicURL); err == nil {
		g.allow(u.Hostname())
	}
	for _, s := range o.CORSOrigins {
		if clean, err := config.CleanOrigin(s); err == nil {
			g.origins = append(g.origins, clean)
		}
	}
	return g
}

// allow lets the gateway be called by host. Every address at once is none that a caller could name.
func (g *Guard) allow(host string) {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return
	}
	g.hosts = append(g.hosts, strings.ToLower(host))
}

// Check says who is calling, or why they are turned away. A caller who is turned away may have an Origin
// too, so that the page can read what it is told. It reads no body.
func (g *Guard) Check(r *http.Request) (Caller, *Refusal) {
	c := Caller{Local: g.local(r)}
	if !hostFit(r.Host) {
		return c, &Refusal{Status: http.StatusBadRequest, Plain: true, Text: "the Host header is not a host"}
	}
	if !c.Local {
		return c, g.remote(r)
	}
	if !g.hostAllowed(r.Host) {
		return c, &Refusal{Status: http.StatusForbidden, Plain: true, Text: "the Host header names no address of this magpie: use 127.0.0.1, localhost, the address it listens on, or the host of public_url"}
	}
	return g.page(r, c)
}

// remote is what a caller on another machine is told.
func (g *Guard) remote(r *http.Request) *Refusal {
	ref := &Refusal{Status: http.StatusForbidden, Plain: true, Text: "this magpie serves only the machine that it runs on: to use it from another, open an ssh tunnel to it (ssh -L)"}
	if by := forwarded(r.Header); by != "" && peerLoopback(r.RemoteAddr) {
		ref.Proxied = by
		ref.Text = "this magpie serves only the machine that it runs on, and this request comes through a proxy (" + by +
			"): where that proxy lets in nobody else, start magpie with MAGPIE_TRUST_PROXY=1"
	}
	return ref
}

// page decides about requests of web pages.
func (g *Guard) page(r *http.Request, c Caller) (Caller, *Refusal) {
	origins := r.Header["Origin"]
	if len(origins) == 0 || len(origins) == 1 && origins[0] == "" {
		return c, nil
	}
	foreign := &Refusal{Status: http.StatusForbidden, Plain: true, Text: "web pages of other sites may not ask this magpie: a page that may is listed in cors_origins"}
	if len(origins) > 1 {
		return c, foreign
	}
	from := origins[0]
	if clean, err := config.CleanOrigin(from); err == nil && slices.Contains(g.origins, clean) {
		c.Origin = from
		if isPreflight(r) {
			return c, nil
		}
		return c, &Refusal{Status: http.StatusUnauthorized, Text: NoKey}
	}
	if !originMayAsk(from, r) {
		return c, foreign
	}
	return c, nil
}

// originMayAsk says whether a page that is not listed may ask.
func originMayAsk(from string, r *http.Request) bool {
	crossSite := strings.EqualFold(r.Header.Get("Sec-Fetch-Site"), "cross-site")
	if from == "null" {
		return !crossSite
	}
	u, err := url.Parse(from)
	if err != nil || u.Scheme == "" {
		return false // no browser and no program writes such a one
	}
	switch {
	case u.Scheme == "http" || u.Scheme == "https":
		own := config.CleanHost(u.Host, u.Scheme) == config.CleanHost(r.Host, u.Scheme)
		return !crossSite && u.Host != "" && (own || loopbackName(u.Hostname()))
	case strings.HasPrefix(u.Scheme, "http"):
		return false
	case strings.HasSuffix(u.Scheme, "-extension"):
		return false // a browser's extension sees every page: only by name
	default:
		return true // a desktop program: app, file, tauri, vscode-webview, …
	}
}

// Preflight adds what a listed page's browser wants to see, and answers its question beforehand: true when
// this was that question, and it is answered. Call it before telling a refusal, so that the page can read it.
func (g *Guard) Preflight(w http.ResponseWriter, r *http.Request, c Caller) bool {
	if c.Origin == "" {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", c.Origin)
	h.Add("Vary", "Origin")
	if !isPreflight(r) {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	if names := headerNames(r.Header.Values("Access-Control-Request-Headers")); names != "" {
		h.Set("Access-Control-Allow-Headers", names)
	}
	h.Set("Access-Control-Max-Age", "600")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// headerNames returns the asked header names that are nothing but names.
func headerNames(asked []string) string {
	var names []string
	for _, line := range asked {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimSpace(name)
			if name != "" && !strings.ContainsFunc(name, func(c rune) bool { return !isNameRune(c) }) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

func isNameRune(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
