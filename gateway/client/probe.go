package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

const (
	probeTime  = 700 * time.Millisecond
	probeLimit = 64 << 10
)

// Info is who answers at an address.
type Info struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Demo    bool      `json:"demo"`
	Started time.Time `json:"started"`
	Models  int       `json:"models"`
	APIs    []string  `json:"apis"`
}

// ForeignError says that an address is taken by something that is not magpie.
type ForeignError struct {
	Addr   string
	Status int    // what it answered to GET /; 0 when that was no HTTP, or nothing in time
	Server string // its Server header
	Why    string // what came instead of an answer
	Silent bool   // it took the connection and said nothing in time: it may be a magpie that hangs
}

func (e *ForeignError) Error() string {
	s := e.Addr + " is taken by something that is not magpie"
	switch {
	case e.Silent:
		return e.Addr + " is taken by something that " + e.Why + ", a magpie that hangs or another program"
	case e.Status == 0:
		return s + " (" + e.Why + ")"
	case e.Server == "":
		return fmt.Sprintf("%s (it answered GET / with %d)", s, e.Status)
	}
	return fmt.Sprintf("%s (it answered GET / with %d, Server: %s)", s, e.Status, e.Server)
}

// Probe asks who answers at an address, for as long as a person is to be kept waiting. Nobody is
// ErrNoGateway, something else a ForeignError.
func Probe(ctx context.Context, addr string) (Info, error) { return ProbeFor(ctx, addr, probeTime) }

// ProbeFor is Probe with the time that whoever is there has for an answer.
func ProbeFor(ctx context.Context, addr string, patience time.Duration) (Info, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tr := transport()
	tr.DisableKeepAlives = true
	hc := &http.Client{Transport: tr, CheckRedirect: noRedirect}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, Base(addr)+"/", http.NoBody)
	if err != nil {
		return Info{}, fmt.Errorf("ask %s: %w", addr, err)
	}
	resp, err := hc.Do(req)
	if err != nil {
		return Info{}, unanswered(addr, err, patience)
	}
	defer func() { _ = resp.Body.Close() }()
	foreign := &ForeignError{Addr: addr, Status: resp.StatusCode, Server: resp.Header.Get("Server")}
	body, err := io.ReadAll(io.LimitReader(resp.Body, probeLimit))
	if err != nil {
		return Info{}, foreign
	}
	var i Info
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &i) != nil || i.Name != "magpie" {
		return Info{}, foreign
	}
	return i, nil
}

// unanswered tells nobody there from somebody who does not speak.
func unanswered(addr string, err error, patience time.Duration) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w at %s", ErrNoGateway, addr)
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &ForeignError{Addr: addr, Why: "did not answer in " + patience.String(), Silent: true}
	}
	var refused *net.OpError
	if errors.As(err, &refused) && refused.Op == "dial" {
		return fmt.Errorf("reach %s: %w", addr, err)
	}
	return &ForeignError{Addr: addr, Why: err.Error()}
}
