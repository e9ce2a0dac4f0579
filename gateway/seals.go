package gateway

import (
	"crypto/sha256"
	"hash"
	"slices"
	"sync"

	"dev.magpie/gateway/wire"
)

// seals remembers what Gemini signed, for agents whose API has no place for a signature
// beside a call or a text: by the call's id, and by the text within its conversation. What
// is forgotten costs quality, not the turn.
type seals struct {
	mu       sync.Mutex
	now, old map[string]*wire.Seal
	texts    bool // among them are those of texts
}

// sealsMost is how many of one generation are remembered; two generations are.
const sealsMost = 2048

// sealing follows one reply for what is signed in it.
type sealing struct {
	to   *seals
	in   string     // the conversation
	part int        // the run of text that is followed
	sum  hash.Hash  // of it, nil while there is none
	seal *wire.Seal // the last that it bore
	some bool       // it has a letter
}

// note remembers the seals among events. A text bears its own with any piece of it, also
// with an empty one behind it.
func (s *sealing) note(events []wire.Event) {
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case wire.EventCall, wire.EventCallEnd:
			s.settle()
			if e.Seal != nil && e.Call != nil && e.Call.ID != "" {
				s.to.put(e.Call.ID, e.Seal)
			}
		case wire.EventText:
			s.text(e)
		case wire.EventThinking, wire.EventSeal, wire.EventMedia, wire.EventFinish:
			s.settle()
		case wire.EventStart, wire.EventRefusal, wire.EventArgs, wire.EventCite, wire.EventUsage, wire.EventFail:
		}
	}
}

func (s *sealing) text(e *wire.Event) {
	if e.Part != s.part {
		s.settle()
		s.part = e.Part
	}
	if s.sum == nil {
		s.sum = sha256.New()
	}
	if !s.some {
		s.sum.Reset()
		_, _ = s.sum.Write([]byte(s.in + "\x00"))
	}
	_, _ = s.sum.Write([]byte(e.Text)) // a hash takes everything
	s.some = s.some || e.Text != ""
	if e.Seal != nil {
		s.seal = e.Seal
	}
}

// settle ends a run of text.
func (s *sealing) settle() {
	if s.seal != nil && s.some {
		s.to.putText(string(s.sum.Sum(nil)), s.seal)
	}
	s.seal, s.some = nil, false
}

func (s *seals) put(id string, seal *wire.Seal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(id, seal)
}

func (s *seals) putText(sum string, seal *wire.Seal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = true
	s.set(sum, seal)
}

func (s *seals) set(key string, seal *wire.Seal) {
	if s.now == nil || len(s.now) >= sealsMost {
		s.now, s.old = map[string]*wire.Seal{}, s.now
	}
	s.now[key] = seal
}

func (s *seals) get(key string) *wire.Seal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seal := s.now[key]; seal != nil {
		return seal
	}
	return s.old[key]
}

func (s *seals) ofTexts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts
}

// of is the seal of a part that lost it on the way through the agent, nil for none.
func (s *seals) of(p *wire.Part, in string, texts bool) *wire.Seal {
	switch {
	case p.Seal != nil:
	case p.Kind == wire.KindCall && p.Call != nil:
		return s.get(p.Call.ID)
	case p.Kind == wire.KindText && texts && p.Text != "":
		sum := sha256.Sum256([]byte(in + "\x00" + p.Text))
		return s.get(string(sum[:]))
	}
	return nil
}

// restore gives what lost its signature on the way through the agent its own back; in is the
// conversation.
func (s *seals) restore(asked *wire.Ask, in string) *wire.Ask {
	var out *wire.Ask
	texts := s.ofTexts()
	for i := range asked.Turns {
		if asked.Turns[i].Role != wire.RoleAssistant {
			continue
		}
		for j := range asked.Turns[i].Parts {
			seal := s.of(&asked.Turns[i].Parts[j], in, texts)
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
