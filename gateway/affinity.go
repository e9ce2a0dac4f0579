package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"dev.magpie/gateway/guard"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// conversation names the conversation of an agent that sends no session header.
func (a *ask) conversation() string {
	if id := sessionInUser(a.env.UserID); id != "" {
		return id
	}
	if k := a.env.CacheKey; k != "" && len(k) <= 128 {
		return k
	}
	return a.env.ConversationHash(a.body)
}

// named settles which conversation a request belongs to: by what the agent itself says of it, and
// for people by the name that they gave it.
func (a *ask) named() {
	a.talk = guard.Conversation(a.header)
	if a.talk != "" && a.session != "" {
		return
	}
	own := a.conversation()
	a.talk, a.session = cmp.Or(a.talk, own), cmp.Or(a.session, own)
}

// converses says whether a request is a turn of a conversation, or a part of one. What the gateway
// asks for itself is one question: remembered, many of them would push out what agents say.
func (a *ask) converses() bool {
	return a.talk != "" && a.inner == "" && (a.door == provider.Generate || a.door == provider.Stream)
}

// recall fills in what is remembered of the conversation, and what the request tells of it.
func (g *Gateway) recall(a *ask, snap *route.Snapshot, call *route.Call, now time.Time) state.Talk {
	call.Turn, call.Within, call.Images, call.Tokens = a.env.Turn, a.env.Within, a.env.Shows, a.env.Estimate()
	if !a.converses() {
		return state.Talk{}
	}
	t := state.Talk{Scope: route.ScopeOf(&call.Target), ID: g.plainID(a.talk)}
	call.Scope = t.Scope
	if group := call.Target.Group; group != nil && route.Ruled(snap.Catalog, group) {
		words := a.firstWords()
		t.ID = words + "|" + t.ID
		call.Scope += "|" + words
	}
	call.Keep = g.d.State.Kept(t, now)
	if call.Keep == nil && snap.Spreads(&call.Target) {
		call.Held = g.d.State.Held(t, now)
	}
	return t
}

// plainID is an id as it may be written down: an agent may have put a key there.
func (g *Gateway) plainID(id string) string {
	if g.masker.Mask(id) == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "magpie-" + hex.EncodeToString(sum[:12])
}

// remember notes who answered the conversation.
func (s *service) remember(c *trace.Candidate, o *outcome, now time.Time) {
	if s.talk == (state.Talk{}) {
		return
	}
	s.g.d.State.Keep(s.talk, s.rec.r.Session, route.Keep{
		Who:  route.Who{ID: provider.AccountID(c.ID), Model: c.Model, Effort: c.Effort},
		Turn: s.a.env.Turn, At: now.Unix(), CacheRead: o.facts.Usage.CacheRead,
	})
}

// brokeOff forgets who answered the conversation, where that one's reply began and broke off.
func (s *service) brokeOff(c *trace.Candidate) {
	if s.talk != (state.Talk{}) {
		s.g.d.State.BrokeOff(s.talk, provider.AccountID(c.ID))
	}
}
