package gateway

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"dev.magpie/gateway/lane"
	"dev.magpie/gateway/redact"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// service is the life of one request: read, plan, try, tell. What each request needs once is
// part of it, in one piece of memory.
type service struct {
	g    *Gateway
	lv   *live
	a    *ask
	rec  record
	out  reply
	ctx  context.Context // ends when the agent leaves
	call call
	snap *route.Snapshot
	pick string // how hard the turn shall think, by its group

	target provider.Target
	talk   state.Talk // the conversation; none of a request that is no part of one
	order  []trace.Candidate
	left   []trace.Candidate // who was left out of the plan
	pinned bool              // to one account, or to some
	at     int
	again  int       // how often the last candidate was asked once more
	fails  []outcome // of this request's tries
	gave   []string  // the full ones that gave way to another

	asking     wire.Protocol               // the API of the try that is made
	refreshed  map[provider.AccountID]bool // whose secret was fetched anew
	creds      map[provider.AccountID]provider.Credential
	reset      string                            // the id of the candidate whose reset was spent for this request, and that was not asked since
	spent      bool                              // a reset was thought of: once for each request
	mends      map[string]*mending               // by candidate: what its request is sent without
	empties    map[string]int                    // by candidate: replies that said nothing
	dark       map[[sha256.Size]byte]*blindError // what could not be described: nobody is asked twice
	media      map[string]fetched                // by URL: what was fetched
	mediaBytes int
	sent       []byte        // the body of the last try
	vault      *redact.Vault // of a request that was masked
	one        try           // the first: most requests make no other
}

// serve answers one ask.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, a *ask) {
	lv := g.live.Load()
	s := &service{g: g, lv: lv, a: a, rec: g.record(a), ctx: r.Context()}
	rec := &s.rec
	refuse := func(ref *wire.Refusal) {
		rec.refuse(ref)
		rec.name(w)
		writeRefusal(w, a.api, ref)
	}
	if !g.calls.begin(rec.r.ID, &s.call) && a.inner == "" { // what a request under way asks still belongs to it
		refuse(&wire.Refusal{Status: http.StatusServiceUnavailable, Code: "shutting_down", RetryAfter: drainRetry, Words: "magpie is shutting down and takes no new requests"})
		return
	}
	defer g.calls.end(rec.r.ID)
	if ref := a.read(r, lv.cfg.BodyLimit); ref != nil {
		if ref.Status == http.StatusRequestEntityTooLarge {
			w.Header().Set("Connection", "close") // the rest of the body is not read
		}
		rec.took(a)
		refuse(ref)
		return
	}
	rec.took(a)
	if ref := g.secretModel(a.model); ref != nil {
		refuse(ref)
		return
	}
	if ref := s.plan(); ref != nil {
		refuse(ref)
		return
	}
	s.mask()
	s.out.to(w, a, rec.r.ID)
	if s.vault != nil {
		s.out.restore(s.vault, a)
	}
	if a.door == provider.Count && s.counted() {
		s.out.endRestore()
		return
	}
	s.run()
	s.out.endRestore()
	if s.out.isShort() {
		panic(http.ErrAbortHandler) // net/http's own way to break a connection off
	}
}

// secretModel is what a request is told whose model is a key, nil for one that is none.
func (g *Gateway) secretModel(model string) *wire.Refusal {
	if !g.looksSecret(model) {
		return nil
	}
	return &wire.Refusal{Status: http.StatusBadRequest, Param: "model", Words: "the model's name looks like a key, so nothing was sent: see which setting holds the model and which the key"}
}

// looksSecret says whether a model's name, or a part of it, is a key: where two settings
// were mixed up, a vendor should not read it, nor the trace tell it.
func (g *Gateway) looksSecret(model string) bool {
	if len(model) < 16 || g.masker.Mask(model) == model {
		return false
	}
	for part := range strings.SplitSeq(model, "/") {
		if g.masker.Mask(part) != part {
			return true
		}
	}
	return false
}

// plan resolves the asked name and decides whom to ask.
func (s *service) plan() *wire.Refusal {
	s.firstReadings()
	now := time.Now()
	p, ref := s.g.plan(s.lv, s.a, now)
	if ref != nil && s.unheld(p, now) {
		p, ref = s.g.plan(s.lv, s.a, time.Now())
	}
	if ref != nil && ref.Code == route.CodeNoAPI && s.a.sums() {
		p, ref = s.g.plan(s.lv, s.a, time.Now())
	}
	for range ruleRounds {
		if p == nil || ref != nil || p.effects.Ask == nil {
			break
		}
		s.classify(p.effects.Ask, now)
		p, ref = s.g.plan(s.lv, s.a, now)
	}
	if p != nil {
		call := &p.call
		s.carryOut(&p.effects, now)
		s.pick = picked(p.Rule)
		s.rec.r.Effort = call.Effort
		s.target = call.Target
		s.rec.planned(&s.target, &p.Plan)
		s.order, s.snap, s.talk = p.Order, p.snap, p.talk
		if call.Compact && ruledBy(s.lv.catalog(), p.Rule) { // it is no turn of the conversation's: it has a model of its own
			s.talk = state.Talk{}
		}
		s.left, s.pinned = p.Left, p.Pinned != "" || s.a.only != ""
	}
	return ref
}

// ruleRounds is how many classifiers a request asks at the most: of its group, and of those in it.
const ruleRounds = 8

// picked is how hard the turn shall think, by the first group in the chain that says so.
func picked(r *trace.Rule) string {
	for ; r != nil; r = r.Inner {
		if r.Pick != "" {
			return r.Pick
		}
	}
	return ""
}

// planning is a plan with what it was made of, and what carrying it out changes.
type planning struct {
	trace.Plan
	call    route.Call
	effects route.Effects
	snap    *route.Snapshot
	talk    state.Talk
}

// plan is the one planner: requests, explain and the screen's "next" pass here.
func (g *Gateway) plan(lv *live, a *ask, now time.Time) (*planning, *wire.Refusal) {
	target, bad := lv.catalog().ResolveFor(a.agent, a.model, lv.fetched())
	if bad != nil {
		return nil, fromProvider(lv.unknown(bad))
	}
	p := &planning{call: route.Call{
		Target: target, Agent: a.agent, Protocol: a.api, Own: a.door != provider.Generate && a.door != provider.Stream && a.door != provider.Count || a.tail != "",
	}}
	call := &p.call
	if a.embeds() {
		call.Also = embedsToo[a.api]
	}
	p.snap = g.snapshot(lv, now)
	if a.only != "" {
		id, ref := named(lv.cat, a.only, p.snap, call)
		if ref != nil {
			return nil, ref
		}
		call.Only = id
	}
	if ref := g.madeBy(a, call); ref != nil {
		return nil, ref
	}
	p.talk = g.recall(a, p.snap, call, now)
	g.turnFacts(lv, a, call, now)
	p.Plan, p.effects = g.decide(p.snap, call, a)
	ref := route.Refuse(p.Plan, *call)
	if !a.look {
		g.wantLeft(lv, p.Order, now)
		g.wantSubs(lv, &p.Plan, now)
	}
	if a.counting() {
		p.Order = withoutFallbacks(p.Order)
	}
	if ref != nil {
		return p, fromRoute(ref, a, now)
	}
	return p, nil
}

// decide makes the plan of a request. One that is only looked at, and one that only counts,
// takes nobody's turn.
func (g *Gateway) decide(snap *route.Snapshot, call *route.Call, a *ask) (trace.Plan, route.Effects) {
	if a.look || a.counting() {
		return route.Plan(snap, *call), route.Effects{}
	}
	defer g.nextSoon()
	return g.d.State.Decide(snap, *call)
}

func quoteShort(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return "\"" + strings.ToValidUTF8(s, "?") + "\""
}

// withoutFallbacks keeps to the asked model: another counts tokens in another way.
func withoutFallbacks(order []trace.Candidate) []trace.Candidate {
	var out []trace.Candidate
	for i := range order {
		if !order[i].Fallback {
			out = append(out, order[i])
		}
	}
	return out
}

// madeBy sends a request that goes on from an earlier reply to whoever made that, or
// says in the API's own words that it is not found, so that the agent sends everything.
func (g *Gateway) madeBy(a *ask, call *route.Call) *wire.Refusal {
	switch {
	case a.api == wire.Responses && a.env.Previous != "":
		if id, ok := g.d.State.Made(a.env.Previous); ok {
			call.Made = id
			return nil
		}
		return &wire.Refusal{
			Status: http.StatusBadRequest, Code: "previous_response_not_found", Param: "previous_response_id",
			Words: "Previous response with id " + quoteShort(a.env.Previous) + " not found: no candidate here made it. Send the whole conversation in input, without previous_response_id.",
		}
	case a.api == wire.Messages && a.env.Thread == "continue":
		if id, ok := g.d.State.Made(a.env.ThreadPrev); ok {
			call.Made = id
			return nil
		}
		return &wire.Refusal{
			Status: http.StatusNotFound, Detail: "thread_not_found",
			Words: "thread not found: no candidate here made the message that it goes on from. Send the whole conversation with thread {\"type\":\"create\"}.",
		}
	}
	return nil
}

// run tries the candidates until one answered, none is left, or the agent is gone.
func (s *service) run() {
	defer s.out.stop()
	for {
		s.giveWay()
		slot, full, free := s.slot()
		c := &s.order[s.at]
		s.rec.began(c, s.repeats(c), full, time.Now())
		s.tellReset(c)
		o, known := s.ask(c, slot, free)
		o.of = c
		if o.verdict == nil || o.passed || o.gone {
			s.finish(c, &o)
			return
		}
		now := time.Now()
		if s.a.counting() && uncounted(&o) {
			s.rec.ended(&o, nil, now)
			s.estimate()
			return
		}
		if !o.unasked() {
			s.g.limited(s.lv.cat, c, o.verdict, now)
			s.g.staleLeft(c, o.verdict)
			s.g.staleSub(s.lv, c, o.verdict)
		}
		d := s.decide(&o)
		past := s.outdated(c, &o)
		switch {
		case o.unasked(): // so nothing was refused
		case o.verdict.Kind == trace.Auth && s.freshSecret(c):
			d = decision{do: stepAgain}
		case s.emptied(c, &o), s.mended(c, &o):
			d = decision{do: stepMended}
		case !known:
			s.levelRefused(c, &o)
			if !past {
				s.g.denied(c, &o, now)
			}
		}
		var rest *trace.Rest
		if d.rest && !past {
			rest = s.g.rest(s.lv.cat, c, &o, now)
		}
		s.rec.ended(&o, rest, now)
		s.fails = append(s.fails, o)
		if !s.follow(d) && !s.another() {
			s.giveUp()
			return
		}
	}
}

// ask has one try made at a candidate, once there is a slot for it. known says that it was
// answered from what is remembered, and nobody was asked.
func (s *service) ask(c *trace.Candidate, slot lane.Slot, free bool) (o outcome, known bool) {
	last := s.isLast()
	if o, known = s.pausedSince(c); !known {
		o, known = s.unproven(c, last)
	}
	if !known {
		o, known = s.unleveled(c)
	}
	if known {
		slot.Unused()
		o.began = time.Now()
		return o, true
	}
	t := s.newTry(c, last)
	t.settle()
	if t.h.describes { // or what the describer is asked could wait for the slot that is kept for its answer
		slot.Unused()
		free = false
	}
	o.began = time.Now()
	if bad := t.write(); bad != nil {
		if free {
			slot.Unused()
		}
		bad.began = o.began
		return *bad, false
	}
	if !free {
		if slot, free = s.g.lanes.Try(c.ID); !free {
			var turned *outcome
			if slot, turned = s.queue(c); turned != nil {
				turned.began = time.Now()
				return *turned, false
			}
		}
		if o, known = s.changedSince(c); known {
			slot.Unused()
			o.began = time.Now()
			return o, true
		}
	}
	defer slot.Leave()
	began := time.Now()
	o = t.do()
	o.began = began
	return o, false
}

// repeats says whether the candidate was asked before, and is asked once more.
func (s *service) repeats(c *trace.Candidate) bool {
	return s.again > 0 || s.mends[c.ID] != nil || s.empties[c.ID] > 0
}

// freshSecret says whether the secret of a refused candidate is another by now: a file or
// a command may hand out a new one. It is looked at once for each candidate.
func (s *service) freshSecret(c *trace.Candidate) bool {
	acct := s.lv.cat.Account(provider.AccountID(c.ID))
	if acct != nil && s.lv.subs[acct.ID] != nil && !s.refreshed[acct.ID] {
		if s.refreshed == nil {
			s.refreshed = map[provider.AccountID]bool{}
		}
		s.refreshed[acct.ID] = true
		return s.freshToken(s.lv.subs[acct.ID])
	}
	if acct == nil || acct.Secret.File == "" && acct.Secret.Command == "" || s.refreshed[acct.ID] {
		return false
	}
	if s.refreshed == nil {
		s.refreshed = map[provider.AccountID]bool{}
	}
	s.refreshed[acct.ID] = true
	old, _ := s.g.secrets.Load(acct.ID)
	fresh, err := s.g.d.Secrets.Value(s.ctx, acct)
	return err == nil && old != any(fresh)
}

// isLast says whether no other candidate is left behind the one that is asked.
func (s *service) isLast() bool {
	m := s.lv.cfg.MaxAttempts
	return s.at == len(s.order)-1 || m > 0 && s.asked() >= m-1
}

// follow does what was decided; false = nothing more to do.
func (s *service) follow(d decision) bool {
	switch d.do {
	case stepNext:
		s.order, s.at, s.again = d.order, s.at+1, 0
		return true
	case stepAgain:
		s.again++
		return s.pause(d.wait)
	case stepMended:
		return !s.gone()
	case stepStop:
	}
	return false
}

// pause waits between two tries of one candidate; false when the agent left meanwhile.
func (s *service) pause(d time.Duration) bool {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.call.trying(cancel)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return !s.gone()
	case <-ctx.Done():
		return false
	}
}

// gone says whether nobody waits for the reply any more: the agent left, or a person ended it.
func (s *service) gone() bool { return s.ctx.Err() != nil || s.call.cancelled.Load() }
