// Package upstream reaches vendors: one transport a proxy, bodies packed and unpacked
// within bounds. It knows no routing and judges nothing.
package upstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Direct is the proxy setting that goes around every proxy.
const Direct = "direct"

// Dial opens a connection; it stands in for the network in tests.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// Pool holds one transport for each proxy in use. It is safe for concurrent use.
type Pool struct {
	dial Dial
	mu   sync.Mutex
	by   map[string]*http.Transport
}

// NewPool makes a pool; a nil dial is the network itself.
func NewPool(dial Dial) *Pool {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	return &Pool{dial: dial, by: map[string]*http.Transport{}}
}

// For returns the transport for a proxy: "" for the environment's, Direct for none, else an
// http, https, socks5 or socks5h URL.
func (p *Pool) For(proxy string) (*http.Transport, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.by[proxy]; t != nil {
		return t, nil
	}
	via := http.ProxyFromEnvironment
	switch proxy {
	case "":
	case Direct:
		via = nil
	default:
		u, err := url.Parse(proxy)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("the proxy's address can't be read")
		}
		via = http.ProxyURL(u)
	}
	t := &http.Transport{
		Proxy:                 via,
		DialContext:           p.dial,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // replies are relayed as they come
		MaxIdleConns:          512,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
	p.by[proxy] = t
	return t, nil
}

// Close drops the idle connections of every transport.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.by {
		t.CloseIdleConnections()
	}
}
