package state

import (
	"maps"
	"slices"
	"strings"
	"time"

	"dev.magpie/provider"
)

const (
	refusedFor = 24 * time.Hour // a plan may have the level by then
	maxRefused = 256
)

// Refused is a level of reasoning that an account's plan does not have for a model.
type Refused struct {
	ID    provider.AccountID `json:"id"`
	Model string             `json:"model"`
	Level string             `json:"level"`
	Takes []string           `json:"takes,omitempty"` // the levels that the vendor named instead
	At    time.Time          `json:"at"`
}

func refusedKey(id provider.AccountID, model, level string) string {
	return string(id) + "\x00" + model + "\x00" + level
}

// NoteRefused remembers that an account's plan refused a level.
func (s *Store) NoteRefused(r Refused) {
	s.change(func(e *edit) {
		next := maps.Clone(e.refused)
		if next == nil {
			next = map[string]Refused{}
		}
		maps.DeleteFunc(next, func(_ string, old Refused) bool { return r.At.Sub(old.At) >= refusedFor })
		if len(next) >= maxRefused {
			oldest := ""
			for key, old := range next {
				if oldest == "" || old.At.Before(next[oldest].At) {
					oldest = key
				}
			}
			delete(next, oldest)
		}
		next[refusedKey(r.ID, r.Model, r.Level)] = r
		e.refuse(next)
	})
}

// Refuses says whether an account's plan is known not to have a level for a model, and what it takes.
func (s *Store) Refuses(id provider.AccountID, model, level string, now time.Time) (Refused, bool) {
	known := s.facts.Load().refused
	if len(known) == 0 {
		return Refused{}, false
	}
	r, ok := known[refusedKey(id, model, level)]
	return r, ok && now.Sub(r.At) < refusedFor
}

// RefusesAny says whether anything is remembered at all, so that most requests ask no further.
func (s *Store) RefusesAny() bool { return len(s.facts.Load().refused) > 0 }

func (e *edit) refuse(next map[string]Refused) {
	e.refused, e.learned = next, true
	e.dirty[choices] = true
}

// allow forgets what an account refused.
func (e *edit) allow(id provider.AccountID) {
	if !slices.ContainsFunc(slices.Collect(maps.Values(e.refused)), func(r Refused) bool { return r.ID == id }) {
		return
	}
	next := maps.Clone(e.refused)
	maps.DeleteFunc(next, func(_ string, r Refused) bool { return r.ID == id })
	e.refuse(next)
}

// refusals are what is remembered as the file has it.
func (f *facts) refusals() []Refused {
	all := slices.Collect(maps.Values(f.refused))
	slices.SortFunc(all, func(a, b Refused) int {
		return strings.Compare(refusedKey(a.ID, a.Model, a.Level), refusedKey(b.ID, b.Model, b.Level))
	})
	return all
}

// took takes them from the file. One from a time to come was noted by a clock that was wrong.
func (f *facts) took(all []Refused, now time.Time) {
	for _, r := range all {
		if age := now.Sub(r.At); age < -clockSkew || age >= refusedFor || len(f.refused) >= maxRefused {
			continue
		}
		if f.refused == nil {
			f.refused = map[string]Refused{}
		}
		f.refused[refusedKey(r.ID, r.Model, r.Level)] = r
	}
}
