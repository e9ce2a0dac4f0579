package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Bounds of what is fetched by a URL that stands in a request.
const (
	FetchBytes   = 20 << 20
	fetchTime    = 15 * time.Second
	fetchHops    = 3
	fetchTypeMax = 100
)

// Fetcher gets what a request names by its URL. Whoever wrote the request chose the address,
// so it must not reach what only this machine reaches: https alone, to public addresses
// alone, which are looked at where the connection is made, at each hop; never through a
// proxy, without any header of ours or the agent's, and so much and so long at the most.
type Fetcher struct {
	Dial   Dial                                                                // nil: the network
	Lookup func(ctx context.Context, host string) (as []netip.Addr, err error) // nil: the system's
	TLS    *tls.Config                                                         // nil: the system's roots
}

// Get returns what is at a URL, and its type as it is told.
func (f *Fetcher) Get(ctx context.Context, address string) (mime string, data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if err := plainHTTPS(address); err != nil {
		return "", nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", nil, errors.New("its URL can't be read")
	}
	req.Header["User-Agent"] = []string{"magpie"}
	tr := &http.Transport{DialContext: f.connect, TLSClientConfig: f.TLS, TLSHandshakeTimeout: fetchTime, DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	client := http.Client{Transport: tr, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > fetchHops {
			return errors.New("it is redirected too often")
		}
		r.Header.Del("Referer")
		return plainHTTPS(r.URL.String())
	}}
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error // names the whole URL, which may hold a signature
		if errors.As(err, &u) {
			err = u.Err
		}
		return "", nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // a broken end was told by Read
	if resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("its server answered %d", resp.StatusCode)
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, FetchBytes+1))
	switch {
	case err != nil:
		return "", nil, err
	case len(data) > FetchBytes:
		return "", nil, fmt.Errorf("it is larger than %d MiB", FetchBytes>>20)
	case len(data) == 0:
		return "", nil, errors.New("it is empty")
	}
	mime, _, _ = strings.Cut(resp.Header.Get("Content-Type"), ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	if len(mime) > fetchTypeMax || !strings.Contains(mime, "/") {
		mime = ""
	}
	return mime, data, nil
}

// plainHTTPS says what is wrong with a URL that is no plain https one.
func plainHTTPS(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return errors.New("its URL can't be read")
	case u.Scheme != "https":
		return errors.New("only https URLs are fetched")
	case u.User != nil:
		return errors.New("a URL with a password in it isn't fetched")
	}
	return nil
}

// errInside says that a URL leads to this machine or its network.
var errInside = errors.New("its address isn't a public one")

// connect looks the host up, and connects to an address that is public: to that very one,
// so that a second look-up can't lead elsewhere.
func (f *Fetcher) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	as, err := f.lookup(ctx, host)
	if err != nil {
		return nil, errors.New("its host isn't found")
	}
	for _, a := range as { // one that is not public makes all of them doubtful
		if !public(a) {
			return nil, errInside
		}
	}
	dial := f.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: fetchTime}).DialContext
	}
	err = errors.New("its host isn't found")
	for _, a := range as {
		var c net.Conn
		if c, err = dial(ctx, network, net.JoinHostPort(a.Unmap().String(), port)); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (f *Fetcher) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if f.Lookup != nil {
		return f.Lookup(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// special are the blocks that are in nobody's public network, or lead into another one.
var special = func() (out []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}()

// public says whether an address is one of the internet.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
