package gateway

import (
	"slices"
	"sync"

	"dev.magpie/gateway/wire"
)

// seals remembers by a call's id what Gemini signed it with, for agents whose API has no
// place for a signature beside a call. What is forgotten costs quality, not the turn.
type seals struct {
	mu       sync.Mutex
	now, old map[string]*wire.Seal
}

// sealsMost is how many calls of one generation are remembered; two generations are.
const sealsMost = 2048

// note remembers the seals of calls among events.
func (s *seals) note(events []wire.Event) {
	for i := range events {
		e := &events[i]
		if (e.Kind == wire.EventCall || e.Kind == wire.EventCallEnd) && e.Seal != nil && e.Call != nil && e.Call.ID != "" {
			s.put(e.Call.ID, e.Seal)
		}
	}
}

func (s *seals) put(id string, seal *wire.Seal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || len(s.now) >= sealsMost {
		s.now, s.old = map[string]*wire.Seal{}, s.now
	}
	s.now[id] = seal
}

func (s *seals) get(id string) *wire.Seal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seal := s.now[id]; seal != nil {
		return seal
	}
	return s.old[id]
}

// restore gives calls that lost their signature on the way through the agent theirs back.
func (s *seals) restore(asked *wire.Ask) *wire.Ask {
	var out *wire.Ask
	for i := range asked.Turns {
		for j := range asked.Turns[i].Parts {
			p := &asked.Turns[i].Parts[j]
			if p.Kind != wire.KindCall || p.Seal != nil || p.Call == nil {
				continue
			}
			seal := s.get(p.Call.ID)
			if seal == nil {
				continue
			}
			if out == nil {
				c := *asked
				c.Turns, out = slices.Clone(asked.Turns), &c
			}
			if &out.Turns[i].Parts[0] == &asked.Turns[i].Parts[0] {
				out.Turns[i].Parts = slices.Clone(out.Turns[i].Parts)
			}
			out.Turns[i].Parts[j].Seal = seal
		}
	}
	if out == nil {
		return asked
	}
	return out
}
