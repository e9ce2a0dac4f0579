package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace/words"
)

// Binding an address, and what is said when somebody has it.

// takenError says that somebody has the address: another magpie, or something else.
type takenError struct {
	addr    string
	info    client.Info          // of a magpie
	foreign *client.ForeignError // of something else, nil for a magpie
}

func (e *takenError) Error() string {
	if e.foreign != nil {
		return e.foreign.Error()
	}
	return fmt.Sprintf("%s is taken by another magpie (pid %d)", e.addr, e.info.PID)
}

// words is what the person is told, with the ways on.
func (e *takenError) words(now time.Time, command string) string {
	if e.foreign == nil {
		return fmt.Sprintf("%s is taken by another magpie (pid %d%s).", e.addr, e.info.PID, up(e.info, now))
	}
	_, port, err := net.SplitHostPort(e.addr)
	if err != nil {
		port = e.addr
	}
	return e.foreign.Error() + ".\n" +
		"Choose another address:  magpie " + command + "--listen " + another(e.addr) + "\n" +
		"or see what holds it:    lsof -nP -iTCP:" + port + " -sTCP:LISTEN"
}

// up says how long a magpie has been running.
func up(i client.Info, now time.Time) string {
	if i.Started.IsZero() || i.Started.After(now) {
		return ""
	}
	return ", up " + words.Span(now.Sub(i.Started))
}

// waysOn is what can be done where a magpie has the address already.
func (e *takenError) waysOn(command string) string {
	if e.foreign != nil {
		return "" // words names them
	}
	return "\nLook at that one:        magpie --listen " + e.addr +
		"\nor take another address: magpie " + command + "--listen " + another(e.addr)
}

// another is the address with the next port.
func another(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "127.0.0.1:3426"
	}
	n, err := strconv.Atoi(port)
	if err != nil || n >= 65535 {
		return net.JoinHostPort(host, "3426")
	}
	return net.JoinHostPort(host, strconv.Itoa(n+1))
}

// open binds an address. Somebody who has it already, on either loopback family, is a takenError:
// agents that say localhost would reach them. Whoever self knows is nobody.
func (p *process) open(ctx context.Context, addr string, self func(client.Info) bool) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, p.whoHas(ctx, addr)
	}
	if err != nil {
		return nil, failed("can't listen on %s: %s%s", addr, cause(err), hint(err))
	}
	for _, other := range twins(addr) {
		err := p.occupied(ctx, other)
		if taken := (*takenError)(nil); errors.As(err, &taken) && (taken.foreign != nil || !self(taken.info)) {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// whoHas asks who is at an address that can't be bound.
func (p *process) whoHas(ctx context.Context, addr string) error {
	all := append([]string{addr}, twins(addr)...)
	if host, port, err := net.SplitHostPort(addr); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		all = append(all, net.JoinHostPort("::1", port))
	}
	for _, a := range all {
		if err := p.occupied(ctx, a); err != nil {
			return err
		}
	}
	return &takenError{addr: addr, foreign: &client.ForeignError{Addr: addr, Why: "it takes no connections from here"}}
}

// occupied asks who answers at an address; nobody is nil.
func (p *process) occupied(ctx context.Context, addr string) error {
	info, err := p.probe(ctx, addr)
	var foreign *client.ForeignError
	switch {
	case err == nil:
		return &takenError{addr: addr, info: info}
	case errors.As(err, &foreign):
		return &takenError{addr: addr, foreign: foreign}
	}
	return nil
}

// twins are the other loopback addresses under which agents may look for one.
func twins(addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return nil
	}
	four, six := net.JoinHostPort("127.0.0.1", port), net.JoinHostPort("::1", port)
	ip := net.ParseIP(host)
	switch {
	case host == "localhost":
		return []string{six}
	case ip == nil || !ip.IsLoopback(): // an unspecified address covers both families
		return nil
	case ip.To4() != nil:
		return []string{six}
	}
	return []string{four}
}

// cause is the error without what was being done, which is said already.
func cause(err error) string {
	var sys *os.SyscallError
	if errors.As(err, &sys) {
		return sys.Err.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}

func hint(err error) string {
	switch {
	case errors.Is(err, syscall.EACCES):
		return "; ports below 1024 need more rights: take another"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; no interface of this machine has that address"
	}
	return ""
}
