package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Spending a reset of an account: one at a time, never one twice.

// spendTime is how long a spending may take. Whoever wanted it may leave meanwhile: once it is
// asked for, what came of it has to be known.
const spendTime = 30 * time.Second

// take waits for the turn to spend a reset of the account.
func (s *sub) take(ctx context.Context) bool {
	select {
	case <-s.turn:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *sub) give() { s.turn <- struct{}{} }

// askOf is the id of the request that spends a reset: the same one however often it is asked for.
func (s *sub) askOf(reset string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.asks[reset]
	if id == "" {
		id = uuid4()
		s.asks[reset] = id
	}
	return id
}

// uuid4 makes a random UUID.
func uuid4() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// spending is what came of asking for a reset.
type spending struct {
	outcome provider.Outcome
	windows int
}

// renewed says whether the account's windows began anew by it.
func (s spending) renewed() bool {
	return s.outcome == provider.DidReset || s.outcome == provider.AlreadyWas
}

// words say what came of it.
func (s spending) words(id provider.AccountID) string {
	who := string(id)
	switch s.outcome {
	case provider.DidReset:
		return "spent a reset of " + who + ": " + counted(s.windows, "window") + " began anew"
	case provider.AlreadyWas:
		return "that reset of " + who + " was spent already"
	case provider.Nothing:
		return "nothing to reset: no window of " + who + " is used, and the reset is kept"
	case provider.NoCredit:
		return who + " has no reset in hand"
	}
	return who + ": " + string(s.outcome)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// spend spends one reset; the caller has the turn. An error leaves open whether it was spent.
func (g *Gateway) spend(ctx context.Context, s *sub, reset, request string) (spending, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spendTime)
	defer cancel()
	outcome, n, err := s.Resetter.Spend(ctx, reset, request, time.Now())
	if err != nil {
		g.lost(s, err)
		g.readAnew(s)
		return spending{}, errors.New(g.masker.Mask(err.Error()))
	}
	sp := spending{outcome, n}
	if sp.renewed() {
		g.renew(s)
	} else {
		g.readAnew(s)
	}
	return sp, nil
}

// renew takes in that the account's windows began anew: what was read before holds no more, and
// those who rested for want of allowance are back.
func (g *Gateway) renew(s *sub) {
	now := time.Now()
	s.renewedAt(now) // what is told from now on of what was asked before holds no more
	lifted := g.d.State.Renewed(s.id, now)
	s.renewedAt(time.Now()) // who planned meanwhile saw the windows of before
	for _, r := range lifted {
		g.tell(trace.Log{Time: now, Level: "info", Text: r.Key + " is back: a reset was spent"})
	}
	g.readAnew(s)
}

func (s *sub) renewedAt(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed = at
}

// readAnew drops a reading that is under way, and has the account read at once.
func (g *Gateway) readAnew(s *sub) {
	if s.Meter == nil {
		return
	}
	g.meter.Forget(s.id)
	g.meter.Refresh(s.id, time.Now())
}

// keep writes a spending down before the vendor hears of it: nothing that ends the process may
// have another one spent in its place.
func (g *Gateway) keep(ctx context.Context, s *sub, sp state.Spending) error {
	mark := g.d.State.Mark()
	g.d.State.Spend(s.id, sp)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	return g.d.State.Settle(ctx, mark)
}
