package state

import (
	"cmp"
	"slices"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// card is what a vendor told of an account beside its windows, and how the last look at it went.
type card struct {
	Plan    string
	Balance string
	Read    time.Time // of the last reading that told anything; zero = none
	Failed  string    // why the newest look told nothing, "" = it did
}

// Took is what a reading changed.
type Took struct {
	Lifted []trace.Rest // rests that it ended
	After  bool         // it came after a look that had failed
}

// Take takes in what one look at an account told: its windows as Read does, and its plan and
// balance. A word that is not told stays as it was told last. Share is from which on a window
// of the account is full.
func (s *Store) Take(id provider.AccountID, r provider.Reading, share float64, at time.Time) (took Took) {
	r = r.Tidy(at)
	s.change(func(e *edit) {
		c := e.cards[id]
		if at.Before(c.Read) {
			return
		}
		took.After = c.Failed != ""
		told := card{Plan: cmp.Or(r.Plan, c.Plan), Balance: cmp.Or(r.Balance, c.Balance), Read: at}
		e.card(id, told)
		e.toppedUp(id, c.Balance, r.Balance)
		e.inHand(id, &r)
		e.shut(id, r.Held)
		e.dirty[quotas] = true
		if len(r.Windows) == 0 {
			e.windowless(id)
		}
		took.Lifted = e.read(s, id, r.Windows, share, at)
	})
	return took
}

// Missed notes that a look at an account told nothing, and why. What was told before stands.
// It says whether that is news.
func (s *Store) Missed(id provider.AccountID, why string) (news bool) {
	if s.facts.Load().cards[id].Failed == why {
		return false
	}
	s.change(func(e *edit) {
		c := e.cards[id]
		news = c.Failed != why
		c.Failed = why
		e.card(id, c)
	})
	return news
}

// card replaces what is known of one account.
func (e *edit) card(id provider.AccountID, c card) {
	if !e.copied[3] {
		next := make(map[provider.AccountID]card, len(e.cards)+1)
		for k, v := range e.cards {
			next[k] = v
		}
		e.cards, e.copied[3] = next, true
	}
	e.cards[id] = c
	e.concerns(id)
}

// windowless takes in that an account was asked and has no windows: those that an asking told
// before are gone. What replies tell stands, for an asking may tell money alone.
func (e *edit) windowless(id provider.AccountID) {
	st := e.standing[id]
	left := slices.DeleteFunc(slices.Clone(st.Windows), func(w provider.Window) bool { return !w.Partial })
	if len(left) == len(st.Windows) {
		return
	}
	st.Windows, st.Told = left, route.Told(left)
	e.stand(id, st)
}

// read takes windows in, and returns the rests that they end.
func (e *edit) read(s *Store, id provider.AccountID, windows []provider.Window, share float64, at time.Time) []trace.Rest {
	st := e.standing[id]
	if at.Before(st.Read) {
		windows = unseen(st.Windows, windows)
	}
	if len(windows) == 0 {
		return nil
	}
	c := comparison{before: st.Windows, after: windows, share: share, now: at}
	lifted := e.lift(s, id, at, c.renewed)
	st.Windows = provider.TidyWindows(provider.Merge(st.Windows, windows), at)
	st.Told = route.Told(st.Windows)
	if at.After(st.Read) {
		st.Read = at
	}
	e.stand(id, st)
	e.dirty[quotas] = true
	return lifted
}

// tell fills in what a card says.
func (c card) tell(a *trace.Account) {
	a.Plan, a.Balance, a.ReadError = c.Plan, c.Balance, c.Failed
	if !c.Read.IsZero() {
		a.Read = &c.Read
	}
}
