package codex

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// The vendor's token endpoint, and the public client that Codex CLI signs in with.
const (
	TokenURL = "https://auth.openai.com/oauth/token" //nolint:gosec // an address
	clientID = "app_EMoamEEZ73f0CkXaXp7hrann"
	scopes   = "openid profile email"
)

// ErrLapsed says that the vendor refused the sign-in: its owner has to sign in anew.
const ErrLapsed = provider.SignInError("its sign-in has lapsed: run codex login")

// askFor is how long the vendor may take to renew a token. Who wanted it may leave meanwhile: a
// refresh token that was sent is spent, and what came of it has to be had.
const askFor = 20 * time.Second

// settled reads a sign-in that may be being written: Codex empties its file before it does so.
func settled(ctx context.Context, home string) (Tokens, error) {
	t, err := Load(home)
	for n := 0; n < 4 && errors.Is(err, ErrBroken); n++ {
		if !pause(ctx) {
			return Tokens{}, ctx.Err()
		}
		t, err = Load(home)
	}
	return t, err
}

// pause gives whoever is writing the file the time to do so; false where nobody waits any more.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(50 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// waits are how long a renewal that failed for a passing cause is left alone, the longer the
// more often it failed.
var waits = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute}

// Holder hands out the access token of one home and renews it. A refresh token can be spent
// once: one renewal at a time, in all processes, and none of what another holder wrote meanwhile.
type Holder struct {
	Home string
	URL  string // TokenURL
	Do   func(*http.Request) (*http.Response, error)

	room func(home string, n int) (*spare, error) // reserve

	once    sync.Once
	turn    chan struct{} // holds one while nobody has it: all below belongs to who took it
	kept    *Tokens       // renewed, but not written: the disk took nothing
	keptOf  string        // the refresh token that they came from
	lapsed  string        // the refresh token that was refused
	made    string        // the access token that came of the last renewal
	madeAt  time.Time     // when that was
	failed  int
	retryAt time.Time
	last    error
}

// Tokens returns tokens that are good for a request now. Errors are states of the account:
// ErrNoSignIn, ErrKeyOnly, ErrBroken, ErrLapsed, or a passing cause.
func (h *Holder) Tokens(ctx context.Context, now time.Time) (Tokens, error) {
	if err := h.take(ctx); err != nil {
		return Tokens{}, err
	}
	defer h.give()
	t, err := h.current(ctx, now)
	switch {
	case err != nil:
		return t, err
	case t.Refresh != "" && t.Refresh == h.lapsed:
		return Tokens{}, ErrLapsed
	case !h.stale(t, now):
		return t, nil
	}
	fresh, err := h.renew(ctx, t, now)
	if err != nil && !state(err) && ctx.Err() == nil && !Stale(t.Access, now.Add(-early)) {
		return t, nil // it is good for some minutes yet, and what failed may pass by then
	}
	return fresh, err
}

// state says whether an error is one that the account's owner has to end.
func state(err error) bool {
	var s provider.SignInError
	return errors.As(err, &s)
}

// stale says whether tokens have to be renewed. Those that came just now are used to their end:
// where the vendor gives none that lasts, each request would spend a refresh token. One that
// was over when it came is so by a clock that is wrong, and its vendor says when it is.
func (h *Holder) stale(t Tokens, now time.Time) bool {
	if age := now.Sub(h.madeAt); t.Access == h.made && age >= 0 && age < early {
		if Stale(t.Access, h.madeAt.Add(-early)) {
			return false
		}
		now = now.Add(-early)
	}
	return Stale(t.Access, now)
}

// Refused is told that an access token was turned away, and returns another if there is one.
func (h *Holder) Refused(ctx context.Context, access string, now time.Time) (Tokens, error) {
	if err := h.take(ctx); err != nil {
		return Tokens{}, err
	}
	defer h.give()
	t, err := h.current(ctx, now)
	if err != nil || t.Access != access {
		return t, err // another was written meanwhile
	}
	return h.renew(ctx, t, now)
}

// take waits for the turn: a request that ends meanwhile waits no longer.
func (h *Holder) take(ctx context.Context) error {
	h.once.Do(func() {
		h.turn = make(chan struct{}, 1)
		h.turn <- struct{}{}
		if h.room == nil {
			h.room = reserve
		}
	})
	select {
	case <-h.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Holder) give() { h.turn <- struct{}{} }

// current reads the file: its owner may have signed in anew, and Codex renews by itself.
func (h *Holder) current(ctx context.Context, now time.Time) (Tokens, error) {
	t, err := settled(ctx, h.Home)
	switch {
	case err != nil:
		return Tokens{}, err
	case h.kept == nil:
		return t, nil
	case t.Refresh != h.keptOf:
		h.kept = nil // the file went on without us
		return t, nil
	}
	kept := *h.kept
	h.write(ctx, now)
	return kept, nil
}

// write tries once more to write what is kept; what can't be written stays kept.
func (h *Holder) write(ctx context.Context, now time.Time) {
	unlock, err := lock(ctx, h.Home)
	if err != nil {
		return
	}
	defer unlock()
	d, err := load(h.Home)
	if err != nil || d.Refresh != h.keptOf {
		return
	}
	data, err := d.renewed(*h.kept, now)
	if err != nil {
		return
	}
	room, err := h.room(h.Home, len(data))
	if err != nil {
		return
	}
	if room.fill(data) == nil {
		h.kept = nil
		return
	}
	room.drop() // or each try would leave one
}

func (h *Holder) renew(ctx context.Context, old Tokens, now time.Time) (Tokens, error) {
	switch {
	case old.Refresh == "":
		return Tokens{}, ErrLapsed
	case old.Refresh == h.lapsed:
		return Tokens{}, ErrLapsed
	case now.Before(h.retryAt):
		return Tokens{}, h.last
	}
	t, err := h.renewLocked(ctx, old, now)
	switch {
	case err == nil:
		h.failed, h.lapsed, h.last = 0, "", nil
	case errors.Is(err, ErrLapsed):
		h.lapsed = old.Refresh
	case ctx.Err() != nil: // who wanted it left, which says nothing of the sign-in
	default:
		h.last = err
		h.retryAt = now.Add(waits[min(h.failed, len(waits)-1)])
		h.failed++
	}
	return t, err
}

// renewLocked renews while no other process does.
func (h *Holder) renewLocked(ctx context.Context, old Tokens, now time.Time) (Tokens, error) {
	unlock, err := lock(ctx, h.Home)
	if err != nil {
		return Tokens{}, fmt.Errorf("its home can't be locked: %w", pathless(err))
	}
	defer unlock()
	adopt(h.Home)
	d, err := load(h.Home)
	if err != nil {
		return Tokens{}, err
	}
	if h.kept == nil && d.Access != old.Access { // another process was quicker
		h.made, h.madeAt = d.Access, now
		if !h.stale(d.Tokens, now) {
			return d.Tokens, nil
		}
		old = d.Tokens
	}
	const tokens = 32 << 10
	room, err := h.room(h.Home, d.size+tokens)
	if err != nil {
		return Tokens{}, fmt.Errorf("its token is not renewed, because the new one could not be written: %w", err)
	}
	fresh, err := h.ask(ctx, old.Refresh)
	then, bad := load(h.Home)
	for n := 0; n < 4 && errors.Is(err, ErrLapsed) && (bad != nil || then.Refresh == d.Refresh) && pause(ctx); n++ {
		then, bad = load(h.Home) // whoever was quicker may be about to write what it got
	}
	switch {
	case bad == nil && then.Refresh != d.Refresh: // its owner signed in meanwhile, or Codex was quicker
		room.drop()
		return then.Tokens, nil
	case err != nil:
		room.drop()
		return Tokens{}, err
	case bad == nil:
		d = then // with what else was written into it meanwhile
	}
	fresh.Account, fresh.Renewed = old.Account, now
	h.made, h.madeAt = fresh.Access, now
	if fresh.ID == "" {
		fresh.ID = old.ID
	}
	if fresh.Refresh == "" {
		fresh.Refresh = old.Refresh
	}
	data, err := d.renewed(fresh, now)
	if err = cmp.Or(bad, err); err == nil {
		err = room.fill(data)
	} else {
		room.drop()
	}
	if err != nil { // the old token is spent: the new one lives here until it can be written
		kept := fresh
		h.kept, h.keptOf = &kept, d.Refresh
		return fresh, nil
	}
	h.kept = nil
	return fresh, nil
}

// refused says whether the vendor's answer ends a sign-in. A web page is nobody's word: it stands
// in the way, and goes.
func refused(status int, reply []byte) bool {
	page := bytes.HasPrefix(bytes.TrimSpace(reply), []byte("<"))
	return (status == http.StatusBadRequest || status == http.StatusUnauthorized) && !page
}

// ask spends the refresh token.
func (h *Holder) ask(ctx context.Context, refresh string) (Tokens, error) {
	body, err := json.Marshal(map[string]string{"client_id": clientID, "grant_type": "refresh_token", "refresh_token": refresh, "scope": scopes})
	if err != nil {
		return Tokens{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askFor)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return Tokens{}, errors.New("its token could not be renewed: the vendor's address can't be read")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.Do(req)
	if err != nil {
		return Tokens{}, fmt.Errorf("its token could not be renewed: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	reply, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch {
	case refused(resp.StatusCode, reply):
		return Tokens{}, ErrLapsed
	case resp.StatusCode != http.StatusOK:
		return Tokens{}, fmt.Errorf("its token could not be renewed: the vendor answered %d", resp.StatusCode)
	case err != nil:
		return Tokens{}, fmt.Errorf("its token could not be renewed: %w", err)
	}
	var t struct {
		ID      loose.Text `json:"id_token"`
		Access  loose.Text `json:"access_token"`
		Refresh loose.Text `json:"refresh_token"`
	}
	if loose.Decode(reply, &t) != nil || t.Access == "" {
		return Tokens{}, errors.New("its token could not be renewed: the vendor's answer has none")
	}
	return Tokens{ID: string(t.ID), Access: string(t.Access), Refresh: string(t.Refresh)}, nil
}
