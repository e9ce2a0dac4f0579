package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// A reset that a person spends: shown first, then spent, and it is the one that was shown.

// resettable finds the account that a command names, which has to have resets at all.
func (g *Gateway) resettable(who string) (*sub, error) {
	ids, err := g.subscription(who)
	if err != nil {
		return nil, err
	}
	s := g.live.Load().subs[ids[0]]
	if s == nil || s.Resetter == nil {
		return nil, badArgs("%s has no resets that could be spent", ids[0])
	}
	return s, nil
}

func vendorError502(err error) error {
	return &control.Error{Status: http.StatusBadGateway, Code: "vendor", Message: err.Error()}
}

// resetShown is the reset that would be spent, and what a person has to know of it.
func (g *Gateway) resetShown(ctx context.Context, s *sub) (provider.Reset, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, spendTime)
	defer cancel()
	all, err := s.Resetter.Resets(ctx, time.Now())
	if err != nil {
		g.lost(s, err)
		return provider.Reset{}, nil, vendorError502(masked{g, err})
	}
	if len(all) == 0 {
		return provider.Reset{}, nil, &control.Error{Status: http.StatusConflict, Code: "no_reset", Message: string(s.id) + " has no reset in hand"}
	}
	until := "it never runs out"
	if at := all[0].Expires; !at.IsZero() {
		until = "it runs out at " + at.UTC().Format("2006-01-02 15:04 UTC")
	}
	facts := []string{"reset " + all[0].ID, until, strconv.Itoa(len(all)) + " in hand"}
	now := time.Now()
	for _, w := range g.d.State.Windows(s.id) {
		if !w.Aside {
			facts = append(facts, w.Name+" "+strconv.FormatFloat(w.UsedAt(now), 'f', -1, 64)+"% used")
		}
	}
	return all[0], facts, nil
}

// masked is an error without secrets.
type masked struct {
	g   *Gateway
	err error
}

func (m masked) Error() string { return m.g.masker.Mask(m.err.Error()) }

func (g *Gateway) previewReset(ctx context.Context, c control.Command) (control.Effect, error) {
	s, err := g.resettable(c.Who)
	if err != nil {
		return control.Effect{}, err
	}
	_, facts, err := g.resetShown(ctx, s)
	if err != nil {
		return control.Effect{}, err
	}
	words := "spend a reset of " + string(s.id) + ", and that can't be undone: " + facts[1] + ", " + facts[2]
	if len(facts) > 3 {
		words += "; " + facts[3]
		for _, w := range facts[4:] {
			words += ", " + w
		}
	}
	return control.Effect{Class: control.Spends, Words: words, Facts: facts, Token: g.tokens.give(c, facts, time.Now())}, nil
}

// resetByHand spends the reset that was shown. Where another would be spent by now, none is.
func (g *Gateway) resetByHand(ctx context.Context, c control.Command, shown []string) (control.Done, error) {
	s, err := g.resettable(c.Who)
	if err != nil {
		return control.Done{}, err
	}
	if !s.take(ctx) {
		return control.Done{}, ctx.Err()
	}
	defer s.give()
	reset, facts, err := g.resetShown(ctx, s)
	if err != nil {
		return control.Done{}, err
	}
	if len(shown) < 3 || !slices.Equal(shown[:3], facts[:3]) {
		return control.Done{}, staleToken(control.Spends)
	}
	week := provider.UsedUp(g.d.State.Windows(s.id), time.Now())
	came, err := g.spend(ctx, s, reset.ID, s.askOf(reset.ID))
	now := time.Now()
	if err != nil {
		return control.Done{}, vendorError502(openError{err})
	}
	if came.outcome == provider.NoCredit {
		return control.Done{}, &control.Error{Status: http.StatusConflict, Code: "no_reset", Message: came.words(s.id)}
	}
	words := came.words(s.id)
	if came.renewed() && !week.IsZero() { // so that none is spent by itself for the same week
		mark := g.d.State.Mark()
		g.d.State.Spend(s.id, state.Spending{Week: week, Reset: reset.ID, Request: s.askOf(reset.ID), Done: true, At: now})
		words += g.settle(ctx, mark)
	}
	d := g.done(words, []provider.AccountID{s.id}, false, now)
	d.At = now
	g.tell(trace.Log{Time: now, Level: "info", Text: words})
	return d, nil
}

// openError says that it is open what came of a spending.
type openError struct{ err error }

func (e openError) Error() string {
	return e.err.Error() + "; whether it was spent is not known: the account is read again, and asking once more spends no second one"
}
