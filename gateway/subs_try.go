package gateway

import (
	"errors"
	"net/http"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
	"dev.magpie/provider/vendors"
)

// A try through an account that a program is signed in to.

// own says whether the agent is the vendor's own program: what it says of itself is true.
func (t *try) own() bool { return t.sub != nil && t.s.a.agent == t.sub.Agent }

// onePiece says whether the agent wants one piece of a vendor that only streams.
func (t *try) onePiece() bool {
	return t.sub != nil && t.s.a.generates() && !t.s.a.stream
}

// dress makes the body of a try one that the account's vendor takes.
func (t *try) dress() error {
	if t.sub == nil || !t.s.a.generates() {
		return nil
	}
	sent := t.body.Bytes()
	shaped, session, err := t.sub.Shape(sent, t.c.Model, t.own() && t.x == nil)
	if err != nil {
		return err
	}
	t.session = session
	t.body, t.s.sent = wire.Whole(shaped), shaped
	if t.x != nil {
		t.x.body = shaped
	}
	return nil
}

// credential is what a try goes out under.
func (t *try) credential() (config.Secret, error) {
	s := t.s
	if t.sub == nil {
		secret, err := s.g.d.Secrets.Value(s.ctx, t.acct)
		if err == nil {
			s.g.known(t.acct, secret)
		}
		return secret, err
	}
	c, err := t.sub.Credential(s.ctx, time.Now())
	if err != nil {
		return "", err
	}
	s.g.signedIn(t.sub, &c)
	if s.creds == nil {
		s.creds = map[provider.AccountID]provider.Credential{}
	}
	s.creds[t.acct.ID] = c
	return c.Access, nil
}

// signedOut makes an outcome of a sign-in that gave no token. The vendor was not asked. One
// that has lapsed is told of the account; what passes rests it as any failure does.
func (t *try) signedOut(err error) outcome {
	s := t.s
	if s.gone() {
		return left()
	}
	words := s.g.masker.Mask(err.Error())
	v := &trace.Verdict{Row: "no-token", Kind: trace.Other, Scope: trace.ScopeWhole, Next: true, Passes: true, Status: http.StatusServiceUnavailable, Words: words}
	var state provider.SignInError
	if errors.As(err, &state) {
		s.g.lost(t.sub, err)
		v = &trace.Verdict{Row: "no-sign-in", Kind: trace.Auth, Next: true, Status: http.StatusUnauthorized, Words: words}
	}
	return outcome{verdict: v, words: v.Words, status: v.Status, reply: vendorError{mine: true}}
}

// freshToken says whether an account whose token was turned away has another by now.
func (s *service) freshToken(one *sub) bool {
	old, ok := s.creds[one.id]
	if !ok {
		return false
	}
	c, err := one.Refused(s.ctx, old, time.Now())
	if err != nil {
		s.g.lost(one, err)
		return false
	}
	s.g.signedIn(one, &c)
	return c.Access != old.Access
}

// sign puts the account's credential on a request.
func (t *try) sign(h http.Header) {
	if t.sub == nil {
		return
	}
	t.sub.Sign(h, t.s.creds[t.acct.ID], t.session, t.own())
	if t.s.a.generates() {
		h["Accept"] = eventType
	}
}

// readHeaders takes in what the headers of a reply tell of who was asked. A reply to what was
// asked before a reset tells of the windows that the reset ended; one through a key with
// windows of its own may tell of an account that its relay shares out.
func (t *try) readHeaders(began time.Time) {
	if m := t.s.lv.meters.by[t.acct.ID]; m != nil && m.src.Windows {
		return
	}
	now := time.Now()
	ws := vendors.ReadHeaders(t.resp.Header, now)
	if len(ws) == 0 || t.sub != nil && t.sub.renewedSince(began) {
		return
	}
	t.s.g.d.State.Read(t.acct.ID, ws, now)
}

// readBeside takes in what an event ahead of a reply told of the account.
func (t *try) readBeside(f *wire.Facts) {
	if t.sub == nil || len(f.Beside) == 0 {
		return
	}
	data := f.Beside
	f.Beside = nil
	now := time.Now()
	r := vendors.ReadEvent(data, now)
	if len(r.Windows) > 0 && !t.sub.renewedSince(t.began) {
		t.s.g.d.State.Read(t.acct.ID, r.Windows, now)
	}
}

func (s *sub) renewedSince(at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.renewed.Before(at)
}

// byReset says whether it was a reset by which the windows last began anew.
func (s *sub) byReset() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed.After(s.came)
}

// outdated says whether a failure tells of who was signed in before, or of windows that began anew
// since it was asked for: it says nothing of the account as it is now.
func (s *service) outdated(c *trace.Candidate, o *outcome) bool {
	one := s.lv.subs[provider.AccountID(c.ID)]
	if one == nil {
		return false
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return !one.came.Before(o.began) || o.verdict.Kind == trace.Quota && !one.renewed.Before(o.began)
}
