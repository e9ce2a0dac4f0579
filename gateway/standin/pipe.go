package standin

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
)

// Net is a network of in-memory connections: whoever dials an address of it gets one
// end of a net.Pipe, the listener at that address the other. No socket is opened, so
// it works inside a bubble of testing/synctest; make it there.
type Net struct {
	mu        sync.Mutex
	next      int // port of a listener
	dials     int
	listeners map[string]*pipeListener
}

// PipeNet makes an empty network.
func PipeNet() *Net {
	return &Net{next: 40000, listeners: map[string]*pipeListener{}}
}

// Listen opens a listener at an address, or at a free loopback one for "".
func (n *Net) Listen(addr string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr == "" {
		n.next++
		addr = fmt.Sprintf("127.0.0.1:%d", n.next)
	}
	if n.listeners[addr] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: syscall.EADDRINUSE}
	}
	l := &pipeListener{net: n, addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[addr] = l
	return l, nil
}

// DialContext connects to the listener at the address, in the shape of net.Dialer's method.
func (n *Net) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[addr]
	n.dials++
	from := loopback(1 + n.dials%65535) // ports come again, as they do in the kernel
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: network, Addr: pipeAddr(addr), Err: syscall.ECONNREFUSED}
	if l == nil {
		return nil, refused
	}
	a, b := net.Pipe()
	client := &pipeConn{Conn: a, local: from, remote: l.Addr()}
	server := &pipeConn{Conn: b, local: l.Addr(), remote: from}
	client.peer, server.peer = server, client
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, refused
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: network, Addr: pipeAddr(addr), Err: ctx.Err()}
	}
}

// Transport is an http.Transport over this network that uses no proxy and leaves
// compressed replies as they are.
func (n *Net) Transport() *http.Transport {
	return &http.Transport{DialContext: n.DialContext, DisableCompression: true}
}

// Serve serves a handler at a free address until stop is called. stop closes every connection and waits for the server's own goroutine.
func (n *Net) Serve(h http.Handler) (base string, stop func(), err error) {
	l, err := n.Listen("")
	if err != nil {
		return "", nil, err
	}
	return serve(l, h)
}

// serve runs a server on a listener in its own goroutine.
func serve(l net.Listener, h http.Handler) (base string, stop func(), err error) {
	srv := &http.Server{Handler: h} //nolint:gosec // a slow client is the test's own
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // it ends by Close alone
	}()
	stop = func() {
		_ = srv.Close()
		<-done
	}
	return "http://" + l.Addr().String(), stop, nil
}

type pipeListener struct {
	net    *Net
	addr   string
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.net.mu.Lock()
		defer l.net.mu.Unlock()
		delete(l.net.listeners, l.addr)
	})
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.addr) }

// pipeAddr is the address as a loopback one, which is what guards look at.
func pipeAddr(addr string) net.Addr {
	if a, err := netip.ParseAddrPort(addr); err == nil {
		return net.TCPAddrFromAddrPort(a)
	}
	return loopback(0)
}

func loopback(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }

// pipeConn is one end of a net.Pipe with addresses, and with TCP's reset.
type pipeConn struct {
	net.Conn
	local, remote net.Addr
	peer          *pipeConn
	reset         atomic.Bool
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.local }
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

func (c *pipeConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.told("read", err)
}

func (c *pipeConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, c.told("write", err)
}

// told is what the kernel would say of an end that the peer has reset.
func (c *pipeConn) told(op string, err error) error {
	if err == nil || !c.reset.Load() {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: syscall.ECONNRESET}
}

// abort closes the connection so that the peer sees a reset rather than an end.
func abort(c net.Conn) error {
	switch c := c.(type) {
	case *pipeConn:
		c.peer.reset.Store(true)
	case *net.TCPConn:
		if err := c.SetLinger(0); err != nil {
			return err
		}
	}
	return c.Close()
}
