package state

import (
	"slices"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Accounts tells how every key and account stands, in the config's order.
func (s *Store) Accounts(cat *provider.Catalog, now time.Time) []trace.Account {
	f := s.facts.Load()
	all := cat.AllAccounts()
	told := make([]trace.Account, len(all))
	for i, a := range all {
		told[i] = s.account(f, cat, a, now)
	}
	if len(f.choosing().Order) > 0 {
		slices.SortStableFunc(told, func(a, b trace.Account) int { return a.Place - b.Place })
	}
	return told
}

// place is where an account stands among all: its provider's keep their places among them,
// in the order that the person chose.
func (f *facts) place(cat *provider.Catalog, a *provider.Account) int {
	order := f.choosing().Order[a.Provider]
	p := cat.Provider(a.Provider)
	if len(order) == 0 || p == nil || len(p.Accounts) == 0 {
		return a.Place
	}
	at := slices.Index(order, a.ID)
	if at < 0 {
		at = len(order)
		for _, mate := range p.Accounts {
			if mate == a {
				break
			}
			if !slices.Contains(order, mate.ID) {
				at++
			}
		}
	}
	return p.Accounts[0].Place + at
}

// Account tells how one key or account stands; ok is false when the catalogue has none of that id.
func (s *Store) Account(cat *provider.Catalog, id provider.AccountID, now time.Time) (told trace.Account, ok bool) {
	a := cat.Account(id)
	if a == nil {
		return trace.Account{}, false
	}
	return s.account(s.facts.Load(), cat, a, now), true
}

func (s *Store) account(f *facts, cat *provider.Catalog, a *provider.Account, now time.Time) trace.Account {
	st := f.standing[a.ID]
	told := trace.Account{
		ID: string(a.ID), Provider: a.Provider, Name: a.Name, Kind: string(a.Kind),
		Windows: st.Told, Paused: st.PausedAt(now), Pinned: st.PinnedAt(now),
		Cap: f.capped(a), Error: unready(a, st), Place: f.place(cat, a), Served: s.last.of(a.ID),
	}
	f.cards[a.ID].tell(&told)
	snap := s.Snapshot(cat, now)
	if a.Kind == provider.KindAccount {
		credits, resets := snap.MaySpend(a)
		told.Credits, told.AutoReset, told.Resets = &credits, &resets, st.Resets
	}
	if told.Windows == nil {
		told.Windows = []trace.Window{}
	}
	told.Used, told.Known = fullest(st.Windows, now)
	for _, r := range f.restsOf(a.ID) {
		switch {
		case !route.InForce(r, st.Print, now):
		case r.Key == string(a.ID):
			told.Rest = &r
		default:
			told.Rests = append(told.Rests, r)
		}
	}
	if d, denied := f.denied[a.ID]; denied && told.Error == "" {
		told.Denied = &d
	}
	off := a.Off
	if p := cat.Provider(a.Provider); p != nil {
		off, told.ReadOnly = off || p.Off, p.ReadOnly
	}
	held, _ := snap.Held(a, "")
	told.State = stateOf(&told, off, held > 0)
	if st.ShutAt(now) && (told.State == trace.Fine || told.State == trace.Low) {
		told.State = trace.Spent
	}
	if d := told.Denied; d != nil && (told.State == turnedAway(d) && told.Rest == nil || told.State == trace.Resting && told.Rest.Why == trace.Auth && d.Why == trace.Auth) {
		told.Error = denial(a, told.Denied)
	}
	return told
}

func unready(a *provider.Account, st route.Standing) string {
	if st.Unready != "" {
		return st.Unready
	}
	return a.Unready
}

// stateOf is the one word for how an account stands; what keeps it from being asked goes first.
func stateOf(a *trace.Account, off, held bool) trace.State {
	switch {
	case off:
		return trace.Off
	case a.Error != "":
		return trace.Unready
	case a.Paused != nil:
		return trace.Paused_
	case held:
		return trace.Held
	case a.Rest != nil && (a.Rest.Why == trace.Credit || a.Rest.Why == trace.Quota):
		return trace.Spent
	case a.Rest != nil:
		return trace.Resting
	case a.Denied != nil:
		return turnedAway(a.Denied)
	case !a.Known:
		return trace.Fine
	}
	return trace.State(provider.TierOf(a.Used))
}

// turnedAway is how an account stands that its vendor turns away and that does not rest for it.
func turnedAway(d *trace.Denied) trace.State {
	if d.Why == trace.Credit {
		return trace.Spent
	}
	return trace.Unready
}

// fullest is the share used of the fullest window, whichever models it counts.
func fullest(windows []provider.Window, now time.Time) (used float64, known bool) {
	for i := range windows {
		w := &windows[i]
		if w.Aside {
			continue
		}
		known = true
		used = max(used, w.UsedAt(now))
	}
	return used, known
}
