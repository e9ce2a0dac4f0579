package state

import (
	"dev.magpie/gateway/route"
	"dev.magpie/provider"
)

// IsUnready says whether an account is known to have no secret.
func (s *Store) IsUnready(id provider.AccountID) bool {
	return s.facts.Load().standing[id].Unready != ""
}

// Standing returns how an account stands now.
func (s *Store) Standing(id provider.AccountID) route.Standing { return s.facts.Load().standing[id] }

// SetUnready notes why an account has no secret; "" is that it has one.
func (s *Store) SetUnready(id provider.AccountID, why string) {
	if s.facts.Load().standing[id].Unready == why {
		return
	}
	s.change(func(e *edit) {
		st := e.standing[id]
		st.Unready = why
		e.stand(id, st)
	})
}

// SetPrint notes the fingerprint of an account's secret. A secret that changed starts
// free: what rested or was counted under another one is dropped.
func (s *Store) SetPrint(id provider.AccountID, fingerprint string) {
	if s.facts.Load().standing[id].Print == fingerprint {
		return
	}
	s.change(func(e *edit) {
		st := e.standing[id]
		old := st.Print
		st.Print = fingerprint
		e.stand(id, st)
		if fingerprint == "" {
			return
		}
		e.undeny(id)
		for _, r := range e.restsOf(id) {
			if r.Print != "" && r.Print != fingerprint || r.Print == "" && old != "" {
				e.unrest(r.Key)
				e.forget(r.Key)
			}
		}
		if old == "" {
			return
		}
		for key := range e.past {
			if owns(id, key) {
				e.forget(key)
			}
		}
	})
}

// Print returns the fingerprint of an account's secret, "" while none is known.
func (s *Store) Print(id provider.AccountID) string { return s.facts.Load().standing[id].Print }
