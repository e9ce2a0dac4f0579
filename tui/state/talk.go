package state

import (
	"cmp"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
)

// coldAfter is how long vendors keep a conversation's cache by default.
const coldAfter = 5 * time.Minute

// Talk is one conversation, as far as its requests are known.
type Talk struct {
	Session  string
	Agent    string
	Account  string // id of who answered last, or is being asked
	Before   string // id of who answered before that, when it was another
	Model    string
	Requests int // seen
	Turn     int // as the gateway counts them, 0 = not told
	Cached   int // share of its last known input, -1 = unknown
	Live     int // requests under way
	Last     time.Time
}

// Turns returns how many turns a conversation has had, as well as is known.
func (t *Talk) Turns() int { return max(t.Turn, t.Requests) }

// Warm says whether the vendor most likely still has the conversation in its cache.
func (t *Talk) Warm(c *Clock) bool {
	return t.Live > 0 || !c.Passed(t.Last.Add(coldAfter))
}

// Talks returns every conversation seen, the latest first.
func (s *State) Talks() []Talk {
	if s.talks != nil {
		return s.talks
	}
	at := map[string]int{}
	talks := make([]Talk, 0, 16)
	for _, r := range s.Routes {
		if r.Session == "" {
			continue
		}
		i, seen := at[r.Session]
		if !seen {
			i = len(talks)
			at[r.Session] = i
			talks = append(talks, Talk{Session: r.Session, Cached: -1})
		}
		talks[i].add(r)
	}
	slices.SortStableFunc(talks, func(a, b Talk) int {
		if d := cmp.Compare(min(b.Live, 1), min(a.Live, 1)); d != 0 {
			return d
		}
		return b.Last.Compare(a.Last)
	})
	s.talks = talks
	return talks
}

func (t *Talk) add(r *trace.Route) {
	t.Requests++
	t.Agent = r.Agent
	if r.Affinity != nil {
		t.Turn = max(t.Turn, r.Affinity.Turn)
	}
	end := r.Time.Add(time.Duration(r.MS) * time.Millisecond)
	if !r.Done {
		t.Live++
		end = r.Time
	}
	if end.After(t.Last) {
		t.Last = end
	}
	if cached, known := CachedShare(r.Tokens); known {
		t.Cached = cached
	}
	last := LastTry(r)
	if last == nil {
		return
	}
	t.Model = ModelOf(r)
	if t.Account != "" && t.Account != last.ID {
		t.Before = t.Account
	}
	t.Account = last.ID
}

// Talk returns the conversation with that id.
func (s *State) Talk(session string) (Talk, bool) {
	for _, t := range s.Talks() {
		if t.Session == session {
			return t, true
		}
	}
	return Talk{}, false
}

// Warm counts the conversations that are warm.
func (s *State) Warm(c *Clock) int {
	n := 0
	talks := s.Talks()
	for i := range talks {
		if talks[i].Warm(c) {
			n++
		}
	}
	return n
}

// Cold returns when the conversation's cache most likely goes.
func (t *Talk) Cold() time.Time { return t.Last.Add(coldAfter) }
