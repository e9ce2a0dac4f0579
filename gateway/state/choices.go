package state

import (
	"strconv"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// maxUndo is how many changes can be taken back.
const maxUndo = 20

// change is one that the person made, and what was before it.
type change struct {
	words  string // what was done: "pause of codex/me"
	before []was
	lifted []trace.Rest
	chosen *Chosen // nil: not what changed
	talks  []talkWas
}

// was is how one account stood by the person's wish.
type was struct {
	id     provider.AccountID
	paused *trace.Paused
	pinned *trace.Pinned
}

// Pause keeps accounts from being asked until a time; zero is until they are resumed.
// It returns those for which that changed anything.
func (s *Store) Pause(ids []provider.AccountID, until, now time.Time) []provider.AccountID {
	return s.wish("pause", ids, now, func(st *route.Standing) bool {
		if p := st.PausedAt(now); p != nil && p.Until.Equal(until) {
			return false
		}
		st.Paused = &trace.Paused{Since: now, Until: until}
		return true
	})
}

// Resume ends pauses. It returns the accounts that were paused.
func (s *Store) Resume(ids []provider.AccountID, now time.Time) []provider.AccountID {
	return s.wish("resuming", ids, now, func(st *route.Standing) bool {
		had := st.PausedAt(now) != nil
		st.Paused = nil
		return had
	})
}

// Pin asks for an account first, or for it alone; the pin replaces one that it had. It
// returns the account if that changed anything.
func (s *Store) Pin(id provider.AccountID, pin trace.Pinned, now time.Time) []provider.AccountID {
	pin.Since = now
	return s.wish("pin", []provider.AccountID{id}, now, func(st *route.Standing) bool {
		if p := st.PinnedAt(now); p != nil {
			same := *p
			same.Since = now
			if same == pin {
				return false
			}
		}
		st.Pinned = &pin
		return true
	})
}

// Unpin takes pins away. It returns the accounts that were pinned.
func (s *Store) Unpin(ids []provider.AccountID, now time.Time) []provider.AccountID {
	return s.wish("unpinning", ids, now, func(st *route.Standing) bool {
		had := st.PinnedAt(now) != nil
		st.Pinned = nil
		return had
	})
}

// Wake ends the rests of accounts, those with single models too, and returns them.
func (s *Store) Wake(ids []provider.AccountID, now time.Time) []trace.Rest {
	var lifted []trace.Rest
	s.change(func(e *edit) {
		for _, id := range ids {
			e.allow(id)
			lifted = append(lifted, e.lift(s, id, now, func(string, trace.Rest) bool { return true })...)
		}
		if len(lifted) > 0 {
			s.push(change{words: "waking of " + these(e.ids), lifted: lifted})
		}
	})
	return lifted
}

// Undo takes back the last change that the person made in this run and was not taken
// back yet. Words say which, ids whom it concerns.
func (s *Store) Undo(now time.Time) (words string, ids []provider.AccountID, ok bool) {
	ids = s.change(func(e *edit) {
		n := len(s.undo) - 1
		if ok = n >= 0; !ok {
			return
		}
		last := s.undo[n]
		s.undo = s.undo[:n]
		words = "took back the " + last.words
		for _, w := range last.before {
			st := e.standing[w.id]
			st.Paused, st.Pinned = w.paused, w.pinned
			e.stand(w.id, st)
		}
		for _, r := range last.lifted {
			e.restore(s, r, now)
		}
		if last.chosen != nil {
			e.choose(last.chosen)
			for id := range e.standing {
				e.concerns(id)
			}
		}
		if len(last.talks) > 0 {
			s.keeps.restoreTalks(last.talks)
			e.dirty[affinity] = true
		}
		if len(last.before) > 0 {
			e.tidy(now)
			e.dirty[choices] = true
		}
	})
	return words, ids, ok
}

// restore puts a rest back that was ended by hand, unless it would be over or another stands.
func (e *edit) restore(s *Store, r trace.Rest, now time.Time) {
	for _, id := range e.owners(r.Key) {
		e.concerns(id)
	}
	if _, stands := e.rests[r.Key]; stands || !now.Before(r.Until) {
		return
	}
	s.gen++
	e.rest(r)
	e.remember(r.Key, Past{Kind: r.Why, Failures: r.Failures, Until: r.Until, Gen: s.gen, At: r.Since})
}

// wish changes how accounts stand by the person's wish, as one change to be taken back.
func (s *Store) wish(verb string, ids []provider.AccountID, now time.Time, set func(*route.Standing) bool) []provider.AccountID {
	var changed []provider.AccountID
	s.change(func(e *edit) {
		var before []was
		for _, id := range ids {
			st := e.standing[id]
			w := was{id: id, paused: st.PausedAt(now), pinned: st.PinnedAt(now)}
			if !set(&st) {
				continue
			}
			e.stand(id, st)
			changed = append(changed, id)
			before = append(before, w)
		}
		if len(changed) == 0 {
			return
		}
		s.push(change{words: verb + " of " + these(changed), before: before})
		e.tidy(now)
		e.dirty[choices] = true
	})
	return changed
}

func (s *Store) push(c change) {
	if len(s.undo) == maxUndo {
		copy(s.undo, s.undo[1:])
		s.undo = s.undo[:maxUndo-1]
	}
	s.undo = append(s.undo, c)
}

// tidy drops pauses and pins that have ended.
func (e *edit) tidy(now time.Time) {
	for id, st := range e.standing {
		paused, pinned := st.PausedAt(now), st.PinnedAt(now)
		if paused != st.Paused || pinned != st.Pinned {
			st.Paused, st.Pinned = paused, pinned
			e.stand(id, st)
		}
	}
}

func these(ids []provider.AccountID) string {
	if len(ids) == 1 {
		return string(ids[0])
	}
	return strconv.Itoa(len(ids)) + " accounts"
}
