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

// staleMost is how often a request is sent anew because its vendor had left the connection that it was
// put on, or did not take it in there.
const staleMost = 2

// idleLeast is how long a connection has to have lain idle for its end to be one of idleness:
// vendors leave none sooner, and one that ends while it is in use is its vendor's failure.
const idleLeast = time.Second

// roundTrip sends the request and returns what answers it. A vendor may close a connection that
// lies idle at the very moment in which it is used again: that says nothing of who is asked, and
// the next candidate would be sent the same request too. So it goes out anew, at last on a
// connection of its own. The same holds for HTTP/2 where a vendor ends a connection by a GOAWAY,
// as they do after so many requests, and says that it did not look at those that came behind.
func (t *try) roundTrip(rt *http.Transport, secret config.Secret) (*http.Response, error) {
	t.hooks.GotConn = t.gotConn
	t.ctx = httptrace.WithClientTrace(t.ctx, &t.hooks)
	for n := 0; ; n++ {
		req, err := t.request(secret)
		if err != nil {
			return nil, err
		}
		resp, err := rt.RoundTrip(req)
		if err == nil || n == staleMost || t.ctx.Err() != nil || !notTaken(err) && (!t.idled || !closedUnused(err)) {
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

// notTaken says whether an HTTP/2 server told that it did not look at the request: net/http would send
// such a one anew by itself if it kept the body for that.
func notTaken(err error) bool {
	return strings.Contains(err.Error(), "http2: Transport: cannot retry err [")
}
