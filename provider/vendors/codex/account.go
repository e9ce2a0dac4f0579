package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"dev.magpie/config"
	"dev.magpie/provider"
)

// Options are what an account needs of the outside.
type Options struct {
	Home  string // where Codex keeps its sign-in
	Base  string // of the backend's Responses, as the provider has it
	Token string // where tokens are renewed, "" = the vendor's
	Agent string // what the gateway calls itself
	Do    func(*http.Request) (*http.Response, error)
}

// Account is one that Codex CLI is signed in to. It signs requests, reads what is left, and
// spends resets. Its methods may be called from any goroutine.
type Account struct {
	o       Options
	holder  Holder
	backend string // that Base is a part of

	mu           sync.Mutex
	instructions map[string]string
	resets       provider.Resets // as last listed
	listed       time.Time       // when that was
	listedOf     string          // whose they are
}

// Times and bounds of asking the backend.
const (
	listFor     = 4 * time.Second  // for the list of resets, beside a reading
	resetsFresh = 30 * time.Minute // how long a list of resets holds, while their number stays
	replyBytes  = 8 << 20
)

// Open makes an account of a home. Nothing is read or asked yet.
func Open(o Options) *Account {
	if o.Token == "" {
		o.Token = TokenURL
	}
	backend := strings.TrimSuffix(strings.TrimSuffix(o.Base, "/"), "/codex")
	return &Account{o: o, backend: backend, holder: Holder{Home: o.Home, URL: o.Token, Do: o.Do}}
}

// Look reads who is signed in, without asking anybody.
func (a *Account) Look() (provider.Credential, error) {
	t, err := settled(context.Background(), a.o.Home)
	return t.credential(), err
}

// Credential returns what is good for a request now.
func (a *Account) Credential(ctx context.Context, now time.Time) (provider.Credential, error) {
	t, err := a.holder.Tokens(ctx, now)
	return t.credential(), err
}

// Refused is told that a credential was turned away, and returns another if there is one.
func (a *Account) Refused(ctx context.Context, c provider.Credential, now time.Time) (provider.Credential, error) {
	t, err := a.holder.Refused(ctx, c.Access.Reveal(), now) //nolint:forbidigo // its holder compares it
	return t.credential(), err
}

func (t Tokens) credential() provider.Credential {
	c := provider.Credential{Access: config.Secret(t.Access), Account: t.Account, User: t.User(), Plan: t.Plan()}
	for _, s := range []string{t.Refresh, t.ID} {
		if s != "" {
			c.Hidden = append(c.Hidden, config.Secret(s))
		}
	}
	return c
}

// Sign puts the credential on a request's headers. Of Codex itself (own) they say already what
// it is and which session; else they say who we are, and the session that the backend keeps
// the cache by.
func (a *Account) Sign(h http.Header, c provider.Credential, session string, own bool) {
	h["Authorization"] = []string{"Bearer " + c.Access.Reveal()} //nolint:forbidigo // the request is signed here
	if c.Account != "" {
		h["Chatgpt-Account-Id"] = []string{c.Account}
	}
	if len(h["Openai-Beta"]) == 0 {
		h["Openai-Beta"] = []string{"responses=experimental"}
	}
	if own {
		return
	}
	h["Originator"] = []string{"magpie"}
	delete(h, "Session_id")
	delete(h, "Conversation_id")
	if session != "" {
		h["Session_id"], h["Conversation_id"] = []string{session}, []string{session}
	}
}

// Shape makes a body one that the backend takes, and says by which session it is cached. The
// body of Codex itself (own) stays as it is, unless the backend would turn it away.
func (a *Account) Shape(body []byte, model string, own bool) (shaped []byte, session string, err error) {
	if own && taken(body) {
		return body, "", nil
	}
	instructions := ""
	if !own {
		a.mu.Lock()
		instructions = a.instructions[model]
		a.mu.Unlock()
	}
	if shaped, err = Shape(body, instructions); err != nil {
		return nil, "", err
	}
	return shaped, sessionOf(shaped), nil
}

// taken says whether the backend takes a body as it is: streamed, not stored, and without the
// fields that it refuses.
func taken(body []byte) bool {
	fields, err := members(body)
	if err != nil || string(field(fields, "stream")) != "true" || string(field(fields, "store")) != "false" {
		return false
	}
	return !slices.ContainsFunc(fields, func(f member) bool { return slices.Contains(refusedFields, f.name) })
}

func sessionOf(body []byte) string {
	fields, err := members(body)
	if err != nil {
		return ""
	}
	key := str(field(fields, "prompt_cache_key"))
	if len(key) > 128 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "" // no header
	}
	return key
}

// Models asks which models the account's plan has. Raw is what it was told, to be kept.
func (a *Account) Models(ctx context.Context, now time.Time) (list []provider.Model, raw []byte, err error) {
	address := a.o.Base + "/models?client_version=" + url.QueryEscape(clientVersion(a.o.Home))
	raw, err = a.call(ctx, http.MethodGet, address, nil, now)
	if err != nil {
		return nil, nil, fmt.Errorf("its models: %w", err)
	}
	list, err = a.Take(raw)
	return list, raw, err
}

// Take reads a list that was kept.
func (a *Account) Take(raw []byte) ([]provider.Model, error) {
	m, err := parseModels(raw)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.instructions = m.instructions
	return m.list, nil
}

// Read asks what is left of the account's allowance.
func (a *Account) Read(ctx context.Context, now time.Time) (provider.Reading, error) {
	body, err := a.call(ctx, http.MethodGet, a.backend+"/wham/usage", nil, now)
	if err != nil {
		return provider.Reading{}, fmt.Errorf("its usage: %w", err)
	}
	r, err := ParseUsage(body, time.Now())
	if err == nil && r.Resets != nil && r.Resets.Count > 0 {
		r.Resets.Until = a.until(ctx, r.Resets.Count, now)
	}
	return r, err
}

// until is when the first of the resets runs out. It is no part of the usage; a list that
// can't be had leaves it unknown, and nothing else.
func (a *Account) until(ctx context.Context, count int, now time.Time) time.Time {
	t, err := settled(ctx, a.o.Home)
	if err != nil {
		return time.Time{}
	}
	a.mu.Lock()
	known, at, of := a.resets, a.listed, a.listedOf
	a.mu.Unlock()
	if known.Count == count && !at.IsZero() && now.Sub(at) < resetsFresh && of == t.Account {
		return known.Until
	}
	ctx, cancel := context.WithTimeout(ctx, listFor)
	defer cancel()
	all, err := a.Resets(ctx, now)
	if err != nil || len(all) == 0 {
		return time.Time{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.resets, a.listed, a.listedOf = provider.Resets{Count: count, Until: all[0].Expires}, now, t.Account
	return a.resets.Until
}

// Resets lists the resets that can be spent, the first to run out first.
func (a *Account) Resets(ctx context.Context, now time.Time) ([]provider.Reset, error) {
	body, err := a.call(ctx, http.MethodGet, a.backend+"/wham/rate-limit-reset-credits", nil, now)
	if err != nil {
		return nil, fmt.Errorf("its resets: %w", err)
	}
	return ParseResets(body)
}

// Spend spends one reset. The request's id makes it the same spending however often it is
// asked for; an error leaves open whether it was.
func (a *Account) Spend(ctx context.Context, reset, request string, now time.Time) (provider.Outcome, int, error) {
	ask, err := json.Marshal(map[string]string{"credit_id": reset, "redeem_request_id": request})
	if err != nil {
		return "", 0, err
	}
	body, err := a.call(ctx, http.MethodPost, a.backend+"/wham/rate-limit-reset-credits/consume", ask, now)
	if err != nil {
		return "", 0, fmt.Errorf("spending a reset: %w", err)
	}
	a.mu.Lock()
	a.listed = time.Time{}
	a.mu.Unlock()
	return ParseOutcome(body)
}

// statusError is an answer that is no success.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("the vendor answered %d", int(e)) }

// call asks the backend, once more where a token was turned away and another is to be had.
func (a *Account) call(ctx context.Context, method, address string, body []byte, now time.Time) ([]byte, error) {
	c, err := a.Credential(ctx, now)
	if err != nil {
		return nil, err
	}
	reply, err := a.once(ctx, method, address, body, c)
	if !errors.Is(err, statusError(http.StatusUnauthorized)) {
		return reply, err
	}
	again, err := a.Refused(ctx, c, now)
	if err != nil {
		return nil, err
	}
	return a.once(ctx, method, address, body, again)
}

func (a *Account) once(ctx context.Context, method, address string, body []byte, c provider.Credential) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the backend's address can't be read")
	}
	req.Header["User-Agent"] = []string{a.o.Agent}
	req.Header["Accept"] = []string{"application/json"}
	if len(body) > 0 {
		req.Header["Content-Type"] = []string{"application/json"}
	}
	a.Sign(req.Header, c, "", false)
	resp, err := a.o.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	reply, err := io.ReadAll(io.LimitReader(resp.Body, replyBytes))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return nil, statusError(resp.StatusCode)
	case err != nil:
		return nil, fmt.Errorf("its answer broke off: %w", err)
	}
	return reply, nil
}
