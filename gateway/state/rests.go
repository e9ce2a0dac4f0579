package state

import (
	"slices"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// maxPast bounds the rests and counts that are kept: agents may ask for any model.
const maxPast = 1024

// forgetAfter is how long after its end a rest's count may still matter when room is needed.
const forgetAfter = time.Hour

// Past is what is remembered of the failures of one rest key or model rest id. The
// zero value is an unblemished one.
type Past struct {
	Kind     trace.Kind // of the last rest
	Failures int        // in a row
	Until    time.Time  // end of the last rest, zero = none
	At       time.Time  // of the last failure
	Gen      uint64     // changes with every change; PutRest compares it
}

// Past returns what is remembered of a key's failures.
func (s *Store) Past(key string) Past { return s.facts.Load().past[key] }

// PutRest sets a rest and the failures in a row that it carries, if nothing was changed
// under its key since gen was read. When something was, it says no: read Past again.
func (s *Store) PutRest(r trace.Rest, gen uint64) bool {
	ok := false
	s.change(func(e *edit) {
		if ok = e.past[r.Key].Gen == gen; !ok {
			return
		}
		s.gen++
		e.prune(r.Since)
		for _, id := range e.owners(r.Key) {
			e.concerns(id)
		}
		count := Past{Kind: r.Why, Failures: r.Failures, Until: r.Until, Gen: s.gen, At: r.Since}
		if old, stands := e.rests[r.Key]; stands && outlasts(old, r) {
			count.Until = old.Until
		} else {
			e.rest(r)
		}
		e.remember(r.Key, count)
	})
	return ok
}

// outlasts says whether a rest that stands, with an end that the vendor named, is longer
// than a new one. A short one must not bring a spent account back early.
func outlasts(old, r trace.Rest) bool {
	return old.By.Kept() && old.Until.After(r.Until) && old.Until.After(r.Since) && (old.Print == "" || old.Print == r.Print)
}

// prune drops ended rests, and counts when there are too many of them.
func (e *edit) prune(now time.Time) {
	for key, r := range e.rests {
		if !now.Before(r.Until) {
			e.unrest(key)
		}
	}
	if len(e.past) < maxPast {
		return
	}
	keys := make([]string, 0, len(e.past))
	for key := range e.past {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return e.past[a].Until.Compare(e.past[b].Until) })
	for i, key := range keys {
		if i >= len(keys)/4 && e.past[key].Until.Add(forgetAfter).After(now) {
			return
		}
		e.forget(key)
		if _, stands := e.rests[key]; stands {
			e.unrest(key)
		}
	}
}

// Answered notes that a key answered for a model: what failed before began is forgotten
// and rests neither any more. Key is its rest key, one the model rest id. Began is when
// the vendor began to answer, so that a long reply says nothing against a rest set
// meanwhile. It costs next to nothing while nothing stands.
func (s *Store) Answered(key, one string, began time.Time) {
	id := provider.AccountID(key)
	s.last.note(id, began)
	if f := s.facts.Load(); !f.stands(key, began) && !f.stands(one, began) && !f.opens(id, began) && !f.takes(id, began) {
		return
	}
	s.change(func(e *edit) {
		if e.takes(id, began) {
			e.undeny(id)
		}
		if e.opens(id, began) {
			e.shut(id, false)
			e.dirty[quotas] = true
		}
		for _, k := range []string{key, one} {
			if !e.stands(k, began) {
				continue
			}
			s.gen++
			e.forget(k)
			if _, rested := e.rests[k]; rested {
				e.unrest(k)
				e.concerns(id)
			}
		}
	})
}

// opens says whether an answer that began at a moment belies what was read before of an account: that
// its vendor answers nothing.
func (f *facts) opens(id provider.AccountID, began time.Time) bool {
	return f.standing[id].Shut && began.After(f.cards[id].Read)
}

// stands says whether anything is held against the key from before a moment.
func (f *facts) stands(key string, before time.Time) bool {
	p, counted := f.past[key]
	r, rested := f.rests[key]
	switch {
	case counted && p.At.After(before), rested && r.Since.After(before):
		return false
	}
	return counted || rested
}

// lift ends the rests of one account that match, and lets the next failure grow from where they were.
func (e *edit) lift(s *Store, id provider.AccountID, now time.Time, match func(model string, r trace.Rest) bool) []trace.Rest {
	var lifted []trace.Rest
	for _, r := range e.restsOf(id) {
		if !now.Before(r.Until) || !match(modelOf(id, r.Key), r) {
			continue
		}
		lifted = append(lifted, r)
		e.unrest(r.Key)
		e.concerns(id)
		s.gen++
		p := e.past[r.Key]
		p.Until, p.Gen = now, s.gen
		e.remember(r.Key, p)
	}
	return lifted
}

// restsOf returns the rests of an account, the whole one first, then by model.
func (f *facts) restsOf(id provider.AccountID) []trace.Rest {
	if len(f.rests) == 0 {
		return nil
	}
	var found []trace.Rest
	for key, r := range f.rests {
		if owns(id, key) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b trace.Rest) int { return strings.Compare(a.Key, b.Key) })
	return found
}

// owns says whether a rest key is the account's or that of one of its models. An
// account's name holds no slash, so what follows one is a model.
func owns(id provider.AccountID, key string) bool {
	rest, ok := strings.CutPrefix(key, string(id))
	return ok && (rest == "" || rest[0] == '/')
}

func modelOf(id provider.AccountID, key string) string {
	return strings.TrimPrefix(strings.TrimPrefix(key, string(id)), "/")
}

// owners returns the accounts that a rest key may belong to: the known one with the
// longest id, else each that it could name.
func (f *facts) owners(key string) []provider.AccountID {
	var best provider.AccountID
	for id := range f.standing {
		if owns(id, key) && len(id) > len(best) {
			best = id
		}
	}
	if best != "" {
		return []provider.AccountID{best}
	}
	alone, rest, more := strings.Cut(key, "/")
	if !more {
		return []provider.AccountID{provider.AccountID(alone)}
	}
	name, _, _ := strings.Cut(rest, "/")
	return []provider.AccountID{provider.AccountID(alone), provider.AccountID(alone + "/" + name)}
}
