package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/client"
	"dev.magpie/provider"
)

const (
	shutTime  = 2 * time.Second  // how long connections without a request may take to end
	proveTime = 10 * time.Second // how long this gateway may take to answer itself, on a machine that is busy
)

// doors are the listeners of the gateway: one, but while it moves.
type doors struct {
	mu  sync.Mutex
	all []doorway
}

// doorway is a listener with the address as the person wrote it.
type doorway struct {
	net.Listener
	asked string
}

// shown is the address as people write it: the host that was asked for and the port that was got.
func (d doorway) shown() string {
	_, port, err := net.SplitHostPort(d.Addr().String())
	if err != nil {
		return d.Addr().String()
	}
	host, _, err := net.SplitHostPort(d.asked)
	if err != nil {
		return d.Addr().String()
	}
	return net.JoinHostPort(host, port)
}

func (d *doors) add(l net.Listener, asked string) doorway {
	d.mu.Lock()
	defer d.mu.Unlock()
	door := doorway{l, asked}
	d.all = append(d.all, door)
	return door
}

// newest is the one in force.
func (d *doors) newest() (doorway, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.all) == 0 {
		return doorway{}, false
	}
	return d.all[len(d.all)-1], true
}

func (d *doors) shown() string {
	door, ok := d.newest()
	if !ok {
		return ""
	}
	return door.shown()
}

// bound are the addresses by which the gateway may be called.
func (d *doors) bound() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, door := range d.all {
		all = append(all, door.shown(), door.Addr().String())
	}
	return all
}

// leave closes all but the newest. Connections that came through them go on.
func (d *doors) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.all) - 1
	for _, door := range d.all[:last] {
		_ = door.Close() // nobody comes through it any more
	}
	d.all = d.all[last:]
}

// drop closes the newest, which did not do.
func (d *doors) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.all) - 1
	_ = d.all[last].Close()
	d.all = d.all[:last]
}

// close closes all. Those that the server has are closed already.
func (d *doors) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, door := range d.all {
		_ = door.Close()
	}
	d.all = nil
}

// serve lets agents in, and makes sure that it is this gateway that they reach.
func (n *node) serve() error {
	n.server = n.gw.Server()
	door, _ := n.doors.newest()
	n.admit(door)
	return n.prove(door)
}

// admit serves whoever comes through a door. One that closes without our doing ends the process.
func (n *node) admit(door doorway) {
	n.group.Go(func() error {
		err := n.server.Serve(door)
		if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
			return nil
		}
		return fmt.Errorf("listen on %s: %w", door.shown(), err)
	})
}

// prove asks through an address who answers there. Some systems let two programs have one.
func (n *node) prove(door doorway) error {
	info, err := client.ProbeFor(n.ctx, door.shown(), proveTime)
	if err != nil {
		return failed("%s is bound, but no magpie answers there: %s", door.shown(), err)
	}
	if !n.self(info) {
		return failed("%s is bound, but another magpie answers there (pid %d)", door.shown(), info.PID)
	}
	return nil
}

// self knows this process's own gateway.
func (n *node) self(i client.Info) bool {
	return n.gw != nil && i.PID == os.Getpid() && i.Started.Equal(n.gw.Status().Started)
}

// load reads the config again, for the gateway, which does so one at a time. Where its address is another one, that is bound before the old is left; one
// that can't be had leaves everything as it is.
func (n *node) load() (*config.Config, *provider.Catalog, error) {
	set, err := n.src.read(n.ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := n.move(n.addressOf(set.cfg)); err != nil {
		return nil, nil, err
	}
	n.mu.Lock()
	n.set = set
	n.mu.Unlock()
	n.warn(set)
	return set.cfg, set.cat, nil
}

// inForce is the config that was taken last.
func (n *node) inForce() *config.Config {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.set.cfg
}

// move makes the gateway listen elsewhere.
func (n *node) move(addr string) error {
	old, ok := n.doors.newest()
	if !ok || old.asked == addr || n.demo != nil {
		return nil
	}
	l, err := n.another(old, addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	door := n.doors.add(l, addr)
	n.gw.Moved(n.doors.shown(), n.doors.bound())
	n.admit(door)
	if err := n.prove(door); err != nil {
		n.doors.drop()
		n.gw.Moved(n.doors.shown(), n.doors.bound())
		return err
	}
	n.doors.leave()
	n.gw.Moved(n.doors.shown(), n.doors.bound())
	n.say(slog.LevelInfo, "listening on "+n.doors.shown())
	return nil
}

// another binds an address beside the old one. One that the old one itself covers, as 127.0.0.1 and
// 0.0.0.0 on one port do, can only be had once that is left; it is taken again when that fails.
func (n *node) another(old doorway, addr string) (net.Listener, error) {
	l, err := n.p.open(n.ctx, addr, n.self)
	var taken *takenError
	if err == nil || !errors.As(err, &taken) || taken.foreign != nil || !n.self(taken.info) {
		return l, err
	}
	n.doors.drop()
	if l, err = n.p.open(n.ctx, addr, n.self); err == nil {
		return l, nil
	}
	back, again := n.p.open(n.ctx, old.asked, n.self)
	if again != nil {
		return nil, errors.Join(err, again)
	}
	n.admit(n.doors.add(back, old.asked))
	return nil, err
}

// shut ends the gateway and its server: no new connections, watchers of the trace let go, requests that
// are still under way broken off.
func (n *node) shut() error {
	if n.server == nil {
		n.gw.Close()
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.ctx), shutTime)
	defer cancel()
	_ = n.gw.Break(ctx) // who is not through with it by then is cut off
	done := make(chan error, 1)
	go func() { done <- n.server.Shutdown(ctx) }()
	n.gw.Close()
	if err := <-done; err != nil {
		return n.server.Close()
	}
	return nil
}
