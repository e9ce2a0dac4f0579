package guard

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwarding are the headers by which proxies tell whom they ask for, as net/http writes them.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Cf-Connecting-Ip", "True-Client-Ip", "Tailscale-User-Login"}

// local says whether the caller is on this machine: its connection comes from here, and nobody says that
// the request was handed on. What the Host header says plays no part.
func (g *Guard) local(r *http.Request) bool {
	return peerLoopback(r.RemoteAddr) && (g.trust || forwarded(r.Header) == "")
}

// forwarded returns the first forwarding header that is there, "" for none.
func forwarded(h http.Header) string {
	for _, name := range forwarding {
		if _, ok := h[name]; ok {
			return name
		}
	}
	return ""
}

// peerLoopback says whether a connection comes from this machine.
func peerLoopback(remote string) bool {
	ap, err := netip.ParseAddrPort(remote)
	return err == nil && ap.Addr().Unmap().WithZone("").IsLoopback()
}

// hostFit says whether a Host header can be read in one way alone.
func hostFit(host string) bool {
	if host == "" || len(host) > 300 {
		return false
	}
	for i := range len(host) {
		c := host[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`/\?#@,;"'<>{}|^`+"`", c) >= 0 {
			return false
		}
	}
	name, port, ok := cutPort(host)
	return ok && name != "" && strings.Trim(port, "0123456789") == ""
}

// cutPort takes host[:port] apart, without the brackets of an IPv6 address.
func cutPort(host string) (name, port string, ok bool) {
	if rest, bracket := strings.CutPrefix(host, "["); bracket {
		name, port, ok = strings.Cut(rest, "]")
		if !ok || port != "" && port[0] != ':' || !strings.Contains(name, ":") {
			return "", "", false
		}
		return name, strings.TrimPrefix(port, ":"), true
	}
	name, port, _ = strings.Cut(host, ":")
	return name, port, !strings.Contains(port, ":")
}

// hostOf returns the host of host:port, or host itself.
func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return strings.Trim(addr, "[]")
}

// hostAllowed says whether the gateway may be called by host, whatever the port: a tunnel has another one.
// A page that makes its own name stand for 127.0.0.1 comes with that name, and is caught here.
func (g *Guard) hostAllowed(host string) bool {
	name, _, ok := cutPort(host)
	return ok && (loopbackName(name) || slices.Contains(g.hosts, strings.ToLower(name)))
}

// loopbackName says whether host, without a port, is a name or an address of this very machine.
func loopbackName(host string) bool {
	const localhost = "localhost"
	name := strings.TrimSuffix(host, ".")
	if len(name) >= len(localhost) && strings.EqualFold(name[len(name)-len(localhost):], localhost) {
		return len(name) == len(localhost) || name[len(name)-len(localhost)-1] == '.'
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
