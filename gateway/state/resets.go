package state

import (
	"maps"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Spending is the last reset that an account spent, or was about to spend, by itself.
type Spending struct {
	Week    time.Time `json:"week"`           // the end of the week that was used up
	Reset   string    `json:"reset"`          // the vendor's id of it
	Request string    `json:"request"`        // of the spending: the same one is never two
	Done    bool      `json:"done,omitempty"` // what came of it is known
	At      time.Time `json:"at"`
}

// Spent returns an account's last spending, the zero one where there is none.
func (s *Store) Spent(id provider.AccountID) Spending { return s.facts.Load().spent[id] }

// Spend keeps a spending; the zero one is none. It has to be on disk (Settle) before the vendor hears of it, or a
// restart could spend another.
func (s *Store) Spend(id provider.AccountID, sp Spending) {
	s.change(func(e *edit) {
		e.ownSpent()
		if e.spent[id] = sp; sp == (Spending{}) {
			delete(e.spent, id)
		}
		e.dirty[choices] = true
	})
}

func (e *edit) ownSpent() {
	if e.copied[4] {
		return
	}
	if e.copied[4] = true; e.spent == nil {
		e.spent = map[provider.AccountID]Spending{}
		return
	}
	e.spent = maps.Clone(e.spent)
}

// Renewed takes in that an account's windows began anew, for a reset was spent: what was read
// before holds no more, and neither do the rests that waited for allowance. It returns those.
func (s *Store) Renewed(id provider.AccountID, now time.Time) (lifted []trace.Rest) {
	s.change(func(e *edit) {
		lifted = e.lift(s, id, now, func(_ string, r trace.Rest) bool { return r.Why == trace.Quota || r.By == trace.ByWindow })
		st := e.standing[id]
		st.Windows, st.Told, st.Read, st.Shut = nil, nil, time.Time{}, false
		if r := st.Resets; r != nil {
			left := *r
			left.Count, left.Until = max(0, left.Count-1), time.Time{}
			st.Resets = &left
		}
		e.stand(id, st)
		c := e.cards[id]
		c.Read = time.Time{}
		e.card(id, c)
		e.dirty[quotas] = true
	})
	return lifted
}

// Another takes in that an account's sign-in is somebody else's now: what was told of the one
// before says nothing of this one.
func (s *Store) Another(id provider.AccountID) {
	s.change(func(e *edit) {
		st := e.standing[id]
		st.Windows, st.Told, st.Read, st.Shut, st.Resets = nil, nil, time.Time{}, false, nil
		e.stand(id, st)
		e.card(id, card{})
		e.dirty[quotas] = true
	})
}

// shut takes in whether an account's vendor answers nothing.
func (e *edit) shut(id provider.AccountID, shut bool) {
	if st := e.standing[id]; st.Shut != shut {
		st.Shut = shut
		e.stand(id, st)
	}
}

// inHand takes in what a reading told of an account's resets.
func (e *edit) inHand(id provider.AccountID, r *provider.Reading) {
	if r.Resets == nil {
		return
	}
	st := e.standing[id]
	st.Resets = &trace.Resets{Count: r.Resets.Count, Until: r.Resets.Until}
	e.stand(id, st)
}
