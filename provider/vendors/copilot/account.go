package copilot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"dev.magpie/config"
	"dev.magpie/provider"
)

// Options are what an account needs of the outside.
type Options struct {
	Homes []string // where Copilot's programs keep their sign-ins, in the order in which they are looked at
	URL   string   // where what is left is told, "" = GitHub's own place
	Agent string   // what the gateway calls itself
	Do    func(*http.Request) (*http.Response, error)
}

// Account is one that a program of Copilot is signed in to. Its sign-in is read and never
// written, and serves to ask what is left alone: GitHub answers requests of its own programs
// only. Its methods may be called from any goroutine.
type Account struct {
	o Options

	mu      sync.Mutex
	refused string // the token that was turned away last
}

const (
	userPath  = "/copilot_internal/user"
	replySize = 1 << 20
)

// Open makes an account of a program's homes. Nothing is read or asked yet.
func Open(o Options) *Account { return &Account{o: o} }

// Look reads who is signed in, without asking anybody. A sign-in that was turned away is none
// until another is written.
func (a *Account) Look() (provider.Credential, error) {
	s, err := a.current()
	if err != nil {
		return provider.Credential{}, err
	}
	c := provider.Credential{Access: config.Secret(s.token), User: s.user}
	if s.user != "" {
		c.Account = s.host + "/" + s.user
	}
	return c, nil
}

func (a *Account) current() (signIn, error) {
	s, err := load(a.o.Homes)
	if err != nil {
		return signIn{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.token == a.refused {
		return signIn{}, ErrLapsed
	}
	return s, nil
}

// Read asks what is left of the account's allowance.
func (a *Account) Read(ctx context.Context, _ time.Time) (provider.Reading, error) {
	s, err := a.current()
	if err != nil {
		return provider.Reading{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.address(s.host), http.NoBody)
	if err != nil {
		return provider.Reading{}, errors.New("the address where its usage is told can't be read")
	}
	req.Header["Authorization"] = []string{"token " + s.token}
	req.Header["User-Agent"] = []string{a.o.Agent}
	req.Header["Accept"] = []string{"application/json"}
	resp, err := a.o.Do(req)
	if err != nil {
		return provider.Reading{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	body, err := io.ReadAll(io.LimitReader(resp.Body, replySize))
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		a.mu.Lock()
		a.refused = s.token
		a.mu.Unlock()
		return provider.Reading{}, ErrLapsed
	case resp.StatusCode != http.StatusOK:
		return provider.Reading{}, fmt.Errorf("its usage: the vendor answered %d", resp.StatusCode)
	case err != nil:
		return provider.Reading{}, fmt.Errorf("its usage: its answer broke off: %w", err)
	}
	return Parse(body, time.Now())
}

// address is where the usage of a host's accounts is told.
func (a *Account) address(host string) string {
	if a.o.URL != "" {
		return strings.TrimSuffix(a.o.URL, "/")
	}
	return "https://api." + host + userPath
}
