package gateway

import (
	"context"
	"slices"
	"time"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Resets that an account spends by itself: once for a week that is used up, where nobody else
// can answer, and before they run out.

const (
	lookSoon    = time.Minute      // after a look that found the week not used up
	lookLater   = 10 * time.Minute // after one that failed, or found nothing to spend
	sameWeek    = 10 * time.Minute // how far apart two readings of one week's end may lie
	resetLead   = 30 * time.Minute // before a reset runs out it is spent
	resetsIdle  = 6 * time.Hour    // between two looks at resets where none runs out
	resetsSoon  = 30 * time.Minute
	resetsLast  = 5 * time.Minute // within an hour of the end
	lookForTime = 4 * time.Second // for a reading on behalf of a request
)

// maySpendReset says whether the account may spend a reset by itself.
func (g *Gateway) maySpendReset(lv *live, id provider.AccountID) bool {
	a := lv.cat.Account(id)
	if a == nil {
		return false
	}
	_, may := g.d.State.Snapshot(lv.cat, time.Now()).MaySpend(a)
	return may
}

// resetFor spends a reset of an account on behalf of a request, if its week is used up. It
// says whether the account has room since a moment, and whether by a reset: requests that come
// at once ride on one spending.
func (g *Gateway) resetFor(ctx context.Context, lv *live, s *sub, since time.Time) (room, reset bool) {
	if s.Resetter == nil || s.Meter == nil || !g.maySpendReset(lv, s.id) || !s.take(ctx) {
		return false, false
	}
	defer s.give()
	if g.whoIsIn(s) { // their reset is not spent for what another has used
		return true, false
	}
	now := time.Now()
	switch {
	case s.renewedSince(since):
		return true, s.byReset()
	case s.looksAfter(now):
		return false, false
	}
	week, wait := g.usedUp(ctx, s, now)
	if week.IsZero() {
		s.lookNotBefore(now.Add(wait))
		return false, false
	}
	if !g.spendWeek(ctx, s, week) {
		s.lookNotBefore(time.Now().Add(lookLater))
		return false, false
	}
	return true, true
}

func (s *sub) looksAfter(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.lookAt)
}

func (s *sub) lookNotBefore(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookAt = at
}

// usedUp is the end of the account's week, zero where that is not used up; then it also says
// for how long to leave it at that. What was read a while ago is read again: a reset may have
// been spent elsewhere since, and one that is spent for nothing does not come back.
func (g *Gateway) usedUp(ctx context.Context, s *sub, now time.Time) (week time.Time, wait time.Duration) {
	ws := g.d.State.Windows(s.id)
	if week = provider.UsedUp(ws, now); !week.IsZero() && readSince(ws, now.Add(-lookSoon)) {
		return week, 0
	}
	ctx, cancel := context.WithTimeout(ctx, lookForTime)
	defer cancel()
	r, err := s.Meter.Read(ctx, now)
	if ctx.Err() != nil && err != nil {
		return time.Time{}, lookSoon
	}
	g.toldLeft(s.id, r, err, now)
	if err != nil {
		return time.Time{}, lookLater
	}
	return provider.UsedUp(r.Windows, now), lookSoon
}

// readSince says whether each window was read at a moment or later.
func readSince(ws []provider.Window, at time.Time) bool {
	return !slices.ContainsFunc(ws, func(w provider.Window) bool { return w.Read.Before(at) })
}

// spendWeek spends a reset for a week that is used up, unless one was. The caller has the turn.
func (g *Gateway) spendWeek(ctx context.Context, s *sub, week time.Time) bool {
	last := g.d.State.Spent(s.id)
	if last.Week.Sub(week).Abs() < sameWeek && last.Done {
		return false // this week had its own
	}
	sp := state.Spending{Week: week, Reset: last.Reset, Request: last.Request, At: time.Now()}
	if last.Done || last.Week.Sub(week).Abs() >= sameWeek { // else it is not known what came of that one
		reset, ok := g.firstReset(ctx, s)
		if !ok {
			return false
		}
		sp.Reset, sp.Request = reset.ID, s.askOf(reset.ID)
	}
	return g.spendByItself(ctx, s, sp, "its week is used up")
}

// firstReset is the reset that runs out first. Where the list can't be had none is chosen: the
// vendor is never left to.
func (g *Gateway) firstReset(ctx context.Context, s *sub) (provider.Reset, bool) {
	ctx, cancel := context.WithTimeout(ctx, spendTime)
	defer cancel()
	all, err := s.Resetter.Resets(ctx, time.Now())
	if err != nil {
		g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: string(s.id) + " spends no reset: " + err.Error()})
		return provider.Reset{}, false
	}
	if len(all) == 0 {
		return provider.Reset{}, false
	}
	return all[0], true
}

// spendByItself spends a reset that is written down, and says whether the windows began anew.
func (g *Gateway) spendByItself(ctx context.Context, s *sub, sp state.Spending, why string) bool {
	who, before := string(s.id), g.d.State.Spent(s.id)
	if !before.Done && before.Request == sp.Request {
		before = state.Spending{} // what came of that one will be known now
	}
	if err := g.keep(ctx, s, sp); err != nil {
		g.d.State.Spend(s.id, before)
		g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: who + " spends no reset, for that could not be written down first: " + err.Error()})
		return false
	}
	came, err := g.spend(ctx, s, sp.Reset, sp.Request)
	switch {
	case err != nil:
		g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: who + ": " + err.Error() + "; whether it was spent is not known yet"})
		return false
	case !came.renewed():
		g.d.State.Spend(s.id, before)
		g.tell(trace.Log{Time: time.Now(), Level: "info", Text: came.words(s.id)})
		return false
	}
	sp.Done, sp.At = true, time.Now()
	if err := g.keep(ctx, s, sp); err != nil {
		g.tell(trace.Log{Time: sp.At, Level: "warn", Text: who + ": its spent reset is not on disk yet: " + err.Error()})
	}
	g.tell(trace.Log{Time: sp.At, Level: "info", Text: came.words(s.id) + ", by itself: " + why})
	return true
}

// unheld spends a reset where a request could go to nobody and one is held only for its credits.
// It says whether the request is to be planned again.
func (s *service) unheld(p *planning, now time.Time) bool {
	if p == nil || len(p.Order) > 0 || s.a.only != "" || p.Pinned != "" || s.a.counting() {
		return false
	}
	for i := range p.Left {
		if one := s.lv.subs[provider.AccountID(p.Left[i].ID)]; one != nil && s.g.whoIsIn(one) {
			return true
		}
	}
	s.spent = true
	if s.resetOne(p.Left, func(c *trace.Candidate) (time.Time, bool) { return now, c.Why.Code == trace.WhyNoCredits }) != "" {
		return true
	}
	snap := s.g.d.State.Snapshot(s.lv.cat, time.Now())
	return slices.ContainsFunc(p.Left, func(c trace.Candidate) bool { // a reading that came meanwhile found room
		at, _ := snap.Held(s.lv.cat.Account(provider.AccountID(c.ID)), c.Model)
		return c.Why.Code == trace.WhyNoCredits && at == 0
	})
}

// another puts one more candidate behind the last: an account that was refused for its
// allowance, or held for its credits, and that spent a reset. It does so once for each request.
func (s *service) another() bool {
	if s.spent || s.pinned || s.a.counting() || s.gone() {
		return false
	}
	tried := refusedAlone(s.fails)
	if len(tried) == 0 {
		return false
	}
	s.spent = true
	planned := s.snap.Now
	all := append(slices.Clone(s.order[:s.at+1]), s.left...)
	who := s.resetOne(all, func(c *trace.Candidate) (time.Time, bool) {
		began, was := tried[c.ID]
		if !was {
			began = planned
		}
		return began, was || c.Why.Code == trace.WhyNoCredits
	})
	if who == "" {
		return false
	}
	p, _ := s.g.plan(s.lv, s.a, time.Now())
	if p == nil {
		return false
	}
	i := slices.IndexFunc(p.Order, func(c trace.Candidate) bool { return c.ID == who })
	if i < 0 {
		return false
	}
	s.order = append(slices.Clone(s.order[:s.at+1]), p.Order[i])
	s.at, s.again = s.at+1, 0
	return true
}

// refusedAlone says who was refused for the allowance, and when each was asked; none where anything
// else failed too. Who was not asked for what came meanwhile counts as little as who was left out.
func refusedAlone(fails []outcome) map[string]time.Time {
	tried := map[string]time.Time{}
	for i := range fails {
		switch o := &fails[i]; {
		case o.since:
		case o.verdict.Kind != trace.Quota:
			return nil
		default:
			tried[o.of.ID] = o.began
		}
	}
	return tried
}

// resetOne spends a reset of the first candidate that has its windows begin anew by that, and
// returns who has room now, "" for nobody. Which tells those that come into question, and since
// when a reset helps them.
func (s *service) resetOne(all []trace.Candidate, which func(c *trace.Candidate) (since time.Time, ok bool)) string {
	seen := map[string]bool{}
	for i := range all {
		c := &all[i]
		one := s.lv.subs[provider.AccountID(c.ID)]
		since, ok := which(c)
		if one == nil || !ok || seen[c.ID] {
			continue
		}
		seen[c.ID] = true
		room, reset := s.g.resetFor(s.ctx, s.lv, one, since)
		if reset {
			s.reset = c.ID
		}
		if room {
			return c.ID
		}
	}
	return ""
}

// tellReset notes on a try that a reset was spent for it.
func (s *service) tellReset(c *trace.Candidate) {
	if s.reset != c.ID {
		return
	}
	s.reset = ""
	s.rec.try(func(t *trace.Try) { t.Reset = true })
	s.rec.tell()
}

// checkResets spends a reset that is about to run out, if it gives anything back.
func (g *Gateway) checkResets(lv *live, s *sub, now time.Time) {
	s.mu.Lock()
	due := !now.Before(s.checkAt)
	s.mu.Unlock()
	if !due || s.Resetter == nil || g.d.State.IsUnready(s.id) || !g.maySpendReset(lv, s.id) || !s.take(g.ctx) {
		return
	}
	defer s.give()
	next := now.Add(resetsSoon)
	ctx, cancel := context.WithTimeout(g.ctx, spendTime)
	defer cancel()
	all, err := s.Resetter.Resets(ctx, now)
	switch {
	case err != nil:
		g.lost(s, err)
	case len(all) == 0 || all[0].Expires.IsZero():
		next = now.Add(resetsIdle)
	default:
		next = g.checkReset(ctx, s, all[0], now)
	}
	s.mu.Lock()
	s.checkAt = next
	s.mu.Unlock()
}

// checkReset looks at the reset that runs out first, and returns when to look again.
func (g *Gateway) checkReset(ctx context.Context, s *sub, reset provider.Reset, now time.Time) time.Time {
	ws := g.d.State.Windows(s.id)
	lead := reset.Expires.Add(-resetLead)
	held := !now.Before(lead)
	if free := provider.FullUntil(ws, "", 100, now); free.After(reset.Expires) {
		held = true // it would not be free before the reset is gone
	}
	if held && reset.Expires.After(now) {
		began := time.Now()
		r, err := s.Meter.Read(ctx, began)
		g.toldLeft(s.id, r, err, began)
		if err == nil && provider.Touched(r.Windows, now) {
			g.spendByItself(ctx, s, state.Spending{
				Week: g.d.State.Spent(s.id).Week, Reset: reset.ID, Request: s.askOf(reset.ID), At: now,
			}, "it would have run out at "+reset.Expires.UTC().Format("2006-01-02 15:04 UTC"))
		}
		return now.Add(resetsLast)
	}
	if left := lead.Sub(now); left <= time.Hour-resetLead {
		return now.Add(min(left, resetsLast))
	}
	return now.Add(resetsSoon)
}
