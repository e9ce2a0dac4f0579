package gateway

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"time"

	"dev.magpie/config"
)

// staleMost is how often a request is sent anew because the connection that it was put on had
// been left by its vendor.
const staleMost = 2

// idleLeast is how long a connection has to have lain idle for its end to be one of idleness:
// vendors leave none sooner, and one that ends while it is in use is its vendor's failure.
const idleLeast = time.Second

// roundTrip sends the request and returns what answers it. A vendor may close a connection that
// lies idle at the very moment in which it is used again: that says nothing of who is asked, and
// the next candidate would be sent the same request too. So it goes out anew, at last on a
// connection of its own.
func (t *try) roundTrip(rt *http.Transport, secret config.Secret) (*http.Response, error) {
	t.hooks.GotConn = t.gotConn
	t.ctx = httptrace.WithClientTrace(t.ctx, &t.hooks)
	for n := 0; ; n++ {
		req, err := t.request(secret)
		if err != nil {
			return nil, err
		}
		resp, err := rt.RoundTrip(req)
		if err == nil || !t.idled || n == staleMost || !closedUnused(err) || t.ctx.Err() != nil {
			return resp, err
		}
		if n == staleMost-1 { // whoever left one connection may have left all
			rt.CloseIdleConnections()
		}
	}
}

func (t *try) gotConn(i httptrace.GotConnInfo) { t.idled = i.WasIdle && i.IdleTime >= idleLeast }

// closedUnused says whether a connection ended before anything came over it.
func closedUnused(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed idle connection")
}
